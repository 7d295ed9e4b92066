//! A folder of its own for each test, with a record and a working folder in it.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use gantry_store::{Hash, Store};
use gantry_store_sqlite::SqliteStore;
use tempfile::TempDir;

/// A plan with a task, a gate for anyone, a gate for lawyers, and a task behind both.
pub const RELEASE: &str = r#"
id: release
title: Ship the release
tasks:
  - id: build
    title: Build it
    run: echo built
  - id: sign-off
    title: Sign it off
    depends_on: [build]
    gate: {checks: ["build.exit_code == 0", the notes are clear]}
  - id: legal
    depends_on: [build]
    gate: {role: lawyer, approvers: [ana, ben]}
  - id: ship
    depends_on: [sign-off, legal]
    run: echo shipped
"#;

/// A plan that keeps its working folder, changes files, and reads them.
pub const FILES: &str = r#"
id: files
title: Change some files
tasks:
  - id: before
    checkpoint: start
  - id: write
    depends_on: [before]
    run: echo new > a.txt; echo more > b.txt
    undo: {run: "rm b.txt"}
  - id: read
    depends_on: [write]
    run: cat a.txt
"#;

pub struct Kit {
    folder: TempDir,
    record: String,
}

impl Kit {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder, record: "gantry.db".to_owned() }
    }

    /// A kit in which this plan was run as far as it goes.
    pub fn with_plan(plan: &str) -> Self {
        let kit = Self::new();
        kit.run(plan);
        kit
    }

    /// The same folder with another record.
    pub fn with_record(self, name: &str) -> Self {
        Self { record: name.to_owned(), ..self }
    }

    /// Runs a plan as far as it goes.
    pub fn run(&self, plan: &str) {
        self.write("plan.yaml", plan);
        let code = self.output(&["run", "plan.yaml"]).status.code().unwrap();
        assert!([0, 3, 4].contains(&code), "{}", self.gantry(&["run", "plan.yaml"]));
    }

    /// Where a file of the working folder is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub fn record(&self) -> PathBuf {
        self.folder.path().join(&self.record)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
        command
            .args(args)
            .current_dir(self.path(""))
            .env("COLUMNS", "100")
            .env("GANTRY_DB", self.record())
            .env("GANTRY_USER", "ana")
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("GANTRY_LOCAL_SERVERS", "no")
            .stdin(Stdio::null());
        // What the machine of the test is set up for is no part of the test.
        let set_up =
            |name: &str| name.ends_with("_API_KEY") || name.starts_with("VDOS_") || name.starts_with("GANTRY_MODEL");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(set_up)) {
            command.env_remove(name);
        }
        for name in ["GANTRY_PROFILE", "GANTRY_STRICT", "GANTRY_LOCALE", "GANTRY_PROMPTS", "FAST_BUT_SKIP_DETAILS"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs `gantry` with variables in its environment.
    pub fn with_variables(&self, variables: &[(&str, &str)], line: &str) -> String {
        let output = self.command(&words(line)).envs(variables.iter().copied()).output().unwrap();
        self.draw(&output)
    }

    /// Runs `gantry` with a variable in its environment.
    pub fn with_variable(&self, name: &str, value: &str, line: &str) -> String {
        let output = self.command(&words(line)).env(name, value).output().unwrap();
        self.draw(&output)
    }

    /// Runs `gantry` with variables in its environment; tells whether it was killed.
    pub fn dies(&self, variables: &[(&str, &str)], line: &str) -> bool {
        let output = self.command(&words(line)).envs(variables.iter().copied()).output().unwrap();
        output.status.code().is_none()
    }

    /// Starts `gantry` beside this process, with variables in its environment.
    pub fn beside_with(&self, variables: &[(&str, &str)], line: &str) -> Beside {
        let mut command = self.command(&words(line));
        command.envs(variables.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
        Beside(command.spawn().unwrap())
    }

    /// Runs `gantry` until it is killed at this point; its exit code, if it was not.
    pub fn killed_at(&self, point: &str, line: &str) -> Option<i32> {
        let crash = format!("{point}:1");
        self.command(&words(line)).env("GANTRY_CRASH_AT", crash).output().unwrap().status.code()
    }

    pub fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs `gantry` with a text as its standard input.
    pub fn output_of(&self, line: &str, input: &str) -> Output {
        self.write(".input", input);
        let input = std::fs::File::open(self.path(".input")).unwrap();
        self.command(&words(line)).stdin(input).output().unwrap()
    }

    /// The exit code when standard error cannot be written.
    pub fn code_unheard(&self, line: &str) -> i32 {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        self.command(&words(line)).stderr(full).output().unwrap().status.code().unwrap()
    }

    /// Runs `gantry` as someone who may read the record and not write it; draws everything that it says.
    pub fn gantry_reading(&self, line: &str) -> String {
        let mut command = self.command(&words(line));
        if rustix::process::geteuid().is_root() {
            command.uid(65_534).gid(65_534); // permissions do not bind the root user
        }
        let output = command.current_dir("/").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        mask(&format!("{out}{err}[exit {}]", output.status.code().unwrap()), self.folder.path())
    }

    /// Starts `gantry run --wait` beside this process, and waits until both gates of the plan are open.
    pub fn start_release(&self) -> Beside {
        self.write("plan.yaml", RELEASE);
        assert_eq!(self.code("gate list"), 0, "the record exists before two processes open it");
        let mut command = self.command(&["run", "plan.yaml", "--wait"]);
        let child = Beside(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let open = || self.json("gate list --json").as_array().is_some_and(|gates| gates.len() == 2);
        assert!((0..2_000).any(|_| open()), "the gates never opened");
        child
    }

    /// Starts `gantry` beside this process.
    pub fn start(&self, line: &str) -> Beside {
        self.beside(&words(line).into_iter().map(str::to_owned).collect::<Vec<_>>())
    }

    /// Starts `gantry` beside this process.
    pub fn beside(&self, args: &[String]) -> Beside {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        Beside(self.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Writes the `gantry.toml` of the user.
    pub fn write_own_config(&self, content: &str) {
        let folder = self.folder.path().join("config/gantry");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("gantry.toml"), content).unwrap();
    }

    /// Tells whether these bytes stand anywhere in the record, packed or not.
    pub fn record_holds(&self, bytes: &[u8]) -> bool {
        let conn = rusqlite::Connection::open(self.record()).unwrap();
        let mut statement = conn.prepare("SELECT hash FROM blob").unwrap();
        let hashes: Vec<Vec<u8>> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let holds = |body: &[u8]| body.windows(bytes.len()).any(|window| window == bytes);
        let store = SqliteStore::open(self.record()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let blob = |hash: &Vec<u8>| runtime.block_on(store.get_blob(Hash::from_bytes(hash).unwrap())).unwrap().unwrap();
        let packed = hashes.iter().any(|hash| holds(&blob(hash)));
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        packed || holds(&std::fs::read(self.record()).unwrap())
    }

    /// Runs `gantry` and draws everything that it says, with times, hashes and places made the same.
    pub fn gantry(&self, args: &[&str]) -> String {
        self.draw(&self.output(args))
    }

    fn draw(&self, output: &Output) -> String {
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let talk = if err.is_empty() { String::new() } else { format!("--- talk\n{err}") };
        mask(&format!("{out}{talk}[exit {}]", output.status.code().unwrap()), self.folder.path())
    }

    /// Runs `gantry` on a terminal of its own, where someone types this.
    pub fn on_a_terminal(&self, args: &[&str], typed: &str) -> (String, i32) {
        let line = format!("'{}' '{}'", env!("CARGO_BIN_EXE_gantry"), args.join("' '"));
        let command = self.command(&[]);
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &line, "/dev/null"]).current_dir(self.path(""));
        terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap())
    }

    /// Several commands, one after the other.
    pub fn session(&self, commands: &[&str]) -> String {
        let one = |line: &&str| format!("$ gantry {line}\n{}\n", self.gantry(&words(line)));
        commands.iter().map(one).collect()
    }

    /// The exit code alone.
    pub fn code(&self, line: &str) -> i32 {
        self.output(&words(line)).status.code().unwrap()
    }

    pub fn json(&self, line: &str) -> serde_json::Value {
        let output = self.output(&words(line));
        let told = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("gantry {line}: {error}: {told}"))
    }
}

