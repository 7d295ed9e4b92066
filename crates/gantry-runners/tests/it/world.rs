//! A folder, ports that remember everything, and processes to look for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::event::Outputs;
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::input::Success;
use gantry_core::plan::{Action, Run, Undo};
use gantry_core::policy::{Budget, Usage};
use gantry_runners::{
    CallNo, Calls, Chunk, Ended, GuardProgram, Intents, Keep, KeepError, Noted, Place, Ports, Recalled, Runners,
    Stream, Watch, Work,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Long enough for the slowest machine; nothing waits this long unless something is wrong.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until something holds, looking again and again.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Something that was done outside.
#[derive(Debug)]
pub struct Effect {
    pub kind: String,
    pub request: Value,
    pub answer: Option<Value>,
}

/// Everything that was handed to a port.
#[derive(Default)]
pub struct Memory {
    pub blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    pub chunks: Mutex<Vec<Chunk>>,
    pub beats: Mutex<Vec<(String, Vec<ArtifactRef>)>>,
    pub effects: Mutex<Vec<Effect>>,
    pub intents: Mutex<Vec<Value>>,
    /// Nothing can be kept.
    pub refuses: std::sync::atomic::AtomicBool,
    /// No call can be written down.
    pub speechless: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Keep for Memory {
    async fn put(&self, bytes: Vec<u8>) -> Result<String, KeepError> {
        if self.refuses.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(KeepError::Store { why: "as the test says".to_owned() });
        }
        let hash = blake3::hash(&bytes).to_hex().to_string();
        self.blobs.lock().unwrap().insert(hash.clone(), bytes);
        Ok(hash)
    }
    async fn get(&self, hash: &str) -> Result<Vec<u8>, KeepError> {
        self.blobs.lock().unwrap().get(hash).cloned().ok_or(KeepError::Unknown { hash: hash.to_owned() })
    }
}

impl Watch for Memory {
    fn output(&self, chunk: Chunk) {
        self.chunks.lock().unwrap().push(chunk);
    }
    fn alive(&self, note: String, artifacts: Vec<ArtifactRef>) {
        self.beats.lock().unwrap().push((note, artifacts));
    }
}

#[async_trait]
impl Calls for Memory {
    async fn recall(&self, _: &str, _: &str) -> Result<Option<Recalled>, KeepError> {
        Ok(None)
    }
    async fn begin(&self, kind: &str, _: &str, request: Value) -> Result<CallNo, KeepError> {
        if self.speechless.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(KeepError::Store { why: "as the test says".to_owned() });
        }
        let mut effects = self.effects.lock().unwrap();
        effects.push(Effect { kind: kind.to_owned(), request, answer: None });
        Ok(CallNo(u32::try_from(effects.len()).unwrap() - 1))
    }
    fn answered(&self, call: CallNo, answer: Value) {
        self.effects.lock().unwrap()[call.0 as usize].answer = Some(answer);
    }
    async fn end(&self, call: CallNo, answer: Value, _: Usage) -> Result<(), KeepError> {
        self.answered(call, answer);
        Ok(())
    }
    async fn note(&self, call: Noted) -> Result<(), KeepError> {
        let number = self.begin(call.kind, &call.key, call.request).await?;
        self.end(number, call.answer, call.usage).await
    }
    async fn used(&self) -> Result<Usage, KeepError> {
        Ok(Usage::default())
    }
}

#[async_trait]
impl Intents for Memory {
    async fn intend(&self, undo: Value) -> Result<(), KeepError> {
        self.intents.lock().unwrap().push(undo);
        Ok(())
    }
    async fn intend_instead(&self, undo: Value) -> Result<(), KeepError> {
        *self.intents.lock().unwrap().last_mut().unwrap() = undo;
        Ok(())
    }
}

