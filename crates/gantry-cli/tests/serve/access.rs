use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;

use serde_json::{Value, json};

use crate::server::{Answer, Server, person};

const GATED: &str = "title: Gated\ntasks:\n  - {id: sign-off, gate: {checks: [it is fine]}}\n";

fn bearer(server: &Server, token: &str, method: &str, path: &str, body: &Value) -> Answer {
    let authorization = format!("Bearer {token}");
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    server.send(method, path, &headers, &body.to_string())
}

#[test]
fn each_role_may_do_what_it_says_and_who_decided_is_who_was_signed_in() {
    let server = Server::start();
    let plan = server.create(GATED);
    server.until(&plan, "blocked");
    let viewer = server.run(&["access", "token", "vera", "--role", "viewer"], "");
    let operator = server.run(&["access", "token", "otto", "--role", "operator"], "");
    let approver = server.run(&["access", "token", "anna", "--role", "approver"], "");
    assert_eq!(server.get("/api/v1/plans").code(), (401, "access::unknown".to_owned()), "nobody is let in any more");
    assert_eq!(bearer(&server, "gantry_x_y", "GET", "/api/v1/plans", &json!({})).code().0, 401);
    assert_eq!(bearer(&server, &viewer, "GET", "/api/v1/plans", &json!({})).status, 200);
    assert_eq!(
        bearer(&server, &viewer, "POST", "/api/v1/plans", &json!({"file": GATED})).code(),
        (403, "access::role".to_owned())
    );
    assert_eq!(bearer(&server, &operator, "POST", "/api/v1/plans", &json!({"file": GATED})).status, 202);
    let approve = format!("/api/v1/plans/{plan}/gates/sign-off/approve");
    assert_eq!(bearer(&server, &operator, "POST", &approve, &json!({})).code().0, 403);
    assert_eq!(bearer(&server, &approver, "POST", &approve, &json!({"by": "someone else"})).code().0, 400);
    assert_eq!(bearer(&server, &approver, "POST", &approve, &json!({})).status, 200);
    let audit = bearer(&server, &viewer, "GET", &format!("/api/v1/plans/{plan}/audit"), &json!({})).text();
    assert!(audit.contains("approved by anna"), "{audit}");
    assert_eq!(bearer(&server, &approver, "GET", "/api/v1/accounts", &json!({})).code().0, 403);
    server.run(&["access", "remove", "anna"], "");
    assert_eq!(bearer(&server, &approver, "GET", "/api/v1/plans", &json!({})).code().0, 401, "at once");
}

#[test]
fn a_person_signs_in_and_out_and_a_wrong_password_is_refused() {
    let server = Server::start();
    server.run(&["access", "user", "ana", "--role", "admin"], "a long password\n");
    let page = server.send("GET", "/inbox", &[("Accept", "text/html")], "");
    assert_eq!((page.status, page.header("location")), (303, Some("/sign-in?next=/inbox")));
    let sign_in = |password: &str| server.post("/api/v1/sessions", &json!({"name": "ana", "password": password}));
    assert_eq!(sign_in("another password").code(), (401, "access::sign-in".to_owned()));
    let signed = sign_in("a long password");
    assert_eq!(signed.status, 204, "{}", signed.text());
    let cookie = signed.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let with = |method: &str, path: &str| server.send(method, path, &[("Cookie", &cookie)], "");
    assert_eq!(with("GET", "/api/v1/me").json(), json!({"name": "ana", "role": "admin", "by": "session"}));
    let lines = with("GET", "/api/v1/audit").text();
    assert!(lines.contains("\"path\":\"/api/v1/sessions\",\"status\":401"), "{lines}");
    assert_eq!(with("DELETE", "/api/v1/sessions/current").status, 204);
    assert_eq!(with("GET", "/api/v1/me").code().0, 401);
}

