//! Answers that a provider keeps.
//!
//! A question may name the answer that it follows; then the provider knows everything that was said up to that answer, and
//! only what came after it is sent. Which answer that is depends on what was said alone, not on who asks or when: the
//! longest beginning of the talk that ends with an answer that is kept.
//!
//! Invariant: what is sent and what is kept are together exactly the talk; a talk that differs in one word is told anew.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::answer::{Finish, Reply};
use crate::request::Message;
use crate::target::{Protocol, Target};

/// How many answers are remembered; those that came first are forgotten first. A talk whose answers are forgotten is told
/// anew, which costs time and loses nothing.
const ANSWERS_MAX: usize = 10_000;

/// A hash of who was asked and of everything that was said.
type Name = [u8; 32];

/// The ids of answers, by what was said up to them and by them.
#[derive(Default)]
pub struct Kept {
    /// Held for a look-up, never while waiting.
    answers: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    ids: BTreeMap<Name, String>,
    /// In the order in which they came.
    order: VecDeque<Name>,
}

/// An answer that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// What the provider calls it.
    pub id: String,
    /// How many messages of the talk it stands for, itself included.
    pub length: usize,
    name: Name,
}

impl Kept {
    /// The answer that stands for the longest beginning of a talk, and leaves something to say.
    pub fn longest(&self, target: &Target, said: &[Message]) -> Option<KeptAnswer> {
        if !is_kept(target) {
            return None;
        }
        let names = beginnings(target, said);
        let answers = self.lock();
        names.into_iter().rev().filter(|(length, _)| *length < said.len()).find_map(|(length, name)| {
            let id = answers.ids.get(&name)?.clone();
            Some(KeptAnswer { id, length, name })
        })
    }

    /// Remembers the answer to what was said, if it can be followed: one that was cut or refused is told anew.
    pub fn remember(&self, target: &Target, said: &[Message], reply: &Reply) {
        let Some(id) = reply.id.as_ref().filter(|_| is_kept(target)) else { return };
        if !matches!(reply.finish, Finish::Done | Finish::Tools) {
            return;
        }
        let mut said = said.to_vec();
        said.push(Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() });
        if let Some((_, name)) = beginnings(target, &said).pop() {
            self.lock().put(name, id.clone());
        }
    }

    /// Forgets an answer that the provider does not know any more.
    pub fn forget(&self, answer: &KeptAnswer) {
        let mut answers = self.lock();
        answers.ids.remove(&answer.name);
        answers.order.retain(|name| *name != answer.name);
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers {
    fn put(&mut self, name: Name, id: String) {
        if self.ids.insert(name, id).is_none() {
            self.order.push_back(name);
        }
        if self.order.len() > ANSWERS_MAX
            && let Some(first) = self.order.pop_front()
        {
            self.ids.remove(&first);
        }
    }
}

/// Tells whether the answers of a target are kept.
fn is_kept(target: &Target) -> bool {
    target.keep && target.protocol == Protocol::OpenaiResponses
}

/// The name of each beginning of a talk that ends with an answer, and its length, the shortest first.
fn beginnings(target: &Target, said: &[Message]) -> Vec<(usize, Name)> {
    let mut hash = blake3::Hasher::new();
    hash.update(json!(target.id()).to_string().as_bytes());
    let mut names = Vec::new();
    for (place, message) in said.iter().enumerate() {
        // Each is a JSON object, so that none can run into the next.
        hash.update(json!(message).to_string().as_bytes());
        if matches!(message, Message::Assistant { .. }) {
            names.push((place + 1, hash.finalize().into()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper() -> Target {
        Target { protocol: Protocol::OpenaiResponses, keep: true, ..Target::offline() }
    }

    fn reply(text: &str, id: &str) -> Reply {
        Reply { text: text.to_owned(), id: Some(id.to_owned()), ..Reply::default() }
    }

    fn talk(words: &[&str]) -> Vec<Message> {
        let said = |(place, words): (usize, &&str)| {
            if place % 2 == 0 { Message::user(*words) } else { Message::assistant(*words) }
        };
        words.iter().enumerate().map(said).collect()
    }

    fn found(kept: &Kept, target: &Target, words: &[&str]) -> Option<(String, usize)> {
        kept.longest(target, &talk(words)).map(|answer| (answer.id, answer.length))
    }

    #[test]
    fn the_longest_beginning_that_is_known_counts_and_only_when_every_word_is_the_same() {
        let (kept, target) = (Kept::default(), keeper());
        kept.remember(&target, &talk(&["a"]), &reply("b", "one"));
        kept.remember(&target, &talk(&["a", "b", "c"]), &reply("d", "two"));
        assert_eq!(found(&kept, &target, &["a", "b", "c", "d", "e"]), Some(("two".to_owned(), 4)));
        assert_eq!(found(&kept, &target, &["a", "b", "c", "D", "e"]), Some(("one".to_owned(), 2)));
        assert_eq!(found(&kept, &target, &["a", "b"]), None, "nothing would be left to say");
        assert_eq!(found(&kept, &target, &["A", "b", "c", "d", "e"]), None);
        let mut other = keeper();
        other.model = "another".to_owned();
        assert_eq!(found(&kept, &other, &["a", "b", "c"]), None, "each model has answers of its own");
        kept.forget(&kept.longest(&target, &talk(&["a", "b", "c", "d", "e"])).unwrap());
        assert_eq!(found(&kept, &target, &["a", "b", "c", "d", "e"]), Some(("one".to_owned(), 2)));
    }

    #[test]
    fn only_what_is_kept_and_whole_can_be_followed() {
        let kept = Kept::default();
        for (keep, protocol, finish, is_known) in [
            (true, Protocol::OpenaiResponses, Finish::Done, true),
            (true, Protocol::OpenaiResponses, Finish::Length, false),
            (true, Protocol::OpenaiResponses, Finish::Refused, false),
            (false, Protocol::OpenaiResponses, Finish::Done, false),
            (true, Protocol::Anthropic, Finish::Done, false),
        ] {
            let target = Target { keep, protocol, model: format!("{keep} {protocol:?} {finish:?}"), ..keeper() };
            kept.remember(&target, &talk(&["a"]), &Reply { finish, ..reply("b", "one") });
            assert_eq!(found(&kept, &target, &["a", "b", "c"]).is_some(), is_known, "{}", target.model);
        }
        kept.remember(&keeper(), &talk(&["a"]), &Reply { id: None, ..reply("b", "") });
        assert_eq!(found(&kept, &keeper(), &["a", "b", "c"]), None, "an answer without an id cannot be named");
    }

    #[test]
    fn the_first_are_forgotten_first() {
        let (kept, target) = (Kept::default(), keeper());
        for number in 0..=ANSWERS_MAX {
            kept.remember(&target, &talk(&[&number.to_string()]), &reply("b", &number.to_string()));
        }
        assert_eq!(found(&kept, &target, &["0", "b", "c"]), None);
        assert_eq!(found(&kept, &target, &["1", "b", "c"]), Some(("1".to_owned(), 2)));
        assert_eq!(kept.lock().order.len(), ANSWERS_MAX);
    }
}
