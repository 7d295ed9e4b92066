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
    assert!(said.contains("fail  folder    `nowhere` does not exist"), "{said}");
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
