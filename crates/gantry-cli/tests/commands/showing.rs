//! Where plans stand, as people see it.

use crate::kit::{Kit, RELEASE};

const UNDO_FAILS: &str = r#"
id: back
title: Something cannot be taken back
tasks:
  - {id: a, run: "echo a", undo: {run: "true"}}
  - {id: c, depends_on: [a], run: "echo c", undo: {run: "echo cannot; exit 9"}}
  - {id: ok, depends_on: [c], gate: {approvals: 1}}
"#;

/// Only the lines that stay the same from run to run.
fn without_times(kit: &Kit, line: &str) -> String {
    let output = kit.output(&line.split(' ').collect::<Vec<_>>());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_length = |word: &str| word.ends_with('s') && word.starts_with(|c: char| c.is_ascii_digit());
    let masked = |line: &str| {
        let words = line.split(' ').map(|word| if is_length(word) { "0ms" } else { word });
        // A column is as wide as its longest time, so gaps between columns say nothing.
        let text = words.collect::<Vec<_>>().join(" ");
        let indent = text.len() - text.trim_start().len();
        let columns: Vec<&str> = text.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
        format!("{}{}", " ".repeat(indent), columns.join("  "))
    };
    text.lines().map(masked).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_undo_that_failed_is_shown_with_what_to_do_about_it() {
    let kit = Kit::with_plan(UNDO_FAILS);
    insta::assert_snapshot!(kit.gantry(&["cancel", "back", "--undo"]));
    insta::assert_snapshot!(without_times(&kit, "status back"));
    insta::assert_snapshot!(kit.gantry(&["task", "resolve", "back", "c", "skip"]));
    assert!(without_times(&kit, "status back").contains("ready to go on with taking back what was done"));
    assert_eq!(kit.code("resume back"), 3);
    let status = without_times(&kit, "status back");
    assert!(status.contains("c: stays as it is; taking back passes over it"), "{status}");
    let log = without_times(&kit, "log back");
    assert!(log.contains("taking back is over") && !log.contains("everything is taken back"), "{log}");
}

#[test]
fn a_plan_that_its_budget_stopped_says_so_and_how_to_go_on() {
    let kit = Kit::with_plan(
        "id: poor\npolicy: {budget: {time: 1ms}}\ntasks:\n  - {id: a, run: echo a}\n  - {id: b, run: echo b, depends_on: [a]}\n",
    );
    insta::assert_snapshot!(without_times(&kit, "status poor"));
}

#[test]
fn after_a_decision_a_plan_is_ready_to_go_on_and_not_lost() {
    let kit = Kit::with_plan(RELEASE);
    assert_eq!(kit.code("gate approve release sign-off"), 0);
    assert_eq!(kit.code("gate approve release legal --role lawyer"), 0);
    let status = without_times(&kit, "status release");
    assert!(status.contains("ready to go on") && !status.contains("gone"), "{status}");
    let list = without_times(&kit, "list");
    assert!(list.contains("release  ready"), "{list}");
}

#[test]
fn what_the_last_tasks_gave_is_shown() {
    let kit = Kit::with_plan(
        r#"
id: gives
tasks:
  - {id: count, run: 'echo "lines=12" >> $GANTRY_OUTPUTS'}
  - {id: report, title: Write the report, depends_on: [count], run: 'echo begun; printf "50%%\r100%%\n"'}
  - {id: measure, depends_on: [count], run: 'echo "p99=250" >> $GANTRY_OUTPUTS'}
"#,
    );
    insta::assert_snapshot!(without_times(&kit, "status gives"));
    let run = without_times(&kit, "run plan.yaml --key another");
    assert!(run.contains("measure  p99 = 250"), "{run}");
}

#[test]
fn why_a_plan_failed_is_never_cut_for_a_program() {
    let why = "very ".repeat(60);
    let kit = Kit::with_plan(&format!("id: long\ntasks: [{{id: a, run: 'echo it is {why}wrong >&2; exit 1'}}]\n"));
    let status = without_times(&kit, "status long");
    assert!(status.lines().any(|line| line.ends_with("very wrong") && line.contains("it is very")), "{status}");
}

#[test]
fn options_are_lines_that_can_be_typed() {
    let kit = Kit::with_plan("id: where\ntasks: [{id: q, ask: {question: Where?, options: [eu, us, far away]}}]\n");
    insta::assert_snapshot!(without_times(&kit, "status where"));
}

#[test]
fn a_question_without_text_is_not_explained() {
    let kit = Kit::with_plan(
        "id: h\ntasks:\n  - {id: d, decide: {options: [{outcome: go}, {outcome: stop}]}, next: [{on: go, to: a}, {on: stop, to: b}]}\n  - {id: a, run: echo a}\n  - {id: b, run: echo b}\n",
    );
    assert!(!without_times(&kit, "status h").contains("# answer"));
}

#[test]
fn what_differs_in_long_values_is_shown() {
    let kit = Kit::new();
    let same = "deploy --context staging --namespace shop --file manifests/shop.yaml --wait --timeout 5m";
    kit.write("one.yaml", format!("title: D\ntasks: [{{id: deploy, run: '{same} && echo one'}}]\n"));
    kit.write("two.yaml", format!("title: D\ntasks: [{{id: deploy, run: '{same} && echo two; rm -rf data'}}]\n"));
    insta::assert_snapshot!(kit.gantry(&["diff", "one.yaml", "two.yaml"]));
}

#[test]
fn a_record_that_may_only_be_read_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let kit = Kit::with_plan(RELEASE);
    let folder = kit.record().parent().unwrap().to_owned();
    let allow = |mode: u32, path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        allow(0o444, &file);
    }
    allow(0o555, &folder);
    let said = ["list", "status release", "log release", "gate list", "audit release", "pause release"]
        .map(|line| (line, kit.gantry_reading(line)));
    allow(0o755, &folder);
    for (line, said) in said {
        let code = i32::from(line.starts_with("pause"));
        assert!(said.ends_with(&format!("[exit {code}]")), "{line}: {said}");
    }
}

