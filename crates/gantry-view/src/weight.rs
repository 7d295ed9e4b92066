//! How much of a plan is done, by what its tasks take: a hundred small steps are not a hundred times one call to a model,
//! and neither is a month of work.

use gantry_core::id::TaskId;
use gantry_core::life::{Life, PlanState, TaskState};
use gantry_core::plan::{Action, Task};
use gantry_core::time::Duration;
use gantry_schedule::project::{Length, Scale, Unit};

/// What one call to a model takes, in seconds.
const CALL_S: f64 = 20.0;
/// How many calls an agent makes before it is known.
const AGENT_CALLS: f64 = 10.0;
/// How many parts a map has before it is known.
const MAP_PARTS: f64 = 6.0;
/// What a plan inside takes before it is known.
const NESTED_S: f64 = 300.0;
/// What a person takes who was not asked how long it takes: to decide, or to answer.
const PERSON_S: f64 = 60.0;
/// What this program, or a command, takes for a step of its own.
const STEP_S: f64 = 1.0;

/// A working day and a week, in seconds: what a day of work is where an estimate says no hours.
const DAY_S: i64 = 8 * 3_600;
const WEEK_S: i64 = 5 * DAY_S;

/// How much there is to do and how much of it is done, in seconds that are expected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    /// What is over that should be.
    pub done: f64,
    /// All of it.
    pub all: f64,
}

impl Weight {
    /// Weighs a plan as it stands.
    pub fn of(life: &Life) -> Self {
        let mut weight = Self::default();
        let plan = life.plan();
        let scale = Scale::of_week(DAY_S, WEEK_S, Unit::Hour);
        for id in life.task_ids() {
            let Some(task) = life.definition(id.as_str()) else { continue };
            let scheduled = plan.schedule.tasks.get(&id).and_then(|numbers| numbers.estimate);
            #[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
            let length = |length: Length| length.to_seconds(&scale) as f64;
            let own = match scheduled {
                Some(estimate) => mean([estimate.low, estimate.likely, estimate.high].map(length)),
                None => expected_s(life, &id, task),
            };
            weight.all += own;
            if matches!(life.task_state(id.as_str()), Some(TaskState::Completed | TaskState::Skipped)) {
                weight.done += own;
            }
        }
        weight
    }

    /// Two plans together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { done: self.done + other.done, all: self.all + other.all }
    }

    /// From 0 to 1.
    pub fn share(self) -> f64 {
        if self.all > 0.0 { (self.done / self.all).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// How much of a plan is done, from 0 to 100; all of it only when it is completed.
pub fn percent(life: &Life) -> u32 {
    if life.state() == PlanState::Completed {
        return 100;
    }
    percent_of(Weight::of(life)).min(99)
}

/// A share in percent, rounded down: what is not done is not shown as done.
pub fn percent_of(weight: Weight) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 100")]
    let percent = (weight.share() * 100.0).floor() as u32;
    percent
}

/// How long a task is expected to take: by its estimate, else by what it does. What only contains others takes nothing.
fn expected_s(life: &Life, id: &TaskId, task: &Task) -> f64 {
    if let Some(estimate) = &task.estimate {
        #[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
        let seconds = |length: Duration| length.as_ms() as f64 / 1_000.0;
        return mean([estimate.low, estimate.likely, estimate.high].map(seconds));
    }
    match &task.action {
        None | Some(Action::Adopt(_)) => 0.0,
        Some(Action::Model(_) | Action::Decide(_)) => CALL_S,
        Some(Action::Agent(_)) => CALL_S * AGENT_CALLS,
        // Its parts, once they are known, weigh for themselves.
        Some(Action::Map(_)) if has_parts(life, id) => 0.0,
        Some(Action::Map(_)) => CALL_S * MAP_PARTS,
        Some(Action::Plan(_)) => NESTED_S,
        Some(Action::Gate(_) | Action::Ask(_) | Action::Manual(_)) => PERSON_S,
        Some(
            Action::Run(_)
            | Action::Command(_)
            | Action::Tool(_)
            | Action::Compute(_)
            | Action::Checkpoint(_)
            | Action::Wait(_)
            | Action::UndoTo(_),
        ) => STEP_S,
    }
}

/// The mean of three values, as schedules take it.
fn mean([low, likely, high]: [f64; 3]) -> f64 {
    (low + 4.0 * likely + high) / 6.0
}

fn has_parts(life: &Life, id: &TaskId) -> bool {
    let is_part = |other: &TaskId| life.definition(other.as_str()).is_some_and(|task| task.parent.as_ref() == Some(id));
    life.task_ids().iter().any(is_part)
}

#[cfg(test)]
mod tests {
    use gantry_core::id::AttemptNo;
    use gantry_core::input::{Input, Success};
    use gantry_core::life;
    use gantry_core::policy::Usage;
    use gantry_core::time::Timestamp;

    use super::*;

    fn begun(text: &str) -> Life {
        let loaded = gantry_format::load("plan.yaml", text.as_bytes());
        let plan = loaded.plan.unwrap_or_else(|| panic!("{}", loaded.report.render(false)));
        let id = plan.id.clone().unwrap();
        life::replay(&life::create(plan, id, 1, Timestamp::from_ms(0)).unwrap()).unwrap()
    }

    fn told(life: &Life, input: &Input) -> Life {
        life.decide(input, Timestamp::from_ms(1)).unwrap().life
    }

    #[test]
    fn a_quick_step_is_little_when_the_next_one_takes_a_day() {
        let life = begun(
            "
id: house
title: House
tasks:
  - {id: a, run: 'true', estimate: {low: 1m, likely: 1m, high: 1m}}
  - {id: b, run: make b, depends_on: [a], estimate: {low: 20h, likely: 24h, high: 28h}}
",
        );
        assert_eq!(percent(&life), 0);
        let life = told(&life, &Input::Start);
        let (task, end) = (TaskId::new("a").unwrap(), Ok(Success::default()));
        let done = Input::Ended { task, attempt: AttemptNo(1), end, usage: Usage::default() };
        let life = told(&life, &done);
        assert_eq!((crate::standing::progress(&life), percent(&life)), ((1, 2), 0), "one of two, and next to nothing");
    }

    #[test]
    fn calls_to_models_weigh_more_than_steps_of_this_program() {
        let life = begun(
            "
id: think
title: Think
tasks:
  - {id: ask, model: {instruction: say it}}
  - {id: sum, run: 'true', depends_on: [ask]}
",
        );
        let weight = Weight::of(&life);
        assert!(weight.done == 0.0 && weight.all > 10.0 * STEP_S, "{weight:?}");
        assert_eq!(percent_of(Weight { done: CALL_S, all: weight.all }), 95);
    }
}
