//! Reports of plans that were made, carried out, cut short or only written down.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use super::kit::Kit;

const SOLAR: &str = "Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer";
const COFFEE: &str = "I want a cup of coffee. I have instant coffee and a cup and water.";

fn planned(request: &str) -> Kit {
    let kit = Kit::new();
    let output = kit.output(&["plan", "--yes", "--offline", "--today", "2026-11-16", request]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    kit
}

fn said(kit: &Kit, args: &[&str]) -> String {
    let output = kit.output(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Without what differs from run to run: the day, and when something happened.
fn steady(text: &str) -> String {
    let is_time = |line: &str| line.starts_with("| 20") && line.contains('T') || line.starts_with("*Report of 20");
    text.lines().filter(|line| !is_time(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_report_of_an_errand_is_a_page() {
    let kit = planned(COFFEE);
    insta::assert_snapshot!(steady(&said(&kit, &["report", "@last", "--format", "markdown"])));
}

#[test]
fn the_report_of_a_project_says_everything_once_and_the_same_every_time() {
    let (one, other) = (planned(SOLAR), planned(SOLAR));
    let of = |kit: &Kit| steady(&said(kit, &["report", "@last", "--format", "markdown"]));
    assert_eq!(of(&one), of(&other));
    let headings: Vec<String> =
        of(&one).lines().filter(|line| line.starts_with("## ")).map(|line| line[3..].to_owned()).collect();
    insta::assert_snapshot!(headings.join("\n"), @"
    Summary
    What was asked for
    Schedule
    Phases
    Cost
    Work breakdown
    Goal and measures
    Strategy
    Team
    Governance
    Risks
    Assumptions and evidence
    Comparable projects
    Documents
    Data to collect
    Strengths and weaknesses
    Reviews
    Questions and answers
    Pitch
    The request and its vetting
    What rests on what
    What happened
    Checks
    ");
}

#[test]
fn every_form_of_a_report_is_written_and_a_zip_has_them_all_with_their_hashes() {
    let kit = planned(SOLAR);
    assert!(said(&kit, &["report", "@last", "--format", "csv", "--section", "risks"]).starts_with("Id,Risk,"));
    let dates = said(&kit, &["report", "@last", "--format", "csv", "--section", "schedule"]);
    assert!(dates.starts_with("Id,Task,Part of,Start,Finish,"), "{dates}");
    assert!(said(&kit, &["report", "@last", "--format", "ical"]).starts_with("BEGIN:VCALENDAR"));
    assert!(said(&kit, &["report", "@last", "--format", "msproject"]).contains("<Project"));
    assert!(said(&kit, &["report", "@last", "--format", "mermaid"]).contains("flowchart"));
    said(&kit, &["report", "@last", "-o", "all.zip"]);
    let mut archive = zip::ZipArchive::new(std::fs::File::open(kit.path("all.zip")).unwrap()).unwrap();
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).unwrap();
        let mut body = Vec::new();
        file.read_to_end(&mut body).unwrap();
        files.insert(file.name().unwrap().into_owned(), body);
    }
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let wanted = [
        "README.md",
        "cost-2.csv",
        "cost.csv",
        "manifest.json",
        "phases-2.csv",
        "phases.csv",
        "plan.ics",
        "plan.json",
        "plan.mmd",
        "plan.xml",
        "plan.yaml",
        "report.html",
        "report.md",
        "risks.csv",
        "schedule.csv",
        "work.csv",
    ];
    assert_eq!(names, wanted);
    let manifest: Vec<Value> = serde_json::from_slice(&files["manifest.json"]).unwrap();
    assert_eq!(manifest.len(), files.len() - 1);
    for (_, table) in files.iter().filter(|(name, _)| Path::new(name).extension().is_some_and(|kind| kind == "csv")) {
        let rows = csv_rows(std::str::from_utf8(table).unwrap());
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "one set of columns: {:?}", rows[0]);
    }
    for row in &manifest {
        let body = &files[row["file"].as_str().unwrap()];
        assert_eq!(
            (&row["bytes"], &row["blake3"]),
            (&json!(body.len()), &json!(gantry_store::Hash::of(body).to_string()))
        );
    }
}

/// The cells of a table, read back.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let (mut quoted, mut letters) = (false, text.chars().peekable());
    while let Some(letter) = letters.next() {
        let row = rows.last_mut().unwrap();
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => row.last_mut().unwrap().extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => rows.push(vec![String::new()]),
            letter => row.last_mut().unwrap().push(letter),
        }
    }
    rows.retain(|row| row.as_slice() != [String::new()]);
    rows
}

#[test]
fn what_people_write_stands_in_the_report_as_they_wrote_it() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        r#"
title: Rent 120 square metres
objective: Serve 200 customers a day by 2028 for 45,000 EUR
tasks:
  - id: bake
    description: Bake 45 minutes at 230 degrees
    manual: bake it
    owner: ann
    estimate: {low: 1h, likely: 2h, high: 4h}
    success_criteria: [{words: "at least 3 loaves of 750 g, by 2027-06-30"}]
    risks: [{name: burns, mitigation: Check after 30 minutes}]
  - {id: sell, title: Sell with R2 flour, manual: sell it, owner: Zoe, depends_on: [bake], estimate: {low: 1h, likely: 2h, high: 4h}}
schedule:
  start: 2027-03-01
  currency: EUR
  resources: [{id: ann, rate: 20}]
"#,
    );
    assert_eq!(said(&kit, &["report", "plan.yaml", "--check"]), "nothing contradicts anything else\n");
    let page = said(&kit, &["report", "plan.yaml", "--format", "markdown"]);
    for told in [
        "Serve 200 customers a day by 2028 for 45,000 EUR",
        "Bake 45 minutes at 230 degrees",
        "at least 3 loaves of 750 g, by 2027-06-30",
        "Check after 30 minutes",
        "| ann |",
        "| Zoe |",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    let kit = planned(COFFEE);
    assert!(kit.output(&["gate", "approve", "@last", "accept"]).status.success());
    kit.output(&["resume", "@last"]);
    let about = "Talk to 25 households within 14 days, with a budget of 300 EUR";
    said(&kit, &["task", "add", "@last", "Ask the neighbours", "--owner", "Mara", "--description", about]);
    assert_eq!(said(&kit, &["report", "@last", "--check"]), "nothing contradicts anything else\n");
    assert!(said(&kit, &["report", "@last", "--format", "markdown"]).contains(about));
}

#[test]
fn a_plan_that_was_given_up_foretells_nothing_and_says_who_gave_it_up_and_why() {
    let kit = planned("Plan a wedding for 80 guests in Florence by 30 September 2027 for 25,000 EUR");
    assert!(kit.output(&["gate", "approve", "@last", "accept"]).status.success());
    kit.output(&["resume", "@last"]);
    assert!(kit.output(&["cancel", "@last", "--why", "No longer engaged"]).status.success());
    for form in ["markdown", "handoff"] {
        let page = said(&kit, &["report", "@last", "--format", form]);
        for told in ["**Ended:** 20", "No longer engaged", "not met, as it was not completed", "of 12 tasks"] {
            assert!(page.contains(told), "{form}: {told}: {page}");
        }
        for foretold in ["eight of ten", "kept in", "First steps", "How sure"] {
            assert!(!page.contains(foretold), "{form}: {foretold}: {page}");
        }
    }
    let page = said(&kit, &["report", "@last", "--format", "postmortem"]);
    for told in ["0 of 12 tasks are done.", "nobody recorded what was paid", "Why: given up by "] {
        assert!(page.contains(told), "{told}: {page}");
    }
}

#[test]
fn an_errand_that_is_done_has_planned_against_actual() {
    let kit = planned(COFFEE);
    assert!(kit.output(&["gate", "approve", "@last", "accept"]).status.success());
    for task in ["look", "boil", "measure", "pour", "drink", "rinse"] {
        kit.output(&["resume", "@last"]);
        assert!(kit.output(&["task", "done", "@last", task]).status.success(), "{task}");
    }
    assert_eq!(kit.output(&["resume", "@last"]).status.code(), Some(0));
    let page = said(&kit, &["report", "@last", "--format", "markdown"]);
    for told in [
        "**Ended:** 20",
        "(completed, after ",
        "**Work done:** 6 of 6 tasks",
        "## Planned against actual",
        "## What happened",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    assert!(!page.contains("First risks to act on") && !page.contains("decide the finish"), "{page}");
}

#[test]
fn a_plan_whose_planning_was_cut_short_says_so_and_shows_no_dates_of_its_steps() {
    let kit = planned(SOLAR);
    said(&kit, &["fork", "@last", "--at", "60"]);
    assert_eq!(said(&kit, &["report", "@last", "--check"]), "nothing contradicts anything else\n");
    let page = said(&kit, &["report", "@last", "--format", "markdown"]);
    assert!(
        page.contains("> This plan is not made yet: ") && page.contains(" steps of its planning are done."),
        "{page}"
    );
    assert!(page.contains("- **Standing:** interrupted"), "{page}");
    assert!(page.contains("## Phases\n\n> This is not there: the step “"), "{page}");
    for wrong in ["## Schedule", "## Work breakdown", "**Finish:**", "decide the finish"] {
        assert!(!page.contains(wrong), "{wrong}: {page}");
    }
}

#[test]
fn plan_status_and_report_name_the_same_finish() {
    let kit = planned(SOLAR);
    let finish =
        |text: &str, before: &str| text.split_once(before).unwrap_or_else(|| panic!("{text}")).1[..10].to_owned();
    let report = finish(&said(&kit, &["report", "@last", "--format", "markdown"]), "**Finish:** ");
    let status = said(&kit, &["status", "@last"]);
    assert_eq!(finish(&status, "done about "), report);
    assert!(status.contains(" (P50), 80% sure by "), "{status}");
    let forecast = kit.json("status @last --json")["forecast"].clone();
    assert_eq!(forecast["p50"].as_str().unwrap()[..10], report);
}

#[test]
fn the_plan_for_programs_fits_its_schema() {
    let kit = planned(SOLAR);
    let schema: Value = serde_json::from_str(&said(&kit, &["schema", "export"])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut subjects = vec!["@last".to_owned()];
    subjects.extend(
        std::fs::read_dir(examples)
            .unwrap()
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
            .map(|path| path.display().to_string()),
    );
    assert!(subjects.len() > 5);
    for subject in subjects {
        let plan: Value = serde_json::from_str(&said(&kit, &["report", &subject, "--format", "json"])).unwrap();
        let faults: Vec<String> =
            validator.iter_errors(&plan).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert_eq!(faults, Vec::<String>::new(), "{subject}");
    }
}

#[test]
fn a_plan_that_ended_has_a_post_mortem() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        r#"
title: Bread
tasks:
  - {id: knead, run: "true", estimate: {low: 30m, likely: 1h, high: 2h}}
  - {id: bake, run: "false", depends_on: [knead], estimate: {low: 1h, likely: 2h, high: 4h}}
"#,
    );
    let ran = kit.output(&["run", "plan.yaml"]);
    assert_eq!(ran.status.code(), Some(3), "{}", String::from_utf8_lossy(&ran.stderr));
    let report = said(&kit, &["report", "@last", "--format", "markdown"]);
    assert!(report.contains("## Planned against actual") && report.contains("## What failed"), "{report}");
    assert!(report.contains("It ended failed on "), "{report}");
}

/// The same without the name of the plan, and when something happened.
fn named(kit: &Kit, text: &str) -> String {
    let id = kit.json("status @last --json")["id"].as_str().unwrap().to_owned();
    steady(&text.replace(&id, "PLAN"))
}

#[test]
fn whoever_takes_a_plan_over_gets_a_page() {
    let kit = planned(COFFEE);
    insta::assert_snapshot!(named(&kit, &said(&kit, &["report", "@last", "--format", "handoff"])));
}

#[test]
fn a_plan_file_and_a_plan_without_dates_can_be_handed_over_too() {
    let kit = Kit::new();
    kit.write("plan.yaml", "title: Bread\ntasks:\n  - {id: knead, manual: knead it}\n  - {id: bake, manual: bake it, depends_on: [knead]}\n");
    let page = said(&kit, &["report", "plan.yaml", "--format", "handoff"]);
    assert!(page.starts_with("# Bread\n") && !page.contains("Cost:"), "{page}");
    assert_eq!(kit.output(&["run", "plan.yaml"]).status.code(), Some(4));
    let page = said(&kit, &["report", "@last", "--format", "handoff"]);
    assert!(page.contains("| Knead |") || page.contains("| knead |"), "what is open now: {page}");
    assert!(page.contains("gantry task done"), "what to type: {page}");
}

#[test]
fn a_post_mortem_holds_what_was_planned_against_what_happened() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        r#"
title: Bread
tasks:
  - {id: knead, run: "true", estimate: {low: 30m, likely: 1h, high: 2h}}
  - {id: bake, run: "false", depends_on: [knead], estimate: {low: 1h, likely: 2h, high: 4h}}
  - {id: eat, manual: eat it, depends_on: [bake]}
schedule:
  start: 2027-03-01
  calendar: day
  currency: EUR
  calendars: [{id: day, zone: UTC, week: {mon-sun: ["08:00-18:00"]}}]
  resources: [{id: baker, rate: 20}]
  tasks:
    knead: {needs: [baker]}
    bake: {needs: [baker]}
"#,
    );
    assert_eq!(kit.output(&["run", "plan.yaml"]).status.code(), Some(3));
    let page = said(&kit, &["report", "@last", "--format", "postmortem"]);
    let row = |title: &str| {
        page.lines().find(|line| line.starts_with(&format!("| {title} |"))).unwrap_or_else(|| panic!("{page}"))
    };
    assert!(
        row("knead").contains("| 1 | 2027-03-01 | 2027-03-01 | 22 EUR |") && row("knead").contains("completed"),
        "{page}"
    );
    assert!(
        row("bake").contains("| 2 | 2027-03-01 | 2027-03-01 | 43 EUR |") && row("bake").contains("failed"),
        "{page}"
    );
    for told in [
        "It ended failed on ",
        "Planned were 2027-03-01 to 2027-03-01.",
        "Planned cost: 65 EUR.",
        "## What failed",
        "Pieces of work that nobody began: 1.",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
}

