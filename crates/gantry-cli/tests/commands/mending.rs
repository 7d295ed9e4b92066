//! A record that was damaged: what is said, and how it is mended.

use crate::kit::{Kit, RELEASE};

/// Runs a plan up to its gates in a process that is killed, so that everything it said is in the log.
fn killed_at_its_gates() -> Kit {
    let kit = Kit::new();
    kit.start_release().kill();
    kit
}

#[test]
fn damage_in_the_log_is_told_once_and_named_as_long_as_the_log_is_kept_aside() {
    let kit = killed_at_its_gates();
    let log = kit.record().with_extension("db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let frame = 32 + (used / 2 - 32) / 4_120 * 4_120;
    bytes[frame + 100] ^= 1;
    std::fs::write(&log, &bytes).unwrap();

    let told = kit.gantry(&["list"]);
    let begins = format!("warning: `FOLDER/gantry.db-wal` is damaged at byte {frame}: ");
    assert!(told.contains(&begins) && told.contains("a copy of it is `FOLDER/gantry.db-wal.damaged-1`"), "{told}");
    assert!(told.contains("hint: see what there is with `gantry list`"), "{told}");
    assert!(!kit.gantry(&["list"]).contains("warning"), "it is said once");
    for line in ["db check", "doctor"] {
        let found = kit.gantry(&line.split(' ').collect::<Vec<_>>());
        assert!(found.contains("`FOLDER/gantry.db-wal.damaged-1` is a damaged log"), "{line}: {found}");
        assert!(found.ends_with("[exit 1]"), "{line}: {found}");
    }
    std::fs::remove_file(kit.record().with_extension("db-wal.damaged-1")).unwrap();
    assert_eq!(kit.code("db check"), 0);
}

#[test]
fn after_a_backup_is_put_in_the_place_of_a_damaged_record_the_plan_goes_on() {
    let kit = Kit::with_plan(RELEASE);
    assert_eq!(kit.code("db backup copy.db"), 0);
    let change = "UPDATE turn SET entries = replace(entries, 'sign-off', 'sign-ofg') WHERE first_seq > 3";
    assert!(rusqlite::Connection::open(kit.record()).unwrap().execute(change, []).unwrap() > 0);
    insta::assert_snapshot!(kit.session(&["status release", "resume release", "gate approve release sign-off"]), @"
    $ gantry status release
    --- talk
    error: the record is damaged: plan `release`: the turn of entries 4 to 7 is not what was written: its hash does not fit

    hint: do not write to this record; restore a backup, or run `gantry audit` to see what is still sound
    [exit 1]
    $ gantry resume release
    --- talk
    error: the record is damaged: plan `release`: the turn of entries 4 to 7 is not what was written: its hash does not fit

    hint: do not write to this record; restore a backup, or run `gantry audit` to see what is still sound
    [exit 1]
    $ gantry gate approve release sign-off
    --- talk
    error: the record is damaged: plan `release`: the turn of entries 4 to 7 is not what was written: its hash does not fit

    hint: do not write to this record; restore a backup, or run `gantry audit` to see what is still sound
    [exit 1]
    ");
    std::fs::copy(kit.path("copy.db"), kit.record()).unwrap();
    assert_eq!(kit.code("audit release"), 0);
    assert_eq!(kit.code("gate approve release sign-off"), 0);
    assert_eq!(kit.code("gate approve release legal --role lawyer"), 0);
    assert_eq!(kit.code("resume release"), 0);
    assert_eq!(kit.json("status release --json")["state"], "completed");
}

/// A loop whose tests fail until a file is there, and that may go round once.
const LOOP: &str = r#"
id: loop
title: Until it is green
tasks:
  - id: implement
    run: echo more >> tried.txt
  - id: tests
    depends_on: [implement]
    run: test "$(wc -l < tried.txt)" -ge 3
    next: [{on: failure, to: implement, max: 1}]
  - id: ship
    depends_on: [tests]
    run: echo shipped
"#;

#[test]
fn a_loop_whose_rounds_are_used_up_says_so_and_goes_on_when_it_may_go_round_more_often() {
    let kit = Kit::with_plan(LOOP);
    let status = kit.gantry(&["status", "loop"]);
    let next = status.split_once("next:\n").unwrap().1;
    insta::assert_snapshot!(next, @"
      gantry export loop -o plan.yaml                            # `tests-r2` may send work back no more (1 round): raise its `max` in this file
      gantry revise loop plan.yaml --rationale 'one more round'  # then resume
      gantry retry loop tests-r2                                 # or do only this again as it is, then resume
      gantry log loop --digest                                   # see what happened
    [exit 0]
    ");
    kit.write("plan.yaml", LOOP.replace("max: 1", "max: 2"));
    assert_eq!(kit.code("revise loop plan.yaml --rationale once-more --yes"), 0);
    assert_eq!(kit.code("resume loop"), 0, "{}", kit.gantry(&["status", "loop"]));
    assert_eq!(kit.read("tried.txt"), b"more\nmore\nmore\n");
}
