//! What happens, as it happens: streams with a cursor and no queue.
//!
//! A plan that someone watches has a [`Channel`]: the last messages, made once for all who watch. A reader has nothing but
//! a cursor. It takes what the channel has after it; when it has fallen behind that, it reads the journal from where it
//! is. So a reader that is slow costs no memory, holds up nobody and misses nothing that is on record.
//!
//! Entries of the journal are numbered for ever (`42`). What is not on record by itself, such as output of running tasks
//! as it comes, is numbered behind the entry before it, with the epoch of the channel: `42.7.9f3a`. A reader that comes
//! back gets those only while the channel has them; as a whole they are artifacts when the task has ended. So a channel
//! stays for a while after its last reader has left: connections break off and come back.

pub mod channel; // in reading order
mod cursor;
pub mod pump;
mod sse;
mod socket;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gantry_core::id::PlanId;
use gantry_engine::Engine;

pub use channel::Channel;
pub use socket::progress;
pub use sse::{Resume, of_all, of_plan};

use crate::problem::Problem;

/// How often all readers together are woken in a second.
const WAKES_PER_SECOND: u32 = 5_000;
/// How long a channel stays when nobody reads it: as long as browsers and people take to come back from a break.
const KEPT_FOR: Duration = Duration::from_mins(1);
/// How many channels stay that nobody reads; each takes a few megabytes at most.
const KEPT_MAX: usize = 32;

/// Everything that is watched.
#[derive(Clone)]
pub struct Live(Arc<Inner>);

struct Inner {
    engine: Engine,
    /// What is watched, and by how many. Changed under this lock alone, so that no channel is taken away from a reader.
    channels: Mutex<BTreeMap<PlanId, Watched>>,
    /// What happens to all plans.
    all: Arc<Channel>,
    readers: AtomicUsize,
    readers_max: usize,
}

struct Watched {
    channel: Arc<Channel>,
    readers: usize,
    /// When the last reader left.
    left: Option<Instant>,
}

/// Someone who reads a channel; a while after the last one has left, the channel is gone.
pub struct Reader {
    live: Live,
    plan: Option<PlanId>,
    /// What they read.
    pub channel: Arc<Channel>,
}

impl Live {
    /// Watches an engine.
    pub fn new(engine: Engine, readers_max: usize) -> Self {
        Self(Arc::new(Inner {
            engine,
            channels: Mutex::default(),
            all: Arc::new(Channel::new(0)),
            readers: AtomicUsize::new(0),
            readers_max,
        }))
    }

    /// How many read.
    pub fn readers(&self) -> usize {
        self.0.readers.load(Ordering::Relaxed)
    }

    /// How long a reader who was told something waits for more: together, readers are woken no more often than this machine
    /// does without noticing. Alone, one is told at once.
    pub fn pause(&self) -> std::time::Duration {
        let readers = u32::try_from(self.readers()).unwrap_or(u32::MAX);
        std::time::Duration::from_secs(1) / WAKES_PER_SECOND * readers
    }

    fn channels(&self) -> std::sync::MutexGuard<'_, BTreeMap<PlanId, Watched>> {
        self.0.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to read a plan, or all of them.
    pub async fn read(&self, plan: Option<&PlanId>) -> Result<Reader, Problem> {
        if self.0.readers.fetch_add(1, Ordering::Relaxed) >= self.0.readers_max {
            self.0.readers.fetch_sub(1, Ordering::Relaxed);
            return Err(Problem::new(
                axum::http::StatusCode::SERVICE_UNAVAILABLE,
                "live::too-many",
                format!("there are {} live streams already", self.0.readers_max),
            )
            .hint("come back later with the last number that you saw; nothing is missed"));
        }
        // From here on the count is given back when the reader is dropped.
        let mut reader = Reader { live: self.clone(), plan: None, channel: Arc::clone(&self.0.all) };
        if let Some(plan) = plan {
            let length = self.0.engine.store().plan(plan.as_str()).await?.length;
            let is_new = {
                let mut channels = self.channels();
                let is_new = !channels.contains_key(plan);
                let watched = channels.entry(plan.clone()).or_insert_with(|| Watched {
                    channel: Arc::new(Channel::new(length)),
                    readers: 0,
                    left: None,
                });
                watched.readers += 1;
                watched.left = None;
                reader.channel = Arc::clone(&watched.channel);
                is_new
            };
            reader.plan = Some(plan.clone());
            if is_new {
                // What came between the look at the record and the first reader was told to nobody.
                self.fill(plan, &reader.channel).await;
            }
        }
        Ok(reader)
    }

    /// Lets go of channels that nobody came back to.
    fn forget(&self, now: Instant) {
        let mut channels = self.channels();
        let gone = |left: &Option<Instant>| left.is_some_and(|left| now.duration_since(left) >= KEPT_FOR);
        channels.retain(|_, watched| !gone(&watched.left));
    }

    fn channel(&self, plan: &PlanId) -> Option<Arc<Channel>> {
        self.channels().get(plan).map(|watched| Arc::clone(&watched.channel))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.live.0.readers.fetch_sub(1, Ordering::Relaxed);
        if let Some(plan) = &self.plan {
            let mut channels = self.live.channels();
            if let Some(watched) = channels.get_mut(plan) {
                watched.readers -= 1;
                if watched.readers == 0 {
                    watched.left = Some(Instant::now());
                }
            }
            let left: Vec<(Instant, PlanId)> =
                channels.iter().filter_map(|(plan, watched)| Some((watched.left?, plan.clone()))).collect();
            if left.len() > KEPT_MAX
                && let Some((_, oldest)) = left.into_iter().min()
            {
                channels.remove(&oldest);
            }
        }
    }
}
