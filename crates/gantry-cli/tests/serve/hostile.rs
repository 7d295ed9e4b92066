use serde_json::json;

use crate::server::{Server, read};
use crate::socket::Socket;

#[test]
fn a_page_elsewhere_can_neither_change_nor_watch_anything() {
    let server = Server::start();
    let create = |headers: &[(&str, &str)]| {
        let mut all = vec![("Content-Type", "application/yaml")];
        all.extend(headers);
        server.send("POST", "/api/v1/plans", &all, "title: x\ntasks: [{id: a, run: echo}]\n")
    };
    assert_eq!(create(&[("Origin", "http://evil.example")]).code(), (403, "access::origin".to_owned()));
    assert_eq!(create(&[("Sec-Fetch-Site", "cross-site")]).code().0, 403);
    assert_eq!(create(&[("Sec-Fetch-Site", "same-site")]).code().0, 403);
    let ours = format!("http://{}", server.addr);
    assert_eq!(create(&[("Origin", &ours), ("Sec-Fetch-Site", "same-origin")]).status, 202);
    let socket = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Origin", "http://evil.example")];
    assert_eq!(server.send("GET", "/ws/plans/1/progress", &socket, "").code().0, 403);
}

#[test]
fn a_name_that_was_made_to_point_here_is_not_answered() {
    let server = Server::start();
    let stream = server.open("GET /api/v1/plans HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(read(stream).code(), (421, "access::host".to_owned()));
}

#[test]
fn what_is_too_large_is_refused_and_the_server_stays() {
    let server = Server::start();
    let giant = "x".repeat(200_000);
    let answer = server.send("POST", "/api/v1/plans", &[("Content-Type", "application/yaml")], &giant);
    assert_eq!(answer.code(), (413, "request::too-large".to_owned()));
    let many = (0..10_000).map(|at| format!("X-{at}: y\r\n")).collect::<Vec<_>>().concat();
    let stream = server.open(&format!("GET / HTTP/1.1\r\nHost: {}\r\n{many}\r\n", server.addr));
    assert!(matches!(read(stream).status, 0 | 431), "ten thousand headers");
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn tricks_with_paths_find_nothing() {
    let server = Server::start();
    for path in
        ["/assets/../Cargo.toml", "/assets/..%2f..%2fetc%2fpasswd", "/assets/%2e%2e/app.css", "/p/..%2f..%2fetc"]
    {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
    }
    assert_eq!(server.get("/api/v1/plans/1%00/tasks").code().0, 404);
}

#[test]
fn bodies_that_make_no_sense_are_problems_and_never_faults() {
    let server = Server::start();
    for body in ["", "[]", "null", "{", "{\"plan\": 5}", "{\"nonsense\": 1}", "{\"file\": 7}", "\u{1f600}"] {
        let answer = server.send("POST", "/api/v1/plans", &[("Content-Type", "application/json")], body);
        let (status, code) = answer.code();
        assert!((400..500).contains(&status), "{body:?}: {status} {code}");
    }
}

/// Whatever a text says, it is shown and not obeyed.
#[test]
fn a_script_in_every_text_of_a_plan_is_inert_on_every_page() {
    let server = Server::start();
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let plan = json!({
        "title": evil, "objective": evil, "labels": [evil],
        "hypotheses": [{"id": "H1", "statement": evil, "confidence": 0.5}],
        "tasks": [
            {"id": "out", "title": evil, "run": format!("printf '%s' '{evil}'")},
            {"id": "gate", "title": evil, "depends_on": ["out"], "gate": {"checks": [evil]}},
            {"id": "ask", "title": evil, "ask": {"question": evil, "options": [evil, "b"]}},
            {"id": "work", "title": evil, "manual": {"instruction": evil}},
        ],
    });
    let created = server.post("/api/v1/plans", &json!({"plan": plan}));
    assert_eq!(created.status, 202, "{}", created.text());
    let id = created.json()["plan"].as_str().unwrap().to_owned();
    server.until(&id, "blocked");
    server.post(&format!("/api/v1/plans/{id}/notes"), &json!({"text": evil}));
    let tabs = [
        "",
        "/graph",
        "/timeline",
        "/tasks",
        "/gates",
        "/artifacts",
        "/revisions",
        "/hypotheses",
        "/journal",
        "/report",
    ];
    let mut pages: Vec<String> = tabs.iter().map(|tab| format!("/p/{id}{tab}")).collect();
    pages.extend(["out", "gate", "ask", "work"].map(|task| format!("/p/{id}/tasks/{task}")));
    pages.extend(
        ["/", "/inbox", "/new", "/bulk", "/chat", "/models", "/settings", "/templates", "/docs"].map(str::to_owned),
    );
    pages.push(format!("/?text={}", "%3Cscript%3Ealert(1)%3C/script%3E"));
    for page in pages {
        let answer = server.send("GET", &page, &[("Accept", "text/html")], "");
        assert_eq!(answer.status, 200, "{page}: {}", answer.text());
        let text = answer.text();
        assert!(!text.contains("<script>alert") && !text.contains("<img src=x"), "{page}");
        assert!(!text.contains(" style=") && !text.contains(" onclick="), "{page} has something in place");
        assert!(answer.header("content-security-policy").unwrap().contains("script-src 'self'"), "{page}");
    }
    let raw = server.get(&format!("/api/v1/plans/{id}/artifacts/out/stdout?inline=true"));
    assert_ne!(raw.header("content-type"), Some("text/html"));
    assert!(raw.header("content-security-policy").unwrap().contains("sandbox"));
}

#[test]
fn whoever_sends_headers_drop_by_drop_is_let_go_and_others_are_served_meanwhile() {
    let server = Server::start();
    // Each has begun a request, and says no more.
    let slow: Vec<_> =
        (0..50).map(|_| server.open(&format!("GET / HTTP/1.1\r\nHost: {}\r\nX-Slow: ", server.addr))).collect();
    assert_eq!(server.get("/healthz").status, 200);
    for stream in slow {
        // The end of the connection is what is waited for; a server that waits for ever would fail this by its patience.
        assert!(matches!(read(stream).status, 0 | 408), "it is let go");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_form_that_is_too_large_is_refused_by_its_size() {
    let server = Server::start();
    let giant = format!("file={}", "x".repeat(200_000));
    let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "text/html")];
    assert_eq!(server.send("POST", "/new", &form, &giant).status, 413);
    let parts = [("Content-Type", "multipart/form-data; boundary=edge"), ("Accept", "text/html")];
    let giant = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"attachments\"; filename=\"a\"\r\n\r\n{}\r\n--edge--\r\n",
        "x".repeat(200_000)
    );
    assert_eq!(server.send("POST", "/new", &parts, &giant).status, 413);
    let broken = server.send("POST", "/new", &parts, "--edge\r\nnonsense");
    assert_eq!(broken.status, 400, "{}", broken.text());
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn whoever_floods_a_socket_is_let_go_and_the_plan_goes_on() {
    let server = Server::start();
    let plan = server.create("title: Gated\ntasks: [{id: sign-off, gate: {checks: [fine]}}]\n");
    server.until(&plan, "blocked");
    let mut flood = Socket::open(&server, &plan, "");
    flood.say(2_000);
    assert_eq!(
        flood.rest().last().map(|message| message["type"].clone()),
        Some(json!("status")),
        "and then it was closed"
    );
    let mut giant = Socket::open(&server, &plan, "");
    giant.say_giant(100_000);
    giant.rest();
    assert_eq!(server.post(&format!("/api/v1/plans/{plan}/gates/sign-off/approve"), &json!({})).status, 200);
    server.until(&plan, "completed");
}
