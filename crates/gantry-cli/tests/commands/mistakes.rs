//! What cannot be done, and how that is said.

use crate::kit::{Kit, RELEASE};

#[test]
fn talk_that_nobody_can_hear_changes_nothing() {
    let kit = Kit::with_plan("id: one\ntasks: [{id: a, run: echo heard}]");
    kit.write("bad.yaml", "title: x\ntaks: []\n");
    for (line, code) in [
        ("run plan.yaml --key again", 0),
        ("run bad.yaml", 2),
        ("status one", 0),
        ("status nonsense", 2),
        ("gate list", 0),
        ("pause one", 5),
        ("nonsense", 2),
    ] {
        assert_eq!(kit.code_unheard(line), code, "{line}");
    }
    assert_eq!(kit.json("list --json").as_array().unwrap().len(), 2, "the run went on to its end");
}

#[test]
fn an_empty_reference_is_bad_input() {
    let kit = Kit::with_plan(RELEASE);
    for line in ["forget \"\" --force", "cancel \"\"", "resume \" \"", "status \"\"", "gate approve \"\" sign-off"] {
        assert_eq!(kit.code(line), 2, "{line}");
    }
    assert_eq!(kit.json("status release --json")["state"], "blocked", "nothing was touched");
}

#[test]
fn a_usage_error_asks_for_nothing_that_is_given() {
    let kit = Kit::new();
    insta::assert_snapshot!(kit.session(&["cancel", "task resolve release", "run plan.yaml --key \"\""]));
}

#[test]
fn a_record_that_cannot_be_is_told_with_what_to_do() {
    let kit = Kit::new();
    kit.write("notes.txt", "no record");
    insta::assert_snapshot!(kit.session(&["status --db nowhere/gantry.db", "status --db notes.txt", "status --db .",]));
    let doctor = kit.output(&["doctor", "--db", "nowhere/gantry.db"]);
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("fail  folder") && said.contains("nowhere` does not exist"), "{said}");
    assert_eq!(doctor.status.code(), Some(1));
}

#[test]
fn a_name_that_is_near_is_suggested_and_no_other() {
    let kit = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(kit.session(&["status relaese", "status nonsense"]));
}

#[test]
fn programs_are_told_what_is_wrong_with_a_plan_file() {
    let kit = Kit::new();
    kit.write("bad.yaml", "title: x\ntaks: []\n");
    let told = kit.json("run bad.yaml --json");
    assert_eq!((&told["ok"], &told["errors"][0]["code"]), (&false.into(), &"plan::unknown-field".into()));
    assert_eq!(kit.json("run nowhere.yaml --json")["errors"][0]["code"], "file::unreadable");
    assert_eq!(kit.code("run bad.yaml --json"), 2);
}

#[test]
fn a_completed_plan_names_the_way_back_or_says_that_there_is_none() {
    let kit = Kit::with_plan("id: done\ntasks: [{id: a, run: echo a}]");
    kit.run(crate::kit::FILES);
    insta::assert_snapshot!(kit.session(&["cancel done --undo", "cancel files --undo"]));
}

#[test]
fn evidence_that_is_missing_is_asked_for_by_name() {
    let kit = Kit::with_plan(
        "id: bank\ntasks:\n  - {id: call, manual: {instruction: Call the bank, evidence: [letter]}}\n  - {id: ok, gate: {approvals: 1, evidence: [the letter]}}\n",
    );
    insta::assert_snapshot!(kit.session(&["task done bank call", "gate approve bank ok"]));
    let next = kit.json("status bank --json")["next"].to_string();
    assert!(next.contains("--evidence letter=FILE") && next.contains("--evidence 'the letter'"), "{next}");
}

#[test]
fn a_role_belongs_to_those_whom_the_plan_gives_it() {
    let kit = Kit::with_plan(
        "id: roles\nstakeholders: [{name: anna, role: lead}]\ntasks: [{id: ok, gate: {approvals: 1, role: lead}}]\n",
    );
    insta::assert_snapshot!(
        kit.session(
            &["gate approve roles ok --role lead --by mallory", "gate approve roles ok --role lead --by Anna",]
        )
    );
}

