//! A folder of its own for each test: a workspace, a record, and what lies beside them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub struct Bench {
    folder: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    /// Something beside the workspace.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Something in the workspace.
    pub fn work(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// Writes a file of the workspace with this mode.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) {
        let path = self.work(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Writes a plan file beside the workspace.
    pub fn plan(&self, text: &str) -> PathBuf {
        let path = self.beside("plan.yaml");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A `gantry` that works in the workspace and keeps its record beside it.
    pub fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
        command
            .args(args)
            .env("GANTRY_DB", self.beside("gantry.db"))
            .env("GANTRY_USER", "ana")
            .env("COLUMNS", "100")
            .current_dir(self.work(""))
            .stdin(Stdio::null());
        command
    }

    pub fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Told {
        Told::of(&self.command(args).output().unwrap(), self.folder.path())
    }

    pub fn json(&self, args: &[&str]) -> Value {
        let told = self.run(args);
        serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("gantry {args:?}: {error}\n{told}"))
    }

    /// Everything that is in the workspace.
    pub fn snapshot(&self) -> Tree {
        Tree::of(&self.work(""))
    }
}

/// Makes a named pipe that nobody writes to.
pub fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// What a command said, and how it ended.
pub struct Told {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Told {
    fn of(output: &Output, folder: &Path) -> Self {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.replace(&*folder.canonicalize().unwrap().to_string_lossy(), "DIR")
        };
        Self { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}[exit {}]", self.out, self.err, self.code)
    }
}

/// A folder with everything in it: kind, mode, and content or target of each entry.
#[derive(Debug, PartialEq, Eq)]
pub struct Tree(BTreeMap<PathBuf, (String, Vec<u8>)>);

impl Tree {
    pub fn of(root: &Path) -> Self {
        let mut all = BTreeMap::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = std::fs::symlink_metadata(&path).unwrap();
                let (kind, content) = if meta.is_symlink() {
                    ("link", std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
                } else if meta.is_dir() {
                    folders.push(path.clone());
                    ("folder", Vec::new())
                } else if meta.is_file() {
                    ("file", std::fs::read(&path).unwrap())
                } else {
                    ("other", Vec::new())
                };
                let name = path.strip_prefix(root).unwrap().to_owned();
                all.insert(name, (format!("{kind} {:o}", meta.mode()), content));
            }
        }
        Self(all)
    }
}
