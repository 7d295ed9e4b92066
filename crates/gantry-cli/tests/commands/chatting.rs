//! Talks about plans on the command line.

use serde_json::json;

use crate::kit::Kit;

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
