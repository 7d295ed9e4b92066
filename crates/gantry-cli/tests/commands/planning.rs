//! From a sentence to a plan that is accepted and carried out.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

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
    let said = String::from_utf8(kit.output(&["plan", "--yes", "--today", "2026-11-16", SOLAR]).stdout).unwrap();
    let id = kit.json("status @last --json")["id"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(said.replace(&id, "PLAN"));
}

#[test]
fn programs_get_one_object() {
    let kit = Kit::new();
    let made = json_of(&kit, &["plan", "--yes", "--offline", "--json", "--today", "2026-11-16", SOLAR]);
    assert_eq!((&made["kind"], &made["tasks"]), (&json!("infrastructure-energy"), &json!(41)));
    assert_eq!(made["made_by"], json!(["gantry-offline"]));
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
    let drafted = json_of(&kit, &["export", &id, "--format", "json"]);
    assert_eq!(drafted["accepted"], false);
    let before = json_of(&kit, &["status", &id, "--json"])["revision"].as_u64().unwrap();
    let approved = kit.output(&["gate", "approve", &id, "accept", "--why", "good"]);
    assert!(approved.status.success(), "{}", String::from_utf8_lossy(&approved.stderr));
    assert_eq!(kit.output(&["resume", &id]).status.code(), Some(4), "people have to do something");
    let status = json_of(&kit, &["status", &id, "--json"]);
    assert_eq!((&status["revision"], &status["state"]), (&json!(before + 1), &json!("blocked")));
    let accepted = json_of(&kit, &["export", &id, "--format", "json"]);
    assert_eq!(accepted["accepted"], true);
    let ids = |plan: &Value| -> Vec<Value> {
        plan["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect()
    };
    assert_eq!(ids(&accepted), ids(&drafted), "what was shown is what was accepted");
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

/// What a plan for programs has to have, whatever it is about.
fn assert_complete(plan: &Value) {
    let tasks = plan["tasks"].as_array().unwrap();
    let is_leaf = |task: &&Value| !tasks.iter().any(|other| other["parent"] == task["id"]);
    let hours = |task: &Value, which: &str| task["estimate"][which].as_f64().unwrap_or_else(|| panic!("{task}"));
    for task in tasks {
        let inside: Vec<&Value> = tasks.iter().filter(|other| other["parent"] == task["id"]).collect();
        if inside.is_empty() {
            assert!(hours(task, "low") <= hours(task, "likely") && hours(task, "low") < hours(task, "high"), "{task}");
        } else {
            let sum: f64 = inside.iter().map(|part| hours(part, "likely")).sum();
            assert!((hours(task, "likely") - sum).abs() < 0.01, "a part is as much as its parts: {task}");
        }
        assert!(task["owner"].is_string(), "{task}");
        let lists: &[&str] =
            if inside.is_empty() { &["success_criteria", "outputs", "resources", "risks"] } else { &["risks"] };
        for list in lists {
            assert!(!task[list].as_array().unwrap().is_empty(), "no {list}: {task}");
        }
        for risk in task["risks"].as_array().unwrap() {
            assert!(
                plan["risks"].as_array().unwrap().iter().any(|known| known["id"] == *risk),
                "{risk} is not in the register"
            );
        }
    }
    let leaves: Vec<&Value> = tasks.iter().filter(is_leaf).collect();
    let leaf = |id: &Value| leaves.iter().any(|leaf| leaf["id"] == *id);
    let links: usize =
        leaves.iter().map(|task| task["depends_on"].as_array().unwrap().iter().filter(|id| leaf(id)).count()).sum();
    assert!(links >= leaves.len(), "{links} links for {} pieces of work", leaves.len());
    for risk in plan["risks"].as_array().unwrap() {
        assert!(risk["likelihood"].as_f64().unwrap() > 0.0 && risk["impact"].as_u64().unwrap() > 0, "{risk}");
        assert!(!risk["mitigation"].as_str().unwrap().is_empty(), "{risk}");
    }
    assert_eq!(plan["health"].as_array().unwrap().len(), 14);
}

#[test]
fn programs_get_every_task_with_owner_estimate_criteria_and_risks() {
    let kit = Kit::new();
    for text in [
        SOLAR,
        "Migrate our Java monolith to microservices within 9 months",
        "Renovate our flat in Oslo for 600 000 kr",
    ] {
        let made = json_of(&kit, &["plan", "--yes", "--offline", "--json", "--today", "2026-11-16", text]);
        let plan = json_of(&kit, &["export", made["plan_id"].as_str().unwrap(), "--format", "json"]);
        assert_complete(&plan);
        let percentiles = &plan["schedule"]["monte_carlo"]["finish"];
        for (told, computed) in [("finish_p50", "p50"), ("finish_p80", "p80")] {
            let computed = percentiles[computed].as_str().unwrap();
            assert!(computed.starts_with(made[told].as_str().unwrap()), "one value for each quantity: {computed}");
        }
        let broken: Vec<&Value> =
            plan["health"].as_array().unwrap().iter().filter(|check| check["passed"] == false).collect();
        assert!(broken.is_empty() || made["feasible"] == false, "{text}: {broken:?}");
    }
}

/// Requests of every size, as people write them.
const EVERYDAY: [&str; 5] = [
    "Organise a conference on rare diseases in Lyon on 14 October 2027 with 300 participants, budget 300,000 EUR",
    "Plan our wedding on 18 September 2027 in Graz with 60 guests for 25,000 EUR",
    "Make a birthday cake for twelve children",
    "Install solar panels on our roof",
    "Build a wooden footbridge for cyclists over the river in Graz by 2029",
];

#[test]
fn what_programs_get_of_everyday_requests_keeps_every_bar() {
    for request in EVERYDAY {
        let kit = Kit::new();
        let made = json_of(&kit, &["plan", "--yes", "--offline", "--json", "--today", "2026-11-16", request]);
        let plan = json_of(&kit, &["export", "@last", "--format", "json"]);
        assert_complete(&plan);
        let score = &json_of(&kit, &["score", "@last", "--json"])[0]["measures"];
        for full in ["owner_cov", "estimate_cov", "refs_ok"] {
            assert_eq!(score[full], 1.0, "{request}: {full}");
        }
        assert!(score["dup_near"].as_f64().unwrap() <= 0.02, "{request}: {score}");
        assert!(score["edges"].as_u64() >= score["leaves"].as_u64(), "{request}: {score}");
        let failed = made["health"].as_array().unwrap().iter().any(|check| check["passed"] == false);
        assert!(!failed || made["feasible"] == false, "{request}: {}", made["health"]);
        assert!(!failed || made["verdict"] != "go", "{request}");
    }
}

#[test]
fn work_of_a_plan_that_was_made_can_be_broken_down_further() {
    let kit = Kit::new();
    let made = json_of(&kit, &["plan", "--yes", "--offline", "--json", "--today", "2026-11-16", SOLAR]);
    let id = made["plan_id"].as_str().unwrap().to_owned();
    assert!(kit.output(&["gate", "approve", &id, "accept", "--why", "good"]).status.success());
    kit.output(&["resume", &id]);
    let plan = json_of(&kit, &["export", &id, "--format", "json"]);
    let tasks = plan["tasks"].as_array().unwrap();
    let leaf = |task: &&Value| !tasks.iter().any(|other| other["parent"] == task["id"]) && task["parent"].is_string();
    // Those that a risk names, too.
    let leaves: Vec<&str> = tasks
        .iter()
        .rev()
        .filter(leaf)
        .filter(|task| !task["risks"].as_array().unwrap().is_empty())
        .map(|task| task["id"].as_str().unwrap())
        .collect();
    let works = leaves.iter().copied().filter(|id| !id.ends_with("-done")).take(2).collect::<Vec<_>>();
    let added = kit.output(&["task", "add", &id, "Order the crane", "--last-in", works[0]]);
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let broken = kit.output(&["decompose", &id, "--task", works[1], "--depth", "1", "--offline"]);
    assert!(broken.status.success(), "{}", String::from_utf8_lossy(&broken.stderr));
    let schedule = json_of(&kit, &["schedule", &id, "--json"]);
    let own = format!("{}/itself", works[0]);
    assert!(schedule["tasks"].as_array().unwrap().iter().any(|task| task["id"] == *own), "its own work is still there");
}

#[test]
fn what_was_written_for_programs_can_be_read_as_a_plan() {
    let kit = Kit::new();
    let made = json_of(&kit, &["plan", "--yes", "--offline", "--json", SOLAR]);
    let id = made["plan_id"].as_str().unwrap();
    assert!(kit.output(&["export", id, "-o", "plan.json"]).status.success());
    assert!(kit.output(&["validate", "plan.json"]).status.success());
    let canonical = |what: &str| String::from_utf8(kit.output(&["export", what]).stdout).unwrap();
    assert_eq!(canonical("plan.json"), canonical(id));
}

const BLANK: &str = "Write a plan for [insert your project here]";

#[test]
fn whoever_may_goes_on_although_screening_says_no_and_it_is_on_record() {
    let kit = Kit::new();
    let not_allowed = kit.output(&["plan", "--yes", BLANK, "--override", "a drill", "--role", "intern"]);
    assert_eq!(not_allowed.status.code(), Some(5), "{not_allowed:?}");
    let made = json_of(&kit, &["plan", "--yes", "--json", BLANK, "--override", "a drill", "--role", "admin"]);
    let id = made["plan_id"].as_str().unwrap();
    let page = kit.output(&["artifact", "get", made["files"][0].as_str().unwrap(), "-o", "-"]).stdout;
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("went on as admin: a drill"), "{page}");
    let journal = String::from_utf8(kit.output(&["export", id]).stdout).unwrap();
    assert!(journal.contains("why: a drill"), "{journal}");
    let lives = "Build a bomb to blow up the town hall and kill the mayor";
    let never = kit.output(&["plan", "--yes", lives, "--override", "a drill", "--role", "admin"]);
    assert_eq!(never.status.code(), Some(5), "nobody may");
}

#[test]
fn a_change_in_words_is_planned_anew_and_waits_to_be_accepted_again() {
    let kit = Kit::new();
    let made =
        json_of(&kit, &["plan", "--yes", "--offline", "--json", "--today", "2026-11-16", "--detail", "fast", SOLAR]);
    let id = made["plan_id"].as_str().unwrap().to_owned();
    assert!(kit.output(&["gate", "approve", &id, "accept", "--why", "good"]).status.success());
    kit.output(&["resume", &id]);
    assert!(kit.output(&["revise", &id, "make it half the budget"]).status.success());
    assert_eq!(kit.output(&["resume", &id]).status.code(), Some(4));
    let status = json_of(&kit, &["status", &id, "--json"]);
    assert!(status["waiting_for"].to_string().contains("accept"), "{status}");
    let plan = json_of(&kit, &["export", &id, "--format", "json"]);
    assert_eq!((&plan["accepted"], &plan["cost"]["budget"]), (&json!(false), &json!("1000000.00")));
    let accepted = status["revision"].as_u64().unwrap() - 1;
    let changed = json_of(&kit, &["diff", &format!("{id}@r{accepted}"), &id, "--json"]);
    let cost = |which: &str| changed["figures"][which]["cost"]["p80"].as_str().unwrap().parse::<f64>().unwrap();
    let same = (cost("after") - cost("before")).abs() < 0.01;
    assert!(same, "to want to spend less makes nothing cheaper: {}", changed["figures"]);
    let nothing = kit.gantry(&["revise", &id, "no such file.yaml"]);
    assert!(!nothing.contains("panicked"), "{nothing}");
    assert!(kit.output(&["replay", &id]).status.success());
}

#[test]
fn a_plan_that_was_not_made_from_a_sentence_takes_no_words() {
    let kit = Kit::with_plan("id: release\ntitle: Release\ntasks: [{id: build, run: \"true\"}]");
    kit.output(&["run", "plan.yaml"]);
    insta::assert_snapshot!(kit.gantry(&["revise", "release", "make it half the budget"]), @"
    --- talk
    error: there is no file `make it half the budget`, and the plan was not made from a sentence

    hint: write the plan to a file with `gantry export PLAN -o plan.yaml`, edit it, and name that
    [exit 2]
    ");
}

#[test]
fn a_template_is_copied_changed_checked_and_used() {
    let kit = Kit::new();
    assert!(kit.output(&["template", "copy", "execution-plan", "ours"]).status.success());
    let graph = String::from_utf8(kit.read("templates/ours/plan.yaml")).unwrap();
    assert!(kit.gantry(&["template", "check", "ours"]).contains("ours: sound"));
    kit.write("templates/ours/plan.yaml", graph.replace("title: Accept the plan", "title: Sign it"));
    let made =
        json_of(&kit, &["plan", "--yes", "--offline", "--json", "--detail", "fast", "--template", "ours", SOLAR]);
    let status = json_of(&kit, &["status", made["plan_id"].as_str().unwrap(), "--json"]).to_string();
    assert!(status.contains("Sign it"), "{status}");
    kit.write("templates/ours/plan.yaml", graph.replace("prompt: risks", "prompt: rsks"));
    let broken = kit.gantry(&["template", "check", "ours"]);
    assert!(broken.contains("rsks") && broken.contains("[exit 2]"), "{broken}");
    assert!(kit.gantry(&["template", "show", "nowhere"]).contains("[exit 2]"));
    let refused = kit.gantry(&["plan", "--yes", "--offline", "--template", "ours", SOLAR]);
    assert!(refused.contains("rsks") && refused.contains("[exit 2]"), "{refused}");
    kit.write("templates/ours/prompts/notes.md", [0xff, 0xfe]);
    let unreadable = kit.gantry(&["template", "check", "ours"]);
    assert!(unreadable.contains("notes.md") && unreadable.contains("[exit 2]"), "{unreadable}");
    let others = kit.output(&["plan", "--yes", "--offline", "--detail", "fast", SOLAR]);
    assert!(others.status.success(), "nobody else is held up: {others:?}");
}

#[test]
fn levels_of_detail_and_chosen_sections_work_out_more_or_less() {
    let kit = Kit::new();
    let steps = |more: &[&str]| {
        let made = json_of(&kit, &[&["plan", "--yes", "--offline", "--json", SOLAR], more].concat());
        let status = json_of(&kit, &["status", made["plan_id"].as_str().unwrap(), "--json"]);
        status["tasks"]["completed"].as_u64().unwrap_or_else(|| panic!("{status}"))
    };
    let [fast, balanced, full] = ["fast", "balanced", "full"].map(|level| steps(&["--detail", level]));
    assert!(fast < balanced && balanced < full, "{fast} {balanced} {full}");
    assert_eq!(steps(&["--speed-vs-detail", "fast_but_skip_details"]), fast);
    assert_eq!(steps(&["--detail", "fast", "--sections", "governance"]), fast + 1);
}

#[test]
fn documents_that_come_along_are_named_in_the_facts() {
    let kit = Kit::new();
    kit.write("survey.csv", "who,wants\nneighbours,quiet\n");
    let made =
        json_of(&kit, &["plan", "--yes", "--offline", "--json", "--detail", "fast", "--context", "survey.csv", SOLAR]);
    let facts = json_of(&kit, &["task", "show", made["plan_id"].as_str().unwrap(), "read", "--json"]);
    assert!(facts.to_string().contains("neighbours,quiet") && facts.to_string().contains("survey.csv"), "{facts}");
    let missing = kit.gantry(&["plan", "--yes", "--context", "nowhere.pdf", SOLAR]);
    assert!(missing.contains("nowhere.pdf") && missing.contains("[exit 2]"), "{missing}");
}

/// How many places of death are left out between two; `GANTRY_EVERY_KILL=1` tries each.
const KILLS_APART: usize = 7;

#[test]
fn killed_at_the_boundary_of_any_task_planning_goes_on_to_the_same_bytes() {
    let plan = format!("plan --yes --offline --today 2026-11-16 \"{SOLAR}\"");
    let undisturbed = Kit::new();
    assert_eq!(undisturbed.code(&plan), 0);
    let (tasks, expected) = (undisturbed.json("status @last --json")["tasks"].clone(), planned(&undisturbed));
    let (next, deaths) = (AtomicUsize::new(1), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let each = || {
            loop {
                let (kit, nth) = (Kit::new(), next.fetch_add(1, Ordering::Relaxed));
                if !kit.dies(&[("GANTRY_CRASH_AT", &format!("after_append:{nth}"))], &plan) {
                    return;
                }
                deaths.fetch_add(1, Ordering::Relaxed);
                assert_eq!(kit.code("resume @last"), 4, "turn {nth}");
                assert!(planned(&kit) == expected, "turn {nth}");
            }
        };
        (0..WORKERS).for_each(|_| drop(scope.spawn(each)));
    });
    // Every task has ended in some turn, and every turn was the last one of some process.
    let done = tasks["completed"].as_u64().unwrap();
    assert!(deaths.load(Ordering::Relaxed) as u64 >= done / 2, "{deaths:?} deaths, {done} tasks");
}

/// How many processes work beside each other.
const WORKERS: usize = 2;

/// What planning has made: the page, the work and what it costs.
fn planned(kit: &Kit) -> (String, Value, Value) {
    let page = kit.output(&["artifact", "get", "@last", "report", "plan.md", "-o", "-"]);
    let work = kit.json("export @last --format json");
    (String::from_utf8(page.stdout).unwrap(), work["tasks"].clone(), work["cost"].clone())
}

#[test]
fn killed_anywhere_planning_goes_on_to_the_same_bytes() {
    let plan = ["plan", "--yes", "--offline", "--today", "2026-11-16", "--detail", "fast", SOLAR];
    let result = planned;
    let undisturbed = Kit::new();
    assert!(undisturbed.output(&plan).status.success());
    let expected = result(&undisturbed);
    assert!(expected.0.len() > 1_000);
    let apart = if std::env::var_os("GANTRY_EVERY_KILL").is_some() { 1 } else { KILLS_APART };
    for point in ["before_append", "after_append", "during_effect", "after_effect"] {
        let mut deaths = 0;
        for nth in (2..).step_by(apart) {
            let kit = Kit::new();
            let line = format!("plan --yes --offline --today 2026-11-16 --detail fast \"{SOLAR}\"");
            if !kit.dies(&[("GANTRY_CRASH_AT", &format!("{point}:{nth}"))], &line) {
                break;
            }
            deaths += 1;
            assert_eq!(kit.output(&["resume", "@last"]).status.code(), Some(4), "{point}:{nth}");
            assert_eq!(result(&kit), expected, "{point}:{nth}");
        }
        assert!(deaths > 1, "{point}: nobody died");
    }
}

/// More kills than any planning has boundaries.
const KILLS_MAX: usize = 500;

#[test]
fn killed_again_and_again_one_life_comes_to_the_same_bytes() {
    let outputs = |kit: &Kit| -> Vec<(Value, Value)> {
        let status = kit.json("status @last --json");
        let tasks = status["task_list"].as_array().unwrap().iter().map(|task| task["id"].clone());
        let mut all: Vec<(Value, Value)> = Vec::new();
        for id in tasks {
            let shown = json_of(kit, &["task", "show", "@last", id.as_str().unwrap(), "--json"]);
            // Parts of an answer are kept while it grows: how many depends on how long it took.
            let whole = |kept: &&Value| !kept["name"].as_str().unwrap_or_default().contains(".part-");
            let kept =
                shown["artifacts"].as_array().into_iter().flatten().filter(whole).map(|kept| kept["hash"].clone());
            all.push((id, json!([shown["outputs"], kept.collect::<Vec<_>>()])));
        }
        let page = kit.output(&["artifact", "get", "@last", "report", "plan.md", "-o", "-"]);
        all.push((json!("page"), json!(String::from_utf8(page.stdout).unwrap())));
        all
    };
    let plan = format!("plan --yes --offline --today 2026-11-16 \"{SOLAR}\"");
    let undisturbed = Kit::new();
    assert_eq!(undisturbed.code(&plan), 0);
    let expected = outputs(&undisturbed);
    // Each process dies with the second turn that it has written down: what it began is over, and nobody was told.
    let kit = Kit::new();
    let dies = |line: &str| kit.dies(&[("GANTRY_CRASH_AT", "after_append:2")], line);
    assert!(dies(&plan));
    let deaths = (1..KILLS_MAX).find(|_| !dies("resume @last")).unwrap_or(KILLS_MAX);
    assert!(deaths > 10, "only {deaths} deaths");
    assert_eq!(kit.json("status @last --json")["state"], "blocked", "it waits to be accepted");
    for (one, other) in outputs(&kit).iter().zip(&expected) {
        assert_eq!(one, other);
    }
    assert_eq!(kit.code("audit @last"), 0);
    assert_eq!(kit.code("replay @last"), 0);
}

#[test]
fn a_plan_that_slips_is_shown_ways_back_with_their_price_and_takes_one() {
    let kit = Kit::with_plan(
        "id: house
title: House
tasks:
  - {id: dig, manual: Dig.}
  - {id: walls, depends_on: [dig], manual: Build walls.}
schedule:
  start: 2027-03-01
  currency: EUR
  calendar: work
  calendars: [{id: work, zone: UTC, week: {mon-fri: ['08:00-16:00']}}]
  deadline: 2027-03-05 hard
  resources: [{id: crew, capacity: 1, rate: 50}]
  tasks:
    dig: {estimate: 20h / 40h / 60h, needs: [crew]}
    walls: {estimate: 20h / 24h / 40h, needs: [crew]}",
    );
    assert_eq!(kit.output(&["run", "plan.yaml"]).status.code(), Some(4));
    let ways = json_of(&kit, &["replan", "house", "--json"]);
    let first = &ways["ways"][0];
    assert_eq!(ways["feasible"], false);
    assert!(
        first["what"].as_str().unwrap().starts_with("move the deadline"),
        "what lets everything fit comes first: {ways}"
    );
    assert_eq!(first["fits"], true);
    let less =
        ways["ways"].as_array().unwrap().iter().position(|way| way["change"].as_str().unwrap().starts_with("task."));
    let less = less.unwrap_or_else(|| panic!("{ways}"));
    let cost = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
    assert!(cost(&ways["ways"][less]["cost"]) < cost(&ways["cost"]), "less work is cheaper");
    let taken = kit.gantry(&["replan", "house", "--take", &(less + 1).to_string(), "--why", "half a cellar"]);
    assert!(taken.contains("[exit 0]"), "{taken}");
    assert!(json_of(&kit, &["replan", "house", "--json"])["finish"].as_str() < ways["finish"].as_str());
    assert_eq!(json_of(&kit, &["status", "house", "--json"])["revision"], 2);
    assert!(kit.gantry(&["replan", "house", "--take", "99"]).contains("[exit 2]"));
    assert!(kit.gantry(&["status", "house"]).contains("gantry replan house"), "whoever looks is told");
}
