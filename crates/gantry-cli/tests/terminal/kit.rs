//! A program on a terminal of its own, whose screen is read as a person would.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

/// How long anything may take to appear: nothing is waited for that comes later on a working machine.
const WITHIN: Duration = Duration::from_mins(1);
/// The size of the terminal.
const ROWS: NonZero<u16> = NonZero::new(30).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(100).unwrap();
/// What Ctrl-C sends.
pub const CTRL_C: &str = "\u{3}";

/// A folder with a plan in it: one task that holds on until it is told to go, and one behind it.
pub struct Scene(TempDir);

impl Scene {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plan = "id: hold\ntitle: Hold on\ntasks:\n  - {id: first, run: 'echo ready; until [ -e go ]; do sleep 0.05; done', estimate: {low: 2h, likely: 2h, high: 2h}}\n  - {id: second, run: 'echo over', depends_on: [first]}\n";
        std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
        Self(folder)
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, content: &str) {
        std::fs::write(self.0.path().join(name), content).unwrap();
    }

    /// Lets the first task end.
    pub fn go(&self) {
        std::fs::write(self.0.path().join("go"), "").unwrap();
    }

    fn record(&self) -> PathBuf {
        self.0.path().join("gantry.db")
    }

    /// Starts `gantry` on a terminal of this kind.
    pub fn start(&self, term: &str, args: &[&str]) -> Terminal {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_gantry"));
        command.args(args);
        command.cwd(self.0.path());
        command.env("GANTRY_DB", self.record());
        command.env("GANTRY_USER", "ana");
        command.env("TERM", term);
        command.env("CI", "true"); // where colours are taken for granted, whatever the terminal says
        for unset in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(unset);
        }
        command.env_remove("COLUMNS");
        Terminal::start(command)
    }
}

/// What has come from the program so far.
struct Shown {
    parser: vt100::Parser,
    raw: Vec<u8>,
    over: bool,
}

impl Shown {
    fn screen(&self) -> String {
        self.parser.screen().contents()
    }
}

/// A program on its terminal.
pub struct Terminal {
    shown: Arc<(Mutex<Shown>, Condvar)>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn start(command: CommandBuilder) -> Self {
        let size = PtySize { rows: ROWS.get(), cols: COLUMNS.get(), pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave); // so that reading ends with the program
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keys = pair.master.take_writer().unwrap();
        let parser = vt100::Parser::new(ROWS, COLUMNS, 0);
        let shown = Arc::new((Mutex::new(Shown { parser, raw: Vec::new(), over: false }), Condvar::new()));
        let told = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            loop {
                let count = reader.read(&mut buffer).unwrap_or(0); // the end of a terminal is an error on Linux
                let mut shown = told.0.lock().unwrap();
                shown.parser.process(&buffer[..count]);
                shown.raw.extend_from_slice(&buffer[..count]);
                shown.over = count == 0;
                told.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        Self { shown, child, keys, _master: pair.master }
    }

    /// Types something.
    pub fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn wait(&self, what: &str, holds: impl Fn(&Shown) -> bool) -> String {
        let (shown, changed) = &*self.shown;
        let guard = shown.lock().unwrap();
        let (guard, late) = changed.wait_timeout_while(guard, WITHIN, |shown| !holds(shown)).unwrap();
        assert!(!late.timed_out(), "{what} never appeared; the screen is\n{}", guard.screen());
        guard.screen()
    }

    /// Waits until this stands on the screen, and returns the screen.
    pub fn until(&self, text: &str) -> String {
        self.until_all(&[text])
    }

    /// Waits until all of this stands on the screen at once, and returns the screen.
    pub fn until_all(&self, texts: &[&str]) -> String {
        let there = |screen: &str| texts.iter().all(|text| screen.contains(text));
        let screen = self.wait(&format!("{texts:?}"), |shown| there(&shown.screen()) || shown.over);
        assert!(there(&screen), "it ended without {texts:?}; the screen is\n{screen}");
        screen
    }

    /// Waits for the end: the screen as it is left, everything that was written, and the exit code.
    pub fn ends(mut self) -> (String, String, u32) {
        let screen = self.wait("the end", |shown| shown.over);
        let code = self.child.wait().unwrap().exit_code();
        let raw = String::from_utf8_lossy(&self.shown.0.lock().unwrap().raw).into_owned();
        (screen, raw, code)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill(); // unless it has ended
        let _ = self.child.wait();
    }
}
