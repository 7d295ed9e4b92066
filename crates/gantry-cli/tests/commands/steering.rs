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
