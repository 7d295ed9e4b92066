//! Questions and work for people, and what they say.

use serde_json::json;

use super::draft::Draft;
use super::state::{State, Waiting};
use super::{Life, Refusal};
use crate::effect::Effect;
use crate::event::{Asked, Event, Outputs, Source};
use crate::id::{TaskId, TaskNo};
use crate::input::{Approval, Resolution, Success};
use crate::plan::{Action, Ask};
use crate::policy::{FailureClass, Remedy};

impl Life {
    pub(super) fn known(&self, task: &TaskId) -> Result<TaskNo, Refusal> {
        self.no(task.as_str()).ok_or_else(|| Refusal::UnknownTask { task: task.to_string() })
    }

    /// Tells whether a task for a model, which could not do it, waits for someone who may do it instead.
    fn can_be_done_by_hand(&self, no: TaskNo) -> bool {
        let decides = matches!(self.node(no).task.action, Some(Action::Decide(_)));
        self.calls_a_model(no) && !decides && matches!(self.task(no).state, State::Waiting(Waiting::Help { .. }))
    }

    /// Tells whether a decision that a model could not take waits for someone, who may take it instead.
    fn can_be_decided_by_hand(&self, no: TaskNo) -> bool {
        let decides = matches!(&self.node(no).task.action, Some(Action::Decide(decide)) if !decide.is_computed());
        decides && matches!(self.task(no).state, State::Waiting(Waiting::Help { .. }))
    }

    /// Tells whether someone has to approve what a task is about to do.
    fn waits_for_approval(&self, no: TaskNo) -> bool {
        matches!(&self.task(no).state, State::Waiting(Waiting::Help { failure }) if failure.is_needs_approval())
    }

    /// The answers that a question offers; empty means free text.
    pub(super) fn choices(&self, no: TaskNo) -> Vec<String> {
        match &self.node(no).task.action {
            Some(Action::Ask(ask)) => ask.options.iter().map(|choice| choice.name.clone()).collect(),
            Some(Action::Decide(decide)) => decide.outcomes().into_iter().map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }
}

impl Draft {
    pub(super) fn ask(&mut self, no: TaskNo, ask: &Ask) {
        let until = ask.default.as_ref().and(ask.answer_within).map(|within| self.now + within);
        self.record(Event::PersonAsked { task: self.id(no), what: Asked::Answer, until });
        self.wish(Effect::Notify { to: self.owner_of(no), task: Some(self.id(no)), text: ask.question.clone() });
    }

    pub(super) fn ask_person(&mut self, no: TaskNo, what: Asked) {
        let text = format!("`{}` waits for a person", self.life.node(no).task.name());
        self.record(Event::PersonAsked { task: self.id(no), what, until: None });
        self.wish(Effect::Notify { to: self.owner_of(no), task: Some(self.id(no)), text });
    }

    pub(super) fn owner_of(&self, no: TaskNo) -> String {
        self.life.node(no).task.owner.clone().or_else(|| self.life.header.owner.clone()).unwrap_or_default()
    }

    pub(super) fn answer(&mut self, task: &TaskId, by: &str, answer: &str) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        if self.life.waits_for_approval(no) {
            return self.approve(no, by, answer);
        }
        let asked = matches!(self.life.task(no).state, State::Waiting(Waiting::Answer { .. }));
        if !asked && !self.life.can_be_decided_by_hand(no) {
            return Err(Refusal::NotWaitingFor { task: task.to_string(), what: "an answer".to_owned() });
        }
        let choices = self.life.choices(no);
        if !choices.is_empty() && !choices.iter().any(|choice| choice == answer) {
            return Err(Refusal::UnknownAnswer { task: task.to_string(), answer: answer.to_owned(), choices });
        }
        self.take_answer(no, by, answer);
        Ok(())
    }

    /// Someone approved what the attempt was about to do, or refused: the next one goes on knowing that.
    fn approve(&mut self, no: TaskNo, by: &str, answer: &str) -> Result<(), Refusal> {
        let task = self.id(no);
        if Approval::parse(answer).is_none() {
            let choices = Approval::ANSWERS.map(str::to_owned).to_vec();
            return Err(Refusal::UnknownAnswer { task: task.to_string(), answer: answer.to_owned(), choices });
        }
        let (by, said) = (by.to_owned(), answer.to_owned());
        self.record(Event::PersonAnswered { task: task.clone(), by, said: said.clone(), evidence: Vec::new() });
        self.record(Event::RetryPlanned {
            task: task.clone(),
            remedy: Remedy::Escalate,
            at: self.now,
            feedback: Some(said),
        });
        self.record(Event::TaskUnblocked { task });
        Ok(())
    }

