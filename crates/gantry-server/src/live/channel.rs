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
use crate::access::random_hex;

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
    /// It as an event of a stream: the same for everyone, so it is made once.
    pub frame: Bytes,
    /// When what it tells of had happened, in milliseconds; of plans among all plans alone.
    pub since_ms: i64,
    /// How much of the frame is its number.
    number_bytes: usize,
}

/// What the number of a message stands behind.
const NUMBER: &str = "id: ";

impl Message {
    /// A message about one plan, in a channel of this epoch.
    pub fn new(at: Cursor, kind: &'static str, value: &Value, epoch: &str) -> Self {
        let number = at.written(epoch);
        Self::numbered(at, &number, kind, value)
    }

    /// How a plan stands, as a message about all plans: whoever comes back with its number is told what has changed since,
    /// also when its epoch is over.
    pub fn of_all(at: Cursor, value: &Value, since_ms: i64, epoch: &str) -> Self {
        let number = format!("{}-{since_ms}-{epoch}", at.seq);
        Self { since_ms, ..Self::numbered(at, &number, "plan", value) }
    }

    fn numbered(at: Cursor, number: &str, kind: &'static str, value: &Value) -> Self {
        let mut frame = format!("{NUMBER}{number}\nevent: {kind}\ndata: ");
        let begin = frame.len();
        let _ = write!(frame, "{value}"); // writing into a string cannot fail; JSON has no line ends in it
        let end = frame.len();
        frame.push_str("\n\n");
        let frame = Bytes::from(frame);
        Self { at, kind, data: frame.slice(begin..end), frame, since_ms: 0, number_bytes: number.len() }
    }

    /// Its number, as clients say it back.
    pub fn number(&self) -> &str {
        let number = self.frame.get(NUMBER.len()..NUMBER.len() + self.number_bytes);
        number.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

/// The last messages about a plan.
pub struct Channel {
    kept: Mutex<Kept>,
    /// How many messages there were: whoever waits is told when it grows.
    grown: watch::Sender<u64>,
    /// Which channel this is: a part of the numbers of messages, so that those of a channel that is gone mean nothing here.
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
    pub fn new(length: u64) -> Self {
        let last = Cursor::after(length);
        let kept = Kept { messages: VecDeque::new(), bytes: 0, floor: last.clone(), last };
        Self { kept: Mutex::new(kept), grown: watch::Sender::new(0), epoch: random_hex(4) }
    }

    /// Which channel this is.
    pub fn epoch(&self) -> &str {
        &self.epoch
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

    /// Takes how a plan stands, which is numbered here alone.
    pub fn take_plan(&self, value: &Value, since_ms: i64) {
        let mut kept = self.kept();
        let at = Cursor::after(kept.last.seq + 1);
        kept.push(Message::of_all(at, value, since_ms, &self.epoch));
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
        let (channel, plan) = (Channel::new(2), PlanId::slugged("p"));
        assert!(channel.take(&plan, &[entry(2), entry(3)]));
        channel.take_part("output", &json!({}));
        assert!(channel.take(&plan, &[entry(3), entry(4)]), "what is known is passed over");
        assert_eq!(seen(&channel, &Cursor::after(2)).unwrap(), ["3", "3.1", "4"]);
        assert_eq!(seen(&channel, &Cursor { seq: 3, part: 1 }).unwrap(), ["4"]);
        assert_eq!(seen(&channel, &Cursor::after(4)).unwrap(), [""; 0]);
        assert_eq!(seen(&channel, &Cursor::after(1)), None, "the journal has it");
    }

    #[test]
    fn numbers_of_a_channel_that_is_gone_mean_their_entry_alone() {
        let (gone, fresh) = (Channel::new(3), Channel::new(3));
        gone.take_part("output", &json!({}));
        let After::Here(told) = gone.after(&Cursor::after(3), 1) else { panic!("it is there") };
        assert_eq!(Cursor::parse(told[0].number(), gone.epoch()), Some(Cursor { seq: 3, part: 1 }));
        assert_eq!(Cursor::parse(told[0].number(), fresh.epoch()), Some(Cursor::after(3)));
    }

    #[test]
    fn a_gap_is_told() {
        let (channel, plan) = (Channel::new(0), PlanId::slugged("p"));
        assert!(!channel.take(&plan, &[entry(2)]));
        assert_eq!(channel.last(), Cursor::after(0));
    }

    #[test]
    fn a_channel_keeps_no_more_than_it_may() {
        let (channel, plan) = (Channel::new(0), PlanId::slugged("p"));
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
        let channel = Channel::new(3);
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
