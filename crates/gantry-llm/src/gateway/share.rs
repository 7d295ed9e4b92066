//! Identical questions that are under way at once share one call.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::answer::Answer;
use crate::error::AskError;

/// What came of the question, for those who wait behind the one who asks.
type End = Option<Result<Answer, AskError>>;

/// The questions that are under way, by plan and key.
#[derive(Default)]
pub struct UnderWay {
    /// Held for a look-up, never while waiting.
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    by_name: BTreeMap<String, Place>,
    /// The last answers, for whoever asks the same before they are on record.
    recent: VecDeque<(String, Place)>,
}

type Place = Arc<tokio::sync::Mutex<End>>;

/// So many answers are known for a while after they came.
const RECENT_MAX: usize = 64;

impl UnderWay {
    /// Waits for whoever asks the same. The first one finds no end and asks; the others find the end.
    pub async fn turn(&self, plan: &str, key: &str) -> Turn<'_> {
        let name = format!("{plan} {key}");
        let place = self.lock().by_name.entry(name.clone()).or_default().clone();
        let leave = Leave { under_way: self, name, place: place.clone() };
        Turn { end: place.lock_owned().await, leave }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to ask, or to take what was answered.
pub struct Turn<'a> {
    end: OwnedMutexGuard<End>,
    leave: Leave<'a>,
}

impl Turn<'_> {
    /// What came of it, if somebody has asked already.
    pub fn end(&self) -> End {
        self.end.clone()
    }

    /// Lets those behind have what came of it. What is nobody else's trouble (a budget, a stop, a record) is kept
    /// from them: then the next one asks.
    pub fn set(&mut self, end: &Result<Answer, AskError>) {
        let shared = match end {
            Ok(_) | Err(AskError::Calls { .. } | AskError::Invalid { .. }) => Some(end.clone()),
            Err(AskError::Configuration(_) | AskError::Budget(_) | AskError::Record(_) | AskError::Cancelled) => None,
        };
        match &shared {
            Some(Ok(_)) => self.leave.remember(),
            // Whoever comes from now on asks anew.
            Some(Err(_)) => self.leave.close(),
            None => {}
        }
        *self.end = shared;
    }
}

/// Takes the place away when the last one leaves, also one who was dropped while waiting.
struct Leave<'a> {
    under_way: &'a UnderWay,
    name: String,
    place: Place,
}

impl Leave<'_> {
    /// Keeps the place for a while, and takes away the one that was kept longest.
    fn remember(&self) {
        let mut places = self.under_way.lock();
        places.recent.push_back((self.name.clone(), Arc::clone(&self.place)));
        if places.recent.len() > RECENT_MAX
            && let Some((name, place)) = places.recent.pop_front()
        {
            places.close(&name, &place);
        }
    }

    fn close(&self) {
        self.under_way.lock().close(&self.name, &self.place);
    }
}

impl Places {
    fn close(&mut self, name: &str, place: &Place) {
        if self.by_name.get(name).is_some_and(|known| Arc::ptr_eq(known, place)) {
            self.by_name.remove(name);
        }
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        // One in the map, one here, and one in the guard beside it, which is dropped first.
        if Arc::strong_count(&self.place) <= 2 {
            self.close();
        }
    }
}
