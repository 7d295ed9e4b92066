//! What is found in artifacts, and how long their contents are kept.

use crate::kit::Kit;

const ZEBRA: &str = "id: zoo\ntitle: A zoo\ntasks:\n  - {id: count, run: 'echo zebra unicorn'}\n";

#[test]
fn what_a_task_wrote_is_found_by_its_words() {
    let kit = Kit::with_plan(ZEBRA);
    insta::assert_snapshot!(kit.session(&["search zebra", "search unicorn zebra --json", "search zoo"]), @r#"
    $ gantry search zebra
    zoo/count/stdout@1  zebra unicorn
    [exit 0]
    $ gantry search unicorn zebra --json
    [
      {
        "plan": "zoo",
        "task": "count",
        "kind": "artifact",
        "name": "stdout@1",
        "snippet": "zebra unicorn\n"
      }
    ]
    [exit 0]
    $ gantry search zoo
    zoo  A zoo
    [exit 0]
    "#);
    let found = kit.gantry(&["search", "zebra"]);
    let reference = found.split_whitespace().next().unwrap();
    assert!(kit.gantry(&["artifact", "show", reference]).contains("zebra unicorn"), "what is shown can be typed");
}

#[test]
fn secrets_in_what_a_task_wrote_are_not_found() {
    let kit = Kit::new();
    kit.write("plan.yaml", "id: quiet\ntasks: [{id: say, run: 'echo token $TOKEN zebra'}]\n");
    let run = kit.with_variable("TOKEN", "walrus77walrus", "run plan.yaml --secret TOKEN");
    assert!(run.ends_with("[exit 0]"), "{run}");
    assert!(kit.gantry(&["search", "zebra"]).contains("quiet/say/stdout@1"));
    assert!(kit.gantry(&["search", "walrus77walrus"]).contains("nothing was found"));
}

/// A plan whose outputs are kept until the task is final, for a moment, for an hour, and with the plan.
const SHORT: &str = r#"
id: short
title: Short lives
tasks:
  - {id: first, run: "echo zebra first", artifacts: [{name: stdout, retention: task}]}
  - {id: moment, depends_on: [first], run: "echo zebra moment", artifacts: [{name: stdout, retention: 1ms}]}
  - {id: hour, depends_on: [moment], run: "echo zebra hour", artifacts: [{name: stdout, retention: 1h}]}
  - {id: third, depends_on: [hour], run: "echo zebra third"}
"#;

#[test]
fn contents_past_their_retention_are_dropped_and_the_record_stays_sound() {
    let kit = Kit::with_plan(SHORT);
    assert_eq!(kit.code("pin short"), 0);
    assert_eq!(kit.json("db vacuum --json")["dropped"]["blobs"], 0, "a pinned plan keeps everything");
    assert_eq!(kit.code("unpin short"), 0);
    assert_eq!(kit.json("db vacuum --json")["dropped"]["blobs"], 2);
    insta::assert_snapshot!(kit.session(&[
        "artifact show short/first/stdout",
        "artifact get short/first/stdout -o first.txt",
        "search zebra first",
        "artifact show short/third/stdout",
        "export zip short -o short.zip",
    ]), @"
    $ gantry artifact show short/first/stdout
    artifact  short/first/stdout@1
    size      12 B
    made      2026-01-01T00:00:00Z by attempt 1
    hash      hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    dropped   at 2026-01-01T00:00:00Z, past its retention
    [exit 0]
    $ gantry artifact get short/first/stdout -o first.txt
    --- talk
    error: the content of `short/first/stdout@1` was dropped at 2026-01-01T00:00:00Z

    hint: its task declares how long it is kept (`retention`); pin a plan with `gantry pin` to keep everything
    [exit 5]
    $ gantry search zebra first
    --- talk
    nothing was found
    [exit 0]
    $ gantry artifact show short/third/stdout
    artifact  short/third/stdout@1
    size      12 B
    made      2026-01-01T00:00:00Z by attempt 1
    hash      hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh

    zebra third
    [exit 0]
    $ gantry export zip short -o short.zip
    --- talk
    error: the content of `short/first/stdout@1` was dropped at 2026-01-01T00:00:00Z

    hint: its task declares how long it is kept (`retention`); pin a plan with `gantry pin` to keep everything
    [exit 5]
    ");
    assert!(kit.json("artifact show short/first/stdout --json")["dropped_at"].is_string());
    assert_eq!((kit.code("audit short"), kit.code("replay short"), kit.code("fork short")), (0, 0, 0));
    assert!(kit.gantry(&["artifact", "show", "short/hour/stdout"]).contains("zebra hour"), "an hour has not passed");
}

#[test]
fn what_is_to_be_kept_for_ever_is_not_forgotten_by_the_way() {
    let kit = Kit::with_plan(
        "id: kept\ntasks: [{id: deed, run: 'echo signed', artifacts: [{name: stdout, retention: forever}]}]\n",
    );
    assert_eq!(kit.json("db vacuum --json")["dropped"]["blobs"], 0);
    insta::assert_snapshot!(kit.session(&["forget kept", "forget kept --force"]), @"
    $ gantry forget kept
    --- talk
    error: `kept/deed/stdout@1` is to be kept for ever

    hint: get it first with `gantry artifact get`, then say `--force`
    [exit 5]
    $ gantry forget kept --force
    --- talk
    forgot `kept`
    [exit 0]
    ");
}
