//! The output of a process as it comes: shown at once, handed in early, kept up to a limit.

use std::collections::VecDeque;

use gantry_core::effect::{ArtifactRef, Failure};
use serde_json::Value;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::ports::{Chunk, Ports, Stream};
use crate::secrets::Redactor;
use crate::text::{Decoder, tail};
use crate::work::{Limits, Place, Work};

/// The beginning and the end of a stream; the middle of one that is too long is left out and counted.
#[derive(Debug, Default)]
pub(super) struct Kept {
    head: Vec<u8>,
    end: VecDeque<u8>,
    dropped: u64,
}

impl Kept {
    fn add(&mut self, piece: &[u8], bytes_max: usize) {
        let room = (bytes_max / 2).saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..room]);
        self.end.extend(&piece[room..]);
        let over = self.end.len().saturating_sub(bytes_max - bytes_max / 2);
        self.end.drain(..over);
        self.dropped += over as u64;
    }

    /// Everything that is kept, with a line where something is missing.
    fn whole(mut self) -> Vec<u8> {
        if self.dropped > 0 {
            let note = format!("\n[gantry: {} bytes are left out here]\n", self.dropped);
            self.head.extend_from_slice(note.as_bytes());
        }
        self.head.extend(self.end);
        self.head
    }
}

/// One stream.
struct Channel {
    redactor: Redactor,
    decoder: Decoder,
    kept: Kept,
    /// What has not been handed in yet.
    part: Vec<u8>,
    parts: u32,
    parts_bytes: usize,
}

impl Channel {
    fn new(place: &Place) -> Self {
        Self {
            redactor: place.secrets.redactor(),
            decoder: Decoder::default(),
            kept: Kept::default(),
            part: Vec::new(),
            parts: 0,
            parts_bytes: 0,
        }
    }

    /// Takes in what may be seen and returns it as text.
    fn take(&mut self, piece: &[u8], bytes_max: usize) -> String {
        self.kept.add(piece, bytes_max);
        self.part.extend_from_slice(piece);
        self.decoder.read(piece)
    }
}

/// Both streams of a process.
pub(super) struct Collected<'a> {
    ports: &'a Ports,
    limits: &'a Limits,
    channels: [Channel; 2],
    tick: Interval,
    heartbeat: bool,
}

/// What the streams left.
pub(super) struct Streams {
    /// The end of standard output.
    pub(super) stdout: String,
    /// The end of the error stream.
    pub(super) stderr: String,
    /// Standard output, when it is one JSON object or list.
    pub(super) json: Option<Value>,
    /// Everything that is kept.
    pub(super) artifacts: Vec<ArtifactRef>,
}

impl<'a> Collected<'a> {
    pub(super) fn new(work: &Work, place: &'a Place, ports: &'a Ports) -> Self {
        let heartbeat = work.heartbeat.map(|every| std::time::Duration::from_millis(every.as_ms().max(1)));
        let every = heartbeat.map_or(place.limits.part_every, |every| every.min(place.limits.part_every));
        let mut tick = interval_at(Instant::now() + every, every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            ports,
            limits: &place.limits,
            channels: [Channel::new(place), Channel::new(place)],
            tick,
            heartbeat: heartbeat.is_some(),
        }
    }

    /// Takes in a piece.
    pub(super) async fn add(&mut self, stream: Stream, piece: &[u8]) -> Result<(), Failure> {
        let channel = &mut self.channels[stream as usize];
        let piece = channel.redactor.read(piece);
        let text = channel.take(&piece, self.limits.stream_bytes_max);
        let full = channel.part.len() >= self.limits.part_bytes;
        self.show(stream, text);
        if full { self.hand_in().await } else { Ok(()) }
    }

    fn show(&self, stream: Stream, text: String) {
        if !text.is_empty() {
            self.ports.watch.output(Chunk { stream, text });
        }
    }

    /// Waits until it is time to report.
    pub(super) async fn due(&mut self) {
        self.tick.tick().await;
    }

    /// Says that the process is alive, and hands in what is new. Keeping that may take long, so it comes second.
    pub(super) async fn report(&mut self) -> Result<(), Failure> {
        if self.heartbeat {
            self.ports.watch.alive(String::new(), Vec::new());
        }
        let news = self.channels.iter().any(|channel| !channel.part.is_empty());
        if news { self.hand_in().await } else { Ok(()) }
    }

    /// Hands in what is new, in parts, so that nothing is kept twice but the end result.
    async fn hand_in(&mut self) -> Result<(), Failure> {
        let mut artifacts: Vec<ArtifactRef> = Vec::new();
        for stream in [Stream::Stdout, Stream::Stderr] {
            let channel = &mut self.channels[stream as usize];
            let part = std::mem::take(&mut channel.part);
            let room = self.limits.stream_bytes_max.saturating_sub(channel.parts_bytes);
            if part.is_empty() || part.len() > room {
                continue; // past the limit only the end result counts
            }
            channel.parts += 1;
            channel.parts_bytes += part.len();
            let name = format!("{}.part-{}", stream.name(), channel.parts);
            artifacts.push(self.ports.keep_as(&name, part).await?);
        }
        self.ports.watch.alive(String::new(), artifacts);
        Ok(())
    }

    /// The streams have ended.
    pub(super) async fn finish(mut self) -> Result<Streams, Failure> {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let channel = &mut self.channels[stream as usize];
            let rest = channel.redactor.finish();
            let text = channel.take(&rest, self.limits.stream_bytes_max) + &channel.decoder.finish();
            self.show(stream, text);
        }
        let [stdout, stderr] = self.channels.map(|channel| channel.kept.whole());
        let json = as_json(&stdout, self.limits.tail_bytes);
        let tails = [tail(&stdout, self.limits.tail_bytes), tail(&stderr, self.limits.tail_bytes)];
        let mut artifacts = Vec::new();
        for (stream, bytes) in [(Stream::Stdout, stdout), (Stream::Stderr, stderr)] {
            if !bytes.is_empty() {
                artifacts.push(self.ports.keep_as(stream.name(), bytes).await?);
            }
        }
        let [stdout, stderr] = tails;
        Ok(Streams { stdout, stderr, json, artifacts })
    }
}

/// Reads standard output as one JSON object or list, if it is one and small enough for an output.
fn as_json(bytes: &[u8], bytes_max: usize) -> Option<Value> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if bytes.len() > bytes_max || !matches!(first, b'{' | b'[') {
        return None;
    }
    serde_json::from_slice(bytes).ok()
}
