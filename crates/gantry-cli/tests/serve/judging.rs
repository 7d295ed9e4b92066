//! Plans that a model judges over HTTP.

use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use crate::server::Server;

const BOAT: &str = "title: Build a boat\nobjective: Build a boat and launch it in Aarhus\ntasks:\n  - {id: hull, title: Build the hull, manual: Build it}\n  - {id: launch, title: Launch it, depends_on: [hull], manual: Launch it}\n";

/// A server with a judge, who answers every criterion with yes; nobody else is a model.
pub fn judged_by(judge: &ModelServer) -> Server {
    says_yes(judge);
    let config = format!(
        "local_servers = false\n\n[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\njudge = \"here:m\"\n",
        judge.base_url()
    );
    Server::start_with(&[], |folder| std::fs::write(folder.join("gantry.toml"), config).unwrap())
}

fn says_yes(judge: &ModelServer) {
    let verdict = |no: usize| json!({"criterion": no, "reason": "as the plan shows", "answer": "yes"});
    judge.always(Turn::json(&json!({"verdicts": (1..=30).map(verdict).collect::<Vec<_>>()})));
}

/// How often the judge was asked for a judgement.
fn asked(judge: &ModelServer) -> usize {
    judge.bodies().iter().filter(|body| body["messages"].is_array()).count()
}

#[test]
fn a_plan_is_judged_once_and_the_asking_is_on_record() {
    let judge = ModelServer::start();
    let server = judged_by(&judge);
    let plan = server.create(BOAT);
    let judged = |reference: &str| server.post(&format!("/api/v1/plans/{reference}/score"), &json!({}));
    let first = judged(&plan);
    assert_eq!(first.status, 200, "{}", first.text());
    let first = first.json();
    assert_eq!(
        (&first["score"], &first["plan_id"], &first["title"]),
        (&json!(10.0), &json!(plan), &json!("Build a boat"))
    );
    let dimensions = first["dimensions"].as_array().unwrap();
    assert!(dimensions.len() == 6 && dimensions.iter().all(|one| one["criteria"].as_array().unwrap().len() == 5));
    assert_eq!(judged("1").json(), first, "by its number it is the same plan");
    assert_eq!(asked(&judge), 1, "and it is not judged twice");
    let record = first["record"].as_str().unwrap();
    let asking = server.get(&format!("/api/v1/plans/{record}")).json();
    assert_eq!((&asking["state"], &asking["parent"]), (&json!("completed"), &json!(plan)), "{asking:#}");
    // The command line has it from the same record.
    let told: Value = serde_json::from_str(&server.run(&["score", &plan, "--judge", "--json"], "")).unwrap();
    assert_eq!((&told[0]["judgement"]["record"], asked(&judge)), (&json!(record), 1), "{told:#}");
    // A plan that was changed is another one to judge.
    server.post(&format!("/api/v1/plans/{plan}/tasks"), &json!({"name": "Paint it"}));
    assert_ne!(judged(&plan).json()["record"], first["record"]);
    assert_eq!(asked(&judge), 2);
}

#[test]
fn where_nobody_can_judge_that_is_told_with_a_status_and_the_next_try_is_a_new_one() {
    let server = Server::start();
    let plan = server.create(BOAT);
    let answer = server.post(&format!("/api/v1/plans/{plan}/score"), &json!({}));
    assert_eq!(answer.code(), (409, "score::not-judged".to_owned()), "{}", answer.text());
    assert!(answer.json()["hint"].as_str().unwrap().contains("/api/v1/models"), "{}", answer.text());
    let judge = ModelServer::start();
    let server = judged_by(&judge);
    let plan = server.create(BOAT);
    let judged = || server.post(&format!("/api/v1/plans/{plan}/score"), &json!({}));
    judge.always(Turn::status(500));
    assert_eq!(judged().code(), (409, "score::not-judged".to_owned()));
    says_yes(&judge);
    assert_eq!(judged().status, 200, "{}", judged().text());
}

#[test]
fn whoever_may_only_look_has_nothing_judged() {
    let server = Server::start();
    let plan = server.create(BOAT);
    let token = server.run(&["access", "token", "vera", "--role", "viewer"], "");
    let token = token.split_whitespace().find(|word| word.starts_with("gantry_")).unwrap().to_owned();
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let answer = server.send("POST", &format!("/api/v1/plans/{plan}/score"), &headers, "{}");
    assert_eq!(answer.code(), (403, "access::role".to_owned()));
}
