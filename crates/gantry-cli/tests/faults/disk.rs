//! Disks that are full, fail, go away or may not be written, and copies of the record.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gantry_core::life::PlanState;
use rustix::process::Signal;

use crate::kit::{HOLD, MARK, Scene, has, said};

/// A small disk of its own.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// None when this process may not mount one.
    fn mount(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        has("mount", &["-t", "tmpfs", "-o", options, "tmpfs", folder.path().to_str().unwrap()]).then_some(Self(folder))
    }

    fn remount(&self, options: &str) {
        assert!(has("mount", &["-o", &format!("remount,{options}"), self.0.path().to_str().unwrap()]));
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all the room that is left.
    fn fill(&self) -> PathBuf {
        let filler = self.path().join("filler");
        let mut file = File::create(&filler).unwrap();
        for size in [4_096, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

/// Work that must not be done twice; the task in the middle says a lot, and more when it is told to go.
fn talkative() -> String {
    format!(
        "id: full\ntasks:\n  - {{id: a, run: '{MARK}'}}\n  - {{id: hold, run: '{MARK}; {HOLD}; head -c 700000 /dev/urandom | base64 -w 0', depends_on: [a]}}\n  - {{id: c, run: '{MARK}', depends_on: [hold]}}\n"
    )
}

#[test]
fn a_disk_that_fills_up_under_a_run_is_waited_for_and_nothing_is_lost_or_done_twice() {
    let Some(disk) = SmallDisk::mount("size=2m") else { return };
    let scene = Scene::with_plan(&talkative()).with_record_in(disk.path());
    let mut busy = scene.start(&["run", "plan.yaml"]);
    busy.until("hold | ready");
    let filler = disk.fill();
    scene.write("go", "");
    busy.until("there is no room left");
    assert_eq!(scene.tasks(), ["a", "hold"], "nothing goes on before what was done is on record");
    assert!(busy.is_running(), "it waits for room");
    std::fs::remove_file(filler).unwrap();
    let (status, heard) = busy.end();
    assert_eq!(status.code(), Some(0), "{heard}");
    assert_eq!(scene.audit("full").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["a", "hold", "c"]);
}

#[test]
fn a_server_without_room_says_that_it_is_not_ready_until_there_is_room_again() {
    let Some(disk) = SmallDisk::mount("size=4m") else { return };
    let scene = Scene::new().with_record_in(disk.path());
    let mut busy = scene.start(&["serve", "--addr", "127.0.0.1:0"]);
    busy.until("Gantry is at http://");
    let addr = busy.heard.split("http://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let ready = || {
        let mut line = TcpStream::connect(&addr).unwrap();
        write!(line, "GET /readyz HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        line.read_to_string(&mut answer).unwrap();
        answer
    };
    let filler = disk.fill();
    let answer = ready();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("no room left"), "{answer}");
    std::fs::remove_file(filler).unwrap();
    let answer = ready();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn a_run_that_waits_for_room_ends_when_it_is_told_to_and_goes_on_when_there_is_room() {
    let Some(disk) = SmallDisk::mount("size=2m") else { return };
    let scene = Scene::with_plan(&talkative()).with_record_in(disk.path());
    let mut busy = scene.start(&["run", "plan.yaml"]);
    busy.until("hold | ready");
    let filler = disk.fill();
    scene.write("go", "");
    busy.until("there is no room left");
    busy.signal(Signal::TERM);
    busy.until("pausing");
    busy.signal(Signal::TERM);
    busy.until("stopping at once");
    let (status, heard) = busy.end();
    assert!(matches!(status.code(), Some(1 | 4)), "{status}: {heard}");

    let refused = scene.say(&["run", "plan.yaml"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.err.contains("there is no room left") && refused.err.contains("hint: free some room"),
        "{refused:?}"
    );
    assert!(scene.say(&["status", "full"]).out.contains("hold"), "what is there can be read");
    scene.audit("full");
    assert_eq!(scene.tasks(), ["a", "hold"]);

    std::fs::remove_file(filler).unwrap();
    scene.settle("full", &["resume", "full"]);
    assert_eq!(scene.audit("full").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["a", "hold", "c"]);
}

#[test]
fn a_run_whose_file_may_not_grow_any_more_says_so_ends_when_told_and_goes_on_without_the_limit() {
    let scene = Scene::with_plan(&talkative());
    scene.write("go", "");
    // A write past the limit fails instead of killing the process, as on a disk with a quota.
    let limited = ["-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\""];
    let mut busy = crate::kit::Busy::from(scene.gantry_under("sh", &limited, &["run", "plan.yaml"]));
    busy.until("warning:");
    busy.signal(Signal::TERM);
    busy.until("pausing");
    busy.signal(Signal::TERM);
    let (status, heard) = busy.end();
    assert!(matches!(status.code(), Some(1 | 4)), "{status}: {heard}");
    scene.settle("full", &["resume", "full"]);
    assert_eq!(scene.audit("full").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["a", "hold", "c"]);
}

#[test]
fn a_run_goes_on_when_nothing_of_what_it_says_can_be_written() {
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let plan = |id: &str| {
        let task =
            |id: &str, needs: &str| format!("  - {{id: {id}, run: '{MARK}; echo marked', depends_on: [{needs}]}}\n");
        format!("id: {id}\ntasks:\n{}{}", task("a", ""), task("b", "a"))
    };
    let scene = Scene::new();
    let cases: [(&str, Stdio, Stdio, &[&str], i32); 6] = [
        ("talk-full", Stdio::null(), full(), &[], 0),
        ("talk-closed", Stdio::null(), closed(), &[], 0),
        ("data-full", full(), Stdio::null(), &[], 1),
        ("data-closed", closed(), Stdio::null(), &[], 0),
        ("json-full", full(), full(), &["--json"], 1),
        ("json-closed", closed(), closed(), &["--json"], 0),
    ];
    for (id, out, err, more, code) in cases {
        scene.write("plan.yaml", &plan(id));
        let mut command = scene.gantry(&["run", "plan.yaml"]);
        let status = command.args(more).stdout(out).stderr(err).status().unwrap();
        assert_eq!(status.code(), Some(code), "{id}");
        assert_eq!(scene.audit(id).state, PlanState::Completed, "{id}");
    }
    assert_eq!(scene.tasks(), ["a", "b"].repeat(6), "each once");
}

#[test]
fn a_sync_that_fails_under_a_run_is_tried_again_and_nothing_is_done_twice() {
    if !has("strace", &["-e", "inject=fdatasync:error=EIO:when=1000", "true"]) {
        return;
    }
    let mut tried_again = 0;
    for (error, call) in [("EIO", 3), ("EIO", 4), ("EIO", 5), ("ENOSPC", 4), ("ENOSPC", 6)] {
        let task = |id: &str, needs: &str| format!("  - {{id: {id}, run: '{MARK}', depends_on: [{needs}]}}\n");
        let plan = format!("id: sync\ntasks:\n{}{}{}", task("a", ""), task("b", "a"), task("c", "b"));
        let scene = Scene::with_plan(&plan);
        scene.expect(0, &["list"]); // makes the record, so that only the run is in trouble
        let inject = format!("inject=fdatasync,fsync:error={error}:when={call}");
        let strace = ["--seccomp-bpf", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", &inject];
        let run = ["run", "plan.yaml", "--key", "once"];
        let first = said(scene.gantry_under("strace", &strace, &run));
        if first.code == Some(1) {
            assert!(first.err.contains("hint: ") && scene.tasks().is_empty(), "refused before it began: {first:?}");
        } else {
            assert_eq!(first.code, Some(0), "{error} at sync {call}: {first:?}");
            tried_again += u32::from(first.err.contains("trying again"));
        }
        scene.expect(0, &run);
        assert_eq!(scene.audit("sync").state, PlanState::Completed, "{error} at sync {call}");
        assert_eq!(scene.tasks(), ["a", "b", "c"], "{error} at sync {call}");
    }
    assert!(tried_again >= 2, "only {tried_again} syncs of a run failed");
    eprintln!("tried again: {tried_again}");
}

#[test]
fn a_record_that_may_not_be_written_refuses_new_work_and_can_be_read() {
    let Some(disk) = SmallDisk::mount("size=4m") else { return };
    let scene = Scene::with_plan(&format!("id: done\ntasks: [{{id: a, run: '{MARK}'}}]\n")).with_record_in(disk.path());
    scene.expect(0, &["run", "plan.yaml"]);
    disk.remount("ro");
    let refused = scene.expect(1, &["run", "plan.yaml"]);
    assert!(refused.err.contains("read-only") || refused.err.contains("Read-only"), "{refused:?}");
    assert_eq!(scene.tasks(), ["a"], "nothing was started");
    for read in [["status", "done"], ["log", "done"], ["audit", "done"], ["replay", "done"]] {
        let said = scene.expect(0, &read);
        assert!(said.out.contains("done"), "{said:?}");
    }
    disk.remount("rw");
    scene.expect(0, &["run", "plan.yaml"]);
    scene.audit("done");
}

#[test]
fn a_record_that_is_taken_away_under_a_run_stops_it_instead_of_being_written_into_the_void() {
    let scene = Scene::with_plan(&talkative());
    let folder = tempfile::tempdir().unwrap();
    let scene = scene.with_record_in(folder.path());
    let mut busy = scene.start(&["run", "plan.yaml"]);
    busy.until("hold | ready");
    let aside = tempfile::tempdir().unwrap();
    for name in ["gantry.db", "gantry.db-wal", "gantry.db-shm", "gantry.db-lock"] {
        std::fs::rename(folder.path().join(name), aside.path().join(name)).unwrap();
    }
    scene.write("go", "");
    let (status, heard) = busy.end();
    assert_eq!(status.code(), Some(1), "{heard}");
    assert!(heard.contains("was removed or replaced") && heard.contains("hint: put the file back"), "{heard}");
    assert_eq!(scene.tasks(), ["a", "hold"], "nothing goes on without a record");

    let scene = scene.with_record_in(aside.path());
    scene.settle("full", &["resume", "full"]);
    assert_eq!(scene.audit("full").state, PlanState::Completed);
    assert_eq!(scene.tasks(), ["a", "hold", "c"]);
}

#[test]
fn a_copy_that_is_taken_while_a_plan_runs_is_one_moment_of_it_and_can_be_gone_on_with() {
    let scene = Scene::with_plan(&talkative());
    let mut busy = scene.start(&["run", "plan.yaml"]);
    busy.until("hold | ready");
    let copies = tempfile::tempdir().unwrap();
    let copy = copies.path().join("gantry.db");
    scene.expect(0, &["db", "backup", copy.to_str().unwrap()]);
    let at_that_moment = std::fs::read(scene.path("ledger")).unwrap();
    scene.write("go", "");
    assert_eq!(busy.end().0.code(), Some(0));
    assert_eq!(scene.audit("full").state, PlanState::Completed);

    // The other life goes on beside another ledger, because of this one it cannot know everything.
    std::fs::rename(scene.path("ledger"), scene.path("first-ledger")).unwrap();
    std::fs::write(scene.path("ledger"), &at_that_moment).unwrap();
    let restored = scene.with_record_in(copies.path());
    assert_eq!(restored.audit("full").completed(), ["a"], "what was finished at that moment is finished");
    assert_eq!(restored.settle("full", &["resume", "full"]), 1, "`hold` is in doubt, and a person is asked");
    assert_eq!(restored.audit("full").state, PlanState::Completed);
    assert_eq!(restored.tasks(), ["a", "hold", "c"]);
}

#[test]
fn a_vacuum_that_is_killed_at_any_write_leaves_every_plan_as_it_was() {
    if !has("strace", &["-e", "inject=pwrite64:signal=KILL:when=1000", "true"]) {
        return;
    }
    let scene = Scene::with_plan(&format!("id: kept\ntasks: [{{id: a, run: '{MARK}; seq 20000'}}]\n"));
    scene.expect(0, &["run", "plan.yaml"]);
    scene.write("plan.yaml", "id: gone\ntasks: [{id: a, run: seq 30000}]\n");
    scene.expect(0, &["run", "plan.yaml"]);
    scene.expect(0, &["forget", "gone"]);
    let before = scene.expect(0, &["audit", "kept", "--json"]).out;
    let mut kills = 0;
    for write in 1.. {
        let inject = format!("inject=pwrite64,ftruncate:signal=KILL:when={write}");
        let strace = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64,ftruncate", "-e", &inject];
        let vacuum = said(scene.gantry_under("strace", &strace, &["db", "vacuum"]));
        assert_eq!(scene.expect(0, &["audit", "kept", "--json"]).out, before, "killed at write {write}");
        scene.expect(0, &["db", "check"]);
        if vacuum.code == Some(0) {
            break;
        }
        kills += 1;
    }
    assert!(kills >= 2, "only {kills} kills");
    eprintln!("kills: {kills}");
    scene.audit("kept");
}

#[test]
fn a_record_in_a_folder_that_is_gone_is_refused_by_name() {
    let scene = Scene::with_plan(&format!("id: lost\ntasks: [{{id: a, run: '{MARK}'}}]\n"));
    let nowhere = scene.path("nowhere");
    let scene = scene.with_record_in(&nowhere);
    let refused = scene.say(&["run", "plan.yaml"]);
    assert!(matches!(refused.code, Some(1 | 2)), "{refused:?}");
    assert!(refused.err.contains("nowhere"), "{refused:?}");
    assert_eq!(scene.tasks(), Vec::<String>::new());
    assert!(!nowhere.exists(), "nothing was made");
}
