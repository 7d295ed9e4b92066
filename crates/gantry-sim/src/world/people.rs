//! People: they approve, reject, answer, do things by hand and say what to do about failures.

use std::collections::BTreeMap;

use gantry_core::effect::ArtifactRef;
use gantry_core::event::Outputs;
use gantry_core::id::TaskId;
use gantry_core::input::{Decision, GateDecision, Input, Resolution, Success};
use gantry_core::life::{State, Waiting, WaitsFor};
use gantry_core::plan::Action;
use serde_json::json;

use super::World;
use crate::violation::Outcome;

/// Facts that plans ask about.
pub(super) const FACTS: [&str; 4] = ["network.online", "env.region", "memory.level", "memory.topic"];

const PEOPLE: [&str; 4] = ["ana", "bo", "cy", "dee"];

impl World {
    /// Someone looks at what the plan waits for and does something about one part of it.
    pub(super) fn someone_acts(&mut self) -> Outcome {
        if self.life.waits_for().is_empty() {
            return self.time_passes().map(|_| ());
        }
        match self.someones_answer() {
            Some(input) => self.turn(input),
            None => Ok(()),
        }
    }

    /// What someone does about one part of what the plan waits for.
    pub(super) fn someones_answer(&mut self) -> Option<Input> {
        let waits = self.life.waits_for();
        let wait = self.dice.pick(&waits).cloned()?;
        self.response(&wait)
    }

    /// What a person does about one thing that the plan waits for.
    pub(super) fn response(&mut self, wait: &WaitsFor) -> Option<Input> {
        let Some(task) = wait.task.clone() else { return self.response_for_plan(&wait.what) };
        let state = self.life.task_life(task.as_str())?.state.clone();
        match state {
            State::Waiting(Waiting::Gate { approved_by, .. }) => self.review(task, &approved_by),
            State::Waiting(Waiting::Answer { .. }) => Some(self.answer_question(task)),
            State::Waiting(Waiting::Work) => Some(self.report(task)),
            State::Waiting(Waiting::Help { failure }) if failure.is_needs_approval() => Some(self.approve(task)),
            State::Waiting(Waiting::Help { .. }) => Some(self.resolve(task)),
            State::Waiting(Waiting::Judge { checks, .. }) => Some(self.judgement(Some(task), &checks, None)),
            State::Waiting(Waiting::Verify { attempt }) => Some(self.look_up(task, attempt)),
            State::Blocked { .. } => Some(self.observation()),
            State::Waiting(Waiting::Time { .. } | Waiting::Retry { .. } | Waiting::Undo) => None,
            // Anything else in the list is an undo; only one that is halted takes a word.
            _ => (wait.what != "an undo").then(|| self.resolve(task)),
        }
    }

    fn response_for_plan(&mut self, what: &str) -> Option<Input> {
        if what.contains("budget") {
            return (self.calm || self.dice.percent(50)).then(|| self.without_budgets());
        }
        let judging = self.life.judging().to_vec();
        if !judging.is_empty() && what.starts_with("a judge") {
            return Some(self.judgement(None, &judging, None));
        }
        Some(Input::Resume { by: "ana".to_owned() })
    }

    pub(super) fn observation(&mut self) -> Input {
        let mut facts = BTreeMap::new();
        for name in FACTS {
            if self.calm || self.dice.percent(50) {
                facts.insert(name.to_owned(), self.fact(name));
            }
        }
        Input::Observed { facts }
    }

