//! Fills the channels from what the engine tells and from what others write.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gantry_core::id::PlanId;
use gantry_core::life::{PlanState, TaskState};
use gantry_core::time::Timestamp;
use gantry_engine::Happening;
use gantry_store::{ListFilter, PlanCard, all_plans};
use gantry_view::times::with_even_times;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::{Channel, Live};
use crate::app::App;

/// How often it is told how far plans are.
const TELL_EVERY: Duration = Duration::from_millis(250);
/// How often it is looked for channels that nobody came back to.
const FORGET_EVERY: Duration = Duration::from_secs(10);

impl Live {
    /// Fills the channels until the server stops.
    pub async fn pump(self, stop: CancellationToken) {
        let store = Arc::clone(self.0.engine.store());
        let mut happenings = self.0.engine.watch();
        let mut tick = tokio::time::interval(TELL_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut sweep = tokio::time::interval(FORGET_EVERY);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let (mut mark, mut dirty, mut since) = (store.mark(), BTreeSet::<PlanId>::new(), App::now());
        // When it was listened to the engine last.
        let mut heard = since;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = tick.tick(), if !dirty.is_empty() => {
                    let mut cards = Vec::new();
                    for plan in std::mem::take(&mut dirty) {
                        cards.extend(store.plan(plan.as_str()).await.ok());
                    }
                    // Whoever comes back asks what has changed since the last one that they were told of.
                    cards.sort_by_key(|card| card.updated_at);
                    for card in &cards {
                        self.tell_card(card).await;
                    }
                }
                _ = sweep.tick() => self.forget(Instant::now()),
                happening = happenings.recv() => match happening {
                    Ok(happening) => {
                        heard = App::now();
                        self.take(happening, &mut dirty).await;
                    }
                    Err(RecvError::Lagged(_)) => {
                        let from = std::mem::replace(&mut heard, App::now());
                        self.catch_up().await;
                        dirty.extend(self.changed_since(from).await);
                    }
                    Err(RecvError::Closed) => return,
                },
                seen = store.changed(mark) => {
                    mark = seen;
                    let now = App::now();
                    self.catch_up().await;
                    dirty.extend(self.changed_since(since).await);
                    since = now;
                }
            }
        }
    }

    /// The plans to which something has happened since then. Where they cannot be read just now, the next change tells.
    async fn changed_since(&self, since: Timestamp) -> Vec<PlanId> {
        let filter = ListFilter { since: Some(since), ..ListFilter::default() };
        let found = all_plans(&**self.0.engine.store(), &filter).await.unwrap_or_default();
        found.into_iter().map(|card| card.id).collect()
    }

    async fn take(&self, happening: Happening, dirty: &mut BTreeSet<PlanId>) {
        let (plan, kind, value) = match happening {
            Happening::Events { plan, entries } => {
                if let Some(channel) = self.channel(&plan)
                    && !channel.take(&plan, &entries)
                {
                    self.fill(&plan, &channel).await;
                }
                dirty.insert(plan);
                return;
            }
            Happening::Output { plan, task, attempt, chunk } => {
                let (stream, text) = (chunk.stream, chunk.text);
                let value = json!({"plan": plan, "task": task, "attempt": attempt, "stream": stream, "text": text});
                (plan, "output", value)
            }
            Happening::Notice { plan, task, to, text } => {
                let value = json!({"plan": plan, "task": task, "to": to, "text": text});
                (plan, "notice", value)
            }
            Happening::StoreTrouble { plan, error } => {
                let value = json!({"plan": plan, "text": error.to_string()});
                (plan, "trouble", value)
            }
        };
        if let Some(channel) = self.channel(&plan) {
            channel.take_part(kind, &value);
        }
    }

    /// Reads what was missed, or what others wrote, of every plan that is watched.
    async fn catch_up(&self) {
        let all: Vec<(PlanId, Arc<Channel>)> =
            self.channels().iter().map(|(plan, watched)| (plan.clone(), Arc::clone(&watched.channel))).collect();
        for (plan, channel) in all {
            self.fill(&plan, &channel).await;
        }
    }

    pub(super) async fn fill(&self, plan: &PlanId, channel: &Channel) {
        // A record that cannot be read just now is read at the next sign of life; readers keep their cursors.
        if let Ok(entries) = gantry_engine::entries_after(&**self.0.engine.store(), plan, channel.last().seq).await {
            channel.take(plan, &entries);
        }
    }

    /// Tells how far a plan is: those who watch it, and those who watch all.
    async fn tell_card(&self, card: &PlanCard) {
        let driven = self.0.engine.store().claimed_by_other(card.no).await.unwrap_or_default();
        let value = progress(card, driven);
        if let Some(channel) = self.channel(&card.id) {
            channel.take_part("progress", &value);
        }
        self.0.all.take_plan(&value, card.updated_at.as_ms());
    }
}

/// How far a plan is, for programs.
pub fn progress(card: &PlanCard, driven: bool) -> Value {
    let mut value = with_even_times(gantry_view::json::card(card, driven, None));
    value["percent"] = json!(percent(card));
    value
}

/// How much of a plan is done, from 0 to 100; all of it only when it is completed.
pub fn percent(card: &PlanCard) -> u32 {
    if card.card.state == PlanState::Completed {
        return 100;
    }
    let of = |state| card.card.tasks.get(&state).copied().unwrap_or(0);
    let total: u32 = card.card.tasks.values().sum();
    let done = of(TaskState::Completed) + of(TaskState::Skipped);
    (done * 100).checked_div(total).unwrap_or(0).min(99)
}