#[test]
fn arguments_that_a_tool_needs_are_asked_for_before_anything_runs() {
    let kit = Kit::new();
    kit.write("inputs.yaml", "tasks:\n  - {id: write, tool: files.write, inputs: {path: a.txt, content: hi}}\n");
    kit.write("move.yaml", "tasks:\n  - {id: move, tool: {name: files.move, args: {from: a.txt}}}\n");
    insta::assert_snapshot!(kit.session(&["validate inputs.yaml", "validate move.yaml"]), @"
    $ gantry validate inputs.yaml
    --- talk
    error[plan::missing-argument]: task `write` does not give `files.write` its `path`, and `content` or `base64`
     --> inputs.yaml:2:23
      |
    2 |   - {id: write, tool: files.write, inputs: {path: a.txt, content: hi}}
      |                       ^^^^^^^^^^^
      |
      = help: `path` stands under `inputs`, which a tool does not see; write `tool: {name: files.write, args: {path: …}}`

    1 error and 0 warnings in 1 file
    [exit 2]
    $ gantry validate move.yaml
    --- talk
    error[plan::missing-argument]: task `move` does not give `files.move` its `to`
     --> move.yaml:2:16
      |
    2 |   - {id: move, tool: {name: files.move, args: {from: a.txt}}}
      |                ^^^^
      |
      = help: write `tool: {name: files.move, args: {to: …}}`

    1 error and 0 warnings in 1 file
    [exit 2]
    ");
}

#[test]
fn an_outcome_that_is_nearly_right_is_suggested() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        "tasks:\n  - {id: work, run: 'true'}\n  - {id: ok, depends_on: [work], gate: {approvals: 1}, next: [{on: needs-changes, to: fix}]}\n  - {id: fix, run: 'true'}\n",
    );
    assert!(kit.gantry(&["validate", "plan.yaml"]).contains("did you mean `needs_changes`?"));
}

#[test]
fn whoever_says_no_has_to_say_why() {
    let kit = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(kit.session(&[
        "gate reject release sign-off",
        "gate needs-changes release sign-off --why \" \"",
        "gate approve release sign-off",
    ]), @r#"
    $ gantry gate reject release sign-off
    --- talk
    error: whoever rejects it has to say why

    hint: add `--why "…"`
    [exit 2]
    $ gantry gate needs-changes release sign-off --why " "
    --- talk
    error: whoever wants changes has to say why

    hint: add `--why "…"`
    [exit 2]
    $ gantry gate approve release sign-off
    --- talk
    ana approved `sign-off`
    `legal` waits for 0 of 1 approvals
    next:
      gantry gate approve release legal --role lawyer  # or `reject`, `needs-changes`
      gantry resume release                            # then go on
    [exit 0]
    "#);
}

#[test]
fn an_id_that_is_taken_is_said() {
    let kit = Kit::with_plan("id: twice\ntasks: [{id: a, run: 'true'}]\n");
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.contains("there is a plan `twice` already: this one is `plan-twice-"), "{said}");
}

#[test]
fn a_fork_that_nobody_began_is_said_to_be_that() {
    let kit = Kit::with_plan("id: first\ntasks: [{id: a, run: 'true'}, {id: b, depends_on: [a], run: 'true'}]\n");
    let forked = kit.json("fork first --at 2 --json");
    assert_eq!(forked["not_started"], true);
    let id = forked["plan"].as_str().unwrap();
    let page = kit.gantry(&["status", id]);
    assert!(page.contains("not started yet: it continues `first` after entry 2"), "{page}");
    assert!(page.contains("# begin") && !page.contains("gone"), "{page}");
    let list = kit.gantry(&["list"]);
    assert!(list.contains("not started") && !list.contains("interrupted"), "{list}");
    assert_eq!(kit.json(&format!("status {id} --json"))["not_started"], true);
    assert_ne!(kit.code(&format!("resume {id}")), 1);
    assert_eq!(kit.json(&format!("status {id} --json"))["not_started"], false);
}

#[test]
fn an_undo_from_the_beginning_names_no_point_and_a_second_one_adds_nothing() {
    let kit = Kit::with_plan(
        "id: back\ntasks: [{id: a, tool: {name: files.write, args: {path: a.txt, content: a}}, undo: restore}]\n",
    );
    assert_eq!(kit.code("undo back --why \"wrong file\""), 0);
    for told in [kit.gantry(&["log", "back"]), kit.gantry(&["audit", "back"])] {
        assert!(told.contains("takes back what was done: wrong file") && !told.contains("``"), "{told}");
    }
    let length = kit.json("status back --json")["length"].clone();
    let said = kit.gantry(&["undo", "back"]);
    assert!(said.contains("there is nothing to take back") && said.ends_with("[exit 0]"), "{said}");
    assert_eq!(kit.json("undo back --json")["undone"], serde_json::json!([]));
    assert_eq!(kit.json("status back --json")["length"], length, "nothing is added");
}

