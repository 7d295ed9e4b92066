//! A result is looked at and accepted, or it is not good enough.

use super::Life;
use super::draft::Draft;
use super::follow_route::Ending;
use super::scope::Sight;
use super::state::State;
use crate::effect::Failure;
use crate::event::{Event, JudgeOf, Outputs, Source};
use crate::id::TaskNo;
use crate::plan::{Action, Check, FailureMode, Task};
use crate::policy::{FailureClass, Judge};

impl Draft {
    /// Looks at a result: failure modes, criteria, judge; then the task is done or has failed.
    pub(super) fn accept(&mut self, no: TaskNo, outputs: Outputs, outcome: Option<String>, source: Source) {
        self.accept_with_words(no, outputs, outcome, source, Vec::new());
    }

    /// The same, with more checks in words for the judge.
    pub(super) fn accept_with_words(
        &mut self,
        no: TaskNo,
        outputs: Outputs,
        outcome: Option<String>,
        source: Source,
        mut words: Vec<String>,
    ) {
        if let Some(failure) = self.fault_in(no, &outputs, outcome.as_deref(), &mut words) {
            return self.fail(no, failure);
        }
        if self.life.header.policy.judge == Judge::Nobody {
            let task = &self.life.node(no).task;
            if task.has_preconditions {
                let before = task.preconditions.iter().filter(|check| matches!(check, Check::Words(_)));
                words.extend(before.map(|check| check.text().to_owned()));
            }
            return self.complete(no, outputs, outcome, source, words);
        }
        if words.is_empty() {
            return self.complete(no, outputs, outcome, source, words);
        }
        self.ask_judge(no, JudgeOf::Result, words, outputs, outcome);
    }

    /// Says why a result is not good enough, as far as the core can tell; checks in words are added to `words`.
    fn fault_in(
        &self,
        no: TaskNo,
        outputs: &Outputs,
        outcome: Option<&str>,
        words: &mut Vec<String>,
    ) -> Option<Failure> {
        let logic = |message: String| Some(Failure::new(FailureClass::Logic, message));
        if let Some(outcome) = outcome {
            let choices = self.life.choices(no);
            if !choices.is_empty() && !choices.iter().any(|choice| choice == outcome) {
                return logic(format!("`{outcome}` is none of the outcomes: {}", choices.join(", ")));
            }
        }
        let task = &self.life.node(no).task;
        if !task.has_checks {
            return None;
        }
        let sight = Sight { outputs: Some(outputs), outcome, ..Sight::of(&self.life, Some(no)) };
        for mode in &task.failure_modes {
            match &mode.detect {
                Some(Check::Expr(detect)) => match detect.test(&sight) {
                    Ok(finding) if finding.holds => return Some(failure_by(mode, &finding.because)),
                    Ok(_) | Err(_) => {}
                },
                Some(Check::Words(_)) => words.extend(mode.absence()),
                None => {}
            }
        }
        for check in task.success_criteria.iter().chain(&task.postconditions) {
            let reason = match check {
                Check::Words(text) => {
                    words.push(text.clone());
                    continue;
                }
                Check::Expr(expr) => match expr.test(&sight) {
                    Ok(finding) if finding.holds => continue,
                    Ok(finding) => finding.because,
                    Err(error) => format!("`{}`: {error}", expr.source()),
                },
            };
            return logic(format!("the result is not good enough: {reason}"));
        }
        None
    }

    /// The task is done: routes first, so that whoever they lead to is not skipped in between.
    pub(super) fn complete(
        &mut self,
        no: TaskNo,
        outputs: Outputs,
        outcome: Option<String>,
        source: Source,
        unjudged: Vec<String>,
    ) {
        self.follow_routes(no, Ending::Completed { outputs: &outputs, outcome: outcome.as_deref() });
        self.record_completed(no, outputs, outcome, source, unjudged);
    }

    /// The task is done, and where that leads was seen to already.
    pub(super) fn record_completed(
        &mut self,
        no: TaskNo,
        outputs: Outputs,
        outcome: Option<String>,
        source: Source,
        unjudged: Vec<String>,
    ) {
        let life = self.life.task(no);
        let key = match life.state {
            // An attempt that ended well was found to be about what is true now.
            State::Running { .. } => life.key.clone(),
            _ => self.life.key(no).map(|(key, _)| key).unwrap_or_default(),
        };
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        self.record(Event::TaskCompleted { task: task.id.clone(), key, outputs, outcome, source, unjudged });
        // With a fallback, or a result from a person, the parts that have not begun are not needed.
        let because = format!("`{}` is done without it", task.id);
        for below in self.life.subtree(no).into_iter().skip(1) {
            self.skip(below, &because);
        }
        let each = self.life.is_checkpointed_after(&task);
        match &task.action {
            Some(Action::Checkpoint(mark)) => {
                let name = if mark.name.is_empty() { task.id.to_string() } else { mark.name.clone() };
                self.mark_checkpoint(name, Some(no));
            }
            _ if each => self.mark_checkpoint(format!("after {}", task.id), Some(no)),
            _ => {}
        }
    }
}

impl Life {
    /// Tells whether the policy wants a checkpoint after this task, because it may change something.
    pub fn is_checkpointed_after(&self, task: &Task) -> bool {
        self.header.policy.checkpoint_each_task
            && matches!(task.action, Some(Action::Run(_) | Action::Tool(_) | Action::Agent(_) | Action::Command(_)))
    }
}

/// A result that is a failure that was thought of beforehand.
pub(super) fn failure_by(mode: &FailureMode, because: &str) -> Failure {
    let failure = Failure::new(FailureClass::Logic, format!("{}: {because}", mode.name));
    Failure { mode: Some(mode.name.clone()), ..failure }
}