#[test]
fn a_post_mortem_of_a_plan_without_dates_says_so_and_a_file_has_none() {
    let kit = Kit::new();
    kit.write("plan.yaml", "title: Bread\ntasks:\n  - {id: knead, run: \"true\"}\n");
    assert_eq!(kit.output(&["run", "plan.yaml"]).status.code(), Some(0));
    let page = said(&kit, &["report", "@last", "--format", "postmortem"]);
    assert!(page.contains("It ended completed on ") && page.contains("| knead |"), "{page}");
    let of_file = kit.gantry(&["report", "plan.yaml", "--format", "postmortem"]);
    assert!(of_file.contains("a plan file has no life") && of_file.contains("[exit 2]"), "{of_file}");
}

#[test]
fn what_a_report_cannot_show_is_told_with_what_it_can() {
    let kit = planned(COFFEE);
    insta::assert_snapshot!(
        ["report @last --section wrok", "report @last --audience bored", "report @last -o plan.docx", "report nobody"]
            .map(|line| kit.gantry(&line.split(' ').collect::<Vec<_>>()))
            .join("\n")
    );
}

/// Every so many of the prompts; all of them where `GANTRY_EVERY_PROMPT` is set.
#[test]
fn reports_of_real_requests_contradict_themselves_nowhere() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/prompts/prompts.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else {
        let _ = writeln!(std::io::stderr(), "skipped: {path} is not here");
        return;
    };
    let every = if std::env::var_os("GANTRY_EVERY_PROMPT").is_some() { 1 } else { 9 };
    let kit = Kit::new();
    let mut checked = 0;
    for line in text.lines().step_by(every) {
        let row: Value = serde_json::from_str(line).unwrap();
        let request = row["prompt"].as_str().unwrap();
        if !kit.output(&["plan", "--yes", "--offline", "--today", "2026-11-16", request]).status.success() {
            continue; // refused, which other tests look at
        }
        let output = kit.output(&["report", "@last", "--check"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "nothing contradicts anything else\n", "{request}");
        checked += 1;
    }
    assert!(checked > 5, "{checked}");
}

