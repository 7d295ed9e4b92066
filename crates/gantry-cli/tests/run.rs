//! Carrying plans out by hand: what is said, what is left behind, and how it can be stopped.

#![allow(clippy::unwrap_used)] // a test may

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A workspace and a record of their own.
struct Bench {
    folder: tempfile::TempDir,
}

/// A `gantry` that is still at work.
struct Busy {
    child: Child,
    talk: Box<dyn BufRead>,
    heard: String,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("t.db")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
        command
            .args(args)
            .env("GANTRY_DB", self.db())
            .env("GANTRY_USER", "ana")
            .env("COLUMNS", "100")
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    /// Writes a plan file beside the workspace.
    fn plan(&self, text: &str) -> String {
        let path = self.folder.path().join("plan.yaml");
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Everything that a command says, with times masked.
    fn gantry(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let talk = if err.is_empty() { String::new() } else { format!("--- talk\n{err}") };
        self.masked(&format!("{out}{talk}[exit {}]", output.status.code().unwrap()))
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.command(args).output().unwrap().stdout).unwrap()
    }

    fn start(&self, args: &[&str]) -> Busy {
        let mut child = self.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let talk = Box::new(BufReader::new(child.stderr.take().unwrap()));
        Busy { child, talk, heard: String::new() }
    }

    /// Starts a command whose data is read rather than its talk.
    fn start_reading(&self, args: &[&str]) -> Busy {
        let mut child = self.command(args).stdout(Stdio::piped()).spawn().unwrap();
        let talk = Box::new(BufReader::new(child.stdout.take().unwrap()));
        Busy { child, talk, heard: String::new() }
    }

    /// Folders, points in time and lengths of time, replaced by what stays the same.
    fn masked(&self, text: &str) -> String {
        let text = text.replace(&*self.folder.path().to_string_lossy(), "DIR");
        text.lines().map(masked_line).collect::<Vec<_>>().join("\n")
    }
}

impl Busy {
    /// Reads on until a line says this.
    fn until(&mut self, words: &str) {
        loop {
            let mut line = String::new();
            assert_ne!(self.talk.read_line(&mut line).unwrap(), 0, "`{words}` was never said:\n{}", self.heard);
            self.heard += &line;
            if line.contains(words) {
                return;
            }
        }
    }

    /// The same, when it may have been said before.
    fn until_said(&mut self, words: &str) {
        if !self.heard.contains(words) {
            self.until(words);
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn end(mut self) -> (ExitStatus, String) {
        self.talk.read_to_string(&mut self.heard).unwrap();
        (self.child.wait().unwrap(), self.heard)
    }
}

/// A line with every time replaced.
fn masked_line(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut masked = line[..indent].to_owned();
    let mut rest = &line[indent..];
    while !rest.is_empty() {
        let spaces = rest.len() - rest.trim_start().len();
        let (gap, after) = rest.split_at(spaces);
        let (word, after) = after.split_at(after.find(char::is_whitespace).unwrap_or(after.len()));
        let core = word.trim_end_matches([',', ';', ')', '.']);
        let is_length = core.chars().next().is_some_and(|c| c.is_ascii_digit())
            && (core.ends_with("ms") || core.ends_with('s'))
            && core.trim_end_matches(['m', 's']).chars().all(|c| c.is_ascii_digit() || c == '.');
        let is_point = core.starts_with("20")
            && core.matches('-').count() == 2
            && core.chars().all(|c| c.is_ascii_digit() || "-:TZ.".contains(c));
        // A column is as wide as its longest time, so gaps between columns say nothing.
        masked += if gap.len() > 1 { "  " } else { gap };
        if is_length || is_point {
            masked += if is_length { "0ms" } else { "TIME" };
            masked += &word[core.len()..];
        } else {
            masked += word;
        }
        rest = after;
    }
    masked.replace("0ms ago", "just now")
}

const TWO: &str = "id: two\ntitle: Two steps\ntasks:\n  - id: build\n    run: echo compiling; echo done > built\n  - id: test\n    run: cat built\n    depends_on: [build]\n";

const FAILING: &str = "id: failing\ntitle: It breaks\ntasks:\n  - id: build\n    run: echo no good >&2; exit 7\n  - id: ship\n    run: touch shipped\n    depends_on: [build]\n";

const WAITING: &str = "id: release\ntitle: Release\npolicy: {budget: {cost_usd: 5}}\ntasks:\n  - id: build\n    run: 'true'\n  - id: sign-off\n    gate: {approvals: 1, role: lead}\n    depends_on: [build]\n  - id: colour\n    ask: {question: Which colour?, options: [red, blue]}\n  - id: call\n    manual: Call the customer.\n  - id: ship\n    run: touch shipped\n    depends_on: [sign-off]\n";

#[test]
fn a_plan_is_carried_out_and_every_step_is_said() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.gantry(&["run", &bench.plan(TWO)]));
    assert_eq!(std::fs::read_to_string(bench.work().join("built")).unwrap(), "done\n");
    insta::assert_snapshot!(bench.gantry(&["status"]));
    insta::assert_snapshot!(bench.gantry(&["log"]));
}

