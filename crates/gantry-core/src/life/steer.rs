//! People steer the plan as a whole: start, pause, resume, cancel, try again.

use super::draft::Draft;
use super::state::{State, Waiting};
use super::{Phase, Refusal};
use crate::event::{AfterUndo, Event};
use crate::id::{TaskId, TaskNo};
use crate::input::TakeBack;
use crate::policy::FailureClass;

impl Draft {
    pub(super) fn start_plan(&mut self) -> Result<(), Refusal> {
        match self.life.phase {
            Phase::Created => {
                self.record(Event::PlanStarted);
                for hypothesis in self.life.header.hypotheses.clone() {
                    self.record(Event::HypothesisAdded { hypothesis });
                }
                Ok(())
            }
            _ => Err(self.wrong_phase("started")),
        }
    }

    pub(super) fn wrong_phase(&self, verb: &'static str) -> Refusal {
        Refusal::WrongState { verb, state: self.life.state() }
    }

    pub(super) fn pause(&mut self, by: &str, why: &str) -> Result<(), Refusal> {
        match self.life.phase {
            Phase::Running { .. } => {
                self.record(Event::PlanPaused { by: by.to_owned(), why: why.to_owned() });
                Ok(())
            }
            _ => Err(self.wrong_phase("paused")),
        }
    }

    pub(super) fn resume(&mut self, by: &str) -> Result<(), Refusal> {
        match self.life.phase {
            Phase::Paused { .. } => {
                self.record(Event::PlanResumed { by: by.to_owned() });
                Ok(())
            }
            _ => Err(self.wrong_phase("resumed")),
        }
    }

    /// Stops everything at once; answers that come later are ignored.
    pub(super) fn cancel(&mut self, by: &str, why: &str, undo: TakeBack) -> Result<(), Refusal> {
        if matches!(self.life.phase, Phase::Abandoned | Phase::Completed { .. }) {
            return Err(self.wrong_phase("cancelled"));
        }
        for no in self.life.running.clone() {
            self.end_running_as(no, FailureClass::Cancelled, "the plan was cancelled");
            self.record(Event::TaskAbandoned { task: self.id(no), because: "the plan was cancelled".to_owned() });
        }
        if undo == TakeBack::Everything {
            let done = self.life.done_within(None);
            self.begin_undo(done, AfterUndo::Abandon, &format!("{by} cancelled the plan: {why}"));
        } else {
            self.record(Event::PlanAbandoned { by: by.to_owned(), why: why.to_owned() });
        }
        Ok(())
    }

    /// Gives up the whole plan because of a failure; what runs is stopped.
    pub(super) fn abort(&mut self, cause: &str) {
        for no in self.life.running.clone() {
            self.end_running(no, "the plan was aborted");
            self.record(Event::TaskAbandoned { task: self.id(no), because: "the plan was aborted".to_owned() });
        }
        if self.life.is_under_way() {
            self.record(Event::PlanFailed { causes: vec![cause.to_owned()] });
        }
    }

    /// Has a task done again, whatever became of it.
    pub(super) fn retry(&mut self, task: &TaskId, by: &str, why: &str) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        match &self.life.task(no).state {
            State::Running { .. } => return Err(Refusal::TaskRuns { task: task.to_string() }),
            State::Pending | State::Open { .. } => {
                return Err(Refusal::NotWaitingFor {
                    task: task.to_string(),
                    what: "another try: it has not ended".to_owned(),
                });
            }
            State::Waiting(Waiting::Gate { .. } | Waiting::Answer { .. } | Waiting::Work) => {
                return Err(Refusal::NotWaitingFor {
                    task: task.to_string(),
                    what: "another try: it waits for a person".to_owned(),
                });
            }
            _ => {}
        }
        if self.life.undoing.is_some() {
            return Err(Refusal::Undoing);
        }
        self.reopen_plan(&format!("{by} has `{task}` done again: {why}"))?;
        // What is made of parts is done again by doing those that failed again.
        let parts = self.life.subtree(no).into_iter().skip(1);
        let failed: Vec<TaskNo> = parts.filter(|part| self.is_failed_leaf(*part)).collect();
        for no in if failed.is_empty() { vec![no] } else { failed } {
            self.reopen(no, &format!("{by} asked for it: {why}"), true);
        }
        // Whoever wants it done again wants what it needs, even if the plan itself has taken that back.
        for before in self.life.taken_back_before(no) {
            self.reopen(before, &format!("it was taken back, and `{task}` needs it"), true);
        }
        Ok(())
    }

    fn is_failed_leaf(&self, no: TaskNo) -> bool {
        let failed = |no: &TaskNo| matches!(self.life.task(*no).state, State::Failed { .. });
        failed(&no) && !self.life.node(no).children.iter().any(failed)
    }

    /// An ended plan goes on; an abandoned one does not.
    pub(super) fn reopen_plan(&mut self, why: &str) -> Result<(), Refusal> {
        match self.life.phase {
            Phase::Created | Phase::Running { .. } | Phase::Paused { .. } => Ok(()),
            Phase::Completed { .. } => {
                self.record(Event::PlanReopened { why: why.to_owned() });
                Ok(())
            }
            Phase::Failed { .. } => {
                self.record(Event::PlanReopened { why: why.to_owned() });
                // What was stopped in the middle goes on with the plan. What was taken back waits for what it was taken
                // back for.
                for no in self.life.given_up_within(None) {
                    if !self.life.task(no).undone {
                        self.reopen(no, why, false);
                    }
                }
                Ok(())
            }
            Phase::Abandoned => Err(self.wrong_phase("changed")),
        }
    }
}