#[test]
fn programs_are_told_a_plan_from_its_first_entry() {
    let kit = Kit::new();
    kit.write("plan.yaml", "id: told\ntasks: [{id: a, run: echo a}]\n");
    let output = kit.output(&["run", "plan.yaml", "--json"]);
    let first = String::from_utf8_lossy(&output.stdout).lines().next().unwrap().to_owned();
    let first: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&first["seq"], &first["event"]), (&1.into(), &"plan_created".into()));
}

#[test]
fn programs_watch_a_plan_until_it_is_over() {
    let kit = Kit::new();
    kit.write("plan.yaml", "id: seen\ntasks: [{id: a, run: echo a}]\n");
    kit.gantry(&["run", "plan.yaml"]);
    let output = kit.output(&["watch", "seen", "--json"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!((&told["state"], &told["task_list"][0]["id"]), (&"completed".into(), &"a".into()), "{text}");
    assert_eq!((output.status.code(), text.lines().count()), (Some(0), 1));
}

#[test]
fn missed_deadlines_and_checks_that_nobody_judged_are_shown() {
    let kit = Kit::with_plan(
        r#"
id: late
title: Late and unjudged
deadline: 2020-01-02
done_when: [people like it]
tasks:
  - {id: write, run: "echo words", deadline: 2020-01-01, success_criteria: [reads well, is short]}
  - {id: print, run: "echo ink", depends_on: [write]}
"#,
    );
    insta::assert_snapshot!(kit.gantry(&["status", "late"]).lines().skip(6).collect::<Vec<_>>().join("\n"), @"

    2 missed deadlines:
      the plan was due 2026-01-01T00:00:00Z
      write was due 2026-01-01T00:00:00Z

    3 checks judged by nobody:
      the plan: people like it
      write: reads well
      write: is short

    results:
      print  ink
    [exit 0]
    ");
    let status = kit.json("status late --json");
    insta::assert_snapshot!(status["missed_deadlines"], @r#"[{"task":null,"deadline":"2020-01-02T00:00:00.000Z"},{"task":"write","deadline":"2020-01-01T00:00:00.000Z"}]"#);
    insta::assert_snapshot!(status["unjudged"], @r#"[{"task":null,"check":"people like it"},{"task":"write","check":"reads well"},{"task":"write","check":"is short"}]"#);
    let resumed = kit.gantry(&["resume", "late"]);
    assert!(resumed.contains("3 checks judged by nobody: the plan: people like it; write: reads well;"), "{resumed}");
    assert!(resumed.contains("2 missed deadlines: the plan was due"), "{resumed}");
}
