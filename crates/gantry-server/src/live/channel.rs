//! The last messages about a plan, made once for all who watch it.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_view::times::with_even_times;
use gantry_view::words::{Tone, said};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::cursor::Cursor;

/// How many messages a channel keeps, and how many bytes of them.
const MESSAGES_MAX: usize = 2_048;
const BYTES_MAX: usize = 2 << 20;

/// One message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Where it stands.
    pub at: Cursor,
    /// What sort it is: `journal`, `output`, `notice`, `progress`, `trouble`, `plan`.
    pub kind: &'static str,
    /// What it says, as JSON.
    pub data: Bytes,
    /// It as an event of a stream about one plan: the same for everyone, so it is made once.
    pub frame: Bytes,
}

impl Message {
    /// A message of this life of the process.
    pub fn new(at: Cursor, kind: &'static str, value: &Value, epoch: &str) -> Self {
        let mut frame = format!("id: {}\nevent: {kind}\ndata: ", at.written(epoch));
        let begin = frame.len();
        let _ = write!(frame, "{value}"); // writing into a string cannot fail; JSON has no line ends in it
        let end = frame.len();
        frame.push_str("\n\n");
        let frame = Bytes::from(frame);
        Self { at, kind, data: frame.slice(begin..end), frame }
    }
}

/// The last messages about a plan.
pub struct Channel {
    kept: Mutex<Kept>,
    /// How many messages there were: whoever waits is told when it grows.
    grown: watch::Sender<u64>,
    /// Which life of this process: a part of the numbers of messages.
    epoch: String,
}

struct Kept {
    messages: VecDeque<Message>,
    bytes: usize,
    /// Messages after this one are all here.
    floor: Cursor,
    /// The last message.
    last: Cursor,
}

/// What there is after a cursor.
pub enum After {
    /// These; none means that there is nothing yet.
    Here(Vec<Message>),
    /// The channel does not reach back that far: the journal has what is on record.
    Behind,
}

