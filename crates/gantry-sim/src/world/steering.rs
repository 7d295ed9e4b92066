//! People who steer the plan, and answers that nobody asked for.

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::input::{EvidenceFor, Input, Resolution, TakeBack};
use gantry_core::plan::Hypothesis;
use gantry_core::policy::{FailureClass, Usage};
use serde_json::json;

use super::World;
use crate::violation::Outcome;

impl World {
    /// Someone wants something of the plan.
    pub(super) fn someone_steers(&mut self) -> Outcome {
        let input = self.steering();
        self.turn(input)
    }

    /// What someone wants of the plan, whether it makes sense or not.
    pub(super) fn steering(&mut self) -> Input {
        self.fault("steering");
        let (by, why) = ("ana".to_owned(), "because".to_owned());
        let task = self.some_task();
        match self.dice.below(100) {
            0..=9 => Input::Pause { by, why },
            10..=24 => Input::Resume { by },
            25..=26 => {
                let undo = if self.dice.percent(50) { TakeBack::Everything } else { TakeBack::Nothing };
                Input::Cancel { by, why, undo }
            }
            27..=52 => self.revision(),
            53..=60 => Input::EditOutput { task, by, why, outputs: self.edited() },
            61..=70 => Input::Retry { task, by, why },
            71..=75 => {
                let named = self.life.checkpoints().last().map(|mark| mark.name.clone());
                let to = if self.dice.percent(50) { task.to_string() } else { named.unwrap_or_default() };
                Input::Undo { to, by, why }
            }
            76..=80 => Input::Checkpoint { name: "by hand".to_owned() },
            81..=84 => Input::Note { task: Some(task), by, text: "remember".to_owned() },
            85..=88 => self.observation(),
            89..=91 => Input::Hypothesise { hypothesis: Hypothesis { id: "H2".to_owned(), ..Hypothesis::default() } },
            92..=95 => {
                let direction =
                    if self.dice.percent(50) { EvidenceFor::Supports } else { EvidenceFor::StronglyRefutes };
                let hypothesis = self.dice.word(&["H1", "H2", "H3"]).to_owned();
                Input::Evidence { hypothesis, direction, evidence: "seen".to_owned(), by }
            }
            96 => Input::Start,
            97 => Input::Resolve { task, by, resolution: Resolution::Skip, why },
            98 => Input::Answer { task, by, answer: "yes".to_owned() },
            _ => Input::Tick,
        }
    }

    fn edited(&mut self) -> Outputs {
        Outputs::from([
            ("items".to_owned(), json!((0..self.dice.below(4)).collect::<Vec<_>>())),
            ("score".to_owned(), json!(self.dice.below(10))),
            ("exit_code".to_owned(), json!(0)),
        ])
    }

    /// A task of the plan, rarely one that is not in it.
    pub(super) fn some_task(&mut self) -> TaskId {
        if self.dice.percent(4) {
            return TaskId::slugged("nobody");
        }
        let index = self.dice.index(self.plan.tasks.len());
        self.plan.tasks.get(index).map_or_else(|| TaskId::slugged("nobody"), |task| task.id.clone())
    }

    /// An answer for an attempt that is over, or never was.
    pub(super) fn bogus_answer(&mut self) -> Outcome {
        let task = self.some_task();
        let last = self.life.task_life(task.as_str()).map_or(0, |life| life.attempt.0);
        let running = self.life.in_flight().iter().any(|(id, _)| *id == task);
        let attempt = match self.dice.below(3) {
            0 => AttemptNo(last + 1 + self.dice.small(0, 5)),
            1 => AttemptNo(last.saturating_sub(1)),
            _ if running => AttemptNo(0),
            _ => AttemptNo(last),
        };
        let input = match self.dice.below(5) {
            0 => Input::Heartbeat { task, attempt, note: "alive".to_owned(), artifacts: Vec::new() },
            1 => Input::UndoEnded { task, attempt, end: Ok("gone".to_owned()), usage: Usage::default() },
            2 => {
                let end = Err(Failure::new(FailureClass::Transient, "from nowhere"));
                Input::Ended { task, attempt, end, usage: Usage::default() }
            }
            _ => Input::Ended { task, attempt, end: Ok(self.success(None)), usage: Usage::default() },
        };
        self.fault("bogus answer");
        self.turn(input)
    }
}