#[test]
fn a_plan_that_fails_says_why_and_what_to_do() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.gantry(&["run", &bench.plan(FAILING)]));
    assert!(!bench.work().join("shipped").exists());
    insta::assert_snapshot!(bench.gantry(&["status", "failing"]));
    insta::assert_snapshot!(bench.gantry(&["log", "failing", "--digest"]));
}

#[test]
fn a_plan_that_waits_says_for_whom_and_how_to_answer() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.gantry(&["run", &bench.plan(WAITING), "--parallel", "1"]));
    insta::assert_snapshot!(bench.gantry(&["status", "release"]));
    insta::assert_snapshot!(bench.gantry(&["list"]));
    insta::assert_snapshot!(bench.gantry(&["log", "1", "--task", "sign-off"]));
}

#[test]
fn programs_get_the_keys_that_they_were_promised() {
    let bench = Bench::new();
    let output = bench.command(&["run", &bench.plan(WAITING), "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let lines: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, before) = lines.split_last().unwrap();
    let events: Vec<&Value> = before.iter().filter(|line| line.get("event").is_some()).collect();
    assert!(events.iter().all(|line| line["plan"] == "release" && line["seq"].is_u64() && line["at"].is_string()));
    assert!(events.iter().any(|line| line["event"] == "gate_opened"));
    assert_eq!((&last["ended"]["how"], &last["ended"]["exit_code"]), (&"waiting".into(), &4.into()));

    let status = bench.json(&["status", "release", "--json"]);
    for key in ["id", "no", "title", "state", "driven", "revision", "tasks", "task_list", "waiting_for", "cost_usd"] {
        assert!(status.get(key).is_some(), "{key}");
    }
    assert_eq!(status["state"], "blocked");
    assert_eq!(status["driven"], false);
    assert_eq!(status["tasks"]["waiting"], 3);
    assert_eq!(status["task_list"][0]["id"], "build");
    assert_eq!(status["budget"]["cost_usd"], 5);
    assert_eq!((&status["forecast"], &status["causes"]), (&Value::Null, &Value::Array(Vec::new())));
    let commands: Vec<&str> = status["next"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(
        commands,
        [
            "gantry gate approve release sign-off --role lead",
            "gantry ask answer release colour red",
            "gantry ask answer release colour blue",
            "gantry task done release call",
            "gantry resume release"
        ]
    );
    let list = bench.json(&["list", "--json", "--state", "blocked"]);
    for key in ["id", "tasks", "budget", "causes"] {
        assert_eq!(list[0][key], status[key], "{key}");
    }
    assert_eq!(bench.json(&["list", "--json", "--state", "failed"]), Value::Array(Vec::new()));
    let log = bench.command(&["log", "release", "--json", "--limit", "1"]).output().unwrap();
    let created: Value = serde_json::from_slice(&log.stdout).unwrap();
    assert_eq!((&created["plan"], &created["definition"]["title"]), (&"release".into(), &"Release".into()));
    let digest = bench.json(&["log", "--digest", "--json"]);
    assert_eq!(digest["days"][0]["finished"], serde_json::json!(["build"]));
    bench.gantry(&["run", &bench.plan("id: broken\ntitle: Broken\ntasks: [{id: a, run: exit 7}]\n")]);
    let failed = bench.json(&["list", "--json", "--state", "failed"]);
    assert_eq!(failed[0]["causes"], serde_json::json!(["task `a` failed: exit code 7"]));
}

#[test]
fn a_dry_run_shows_everything_and_touches_nothing() {
    let bench = Bench::new();
    std::fs::write(bench.work().join("notes.txt"), "one\n").unwrap();
    let plan = bench.plan(
        "id: dry\ntitle: Dry\npolicy: {files: {write: [\"notes.txt\", \"new.txt\"]}}\ntasks:\n  - id: ship\n    run: cat \"$GANTRY_INPUT_TEXT\"\n    inputs: {text: tasks.make.stdout}\n    depends_on: [sign-off]\n  - id: make\n    run: touch made\n  - id: write\n    tool: {name: files.write, args: {path: notes.txt, content: \"two\\n\"}}\n  - id: sign-off\n    gate: {approvals: 2}\n    depends_on: [make, write]\n",
    );
    insta::assert_snapshot!(bench.gantry(&["run", &plan, "--dry-run"]));
    assert!(!bench.db().exists(), "nothing is recorded");
    assert!(!bench.work().join("made").exists());
    assert_eq!(std::fs::read_to_string(bench.work().join("notes.txt")).unwrap(), "one\n");
    let shown = bench.json(&["run", &plan, "--dry-run", "--json"]);
    assert_eq!((&shown["ok"], &shown["tasks"][3]["task"]), (&true.into(), &"ship".into()));
}

#[test]
fn a_dry_run_says_what_is_not_allowed() {
    let bench = Bench::new();
    let plan = bench.plan(
        "title: Too much\npolicy: {files: {write: [\"src/**\"]}}\ntasks:\n  - id: write\n    tool: {name: files.write, args: {path: notes.txt, content: two}}\n",
    );
    insta::assert_snapshot!(bench.gantry(&["run", &plan, "--dry-run"]));
}

#[test]
fn a_dry_run_says_what_nobody_here_can_do() {
    let bench = Bench::new();
    let plan = bench.plan("title: Search\ntasks:\n  - {id: find, command: search(\"gantry\") -> links}\n");
    insta::assert_snapshot!(bench.gantry(&["run", &plan, "--dry-run"]), @r#"
    Search: what would be done; nothing is touched

    1. find command
       would ask for help: there is no capability `search`; there are agent, checkpoint, decide, files.delete, files.edit, files.move, files.read, files.write, git.branch, git.commit, git.diff, git.status, git.switch, git.tag, http.download, http.get, http.request, model, noop, plan.decompose, plan.forecast, plan.read, plan.report, plan.weave, run, shell, sql.execute, sql.query
    --- talk
    warning[plan::no-capability]: there is no capability `search` here: task `find` will ask for help
     --> DIR/plan.yaml:3:25
      |
    3 |  - {id: find, command: search("gantry") -> links}
      |  ^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: there are agent, checkpoint, decide, files.delete, files.edit, files.move, files.read, files.write, git.branch, git.commit, git.diff, git.status, git.switch, git.tag, http.download, http.get, http.request, model, noop, plan.decompose, plan.forecast, plan.read, plan.report, plan.weave, run, shell, sql.execute, sql.query

    [exit 0]
    "#);
}

#[test]
fn a_secret_is_given_to_processes_and_seen_nowhere() {
    let bench = Bench::new();
    let plan = bench.plan(
        "id: secret\ntitle: Secret\ntasks:\n  - id: leak\n    run: echo \"it is $TOKEN\"; printf %s \"$TOKEN\" | base64; printf %s \"$TOKEN\" | wc -c > length\n",
    );
    let token = "s3cr3t-v4lue-of-the-token";
    let output = bench.command(&["run", &plan, "--secret", "TOKEN"]).env("TOKEN", token).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(bench.work().join("length")).unwrap().trim(), "25");
    let log = bench.command(&["log", "--json"]).output().unwrap();
    let record = std::fs::read(bench.db()).unwrap();
    for (place, bytes) in
        [("stdout", &output.stdout), ("stderr", &output.stderr), ("log", &log.stdout), ("record", &record)]
    {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(token) && !text.contains("czNjcjN0LXY0bHVl"), "{place}: {text}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("leak | it is"));
    insta::assert_snapshot!(bench.gantry(&["run", &plan, "--secret", "NOT_SET_ANYWHERE"]));
}

#[test]
fn a_plan_goes_on_only_with_the_secrets_that_it_was_given() {
    let bench = Bench::new();
    let plan = bench.plan("id: secret\ntitle: Secret\ntasks:\n  - id: ask\n    ask: Really?\n");
    let output = bench.command(&["run", &plan, "--secret", "TOKEN"]).env("TOKEN", "abcdefgh").output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(bench.gantry(&["resume", "secret"]), @r"
    --- talk
    error: the plan was begun with the secret `TOKEN`, which is not here

    hint: set the variable TOKEN, or name a file that has it with `--secrets-file FILE`
    [exit 2]
    ");
    let output = bench.command(&["resume", "secret"]).env("TOKEN", "abcdefgh").output().unwrap();
    assert_eq!(output.status.code(), Some(4), "it waits for the answer");
}

#[test]
fn what_processes_were_given_is_given_again_when_the_plan_goes_on() {
    let bench = Bench::new();
    let beside = bench.folder.path().join("beside");
    std::fs::create_dir(&beside).unwrap();
    let plan = bench.plan(
        "id: given\ntitle: Given\ntasks:\n  - id: begin\n    run: echo begun\n    undo: {run: \"echo $STAGE > ../beside/undone\"}\n  - {id: ask, ask: Really?, depends_on: [begin]}\n  - {id: then, run: \"echo $STAGE $HERE > ../beside/then\", depends_on: [ask]}\n  - {id: more, ask: More?, depends_on: [then]}\n",
    );
    let beside = beside.to_str().unwrap();
    let run = ["run", &plan, "--env", "STAGE=test", "--env", "HERE", "--allow-write", beside];
    let output = bench.command(&run).env("HERE", "here").output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(bench.gantry(&["ask", "answer", "given", "ask", "yes"]).ends_with("[exit 0]"));
    insta::assert_snapshot!(bench.gantry(&["resume", "given"]), @"
    --- talk
    error: the plan was begun with the variable `HERE`, which is not set here

    hint: set it, or give it a value: `--env HERE=VALUE`
    [exit 2]
    ");
    let output = bench.command(&["resume", "given"]).env("HERE", "there").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    let note = "as `given` was begun: --env STAGE=test --env HERE --allow-write";
    assert!(told.contains(note), "{told}");
    let read = |name: &str| std::fs::read_to_string(Path::new(beside).join(name)).unwrap();
    assert_eq!(read("then"), "test there\n");
    assert!(bench.gantry(&["cancel", "given", "--undo"]).ends_with("[exit 0]"));
    assert_eq!(read("undone"), "test\n", "taking back is given the same");
}

#[test]
fn a_secret_is_not_recorded_as_a_variable() {
    let bench = Bench::new();
    let plan = bench.plan("id: secret\ntitle: Secret\ntasks: [{id: a, run: \"true\"}]\n");
    let run = ["run", &plan, "--secret", "TOKEN", "--env", "OTHER=Bearer abcdefgh"];
    let output = bench.command(&run).env("TOKEN", "abcdefgh").output().unwrap();
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"
    error: the value of `--env OTHER` holds a secret, and would be recorded

    hint: set the variable OTHER and give it with `--secret OTHER` instead
    ");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_same_key_carries_a_request_out_once() {
    let bench = Bench::new();
    let plan = bench.plan("title: Once\ntasks:\n  - id: count\n    run: echo once >> counted\n");
    for _ in 0..2 {
        assert!(bench.gantry(&["run", &plan, "--key", "nightly"]).ends_with("[exit 0]"));
    }
    assert_eq!(std::fs::read_to_string(bench.work().join("counted")).unwrap(), "once\n");
    assert_eq!(bench.json(&["list", "--json"]).as_array().unwrap().len(), 1);
    let other = bench.plan("title: Another\ntasks:\n  - id: count\n    run: echo twice >> counted\n");
    insta::assert_snapshot!(bench.gantry(&["run", &other, "--key", "nightly"]));
}

#[test]
fn a_failure_that_is_tried_again_is_one_line() {
    let bench = Bench::new();
    let plan = bench.plan(
        "id: flaky\ntitle: Flaky\npolicy: {recovery: {logic: [retry, fallback]}}\ntasks:\n  - id: flaky\n    run: test -e tried || { touch tried; exit 1; }\n    retry: {max: 1, backoff: 0s}\n  - id: part\n    run: exit 2\n    retry: {max: 0}\n    fallback: {text: none}\n    depends_on: [flaky]\n",
    );
    insta::assert_snapshot!(bench.gantry(&["run", &plan]));
}

#[test]
fn interrupted_once_it_lets_what_runs_finish_and_can_be_resumed() {
    let bench = Bench::new();
    let plan = bench.plan(
        "id: slow\ntitle: Slow\ntasks:\n  - id: slow\n    run: echo begun >> begun; mkfifo pipe; echo ready; cat pipe\n  - id: after\n    run: touch after\n    depends_on: [slow]\n",
    );
    let mut busy = bench.start(&["run", &plan]);
    busy.until("slow | ready");
    insta::assert_snapshot!(bench.gantry(&["resume", "slow"]), @r"
    --- talk
    error: plan `slow` is being worked on by another process

    hint: see what it does with `gantry watch slow`
    [exit 5]
    ");
    assert_eq!(bench.json(&["status", "--json"])["driven"], true);
    let other = bench.plan("id: other\ntitle: Other\ntasks:\n  - id: ask\n    ask: Really?\n");
    bench.gantry(&["run", &other]);
    let length = bench.json(&["status", "other", "--json"])["length"].clone();
    assert!(bench.gantry(&["resume", "other", "slow"]).ends_with("[exit 5]"));
    assert_eq!(bench.json(&["status", "other", "--json"])["length"], length, "none of them is touched");
    busy.signal(Signal::INT);
    busy.until("pausing, waiting for slow to finish");
    std::fs::write(bench.work().join("pipe"), "go\n").unwrap(); // opens only when someone reads
    let (status, heard) = busy.end();
    assert_eq!(status.code(), Some(4), "{heard}");
    assert!(heard.contains("slow: done"), "{heard}");
    assert!(!bench.work().join("after").exists(), "nothing new starts");
    insta::assert_snapshot!(bench.gantry(&["status", "slow"]));
    assert!(bench.gantry(&["resume", "slow"]).ends_with("[exit 0]"));
    assert!(bench.work().join("after").exists());
    assert_eq!(
        std::fs::read_to_string(bench.work().join("begun")).unwrap(),
        "begun\n",
        "finished work is not repeated"
    );
}

#[test]
fn a_log_that_follows_ends_with_the_plan() {
    let bench = Bench::new();
    let plan = bench.plan("id: slow\ntitle: Slow\ntasks:\n  - id: slow\n    run: mkfifo pipe; echo ready; cat pipe\n");
    let mut busy = bench.start(&["run", &plan]);
    busy.until("slow | ready");
    let mut log = bench.start_reading(&["log", "slow", "--follow"]);
    log.until("slow: started");
    std::fs::write(bench.work().join("pipe"), "go\n").unwrap(); // opens only when someone reads
    assert_eq!(busy.end().0.code(), Some(0));
    let (status, heard) = log.end();
    assert!(status.success() && heard.contains("the plan is completed"), "{heard}");
}

#[test]
fn a_plan_inside_a_plan_is_told_as_a_part_of_it() {
    let bench = Bench::new();
    let plan = bench.plan(
        "id: outer\ntitle: Outer\ntasks:\n  - id: inner\n    plan:\n      plan:\n        title: Inner\n        tasks: [{id: x, run: echo from inside}]\n",
    );
    let said = bench.gantry(&["run", &plan]);
    assert!(said.contains("> x: started") && said.contains("> x | from inside"), "{said}");
    assert_eq!(bench.json(&["list", "--json"]).as_array().unwrap().len(), 1);
    assert_eq!(bench.json(&["list", "--json", "--all"]).as_array().unwrap().len(), 2);
    assert_eq!(bench.json(&["status", "@last", "--json"])["id"], "outer", "the last plan that someone began");
}

#[test]
fn asked_to_end_or_left_alone_it_pauses_like_after_an_interrupt() {
    for signal in [Signal::TERM, Signal::HUP] {
        let bench = Bench::new();
        let plan = bench.plan("id: ask\ntitle: Ask\ntasks:\n  - id: colour\n    ask: Which colour?\n");
        let mut busy = bench.start(&["run", &plan, "--wait"]);
        busy.until("colour: waits for an answer");
        busy.signal(signal);
        let (status, heard) = busy.end();
        assert_eq!(status.code(), Some(4), "{heard}");
        assert_eq!(bench.json(&["status", "--json"])["state"], "paused");
    }
}

#[test]
fn a_gate_inside_a_plan_is_waited_for_and_its_approval_lets_the_plan_go_on() {
    let bench = Bench::new();
    let plan = bench.plan(
        "id: outer\ntitle: Outer\ntasks:\n  - id: inner\n    plan:\n      title: Inner\n      tasks:\n        - {id: ok, gate: {approvals: 1}}\n        - {id: ship, run: echo ship >> shipped, depends_on: [ok]}\n",
    );
    let said = bench.gantry(&["run", &plan, "--parallel", "1"]);
    assert!(said.ends_with("[exit 4]"), "{said}");
    let (_, rest) = said.split_once("waits: inner: for plan `").expect(&said);
    let (inner, what) = rest.split_once("`: ").unwrap();
    assert!(what.starts_with("ok: 0 of 1 approvals"), "{said}");
    let approved = bench.gantry(&["gate", "approve", inner, "ok"]);
    assert!(approved.ends_with("[exit 0]"), "{approved}");
    let said = bench.gantry(&["resume", "outer", "--parallel", "1"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(std::fs::read_to_string(bench.work().join("shipped")).unwrap(), "ship\n");
}

#[test]
fn interrupted_twice_it_stops_whatever_runs_and_says_so_afterwards() {
    let bench = Bench::new();
    let plan = bench.plan(
        "id: stubborn\ntitle: Stubborn\ntasks:\n  - id: stubborn\n    run: trap '' INT TERM; mkfifo pipe alive; exec 9<>alive; echo ready; cat pipe\n  - id: after\n    run: touch after\n    depends_on: [stubborn]\n",
    );
    let mut busy = bench.start(&["run", &plan]);
    busy.until("stubborn | ready");
    // As long as one of its processes lives, this has no end.
    let mut alive = std::fs::File::open(bench.work().join("alive")).unwrap();
    busy.signal(Signal::INT);
    busy.until("pausing");
    busy.signal(Signal::INT);
    busy.until("stopping at once");
    let (status, heard) = busy.end();
    assert_eq!(status.code(), Some(4), "{heard}");
    let mut nothing = Vec::new();
    alive.read_to_end(&mut nothing).unwrap();
    assert!(nothing.is_empty(), "it ignores every signal that can be ignored, and is gone");
    insta::assert_snapshot!(bench.gantry(&["status"]));
    let resumed = bench.gantry(&["resume", "stubborn"]);
    assert!(resumed.ends_with("[exit 4]") && resumed.contains("gantry task resolve stubborn stubborn"), "{resumed}");
    assert!(!bench.work().join("after").exists(), "nobody knows what it did, so nothing goes on");
}

#[test]
fn a_plan_whose_process_was_killed_is_found_and_said_to_be_interrupted() {
    let bench = Bench::new();
    let plan =
        bench.plan("id: killed\ntitle: Killed\ntasks:\n  - id: slow\n    run: mkfifo pipe; echo ready; cat pipe\n");
    let mut busy = bench.start(&["run", &plan]);
    busy.until("slow | ready");
    busy.signal(Signal::KILL);
    busy.end();
    insta::assert_snapshot!(bench.gantry(&["status"]));
    assert!(bench.gantry(&["list"]).contains("interrupted"));
}

#[test]
fn tasks_that_were_lost_are_taken_care_of_at_once() {
    let bench = Bench::new();
    let task = |id: &str| format!("  - id: {id}\n    run: mkfifo {id}.pipe; echo ready; cat {id}.pipe\n");
    let tasks: String = ["a", "b", "c"].map(task).concat();
    let plan = bench.plan(&format!("id: lost\ntitle: Lost\ntasks:\n{tasks}"));
    let mut busy = bench.start(&["run", &plan]);
    for id in ["a", "b", "c"] {
        busy.until_said(&format!("{id} | ready"));
    }
    busy.signal(Signal::KILL);
    busy.end();
    let said = bench.gantry(&["resume", "lost"]);
    assert!(said.contains("gantry task resolve lost --all retry  # 3 tasks need help"), "{said}");
    insta::assert_snapshot!(bench.gantry(&["task", "resolve", "lost", "a", "b", "skip"]));
    insta::assert_snapshot!(bench.gantry(&["task", "resolve", "lost", "--all", "skip"]));
    assert!(bench.gantry(&["task", "resolve", "lost", "--all", "skip"]).ends_with("[exit 5]"), "none is left");
    assert!(bench.gantry(&["task", "resolve", "lost", "skip"]).ends_with("[exit 2]"), "none is named");
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.gantry(&["run", "nowhere.yaml"]));
    insta::assert_snapshot!(bench.gantry(&["status"]));
    insta::assert_snapshot!(bench.gantry(&["list"]));
    bench.gantry(&["run", &bench.plan(TWO)]);
    insta::assert_snapshot!(bench.gantry(&["status", "tow"]));
    insta::assert_snapshot!(bench.gantry(&["log", "two", "--task", "tset"]));
    insta::assert_snapshot!(bench.gantry(&["run", &bench.plan(TWO), "--workspace", "nowhere"]));
    insta::assert_snapshot!(bench.gantry(&["run", &bench.plan(TWO), "--env", "NOT_SET_ANYWHERE"]));
    insta::assert_snapshot!(bench.gantry(&["watch"]));
}

#[test]
fn a_new_plan_file_can_be_run_and_is_never_overwritten() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.gantry(&["new", "--from", "greet", "everyone"]));
    insta::assert_snapshot!(bench.gantry(&["validate", "plan.yaml"]));
    assert!(bench.gantry(&["run", "plan.yaml"]).ends_with("[exit 4]"), "it waits for an approval");
    let before = std::fs::read(Path::new(&bench.work()).join("plan.yaml")).unwrap();
    insta::assert_snapshot!(bench.gantry(&["new"]));
    assert_eq!(std::fs::read(bench.work().join("plan.yaml")).unwrap(), before);
}

#[test]
fn several_plans_are_resumed_together() {
    let bench = Bench::new();
    for name in ["one", "two"] {
        let plan = format!("id: {name}\ntitle: {name}\ntasks:\n  - id: ask\n    ask: Really?\n");
        bench.gantry(&["run", &bench.plan(&plan)]);
    }
    let said = bench.gantry(&["resume", "one", "two"]);
    assert!(said.contains("one (one): waiting") && said.contains("two (two): waiting"), "{said}");
    assert!(said.ends_with("[exit 4]"));
}

#[test]
fn what_may_use_a_capability_at_once_is_limited_for_all_plans_together() {
    let bench = Bench::new();
    let plan = bench.plan("tasks: [{id: a, run: echo a}, {id: b, run: echo b}]");
    let run = |more: &[&str]| -> Vec<String> {
        let output = bench.command(&[&["run", plan.as_str(), "--json"], more].concat()).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone());
        let named = events.filter_map(|event| event.as_str().map(str::to_owned));
        named.filter(|event| event.starts_with("attempt_")).collect()
    };
    let (began, ended) = ("attempt_started", "attempt_succeeded");
    assert_eq!(run(&["--limit", "shell=1"]), [began, ended, began, ended]);
    assert_eq!(run(&["--limit", "gpu=1"]), [began, began, ended, ended]);
    for (wrong, said) in [("shell", "write CAPABILITY=N"), ("shell=0", "from 1 to"), ("plan=1", "takes no room itself")]
    {
        let told = bench.gantry(&["run", &plan, "--limit", wrong]);
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn what_a_failed_command_said_decides_where_to_go() {
    let bench = Bench::new();
    let plan = bench.plan(
        "id: copy\ntitle: Copy\ntasks:\n  - id: copy\n    run: echo no room >&2; exit 75\n    next:\n      - {on: failure, to: clean, when: 'exit_code == 75 && stderr.contains(\"room\")'}\n      - {on: failure, to: call, when: exit_code != 75}\n  - {id: clean, run: touch cleaned}\n  - {id: call, run: touch called}\n",
    );
    let output = bench.command(&["run", &plan]).output().unwrap();
    assert!(bench.work().join("cleaned").exists(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!bench.work().join("called").exists());
}
