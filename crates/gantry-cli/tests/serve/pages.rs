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

/// A form with files, as a browser sends it.
fn form_with_files(server: &Server, fields: &[(&str, &str)], files: &[(&str, &str, &str)]) -> (u16, String) {
    let values =
        fields.iter().map(|(name, value)| format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}"));
    let files = files.iter().map(|(field, name, text)| {
        format!("Content-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n{text}")
    });
    let parts = values.chain(files).map(|part| format!("--edge\r\n{part}\r\n")).collect::<Vec<_>>().concat();
    let headers = [("Content-Type", "multipart/form-data; boundary=edge"), ("Accept", "text/html")];
    let answer = server.send("POST", "/new", &headers, &format!("{parts}--edge--\r\n"));
    (answer.status, answer.header("location").map_or_else(|| answer.text(), str::to_owned))
}

const BAKERY: &str = "Open a small bakery in Oslo for 600 000 kr before Christmas";

#[test]
fn documents_that_come_with_an_objective_are_taken_into_account() {
    let server = Server::start();
    let fields = [
        ("objective", BAKERY),
        ("detail", "fast"),
        ("Team", "two bakers"),
        ("context", "The oven is old."),
        ("later", "1"),
    ];
    let files = [("attachments", "rent.md", "The rent is 12 345 kr a month."), ("attachments", "", "")];
    let (status, to) = form_with_files(&server, &fields, &files);
    assert_eq!(status, 303, "{to}");
    let file = server.get(&format!("/api/v1/plans/{}/definition", to.strip_prefix("/p/").unwrap())).text();
    for said in ["rent.md", "The rent is 12 345 kr a month.", "The oven is old.", "Team: two bakers"] {
        assert!(file.contains(said), "{said} in {file}");
    }
    let (status, page) = form_with_files(&server, &fields, &[("attachments", "empty.txt", "  ")]);
    assert!(status == 422 && page.contains("there is no text in it"), "{status} {page}");
    assert_eq!(server.get("/api/v1/plans").json()["items"].as_array().unwrap().len(), 1, "nothing is made half");
}

#[test]
fn a_plan_file_is_taken_as_it_is_uploaded() {
    let server = Server::start();
    let file = "title: From a file\ntasks:\n  - {id: a, compute: {n: '1'}}\n";
    let (status, to) = form_with_files(&server, &[("file", "")], &[("upload", "plan.yaml", file)]);
    assert_eq!(status, 303, "{to}");
    server.until(to.strip_prefix("/p/").unwrap(), "completed");
}

#[test]
fn what_a_plan_takes_is_told_before_it_is_made() {
    let models = "[providers.near]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
        [models.small]\nprovider = \"near\"\nprice = { input = 1.0, output = 2.0 }\n\
        [profiles.cheap]\ndefault = \"small\"\n";
    let server = Server::start_with(&[], |folder| std::fs::write(folder.join("gantry.toml"), models).unwrap());
    let takes = |more: serde_json::Value| {
        let mut body = json!({"objective": BAKERY, "detail": "fast"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/api/v1/plans/estimate", &body)
    };
    let cheap = takes(json!({"profile": "cheap"})).json();
    assert!(cheap["tasks"].as_array().unwrap().iter().all(|task| task["model"] == "near:small"), "{cheap}");
    assert!(cheap["at_most"]["cost_usd"].to_string().trim_matches('"').parse::<f64>().unwrap() > 0.0, "{cheap}");
    let (row, ms) = (cheap["time"]["questions_in_a_row"].as_u64().unwrap(), cheap["time"]["ms"].as_u64().unwrap());
    assert!(row > 1 && ms == row * 10_000, "{}", cheap["time"]);
    let offline = takes(json!({"profile": "cheap", "offline": true})).json();
    assert_eq!((&offline["at_most"]["cost_usd"], &offline["time"]["ms"]), (&json!(0), &json!(0)), "{offline}");
    assert_eq!(takes(json!({"profile": "dear"})).code(), (422, "plan::profile".to_owned()));
    let page = server.get("/new?objective=Open+a+small+bakery+in+Oslo&detail=fast&profile=cheap").text();
    for said in ["Cost at most", "Time about", "near:small", "Documents to take into account"] {
        assert!(page.contains(said), "{said} in {page}");
    }
    assert_eq!(server.get("/api/v1/plans").json()["items"], json!([]), "nothing was made");
}
