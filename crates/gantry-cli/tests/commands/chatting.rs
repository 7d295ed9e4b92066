//! Talks about plans on the command line.

use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use crate::kit::Kit;

#[test]
fn the_examples_of_the_help_are_understood_without_a_model() {
    let kit = Kit::new();
    kit.run("title: Hall\ntasks: [{id: permits, title: Get the permits}, {id: raise, title: Raise the hall}]\n");
    let below = kit.gantry(&["chat", "--offline", "--plan", "1", "what is below task 2?"]);
    assert!(below.contains("- [2] Raise the hall"), "{below}");
    let broken = kit.gantry(&["chat", "--offline", "--session", "bakery", "break down task 2 of plan 1"]);
    assert!(broken.ends_with("[exit 0]"), "{broken}");
    // The talk is about that plan now.
    for (words, expected) in [("show its tasks", "- [1] Get the permits"), ("how far is it?", "tasks are completed")] {
        let said = kit.gantry(&["chat", "--offline", "--session", "bakery", words]);
        assert!(said.contains(expected), "{words}: {said}");
    }
    let given_up = kit.gantry(&["chat", "--offline", "--session", "bakery", "delete the plan"]);
    assert!(given_up.contains("is given up") && given_up.ends_with("[exit 0]"), "{given_up}");
}

#[test]
fn where_nothing_or_only_some_of_it_could_be_done_each_outcome_is_told() {
    let server = ModelServer::start();
    let kit = Kit::new();
    kit.write(
        "gantry.toml",
        format!("[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n", server.base_url()),
    );
    let proposing = |plans: &[u64]| {
        let show = |no: &u64| json!({"kind": "task_operation", "name": "show_tasks", "parameters": {"plan_id": no}});
        let actions: Vec<Value> = plans.iter().map(show).collect();
        server.then(Turn::json(&json!({"llm_reply": {"message": "Both of them."}, "actions": actions})));
    };
    kit.run("title: Hall\ntasks: [{id: permits}]\n");
    proposing(&[7, 8]);
    let said = kit.gantry(&["chat", "show me both"]);
    assert!(said.contains("Both of them.") && said.ends_with("[exit 2]"), "{said}");
    assert!(
        said.contains("Not done: there is no plan `7`") && said.contains("Not done: there is no plan `8`"),
        "{said}"
    );
    proposing(&[7, 8]);
    let told = kit.gantry(&["chat", "--json", "show me both, please"]);
    assert!(told.contains("`7`") && told.contains("`8`") && told.contains("\"actions\":["), "{told}");
    proposing(&[1, 8]);
    let said = kit.gantry(&["chat", "show me the first and the eighth"]);
    assert!(said.contains("permits") && said.contains("`8`") && said.ends_with("[exit 3]"), "{said}");
}

