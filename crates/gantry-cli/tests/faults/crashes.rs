//! kill -9 while plans are undone, approved, revised, woken up and kept, and while the killed ones recover.

use std::sync::atomic::{AtomicUsize, Ordering};

use gantry_core::event::Event;
use gantry_core::life::PlanState;
use gantry_testkit::web_server::{Reply, WebServer};
use rustix::process::Signal;

use crate::kit::{Busy, MARK, POINTS, Said, Scene, eventually, has, said};

/// Kills `args` at a point, three times in a row if it comes to that, and lets it go on to the end.
///
/// Each time it is looked at: what was finished is not done again.
fn survive(scene: &Scene, plan: &str, point: &str, nth: u32, first: &[&str], again: &[&str]) -> (u32, Said) {
    let mut kills = 0;
    loop {
        let before = scene.look(plan);
        let (done, undone) = before.map(|audit| (audit.completed(), audit.undone())).unwrap_or_default();
        let lines = scene.ledger().len();
        let args = if kills == 0 { first } else { again };
        let said = if kills < 3 { scene.killed_at(point, nth, args) } else { scene.say(args) };
        for line in &scene.ledger()[lines..] {
            let finished = match line.strip_prefix("undo ") {
                Some(task) => undone.iter().any(|undone| undone == task),
                None => line.split(' ').nth(1).is_some_and(|task| done.iter().any(|done| done == task)),
            };
            assert!(!finished, "{point}:{nth}: `{line}` was finished and done again");
        }
        match said.code {
            None => kills += 1,
            Some(_) => return (kills, said),
        }
    }
}

/// Two tasks that can be taken back, and a question behind them.
fn undoable(question: &str) -> String {
    let task = |id: &str, needs: &str| {
        let undo = format!("echo \"undo {id}\" >> ledger; echo taken back");
        format!(
            "  - id: {id}\n    depends_on: [{needs}]\n    idempotency: safe\n    run: '{MARK}; echo marked'\n    undo: {{run: '{undo}'}}\n"
        )
    };
    format!("id: back\npolicy: {{recovery: {{logic: [undo]}}}}\ntasks:\n{}{}{question}", task("a", ""), task("b", "a"))
}

/// The first time that each line with this beginning stands in the ledger.
fn firsts(scene: &Scene, beginning: &str) -> Vec<String> {
    let mut firsts: Vec<String> = Vec::new();
    for line in scene.ledger().into_iter().filter(|line| line.starts_with(beginning)) {
        if !firsts.contains(&line) {
            firsts.push(line);
        }
    }
    firsts
}

#[test]
fn a_cancelled_plan_is_taken_back_whole_and_in_order_wherever_the_undo_is_killed() {
    let mut kills = 0;
    for point in POINTS {
        for nth in 1..=3 {
            let scene = Scene::with_plan(&undoable("  - {id: ok, ask: Really?, depends_on: [b]}\n"));
            scene.expect(4, &["run", "plan.yaml"]);
            let cancel = ["cancel", "back", "--undo"];
            let (killed, _) = survive(&scene, "back", point, nth, &cancel, &["resume", "back"]);
            kills += killed;
            if scene.look("back").unwrap().state != PlanState::Abandoned {
                // It was killed before the wish was on record: it is said again.
                assert!(killed > 0 && point == "before_append" && nth == 1, "{point}:{nth}: the wish was lost");
                scene.expect(0, &cancel);
            }
            let audit = scene.audit("back");
            assert_eq!(audit.state, PlanState::Abandoned, "{point}:{nth}");
            assert_eq!(audit.undone(), ["b", "a"], "{point}:{nth}: the last thing first, each once");
            assert_eq!(firsts(&scene, "undo "), ["undo b", "undo a"], "{point}:{nth}: and so it was outside");
        }
    }
    assert!(kills >= 15, "only {kills} kills");
    eprintln!("kills: {kills}");
}

