//! A scene for each test: a record, a workspace, and a ledger outside of the record that tasks write to.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

pub use crate::audit::{Audit, Mark};

/// A shell command that writes into the ledger who it is: plan, task, attempt, key.
pub const MARK: &str = r#"echo "$GANTRY_PLAN $GANTRY_TASK $GANTRY_ATTEMPT $GANTRY_KEY" >> ledger"#;

/// A shell command that says that it is there, and goes on when the file `go` is.
pub const HOLD: &str = "echo ready; until test -e go; do sleep 0.01; done";

/// The named points at which a process can be killed.
pub const POINTS: [&str; 4] = ["before_append", "after_append", "during_effect", "after_effect"];

/// A record, a workspace, a ledger.
pub struct Scene {
    folder: TempDir,
    db: PathBuf,
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub struct Said {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A `gantry` that is still at work. It does not outlive its test.
pub struct Busy {
    child: Child,
    talk: BufReader<ChildStderr>,
    pub heard: String,
}

impl Scene {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        let db = folder.path().join("gantry.db");
        Self { folder, db }
    }

    /// A scene with a plan file, `plan.yaml`.
    pub fn with_plan(plan: &str) -> Self {
        let scene = Self::new();
        scene.write("plan.yaml", plan);
        scene
    }

    /// The same scene with its record elsewhere.
    pub fn with_record_in(self, folder: &Path) -> Self {
        Self { db: folder.join("gantry.db"), ..self }
    }

    /// A file of the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub fn db(&self) -> &Path {
        &self.db
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A command with nobody to listen to it.
    pub fn gantry(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
        command.args(args);
        self.at_home(command)
    }

    /// Another program around `gantry`: `sh -c 'ulimit …; exec "$0" "$@"'`, `faketime`, `strace`.
    pub fn gantry_under(&self, program: &str, first: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(first).arg(env!("CARGO_BIN_EXE_gantry")).args(args);
        self.at_home(command)
    }

    fn at_home(&self, mut command: Command) -> Command {
        command.env("GANTRY_DB", &self.db).env("GANTRY_USER", "ana").current_dir(self.path(""));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub fn say(&self, args: &[&str]) -> Said {
        said(self.gantry(args))
    }

    /// Runs a command that has to end with this exit code.
    pub fn expect(&self, code: i32, args: &[&str]) -> Said {
        let said = self.say(args);
        assert_eq!(said.code, Some(code), "gantry {args:?}: {said:?}");
        said
    }

    /// Runs a command that is killed when it passes a named point for the nth time.
    pub fn killed_at(&self, point: &str, nth: u32, args: &[&str]) -> Said {
        let mut command = self.gantry(args);
        command.env("GANTRY_CRASH_AT", format!("{point}:{nth}"));
        said(command)
    }

    pub fn json(&self, args: &[&str]) -> Value {
        let said = self.say(args);
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("gantry {args:?}: {error}: {said:?}"))
    }

    pub fn start(&self, args: &[&str]) -> Busy {
        Busy::from(self.gantry(args))
    }

    /// Everything that tasks wrote into the ledger.
    pub fn ledger(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("ledger")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What [`MARK`] wrote into the ledger.
    pub fn marks(&self) -> Vec<Mark> {
        self.ledger().iter().filter_map(|line| Mark::read(line)).collect()
    }

    /// The names of the tasks in the ledger, in order.
    pub fn tasks(&self) -> Vec<String> {
        self.marks().into_iter().map(|mark| mark.task).collect()
    }

    /// Goes on with a plan until it is completed. A person who is asked about a task looks outside, into the ledger,
    /// and says what is true. Returns how often one was asked.
    pub fn settle(&self, plan: &str, args: &[&str]) -> u32 {
        let mut asked = 0;
        loop {
            let said = self.say(args);
            if said.code == Some(0) {
                return asked;
            }
            assert_eq!(said.code, Some(4), "gantry {args:?}: {said:?}");
            let waits = self.json(&["status", plan, "--json"]);
            let tasks = waits["waiting_for"].as_array().unwrap().iter().filter_map(|wait| wait["task"].as_str());
            for task in tasks {
                let how = if self.tasks().iter().any(|marked| marked == task) { "complete" } else { "retry" };
                self.expect(0, &["task", "resolve", plan, task, how]);
                asked += 1;
            }
        }
    }

    /// Audits a plan with a program of its own, and then with everything that is known about journals and ledgers.
    pub fn audit(&self, plan: &str) -> Audit {
        self.expect(0, &["audit", plan]);
        self.expect(0, &["replay", plan]);
        self.look(plan).unwrap_or_else(|| panic!("there is no plan `{plan}`"))
    }

    /// The same without starting programs; none when the plan does not exist.
    pub fn look(&self, plan: &str) -> Option<Audit> {
        Audit::of(&self.db, plan, &self.marks())
    }
}

/// Runs a command to its end and listens to it.
pub fn said(mut command: Command) -> Said {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

impl Busy {
    pub fn from(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let talk = BufReader::new(child.stderr.take().unwrap());
        Self { child, talk, heard: String::new() }
    }

    /// Reads on until a line says this; false when it ended before.
    pub fn hears(&mut self, words: &str) -> bool {
        loop {
            let mut line = String::new();
            if self.talk.read_line(&mut line).unwrap() == 0 {
                return false;
            }
            self.heard += &line;
            if line.contains(words) {
                return true;
            }
        }
    }

    /// Reads on until a line says this.
    pub fn until(&mut self, words: &str) {
        assert!(self.hears(words), "`{words}` was never said:\n{}", self.heard);
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    pub fn end(mut self) -> (ExitStatus, String) {
        let _ = self.talk.read_to_string(&mut self.heard);
        (self.child.wait().unwrap(), std::mem::take(&mut self.heard))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.child.kill(); // unless it has ended
        let _ = self.child.wait();
    }
}

/// Looks again and again until something is so. A test that waits for what never comes ends by its own timeout.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    // Only a limit, so that a broken program fails its test instead of hanging it.
    for _ in 0..30_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("it never came to pass: {what}");
}

/// Numbers that look random and are the same each time.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Tells whether a program is here; a test that needs it says so when it is not.
pub fn has(program: &str, args: &[&str]) -> bool {
    let works = Command::new(program).args(args).output().is_ok_and(|output| output.status.success());
    needs(program, works)
}

/// Tells whether something that a test needs is here. Where it is not, the test says so and ends; but where everything is
/// to be tested, it fails.
pub fn needs(what: &str, is_here: bool) -> bool {
    assert!(
        is_here || std::env::var_os("GANTRY_TEST_ALL").is_none_or(|all| all.is_empty()),
        "`{what}` is missing, and GANTRY_TEST_ALL is set"
    );
    if !is_here {
        eprintln!("skipped: `{what}` is not here, or may not do what the test needs");
    }
    is_here
}
