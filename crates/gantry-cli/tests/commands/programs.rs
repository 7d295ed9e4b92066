//! What programs read, and what every command says of itself.

use serde_json::{Value, json};

use crate::kit::{Kit, RELEASE};

const CLOUD: &str = r"
id: cloud
tasks:
  - id: which
    ask:
      question: Which cloud?
      options:
        - {name: eu, pros: [near], cons: [small], cost_usd: 5}
        - {name: us, pros: [large, cheap]}
        - far away
";

#[test]
fn answers_are_offered_with_what_speaks_for_and_against_them_and_what_they_cost() {
    let kit = Kit::with_plan(CLOUD);
    insta::assert_snapshot!(kit.session(&["ask list"]), @"
    $ gantry ask list
    1 cloud which: Which cloud?
        eu: + near; - small; costs $5.00
        us: + large; + cheap
        far away
    [exit 0]
    ");
    let choices = json!([
        {"name": "eu", "pros": ["near"], "cons": ["small"], "cost_usd": 5},
        {"name": "us", "pros": ["large", "cheap"], "cons": [], "cost_usd": null},
        {"name": "far away", "pros": [], "cons": [], "cost_usd": null},
    ]);
    let commands = json!([
        "gantry ask answer cloud which eu",
        "gantry ask answer cloud which us",
        "gantry ask answer cloud which 'far away'",
    ]);
    let asked = &kit.json("ask list --json")[0];
    assert_eq!((&asked["choices"], &asked["commands"]), (&choices, &commands));
    let waits = &kit.json("status cloud --json")["waiting_for"][0];
    assert_eq!((&waits["choices"], &waits["commands"]), (&choices, &commands));
    for said in [kit.gantry(&["status", "cloud"]), kit.gantry(&["resume", "cloud"])] {
        assert!(said.contains("# Which cloud? (+ near; - small; costs $5.00)"), "{said}");
        assert!(said.contains("# or this (+ large; + cheap)"), "{said}");
    }
}

#[test]
fn a_list_of_gates_says_what_they_check_who_decides_and_what_to_type() {
    let kit = Kit::with_plan(RELEASE);
    let gates = kit.json("gate list --json");
    let of =
        |gate: usize| (&gates[gate]["title"], &gates[gate]["role"], &gates[gate]["checks"], &gates[gate]["commands"]);
    let checks = json!(["build.exit_code == 0", "the notes are clear"]);
    let approve = json!(["gantry gate approve release sign-off"]);
    assert_eq!(of(0), (&json!("Sign it off"), &Value::Null, &checks, &approve));
    let approve = json!(["gantry gate approve release legal --role lawyer"]);
    assert_eq!(of(1), (&json!("legal"), &json!("lawyer"), &json!([]), &approve));
}

#[test]
fn what_a_plan_inside_waits_for_is_among_what_the_plan_waits_for() {
    let kit = Kit::with_plan(
        "id: outer\ntitle: Outer\ntasks:\n  - id: check\n    plan:\n      title: Inside\n      tasks: [{id: ok, gate: {approvals: 1}}]\n",
    );
    let waits = &kit.json("status outer --json")["waiting_for"];
    let inner = waits.as_array().unwrap().iter().find(|wait| wait["task"] == "ok").unwrap();
    assert!(inner["plan"].as_str().unwrap().starts_with("outer-"), "{waits}");
    assert!(inner["commands"][0].as_str().unwrap().starts_with("gantry gate approve outer-"), "{waits}");
}

#[test]
fn a_fault_is_one_line_of_json_for_programs() {
    let kit = Kit::with_plan(RELEASE);
    for (line, code) in [
        ("status nowhere --json", 2),
        ("retry release build2 --json", 2),
        ("gate reject release sign-off --json", 2),
        ("forget release --json", 5),
        ("status --json --nonsense", 2),
        ("run nowhere.yaml --json", 2),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = kit.output(&words);
        let told = String::from_utf8(output.stderr).unwrap();
        let fault: Value = serde_json::from_str(told.trim()).unwrap_or_else(|error| panic!("{line}: {error}: {told}"));
        assert_eq!(told.lines().count(), 1, "{told}");
        assert_eq!((&fault["error"]["code"], output.status.code()), (&json!(code), Some(code)), "{told}");
        assert!(fault["error"]["message"].is_string() && fault["error"].get("hint").is_some(), "{told}");
    }
    assert!(kit.gantry(&["status", "nowhere"]).contains("error: there is no plan `nowhere`"), "people read words");
}

#[test]
fn times_are_written_with_the_same_number_of_digits() {
    let kit = Kit::with_plan(RELEASE);
    let mut found = 0;
    for line in
        ["status release --json", "list --json", "artifact list release --json", "gate show release legal --json"]
    {
        check(&kit.json(line), &mut found);
    }
    let log = kit.output(&["log", "release", "--json"]);
    for line in String::from_utf8(log.stdout).unwrap().lines() {
        check(&serde_json::from_str(line).unwrap(), &mut found);
    }
    assert!(found > 10, "{found}");
}

/// Every time in a value has as many digits as any other.
fn check(value: &Value, found: &mut u32) {
    match value {
        Value::Array(all) => all.iter().for_each(|value| check(value, found)),
        Value::Object(all) => {
            for (key, value) in all {
                match value {
                    Value::String(time) if key == "at" || key.ends_with("_at") => {
                        assert_eq!(time.len(), "2026-01-01T00:00:00.000Z".len(), "{key}: {time}");
                        *found += 1;
                    }
                    value => check(value, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn a_new_plan_file_is_told_to_programs() {
    let kit = Kit::new();
    let made = kit.json("new first.yaml --json");
    assert_eq!(made["file"], "first.yaml");
    assert_eq!(made["plan"].as_str().unwrap().as_bytes(), kit.read("first.yaml"));
}

/// The commands that are named in the help of another.
fn commands_below(kit: &Kit, above: &[String]) -> Vec<Vec<String>> {
    let mut words: Vec<&str> = above.iter().map(String::as_str).collect();
    words.push("--help");
    let help = kit.gantry(&words);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(|name| [above, &[name.to_owned()]].concat()).collect()
}

#[test]
fn the_help_of_every_command_has_examples_and_fits_the_screen() {
    let kit = Kit::new();
    let mut all = commands_below(&kit, &[]);
    let below: Vec<Vec<String>> = all.iter().flat_map(|command| commands_below(&kit, command)).collect();
    assert!(all.len() > 30 && below.len() > 20, "{all:?} {below:?}");
    all.extend(below);
    for command in all {
        let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
        words.push("--help");
        let help = kit.gantry(&words);
        assert!(help.contains("Examples:") && help.ends_with("[exit 0]"), "{help}");
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 110).collect();
        assert!(long.is_empty(), "{command:?}: {long:?}");
        // Everything that a person reads a program can read, too; these print what is for another program already.
        let for_programs = ["completions", "man", "schema"].contains(&command[0].as_str());
        assert!(for_programs || help.contains("--json"), "{command:?} has no --json");
    }
}

#[test]
fn a_plan_is_named_in_four_ways_everywhere() {
    let kit = Kit::with_plan(RELEASE);
    for command in
        ["status", "log", "audit", "replay", "export", "artifact list", "gate show", "task show", "restore", "pin"]
    {
        let task = if matches!(command, "gate show") {
            " legal"
        } else if command == "task show" {
            " build"
        } else {
            ""
        };
        // How long something has waited differs from one look to the next.
        let said = |name: &str| {
            let said = kit.gantry(&format!("{command} {name}{task}").split(' ').collect::<Vec<_>>());
            assert!(said.ends_with("[exit 0]"), "{command} {name}: {said}");
            said.lines().take(2).collect::<Vec<_>>().join("\n")
        };
        let by_id = said("release");
        for name in ["1", "rel", "@last"] {
            assert_eq!(said(name), by_id, "{command} {name}");
        }
    }
    let listed = kit.json("list --json");
    let waits: Vec<&Value> = listed[0]["waiting_for"].as_array().unwrap().iter().collect();
    assert_eq!(waits.len(), 2, "{listed}");
    assert_eq!(listed[0]["cost_usd"], json!(0), "{listed}");
}