#[test]
fn a_plan_that_fails_takes_back_what_it_did_wherever_it_is_killed() {
    let mut kills = 0;
    let fails = format!("  - {{id: c, run: '{MARK}; exit 7', depends_on: [b], idempotency: safe}}\n");
    for point in POINTS {
        for nth in [1, 2, 3, 5] {
            let scene = Scene::with_plan(&undoable(&fails));
            let run = ["run", "plan.yaml", "--key", "once"];
            let (killed, said) = survive(&scene, "back", point, nth, &run, &run);
            kills += killed;
            assert_eq!(said.code, Some(3), "{point}:{nth}: {said:?}");
            let audit = scene.audit("back");
            assert_eq!(audit.state, PlanState::Failed, "{point}:{nth}");
            assert_eq!(audit.undone(), ["b", "a"], "{point}:{nth}: the last thing first, each once");
            assert_eq!(firsts(&scene, "undo "), ["undo b", "undo a"], "{point}:{nth}: and so it was outside");
        }
    }
    assert!(kills >= 25, "only {kills} kills");
    eprintln!("kills: {kills}");
}

fn gated() -> String {
    format!(
        "id: gated\ntasks:\n  - {{id: build, run: '{MARK}'}}\n  - {{id: ok, gate: {{approvals: 1}}, depends_on: [build]}}\n  - {{id: ship, run: '{MARK}', depends_on: [ok]}}\n"
    )
}

#[test]
fn an_approval_is_recorded_whole_or_not_at_all_when_it_is_killed() {
    for (point, recorded) in [("before_append", false), ("after_append", true)] {
        let scene = Scene::with_plan(&gated());
        scene.expect(4, &["run", "plan.yaml"]);
        let approve = ["gate", "approve", "gated", "ok"];
        assert_eq!(scene.killed_at(point, 1, &approve).code, None, "{point}");
        let decided = |event: &Event| matches!(event, Event::GateDecided { .. });
        assert_eq!(scene.audit("gated").count(decided), usize::from(recorded), "{point}");
        assert_eq!(scene.tasks(), ["build"], "{point}: nothing starts before it is on record");
        scene.expect(if recorded { 5 } else { 0 }, &approve);
        scene.expect(0, &["resume", "gated"]);
        let audit = scene.audit("gated");
        assert_eq!((audit.state, audit.count(decided)), (PlanState::Completed, 1), "{point}");
        assert_eq!(scene.tasks(), ["build", "ship"], "{point}");
    }
}

#[test]
fn an_approval_opens_its_gate_once_when_the_process_that_hears_it_is_killed() {
    let mut heard = 0;
    for point in ["before_append", "after_append"] {
        for nth in 2..=4 {
            let scene = Scene::with_plan(&gated());
            let mut command = scene.gantry(&["run", "plan.yaml", "--wait", "--key", "once"]);
            command.env("GANTRY_CRASH_AT", format!("{point}:{nth}"));
            let mut busy = Busy::from(command);
            let open = busy.hears("ok: waits for");
            if open {
                // Heard by the one that is killed over it, or recorded here because that one is gone.
                scene.expect(0, &["gate", "approve", "gated", "ok"]);
                heard += 1;
            }
            busy.end();
            if !open {
                while scene.say(&["gate", "approve", "gated", "ok"]).code != Some(0) {
                    let said = scene.say(&["run", "plan.yaml", "--key", "once"]);
                    assert_eq!(said.code, Some(4), "{said:?}");
                    let asked = scene.look("gated").unwrap().tasks(|event| matches!(event, Event::PersonAsked { .. }));
                    for task in asked {
                        let how = if scene.tasks().contains(&task) { "complete" } else { "retry" };
                        scene.say(&["task", "resolve", "gated", &task, how]);
                    }
                }
            }
            scene.settle("gated", &["run", "plan.yaml", "--key", "once"]);
            let audit = scene.audit("gated");
            let decided = audit.count(|event| matches!(event, Event::GateDecided { .. }));
            assert_eq!((audit.state, decided), (PlanState::Completed, 1), "{point}:{nth}");
            assert_eq!(scene.tasks(), ["build", "ship"], "{point}:{nth}");
        }
    }
    assert!(heard >= 3, "only {heard} approvals met a process");
    eprintln!("heard: {heard}");
}

