//! Composites end when their parts have, and the plan when nothing more can happen.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::scope::Sight;
use super::state::State;
use super::view::TaskState;
use super::{DoneWords, Life, Phase};
use crate::effect::Failure;
use crate::event::{Event, Outputs, Source};
use crate::id::{TaskId, TaskNo};
use crate::plan::{Action, Check};
use crate::policy::{FailureClass, Judge};

/// How many tasks that can never start are told by name.
const STUCK_TOLD_MAX: usize = 10;

impl Draft {
    /// Ends an open composite when its parts are over, or when a failed part leaves nothing going on.
    pub(super) fn look_at_open(&mut self, no: TaskNo) {
        let life = self.life.task(no);
        if life.children_failed > 0 && life.active_below == 0 {
            self.fail_composite(no);
        } else if life.children_open == 0 && life.children_failed == 0 {
            if self.life.is_grown(no) && self.life.key(no).map_or(true, |(key, _)| key != life.key) {
                return self.reopen(no, "what its parts were made of has changed", false);
            }
            let node = self.life.node(no);
            match &node.task.action {
                Some(Action::Map(_)) => {
                    let results = self.map_results(no);
                    self.accept(no, results, None, Source::Made);
                }
                None | Some(Action::Adopt(_)) => {
                    self.accept(no, Outputs::new(), None, Source::Made);
                }
                Some(_) => {} // its own action starts when its turn comes
            }
        }
    }

    fn fail_composite(&mut self, no: TaskNo) {
        let node = self.life.node(no);
        let culprit = node.children.iter().copied().find(|child| self.life.failed.contains(child));
        let message = culprit.map_or_else(
            || "a part of it failed".to_owned(),
            |child| format!("its part `{}` failed: {}", self.id(child), self.life.why_failed(child)),
        );
        self.recover_composite(no, Failure::new(FailureClass::Logic, message));
    }

    /// Ends the plan when it runs and nothing is left that could happen.
    pub(super) fn finish_plan(&mut self) {
        let running = matches!(self.life.phase, Phase::Running { .. });
        if !running || self.life.active > 0 || self.life.undoing.is_some() {
            return;
        }
        let mut causes: Vec<String> = self
            .life
            .failed
            .iter()
            // What became of a failed part is said by the composite that it ended.
            .filter(|no| !self.life.ancestors(**no).any(|above| self.life.task(above).state.is_final()))
            .map(|no| format!("task `{}` failed: {}", self.id(*no), self.life.why_failed(*no)))
            .collect();
        if causes.is_empty() {
            causes = self.life.owed_work().into_iter().map(|no| self.life.why_owed(no)).collect();
        }
        if causes.is_empty() {
            let (failed, words) = self.test_done();
            causes = failed;
            if causes.is_empty() && self.life.all_over() {
                return self.complete_plan(words);
            }
            if causes.is_empty() {
                causes.push(self.life.never_start());
            }
        }
        self.record(Event::PlanFailed { causes });
    }

    /// Everything is done; what the definition of done says in words is for the judge, if there is one.
    fn complete_plan(&mut self, words: Vec<String>) {
        let unjudged = match (self.life.header.policy.judge, &self.life.done_words) {
            (Judge::Nobody, _) => words,
            (Judge::Person | Judge::Model, DoneWords::Held) => Vec::new(),
            (Judge::Person | Judge::Model, _) if words.is_empty() => Vec::new(),
            (Judge::Person | Judge::Model, DoneWords::Asked(_)) => return,
            (Judge::Person | Judge::Model, DoneWords::Unasked) => return self.ask_judge_of_plan(words),
        };
        let degraded = self.life.degraded();
        self.record(Event::PlanCompleted { degraded, unjudged });
    }

    /// The parts of the definition of done that do not hold, and those that are in words.
    fn test_done(&self) -> (Vec<String>, Vec<String>) {
        let sight = Sight::of(&self.life, None);
        let (mut failed, mut words) = (Vec::new(), Vec::new());
        for check in &self.life.header.done_when {
            match check {
                Check::Words(text) => words.push(text.clone()),
                Check::Expr(expr) => match expr.test(&sight) {
                    Ok(finding) if finding.holds => {}
                    Ok(finding) => failed.push(format!("it is not done: {}", finding.because)),
                    Err(error) => failed.push(format!("it is not done: `{}`: {error}", expr.source())),
                },
            }
        }
        (failed, words)
    }
}

impl Life {
    fn why_failed(&self, no: TaskNo) -> &str {
        self.task(no).failure.as_ref().map_or("for an unknown reason", |failure| &failure.message)
    }

    fn why_owed(&self, no: TaskNo) -> String {
        let because = self.task(no).because.as_deref().unwrap_or("for an unknown reason");
        format!("task `{}` was given up: {because}", self.task_id(no))
    }

    /// Which tasks can never start, and what each waits for.
    fn never_start(&self) -> String {
        let stuck: Vec<TaskNo> = self.numbers().filter(|no| self.task(*no).state == State::Pending).collect();
        let told: Vec<String> = stuck
            .iter()
            .take(STUCK_TOLD_MAX)
            .map(|no| {
                let id = self.task_id(*no);
                let waits: Vec<String> = self.held_by(id.as_str()).iter().map(|id| format!("`{id}`")).collect();
                if waits.is_empty() { format!("`{id}`") } else { format!("`{id}` (waits for {})", waits.join(", ")) }
            })
            .collect();
        let more = stuck.len().saturating_sub(STUCK_TOLD_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("some tasks can never start: {}{more}", told.join(", "))
    }

    fn all_over(&self) -> bool {
        let over = [TaskState::Completed, TaskState::Failed, TaskState::Skipped, TaskState::Abandoned];
        State::COUNTED.iter().zip(self.counts).all(|(state, count)| count == 0 || over.contains(state))
    }

    /// Tasks whose result is not what the plan asked for, though the plan goes on. Runs once, at the end.
    ///
    /// What was done again counts as its last round ended: a loop that came to a good end leaves nothing behind.
    fn degraded(&self) -> Vec<TaskId> {
        let round_of = |no: TaskNo| self.node(no).task.round.as_ref().map_or(1, |round| round.number);
        let mut last: BTreeMap<&TaskId, u32> = BTreeMap::new();
        for no in self.numbers() {
            let known = last.entry(self.first_name(no)).or_default();
            *known = (*known).max(round_of(no));
        }
        let is_repeated = |no: TaskNo| last.get(self.first_name(no)).is_some_and(|last| *last > round_of(no));
        let degraded = self.numbers().filter(|no| {
            let life = self.task(*no);
            let fell_short = life.is_degraded() || matches!(life.state, State::Failed { .. } | State::Abandoned);
            fell_short && !is_repeated(*no) && !self.ancestors(*no).any(is_repeated)
        });
        degraded.map(|no| self.task_id(no).clone()).collect()
    }
}
