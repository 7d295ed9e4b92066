//! What the tests are written with.

use std::path::{Path, PathBuf};
use std::process::Command;

use gantry_store::{Store, TextKind, TextRow};
use gantry_store_sqlite::SqliteStore;
use serde_json::json;

pub use gantry_store::conformance::kit::{answered, append, artifact, at, effect, grow, plan, task};

/// A folder that is removed at the end.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    pub fn database(&self) -> PathBuf {
        self.file("gantry.db")
    }
    pub fn store(&self) -> SqliteStore {
        SqliteStore::open(self.database()).unwrap()
    }
}

/// What the schemas since the first one added, the newest first, undone: the file is as an older program would have it.
const UNDONE: [&str; 3] = [
    "DROP INDEX turn_of_plan; UPDATE turn SET id = plan_no * 4294967296 + last_seq",
    "ALTER TABLE blob DROP COLUMN dropped_at",
    "DROP INDEX effect_by_request",
];

/// Makes a file as a program with this schema would have left it, with plans `a` and `b` in it; returns what is in it.
pub async fn older(folder: &Folder, schema: u32) -> String {
    furnish(&folder.store()).await;
    let read = read_all(&folder.store()).await.unwrap();
    let conn = rusqlite::Connection::open(folder.database()).unwrap();
    for statement in &UNDONE[..usize::try_from(4 - schema).unwrap()] {
        conn.execute_batch(statement).unwrap();
    }
    conn.pragma_update(None, "user_version", schema).unwrap();
    read
}

/// A small disk of its own, if this process may mount one.
pub struct SmallDisk(Folder);

impl SmallDisk {
    pub fn mount(options: &str) -> Option<Self> {
        let folder = Folder::new();
        let mounted = run("mount", &["-t", "tmpfs", "-o", options, "tmpfs", text(folder.0.path())]);
        needs("the right to mount a small disk", mounted).then_some(Self(folder))
    }
    pub fn remount(&self, options: &str) {
        assert!(run("mount", &["-o", &format!("remount,{options}"), text(self.0.0.path())]));
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.file(name)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l", text(self.0.0.path())]);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn run(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// Tells whether system calls can be made to fail here.
pub fn has_strace() -> bool {
    needs("strace, and the right to trace,", run("strace", &["-e", "inject=fdatasync:error=EIO:when=1000", "true"]))
}

/// Tells whether something that a test needs is here. Where it is not, the test says so and ends; but where everything is
/// to be tested, it fails.
fn needs(what: &str, is_here: bool) -> bool {
    assert!(
        is_here || std::env::var_os("GANTRY_TEST_ALL").is_none_or(|all| all.is_empty()),
        "{what} is missing, and GANTRY_TEST_ALL is set"
    );
    if !is_here {
        eprintln!("skipped: {what} is missing");
    }
    is_here
}

/// Makes plans `a` and `b` with something of everything.
pub async fn furnish(store: &SqliteStore) {
    let long = store.put_blob(b"a long text ".repeat(500), at(0)).await.unwrap();
    let short = store.put_blob(b"short".to_vec(), at(0)).await.unwrap();
    for name in ["a", "b"] {
        let mut request = append(name, 0, 2);
        request.artifacts = vec![artifact("notes", long, 6_000), artifact("log", short, 5)];
        request.effects = vec![answered(effect(name, "build", 1), "yes"), effect(name, "build", 2)];
        request.texts =
            vec![TextRow { task: None, kind: TextKind::Title, name: String::new(), text: format!("Title of {name}") }];
        let _ = store.append(request).await.unwrap();
        let _ = store.append(append(name, 2, 3)).await.unwrap();
        let mut request = append(name, 5, 1);
        let state = b"state ".repeat(300);
        request.snapshot = Some(gantry_store::Snapshot { length: 5, body: state });
        let _ = store.append(request).await.unwrap();
        let input = store.submit(&plan(name), json!({"approve": name}), at(3)).await.unwrap();
        store.answer(input, json!("done")).await.unwrap();
        store.submit(&plan(name), json!({"stop": name}), at(4)).await.unwrap();
    }
}

/// Everything that can be read of plans `a` and `b`, as text; the first error otherwise.
pub async fn read_all(store: &SqliteStore) -> Result<String, String> {
    let mut seen = String::new();
    let mut note = |line: String| seen += &(line + "\n");
    let broken = |error: gantry_store::StoreError| error.to_string();
    for card in store.list(gantry_store::ListFilter::default()).await.map_err(broken)?.items {
        note(format!("{card:?}"));
    }
    for name in ["a", "b"] {
        let id = plan(name);
        let loaded = store.load(&id).await.map_err(broken)?;
        if let Some(damage) = loaded.iter().flat_map(|loaded| &loaded.damaged).next() {
            return Err(damage.clone());
        }
        note(format!("{loaded:?}"));
        let report = store.verify(&id).await.map_err(broken)?;
        if let Some(problem) = report.problems.first() {
            return Err(problem.what.clone());
        }
        note(format!("{:?}", store.turns(&id, 0, 100).await.map_err(broken)?));
        note(format!("{:?}", store.effects(&id, None, 0, 100).await.map_err(broken)?));
        note(format!("{:?}", store.inbox(&id).await.map_err(broken)?));
        for row in store.artifacts(&id, 0, 100).await.map_err(broken)?.items {
            let bytes = store.get_blob(row.artifact.hash).await.map_err(broken)?;
            note(format!("{row:?} {bytes:?}"));
        }
    }
    for input in 1..=4 {
        note(format!("{:?}", store.ask_answer(gantry_store::InboxId(input)).await.map_err(broken)?));
    }
    Ok(seen)
}
