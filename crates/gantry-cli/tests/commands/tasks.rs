//! Tasks and what they made.

use crate::kit::{Kit, RELEASE};

const BY_HAND: &str = "
id: move
title: Move the office
policy:
  judge: person
  recovery: {logic: [escalate]}
done_when: [everybody is happy]
tasks:
  - id: call
    manual: {instruction: Call the landlord, evidence: [letter]}
  - id: pack
    run: exit 3
  - id: sweep
    run: echo clean
    success_criteria: [the floor shines]
";

#[test]
fn everything_about_a_task_is_shown() {
    let kit = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(kit.session(&["task show release build", "task show release ship"]), @"
    $ gantry task show release build
    task      build: Build it
    plan      release (blocked)
    state     completed
    attempts  1

    definition
      id: build
      title: Build it
      run: echo built

    outputs
      exit_code  0
      stderr
      stdout     built

    artifacts
      stdout@1  6 B  2fdec4bcf7e3

    history
      3  2026-01-01T00:00:00Z  started
      4  2026-01-01T00:00:00Z  succeeded
      5  2026-01-01T00:00:00Z  done
    [exit 0]
    $ gantry task show release ship
    task   ship: ship
    plan   release (blocked)
    state  pending, behind `sign-off`, `legal`

    definition
      id: ship
      run: echo shipped
      depends_on: [sign-off, legal]
    [exit 0]
    ");
    let shown = kit.json("task show 1 sign-off --json");
    assert_eq!((&shown["state"], &shown["held_by"]), (&"waiting".into(), &serde_json::json!([])));
    insta::assert_snapshot!(kit.gantry(&["task", "show", "release", "bulid"]), @"
    --- talk
    error: there is no task `bulid` in plan `release`

    hint: did you mean `build`?
    [exit 2]
    ");
}

#[test]
fn work_by_hand_is_handed_in_with_its_proof() {
    let kit = Kit::with_plan(BY_HAND);
    kit.write("letter.bin", [0, 255, 10, 13, 0]);
    insta::assert_snapshot!(kit.session(&[
        "task done move call",
        "task done move call --evidence letter=nowhere.pdf",
        "task done move call --output reference",
        "task done move pack",
        "task done move call --evidence letter=letter.bin --output reference=17 --output \"note=all well\"",
        "task done move call",
        "artifact list move",
        "artifact show move/call/letter",
        "artifact get move call letter@1 -o copy.bin",
        "artifact get move/call/letter -o copy.bin",
        "artifact get move/call/letter@2 -o -",
        "artifact get move/call -o -",
    ]), @r#"
    $ gantry task done move call
    --- talk
    error: task `call` also needs the evidence `letter`

    hint: hand it in with `--evidence letter=FILE`
    [exit 5]
    $ gantry task done move call --evidence letter=nowhere.pdf
    --- talk
    error: the evidence `nowhere.pdf` cannot be read: there is no such file

    hint: name a file: `--evidence FILE` or `--evidence NAME=FILE`
    [exit 2]
    $ gantry task done move call --output reference
    --- talk
    error: invalid value 'reference' for '--output <NAME=VALUE>': `reference` is not of the form name=value

    For more information, try '--help'.
    [exit 2]
    $ gantry task done move pack
    --- talk
    error: task `pack` does not wait for someone to do it

    hint: see where it stands with `gantry status move`
    [exit 5]
    $ gantry task done move call --evidence letter=letter.bin --output reference=17 --output "note=all well"
    --- talk
    ana did `call`
    `pack` waits for help: exit code 3
    `sweep` waits for a judge of the floor shines
    next:
      gantry task resolve move pack retry  # or `skip`, `complete`, `fail`
      gantry task judge move sweep         # say whether its checks hold
      gantry resume move                   # then go on
    [exit 0]
    $ gantry task done move call
    --- talk
    error: task `call` does not wait for someone to do it

    hint: see where it stands with `gantry status move`
    [exit 5]
    $ gantry artifact list move
    TASK   NAME      SIZE  MADE                  BY
    sweep  stdout@1  6 B   2026-01-01T00:00:00Z  attempt
    call   letter@1  5 B   2026-01-01T00:00:00Z  ana
    [exit 0]
    $ gantry artifact show move/call/letter
    artifact  move/call/letter@1
    size      5 B
    made      2026-01-01T00:00:00Z by ana
    hash      hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    --- talk
    it is not text; get it with `gantry artifact get move/call/letter@1 -o FILE`
    [exit 0]
    $ gantry artifact get move call letter@1 -o copy.bin
    --- talk
    wrote 5 B to `copy.bin`
    [exit 0]
    $ gantry artifact get move/call/letter -o copy.bin
    --- talk
    error: `copy.bin` exists already

    hint: name another file, or write over it with `--force`
    [exit 2]
    $ gantry artifact get move/call/letter@2 -o -
    --- talk
    error: task `call` of plan `move` has no artifact `letter` in version 2

    hint: see what there is with `gantry artifact list move`
    [exit 2]
    $ gantry artifact get move/call -o -
    --- talk
    error: `move/call` is not the name of an artifact

    hint: write PLAN/TASK/NAME, perhaps with @VERSION, or PLAN TASK NAME
    [exit 2]
    "#);
    assert_eq!(kit.read("copy.bin"), kit.read("letter.bin"));
    assert_eq!(kit.output(&["artifact", "get", "move/call/letter", "-o", "-"]).stdout, kit.read("letter.bin"));
    assert_eq!(
        kit.json("task show move call --json")["outputs"],
        serde_json::json!({"note": "all well", "reference": 17})
    );
}

#[test]
fn what_could_not_be_done_says_why() {
    let kit = Kit::with_plan(BY_HAND);
    insta::assert_snapshot!(kit.session(&["task fail move call", "task fail move call --why \"nobody answers\""]), @r#"
    $ gantry task fail move call
    --- talk
    error: the following required arguments were not provided:
      --why <WHY>

    Usage: gantry task fail --why <WHY> <PLAN> <TASK>

    For more information, try '--help'.
    [exit 2]
    $ gantry task fail move call --why "nobody answers"
    --- talk
    ana could not do `call`
    `call` waits for help: ana could not do it: nobody answers
    `pack` waits for help: exit code 3
    `sweep` waits for a judge of the floor shines
    next:
      gantry task resolve move --all retry  # 2 tasks need help; or `skip`, `complete`, `fail`, or one by one
      gantry task judge move sweep          # say whether its checks hold
      gantry resume move                    # then go on
    [exit 0]
    "#);
}

#[test]
fn a_failure_that_asks_for_help_is_resolved() {
    let kit = Kit::with_plan(BY_HAND);
    insta::assert_snapshot!(kit.session(&[
        "task resolve move pack explode",
        "task resolve move pack skip --guidance \"use tape\"",
        "task resolve move call skip",
        "task resolve move pack complete --output boxes=12 --why \"done by hand\"",
        "task note move pack \"twelve boxes\"",
        "task note move \"nearly done\"",
        "task note move",
    ]), @r#"
    $ gantry task resolve move pack explode
    --- talk
    error: `explode` is nothing that can be done about a task

    hint: the last word is one of: retry, complete, skip, fail
    [exit 2]
    $ gantry task resolve move pack skip --guidance "use tape"
    --- talk
    error: `--guidance` is for the next attempt: it goes with `retry`
    [exit 2]
    $ gantry task resolve move call skip
    --- talk
    error: task `call` does not wait for help

    hint: see where it stands with `gantry status move`
    [exit 5]
    $ gantry task resolve move pack complete --output boxes=12 --why "done by hand"
    --- talk
    `pack` counts as done
    `call` waits for someone to do it
    `sweep` waits for a judge of the floor shines
    next:
      gantry task done move call --evidence letter=FILE  # Call the landlord
      gantry task judge move sweep                       # say whether its checks hold
      gantry resume move                                 # then go on
    [exit 0]
    $ gantry task note move pack "twelve boxes"
    --- talk
    noted about `pack`
    [exit 0]
    $ gantry task note move "nearly done"
    --- talk
    noted about `move`
    [exit 0]
    $ gantry task note move
    --- talk
    error: 2 values required by '<PLAN> <[TASK] TEXT>...'; only 1 was provided

    Usage: gantry task note [OPTIONS] <PLAN> <[TASK] TEXT>...

    For more information, try '--help'.
    [exit 2]
    "#);
    let retried = Kit::with_plan(BY_HAND);
    insta::assert_snapshot!(retried.session(&["task resolve move pack retry --guidance \"use tape\""]), @r#"
    $ gantry task resolve move pack retry --guidance "use tape"
    --- talk
    `pack` is tried again
    nobody works on it right now; go on with `gantry resume move`
    [exit 0]
    "#);
}

#[test]
fn a_person_judges_what_is_in_words() {
    let kit = Kit::with_plan(BY_HAND);
    insta::assert_snapshot!(kit.session(&[
        "task judge move sweep",
        "task judge move call",
        "task judge move sweep --holds 2",
        "task judge move sweep --fails 1",
        "task judge move sweep --holds \"the floor shines=it does\"",
        "task judge move",
    ]), @r#"
    $ gantry task judge move sweep
    1. the floor shines
    [exit 0]
    $ gantry task judge move call
    --- talk
    nobody is asked to judge `call`
    [exit 0]
    $ gantry task judge move sweep --holds 2
    --- talk
    error: `2` is none of the checks that are to be judged

    hint: they are: 1. the floor shines
    [exit 2]
    $ gantry task judge move sweep --fails 1
    --- talk
    error: say why `the floor shines` does not hold

    hint: write `--fails CHECK=WHY`
    [exit 2]
    $ gantry task judge move sweep --holds "the floor shines=it does"
    --- talk
    ana judged `sweep`
    `call` waits for someone to do it
    `pack` waits for help: exit code 3
    next:
      gantry task done move call --evidence letter=FILE  # Call the landlord
      gantry task resolve move pack retry                # or `skip`, `complete`, `fail`
      gantry resume move                                 # then go on
    [exit 0]
    $ gantry task judge move
    --- talk
    nobody is asked to judge `move`
    [exit 0]
    "#);
    assert_eq!(kit.code("task resolve move pack skip"), 0);
    kit.write("letter", "yes");
    assert_eq!(kit.code("task done move call --evidence letter"), 0);
    insta::assert_snapshot!(kit.session(&["task judge move", "task judge move --fails \"1=the heating is off\""]), @r#"
    $ gantry task judge move
    1. everybody is happy
    [exit 0]
    $ gantry task judge move --fails "1=the heating is off"
    --- talk
    ana judged `move`
    `move` has failed
    [exit 0]
    "#);
}
