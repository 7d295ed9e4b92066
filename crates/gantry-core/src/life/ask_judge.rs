//! Checks in words go to a judge: before a task starts, about its result, and about the plan as a whole.

use super::complete_task::failure_by;
use super::draft::Draft;
use super::state::{State, Waiting};
use super::{DoneWords, Life, Refusal};
use crate::effect::{Effect, Failure};
use crate::event::{AnswerTo, Event, JudgeOf, Outputs, Source};
use crate::id::{AttemptNo, TaskId, TaskNo};
use crate::input::Verdict as Judgement;
use crate::policy::{FailureClass, Judge, Remedy, Usage};

impl Draft {
    /// Asks whether checks in words hold, of a start or of a result.
    pub(super) fn ask_judge(
        &mut self,
        no: TaskNo,
        of: JudgeOf,
        checks: Vec<String>,
        outputs: Outputs,
        outcome: Option<String>,
    ) {
        let task = Some(self.id(no));
        let asked =
            Event::JudgeAsked { task: task.clone(), checks: checks.clone(), of, outputs: outputs.clone(), outcome };
        self.record(asked);
        self.wish_judge(task, checks, outputs, (self.life.length, 0));
    }

    /// Asks whether the plan is done, as far as its definition of done is in words.
    pub(super) fn ask_judge_of_plan(&mut self, checks: Vec<String>) {
        self.record(Event::JudgeAsked {
            task: None,
            checks: checks.clone(),
            of: JudgeOf::Result,
            outputs: Outputs::new(),
            outcome: None,
        });
        self.wish_judge(None, checks, Outputs::new(), (self.life.length, 0));
    }

    /// A model is asked by the engine; a person is told that they are waited for.
    fn wish_judge(&mut self, task: Option<TaskId>, checks: Vec<String>, outputs: Outputs, (asked, failed): (u64, u32)) {
        if self.life.header.policy.judge == Judge::Person {
            let text = format!("judge whether these hold: {}", checks.join("; "));
            self.wish(Effect::Notify { to: String::new(), task, text });
        } else {
            self.wish(Effect::Judge { task, checks, outputs, asked, failed });
        }
    }

    /// Puts the questions to judges again: asking twice does no harm.
    pub(super) fn ask_judges_again(&mut self) {
        for no in self.life.waiting.clone() {
            if let State::Waiting(Waiting::Judge { checks, asked, failed, .. }) = &self.life.task(no).state {
                let (checks, asked) = (checks.clone(), (*asked, *failed));
                let outputs = (*self.life.task(no).outputs).clone();
                self.wish_judge(Some(self.id(no)), checks, outputs, asked);
            }
        }
        if let DoneWords::Asked(checks) = &self.life.done_words {
            let asked = (self.life.done_asked, self.life.done_failed);
            self.wish_judge(None, checks.clone(), Outputs::new(), asked);
        }
    }