#[test]
fn every_timer_fires_once_wherever_it_is_killed() {
    let plan = format!(
        "id: timers\ntasks:\n  - {{id: soon, wait: 1ms}}\n  - {{id: first, run: '{MARK}', depends_on: [soon], idempotency: safe}}\n  - id: flaky\n    depends_on: [first]\n    run: '{MARK}; test \"$GANTRY_ATTEMPT\" -gt 1'\n    idempotency: safe\n    retry: {{max: 20, backoff: 1ms}}\n  - {{id: later, wait: 2ms, depends_on: [flaky]}}\n  - {{id: last, run: '{MARK}', depends_on: [later], idempotency: safe}}\n"
    );
    let mut kills = 0;
    for point in POINTS {
        for nth in [1, 2, 3, 5] {
            let scene = Scene::with_plan(&plan);
            let run = ["run", "plan.yaml", "--key", "once"];
            let (killed, said) = survive(&scene, "timers", point, nth, &run, &run);
            kills += killed;
            assert_eq!(said.code, Some(0), "{point}:{nth}: {said:?}");
            let audit = scene.audit("timers");
            for wait in ["soon", "later"] {
                let begun = |event: &Event| matches!(event, Event::WaitBegun { task, .. } if task.as_str() == wait);
                assert_eq!(audit.count(begun), 1, "{point}:{nth}: `{wait}` began once");
            }
            assert_eq!(audit.completed(), ["soon", "first", "flaky", "later", "last"], "{point}:{nth}");
        }
    }
    assert!(kills >= 25, "only {kills} kills");
    eprintln!("kills: {kills}");
}

#[test]
fn a_revision_by_hand_is_there_whole_or_not_at_all_when_it_is_killed() {
    for (point, recorded) in [("before_append", false), ("after_append", true)] {
        let scene = Scene::with_plan(&gated());
        scene.expect(4, &["run", "plan.yaml"]);
        let more = format!("{}  - {{id: tell, run: '{MARK}', depends_on: [ship]}}\n", gated());
        scene.write("more.yaml", &more);
        let revise = ["revise", "gated", "more.yaml", "--rationale", "tell everyone", "--base", "1", "--yes"];
        assert_eq!(scene.killed_at(point, 1, &revise).code, None, "{point}");
        let revised = |event: &Event| matches!(event, Event::PlanRevised { .. });
        assert_eq!(scene.audit("gated").count(revised), usize::from(recorded), "{point}");
        scene.expect(if recorded { 5 } else { 0 }, &revise);
        scene.expect(0, &["gate", "approve", "gated", "ok"]);
        scene.expect(0, &["resume", "gated"]);
        let audit = scene.audit("gated");
        assert_eq!((audit.state, audit.count(revised)), (PlanState::Completed, 1), "{point}");
        assert_eq!(scene.tasks(), ["build", "ship", "tell"], "{point}: what was done stayed done");
    }
}

#[test]
fn a_plan_that_goes_back_makes_each_new_round_once_wherever_it_is_killed() {
    let plan = format!(
        "id: rounds\ntasks:\n  - {{id: make, run: '{MARK}', idempotency: safe}}\n  - id: check\n    depends_on: [make]\n    run: '{MARK}; test -e good || {{ test -e bad && touch good; touch bad; exit 1; }}'\n    idempotency: safe\n    retry: {{max: 0}}\n    next: [{{on: failure, to: make, max: 6}}]\n  - {{id: ship, run: '{MARK}', depends_on: [check], idempotency: safe}}\n"
    );
    let mut kills = 0;
    for point in POINTS {
        for nth in [1, 2, 4] {
            let scene = Scene::with_plan(&plan);
            let run = ["run", "plan.yaml", "--key", "once"];
            let (killed, said) = survive(&scene, "rounds", point, nth, &run, &run);
            kills += killed;
            assert_eq!(said.code, Some(0), "{point}:{nth}: {said:?}");
            let audit = scene.audit("rounds");
            assert_eq!(audit.state, PlanState::Completed, "{point}:{nth}");
            let rounds = audit.count(|event| matches!(event, Event::PlanRevised { .. }));
            assert!((1..=2).contains(&rounds), "{point}:{nth}: {rounds} rounds");
            let numbers: Vec<u32> = audit
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::PlanRevised { revision, .. } => Some(revision.0),
                    _ => None,
                })
                .collect();
            assert_eq!(numbers, (2..2 + u32::try_from(rounds).unwrap()).collect::<Vec<_>>(), "{point}:{nth}");
            assert_eq!(audit.completed().iter().filter(|task| *task == "ship").count(), 1, "{point}:{nth}");
        }
    }
    assert!(kills >= 20, "only {kills} kills");
    eprintln!("kills: {kills}");
}

