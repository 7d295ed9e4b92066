//! How findings are shown.

use gantry_format::load;

use crate::kit::seen;

#[test]
fn all_errors_of_a_file_are_reported_in_the_order_of_the_file() {
    let file = "\
titel: Release
version: many
tasks:
  - id: build
    depends_on: [nothing]
    timeout: soon
    labels: [a, [b]]
  - id: sign-off
    kind: gate
    checks: true
  - id: build
policy:
  budget: {timeMin: -1}
";
    insta::assert_snapshot!(seen(file), @r#"
    error[plan::unknown-field]: a plan has no field `titel`
     --> plan.yaml:1:1
      |
    1 | titel: Release
      | ^^^^^ unknown field
      |
      = help: did you mean `title`?

    error[plan::wrong-type]: `version`: expected a whole number from 0 to 4294967295, found the text "many"
     --> plan.yaml:2:10
      |
    2 | version: many
      |          ^^^^

    error[plan::unknown-dependency]: task `build` depends on `nothing`, which does not exist
     --> plan.yaml:5:18
      |
    5 |     depends_on: [nothing]
      |                  ^^^^^^^

    error[plan::invalid-value]: `timeout`: `soon` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
     --> plan.yaml:6:14
      |
    6 |     timeout: soon
      |              ^^^^

    error[plan::wrong-type]: expected a text, found a list
     --> plan.yaml:7:17
      |
    7 |     labels: [a, [b]]
      |                 ^^^

    error[plan::wrong-type]: expected a list, found `true`
      --> plan.yaml:10:13
       |
    10 |     checks: true
       |             ^^^^

    error[plan::duplicate-id]: the id `build` is used twice
      --> plan.yaml:11:9
       |
     4 |   - id: build
       |         ----- first used here
    ...
    11 |   - id: build
       |         ^^^^^ used again here
       |
       = help: task number 1 has it too; rename one of them

    error[plan::invalid-value]: `-1m` is negative; a duration is at least 0s
      --> plan.yaml:13:21
       |
    13 |   budget: {timeMin: -1}
       |                     ^^
    "#);
}

#[test]
fn programs_get_the_same_findings_as_json() {
    let file = "title: é\ntasks:\n  - {id: a, needs: [b]}\n  - {id: c, status: failed}\n";
    let report = load("plan.yaml", file.as_bytes()).report;
    insta::assert_json_snapshot!(report.to_json(), @r#"
    {
      "ok": false,
      "errors": [
        {
          "code": "plan::unknown-dependency",
          "message": "task `a` depends on `b`, which does not exist",
          "file": "plan.yaml",
          "line": 3,
          "column": 21,
          "hint": null
        }
      ],
      "warnings": [
        {
          "code": "plan::state-not-kept",
          "message": "`failed` is the state of a run and is not kept; the task is read as `pending`",
          "file": "plan.yaml",
          "line": 4,
          "column": 21,
          "hint": "what happened in a run is in its journal"
        }
      ],
      "notes": []
    }
    "#);
    let sound = load("plan.yaml", b"title: x\ntasks: [one]").report;
    insta::assert_json_snapshot!(sound.to_json(), @r#"
    {
      "ok": true,
      "errors": [],
      "warnings": [],
      "notes": []
    }
    "#);
}

#[test]
fn columns_count_characters_not_bytes() {
    let report = load("plan.yaml", "title: é\ntasks:\n  - {id: ü, title: ö}\n".as_bytes()).report;
    let span = report.diagnostics[0].span.expect("a place");
    let position = report.position(span.start);
    assert_eq!((position.line, position.column), (3, 10));
}

#[test]
fn a_line_of_a_megabyte_is_cut_around_the_place() {
    let filler = "\"é\", ".repeat(100_000);
    let file = format!(
        "{{\"title\": \"x\", \"labels\": [{filler}\"z\"], \"task\": [], \"tasks\": [{filler}\"end\"], \"labels\": []}}"
    );
    let report = load("plan.json", file.as_bytes()).report;
    let shown = report.render(false);
    assert!(shown.len() < 4_000, "{} bytes", shown.len());
    insta::assert_snapshot!(shown, @r#"
    error[plan::unknown-field]: a plan has no field `task`
     --> plan.json:1:500033
      |
    1 | ...é", "é", "é", "é", "é", "é", "é", "é", "z"], "task": [], "tasks": ["é", "é", "é", "é", "é", "é", "é", "é", "é"...
      |                                                 ^^^^^^ unknown field
      |
      = help: did you mean `tasks`?

    error[file::duplicate-key]: `labels` is given twice
     --> plan.json:1:1000063
      |
    1 | …, "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "end"], "labels": []}
      |                                                                                                      ^^^^^^^^ given again here
      |
     ::: plan.json:1:16
      |
    1 | {"title": "x", "labels": ["é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é", "é",…
      |                -------- first given here
    "#);
}

#[test]
fn places_far_apart_are_shown_as_two_pieces() {
    let file = format!("title: a\n{}title: b\ntasks: [x]\n", "# much ado\n".repeat(1_000));
    insta::assert_snapshot!(seen(&file), @"
    error[file::duplicate-key]: `title` is given twice
        --> plan.yaml:1002:1
         |
    1002 | title: b
         | ^^^^^ given again here
         |
        ::: plan.yaml:1:1
         |
       1 | title: a
         | ----- first given here
    ");
}

#[test]
fn more_findings_than_anyone_reads_are_counted() {
    let file: String = (0..1_000).map(|number| format!("field{number}: 1\n")).collect();
    let report = load("plan.yaml", file.as_bytes()).report;
    assert_eq!((report.diagnostics.len(), report.omitted), (100, 900));
    assert!(report.render(false).ends_with("… and 950 more\n"));
    assert_eq!(report.to_json()["omitted"], 900);
}

#[test]
fn escape_sequences_of_a_file_do_not_reach_the_terminal() {
    let file = "{\"title\": \"x\", \"tasks\": [{\"id\": \"\\u001b[2Jgone\", \"\\u202eevil\": 1}]}";
    let shown = load("\u{1b}[31mplan.json", file.as_bytes()).report.render(false);
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    insta::assert_snapshot!(shown, @r#"
    error[plan::bad-id]: `␛[2Jgone` is not an id: it must start with a letter, a digit or `_`
     --> ␛[31mplan.json:1:33
      |
    1 | {"title": "x", "tasks": [{"id": "\u001b[2Jgone", "\u202eevil": 1}]}
      |                                 ^^^^^^^^^^^^^^^
      |
      = help: for example `2Jgone`

    error[plan::unknown-field]: a task has no field `�evil`
     --> ␛[31mplan.json:1:50
      |
    1 | {"title": "x", "tasks": [{"id": "\u001b[2Jgone", "\u202eevil": 1}]}
      |                                                  ^^^^^^^^^^^^ unknown field
      |
      = help: anything else can be kept under `metadata`
    "#);
}

#[test]
fn colours_are_used_when_asked_for() {
    let report = load("plan.yaml", b"- a").report;
    assert!(report.render(true).contains("\u{1b}["));
    assert!(!report.render(false).contains('\u{1b}'));
}

#[test]
fn an_empty_file_says_so() {
    for (name, text) in [("plan.yaml", ""), ("plan.yaml", "# nothing\n"), ("plan.gantry", "\n"), ("plan.yaml", "~")] {
        let report = load(name, text.as_bytes()).report;
        assert_eq!(report.diagnostics[0].message, "the file is empty", "{text:?}");
    }
}
