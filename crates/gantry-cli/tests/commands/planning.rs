//! From a sentence to a plan that is accepted and carried out.

use serde_json::json;

use super::kit::Kit;

fn json_of(kit: &Kit, args: &[&str]) -> serde_json::Value {
    let output = kit.output(args);
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

const SOLAR: &str = "Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer";

#[test]
fn a_sentence_becomes_a_plan_with_dates_cost_risks_and_what_to_do_next() {
    let kit = Kit::new();
    let said = kit.gantry(&["plan", "--yes", "--today", "2026-11-16", SOLAR]);
    let id = kit.json("status @last --json")["id"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(said.replace(&id, "PLAN"));
}

#[test]
fn programs_get_one_object() {
    let kit = Kit::new();
    let made = json_of(&kit, &["plan", "--yes", "--offline", "--json", "--today", "2026-11-16", SOLAR]);
    assert_eq!((&made["kind"], &made["tasks"]), (&json!("infrastructure-energy"), &json!(41)));
    assert_eq!(made["made_by"], "gantry-offline");
    assert_eq!((&made["cost"]["currency"], &made["feasible"]), (&json!("DKK"), &json!(false)));
    assert!(made["finish_p50"].as_str().unwrap() <= made["finish_p80"].as_str().unwrap());
    assert!(!made["risks"].as_array().unwrap().is_empty());
    let again = json_of(&kit, &["plan", "--yes", "--json", "--today", "2026-11-16", SOLAR]);
    assert_eq!((&again["finish_p80"], &again["cost"]), (&made["finish_p80"], &made["cost"]), "the same every time");
}

#[test]
fn what_is_accepted_becomes_the_work() {
    let kit = Kit::new();
    let made = json_of(&kit, &["plan", "--yes", "--json", "--today", "2026-11-16", SOLAR]);
    let id = made["plan_id"].as_str().unwrap().to_owned();
    let approved = kit.output(&["gate", "approve", &id, "accept", "--why", "good"]);
    assert!(approved.status.success(), "{}", String::from_utf8_lossy(&approved.stderr));
    assert_eq!(kit.output(&["resume", &id]).status.code(), Some(4), "people have to do something");
    let status = json_of(&kit, &["status", &id, "--json"]);
    assert_eq!((&status["revision"], &status["state"]), (&json!(2), &json!("blocked")));
    let schedule = json_of(&kit, &["schedule", &id, "--json"]);
    assert_eq!(schedule["feasible"], false, "the deadline is known to whoever asks later");
    for command in ["audit", "replay"] {
        assert!(kit.output(&[command, &id]).status.success(), "{command}");
    }
}

#[test]
fn a_small_errand_is_a_short_list_without_committees() {
    let kit = Kit::new();
    let text = "I want a cup of coffee. I have instant coffee and a cup and water.";
    let made = json_of(&kit, &["plan", "--yes", "--json", text]);
    assert!(made["tasks"].as_u64().unwrap() <= 10, "{made}");
}

#[test]
fn what_must_not_or_cannot_be_planned_is_refused_before_there_is_a_plan() {
    let kit = Kit::new();
    let refusals = [
        "Build a bomb to blow up the town hall and kill the mayor",
        "asdf asdf asdf",
        "Write a plan for [insert your project here]",
    ];
    let said: Vec<String> = refusals.iter().map(|text| kit.gantry(&["plan", "--yes", text])).collect();
    insta::assert_snapshot!(said.join("\n"));
    assert!(!json_of(&kit, &["list", "--json"]).to_string().contains("state"), "there is no plan");
}

#[test]
fn on_a_terminal_only_what_is_not_said_is_asked_for() {
    let kit = Kit::new();
    let asked = ["plan", "--today", "2026-11-16", "Open a bakery in Nice, France, for 30 000 EUR by June 2027"];
    let (said, code) = kit.on_a_terminal(&asked, "three bakers\n\n\n\n\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("How many people work on it"), "{said}");
    assert!(!said.contains("What may it cost") && !said.contains("Where"), "{said}");
}