impl Channel {
    /// A channel for what comes after this entry.
    pub fn new(length: u64, epoch: &str) -> Self {
        let last = Cursor::after(length);
        let kept = Kept { messages: VecDeque::new(), bytes: 0, floor: last.clone(), last };
        Self { kept: Mutex::new(kept), grown: watch::Sender::new(0), epoch: epoch.to_owned() }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last message.
    pub fn last(&self) -> Cursor {
        self.kept().last.clone()
    }

    /// From where on the channel has everything.
    pub fn floor(&self) -> Cursor {
        self.kept().floor.clone()
    }

    /// Tells when there is more.
    pub fn grown(&self) -> watch::Receiver<u64> {
        self.grown.subscribe()
    }

    /// What comes after a cursor, at most so many.
    pub fn after(&self, cursor: &Cursor, most: usize) -> After {
        let kept = self.kept();
        if *cursor < kept.floor {
            return After::Behind;
        }
        let from = kept.messages.partition_point(|message| message.at <= *cursor);
        After::Here(kept.messages.iter().skip(from).take(most).cloned().collect())
    }

    /// Takes entries of the journal; those that it has are passed over. False when some are missing in between.
    pub fn take(&self, plan: &PlanId, entries: &[Entry]) -> bool {
        let mut kept = self.kept();
        let known = kept.last.seq;
        let (mut grew, mut whole) = (false, true);
        for entry in entries.iter().filter(|entry| entry.seq > known) {
            if entry.seq != kept.last.seq + 1 {
                whole = false;
                break;
            }
            kept.push(journal_message(plan, entry, &self.epoch));
            grew = true;
        }
        drop(kept);
        if grew {
            self.tell();
        }
        whole
    }

    /// Takes something that is not on record by itself.
    pub fn take_part(&self, kind: &'static str, value: &Value) {
        let mut kept = self.kept();
        let at = Cursor { seq: kept.last.seq, part: kept.last.part + 1 };
        kept.push(Message::new(at, kind, value, &self.epoch));
        drop(kept);
        self.tell();
    }

    /// Takes something that is numbered here alone.
    pub fn take_next(&self, kind: &'static str, value: &Value) {
        let mut kept = self.kept();
        let at = Cursor::after(kept.last.seq + 1);
        kept.push(Message::new(at, kind, value, &self.epoch));
        drop(kept);
        self.tell();
    }

    fn tell(&self) {
        self.grown.send_modify(|count| *count += 1);
    }
}

impl Kept {
    fn push(&mut self, message: Message) {
        self.last = message.at.clone();
        self.bytes += message.frame.len();
        self.messages.push_back(message);
        while self.messages.len() > MESSAGES_MAX || self.bytes > BYTES_MAX {
            let Some(gone) = self.messages.pop_front() else { break };
            self.bytes -= gone.frame.len();
            self.floor = gone.at;
        }
    }
}

/// An entry of the journal as a message: the entry, and what happened in words.
pub fn journal_message(plan: &PlanId, entry: &Entry, epoch: &str) -> Message {
    Message::new(Cursor::after(entry.seq), "journal", &journal_value(plan, entry), epoch)
}

/// An entry of the journal for programs, with what happened in words.
pub fn journal_value(plan: &PlanId, entry: &Entry) -> Value {
    let words = said(&entry.event);
    let tone = match words.tone {
        Tone::Plain => "plain",
        Tone::Good => "good",
        Tone::Waits => "waits",
        Tone::Bad => "bad",
    };
    let entry_value = json!(entry);
    let value = json!({
        "plan": plan, "seq": entry.seq, "at": entry.at, "event": entry_value["event"], "said": words.line(),
        "tone": tone, "about": entry.event.task(), "entry": entry_value,
    });
    with_even_times(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_core::event::Event;
    use gantry_core::time::Timestamp;

    fn entry(seq: u64) -> Entry {
        Entry { v: 1, seq, at: Timestamp::from_ms(0), event: Event::PlanStarted }
    }

    fn seen(channel: &Channel, cursor: &Cursor) -> Option<Vec<String>> {
        match channel.after(cursor, 100) {
            After::Here(messages) => Some(messages.iter().map(|message| message.at.to_string()).collect()),
            After::Behind => None,
        }
    }

    #[test]
    fn everyone_gets_what_comes_after_their_cursor_and_nothing_twice() {
        let (channel, plan) = (Channel::new(2, "9f3a"), PlanId::slugged("p"));
        assert!(channel.take(&plan, &[entry(2), entry(3)]));
        channel.take_part("output", &json!({}));
        assert!(channel.take(&plan, &[entry(3), entry(4)]), "what is known is passed over");
        assert_eq!(seen(&channel, &Cursor::after(2)).unwrap(), ["3", "3.1", "4"]);
        assert_eq!(seen(&channel, &Cursor { seq: 3, part: 1 }).unwrap(), ["4"]);
        assert_eq!(seen(&channel, &Cursor::after(4)).unwrap(), [""; 0]);
        assert_eq!(seen(&channel, &Cursor::after(1)), None, "the journal has it");
    }

    #[test]
    fn a_gap_is_told() {
        let (channel, plan) = (Channel::new(0, "9f3a"), PlanId::slugged("p"));
        assert!(!channel.take(&plan, &[entry(2)]));
        assert_eq!(channel.last(), Cursor::after(0));
    }

    #[test]
    fn a_channel_keeps_no_more_than_it_may() {
        let (channel, plan) = (Channel::new(0, "9f3a"), PlanId::slugged("p"));
        for seq in 1..=3_000 {
            assert!(channel.take(&plan, &[entry(seq)]));
        }
        assert_eq!(seen(&channel, &Cursor::after(10)), None);
        assert_eq!(channel.kept().messages.len(), MESSAGES_MAX);
        let text = json!({"text": "x".repeat(BYTES_MAX / 2)});
        (0..4).for_each(|_| channel.take_part("output", &text));
        assert!(channel.kept().bytes <= BYTES_MAX);
    }

    #[test]
    fn whoever_fell_behind_what_a_task_says_goes_on_with_what_there_still_is() {
        let channel = Channel::new(3, "9f3a");
        (0..3_000).for_each(|_| channel.take_part("output", &json!({})));
        assert_eq!(seen(&channel, &Cursor { seq: 3, part: 5 }), None);
        let floor = channel.floor();
        assert_eq!(
            seen(&channel, &floor).unwrap().first(),
            Some(&format!("3.{}", floor.part + 1)),
            "nothing in between"
        );
    }
}