#[test]
fn one_message_makes_a_plan_and_the_next_ones_go_on_in_the_same_talk() {
    let kit = Kit::new();
    let made = kit.gantry(&["chat", "--offline", "--session", "shed", "create a plan to paint the garden shed"]);
    assert!(made.contains("is made; it has") && made.ends_with("[exit 0]"), "{made}");
    // The plan of the talk is meant where none is named.
    let shown = kit.json("chat --offline --json --session shed list my plans");
    let plans = shown["actions"][0]["result"]["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 1, "{shown:#}");
    let no = plans[0]["id"].as_u64().unwrap();
    let tasks = kit.gantry(&["chat", "--offline", "--session", "shed", &format!("show the tasks of plan {no}")]);
    assert!(tasks.contains("- [1] Read what is wanted"), "{tasks}");
    let talk = kit.gantry(&["chat", "--show", "shed"]);
    assert!(talk.contains("> create a plan to paint the garden shed") && talk.contains("> list my plans"), "{talk}");
    let sessions = kit.json("chat --sessions --json");
    assert_eq!(
        (&sessions["sessions"][0]["session_id"], &sessions["sessions"][0]["messages"]),
        (&json!("shed"), &json!(3))
    );
    assert_eq!(kit.json("list --json").as_array().unwrap().len(), 1, "talks are no plans of people");
}

#[test]
fn what_cannot_be_done_ends_with_a_code_and_a_hint() {
    let kit = Kit::new();
    let cases: [(&[&str], &str, &str); 5] = [
        (&["show the tasks of plan 7"], "plan `7`", "[exit 2]"),
        (&["create a plan to ???"], "error:", "[exit 2]"),
        (&["--show", "nobody"], "there is no talk `nobody`", "[exit 2]"),
        (&["  "], "there is nothing to say", "[exit 2]"),
        (&["--title", "a\u{1b}[31mb", "help"], "create_plan", "[exit 0]"),
    ];
    for (words, expected, code) in cases {
        let mut line = vec!["chat", "--offline"];
        line.extend(words);
        let said = kit.gantry(&line);
        assert!(said.contains(expected) && said.ends_with(code), "{words:?}: {said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
}

#[test]
fn the_same_key_makes_one_plan() {
    let kit = Kit::new();
    let line = ["chat", "--offline", "--once", "k", "create a plan to paint the garden shed"];
    assert_eq!(kit.gantry(&line).lines().next(), kit.gantry(&line).lines().next());
    assert_eq!(kit.json("list --json").as_array().unwrap().len(), 1);
}

#[test]
fn plain_commands_are_understood_in_korean_and_answered_in_it() {
    let kit = Kit::new();
    let say = |words: &str| kit.gantry(&["chat", "--offline", "--session", "ko", words]);
    let made = say("오슬로에 빵집을 여는 계획을 만들어 줘");
    assert!(made.contains("계획을 만듭니다.") && made.ends_with("[exit 0]"), "{made}");
    assert!(say("계획 목록 보여 줘").contains("계획 목록입니다."));
    let no =
        kit.json("chat --offline --json --session ko list my plans")["actions"][0]["result"]["plans"][0]["id"].clone();
    let done = [
        (format!("계획 {no}에 \"이웃에게 묻기\" 작업을 추가해 줘"), "“이웃에게 묻기” 작업을 추가합니다."),
        (format!("{no}번 계획의 작업 목록을 보여줘"), "이웃에게 묻기"),
        (format!("계획 {no}의 상태를 알려 줘"), "상태입니다."),
        (format!("계획 {no}의 작업 1을 나눠 줘"), "나눕니다."),
    ];
    for (words, expected) in done {
        let said = say(&words);
        assert!(said.contains(expected) && said.ends_with("[exit 0]"), "{words}: {said}");
    }
    // What is deleted has to be named, with a particle behind its number as well.
    let given_up = say(&format!("계획 {no}을 취소해 줘"));
    assert!(given_up.ends_with("[exit 0]"), "{given_up}");
    assert_eq!(kit.json(&format!("status {no} --json"))["state"], "abandoned");
    assert!(say("노르웨이의 수도는 어디야?").contains("간단한 명령만 알아듣습니다"));
}

#[test]
fn a_plan_is_broken_down_later_where_that_is_said() {
    let kit = Kit::new();
    let line = "chat --offline --session s create a plan to paint the garden shed";
    let made = kit.with_variable("DECOMP_AUTO_ON_CREATE", "no", line);
    assert!(made.contains("is made, and not broken down yet: “execute plan"), "{made}");
    let plans = kit.json("list --json");
    assert_eq!((plans.as_array().unwrap().len(), &plans[0]["state"]), (1, &json!("pending")));
    let no = plans[0]["no"].clone();
    let begun = kit.gantry(&["chat", "--offline", "--session", "s", &format!("execute plan {no}")]);
    assert!(begun.contains("tasks are completed"), "{begun}");
    assert!(kit.json(&format!("status {no} --json"))["task_list"].as_array().unwrap().len() > 4);
    let wrong = kit.with_variable("DECOMP_AUTO_ON_CREATE", "later", line);
    assert!(wrong.contains("`DECOMP_AUTO_ON_CREATE` is `later`, which is not one of"), "{wrong}");
}
