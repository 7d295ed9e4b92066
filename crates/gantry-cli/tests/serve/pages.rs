use serde_json::json;

use crate::server::Server;

/// A form as a browser sends it: the status, and where it leads or what is shown.
pub fn form(server: &Server, path: &str, body: &str) -> (u16, String) {
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
fn a_plan_is_due_on_the_same_day_on_every_page_wherever_it_is() {
    for zone in ["America/New_York", "UTC", "Asia/Seoul"] {
        let server = Server::start();
        let plan = server.create(&format!(
            "title: Wall\ntasks: [{{id: lay, manual: Lay it}}]\nschedule:\n  start: 2050-01-03\n  deadline: 2050-03-05\n  calendar: site\n  \
             calendars: [{{id: site, zone: {zone}}}]\n  tasks: {{lay: {{estimate: 20d}}}}\n"
        ));
        server.until(&plan, "blocked");
        let overview = server.get(&format!("/p/{plan}")).text();
        assert!(overview.contains("due 5 Mar 2050"), "{zone}: {overview}");
        let timeline = server.get(&format!("/p/{plan}/timeline")).text();
        assert!(timeline.contains("Due<b>5 Mar 2050</b>"), "{zone}: {timeline}");
    }
}

#[test]
fn the_documentation_shows_commands_that_work_here() {
    let server = Server::start();
    let page = server.get("/docs").text();
    assert!(page.contains(&format!("curl -s http://{}/api/v1/plans", server.addr)), "{page}");
    let (_, shown) = page.split_once("<main").unwrap();
    assert!(!shown.contains('`'), "what is code is shown as code");
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
    form_with_files_at(server, "/new", fields, files)
}

fn form_with_files_at(
    server: &Server,
    path: &str,
    fields: &[(&str, &str)],
    files: &[(&str, &str, &str)],
) -> (u16, String) {
    let values =
        fields.iter().map(|(name, value)| format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}"));
    let files = files.iter().map(|(field, name, text)| {
        format!("Content-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n{text}")
    });
    let parts = values.chain(files).map(|part| format!("--edge\r\n{part}\r\n")).collect::<Vec<_>>().concat();
    let headers = [("Content-Type", "multipart/form-data; boundary=edge"), ("Accept", "text/html")];
    let answer = server.send("POST", path, &headers, &format!("{parts}--edge--\r\n"));
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

#[test]
fn plans_are_found_by_who_looks_after_them_and_older_ones_by_the_same() {
    let server = Server::start();
    for at in 0..3 {
        server
            .create(&format!("title: Ana's {at}\nowner: ana\nlabels: [q1]\ntasks: [{{id: a, compute: {{n: '1'}}}}]\n"));
    }
    server.create("title: Somebody's\ntasks: [{id: a, compute: {n: '1'}}]\n");
    let titles = |query: &str| {
        let found = server.get(&format!("/api/v1/plans?{query}")).json();
        let of = |item: &serde_json::Value| {
            format!("{} of {}", item["title"].as_str().unwrap(), item["owner"].as_str().unwrap())
        };
        found["items"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(titles("owner=ana"), ["Ana's 2 of ana", "Ana's 1 of ana", "Ana's 0 of ana"]);
    let me = server.get("/api/v1/me").json()["name"].as_str().unwrap().to_owned();
    assert_eq!(titles(&format!("owner={me}")), [format!("Somebody's of {me}")], "who made it, where it names nobody");
    let page = server.get("/?owner=ana&label=q1&limit=2").text();
    assert!(page.contains("Ana&#39;s 2") || page.contains("Ana's 2"), "{page}");
    assert!(!page.contains("Somebody") && !page.contains("Ana's 0"), "{page}");
    let older = page.split("href=\"/?cursor=").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    assert!(older.ends_with("&label=q1&owner=ana"), "{older}");
    let page = server.get(&format!("/?cursor={older}")).text();
    assert!(page.contains("Ana's 0") && !page.contains("Ana's 2"), "{page}");
    assert!(server.get("/?owner=nobody").text().contains("No plan fits"));
}

#[test]
fn a_gate_shows_what_it_is_about_and_then_what_changed_since_it_was_decided() {
    let server = Server::start();
    let file = "title: Letter\ntasks:\n  - {id: write, compute: {text: \"'Dear all,\\\\nwe close.'\"}}\n  - {id: read, depends_on: [write], gate: {checks: [fine], approvals: 2, approvers: [ana, ben]}}\n";
    let plan = server.create(file);
    server.until(&plan, "blocked");
    let changes = || server.get(&format!("/api/v1/plans/{plan}/gates/read")).json()["changes"].clone();
    let first = changes();
    assert_eq!(first["since"], json!(null));
    assert_eq!(first["results"][0]["after"], "Dear all,\nwe close.", "{first}");
    assert!(server.get(&format!("/p/{plan}/gates")).text().contains("What it is about: 1 result"));
    server.run(&["gate", "approve", &plan, "read", "--by", "ana", "--why", "good"], "");
    let none = changes();
    assert_eq!((&none["since"]["by"], &none["results"], &none["plan"]), (&json!("ana"), &json!([]), &json!([])));
    assert!(server.get(&format!("/p/{plan}/gates")).text().contains("nothing has changed"));
    let edit = json!({"outputs": {"text": "Dear all,\nwe open."}});
    assert_eq!(server.post(&format!("/api/v1/plans/{plan}/tasks/write/edit"), &edit).status, 200);
    let other = file.replace("Letter", "A letter");
    let revised =
        server.post(&format!("/api/v1/plans/{plan}/revisions"), &json!({"file": other, "rationale": "clearer"}));
    assert_eq!(revised.status, 200, "{}", revised.text());
    server.until(&plan, "blocked");
    let after = changes();
    let result = &after["results"][0];
    assert_eq!((&result["before"], &result["after"]), (&json!("Dear all,\nwe close."), &json!("Dear all,\nwe open.")));
    assert!(after["plan"].to_string().contains("A letter"), "{after}");
    let page = server.get("/inbox").text();
    for said in
        ["<del>we close.</del>", "<ins>we open.</ins>", "<td>Dear all,</td>", "Since ana approved", "The plan changed"]
    {
        assert!(page.contains(said), "{said} in {page}");
    }
}

#[test]
fn a_gate_before_a_plan_is_adopted_shows_what_it_would_adopt() {
    let server = Server::start();
    let created = server.post("/api/v1/plans", &json!({"objective": BAKERY, "detail": "fast", "offline": true}));
    let plan = created.json()["plan"].as_str().unwrap().to_owned();
    server.until(&plan, "blocked");
    let gates = server.get(&format!("/api/v1/plans/{plan}/gates")).json();
    let adopts = gates["items"][0]["changes"]["adopts"].as_array().unwrap();
    assert!(adopts.len() > 10, "{gates}");
    assert!(server.get(&format!("/p/{plan}")).text().contains("Approved, it changes the plan"));
}

#[test]
fn a_task_is_done_with_files_as_evidence() {
    let server = Server::start();
    let plan =
        server.create("title: Move\ntasks:\n  - {id: pack, manual: Pack it}\n  - {id: carry, manual: Carry it}\n");
    server.until(&plan, "blocked");
    assert!(server.get(&format!("/p/{plan}/tasks/pack")).text().contains("type=\"file\""));
    let fields = [("do", "done"), ("task", "pack"), ("name", "boxes"), ("value", "12")];
    let files = [("evidence", "list.txt", "plates, cups"), ("evidence", "C:\\home\\photo.png", "\u{89}PNG")];
    let (status, to) = form_with_files_at(&server, &format!("/p/{plan}/do"), &fields, &files);
    assert_eq!((status, to), (303, format!("/p/{plan}/tasks/pack")));
    let task = server.get(&format!("/api/v1/plans/{plan}/tasks/pack")).json();
    assert_eq!((&task["state"], &task["outputs"]["boxes"]), (&json!("completed"), &json!(12)), "{task}");
    let kept = server.get(&format!("/api/v1/plans/{plan}/artifacts/pack/list.txt"));
    assert_eq!((kept.status, kept.text()), (200, "plates, cups".to_owned()));
    assert_eq!(server.get(&format!("/api/v1/plans/{plan}/artifacts/pack/photo.png")).status, 200, "the name alone");
    let done = format!("/api/v1/plans/{plan}/tasks/carry/done");
    let (status, problem) = form_with_files_at(&server, &done, &[("outputs", "{}"), ("odd", "1")], &[]);
    assert!(status == 400 && problem.contains("no field `odd`"), "{status} {problem}");
    let twice = [("evidence", "a/x", "1"), ("evidence", "b/x", "2")];
    assert_eq!(form_with_files_at(&server, &done, &[], &twice).0, 422);
    let (status, heard) =
        form_with_files_at(&server, &done, &[("outputs", "{\"km\": 3}")], &[("evidence", "van.txt", "red")]);
    assert_eq!(status, 200, "{heard}");
    server.until(&plan, "completed");
    assert_eq!(server.get(&format!("/api/v1/plans/{plan}/artifacts/carry/van.txt")).text(), "red");
}

#[test]
fn revisions_stand_side_by_side_line_by_line() {
    let server = Server::start();
    let file = "title: Two\ntasks:\n  - {id: a, compute: {n: '1'}}\n  - {id: b, gate: {checks: [fine]}}\n";
    let plan = server.create(file);
    server.until(&plan, "blocked");
    let other = file.replace("n: '1'", "n: '2'");
    let revised = server.post(&format!("/api/v1/plans/{plan}/revisions"), &json!({"file": other, "rationale": "more"}));
    assert_eq!(revised.status, 200, "{}", revised.text());
    let page = server.get(&format!("/p/{plan}/revisions")).text();
    let row = page.split("<tr>").find(|row| row.contains("<del>") && row.contains("<ins>")).unwrap_or_default();
    assert!(row.contains('1') && row.contains('2'), "{page}");
}

#[test]
fn a_task_tells_what_it_is_for_why_it_is_there_and_whose_results_it_works_on() {
    let server = Server::start();
    let plan = server.create(
        "title: Sums\ntasks:\n  - {id: one, compute: {n: '1'}}\n  - {id: twice, description: Doubles it, rationale: Two are safer than one, inputs: {n: tasks.one.n}, compute: {m: inputs.n * 2}}\n",
    );
    server.until(&plan, "completed");
    let page = server.get(&format!("/p/{plan}/tasks/twice")).text();
    let link = format!("Comes after <a href=\"/p/{plan}/tasks/one\">one</a>");
    for said in ["Doubles it", "Two are safer than one", &link] {
        assert!(page.contains(said), "{said} in {page}");
    }
}

#[test]
fn what_waits_to_be_accepted_is_told_with_its_finish_its_cost_and_what_does_not_fit() {
    let server = Server::start();
    let request = "Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer";
    let made = server.post("/api/plans", &json!({"prompt": request, "speed_vs_detail": "fast_but_skip_details"}));
    let plan = made.json()["plan_id"].as_str().unwrap().to_owned();
    server.until(&plan, "blocked");
    let page = server.get(&format!("/p/{plan}")).text();
    for part in ["Forecast", "8 of 10 by", "Cost, as planned", "What does not fit", "What would help"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let forecast = server.get(&format!("/api/v1/plans/{plan}")).json()["forecast"]["finish"].clone();
    let schedule = server.get(&format!("/api/v1/plans/{plan}/schedule")).json();
    let day = |when: &serde_json::Value| when.as_str().unwrap()[..10].to_owned();
    assert_eq!(day(&forecast), day(&schedule["finish"]), "one finish, wherever one looks");
}

#[test]
fn a_talk_goes_on_without_the_script_and_what_cannot_be_done_keeps_the_words() {
    let server = Server::start();
    let (status, to) = form(&server, "/chat", "message=create+a+plan+to+paint+the+garden+shed&session=s&key=k1");
    assert_eq!((status, to.as_str()), (303, "/chat?session=s#last"));
    let page = server.get("/chat?session=s").text();
    assert!(page.contains("create a plan to paint the garden shed") && page.contains("is made; it has"), "{page}");
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "text/html")];
    let refused = server.send("POST", "/chat", &headers, "message=show+the+tasks+of+plan+99&session=s&key=k2");
    assert_eq!(refused.status, 404);
    assert!(refused.text().contains(">show the tasks of plan 99</textarea>"), "{}", refused.text());
    // One click that comes twice is one wish.
    form(&server, "/chat", "message=create+a+plan+to+paint+the+garden+shed&session=s&key=k1");
    assert_eq!(server.get("/plans").json()["items"].as_array().unwrap().len(), 1);
}
