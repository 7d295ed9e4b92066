//! Forks, replays, audits, checkpoints.

use crate::kit::{FILES, Kit, RELEASE};

#[test]
fn a_fork_goes_on_from_any_point_and_the_plan_stays_as_it_is() {
    let kit = Kit::with_plan(FILES);
    insta::assert_snapshot!(kit.session(&["fork files --at 0", "fork files --at 99", "fork files --at 9"]), @"
    $ gantry fork files --at 0
    --- talk
    error: plan `files` has no entry 0

    hint: its journal has entries 1 to 13; see them with `gantry log files`
    [exit 2]
    $ gantry fork files --at 99
    --- talk
    error: plan `files` has no entry 99

    hint: its journal has entries 1 to 13; see them with `gantry log files`
    [exit 2]
    $ gantry fork files --at 9
    --- talk
    `plan-change-some-files-xxxx` (number 2) continues `files` after entry 9; it has not started yet
    go on with `gantry resume plan-change-some-files-xxxx`
    [exit 0]
    ");
    let before = kit.json("audit files --json")["head"].clone();
    assert_eq!(kit.code("resume @last"), 0);
    assert_eq!(kit.json("audit files --json")["head"], before);
    assert_eq!(kit.code("replay @last"), 0);
    assert_eq!(kit.json("artifact list @last --json")[0]["task"], "before", "its artifacts are known in the fork");
    assert_eq!(kit.code("fork files --at 5 --resume"), 0);
    assert_eq!(kit.json("task show @last read --json")["state"], "completed");
}

#[test]
fn a_fork_can_take_back_what_was_done_before_it() {
    let kit = Kit::new();
    kit.write("a.txt", "old");
    kit.run(
        "
id: files
title: Change some files
tasks:
  - id: write
    tool: {name: files.write, args: {path: a.txt, content: new}}
    undo: restore
  - id: read
    depends_on: [write]
    run: cat a.txt
",
    );
    assert_eq!(kit.read("a.txt"), b"new");
    assert_eq!(kit.code("fork files --at 5"), 0);
    insta::assert_snapshot!(kit.gantry(&["cancel", "@last", "--undo"]), @"
    --- talk
    cancelled `plan-change-some-files-xxxx`
      took back `write`: restored what it changed: one file is as before
    `plan-change-some-files-xxxx` is given up
    [exit 0]
    ");
    assert_eq!(kit.read("a.txt"), b"old");
}

#[test]
fn a_life_decided_again_is_the_same() {
    let kit = Kit::with_plan(FILES);
    insta::assert_snapshot!(kit.session(&["replay files", "replay files --json", "replay nowhere"]), @r#"
    $ gantry replay files
    files: 4 turns decided again, 13 entries compared: everything is the same
    [exit 0]
    $ gantry replay files --json
    {
      "plan": "files",
      "what_if": false,
      "same": true,
      "turns": 4,
      "entries": 13,
      "given": 0,
      "difference": null,
      "changed_prompts": []
    }
    [exit 0]
    $ gantry replay nowhere
    --- talk
    error: there is no plan `nowhere`

    hint: list what exists with `gantry list`
    [exit 2]
    "#);
}

#[test]
fn another_policy_shows_where_the_life_would_have_gone_another_way() {
    let kit = Kit::with_plan(FILES);
    kit.write("careful.yaml", "policy:\n  checkpoint_each_task: true\n");
    kit.write("same.yaml", "policy:\n  budget: {cost_usd: 5}\n");
    kit.write("wrong.yaml", "policy:\n  chekpoint_each_task: true\n");
    insta::assert_snapshot!(kit.session(&[
        "replay files --policy careful.yaml",
        "replay files --policy same.yaml",
        "replay files --policy plan.yaml",
        "replay files --policy wrong.yaml",
        "replay files --policy nowhere.yaml",
    ]), @"
    $ gantry replay files --policy careful.yaml
    files: another way at entry 10; what stands before is the same
      recorded: read: started
      decided:  write: checkpoint `after write` (cp-write-2026-01-01T00:00:00Z)
    --- talk
    under this policy the plan would have gone another way from there; the record is unchanged
    [exit 0]
    $ gantry replay files --policy same.yaml
    files: 4 turns decided again, 13 entries compared: the policy changes nothing
    [exit 0]
    $ gantry replay files --policy plan.yaml
    files: 4 turns decided again, 13 entries compared: the policy changes nothing
    [exit 0]
    $ gantry replay files --policy wrong.yaml
    --- talk
    error[plan::unknown-field]: a policy has no field `chekpoint_each_task`
     --> wrong.yaml:2:3
      |
    2 |   chekpoint_each_task: true
      |   ^^^^^^^^^^^^^^^^^^^ unknown field
      |
      = help: did you mean `checkpoint_each_task`?

    error: `wrong.yaml` has no policy that can be used

    hint: write a map under `policy:`, such as `policy: {budget: {cost_usd: 5}}`, or name a plan file
    [exit 2]
    $ gantry replay files --policy nowhere.yaml
    --- talk
    error: `nowhere.yaml` cannot be read: there is no such file

    hint: name a plan file, or `-` for standard input
    [exit 2]
    ");
}

#[test]
fn an_audit_shows_who_decided_what_when_and_why() {
    let kit = Kit::with_plan(RELEASE);
    assert_eq!(kit.code("pause release --why lunch --by ben"), 0);
    assert_eq!(kit.code("gate approve release sign-off legal --role lawyer --rationale \"all well\""), 0);
    assert_eq!(kit.code("resume release"), 0);
    insta::assert_snapshot!(kit.gantry(&["audit", "release"]), @"
    1   2026-01-01T00:00:00Z  the plan was created with 4 tasks
    8   2026-01-01T00:00:00Z  paused by ben: lunch
    9   2026-01-01T00:00:00Z  sign-off: approved by ana (lawyer): all well
    10  2026-01-01T00:00:00Z  legal: approved by ana (lawyer): all well
    13  2026-01-01T00:00:00Z  resumed by ana
    17  2026-01-01T00:00:00Z  the plan is completed
    release: 17 entries in 7 turns, head hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    --- talk
    sound: everything is as it was written
    [exit 0]
    ");
    let head = kit.json("audit release --json")["head"].as_str().unwrap().to_owned();
    assert_eq!(kit.code(&format!("audit release --head {}", &head[..12])), 0);
    insta::assert_snapshot!(kit.session(&["audit release --head 0123456789", "audit release --head xyz"]), @"
    $ gantry audit release --head 0123456789
    1   2026-01-01T00:00:00Z  the plan was created with 4 tasks
    8   2026-01-01T00:00:00Z  paused by ben: lunch
    9   2026-01-01T00:00:00Z  sign-off: approved by ana (lawyer): all well
    10  2026-01-01T00:00:00Z  legal: approved by ana (lawyer): all well
    13  2026-01-01T00:00:00Z  resumed by ana
    17  2026-01-01T00:00:00Z  the plan is completed
    release: 17 entries in 7 turns, head hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    --- talk
    error: the journal of `release` does not end with 0123456789

    hint: it has grown since the hash was kept, or it was replaced as a whole
    [exit 1]
    $ gantry audit release --head xyz
    --- talk
    error: `xyz` is not a hash, nor the first 8 digits of one
    [exit 2]
    ");
}

#[test]
fn a_flipped_byte_in_the_record_is_named() {
    let kit = Kit::with_plan(RELEASE);
    let change = "UPDATE turn SET entries = replace(entries, 'sign-off', 'sign-ofg') WHERE first_seq > 3";
    assert!(rusqlite::Connection::open(kit.record()).unwrap().execute(change, []).unwrap() > 0);
    insta::assert_snapshot!(kit.gantry(&["audit", "release"]), @"
    1  2026-01-01T00:00:00Z  the plan was created with 4 tasks
    release: 3 entries in 2 turns, head hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    --- talk
    broken: entry 4: the turn of entries 4 to 7 is not what was written: its hash does not fit
    error: the record of `release` is not what was written: from entry 4 on

    hint: entries 1 to 3 can be trusted, and nothing after them; restore a backup of the record
    [exit 1]
    ");
    let audit = kit.json("audit release --json");
    assert_eq!((&audit["sound"], &audit["first_broken"]), (&false.into(), &4.into()));
    insta::assert_snapshot!(kit.gantry(&["export", "zip", "release", "-o", "out.zip"]), @"
    --- talk
    error: the record of `release` is damaged: the turn of entries 4 to 7 is not what was written: its hash does not fit

    hint: see what is still sound with `gantry audit release`
    [exit 1]
    ");
}

#[test]
fn the_working_folder_is_brought_back_and_that_can_be_taken_back() {
    let kit = Kit::new();
    kit.write("a.txt", "old");
    kit.run(FILES);
    insta::assert_snapshot!(kit.session(&["restore files", "restore files --to nowhere", "restore files --to start"]), @"
    $ gantry restore files
    CHECKPOINT  TASK      MADE
    start       before@1  2026-01-01T00:00:00Z
    [exit 0]
    $ gantry restore files --to nowhere
    --- talk
    error: plan `files` has no checkpoint `nowhere`

    hint: see which there are with `gantry restore files`
    [exit 2]
    $ gantry restore files --to start
    --- talk
    restored `FOLDER/work` to checkpoint `start`: 1 written, 1 removed
    as it was before is kept; go back with `gantry restore files --to hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh`
    [exit 0]
    ");
    assert_eq!(kit.read("a.txt"), b"old");
    assert!(!kit.path("b.txt").exists());
    let notes = kit.json("audit files --json");
    let note =
        notes["decisions"].as_array().unwrap().iter().find_map(|entry| entry["text"].as_str()).unwrap().to_owned();
    let safety = note.rsplit(' ').next().unwrap();
    assert_eq!(kit.code(&format!("restore files --to {safety}")), 0);
    assert_eq!((kit.read("a.txt"), kit.read("b.txt")), (b"new\n".to_vec(), b"more\n".to_vec()));
    let without = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(without.gantry(&["restore", "release"]), @"
    --- talk
    `release` has no checkpoint of its working folder
    [exit 0]
    ");
}

/// A plan whose file holds the secret `TOKEN`, with a checkpoint before it and a change after it.
const SECRET: &str = "
id: files
title: Change some files
tasks:
  - id: before
    checkpoint: start
  - id: write
    depends_on: [before]
    tool: {name: files.write, args: {path: a.txt, content: new}}
    undo: restore
  - id: read
    depends_on: [write]
    run: cat a.txt
";

/// A kit with a file that holds a secret, and a plan that was given it and has changed the file.
fn with_secret(token: &str) -> Kit {
    let kit = Kit::new();
    kit.write("a.txt", format!("key: {token}\n"));
    kit.write("plan.yaml", SECRET);
    let told = kit.with_variable("TOKEN", token, "run plan.yaml --secret TOKEN");
    assert!(told.ends_with("[exit 0]"), "{told}");
    kit
}

#[test]
fn a_restore_keeps_no_secret_and_brings_back_files_that_hold_one() {
    let token = "k3kuWzUvTx9";
    let kit = with_secret(token);
    kit.write("b.txt", format!("by hand: {token}\n"));
    insta::assert_snapshot!(kit.gantry(&["restore", "files", "--to", "start"]), @"
    --- talk
    error: the plan was begun with the secret `TOKEN`, which is not here

    hint: set the variable TOKEN, or name a file that has it with `--secrets-file FILE`
    [exit 2]
    ");
    assert_eq!(kit.code("restore files"), 0, "listing needs no secret");
    let told = kit.with_variable("TOKEN", token, "restore files --to start");
    assert!(told.ends_with("[exit 0]"), "{told}");
    assert_eq!(kit.read("a.txt"), format!("key: {token}\n").into_bytes());
    assert!(!kit.record_holds(token.as_bytes()), "the folder as it was before was kept with the secret in it");
}

#[test]
fn what_was_done_to_a_file_with_a_secret_is_taken_back_with_the_secret() {
    let token = "k3kuWzUvTx9";
    let kit = with_secret(token);
    assert_eq!(kit.code("fork files --at 9"), 0);
    let length = kit.json("audit @last --json")["length"].clone();
    assert!(kit.gantry(&["cancel", "@last", "--undo"]).contains("the secret `TOKEN`, which is not here"));
    assert_eq!(kit.json("audit @last --json")["length"], length, "nothing was said to the plan");
    let told = kit.with_variable("TOKEN", token, "cancel @last --undo");
    assert!(told.contains("took back `write`: restored what it changed: one file is as before"), "{told}");
    assert_eq!(kit.read("a.txt"), format!("key: {token}\n").into_bytes());
}

#[test]
fn a_restore_that_is_killed_has_left_the_way_back() {
    let kit = Kit::new();
    kit.write("a.txt", "old");
    kit.run(FILES);
    assert_eq!(kit.killed_at("after_note", "restore files --to start"), None, "it was killed");
    let notes = kit.json("audit files --json");
    let note = notes["decisions"].as_array().unwrap().iter().find_map(|entry| entry["text"].as_str()).unwrap();
    let safety = note.rsplit(' ').next().unwrap().to_owned();
    // Whatever it had touched by then: the folder comes back as it was.
    kit.write("a.txt", "half");
    assert_eq!(kit.code(&format!("restore files --to {safety}")), 0);
    assert_eq!((kit.read("a.txt"), kit.read("b.txt")), (b"new\n".to_vec(), b"more\n".to_vec()));
}

/// Changes the record behind the back of the program.
fn tamper(kit: &Kit, change: &str) {
    let conn = rusqlite::Connection::open(kit.record()).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    assert!(conn.execute(change, []).unwrap() > 0);
}

#[test]
fn an_audit_finds_what_is_gone_or_changed_beside_the_journal_and_says_what_can_be_trusted() {
    let kit = Kit::with_plan(FILES);
    tamper(&kit, "DELETE FROM blob WHERE hash = (SELECT hash FROM artifact WHERE task = 'read')");
    insta::assert_snapshot!(kit.gantry(&["audit", "files"]), @"
    1   2026-01-01T00:00:00Z  the plan was created with 3 tasks
    13  2026-01-01T00:00:00Z  the plan is completed
    files: 13 entries in 5 turns, head hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    --- talk
    broken: the content of artifact `files/read/stdout@1` is gone
    error: the record of `files` is not what was written: 1 thing beside its journal

    hint: all 13 entries of its journal can be trusted, but not what is named above; restore a backup of the record
    [exit 1]
    ");
    let kit = Kit::with_plan(FILES);
    tamper(&kit, "UPDATE effect SET request = replace(request, 'a.txt', 'b.txt') WHERE task = 'read'");
    insta::assert_snapshot!(kit.gantry(&["audit", "files"]), @"
    1   2026-01-01T00:00:00Z  the plan was created with 3 tasks
    13  2026-01-01T00:00:00Z  the plan is completed
    files: 13 entries in 5 turns, head hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    --- talk
    broken: the row of effect 0 of attempt 1 at `read` in plan `files` is not what was written: its sum does not fit
    error: the record of `files` is not what was written: 1 thing beside its journal

    hint: all 13 entries of its journal can be trusted, but not what is named above; restore a backup of the record
    [exit 1]
    ");
    let kit = Kit::with_plan(FILES);
    tamper(&kit, "DELETE FROM artifact WHERE task = 'read'");
    insta::assert_snapshot!(kit.gantry(&["audit", "files"]), @"
    1   2026-01-01T00:00:00Z  the plan was created with 3 tasks
    13  2026-01-01T00:00:00Z  the plan is completed
    files: 13 entries in 5 turns, head hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    --- talk
    broken: the artifact `stdout` of `read`, which the journal speaks of, is not listed as it was made
    error: the record of `files` is not what was written: 1 thing beside its journal

    hint: all 13 entries of its journal can be trusted, but not what is named above; restore a backup of the record
    [exit 1]
    ");
    assert_eq!(kit.json("audit files --json")["sound"], false);
}

const BESIDE_ITS_RECORD: &str = "
id: beside
title: A record in the folder that its plan works in
tasks:
  - {id: begin, gate: {approvals: 1}}
  - id: change
    depends_on: [begin]
    run: echo changed > a.txt
    undo: restore
  - {id: end, depends_on: [change], gate: {approvals: 1}}
";

#[test]
fn a_record_in_the_working_folder_is_not_taken_back_with_it() {
    let kit = Kit::new().with_record("work/in.db");
    kit.write("a.txt", "as it was");
    kit.run(BESIDE_ITS_RECORD);
    assert_eq!(kit.code("gate approve beside begin"), 0);
    assert_eq!(kit.code("resume beside"), 4, "{}", kit.gantry(&["status", "beside"]));
    let told = kit.gantry(&["cancel", "beside", "--undo"]);
    assert!(told.contains("took back `change`: restored what it changed: one file is as before"), "{told}");
    assert_eq!(kit.read("a.txt"), b"as it was");
    assert_eq!(kit.code("audit beside"), 0);
}

#[test]
fn with_a_checkpoint_after_each_task_the_folder_comes_back_to_after_any_of_them() {
    let kit = Kit::new();
    kit.write("a.txt", "old");
    kit.run(
        "
id: steps
title: Change a file step by step
policy: {checkpoint_each_task: true}
tasks:
  - {id: one, run: echo one > a.txt}
  - {id: two, depends_on: [one], tool: {name: files.write, args: {path: a.txt, content: two}}}
  - {id: three, depends_on: [two], run: rm a.txt; echo b > b.txt}
  - {id: kept, depends_on: [three], checkpoint: end}
",
    );
    insta::assert_snapshot!(kit.gantry(&["restore", "steps"]), @"
    CHECKPOINT   TASK     MADE
    after one    one@1    2026-01-01T00:00:00Z
    after two    two@1    2026-01-01T00:00:00Z
    after three  three@1  2026-01-01T00:00:00Z
    end          kept@1   2026-01-01T00:00:00Z
    [exit 0]
    ");
    for (to, a, b) in
        [("after one", Some("one\n"), false), ("after three", None, true), ("after two", Some("two"), false)]
    {
        assert_eq!(kit.output(&["restore", "steps", "--to", to]).status.code(), Some(0), "{to}");
        let content = std::fs::read_to_string(kit.path("a.txt")).ok();
        assert_eq!((content.as_deref(), kit.path("b.txt").exists()), (a, b), "{to}");
    }
    // Nothing has changed between the last task and the checkpoint behind it.
    assert_eq!(kit.json("task show steps kept --json")["outputs"]["changed"], 0);
}