    pub(super) fn judged(
        &mut self,
        (task, about, answers): (&TaskId, Option<AttemptNo>, Option<u64>),
        by: &str,
        verdicts: &[Judgement],
        usage: Usage,
    ) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        let State::Waiting(Waiting::Judge { checks, of, asked, failed, .. }) = &self.life.task(no).state else {
            // A person is told that nobody asks any more; what a model used has to be counted.
            if usage != Usage::default() {
                let reason = "nobody asks for a judge any more".to_owned();
                // A judge does not say which attempt it was asked about: the earliest that nobody counted.
                let life = self.life.task(no);
                let owed = life.owed.iter().find(|(to, _)| *to == AnswerTo::Judge);
                let attempt = owed.map_or(life.attempt, |(_, attempt)| *attempt);
                let usage = self.life.owed_for(no, AnswerTo::Judge, attempt, usage);
                self.ignore(task, attempt, AnswerTo::Judge, reason, usage);
                return Ok(());
            }
            return Err(Refusal::NotWaitingFor { task: task.to_string(), what: "a judge".to_owned() });
        };
        let (checks, of, asked, failed) = (checks.clone(), *of, *asked, *failed);
        let attempt = self.life.task(no).attempt;
        let another_attempt = about.is_some_and(|about| about != attempt);
        if another_attempt || is_another(asked, answers) {
            let earlier = about.unwrap_or(attempt);
            let usage = self.life.owed_for(no, AnswerTo::Judge, earlier, usage);
            let reason = if another_attempt {
                format!("it judged attempt {earlier}, and another one is to be judged")
            } else {
                "it judged what was there before, and something else is to be judged".to_owned()
            };
            self.ignore(task, earlier, AnswerTo::Judge, reason, usage);
            let outputs = (*self.life.task(no).outputs).clone();
            self.wish_judge(Some(task.clone()), checks, outputs, (asked, failed));
            return Ok(());
        }
        if let Some(check) = without_verdict(&checks, verdicts) {
            return Err(Refusal::Incomplete { task: task.to_string(), missing: format!("a verdict on `{check}`") });
        }
        self.record_judged(Some(task.clone()), by, verdicts, usage);
        match (first_failed(&checks, verdicts), of) {
            (None, JudgeOf::Start) => {} // it is pending again and will start
            (None, JudgeOf::Result) => {
                let life = self.life.task(no);
                let (outputs, outcome) = ((*life.outputs).clone(), life.outcome.clone());
                self.complete(no, outputs, outcome, Source::Made, Vec::new());
            }
            (Some(verdict), JudgeOf::Start) => {
                let message = format!("`{}` does not hold: {}", verdict.check, verdict.because);
                self.ask_for_help(no, Failure::new(FailureClass::Policy, message));
            }
            (Some(verdict), JudgeOf::Result) => {
                let another_way = verdict.another_way;
                let failure = self.mode_found(no, verdicts).unwrap_or_else(|| {
                    let message = format!("the result is not good enough: `{}`: {}", verdict.check, verdict.because);
                    Failure::new(FailureClass::Logic, message)
                });
                if !(another_way && failure.mode.is_none() && self.apply_remedy(no, Remedy::Alternate, &failure)) {
                    self.fail(no, failure);
                }
            }
        }
        Ok(())
    }

    /// The first failure mode in words that a judge has found.
    fn mode_found(&self, no: TaskNo, verdicts: &[Judgement]) -> Option<Failure> {
        let modes = &self.life.node(no).task.failure_modes;
        modes.iter().find_map(|mode| {
            let absence = mode.absence()?;
            let verdict = verdicts.iter().find(|verdict| verdict.check == absence && !verdict.holds)?;
            Some(failure_by(mode, &verdict.because))
        })
    }

    /// The definition of done was judged: the plan ends at the end of this turn, well or not.
    pub(super) fn judged_plan(
        &mut self,
        answers: Option<u64>,
        by: &str,
        verdicts: &[Judgement],
        usage: Usage,
    ) -> Result<(), Refusal> {
        let DoneWords::Asked(checks) = self.life.done_words.clone() else {
            // What is delivered again was counted before.
            if usage != Usage::default() && self.life.judge_owed {
                self.record_judged(None, by, verdicts, usage);
                return Ok(());
            }
            return Err(self.wrong_phase("judged"));
        };
        if is_another(self.life.done_asked, answers) {
            if usage != Usage::default() {
                self.record_judged(None, by, &[], usage);
            }
            let text = "a verdict on what was there before was not taken".to_owned();
            self.record(Event::NoteAdded { task: None, by: "gantry".to_owned(), text });
            self.wish_judge(None, checks, Outputs::new(), (self.life.done_asked, self.life.done_failed));
            return Ok(());
        }
        if let Some(check) = without_verdict(&checks, verdicts) {
            return Err(Refusal::DoesNotFit { reason: format!("a verdict on `{check}` is missing") });
        }
        self.record_judged(None, by, verdicts, usage);
        if let Some(verdict) = first_failed(&checks, verdicts) {
            let cause = format!("it is not done: `{}`: {}", verdict.check, verdict.because);
            self.record(Event::PlanFailed { causes: vec![cause] });
        }
        Ok(())
    }

    /// No model could judge: the question stands, and someone is told why they are asked.
    pub(super) fn judge_failed(
        &mut self,
        task: &TaskId,
        about: AttemptNo,
        (answers, before): (u64, u32),
        why: &str,
        usage: Usage,
    ) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        let life = self.life.task(no);
        let question = match &life.state {
            State::Waiting(Waiting::Judge { checks, asked, failed, .. }) => Some((checks.clone(), *asked, *failed)),
            _ => None,
        };
        let same =
            question.as_ref().filter(|(_, asked, _)| !is_another(*asked, Some(answers)) && about == life.attempt);
        match (same, question.as_ref()) {
            (Some((checks, _, failed)), _) if *failed == before => {
                self.record_judge_failed(Some(task.clone()), checks, why, usage);
            }
            (Some(_), _) => {} // it is delivered again
            (None, asked_now) => {
                if usage != Usage::default() {
                    let usage = self.life.owed_for(no, AnswerTo::Judge, about, usage);
                    let reason = "what it was asked to judge is not to be judged any more".to_owned();
                    self.ignore(task, about, AnswerTo::Judge, reason, usage);
                }
                if let Some((checks, asked, failed)) = asked_now {
                    let outputs = (*self.life.task(no).outputs).clone();
                    self.wish_judge(Some(task.clone()), checks.clone(), outputs, (*asked, *failed));
                }
            }
        }
        Ok(())
    }

    /// The same for the definition of done.
    pub(super) fn judge_of_plan_failed(&mut self, (answers, before): (u64, u32), why: &str, usage: Usage) {
        let DoneWords::Asked(checks) = self.life.done_words.clone() else {
            if usage != Usage::default() && self.life.judge_owed {
                self.record_judged(None, "nobody", &[], usage);
            }
            return;
        };
        if is_another(self.life.done_asked, Some(answers)) {
            if usage != Usage::default() {
                self.record_judged(None, "nobody", &[], usage);
            }
            self.wish_judge(None, checks, Outputs::new(), (self.life.done_asked, self.life.done_failed));
        } else if self.life.done_failed == before {
            self.record_judge_failed(None, &checks, why, usage);
        }
    }

    fn record_judge_failed(&mut self, task: Option<TaskId>, checks: &[String], why: &str, usage: Usage) {
        self.record(Event::JudgeFailed { task: task.clone(), why: why.to_owned(), usage });
        self.trip_if_overrun();
        let text = format!("no model could judge ({why}); say whether these hold: {}", checks.join("; "));
        self.wish(Effect::Notify { to: String::new(), task, text });
    }

    fn record_judged(&mut self, task: Option<TaskId>, by: &str, verdicts: &[Judgement], usage: Usage) {
        self.record(Event::Judged { task, by: by.to_owned(), verdicts: verdicts.to_vec(), usage });
        self.trip_if_overrun();
    }
}

