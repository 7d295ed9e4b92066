//! A server that is a program: started under the guard, confined as a shell command, and ended with its attempt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use gantry_llm::config::McpServer;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::policy::wrong;
use crate::process::{GuardProgram, Happening, Order, Running, StandardInput};
use crate::secrets::Secrets;
use crate::shell;
use crate::text::tail;
use crate::work::Place;

/// How much of the end of its error stream is kept.
const LAST_WORDS_BYTES_MAX: usize = 2 << 10;

/// How long one that may be ending has to say its last words.
const SETTLE_MAX: Duration = Duration::from_millis(500);

/// The program of a server. Dropping it ends the program and everything that it started.
pub(super) struct Program {
    last_words: Arc<Mutex<Vec<u8>>>,
    stop: mpsc::Sender<()>,
    watcher: JoinHandle<()>,
    ended: CancellationToken,
    grace: Duration,
    _folder: TempDir,
}

/// The variables that a server is given, and those among them that nobody may see.
pub(super) fn variables(server: &McpServer, place: &Place) -> Result<(BTreeMap<String, String>, Secrets), Failure> {
    let (mut given, mut hidden) = (BTreeMap::new(), Vec::new());
    for variable in &server.env {
        let name = &variable.name;
        let secret = place.secrets.values().find(|(known, _)| known == name).map(|(_, value)| value.to_owned());
        let value = secret.or_else(|| place.environment.get(name).cloned());
        let value = match (value, &variable.value) {
            (Some(value), _) => value,
            (None, Some(value)) => {
                hidden.push((name.clone(), value.reveal().to_owned()));
                value.reveal().to_owned()
            }
            (None, None) => {
                let message = format!(
                    "the MCP server `{}` needs the variable {name}; give it to the plan with `--secret {name}`",
                    server.name
                );
                return Err(Failure::new(FailureClass::Policy, message));
            }
        };
        given.insert(name.clone(), value);
    }
    hidden.extend(place.secrets.values().map(|(name, value)| (name.to_owned(), value.to_owned())));
    hidden.extend(server.key.iter().map(|key| ("key".to_owned(), key.reveal().to_owned())));
    let secrets = Secrets::of(hidden).map_err(|error| wrong(error.to_string()))?;
    Ok((given, secrets))
}

impl Program {
    /// Starts the program; what is said to it and by it goes over the line.
    pub(super) async fn start(
        words: &[String],
        given: BTreeMap<String, String>,
        guard: &GuardProgram,
        place: &Place,
        trouble: &Trouble<'_>,
    ) -> Result<(Self, UnixStream), Failure> {
        let Some((program, args)) = words.split_first() else { return Err(wrong("there is no command to run")) };
        let (folder, confinement, root) = shell::shelter_for(place)?;
        let mut environment = shell::environment::usual(place);
        environment.extend(given);
        environment.insert("TMPDIR".to_owned(), folder.path().join("tmp").display().to_string());
        let order = Order {
            program: program.clone(),
            args: args.to_vec(),
            environment,
            folder: root,
            confinement,
            grace_ms: u64::try_from(place.limits.grace.as_millis()).unwrap_or(u64::MAX),
            input: StandardInput::Talk,
        };
        let (running, line) =
            Running::start_talking(guard, order).await.map_err(|error| trouble.not_started(&error))?;
        let last_words: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (stop, stopped) = mpsc::channel(1);
        let ended = CancellationToken::new();
        let at_its_end = ended.clone().drop_guard();
        let watching = watch(running, Arc::clone(&last_words), stopped);
        let watcher = tokio::spawn(async move {
            watching.await;
            drop(at_its_end);
        });
        Ok((Self { last_words, stop, watcher, ended, grace: place.limits.grace, _folder: folder }, line))
    }

    /// The last line that it wrote to its error stream.
    pub(super) fn last_words(&self) -> String {
        let kept = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let text = tail(&kept, LAST_WORDS_BYTES_MAX);
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
    }

    /// Waits until it has ended, for as long as it may take; then it is ended. Nothing of it is left afterwards.
    pub(super) async fn end(self) {
        if tokio::time::timeout(self.grace, self.ended.cancelled()).await.is_err() {
            let _ = self.stop.send(()).await; // one that has ended meanwhile does not listen
            self.ended.cancelled().await;
        }
    }

    /// Gives one that may be ending a moment to say its last words.
    pub(super) async fn settle(&self) {
        let _ = tokio::time::timeout(SETTLE_MAX, self.ended.cancelled()).await; // it may well go on
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.watcher.abort(); // with it goes the socket to the guard, which ends everything
    }
}

/// Reads what the program says besides, until it ends.
async fn watch(mut running: Running, last_words: Arc<Mutex<Vec<u8>>>, mut stopped: mpsc::Receiver<()>) {
    let mut stopping = false;
    loop {
        tokio::select! {
            happening = running.next() => match happening {
                Happening::Output(_, piece) => {
                    let mut kept = last_words.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&piece);
                    let more = kept.len().saturating_sub(LAST_WORDS_BYTES_MAX);
                    kept.drain(..more);
                }
                Happening::Ended(_) | Happening::Lost => return,
            },
            _ = stopped.recv(), if !stopping => {
                stopping = true;
                running.stop().await;
            }
        }
    }
}