/// A process that does not outlive its test.
pub struct Beside(Child);

impl Beside {
    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Tells whether it has not ended yet.
    pub fn is_there(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// The memory that it holds, in megabytes; nothing when it has ended.
    pub fn resident_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
        line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap() / 1_024.0
    }

    /// Its exit code, once it has ended by itself.
    pub fn ended(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill(); // unless it has ended
        let _ = self.0.wait();
    }
}

/// Splits a line into words; quotes hold words together.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap(),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// Makes what differs from run to run the same, in the width that it has.
fn mask(text: &str, folder: &Path) -> String {
    let text = text.replace(&*folder.canonicalize().unwrap().to_string_lossy(), "FOLDER");
    let chars: Vec<char> = text.chars().collect();
    let (mut masked, mut at) = (String::new(), 0);
    while at < chars.len() {
        let rest = &chars[at..];
        let starts_word = at == 0 || !chars[at - 1].is_alphanumeric();
        let hex = rest.iter().take_while(|c| c.is_ascii_hexdigit()).count();
        if starts_word && hex == 64 {
            masked += &"h".repeat(hex);
            at += hex;
        } else if starts_word && is_time(rest) {
            masked += "2026-01-01T00:00:00";
            at += 19 + rest[19..].iter().take_while(|c| **c == '.' || c.is_ascii_digit()).count();
        } else if let Some(prefix) = minted(rest) {
            masked += &prefix;
            masked += "xxxx";
            at += prefix.len() + 4;
        } else {
            masked.push(chars[at]);
            at += 1;
        }
    }
    masked
}

fn is_time(text: &[char]) -> bool {
    let pattern = "dddd-dd-ddTdd:dd:dd";
    let fits = |(c, p): (&char, char)| if p == 'd' { c.is_ascii_digit() } else { *c == p };
    text.len() > pattern.len() && text.iter().zip(pattern.chars()).all(fits)
}

/// The beginning of an id that was made up for one of the plans above.
fn minted(text: &[char]) -> Option<String> {
    let prefixes = ["plan-ship-release-", "plan-change-some-files-"];
    let begins = |prefix: &&&str| text.iter().zip(prefix.chars()).filter(|(a, b)| **a == *b).count() == prefix.len();
    prefixes.iter().find(begins).filter(|prefix| text.len() >= prefix.len() + 4).map(|prefix| (*prefix).to_owned())
}