/// Tells whether an answer is one to another question than the one that was asked last.
fn is_another(asked: u64, answers: Option<u64>) -> bool {
    asked != 0 && answers.is_some_and(|answers| answers != asked)
}

/// The first check that nobody said anything about.
fn without_verdict<'c>(checks: &'c [String], verdicts: &[Judgement]) -> Option<&'c String> {
    checks.iter().find(|check| !verdicts.iter().any(|verdict| verdict.check == **check))
}

/// The first check that does not hold.
fn first_failed<'v>(checks: &[String], verdicts: &'v [Judgement]) -> Option<&'v Judgement> {
    verdicts.iter().find(|verdict| checks.contains(&verdict.check) && !verdict.holds)
}

impl Life {
    /// The parts of the definition of done that a judge is asked about right now.
    pub fn judging(&self) -> &[String] {
        match &self.done_words {
            DoneWords::Asked(checks) => checks,
            DoneWords::Unasked | DoneWords::Held => &[],
        }
    }

    /// Tells whether an event makes what a judge was asked about the plan another question.
    pub(super) fn unsettles_done(event: &Event) -> bool {
        matches!(
            event,
            Event::PlanRevised { .. }
                | Event::PlanReopened { .. }
                | Event::PlanCompleted { .. }
                | Event::PlanFailed { .. }
                | Event::PlanAbandoned { .. }
                | Event::TaskReopened { .. }
                | Event::OutputEdited { .. }
                | Event::UndoBegun { .. }
        )
    }
}