impl Memory {
    pub fn shown(&self, stream: Stream) -> String {
        let chunks = self.chunks.lock().unwrap();
        chunks.iter().filter(|chunk| chunk.stream == stream).map(|chunk| chunk.text.as_str()).collect()
    }
    pub fn blob(&self, artifacts: &[ArtifactRef], name: &str) -> Vec<u8> {
        let artifact = artifacts.iter().find(|artifact| artifact.name == name).expect(name);
        let bytes = self.blobs.lock().unwrap()[&artifact.hash].clone();
        assert_eq!(bytes.len() as u64, artifact.bytes);
        bytes
    }
}

/// A working folder with everything around it.
pub struct World {
    pub folder: tempfile::TempDir,
    pub place: Place,
    pub memory: Arc<Memory>,
    pub stop: CancellationToken,
    pub runners: Runners,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::at(folder.path());
        let runners = Runners::standard(guard());
        Self { folder, place, memory: Arc::default(), stop: CancellationToken::new(), runners }
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn ports(&self) -> Ports {
        Ports {
            keep: Arc::clone(&self.memory) as Arc<dyn Keep>,
            watch: Arc::clone(&self.memory) as Arc<dyn Watch>,
            intents: Arc::clone(&self.memory) as Arc<dyn Intents>,
            calls: Arc::clone(&self.memory) as Arc<dyn Calls>,
            sessions: Default::default(),
        }
    }

    pub async fn run(&self, work: &Work) -> Ended {
        self.runners.run(work, &self.place, &self.ports(), &self.stop).await
    }

    /// Runs a command that must succeed.
    pub async fn sh(&self, command: &str) -> Success {
        let ended = self.run(&shell(command)).await;
        ended.end.unwrap_or_else(|failure| panic!("`{command}` failed: {failure:?}"))
    }

    /// Runs a command that must fail.
    pub async fn sh_fails(&self, command: &str) -> Failure {
        let ended = self.run(&shell(command)).await;
        ended.end.expect_err(command)
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

pub fn guard() -> GuardProgram {
    GuardProgram::at(env!("CARGO_BIN_EXE_gantry-guard"))
}

pub fn doing(action: Action) -> Work {
    Work {
        plan: PlanId::new("plan-1").unwrap(),
        task: TaskId::new("task-1").unwrap(),
        attempt: AttemptNo(1),
        key: "key-1".to_owned(),
        action,
        inputs: Outputs::new(),
        feedback: None,
        reserved: Usage::default(),
        timeout: None,
        heartbeat: None,
        environment: BTreeMap::new(),
        undo: Undo::None,
        may_spend: Budget::default(),
        purse: Arc::default(),
        brief: Arc::default(),
    }
}

pub fn shell(command: &str) -> Work {
    doing(Action::Run(Run { command: command.to_owned(), shell: None, cwd: None }))
}

/// Tells whether a process lives; one that only waits to be taken off the table does not.
pub fn lives(pid: i32) -> bool {
    let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { return false };
    let stat = String::from_utf8_lossy(&stat);
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Reads the numbers that a command wrote to a file, once there are that many.
pub async fn pids(path: &Path, count: usize) -> Vec<i32> {
    let read = || -> Vec<i32> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().filter_map(|line| line.trim().parse().ok()).collect()
    };
    eventually("the command starts its processes", || read().len() >= count).await;
    read()
}

/// Calls one capability.
pub fn tool(name: &str, args: Value) -> Work {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    doing(Action::Compute(Default::default())).calling(name, args)
}

/// Everything in a folder: paths, kinds, modes and content.
pub fn tree(root: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, folder: &Path, all: &mut BTreeMap<String, String>) {
        use std::os::unix::fs::PermissionsExt;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let mode = meta.permissions().mode() & 0o7777;
            if meta.is_symlink() {
                all.insert(name, format!("link to {}", std::fs::read_link(&path).unwrap().display()));
            } else if meta.is_dir() {
                all.insert(name, "folder".to_owned());
                walk(root, &path, all);
            } else {
                all.insert(name, format!("{mode:o} {:?}", std::fs::read(&path).unwrap()));
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(root, root, &mut all);
    all
}