#[test]
fn too_many_attempts_to_sign_in_have_to_wait() {
    let server = Server::start();
    server.run(&["access", "user", "ana", "--role", "admin"], "a long password\n");
    let guess = || server.post("/api/v1/sessions", &json!({"name": "ana", "password": "guess"})).status;
    let statuses: Vec<u16> = (0..12).map(|_| guess()).collect();
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[test]
fn what_is_kept_of_a_token_or_a_password_does_not_prove_anything() {
    let server = Server::start();
    let token = server.run(&["access", "token", "ci", "--role", "viewer"], "");
    server.run(&["access", "user", "ana", "--role", "admin"], "a long password\n");
    let listed = server.run(&["access", "list", "--json"], "");
    assert!(!listed.contains("argon2") && !listed.contains(&token), "{listed}");
    let kept = std::fs::read_to_string(server.folder().join("gantry.db.access.json")).unwrap();
    let secret = token.rsplit('_').next().unwrap();
    assert!(kept.contains("$argon2id$") && !kept.contains(secret) && !kept.contains("a long password"), "{kept}");
}

#[test]
fn without_accounts_no_other_machine_is_listened_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
    command.env("GANTRY_DB", folder.path().join("gantry.db")).current_dir(folder.path());
    let output = command.args(["serve", "--addr", "0.0.0.0:0"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("0.0.0.0:0 can be reached from other machines, and there are no accounts"), "{said}");
    assert!(said.contains("gantry access user NAME --role admin"), "{said}");
}

#[test]
fn behind_a_proxy_nothing_is_answered_before_there_are_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
    command.env("GANTRY_DB", folder.path().join("gantry.db")).current_dir(folder.path());
    let output = command.args(["serve", "--addr", "127.0.0.1:0", "--behind-proxy"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("there are no accounts") && said.contains("gantry access user"), "{said}");
    // Whoever is left when the last account goes is nobody.
    let server = Server::start_with(&["--behind-proxy"], |folder| person(folder, "ana", "admin", "a long password"));
    server.run(&["access", "remove", "ana"], "");
    assert_eq!(server.get("/api/v1/plans").code(), (401, "access::unknown".to_owned()));
}

#[test]
fn whoever_loses_the_account_watches_no_longer() {
    let server = Server::start();
    let plan = server.create(GATED);
    server.until(&plan, "blocked");
    let vera = server.run(&["access", "token", "vera", "--role", "viewer"], "");
    let stays = server.run(&["access", "token", "stays", "--role", "operator"], "");
    let watch = |token: &str, path: &str, more: &str| {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n{more}\r\n", server.addr);
        let mut lines = BufReader::new(server.open(&request));
        let mut head = String::new();
        while lines.read_line(&mut head).unwrap() > 2 {}
        lines
    };
    let socket = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let mut all = [
        watch(&vera, &format!("/api/v1/plans/{plan}/events"), ""),
        watch(&vera, "/api/v1/events", ""),
        watch(&vera, &format!("/ws/plans/{plan}/progress"), socket),
    ];
    let mut other = watch(&stays, &format!("/api/v1/plans/{plan}/events"), "");
    server.run(&["access", "remove", "vera"], "");
    for stream in &mut all {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert!(!String::from_utf8_lossy(&rest).contains("a secret"));
    }
    let note = format!("/api/v1/plans/{plan}/notes");
    assert_eq!(bearer(&server, &stays, "POST", &note, &json!({"text": "a secret"})).status, 200);
    let mut line = String::new();
    while !line.contains("a secret") {
        line.clear();
        assert!(other.read_line(&mut line).unwrap() > 0, "who is still there hears it");
    }
}

#[test]
fn a_server_that_is_started_anew_signs_nobody_out() {
    let mut server = Server::start_with(&[], |folder| person(folder, "ana", "admin", "a long password"));
    let signed = server.post("/api/v1/sessions", &json!({"name": "ana", "password": "a long password"}));
    let cookie = signed.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let me = |server: &Server| server.send("GET", "/api/v1/me", &[("Cookie", &cookie)], "").status;
    server.kill();
    server.go_on();
    assert_eq!(me(&server), 200);
    // Someone else of the same name is someone else.
    server.run(&["access", "token", "ben", "--role", "admin"], "");
    server.run(&["access", "remove", "ana"], "");
    server.run(&["access", "user", "ana", "--role", "viewer"], "another password\n");
    assert_eq!(me(&server), 401);
}

#[test]
fn guessing_tokens_is_no_faster_than_asking() {
    let server = Server::start_with(&["--rate", "2"], |folder| person(folder, "ana", "admin", "a long password"));
    let guess = |_| bearer(&server, "gantry_0011223344556677_guess", "GET", "/api/v1/plans", &json!({})).status;
    let statuses: Vec<u16> = (0..40).map(guess).collect();
    assert!(statuses.contains(&401) && statuses.contains(&429), "{statuses:?}");
    let asked: Vec<u16> = (0..40).map(|_| server.get("/healthz").status).collect();
    assert!(asked.contains(&429), "{asked:?}");
}
