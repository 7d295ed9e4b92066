//! Where a plan stands: everything that is read to show one.

use gantry_core::id::TaskId;
use gantry_core::life::{Life, PlanState, State, TaskState};
use gantry_core::plan::Action;
use gantry_core::time::{Duration, Timestamp};
use gantry_engine::{EngineError, Opened};
use gantry_store::{ListFilter, PlanCard, Store, StoreError, all_plans};

use crate::elapsed::now;
use crate::forecast::{Forecast, Look};
use crate::next::{self, Next};
use crate::timeline::Timeline;
use crate::{first_line, without_empty_reason};

/// Tells whether something was under way that a process which went away took along. A plan inside a task is not: it has
/// a record of its own.
pub fn has_lost(life: &Life) -> bool {
    life.in_flight().iter().any(|(task, _)| !is_nested(life, task))
}

/// Tells whether nothing has happened to a plan since it was made from another one.
pub fn is_new_fork(plan: &PlanCard) -> bool {
    // Its own first entry says that it is a fork.
    !plan.card.state.is_over() && plan.card.forked_from.as_ref().is_some_and(|from| plan.length <= from.seq + 1)
}

/// The label of the plan that keeps what was said about plans.
pub const CONVERSATIONS: &str = "conversations";

/// Tells whether a plan stands beside those that people made: a part of another, or what keeps talks.
pub fn is_aside(plan: &PlanCard) -> bool {
    plan.card.parent.is_some() || plan.card.labels.iter().any(|label| label == CONVERSATIONS)
}

/// Tells whether a task is a plan inside.
pub fn is_nested(life: &Life, task: &TaskId) -> bool {
    let action = life.definition(task.as_str()).and_then(|task| task.action.as_ref());
    matches!(action, Some(Action::Plan(_)))
}

/// All plans that have begun and are not over, plans inside others among them.
pub async fn unfinished(store: &dyn Store) -> Result<Vec<PlanCard>, StoreError> {
    let states = vec![PlanState::Running, PlanState::Blocked, PlanState::Paused];
    all_plans(store, &ListFilter { states, ..ListFilter::default() }).await
}

/// Reads the lives of plans inside this one that are not over, at whatever depth.
pub async fn lives_inside(store: &dyn Store, life: &Life) -> Result<Vec<Life>, EngineError> {
    let (mut lives, mut around) = (Vec::new(), vec![life.id().clone()]);
    if !life.in_flight().iter().any(|(task, _)| is_nested(life, task)) {
        return Ok(lives);
    }
    let mut open = unfinished(store).await?;
    while let Some(plan) = around.pop() {
        let (inside, others) = open.into_iter().partition(|card: &PlanCard| card.card.parent.as_ref() == Some(&plan));
        open = others;
        for card in inside {
            lives.push(gantry_engine::open(store, &card.id).await?.life);
            around.push(card.id);
        }
    }
    Ok(lives)
}

/// Where a plan stands.
pub struct Standing {
    /// How it is listed.
    pub card: PlanCard,
    /// Its life.
    pub life: Life,
    /// The lives of plans inside it that are not over.
    pub inside: Vec<Life>,
    /// When things began and ended.
    pub timeline: Timeline,
    /// Some process works on it.
    pub driven: bool,
    /// When this was read.
    pub now: Timestamp,
    /// When it will be done, where someone looked.
    pub forecast: Option<Forecast>,
}

impl Standing {
    /// Reads where a plan stands.
    pub async fn read(store: &dyn Store, reference: &str) -> Result<Self, EngineError> {
        let card = store.plan(reference).await?;
        let Opened { life, timeline, .. } = gantry_engine::open(store, &card.id).await?;
        let inside = lives_inside(store, &life).await?;
        let driven = store.claimed_by_other(card.no).await?;
        Ok(Self { card, life, inside, timeline, driven, now: now(), forecast: None })
    }

    /// Looks when it will be done.
    #[must_use]
    pub fn foreseen(self) -> Self {
        Self { forecast: Forecast::of(&self.life, &self.timeline, self.now, Look::Close), ..self }
    }

    /// How long the plan has been at work or waiting; when nobody works on it, until it was last touched.
    pub fn elapsed(&self) -> Option<Duration> {
        let goes_on = self.driven || self.life.state() == PlanState::Blocked;
        self.timeline.plan.length(if goes_on { self.now } else { self.card.updated_at })
    }

    /// Something was under way when the process that worked on it went away.
    pub fn is_interrupted(&self) -> bool {
        !self.driven && !self.is_new_fork() && has_lost(&self.life)
    }

    /// Nobody has worked on it since it was made from another plan.
    pub fn is_new_fork(&self) -> bool {
        !self.driven && is_new_fork(&self.card)
    }

    /// What to do next, beginning with what plans inside this one wait for.
    pub fn steps(&self) -> Vec<Next> {
        let mut steps: Vec<Next> = self.inside.iter().flat_map(next::all_answers).collect();
        steps.extend(next::steps(&self.life, self.driven));
        if self.is_new_fork()
            && let Some(resume) = steps.iter_mut().find(|step| step.command.starts_with("gantry resume "))
        {
            "begin".clone_into(&mut resume.does);
        }
        if self.forecast.as_ref().is_some_and(Forecast::is_late) {
            let does = "what would bring it back in time, and at what price".to_owned();
            steps.push(Next { command: format!("gantry replan {}", self.life.id()), does });
        }
        steps
    }

    /// How many tasks are over that should be, and how many there are.
    pub fn progress(&self) -> (u32, u32) {
        progress(&self.life)
    }

    /// How much of it is done by what its tasks take, from 0 to 100.
    pub fn percent(&self) -> u32 {
        crate::weight::percent(&self.life)
    }

    /// What a task waits for or suffers from, in a few words.
    pub fn about(&self, task: &TaskId) -> String {
        about(&self.life, task)
    }

    /// How long a task took, or has taken.
    pub fn length(&self, task: &TaskId) -> Option<Duration> {
        let state = self.life.task_state(task.as_str());
        if !self.driven && state == Some(TaskState::Running) {
            return None; // how long it ran before its process went away nobody knows
        }
        let goes_on = self.driven || state == Some(TaskState::Waiting);
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
        State::Completed if known.is_degraded() => {
            format!("degraded: {}", known.shortfall.clone().unwrap_or_else(failure))
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
