//! The other process of some tests: this same program, told by its environment what to do.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use gantry_store::{PlanNo, Store, StoreError};
use gantry_store_sqlite::SqliteStore;

use crate::kit::{append, effect, plan};

/// A running child and what it says.
pub struct Process {
    pub child: Child,
    lines: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a child that does one of the works below, under strace when options are given.
    pub fn start(work: &str, file: &Path, strace: &[&str]) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut command = if strace.is_empty() { Command::new(&program) } else { Command::new("strace") };
        if !strace.is_empty() {
            command.args(["-f", "-qq", "-o", "/dev/null"]).args(strace).arg(&program);
        }
        let mut child = command
            .args(["--exact", "child::a_process_of_its_own_opens_a_record_and_says_so", "--nocapture"])
            .env("GANTRY_CHILD_WORK", work)
            .env("GANTRY_CHILD_FILE", file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Tells a child that does as it is told what to do next; returns what it says to that.
    pub fn told(&mut self, what: &str) -> Option<String> {
        writeln!(self.child.stdin.as_mut().unwrap(), "{what}").unwrap();
        self.says()
    }

    /// Waits for the next thing that it says.
    pub fn says(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.trim().split_once("child: ") {
                return Some(said.to_owned());
            }
            line.clear();
        }
        None
    }

    /// Kills it as hard as can be, and returns everything that it said before.
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.rest()
    }

    /// Waits for its end and returns everything that it said.
    pub fn rest(self) -> Vec<String> {
        self.ended().0
    }

    /// The same, and whether it ended by itself.
    pub fn ended(mut self) -> (Vec<String>, bool) {
        let mut text = String::new();
        self.lines.read_to_string(&mut text).unwrap();
        let whole = self.child.wait().unwrap().success();
        let said = text.lines().filter_map(|line| line.split_once("child: ")).map(|(_, said)| said.to_owned());
        (said.collect(), whole)
    }
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "child: {what}").unwrap();
    out.flush().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_its_own_opens_a_record_and_says_so() {
    let told = (std::env::var("GANTRY_CHILD_WORK"), std::env::var("GANTRY_CHILD_FILE"));
    if let (Ok(work), Ok(file)) = told {
        return work_as_told(&work, file.into()).await; // this is the other process
    }
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::start("open", &folder.path().join("gantry.db"), &[]);
    assert_eq!(process.says().as_deref(), Some("opened"));
    assert!(process.ended().1);
}

/// Does one of the works that a child can be told to do.
async fn work_as_told(work: &str, file: PathBuf) {
    println!();
    let store = SqliteStore::open(&file).unwrap();
    match work {
        "open" => say("opened"),
        "append" => append_for_ever(store).await,
        "append-40" => append_forty(&store).await,
        "note-20" => note_twenty(&store).await,
        "note" => {
            store.note_effects(vec![effect("a", "t", 0)]).await.unwrap();
            say("noted");
            std::io::stdin().read_to_string(&mut String::new()).unwrap();
        }
        "race" => race(&store).await,
        "as told" => do_as_told(&store, &file).await,
        "claim" => {
            let claim = store.claim(PlanNo(1)).await.unwrap();
            say(if claim.is_some() { "claimed" } else { "refused" });
            std::io::stdin().read_to_string(&mut String::new()).unwrap();
            drop(claim);
        }
        other => panic!("no such work: {other}"),
    }
}

/// How long a plan is.
async fn length(store: &SqliteStore, name: &str) -> Result<u64, StoreError> {
    Ok(store.load(&plan(name)).await?.map_or(0, |loaded| loaded.length))
}

/// Appends to four plans at once and says `<plan> <length>` for each acknowledgement.
async fn append_for_ever(store: SqliteStore) {
    let plans = ["a", "b", "c", "d"].map(|name| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut now = length(&store, name).await.unwrap();
            loop {
                now = store.append(append(name, now, 2)).await.unwrap().length;
                say(&format!("{name} {now}"));
            }
        })
    });
    let [first, ..] = plans;
    first.await.unwrap(); // none of them ends
}

/// Tries to append forty times and says `ack <length>` or `error <what>`.
async fn append_forty(store: &SqliteStore) {
    for _ in 0..40 {
        let appended = match length(store, "a").await {
            Ok(now) => store.append(append("a", now, 1)).await,
            Err(error) => Err(error),
        };
        match appended {
            Ok(appended) => say(&format!("ack {}", appended.length)),
            Err(error) => say(&format!("error {} {error}", error.is_transient())),
        }
    }
}

/// Does one thing for each line that it is told.
async fn do_as_told(store: &SqliteStore, file: &Path) {
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "append" => {
                let now = length(store, "a").await.unwrap();
                match store.append(append("a", now, 1)).await {
                    Ok(appended) => say(&format!("ack {}", appended.length)),
                    Err(error) => say(&format!("error {error}")),
                }
            }
            "name your locks" => say(&locks(file)),
            "die" => nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL).unwrap(),
            other => panic!("nobody can {other}"),
        }
    }
}

/// The files of a record that this process has a lock on, in the words of SQLite's other processes: that it reads the
/// file, and that it uses the index of the log.
fn locks(file: &Path) -> String {
    let held = std::fs::read_to_string("/proc/locks").unwrap();
    let on = |path: &Path, first: u64| {
        let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
        held.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words[1] == "POSIX"
                && words[4] == std::process::id().to_string()
                && words[5].ends_with(&format!(":{inode}"))
                && words[6] == first.to_string()
        })
    };
    let index = PathBuf::from(format!("{}-shm", file.display()));
    format!("file {}, index {}", on(file, 1_073_741_826), on(&index, 128))
}

/// Notes a call and appends a turn, twenty times, and says `ack <length>` for each turn.
async fn note_twenty(store: &SqliteStore) {
    for number in 0..20 {
        store.note_effects(vec![effect("a", "t", number)]).await.unwrap();
        let now = length(store, "a").await.unwrap();
        let appended = store.append(append("a", now, 1)).await.unwrap();
        say(&format!("ack {}", appended.length));
    }
}

/// Appends fifty turns to a plan that others append to as well.
async fn race(store: &SqliteStore) {
    let mut now = length(store, "a").await.unwrap();
    let mut won = 0;
    while won < 50 {
        match store.append(append("a", now, 1)).await {
            Ok(appended) => {
                now = appended.length;
                won += 1;
            }
            Err(StoreError::Conflict { length }) => now = length,
            Err(other) => panic!("{other}"),
        }
    }
    say("done");
}
