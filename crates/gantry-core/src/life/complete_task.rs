//! A result is looked at and accepted, or it is not good enough.

use super::draft::Draft;
use super::follow_route::Ending;
use super::scope::Sight;
use crate::effect::{Effect, Failure};
use crate::event::{Event, Outputs, Source};
use crate::id::{TaskId, TaskNo};
use crate::input::Verdict as Judgement;
use crate::plan::{Action, Check};
use crate::policy::{FailureClass, Judge, Usage};

use super::Refusal;
use super::state::{State, Waiting};

impl Draft {
    /// Looks at a result: failure modes, criteria, judge; then the task is done or has failed.
    pub(super) fn accept(&mut self, no: TaskNo, outputs: Outputs, outcome: Option<String>, source: Source) {
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        let choices = self.life.choices(no);
        if let Some(outcome) = &outcome
            && !choices.is_empty()
            && !choices.contains(outcome)
        {
            let message = format!("`{outcome}` is none of the outcomes: {}", choices.join(", "));
            return self.fail(no, Failure::new(FailureClass::Logic, message));
        }
        let sight = Sight { outputs: Some(&outputs), outcome: outcome.as_deref(), ..Sight::of(&self.life, Some(no)) };
        for mode in &task.failure_modes {
            if let Some(Check::Expr(detect)) = &mode.detect
                && let Ok(finding) = detect.test(&sight)
                && finding.holds
            {
                let mut failure = Failure::new(FailureClass::Logic, format!("{}: {}", mode.name, finding.because));
                failure.mode = Some(mode.name.clone());
                return self.fail(no, failure);
            }
        }
        let mut words = Vec::new();
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
            return self
                .fail(no, Failure::new(FailureClass::Logic, format!("the result is not good enough: {reason}")));
        }
        if self.life.header.policy.judge == Judge::Nobody {
            let before = task.preconditions.iter().filter(|check| matches!(check, Check::Words(_)));
            words.extend(before.map(|check| check.text().to_owned()));
            return self.complete(no, outputs, outcome, source, words);
        }
        if words.is_empty() {
            return self.complete(no, outputs, outcome, source, words);
        }
        self.ask_judge_about(no, words, outputs, outcome);
    }

    fn ask_judge_about(&mut self, no: TaskNo, checks: Vec<String>, outputs: Outputs, outcome: Option<String>) {
        self.record(Event::JudgeAsked {
            task: self.id(no),
            checks: checks.clone(),
            before: false,
            outputs: outputs.clone(),
            outcome,
        });
        self.wish_judge(Effect::Judge { task: self.id(no), checks, outputs });
    }

    /// Asks whether checks in words hold before a start.
    pub(super) fn ask_judge(&mut self, no: TaskNo, checks: Vec<String>, before: bool, outputs: &Outputs) {
        self.record(Event::JudgeAsked {
            task: self.id(no),
            checks: checks.clone(),
            before,
            outputs: Outputs::new(),
            outcome: None,
        });
        self.wish_judge(Effect::Judge { task: self.id(no), checks, outputs: outputs.clone() });
    }

    /// A model is asked by the engine; a person is told that they are waited for.
    pub(super) fn wish_judge(&mut self, effect: Effect) {
        match (self.life.header.policy.judge, effect) {
            (Judge::Person, Effect::Judge { task, checks, .. }) => {
                let text = format!("judge whether these hold: {}", checks.join("; "));
                self.wish(Effect::Notify { to: String::new(), task: Some(task), text });
            }
            (_, effect) => self.wish(effect),
        }
    }

    pub(super) fn judged(
        &mut self,
        task: &TaskId,
        by: &str,
        verdicts: &[Judgement],
        usage: Usage,
    ) -> Result<(), Refusal> {
        let no = self.life.no(task.as_str()).ok_or_else(|| Refusal::UnknownTask { task: task.to_string() })?;
        let State::Waiting(Waiting::Judge { checks, before }) = &self.life.task(no).state else {
            // A person is told that nobody asks any more; what a model used has to be counted.
            if usage != Usage::default() {
                let (attempt, reason) = (self.life.task(no).attempt, "nobody asks for a judge any more".to_owned());
                self.ignore(task, attempt, reason, usage);
                return Ok(());
            }
            return Err(Refusal::NotWaitingFor { task: task.to_string(), what: "a judge".to_owned() });
        };
        let (checks, before) = (checks.clone(), *before);
        let unjudged = checks.iter().find(|check| !verdicts.iter().any(|verdict| verdict.check == **check));
        if let Some(check) = unjudged {
            return Err(Refusal::Incomplete { task: task.to_string(), missing: format!("a verdict on `{check}`") });
        }
        self.record(Event::Judged { task: task.clone(), by: by.to_owned(), verdicts: verdicts.to_vec(), usage });
        self.trip_if_overrun();
        let failed = verdicts.iter().find(|verdict| checks.contains(&verdict.check) && !verdict.holds);
        match (failed, before) {
            (None, true) => {} // it is pending again and will start
            (None, false) => {
                let life = self.life.task(no);
                let (outputs, outcome) = ((*life.outputs).clone(), life.outcome.clone());
                self.complete(no, outputs, outcome, Source::Made, Vec::new());
            }
            (Some(verdict), true) => {
                let message = format!("`{}` does not hold: {}", verdict.check, verdict.because);
                self.ask_for_help(no, Failure::new(FailureClass::Policy, message));
            }
            (Some(verdict), false) => {
                let message = format!("the result is not good enough: `{}`: {}", verdict.check, verdict.because);
                self.fail(no, Failure::new(FailureClass::Logic, message));
            }
        }
        Ok(())
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
        let key = self.life.key(no).map(|(key, _)| key).unwrap_or_default();
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        self.record(Event::TaskCompleted { task: task.id.clone(), key, outputs, outcome, source, unjudged });
        // With a fallback, or a result from a person, the parts that have not begun are not needed.
        let because = format!("`{}` is done without it", task.id);
        for below in self.life.subtree(no).into_iter().skip(1) {
            self.skip(below, &because);
        }
        let each = self.life.header.policy.checkpoint_each_task
            && matches!(task.action, Some(Action::Run(_) | Action::Tool(_) | Action::Agent(_) | Action::Command(_)));
        match &task.action {
            Some(Action::Checkpoint(mark)) => {
                let name = if mark.name.is_empty() { task.id.to_string() } else { mark.name.clone() };
                self.mark_checkpoint(name, Some(no));
            }
            _ if each => self.mark_checkpoint(format!("after {}", task.id), Some(no)),
            _ => {}
        }
        let blocked: Vec<TaskNo> = self.life.blocked.iter().copied().collect();
        self.wake(blocked);
    }
}