    fn review(&mut self, gate: TaskId, approved_by: &[String]) -> Option<Input> {
        let Some(Action::Gate(definition)) = self.life.definition(gate.as_str())?.action.clone() else { return None };
        let decision = if self.calm {
            Decision::Approve
        } else {
            match self.dice.below(10) {
                0..=5 => Decision::Approve,
                6..=7 => Decision::NeedsChanges,
                _ => Decision::Reject,
            }
        };
        let listed = |name: &str| definition.approvers.is_empty() || definition.approvers.iter().any(|by| by == name);
        let new = |name: &str| !approved_by.iter().any(|by| by == name);
        let fresh: Vec<&str> = PEOPLE.into_iter().filter(|name| !self.calm || listed(name) && new(name)).collect();
        let by = self.dice.word(&fresh).to_owned();
        let careless = !self.calm && self.dice.percent(10);
        let role = if careless { None } else { definition.role.clone() };
        let revision = (!self.calm && self.dice.percent(30)).then(|| self.life.revision());
        let evidence = if careless { Vec::new() } else { definition.evidence.clone() };
        let rationale = "it looks so".to_owned();
        let mut decisions = vec![GateDecision { gate, decision, rationale, evidence, revision }];
        if !self.calm && self.dice.percent(15) {
            decisions.extend(self.another_gate(&decisions[0]));
        }
        Some(Input::Review { by, role, decisions })
    }

    /// The same decision about another gate that is open, in the same review.
    fn another_gate(&mut self, first: &GateDecision) -> Option<GateDecision> {
        let is_open = |id: &TaskId| {
            let life = self.life.task_life(id.as_str());
            life.is_some_and(|life| matches!(life.state, State::Waiting(Waiting::Gate { .. })))
        };
        let waits = self.life.waits_for();
        let other = waits.into_iter().filter_map(|wait| wait.task).find(|id| *id != first.gate && is_open(id))?;
        Some(GateDecision { gate: other, ..first.clone() })
    }

    /// Approves what a task is about to do, refuses it, says something that is neither, or decides otherwise.
    fn approve(&mut self, task: TaskId) -> Input {
        let answer = match self.dice.below(10) {
            _ if self.calm => "approve",
            0..=4 => "approve",
            5..=6 => "refuse: not like this",
            7 => "perhaps",
            _ => return self.resolve(task),
        };
        Input::Answer { task, by: "ana".to_owned(), answer: answer.to_owned() }
    }

    fn answer_question(&mut self, task: TaskId) -> Input {
        let choices: Vec<String> = match self.life.definition(task.as_str()).and_then(|task| task.action.as_ref()) {
            Some(Action::Ask(ask)) => ask.options.iter().map(|choice| choice.name.clone()).collect(),
            Some(Action::Decide(decide)) => decide.options.iter().map(|branch| branch.outcome.clone()).collect(),
            _ => Vec::new(),
        };
        let wrong = !self.calm && self.dice.percent(8);
        let answer = if wrong { None } else { self.dice.pick(&choices).cloned() };
        Input::Answer { task, by: "bo".to_owned(), answer: answer.unwrap_or_else(|| "well".to_owned()) }
    }

    fn report(&mut self, task: TaskId) -> Input {
        let by = "cy".to_owned();
        if !self.calm && self.dice.percent(20) {
            return Input::Report { task, by, end: Err("no time".to_owned()) };
        }
        let mut success = Success { outcome: None, ..self.success(None) };
        if self.calm || self.dice.percent(85) {
            success.artifacts.push(ArtifactRef { name: "photo".to_owned(), hash: "1a".to_owned(), bytes: 9 });
        }
        Input::Report { task, by, end: Ok(success) }
    }

    fn resolve(&mut self, task: TaskId) -> Input {
        let helped = self.helped.entry(task.clone()).or_default();
        let choice = if self.calm {
            *helped += 1;
            match *helped {
                1 => 0,
                2 => 1,
                3 => 2,
                _ => 3,
            }
        } else {
            self.dice.below(4)
        };
        let resolution = match choice {
            0 => Resolution::Retry { guidance: self.dice.percent(50).then(|| "gently".to_owned()) },
            1 => Resolution::Complete { outputs: Outputs::from([("items".to_owned(), json!([1]))]) },
            2 => Resolution::Skip,
            _ => Resolution::Fail,
        };
        Input::Resolve { task, by: "dee".to_owned(), resolution, why: "it is best".to_owned() }
    }
}