#[test]
fn checkpoints_can_be_gone_back_to_wherever_their_making_is_killed() {
    let plan = format!(
        "id: kept\ntasks:\n  - {{id: before, checkpoint: start}}\n  - {{id: change, run: '{MARK}; echo new > file', depends_on: [before], idempotency: safe}}\n  - {{id: after, checkpoint: end, depends_on: [change]}}\n"
    );
    let mut kills = 0;
    for point in ["before_append", "after_append", "after_effect"] {
        for nth in [1, 3] {
            let scene = Scene::with_plan(&plan);
            scene.write("file", "old\n");
            let run = ["run", "plan.yaml", "--key", "once"];
            let (killed, said) = survive(&scene, "kept", point, nth, &run, &run);
            kills += killed;
            assert_eq!(said.code, Some(0), "{point}:{nth}: {said:?}");
            let audit = scene.audit("kept");
            assert_eq!(audit.completed(), ["before", "change", "after"], "{point}:{nth}");
            for (checkpoint, content) in [("start", "old\n"), ("end", "new\n")] {
                scene.expect(0, &["restore", "kept", "--to", checkpoint]);
                assert_eq!(std::fs::read_to_string(scene.path("file")).unwrap(), content, "{point}:{nth}");
            }
        }
    }
    assert!(kills >= 8, "only {kills} kills");
    eprintln!("kills: {kills}");
}

/// Writes over a file, makes one, moves one and removes one, and waits for someone.
const CHANGES: &str = r"
id: files
tasks:
  - id: edit
    tool: {name: files.write, args: {path: a.txt, content: two}}
    undo: restore
    idempotency: safe
  - id: write
    depends_on: [edit]
    tool: {name: files.write, args: {path: deep/new.txt, content: new}}
    undo: restore
    idempotency: safe
  - id: move
    depends_on: [write]
    tool: {name: files.move, args: {from: b.txt, to: deep/b.txt}}
    undo: restore
    idempotency: safe
  - id: delete
    depends_on: [move]
    tool: {name: files.delete, args: {path: c.txt}}
    undo: restore
    idempotency: safe
  - {id: ok, ask: Really?, depends_on: [delete]}
";

#[test]
fn files_are_whole_or_as_before_and_can_be_taken_back_wherever_it_is_killed() {
    let files = |scene: &Scene| {
        let read = |name: &str| std::fs::read_to_string(scene.path(name)).ok();
        ["a.txt", "b.txt", "c.txt", "deep/new.txt", "deep/b.txt"].map(read)
    };
    let mut kills = 0;
    for point in ["before_append", "after_append", "after_effect", "call_begun"] {
        for nth in 1..=4 {
            let scene = Scene::with_plan(CHANGES);
            for (name, text) in [("a.txt", "one\n"), ("b.txt", "b"), ("c.txt", "c")] {
                scene.write(name, text);
            }
            let before = files(&scene);
            let run = ["run", "plan.yaml", "--key", "once"];
            let (killed, said) = survive(&scene, "files", point, nth, &run, &run);
            kills += killed;
            assert_eq!(said.code, Some(4), "{point}:{nth}: {said:?}");
            let text = |text: &str| Some(text.to_owned());
            let after = [text("two"), None, None, text("new"), text("b")];
            assert_eq!(files(&scene), after, "{point}:{nth}");
            let back = ["cancel", "files", "--undo"];
            let (killed, _) = survive(&scene, "files", point, nth, &back, &["resume", "files"]);
            kills += killed;
            if scene.look("files").unwrap().state != PlanState::Abandoned {
                // It was killed before the wish was on record: it is said again.
                assert!(killed > 0 && point == "before_append" && nth == 1, "{point}:{nth}: the wish was lost");
                scene.expect(0, &back);
            }
            assert_eq!(files(&scene), before, "{point}:{nth}: everything is as it was");
            let audit = scene.audit("files");
            assert_eq!(audit.state, PlanState::Abandoned, "{point}:{nth}");
            assert_eq!(
                audit.undone(),
                ["delete", "move", "write", "edit"],
                "{point}:{nth}: the last thing first, once each"
            );
        }
    }
    assert!(kills >= 16, "only {kills} kills");
}

