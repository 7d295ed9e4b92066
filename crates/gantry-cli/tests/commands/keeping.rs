//! What is found in artifacts, and how long their contents are kept.

use crate::kit::{FILES, Kit, RELEASE};

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

#[test]
fn plans_that_ended_long_ago_are_forgotten_and_pinned_ones_can_be_replayed() {
    let kit = Kit::new();
    for id in ["old", "pinned", "kept"] {
        let keep = if id == "kept" { ", artifacts: [{name: stdout, retention: forever}]" } else { "" };
        kit.run(&format!("id: {id}\ntitle: T\ntasks: [{{id: a, run: echo {id}{keep}}}]"));
    }
    kit.run("id: open\ntitle: T\ntasks: [{id: a, gate: {approvals: 1}}]");
    assert_eq!(kit.code("pin pinned"), 0);
    assert_eq!(kit.json("db vacuum --forget-ended 90d --json")["forgotten"], serde_json::json!([]), "none is that old");
    let told = kit.gantry(&["db", "vacuum", "--forget-ended", "0s"]);
    assert!(told.contains("forgot `old`\n") && told.ends_with("[exit 0]"), "{told}");
    let left: Vec<String> = kit
        .json("list --json")
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| plan["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(left, ["open", "kept", "pinned"]);
    assert_eq!((kit.code("replay pinned"), kit.code("audit pinned")), (0, 0));
    assert_eq!(kit.output(&["artifact", "get", "pinned/a/stdout", "-o", "-"]).stdout, b"pinned\n");
}

#[test]
fn a_log_is_read_page_by_page() {
    let kit = Kit::new();
    let tasks: Vec<String> = (0..60).map(|n| format!("{{id: t{n}, compute: {{x: '{n}'}}}}")).collect();
    kit.run(&format!("id: long\ntitle: T\ntasks: [{}]", tasks.join(", ")));
    let seqs = |line: &str| -> Vec<u64> {
        let output = kit.output(&line.split(' ').collect::<Vec<_>>());
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap())
            .collect()
    };
    let all = seqs("log long --json");
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    assert!(all.len() > 60, "{}", all.len());
    assert_eq!(seqs("log long --after 30 --limit 20 --json"), (31..=50).collect::<Vec<_>>());
    assert_eq!(seqs("log long --limit 3 --json"), [1, 2, 3]);
    assert_eq!(seqs(&format!("log long --after {} --json", all.len())), Vec::<u64>::new());
    let about: Vec<u64> = seqs("log long --task t59 --json");
    assert!(!about.is_empty() && seqs("log long --task t59 --limit 1 --json") == about[..1], "{about:?}");
}

#[test]
fn what_a_command_had_said_when_it_was_killed_can_be_read() {
    let kit = Kit::new();
    // Enough for a part to be handed in early, and then it holds on.
    let command = "i=0; while [ $i -lt 6000 ]; do echo \"line $i of what it has to say so far, which is a lot of words\"; i=$((i+1)); done; touch said; sleep 600";
    kit.write("plan.yaml", format!("id: talk\ntitle: T\ntasks:\n  - id: a\n    run: '{command}'\n"));
    assert_eq!(kit.code("list"), 0, "the record exists before two processes open it");
    let mut running = kit.start("run plan.yaml");
    let parts = || kit.output(&["artifact", "list", "talk", "--json"]).stdout;
    assert!((0..2_000).any(|_| String::from_utf8_lossy(&parts()).contains("stdout")), "no part was kept");
    running.kill();
    let said = String::from_utf8(kit.output(&["artifact", "get", "talk/a/stdout.part-1", "-o", "-"]).stdout).unwrap();
    assert!(said.starts_with("line 0 of what it has to say") && said.contains("line 1000 of"), "{} bytes", said.len());
}

#[test]
fn with_the_record_alone_everything_can_be_read_exported_and_gone_on_with() {
    let kit = Kit::new();
    kit.write("a.txt", "old");
    kit.run(FILES);
    kit.run(RELEASE);
    assert!(!kit.record().with_extension("db-wal").exists(), "nothing is left in a log when nobody is there");
    // Nothing but the record is left.
    std::fs::remove_dir_all(kit.path("")).unwrap();
    std::fs::remove_file(kit.record().with_extension("db-lock")).unwrap();
    std::fs::create_dir(kit.path("")).unwrap();
    let beside: Vec<_> = std::fs::read_dir(kit.record().parent().unwrap()).unwrap().flatten().collect();
    assert_eq!(beside.len(), 2, "the record and an empty folder: {beside:?}");
    assert_eq!(kit.json("status files --json")["state"], "completed");
    assert_eq!(kit.output(&["artifact", "get", "files/read/stdout", "-o", "-"]).stdout, b"new\n");
    for line in ["replay files", "audit files", "log files", "export zip files -o out.zip", "restore files --to start"]
    {
        assert_eq!(kit.code(line), 0, "{line}: {}", kit.gantry(&line.split(' ').collect::<Vec<_>>()));
    }
    assert_eq!(kit.read("a.txt"), b"old");
    assert_eq!(kit.code("gate approve release sign-off"), 0);
    assert_eq!(kit.code("gate approve release legal --role lawyer"), 0);
    assert_eq!(kit.code("resume release"), 0);
}
