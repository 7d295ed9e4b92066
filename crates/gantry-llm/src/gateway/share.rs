//! Identical questions that are under way at once share one call.

use std::collections::BTreeMap;
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
    places: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<End>>>>,
}

impl UnderWay {
    /// Waits for whoever asks the same. The first one finds no end and asks; the others find the end.
    pub async fn turn(&self, plan: &str, key: &str) -> Turn<'_> {
        let name = format!("{plan} {key}");
        let place = self.lock().entry(name.clone()).or_default().clone();
        let leave = Leave { under_way: self, name, place: place.clone() };
        Turn { end: place.lock_owned().await, leave }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<tokio::sync::Mutex<End>>>> {
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
        if shared.is_some() {
            // Whoever comes from now on finds it in the record, or asks anew.
            self.leave.close();
        }
        *self.end = shared;
    }
}

/// Takes the place away when the last one leaves, also one who was dropped while waiting.
struct Leave<'a> {
    under_way: &'a UnderWay,
    name: String,
    place: Arc<tokio::sync::Mutex<End>>,
}

impl Leave<'_> {
    fn close(&self) {
        let mut places = self.under_way.lock();
        if places.get(&self.name).is_some_and(|place| Arc::ptr_eq(place, &self.place)) {
            places.remove(&self.name);
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
