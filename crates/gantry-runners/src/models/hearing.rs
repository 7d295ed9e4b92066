//! An answer while it comes: shown at once, and handed in early, so that a process that is killed loses little of it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_llm::{Delta, Listener};

use crate::ports::{Chunk, Ports, Stream};
use crate::secrets::Redactor;
use crate::work::{Place, Work};

/// How long the first words wait before they are handed in; each further part waits twice as long.
const FIRST_PART: Duration = Duration::from_secs(1);
/// More parts than this are not handed in.
const PARTS_MAX: u32 = 500;

/// Where words, thoughts and pieces of calls are shown.
const STREAMS: [Stream; 3] = [Stream::Stdout, Stream::Stderr, Stream::Call];

/// Hears one answer.
pub(crate) struct Hearing<'a> {
    ports: &'a Ports,
    heartbeat: Option<Duration>,
    part_every: Duration,
    /// Written by whoever speaks, read by whoever hands in; held for a copy, never while waiting.
    heard: Mutex<Heard>,
}

struct Heard {
    /// One for each stream: a secret may come in pieces.
    redactors: BTreeMap<Stream, Redactor>,
    /// What has not been handed in yet.
    part: Vec<u8>,
    parts: u32,
    /// Something of this answer was shown.
    begun: bool,
}

impl<'a> Hearing<'a> {
    pub(crate) fn new(work: &Work, place: &Place, ports: &'a Ports) -> Self {
        let heartbeat = work.heartbeat.map(|every| Duration::from_millis(every.as_ms().max(1)));
        let redactors = STREAMS.map(|stream| (stream, place.secrets.redactor())).into();
        let heard = Heard { redactors, part: Vec::new(), parts: 0, begun: false };
        Self { ports, heartbeat, part_every: place.limits.part_every, heard: Mutex::new(heard) }
    }

    /// Waits for an answer, and hands in what came of it meanwhile.
    pub(crate) async fn during<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = std::pin::pin!(answer);
        let mut wait = FIRST_PART.min(self.part_every);
        loop {
            let next = self.heartbeat.map_or(wait, |every| every.min(wait));
            tokio::select! {
                biased;
                end = &mut answer => {
                    self.show_the_rest();
                    return end;
                }
                () = tokio::time::sleep(next) => {}
            }
            if self.heartbeat.is_some() {
                self.ports.watch.alive(String::new(), Vec::new());
            }
            // An answer that is paid for does not end because a part of it could not be kept: it is kept as a whole.
            let _ = self.hand_in().await;
            wait = (wait * 2).min(self.part_every);
        }
    }

    async fn hand_in(&self) -> Result<(), Failure> {
        let (part, number) = {
            let mut heard = self.lock();
            if heard.part.is_empty() || heard.parts == PARTS_MAX {
                return Ok(());
            }
            heard.parts += 1;
            (std::mem::take(&mut heard.part), heard.parts)
        };
        let artifact = self.ports.keep_as(&format!("answer.part-{number}"), part).await?;
        self.ports.watch.alive(String::new(), vec![artifact]);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows what can be shown by now, and remembers it for the next part; thoughts are shown only.
    fn take(&self, stream: Stream, read: impl FnOnce(&mut Redactor) -> Vec<u8>) {
        let mut heard = self.lock();
        let Some(redactor) = heard.redactors.get_mut(&stream) else { return };
        let piece = read(redactor);
        if stream != Stream::Stderr {
            heard.part.extend_from_slice(&piece);
        }
        heard.begun |= !piece.is_empty();
        drop(heard);
        let text = String::from_utf8_lossy(&piece).into_owned();
        if !text.is_empty() {
            self.ports.watch.output(Chunk { stream, text });
        }
    }

    /// Shows what looked like the beginning of a secret, and was none.
    fn show_the_rest(&self) {
        for stream in STREAMS {
            self.take(stream, Redactor::finish);
        }
    }
}

impl Listener for Hearing<'_> {
    fn hear(&self, delta: Delta) {
        let (stream, text) = match delta {
            Delta::Text(text) => (Stream::Stdout, text),
            Delta::Reasoning(text) => (Stream::Stderr, text),
            Delta::Call { args, .. } => (Stream::Call, args),
        };
        self.take(stream, |redactor| redactor.read(text.as_bytes()));
    }

    fn again(&self, why: &str) {
        if self.lock().begun {
            self.show_the_rest();
            let mark = format!("\n[gantry: asked again: {why}]\n");
            self.take(Stream::Stdout, |redactor| redactor.read(mark.as_bytes()));
            self.lock().begun = false;
        }
    }
}