    /// Goes on with this answer.
    pub(super) fn take_answer(&mut self, no: TaskNo, by: &str, answer: &str) {
        self.record(Event::PersonAnswered {
            task: self.id(no),
            by: by.to_owned(),
            said: answer.to_owned(),
            evidence: Vec::new(),
        });
        let outcome = (!self.life.choices(no).is_empty()).then(|| answer.to_owned());
        self.accept(no, Outputs::from([("answer".to_owned(), json!(answer))]), outcome, Source::Made);
    }

    pub(super) fn report(&mut self, task: &TaskId, by: &str, end: &Result<Success, String>) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        let by_hand = end.is_ok() && self.life.can_be_done_by_hand(no);
        if self.life.task(no).state != State::Waiting(Waiting::Work) && !by_hand {
            return Err(Refusal::NotWaitingFor { task: task.to_string(), what: "someone to do it".to_owned() });
        }
        if let Some(Action::Manual(manual)) = &self.life.node(no).task.action {
            self.life.may_be(by, manual.role.as_deref())?;
        }
        match end {
            Ok(success) => {
                if let Some(Action::Manual(manual)) = &self.life.node(no).task.action
                    && let Some(missing) = manual
                        .evidence
                        .iter()
                        .find(|name| !success.artifacts.iter().any(|artifact| artifact.name == **name))
                {
                    return Err(Refusal::Incomplete {
                        task: task.to_string(),
                        missing: format!("the evidence `{missing}`"),
                    });
                }
                self.record(Event::PersonAnswered {
                    task: task.clone(),
                    by: by.to_owned(),
                    said: "done".to_owned(),
                    evidence: success.artifacts.clone(),
                });
                self.accept(no, success.outputs.clone(), success.outcome.clone(), Source::Made);
            }
            Err(reason) => {
                self.record(Event::PersonAnswered {
                    task: task.clone(),
                    by: by.to_owned(),
                    said: format!("could not be done: {reason}"),
                    evidence: Vec::new(),
                });
                let message = format!("{by} could not do it: {reason}");
                self.fail(no, crate::effect::Failure::new(FailureClass::Logic, message));
            }
        }
        Ok(())
    }

    /// Someone says what to do about a failure.
    pub(super) fn resolve(
        &mut self,
        task: &TaskId,
        by: &str,
        resolution: &Resolution,
        why: &str,
    ) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        if self.resolve_undo(no, by, resolution, why) {
            return Ok(());
        }
        let State::Waiting(Waiting::Help { failure }) = &self.life.task(no).state else {
            return Err(Refusal::NotWaitingFor { task: task.to_string(), what: "help".to_owned() });
        };
        let failure = failure.clone();
        let word = match resolution {
            Resolution::Retry { .. } => "retry",
            Resolution::Complete { .. } => "complete",
            Resolution::Skip => "skip",
            Resolution::Fail => "fail",
        };
        let said = if why.is_empty() { word.to_owned() } else { format!("{word}: {why}") };
        self.record(Event::PersonAnswered { task: task.clone(), by: by.to_owned(), said, evidence: Vec::new() });
        match resolution {
            Resolution::Retry { guidance } => {
                let feedback = guidance.clone().or(Some(failure.message));
                self.record(Event::RetryPlanned {
                    task: task.clone(),
                    remedy: Remedy::Escalate,
                    at: self.now,
                    feedback,
                });
                self.record(Event::TaskUnblocked { task: task.clone() });
            }
            Resolution::Complete { outputs } => self.complete(no, outputs.clone(), None, Source::Made, Vec::new()),
            Resolution::Skip => {
                self.follow_always(no, &failure);
                for below in self.life.subtree(no) {
                    if !self.life.task(below).state.is_final() {
                        let because = format!("{by} said so: {why}");
                        self.record(Event::TaskSkipped { task: self.id(below), because, by_hand: true });
                    }
                }
            }
            Resolution::Fail => self.give_up(no, failure),
        }
        Ok(())
    }
}
