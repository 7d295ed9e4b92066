//! Where a plan stands: everything that is read to show one.

use gantry_core::id::TaskId;
use gantry_core::life::{Life, PlanState, State, TaskState};
use gantry_core::time::{Duration, Timestamp};
use gantry_store::{PlanCard, Store, StoreError};

use super::elapsed::now;
use super::timeline::Timeline;
use super::{first_line, without_empty_reason};
use crate::exit::Fault;

/// Where a plan stands.
pub struct Standing {
    /// How it is listed.
    pub card: PlanCard,
    /// Its life.
    pub life: Life,
    /// When things began and ended.
    pub timeline: Timeline,
    /// Some process works on it.
    pub driven: bool,
    /// When this was read.
    pub now: Timestamp,
}

impl Standing {
    /// Reads where a plan stands.
    pub async fn read(store: &dyn Store, reference: &str) -> Result<Self, Fault> {
        let card = store.plan(reference).await.map_err(|error| match error {
            StoreError::NotFound { .. } if reference == "@last" => {
                Fault::bad_input("there are no plans yet").hint("begin one with `gantry run FILE`")
            }
            error => error.into(),
        })?;
        let life = gantry_engine::open(store, &card.id).await?.life;
        let timeline = Timeline::of(&gantry_engine::entries(store, &card.id).await?);
        let driven = store.claimed_by_other(card.no).await?;
        Ok(Self { card, life, timeline, driven, now: now() })
    }

    /// How long the plan has been at work or waiting; when nobody works on it, until it was last touched.
    pub fn elapsed(&self) -> Option<Duration> {
        let goes_on = self.driven || self.life.state() == PlanState::Blocked;
        self.timeline.plan.length(if goes_on { self.now } else { self.card.updated_at })
    }

    /// Something was under way when the process that worked on it went away.
    pub fn is_interrupted(&self) -> bool {
        !self.driven && !self.life.in_flight().is_empty()
    }

    /// How many tasks are over that should be, and how many there are.
    pub fn progress(&self) -> (u32, u32) {
        progress(&self.life)
    }

    /// What a task waits for or suffers from, in a few words.
    pub fn about(&self, task: &TaskId) -> String {
        about(&self.life, task)
    }

    /// How long a task took, or has taken.
    pub fn length(&self, task: &TaskId) -> Option<Duration> {
        let goes_on = self.driven || self.life.task_state(task.as_str()) == Some(TaskState::Waiting);
        self.timeline.task(task).length(if goes_on { self.now } else { self.card.updated_at })
    }
}

/// How many tasks are over that should be, and how many there are.
pub fn progress(life: &Life) -> (u32, u32) {
    let counts = life.counts();
    let of = |state| counts.get(&state).copied().unwrap_or(0);
    (of(TaskState::Completed) + of(TaskState::Skipped), life.task_count())
}

/// What a task waits for or suffers from, in a few words.
pub fn about(life: &Life, task: &TaskId) -> String {
    let Some(known) = life.task_life(task.as_str()) else { return String::new() };
    let failure = || known.failure.as_ref().map(|failure| failure.message.clone()).unwrap_or_default();
    let halted = life.taking_back().filter(|back| back.next == Some(task)).and_then(|back| back.halted);
    if let Some(reason) = halted {
        return first_line(reason, 200);
    }
    let text = match &known.state {
        State::Waiting(waiting) => format!("for {waiting}"),
        State::Blocked { reason, .. } => reason.clone(),
        State::Failed { .. } => failure(),
        State::Skipped { .. } | State::Abandoned => known.because.clone().unwrap_or_default(),
        State::Completed if known.source == gantry_core::event::Source::Fallback => {
            format!("degraded: {}", failure())
        }
        State::Completed => known.outcome.clone().unwrap_or_default(),
        State::Pending => match life.held_by(task.as_str()).as_slice() {
            [] => String::new(),
            held => format!("for {}", held.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")),
        },
        State::Open { .. } | State::Running { .. } => String::new(),
    };
    first_line(without_empty_reason(&text), 200)
}