#[test]
fn how_long_a_task_ran_whose_process_was_killed_is_not_guessed() {
    let kit = Kit::new();
    kit.write("plan.yaml", "id: killed\ntasks: [{id: slow, run: 'true'}]\n");
    assert_eq!(kit.killed_at("after_append", "run plan.yaml"), None);
    let page = kit.gantry(&["status", "killed"]);
    assert!(page.contains("its process is gone") && !page.contains("0ms"), "{page}");
    assert_eq!(kit.json("status killed --json")["task_list"][0]["duration_ms"], serde_json::Value::Null);
}

#[test]
fn refusals_of_the_record_have_their_words_and_a_way_on() {
    let kit = Kit::with_plan(RELEASE);
    kit.run(&RELEASE.replace("id: release", "id: relay"));
    insta::assert_snapshot!(kit.session(&["status rel"]), @"
    $ gantry status rel
    --- talk
    error: `rel` fits more than one plan: relay, release

    hint: write more of the id, or the plan's number
    [exit 2]
    ");
    rusqlite::Connection::open(kit.record()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    insta::assert_snapshot!(kit.session(&["status release", "run plan.yaml"]), @"
    $ gantry status release
    --- talk
    error: the record has schema 99, and this program knows schemas up to 4

    hint: use the newer program; the record was left as it is
    [exit 1]
    $ gantry run plan.yaml
    --- talk
    error: the record has schema 99, and this program knows schemas up to 4

    hint: use the newer program; the record was left as it is
    [exit 1]
    ");
}

#[test]
fn what_was_said_already_and_what_comes_at_the_wrong_time_is_refused_with_a_way_on() {
    let kit = Kit::with_plan(
        "id: p\ntitle: P\ntasks:\n  - {id: two, gate: {approvals: 2}}\n  - {id: done, run: 'true'}\n  - {id: hand, manual: do it}\n",
    );
    assert_eq!(kit.code("gate approve p two"), 0);
    insta::assert_snapshot!(kit.session(&["gate approve p two", "task done p done", "retry p hand"]), @"
    $ gantry gate approve p two
    --- talk
    error: ana has approved gate `two` already

    hint: it takes the approval of someone else
    [exit 5]
    $ gantry task done p done
    --- talk
    error: task `done` does not wait for someone to do it

    hint: see where it stands with `gantry status p`
    [exit 5]
    $ gantry retry p hand
    --- talk
    error: task `hand` does not wait for another try: it waits for a person

    hint: see where it stands with `gantry status p`
    [exit 5]
    ");
}

#[test]
fn outputs_that_no_model_could_give_are_found_before_anyone_is_asked() {
    let kit = Kit::new();
    kit.write(
        "file.yaml",
        "tasks:\n  - {id: say, model: {instruction: x}, outputs: {report: report.md, size: number}}\n",
    );
    let schema = "{type: object, properties: {items: {type: array, items: {type: object, properties: {name: {}}}}}}";
    kit.write(
        "part.yaml",
        format!("tasks:\n  - id: say\n    model: {{instruction: x, schema: {schema}}}\n    outputs: {{good: items.0.name, wrong: items.0.nam}}\n"),
    );
    insta::assert_snapshot!(kit.session(&["validate file.yaml", "validate part.yaml"]), @"
    $ gantry validate file.yaml
    --- talk
    error[plan::no-such-part]: output `report` of task `say` is to come from `report.md`, but a model hands over fields and no files
     --> file.yaml:2:58
      |
    2 |   - {id: say, model: {instruction: x}, outputs: {report: report.md, size: number}}
      |                                                          ^^^^^^^^^
      |
      = help: write `report: {}` to ask for a field, `report: artifacts.report` to keep it as an artifact, or give the model a `schema` and name a part of it

    error[plan::no-such-part]: output `size` of task `say` is to come from `number`, but a model hands over fields and no files
     --> file.yaml:2:75
      |
    2 |   - {id: say, model: {instruction: x}, outputs: {report: report.md, size: number}}
      |                                                                           ^^^^^^
      |
      = help: write `size: {type: number}` to say what it is

    2 errors and 0 warnings in 1 file
    [exit 2]
    $ gantry validate part.yaml
    --- talk
    error[plan::no-such-part]: output `wrong` of task `say` is to come from `items.0.nam`, but the schema of its answer has no `nam` there
     --> part.yaml:4:42
      |
    4 |     outputs: {good: items.0.name, wrong: items.0.nam}
      |                                          ^^^^^^^^^^^
      |
      = help: did you mean `name`?

    1 error and 0 warnings in 1 file
    [exit 2]
    ");
}