/// Changes three files by one diff, one of them twice more by search and replace, and waits for someone.
const EDITS: &str = r"
id: edits
tasks:
  - id: diff
    tool:
      name: files.edit
      args:
        diff: |
          --- a/a.txt
          +++ b/a.txt
          @@ -1,2 +1,2 @@
           one
          -two
          +TWO
          --- a/b.txt
          +++ /dev/null
          @@ -1 +0,0 @@
          -gone
          --- /dev/null
          +++ b/deep/c.txt
          @@ -0,0 +1 @@
          +new
    undo: restore
    idempotency: safe
  - id: edit
    depends_on: [diff]
    tool: {name: files.edit, args: {path: a.txt, edits: [{search: one, replace: ONE}, {search: TWO, replace: three}]}}
    undo: restore
    idempotency: safe
  - {id: ok, ask: Really?, depends_on: [edit]}
";

/// The files that it changes.
const EDITED: [&str; 3] = ["a.txt", "b.txt", "deep/c.txt"];

/// Runs a command that is killed when it is about to put a file into its place, or away, for this time.
fn killed_between_files(scene: &Scene, nth: u32, args: &[&str]) -> Said {
    let calls = "rename,renameat,renameat2,unlink,unlinkat";
    let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:signal=KILL:when={nth}"));
    let strace = ["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    said(scene.gantry_under("strace", &strace, args))
}

#[test]
fn a_diff_of_several_files_and_edits_of_one_are_whole_wherever_they_are_killed_and_can_be_taken_back() {
    if !has("strace", &["-e", "inject=rename:signal=KILL:when=1000", "true"]) {
        return;
    }
    let files = |scene: &Scene| EDITED.map(|name| std::fs::read_to_string(scene.path(name)).ok());
    let text = |text: &str| Some(text.to_owned());
    let before = [text("one\ntwo\n"), text("gone\n"), None];
    let after = [text("ONE\nthree\n"), None, text("new\n")];
    let between = [text("one\nTWO\n"), None, text("new\n")];
    let whole = |scene: &Scene, when: &str| {
        for (file, name) in files(scene).into_iter().zip(0..) {
            assert!(
                [&before, &between, &after].iter().any(|all| all[name] == file),
                "{when}: {}: {file:?}",
                EDITED[name]
            );
        }
    };
    let (mut kills, mut halves) = (0, 0);
    for nth in 1.. {
        let scene = Scene::with_plan(EDITS);
        scene.write("a.txt", "one\ntwo\n");
        scene.write("b.txt", "gone\n");
        let run = ["run", "plan.yaml", "--key", "once"];
        let first = killed_between_files(&scene, nth, &run);
        whole(&scene, &format!("killed at {nth}"));
        halves += u32::from(![&before, &between, &after].contains(&&files(&scene)));
        scene.expect(4, &run);
        assert_eq!(files(&scene), after, "killed at {nth} and gone on");
        let back = killed_between_files(&scene, nth, &["cancel", "edits", "--undo"]);
        whole(&scene, &format!("killed at {nth} while it was taken back"));
        if scene.look("edits").unwrap().state != PlanState::Abandoned {
            scene.say(&["resume", "edits"]);
        }
        assert_eq!(files(&scene), before, "killed at {nth} and taken back");
        assert_eq!(scene.audit("edits").state, PlanState::Abandoned, "{nth}");
        kills += u32::from(first.code.is_none()) + u32::from(back.code.is_none());
        if first.code.is_some() && back.code.is_some() {
            break;
        }
    }
    assert!(kills >= 6 && halves >= 1, "only {kills} kills, {halves} of them between two files");
    eprintln!("kills: {kills}, between two files: {halves}");
}

/// A server with a file whose sending stops after a part of it, as often as it is said.
fn slow_server(content: &[u8], part: usize, stops: usize) -> WebServer {
    let (file, count) = (content.to_owned(), AtomicUsize::new(0));
    WebServer::start(move |asked| {
        let reply = Reply::file(asked, &file, "\"v1\"");
        if count.fetch_add(1, Ordering::SeqCst) < stops { reply.silent_after(part) } else { reply }
    })
}

/// How much of an unfinished file has come.
fn unfinished(scene: &Scene) -> u64 {
    let files = std::fs::read_dir(scene.path("")).unwrap().map(Result::unwrap);
    let parts = files.filter(|file| file.file_name().to_string_lossy().ends_with(".part"));
    parts.map(|part| part.metadata().unwrap().len()).sum()
}

#[test]
fn a_download_that_is_killed_in_the_middle_goes_on_where_it_was() {
    const PART: usize = 700_000;
    let content: Vec<u8> = (0..500_000_u32).flat_map(u32::to_le_bytes).collect();
    let server = slow_server(&content, PART, 2);
    let scene = Scene::with_plan(&format!(
        "id: load\npolicy: {{network: {{allow: [127.0.0.1]}}}}\ntasks:\n  - id: get\n    tool: {{name: http.download, args: {{url: \"{}\", path: data/file}}}}\n",
        server.url("/file")
    ));
    for (kill, args) in [["run", "plan.yaml"], ["resume", "load"]].iter().enumerate() {
        let busy = scene.start(args);
        eventually("a part of it has come", || unfinished(&scene) == ((kill + 1) * PART) as u64);
        busy.signal(Signal::KILL);
        busy.end();
        assert!(!scene.path("data").exists(), "nothing is there before all of it is");
    }
    scene.expect(0, &["resume", "load"]);
    assert_eq!(std::fs::read(scene.path("data/file")).unwrap(), content);
    let ranges: Vec<_> = server.heard().iter().map(|heard| heard.headers.get("range").cloned()).collect();
    assert_eq!(
        ranges,
        [None, Some(format!("bytes={PART}-")), Some(format!("bytes={}-", 2 * PART))],
        "nothing came twice"
    );
    assert_eq!((scene.audit("load").state, unfinished(&scene)), (PlanState::Completed, 0));
}

#[test]
fn a_database_and_a_commit_are_whole_and_happen_once_wherever_the_process_is_killed() {
    let plan = "id: keep
tasks:
  - id: count
    idempotency: safe
    undo: restore
    tool: {name: sql.execute, args: {path: n.db, create: true, sql: 'CREATE TABLE IF NOT EXISTS n (i PRIMARY KEY); INSERT OR IGNORE INTO n VALUES (1), (2)'}}
  - id: commit
    idempotency: safe
    undo: restore
    depends_on: [count]
    tool: {name: git.commit, args: {message: kept}}
";
    let mut kills = 0;
    for point in ["before_append", "after_append", "call_begun", "after_effect"] {
        for nth in 1..=4 {
            let scene = Scene::with_plan(plan);
            let git = |args: &[&str]| {
                let output = std::process::Command::new("git").args(args).current_dir(scene.path("")).output().unwrap();
                String::from_utf8(output.stdout).unwrap()
            };
            git(&["init", "--quiet"]);
            let run = ["run", "plan.yaml", "--key", "once"];
            let killed = scene.killed_at(point, nth, &run);
            kills += u32::from(killed.code.is_none());
            scene.expect(0, &run);
            assert_eq!(git(&["log", "--format=%s"]), "kept\n", "{point}:{nth}");
            assert!(git(&["ls-files"]).contains("n.db"), "{point}:{nth}");
            assert_eq!(scene.audit("keep").state, PlanState::Completed, "{point}:{nth}");
            scene.expect(0, &["undo", "keep"]);
            assert!(!scene.path("n.db").exists() && git(&["for-each-ref"]).is_empty(), "{point}:{nth}");
        }
    }
    assert!(kills >= 10, "only {kills} kills");
}