/// The sections of a Markdown page, by their headings.
fn sections(page: &str) -> Vec<&str> {
    page.split("\n## ").skip(1).filter(|section| !section.starts_with("Summary\n")).collect()
}

#[test]
fn the_page_that_planning_leaves_is_the_report_as_markdown() {
    let kit = Kit::new();
    let made = kit.output(&["plan", "--yes", "--offline", "--json", "Open a bakery in Graz for 60,000 EUR"]);
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(made["files"], serde_json::json!([format!("{}/report/plan.md", made["plan_id"].as_str().unwrap())]));
    let page = kit.output(&["artifact", "get", "@last", "report", "plan.md", "-o", "-"]);
    let page = String::from_utf8(page.stdout).unwrap();
    let report = said(&kit, &["report", "@last", "--format", "markdown"]);
    // How the plan stands is all that the report knows besides.
    assert!(sections(&page).len() > 15, "{page}");
    for section in sections(&page) {
        assert!(report.contains(section), "this is not in the report:\n{section}");
    }
}

#[test]
fn every_statement_says_what_it_rests_on() {
    let kit = planned(SOLAR);
    let plan: Value = serde_json::from_str(&said(&kit, &["export", "@last", "--format", "json"])).unwrap();
    let claims = plan["claims"].as_array().unwrap();
    let of = |id: &Value, about: &str| claims.iter().find(|claim| claim["id"] == *id && claim["about"] == about);
    let parents: Vec<&Value> = plan["tasks"].as_array().unwrap().iter().map(|task| &task["parent"]).collect();
    for task in plan["tasks"].as_array().unwrap().iter().filter(|task| !parents.contains(&&task["id"])) {
        let claim = of(&task["id"], "hours").unwrap_or_else(|| panic!("{}", task["id"]));
        assert_eq!(claim["claim"], "estimate");
        assert!(claim["source"].as_str().unwrap().starts_with("gantry-offline"), "{claim}");
    }
    for risk in plan["risks"].as_array().unwrap() {
        assert_eq!(of(&risk["id"], "risk").unwrap()["claim"], "estimate");
    }
    let given = |id: &str| of(&json!(id), "request").unwrap_or_else(|| panic!("{id}: {claims:?}"));
    assert_eq!(
        (given("budget")["says"].as_str(), given("budget")["claim"].as_str()),
        (Some("2000000.0 DKK"), Some("given"))
    );
    assert_eq!(given("place")["says"], "Aarhus");
    for sort in ["given", "fact", "assumption", "estimate"] {
        let one = claims.iter().find(|claim| claim["claim"] == sort).unwrap_or_else(|| panic!("{sort}"));
        assert!(!one["source"].as_str().unwrap().is_empty(), "{one}");
    }
    let report = said(&kit, &["report", "@last", "--format", "markdown", "--section", "claims"]);
    assert!(report.contains("| estimate | hours |") && report.contains("| given | demand | D1"), "{report}");
}
