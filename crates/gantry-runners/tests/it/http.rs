//! Over the network, with a real server: what may be reached, what is said, what is kept and resumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::plan::Undo;
use gantry_core::policy::{FailureClass, Policy};
use gantry_core::time::Duration;
use gantry_runners::{Place, Secrets, Work};
use gantry_testkit::web_server::{Reply, WebServer};
use serde_json::{Value, json};

use crate::world::{World, eventually, tool, tree};

/// A folder from which these hosts may be reached.
fn reaching(hosts: &[&str]) -> World {
    let world = World::new();
    let mut policy = Policy::default();
    policy.network.allow = hosts.iter().map(|host| (*host).to_owned()).collect();
    World { place: Place { policy: Arc::new(policy), ..world.place.clone() }, ..world }
}

fn here() -> World {
    reaching(&["127.0.0.1"])
}

impl World {
    async fn ask(&self, name: &str, args: Value) -> Result<Outputs, Failure> {
        self.run(&tool(name, args)).await.end.map(|success| success.outputs)
    }

    async fn asks_in_vain(&self, name: &str, args: Value) -> (FailureClass, String) {
        let failure = self.ask(name, args).await.expect_err(name);
        (failure.class, failure.message)
    }
}

#[tokio::test]
async fn an_answer_gives_status_headers_text_and_the_value_when_it_is_json() {
    let server = WebServer::start(|_| {
        let reply = Reply::text(r#"{"stars": 7}"#).header("content-type", "application/json; charset=utf-8");
        reply.header("set-cookie", "session=secret")
    });
    let world = here();
    let args = json!({"url": server.url("/data?page=1"), "headers": {"accept": "application/json", "x-page": 1}});
    let outputs = world.ask("http.get", args).await.unwrap();
    assert_eq!((&outputs["status"], &outputs["json"]["stars"]), (&json!(200), &json!(7)));
    assert_eq!((&outputs["body"], &outputs["bytes"]), (&json!(r#"{"stars": 7}"#), &json!(12)));
    assert!(outputs["headers"].get("set-cookie").is_none(), "cookies are secrets of a kind");
    let heard = &server.heard()[0];
    assert_eq!((heard.method.as_str(), heard.path.as_str()), ("GET", "/data?page=1"));
    assert_eq!((&heard.headers["accept"], &heard.headers["x-page"]), (&"application/json".into(), &"1".into()));
    assert!(!heard.headers.contains_key("idempotency-key"), "what changes nothing needs none");
    let effects = world.memory.effects.lock().unwrap();
    assert_eq!(
        (effects[0].kind.as_str(), &effects[0].request["url"]),
        ("http-fetch", &json!(server.url("/data?page=1")))
    );
    assert_eq!(effects[0].answer.as_ref().unwrap()["status"], 200);
}

#[tokio::test]
async fn a_request_sends_its_body_and_a_key_that_is_the_same_for_the_same_request() {
    let server = WebServer::start(|_| Reply::status(201));
    let world = here();
    let args = json!({"url": server.url("/orders"), "json": {"item": "pen"}, "expect": 201});
    assert_eq!(world.ask("http.request", args).await.unwrap()["status"], 201);
    let text = json!({"method": "put", "url": server.url("/note"), "body": "hello", "expect": [200, 201]});
    world.ask("http.request", text).await.unwrap();
    let again = json!({"url": server.url("/orders"), "json": {"item": "pen"}});
    world.ask("http.request", again).await.unwrap();
    let heard = server.heard();
    assert_eq!((heard[0].method.as_str(), heard[0].body.as_slice()), ("POST", br#"{"item":"pen"}"#.as_slice()));
    assert_eq!(heard[0].headers["content-type"], "application/json");
    assert_eq!((heard[1].method.as_str(), heard[1].body.as_slice()), ("PUT", b"hello".as_slice()));
    let key = |index: usize| &heard[index].headers["idempotency-key"];
    assert!(key(0) == key(2) && key(0) != key(1) && key(0).len() == 32);
    let request = world.memory.effects.lock().unwrap()[0].request.to_string();
    assert!(
        request.contains("\"bytes\":14") && !request.contains("pen"),
        "the body is on record by its hash: {request}"
    );
}

#[tokio::test]
async fn only_hosts_of_the_list_are_reached_and_private_ones_only_where_the_list_names_them() {
    let server = WebServer::start(|_| Reply::text("inside"));
    let rows: [(&[&str], String, &str); 6] = [
        (&[], server.url("/"), "`127.0.0.1` is outside `policy.network.allow`, which allows nothing"),
        (&["example.org"], server.url("/"), "is outside `policy.network.allow`, which allows `example.org`"),
        (&["*"], server.url("/"), "name `127.0.0.1` in `policy.network.allow` if that is meant"),
        (&["*"], server.named_url("/"), "`localhost` leads to the private address"),
        (&["*"], "http://[::ffff:127.0.0.1]/".to_owned(), "leads to the private address"),
        (&["*"], "http://169.254.169.254/latest/meta-data".to_owned(), "leads to the private address"),
    ];
    for (allowed, url, why) in rows {
        let (class, said) = reaching(allowed).asks_in_vain("http.get", json!({"url": url})).await;
        assert_eq!(class, FailureClass::Policy, "{allowed:?} {url}: {said}");
        assert!(said.contains(why), "{allowed:?} {url}: {said}");
    }
    assert!(server.heard().is_empty(), "nobody got through");
    reaching(&["localhost"]).ask("http.get", json!({"url": server.named_url("/")})).await.unwrap();
}

#[tokio::test]
async fn every_policy_around_has_to_allow_the_host() {
    let server = WebServer::start(|_| Reply::text("inside"));
    let mut world = here();
    world.place.above = vec![Arc::new(Policy::default())];
    let (class, _) = world.asks_in_vain("http.get", json!({"url": server.url("/")})).await;
    assert_eq!((class, server.heard().len()), (FailureClass::Policy, 0));
}

#[tokio::test]
async fn the_policy_is_asked_again_at_every_redirect() {
    let inner = WebServer::start(|_| Reply::text("inner"));
    let to = inner.named_url("/secret");
    let outer = WebServer::start(move |asked| match asked.path.as_str() {
        "/out" => Reply::status(302).header("location", &to),
        "/round" => Reply::status(307).header("location", "/round"),
        "/on" => Reply::status(303).header("location", "/end?x=1"),
        _ => Reply::text("the end"),
    });
    let world = here();
    let (class, said) = world.asks_in_vain("http.get", json!({"url": outer.url("/out")})).await;
    assert_eq!(class, FailureClass::Policy, "{said}");
    assert!(said.contains("`localhost` is outside") && inner.heard().is_empty(), "{said}");
    let (class, said) = world.asks_in_vain("http.get", json!({"url": outer.url("/round")})).await;
    assert_eq!(class, FailureClass::Logic);
    assert!(said.contains("leads on and on"), "{said}");
    let outputs = world.ask("http.request", json!({"url": outer.url("/on"), "body": "x"})).await.unwrap();
    assert_eq!((&outputs["body"], &outputs["url"]), (&json!("the end"), &json!(outer.url("/end?x=1"))));
    let last = outer.heard().pop().unwrap();
    assert_eq!((last.method.as_str(), last.body.len()), ("GET", 0), "what to see is fetched");
}

#[tokio::test]
async fn a_secret_is_sent_to_its_host_and_seen_nowhere() {
    let other = WebServer::start(|_| Reply::text("other"));
    let to = other.named_url("/next");
    let server = WebServer::start(move |asked| match asked.path.as_str() {
        "/away" => Reply::status(307).header("location", &to),
        _ => Reply::text(asked.headers["authorization"].clone()),
    });
    let mut world = reaching(&["127.0.0.1", "localhost"]);
    world.place.secrets = Secrets::of([("TOKEN".to_owned(), "s3cr3t-value".to_owned())]).unwrap();
    let headers = json!({"authorization": "Bearer ${TOKEN}", "x-plain": "yes"});
    let work = tool("http.get", json!({"url": server.url("/"), "headers": headers}));
    let preview = world.runners.preview(&work, &world.place).await.unwrap();
    assert!(preview.text.ends_with("authorization: Bearer ${TOKEN}\n  x-plain: yes"), "{}", preview.text);
    let ended = world.run(&work).await.end.unwrap();
    assert_eq!(server.heard()[0].headers["authorization"], "Bearer s3cr3t-value");
    assert_eq!(ended.outputs["body"], json!("Bearer [secret TOKEN]"), "also when the server says it back");
    world.ask("http.get", json!({"url": server.url("/away"), "headers": headers})).await.unwrap();
    let away = &other.heard()[0].headers;
    assert!(!away.contains_key("authorization") && away["x-plain"] == "yes", "{away:?}");
    let written = format!("{:?}", world.memory.effects.lock().unwrap());
    assert!(!written.contains("s3cr3t"), "{written}");
    let (class, said) =
        world.asks_in_vain("http.get", json!({"url": server.url("/"), "headers": {"x": "${OTHER}"}})).await;
    assert_eq!(
        (class, said.as_str()),
        (
            FailureClass::Policy,
            "the header `x` needs `OTHER`, which nobody has given; give it to the plan with `--secret OTHER`"
        )
    );
}

#[tokio::test]
async fn a_header_that_may_be_a_secret_is_not_shown_even_when_the_plan_holds_it() {
    let world = here();
    let work = tool(
        "http.request",
        json!({"url": "http://127.0.0.1/", "method": "POST", "headers": {"X-Api-Key": "abc"}, "json": {"a": 1}}),
    );
    let preview = world.runners.preview(&work, &world.place).await.unwrap();
    assert_eq!(
        preview.text,
        "would send POST http://127.0.0.1/\n  x-api-key: [hidden]\n  content-type: application/json\n\n{\"a\":1}"
    );
}

#[tokio::test]
async fn what_is_not_expected_is_worth_another_try_or_wrong_or_in_doubt() {
    let server = WebServer::start(|asked| {
        let status = asked.path[1..].parse().unwrap();
        Reply::status(status).header("retry-after", "7").body("no\nsuch thing")
    });
    let world = here();
    let rows = [
        (404, "GET", FailureClass::Logic),
        (401, "POST", FailureClass::Logic),
        (304, "GET", FailureClass::Logic),
        (429, "POST", FailureClass::Transient),
        (503, "POST", FailureClass::Transient),
        (500, "GET", FailureClass::Transient),
        (502, "GET", FailureClass::Transient),
        (504, "PUT", FailureClass::Transient),
        (500, "POST", FailureClass::Lost),
        (500, "PUT", FailureClass::Transient),
        (502, "POST", FailureClass::Lost),
        (504, "PATCH", FailureClass::Lost),
    ];
    for (status, method, class) in rows {
        let args = json!({"url": server.url(&format!("/{status}")), "method": method});
        let failure = world.ask("http.request", args).await.unwrap_err();
        assert_eq!(failure.class, class, "{status} {method}");
        let wait = (class == FailureClass::Transient).then_some(Duration::from_ms(7_000));
        assert_eq!(failure.retry_after, wait, "{status} {method}");
        assert_eq!(failure.outputs["status"], status);
    }
    let (_, said) = world.asks_in_vain("http.get", json!({"url": server.url("/404")})).await;
    assert_eq!(said, "`127.0.0.1` answers 404 Not Found, and not 200 to 299: no such thing");
    let gone = world.ask("http.get", json!({"url": server.url("/404"), "expect": [200, 404]})).await.unwrap();
    assert_eq!(gone["status"], 404);
}

#[tokio::test]
async fn an_answer_that_is_lost_leaves_a_request_in_doubt_and_a_question_not() {
    let server = WebServer::start(|asked| match asked.path.as_str() {
        "/cut" => Reply::text("half of it").cut_after(4),
        _ => Reply::none(),
    });
    let world = here();
    for path in ["/cut", "/none"] {
        let (get, said) = world.asks_in_vain("http.get", json!({"url": server.url(path)})).await;
        assert_eq!(get, FailureClass::Transient, "{path}: {said}");
        let (post, said) = world.asks_in_vain("http.request", json!({"url": server.url(path), "body": "x"})).await;
        assert_eq!(post, FailureClass::Lost, "{path}: {said}");
    }
    let closed = { WebServer::start(|_| Reply::none()).url("/") };
    let args = json!({"url": closed, "body": "x"});
    eventually("nobody listens there any more", || {
        std::net::TcpStream::connect(closed[7..].trim_end_matches('/')).is_err()
    })
    .await;
    let (class, said) = world.asks_in_vain("http.request", args).await;
    assert_eq!(class, FailureClass::Transient, "what was never sent is not in doubt: {said}");
    let effects = world.memory.effects.lock().unwrap();
    assert!(effects.last().unwrap().answer.as_ref().unwrap().get("not_sent").is_some());
}

#[tokio::test]
async fn a_body_that_is_too_large_is_not_read_to_its_end() {
    let server = WebServer::start(|_| Reply::text(vec![b'x'; 3 << 20]));
    let mut world = here();
    world.place.limits.file_bytes_max = 1 << 20;
    let (class, said) = world.asks_in_vain("http.get", json!({"url": server.url("/")})).await;
    assert_eq!(class, FailureClass::Logic);
    assert!(said.ends_with("answers with more than 1048576 bytes; fetch it with `http.download`"), "{said}");
    let outputs = here().ask("http.get", json!({"url": server.url("/")})).await.unwrap();
    assert_eq!((&outputs["truncated"], outputs["body"].as_str().unwrap().len()), (&json!(true), 512 << 10));
}

#[tokio::test]
async fn a_request_that_hangs_ends_soon_after_it_is_stopped() {
    let server = WebServer::start(|_| Reply::text("never more than this").silent_after(3));
    let world = here();
    let (work, stop) = (tool("http.get", json!({"url": server.url("/")})), world.stop.clone());
    let asked = async {
        eventually("it is asked", || !server.heard().is_empty()).await;
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(world.run(&work), asked);
    assert_eq!(ended.end.unwrap_err().class, FailureClass::Cancelled);
}

#[tokio::test]
async fn mistakes_in_the_arguments_are_told_before_anything_is_sent() {
    let world = here();
    let rows = [
        ("http.get", json!({}), "`http.get` needs `url`"),
        ("http.get", json!({"url": "example.org"}), "`example.org` is no address"),
        ("http.get", json!({"url": "file:///etc/passwd"}), "`file:` addresses are not called"),
        ("http.get", json!({"url": "http://u:p@127.0.0.1/"}), "holds a name or a password"),
        ("http.get", json!({"url": "http://127.0.0.1/", "header": {}}), "did you mean `headers`?"),
        ("http.get", json!({"url": "http://127.0.0.1/", "headers": {"host": "x"}}), "set by whoever sends"),
        ("http.get", json!({"url": "http://127.0.0.1/", "headers": {"a\nb": "x"}}), "no name of a header"),
        ("http.get", json!({"url": "http://127.0.0.1/", "headers": {"a": "x\ny"}}), "a line end, say"),
        ("http.get", json!({"url": "http://127.0.0.1/", "expect": "ok"}), "a status such as `201`"),
        ("http.request", json!({"url": "http://127.0.0.1/", "method": "BREW"}), "write `GET`"),
        ("http.request", json!({"url": "http://127.0.0.1/", "method": "GET", "body": "x"}), "has no body"),
        ("http.request", json!({"url": "http://127.0.0.1/", "json": 1, "body": "x"}), "not both"),
        ("http.download", json!({"url": "http://127.0.0.1/", "path": "../x"}), "`..` leads out"),
        ("http.download", json!({"url": "http://127.0.0.1/", "path": "x", "sha256": "abc"}), "64 letters and digits"),
    ];
    for (name, args, why) in rows {
        let (_, said) = world.asks_in_vain(name, args.clone()).await;
        assert!(said.contains(why) && said.len() < 300, "{args}: {said}");
    }
}

#[tokio::test]
async fn a_download_is_there_as_a_whole_and_comes_back_as_it_was() {
    let server = WebServer::start(|asked| Reply::file(asked, b"new content", "\"v1\""));
    let world = here();
    world.write("old.txt", "old");
    let before = tree(world.root());
    let sum = "fe32608c9ef5b6cf7e3f946480253ff76f24f4ec0678f3d0f07f9844cbff9601";
    for path in ["old.txt", "deep/new.txt"] {
        let outputs = world.ask("http.download", json!({"url": server.url("/f"), "path": path, "sha256": sum})).await;
        assert_eq!(outputs.unwrap()["changed"], true);
        assert_eq!(world.read(path), "new content");
        let again = world.ask("http.download", json!({"url": server.url("/f"), "path": path})).await.unwrap();
        assert_eq!(
            (&again["changed"], &again["sha256"]),
            (&json!(false), &json!(sum)),
            "the same again changes nothing"
        );
    }
    assert_eq!(tree(world.root()).len(), 3, "nothing unfinished is left: {:?}", tree(world.root()));
    let records: Vec<Value> = world.memory.intents.lock().unwrap().drain(..).rev().collect();
    let mut said = Vec::new();
    for record in records {
        let undone = world.runners.undo(&tool("http.download", json!({})), &world.place, &world.ports(), &record).await;
        said.push(undone.unwrap());
    }
    let (nothing, one) = ("everything was as before already", "one file is as before");
    assert_eq!(said, [nothing, one, nothing, one]);
    assert_eq!(tree(world.root()), before);
}

#[tokio::test]
async fn a_download_with_another_checksum_changes_nothing() {
    let server = WebServer::start(|asked| Reply::file(asked, b"new content", "\"v1\""));
    let world = here();
    world.write("old.txt", "old");
    let args = json!({"url": server.url("/f"), "path": "old.txt", "sha256": "0".repeat(64)});
    let (class, said) = world.asks_in_vain("http.download", args).await;
    assert_eq!(class, FailureClass::Logic);
    assert!(said.contains("has the checksum fe32608c") && said.ends_with("nothing was changed"), "{said}");
    assert_eq!((world.read("old.txt").as_str(), tree(world.root()).len()), ("old", 1), "nothing unfinished is left");
}

#[tokio::test]
async fn a_download_whose_line_is_cut_asks_for_the_rest() {
    let content: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let (file, count) = (content.clone(), AtomicUsize::new(0));
    let server = WebServer::start(move |asked| {
        let reply = Reply::file(asked, &file, "\"v1\"");
        if count.fetch_add(1, Ordering::SeqCst) < 3 { reply.cut_after(250_000) } else { reply }
    });
    let world = here();
    let outputs = world.ask("http.download", json!({"url": server.url("/f"), "path": "f"})).await.unwrap();
    assert_eq!(outputs["bytes"], content.len());
    assert_eq!(std::fs::read(world.root().join("f")).unwrap(), content);
    let ranges: Vec<_> = server.heard().iter().map(|heard| heard.headers.get("range").cloned()).collect();
    let rest = |bytes: usize| Some(format!("bytes={bytes}-"));
    assert_eq!(ranges, [None, rest(250_000), rest(500_000), rest(750_000)]);
    assert_eq!(server.heard()[1].headers["if-range"], "\"v1\"");
}

#[tokio::test]
async fn a_file_that_changes_meanwhile_is_downloaded_anew() {
    let count = AtomicUsize::new(0);
    let server = WebServer::start(move |asked| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::file(asked, &[b'1'; 1_000], "\"v1\"").cut_after(600),
        _ => Reply::file(asked, &[b'2'; 900], "\"v2\""),
    });
    let world = here();
    world.ask("http.download", json!({"url": server.url("/f"), "path": "f"})).await.unwrap();
    assert_eq!(world.read("f"), "2".repeat(900), "no mixture of both");
}

#[tokio::test]
async fn a_file_without_a_version_is_not_pieced_together() {
    let server = WebServer::start(|_| Reply::text(vec![b'1'; 1_000]).cut_after(600));
    let world = here();
    let (class, said) = world.asks_in_vain("http.download", json!({"url": server.url("/f"), "path": "f"})).await;
    assert_eq!(class, FailureClass::Transient, "{said}");
    assert!(!world.root().join("f").exists() && server.heard().len() == 1, "{said}");
    let record = world.memory.intents.lock().unwrap()[0].clone();
    world.runners.undo(&tool("http.download", json!({})), &world.place, &world.ports(), &record).await.unwrap();
    assert!(tree(world.root()).is_empty(), "what is unfinished goes when it is taken back");
}

#[tokio::test]
async fn a_download_that_is_too_large_ends_early() {
    let server = WebServer::start(|asked| Reply::file(asked, &[0; 5_000], "\"v1\""));
    let mut world = here();
    world.place.limits.download_bytes_max = 1_000;
    let (class, said) = world.asks_in_vain("http.download", json!({"url": server.url("/f"), "path": "f"})).await;
    assert_eq!(class, FailureClass::Logic);
    assert!(said.ends_with("has 5000 bytes; at most 1000 are downloaded"), "{said}");
}

#[tokio::test]
async fn a_verification_asks_whether_something_is_there() {
    let server = WebServer::start(|asked| match asked.path.as_str() {
        "/there" => Reply::text("yes"),
        "/gone" => Reply::status(404),
        _ => Reply::status(500),
    });
    let world = here();
    for (path, happened) in [("/there", Some(true)), ("/gone", Some(false)), ("/broken", None)] {
        let work = tool("http.get", json!({"url": server.url(path)}));
        let found = world.runners.happened(&work, &world.place, &world.ports(), &world.stop).await;
        assert_eq!(found.happened, happened, "{path}");
    }
}

#[tokio::test]
async fn a_request_that_was_carried_out_is_in_doubt_wherever_its_answer_leads() {
    let closed = { WebServer::start(|_| Reply::none()).url("/") };
    let reach = closed[7..].trim_end_matches('/');
    eventually("nobody listens there any more", || std::net::TcpStream::connect(reach).is_err()).await;
    let to = closed.clone();
    let server = WebServer::start(move |asked| match asked.path.as_str() {
        "/closed" => Reply::status(303).header("location", &to),
        "/there-closed" => Reply::status(307).header("location", &to),
        "/forbidden" => Reply::status(302).header("location", "http://elsewhere.example/"),
        "/nonsense" => Reply::status(301).header("location", "http://"),
        "/circle" => Reply::status(303).header("location", "/circle"),
        "/away" => Reply::status(303).header("location", "/503"),
        "/503" => Reply::status(503),
        _ => Reply::text("ok"),
    });
    let world = here();
    for path in ["/closed", "/forbidden", "/nonsense", "/circle", "/away"] {
        let (class, said) = world.asks_in_vain("http.request", json!({"url": server.url(path), "body": "x"})).await;
        assert_eq!(class, FailureClass::Lost, "{path}: {said}");
        let effects = world.memory.effects.lock().unwrap();
        let answer = effects.last().unwrap().answer.as_ref().unwrap();
        assert!(answer.get("failed").is_some() && answer.get("not_sent").is_none(), "{path}: {answer}");
    }
    let posts = server.heard().iter().filter(|heard| heard.method == "POST").count();
    assert_eq!(posts, 5, "each was sent once");
    let (class, said) =
        world.asks_in_vain("http.request", json!({"url": server.url("/there-closed"), "body": "x"})).await;
    assert_eq!(class, FailureClass::Transient, "it was sent on, and not carried out: {said}");
    let (class, said) = world.asks_in_vain("http.get", json!({"url": server.url("/closed")})).await;
    assert_eq!(class, FailureClass::Transient, "a question changes nothing: {said}");
}

#[tokio::test]
async fn a_large_file_is_replaced_by_a_download_unless_too_much_would_have_to_be_kept() {
    let server = WebServer::start(|asked| Reply::file(asked, b"new", "\"v1\""));
    let mut world = here();
    world.place.limits.file_bytes_max = 100;
    world.place.limits.database_bytes_max = 1_000;
    let args = |path: &str| json!({"url": server.url("/f"), "path": path});
    world.write("large", "x".repeat(500));
    assert_eq!(world.ask("http.download", args("large")).await.unwrap()["changed"], true);
    let record = world.memory.intents.lock().unwrap().last().unwrap().clone();
    let work = tool("http.download", json!({}));
    world.runners.undo(&work, &world.place, &world.ports(), &record).await.unwrap();
    assert_eq!(world.read("large").len(), 500, "it comes back");

    world.write("larger", "x".repeat(2_000));
    let (class, said) = world.asks_in_vain("http.download", args("larger")).await;
    assert_eq!(class, FailureClass::Logic);
    assert!(
        said.contains("`larger` has 2000 bytes; at most 1000 are kept to take a change back. Say `undo: never`"),
        "{said}"
    );
    assert_eq!((world.read("larger").len(), tree(world.root()).len()), (2_000, 2), "nothing unfinished is left");
    let unwanted = Work { undo: Undo::Never, ..tool("http.download", args("larger")) };
    world.run(&unwanted).await.end.unwrap();
    assert_eq!(world.read("larger"), "new");
}
