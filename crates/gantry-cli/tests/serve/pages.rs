use serde_json::json;

use crate::server::Server;

fn form(server: &Server, path: &str, body: &str) -> (u16, String) {
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "text/html")];
    let answer = server.send("POST", path, &headers, body);
    (answer.status, answer.header("location").map_or_else(|| answer.text(), str::to_owned))
}

#[test]
fn a_plan_is_made_and_a_gate_decided_with_forms_alone() {
    let server = Server::start();
    let file = "title%3A+From+a+form%0Atasks%3A%0A++-+%7Bid%3A+sign-off%2C+gate%3A+%7Bchecks%3A+%5Bfine%5D%7D%7D%0A";
    let (status, page) = form(&server, "/new", &format!("file={file}"));
    assert_eq!(status, 303, "{page}");
    let plan = page.strip_prefix("/p/").unwrap().to_owned();
    server.until(&plan, "blocked");
    assert!(server.get("/inbox").text().contains("sign-off"));
    let (status, _) = form(&server, &format!("/p/{plan}/do"), "do=reject&gate=sign-off&why=");
    assert_eq!(status, 422, "whoever says no has to say why");
    let (status, to) = form(&server, "/inbox", &format!("plan={plan}&gate=sign-off&do=approve&why=fine"));
    assert_eq!((status, to.as_str()), (303, "/inbox"));
    server.until(&plan, "completed");
    assert!(server.get("/inbox").text().contains("Nobody is asked"));
}

#[test]
fn an_objective_is_read_before_anything_is_made() {
    let server = Server::start();
    let page = server.get("/new?objective=Open+a+small+bakery+in+Oslo&detail=fast").text();
    assert!(page.contains("Make the plan") && page.contains("Not said yet"), "{page}");
    assert_eq!(server.get("/api/v1/plans").json()["items"], json!([]));
}

#[test]
fn a_page_that_is_not_there_says_so_to_people() {
    let server = Server::start();
    let answer = server.send("GET", "/p/no-such-plan", &[("Accept", "text/html")], "");
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("<h1>Not Found</h1>"));
}
