//! Pause, cancel, retry.

use crate::kit::{FILES, Kit, RELEASE};

#[test]
fn a_plan_is_paused_and_says_how_to_go_on() {
    let kit = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(kit.session(&[
        "pause release --why \"the machine is needed\"",
        "pause release",
        "pause nowhere",
        "pause release --by \"\"",
    ]), @r#"
    $ gantry pause release --why "the machine is needed"
    --- talk
    paused `release`
    it is paused; go on with `gantry resume release`
    [exit 0]
    $ gantry pause release
    --- talk
    error: a plan that is paused cannot be paused

    hint: see where it stands with `gantry status release`
    [exit 5]
    $ gantry pause nowhere
    --- talk
    error: there is no plan `nowhere`

    hint: list what exists with `gantry list`
    [exit 2]
    $ gantry pause release --by ""
    --- talk
    error: `--by` needs a name
    [exit 2]
    "#);
    insta::assert_snapshot!(kit.gantry(&["cancel", "release", "--json"]), @r#"
    {
      "plan": "release",
      "no": 1,
      "state": "abandoned",
      "heard": "recorded",
      "waiting": []
    }
    [exit 0]
    "#);
}

#[test]
fn cancelling_takes_back_what_was_done_the_last_thing_first() {
    let kit = Kit::with_plan(&FILES.replace("cat a.txt", "exit 7"));
    assert!(kit.path("b.txt").exists());
    insta::assert_snapshot!(kit.session(&["cancel files --undo --why \"not needed\"", "cancel files"]), @r#"
    $ gantry cancel files --undo --why "not needed"
    --- talk
    cancelled `files`
      took back `write`: by `run`
      took back `before`: there was nothing to take back
    `files` is given up
    [exit 0]
    $ gantry cancel files
    --- talk
    error: a plan that is abandoned cannot be cancelled

    hint: see where it stands with `gantry status files`
    [exit 5]
    "#);
    assert!(!kit.path("b.txt").exists());
}

#[test]
fn a_task_is_done_again_whatever_became_of_it() {
    let kit = Kit::with_plan(&FILES.replace("cat a.txt", "cat later.txt"));
    kit.write("later.txt", "here");
    insta::assert_snapshot!(kit.session(&["retry files raed", "retry files read --why \"the file is here\""]), @r#"
    $ gantry retry files raed
    --- talk
    error: there is no task `raed` in plan `files`

    hint: did you mean `read`?
    [exit 2]
    $ gantry retry files read --why "the file is here"
    --- talk
    `read` will be done again
    nobody works on it right now; go on with `gantry resume files`
    [exit 0]
    "#);
    assert_eq!(kit.code("resume files"), 0);
    let held = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(held.session(&["retry release sign-off", "retry release ship"]), @"
    $ gantry retry release sign-off
    --- talk
    error: task `sign-off` does not wait for another try: it waits for a person

    hint: see where it stands with `gantry status release`
    [exit 5]
    $ gantry retry release ship
    --- talk
    error: task `ship` does not wait for another try: it has not ended

    hint: see where it stands with `gantry status release`
    [exit 5]
    ");
}

/// Three tasks that write down what they do and what is taken back, with a checkpoint between them.
const STEPS: &str = r#"
id: steps
tasks:
  - {id: one, run: "echo one >> ledger", undo: {run: "echo not one >> ledger"}}
  - {id: half, depends_on: [one], checkpoint: half-way}
  - {id: two, depends_on: [half], run: "echo two >> ledger", undo: {run: "echo not two >> ledger"}}
  - {id: three, depends_on: [two], run: "echo three >> ledger", undo: {run: "echo not three >> ledger"}}
"#;

#[test]
fn a_plan_is_taken_back_down_to_a_checkpoint_and_done_again() {
    let kit = Kit::with_plan(STEPS);
    insta::assert_snapshot!(kit.session(&["undo steps --to half-way --why \"wrong colour\"", "undo steps --to nowhere"]), @r#"
    $ gantry undo steps --to half-way --why "wrong colour"
    --- talk
    took back what `steps` did since `half-way`
      took back `three`: by `run`
      took back `two`: by `run`
    it is paused; go on with `gantry resume steps`
    [exit 0]
    $ gantry undo steps --to nowhere
    --- talk
    error: there is no checkpoint or finished task `nowhere`

    hint: see its checkpoints with `gantry restore steps`, its tasks with `gantry status steps`
    [exit 5]
    "#);
    let ledger = || String::from_utf8(kit.read("ledger")).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(ledger(), ["one", "two", "three", "not three", "not two"]);
    assert_eq!(kit.code("resume steps"), 0);
    assert_eq!(ledger()[5..], ["two", "three"], "what was taken back is done again, and nothing else");
    let undone = kit.json("undo steps --to two --json");
    assert_eq!(undone["undone"][0]["task"], "three");
    assert_eq!((&undone["state"], undone["undone"].as_array().unwrap().len()), (&"paused".into(), 1));
}

#[test]
fn a_plan_is_taken_back_as_a_whole_whether_it_completed_failed_or_was_killed() {
    let ledger = |kit: &Kit| String::from_utf8(kit.read("ledger")).unwrap();
    let completed = Kit::with_plan(STEPS);
    assert_eq!(completed.code("undo steps"), 0);
    assert!(ledger(&completed).ends_with("not three\nnot two\nnot one\n"), "{}", ledger(&completed));
    let failed = Kit::with_plan(&STEPS.replace("echo three >> ledger", "exit 7"));
    assert_eq!(failed.code("undo steps"), 0);
    assert!(ledger(&failed).ends_with("not three\nnot two\nnot one\n"), "{}", ledger(&failed));
    let killed = Kit::new();
    killed.write("plan.yaml", STEPS);
    assert_eq!(killed.killed_at("after_effect", "run plan.yaml"), None);
    assert_eq!(killed.code("undo steps"), 0);
    assert_eq!(killed.json("status steps --json")["state"], "paused");
}

#[test]
fn a_plan_that_someone_works_on_takes_back_what_it_did_itself() {
    let kit = Kit::new();
    let process = kit.start_release();
    insta::assert_snapshot!(kit.gantry(&["undo", "release"]), @"
    --- talk
    `release` takes back what was done
    the process that works on `release` has heard it
    [exit 0]
    ");
    let paused = || kit.json("status release --json")["state"] == "paused";
    assert!((0..2_000).any(|_| paused()), "it was never taken back");
    drop(process);
}
