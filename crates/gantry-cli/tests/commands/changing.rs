//! Edits, revisions, differences.

use crate::kit::{FILES, Kit, RELEASE};

const CHAIN: &str = r#"
id: chain
title: One after the other
tasks:
  - id: one
    run: echo 1
  - id: two
    depends_on: [one]
    compute: {twice: "one.exit_code * 2"}
  - id: three
    depends_on: [two]
    compute: {more: "two.twice + 1"}
  - id: aside
    run: echo aside
"#;

#[test]
fn an_edited_output_has_exactly_what_works_on_it_done_again() {
    let kit = Kit::with_plan(CHAIN);
    insta::assert_snapshot!(kit.session(&[
        "edit chain one",
        "edit chain one --output exit_code=0",
        "edit chain one --output =0",
        "edit chain one --remove nothing",
        "edit chain one --output exit_code=21 --dry-run",
        "edit chain one --output exit_code=21 --why \"what if\"",
    ]), @r#"
    $ gantry edit chain one
    --- talk
    error: nothing is to be changed

    hint: name an output with `--output NAME=VALUE`
    [exit 2]
    $ gantry edit chain one --output exit_code=0
    --- talk
    error: nothing would change
    [exit 5]
    $ gantry edit chain one --output =0
    --- talk
    error: invalid value '=0' for '--output <NAME=VALUE>': `=0` has no name before the `=`

    For more information, try '--help'.
    [exit 2]
    $ gantry edit chain one --remove nothing
    --- talk
    error: task `one` has no output `nothing`
    [exit 2]
    $ gantry edit chain one --output exit_code=21 --dry-run
    --- talk
    would edit the output of `one`; done again: `two`, `three`
    [exit 0]
    $ gantry edit chain one --output exit_code=21 --why "what if"
    --- talk
    edited the output of `one`; done again: `two`, `three`
    `chain` is completed
    [exit 0]
    "#);
    assert_eq!(kit.code("resume chain"), 0);
    assert_eq!(kit.json("task show chain three --json")["outputs"]["more"], 43);
    assert_eq!(kit.json("task show chain aside --json")["history"].as_array().unwrap().len(), 3, "it was left alone");
    let held = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(held.gantry(&["edit", "release", "ship", "--output", "a=1"]), @"
    --- talk
    error: task `ship` is not finished

    hint: see where it stands with `gantry status release`
    [exit 5]
    ");
}

#[test]
fn a_plan_is_revised_by_a_file_and_what_changed_is_done_again() {
    let kit = Kit::with_plan(FILES);
    kit.write("next.yaml", FILES.replace("cat a.txt", "cat a.txt b.txt"));
    kit.write("circle.yaml", FILES.replace("- id: before", "- id: before\n    depends_on: [read]"));
    insta::assert_snapshot!(kit.session(&[
        "revise files next.yaml",
        "revise files next.yaml --rationale \"\"",
        "revise files circle.yaml --rationale \"why not\"",
        "revise files next.yaml --rationale \"read both\" --dry-run",
        "revise files next.yaml --rationale \"read both\"",
        "revise files next.yaml --rationale \"read both\"",
        "revise files plan.yaml --rationale \"go back\" --base 1",
        "diff files@r1 files",
        "diff files plan.yaml",
        "diff files@r3 files",
        "diff nowhere files",
        "diff nowhere.yaml files",
    ]), @r#"
    $ gantry revise files next.yaml
    --- talk
    error: a revision needs a reason

    hint: say it with `--rationale`
    [exit 2]
    $ gantry revise files next.yaml --rationale ""
    --- talk
    error: a revision needs a reason

    hint: say it with `--rationale`
    [exit 2]
    $ gantry revise files circle.yaml --rationale "why not"
    --- talk
    error[plan::cycle]: these tasks wait for each other: `before` -> `read` -> `write` -> `before`
      --> circle.yaml:6:18
       |
     6 |     depends_on: [read]
       |                  ^^^^ `before` waits for `read`
    ...
     9 |     depends_on: [before]
       |                  ------ `write` waits for `before`
    ...
    13 |     depends_on: [write]
       |                  ----- `read` waits for `write`
       |
       = help: remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`

    error: `circle.yaml` has 1 error
    [exit 2]
    $ gantry revise files next.yaml --rationale "read both" --dry-run
    ~ read: run "cat a.txt" -> "cat a.txt b.txt"
    [exit 0]
    $ gantry revise files next.yaml --rationale "read both"
    --- talk
    ~ read: run "cat a.txt" -> "cat a.txt b.txt"
    ana made revision 2 of `files`
    nobody works on it right now; go on with `gantry resume files`
    [exit 0]
    $ gantry revise files next.yaml --rationale "read both"
    --- talk
    error: nothing would change
    [exit 5]
    $ gantry revise files plan.yaml --rationale "go back" --base 1
    --- talk
    error: revision 1 was looked at, but revision 2 is current

    hint: look at the plan again, then repeat the request
    [exit 5]
    $ gantry diff files@r1 files
    ~ read: run "cat a.txt" -> "cat a.txt b.txt"
    [exit 0]
    $ gantry diff files plan.yaml
    ~ read: run "cat a.txt b.txt" -> "cat a.txt"
    [exit 0]
    $ gantry diff files@r3 files
    --- talk
    error: plan `files` has no revision 3

    hint: it has revisions 1 to 2
    [exit 2]
    $ gantry diff nowhere files
    --- talk
    error: `nowhere` is neither a file nor a plan of the record

    hint: name a plan file, or a plan by its id, its number, the beginning of its id, or @last
    [exit 2]
    $ gantry diff nowhere.yaml files
    --- talk
    error: `nowhere.yaml` cannot be read: there is no such file

    hint: name a plan file, or `-` for standard input
    [exit 2]
    "#);
    assert_eq!(kit.code("resume files"), 0);
    assert_eq!(kit.json("task show files read --json")["outputs"]["stdout"], "new\nmore\n");
    kit.write("other.yaml", RELEASE);
    insta::assert_snapshot!(kit.gantry(&["revise", "files", "other.yaml", "--rationale", "x"]), @"
    --- talk
    error: the file is about plan `release`, not `files`

    hint: take the `id` out of the file if it is meant for this plan
    [exit 2]
    ");
}

#[test]
fn a_plan_of_the_record_is_exported_in_every_form() {
    let kit = Kit::with_plan(FILES);
    insta::assert_snapshot!(kit.session(&[
        "export yaml files",
        "export mermaid @last",
        "export yaml files -o out.yaml",
        "export yaml files -o out.yaml",
        "export yaml out.yaml -o out.yaml --force",
        "export zip out.yaml -o out.zip",
    ]), @r#"
    $ gantry export yaml files
    id: files
    title: Change some files
    tasks:
      - id: before
        checkpoint: start
      - id: write
        run: echo new > a.txt; echo more > b.txt
        depends_on: [before]
        undo:
          run: rm b.txt
      - id: read
        run: cat a.txt
        depends_on: [write]
    [exit 0]
    $ gantry export mermaid @last
    flowchart LR
      before[("before")]
      write["write"]
      read["read"]
      before --> write
      write --> read
    [exit 0]
    $ gantry export yaml files -o out.yaml
    --- talk
    wrote 249 B to `out.yaml`
    [exit 0]
    $ gantry export yaml files -o out.yaml
    --- talk
    error: `out.yaml` exists already

    hint: name another file, or write over it with `--force`
    [exit 2]
    $ gantry export yaml out.yaml -o out.yaml --force
    --- talk
    wrote 249 B to `out.yaml`
    [exit 0]
    $ gantry export zip out.yaml -o out.zip
    --- talk
    error: `out.yaml` is a file, and a zip file holds the life of a plan

    hint: name a plan by its id, its number, the beginning of its id, or @last
    [exit 2]
    "#);
    assert_eq!(kit.code("validate out.yaml"), 0);
}

#[test]
fn on_a_terminal_a_revision_is_confirmed_first() {
    let kit = Kit::with_plan(FILES);
    kit.write("next.yaml", FILES.replace("cat a.txt", "cat a.txt b.txt"));
    let revise = ["revise", "files", "next.yaml", "--rationale", "both"];
    for (answer, code, revision) in [("\n", 5, 1), ("no\n", 5, 1), ("Y\n", 0, 2)] {
        let (said, exit) = kit.on_a_terminal(&revise, answer);
        assert!(said.contains("change the plan? [y/N]"), "{said}");
        assert!(said.contains("cat a.txt b.txt"), "what would change is shown before: {said}");
        assert_eq!(exit, code, "{answer:?}: {said}");
        assert_eq!(said.contains("nothing was changed"), code == 5, "{said}");
        assert_eq!(kit.json("status files --json")["revision"], revision, "{answer:?}");
    }
    kit.write("next.yaml", FILES);
    let (said, exit) = kit.on_a_terminal(&[&revise[..], &["--yes"]].concat(), "");
    assert!(exit == 0 && !said.contains("change the plan?"), "{said}");
}

#[test]
fn what_changed_is_said_in_the_words_of_the_file() {
    let kit = Kit::new();
    kit.write("one.yaml", "tasks: [{id: a, run: make a, undo: {run: rm a}}, {id: b, run: make b}]");
    kit.write(
        "two.yaml",
        "tasks: [{id: a, run: make it, undo: {run: rm it}}, {id: b, ask: Which?}, {id: c, wait: 2h}]",
    );
    insta::assert_snapshot!(kit.gantry(&["diff", "one.yaml", "two.yaml"]), @r#"
    + c
    ~ a: run "make a" -> "make it"
    ~ a: undo {"run":"rm a"} -> {"run":"rm it"}
    ~ b: run "make b" -> (not set)
    ~ b: ask (not set) -> "Which?"
    [exit 0]
    "#);
    let diff = kit.json("diff one.yaml two.yaml --json")["diff"].clone();
    assert!(!diff.to_string().contains("\"action\""), "{diff:#}");
    assert_eq!(
        diff["changed"][0]["fields"][0],
        serde_json::json!({"field": "run", "before": "make a", "after": "make it"})
    );
    assert!(diff["added"][0]["task"]["wait"].is_string(), "{diff:#}");
}

#[test]
fn a_plan_that_a_task_has_made_is_accepted_adopted_and_carried_out() {
    let kit = Kit::with_plan(
        r#"
id: house
title: House
tasks:
  - id: draft
    compute:
      plan: '{"tasks": [{"id": "dig", "run": "echo dug"}, {"id": "walls", "run": "echo built", "depends_on": ["dig"]}]}'
  - id: accept
    depends_on: [draft]
    gate: {approvals: 1}
  - id: work
    depends_on: [accept]
    adopt: tasks.draft.plan
"#,
    );
    assert_eq!(kit.json("status house --json")["state"], "blocked");
    let approved = kit.output(&["gate", "approve", "house", "accept", "--why", "good"]);
    assert!(approved.status.success(), "{}", String::from_utf8_lossy(&approved.stderr));
    let resumed = kit.output(&["resume", "house"]);
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    let status = kit.json("status house --json");
    assert_eq!((&status["state"], &status["revision"]), (&serde_json::json!("completed"), &serde_json::json!(2)));
    let audited = kit.output(&["audit", "house"]);
    assert!(audited.status.success(), "{}", String::from_utf8_lossy(&audited.stdout));
    let replayed = kit.output(&["replay", "house"]);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stdout));
}
