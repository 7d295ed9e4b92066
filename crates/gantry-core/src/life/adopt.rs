//! A plan that a task has made becomes a part of this one, in a new revision.
//!
//! When it is made anew later, only what differs changes: tasks that stay as they were keep their results. A later round
//! of a loop takes in tasks of its own.

mod made; // what is to be taken in, as a plan
mod place; // under which names, and in place of what

use made::made_plan;

use super::Life;
use super::draft::Draft;
use super::state::State;
use crate::effect::Failure;
use crate::event::{Event, Outputs};
use crate::id::{Revision, TaskId, TaskNo};
use crate::plan::{Action, Plan, Severity, diff};
use crate::policy::FailureClass;

impl Draft {
    /// Takes in what was made.
    pub(super) fn adopt(&mut self, no: TaskNo, key: String, mut inputs: Outputs) {
        let wanted = made_plan(inputs.remove("from").unwrap_or_default())
            .map_err(|why| Failure::new(FailureClass::Logic, format!("what it should adopt is no plan: {why}")))
            .and_then(|made| self.life.with_made(self.life.plan(), no, made));
        let (wanted, changes) = match wanted {
            Ok(wanted) => {
                let changes = diff(&self.life.plan(), &wanted);
                (wanted, changes)
            }
            Err(failure) => return self.leave_as_it_is(no, failure),
        };
        if self.life.nodes_left(Some(no)).is_some_and(|left| (changes.added.len() as u64) > left) {
            let message =
                format!("{} more tasks are needed, and the nodes budget does not suffice", changes.added.len());
            return self.leave_as_it_is(no, Failure::new(FailureClass::Policy, message));
        }
        let changed: Vec<TaskId> = changes.changed.iter().map(|change| change.id.clone()).collect();
        let placed = changes.added.iter().map(|placed| &placed.task.id);
        let newcomers: Vec<TaskId> = placed.chain(changes.moved.iter().map(|moved| &moved.id)).cloned().collect();
        if !changes.is_empty() {
            let redefined = changed.iter().filter(|id| self.is_redefined(id, &wanted)).cloned();
            let stopped: Vec<TaskId> = changes.removed.iter().cloned().chain(redefined).collect();
            for id in &stopped {
                self.stop_running(id, "what was adopted has changed");
            }
            self.say_what_stays(&changes.removed);
            let revision = Revision(self.life.revision.0 + 1);
            let rationale = format!("`{}` adopted what was made", self.id(no));
            self.record(Event::PlanRevised { revision, diff: Box::new(changes), rationale, by: "gantry".to_owned() });
        }
        let until = self.life.timebox_end(no, self.now);
        self.record(Event::TaskOpened { task: self.id(no), until, key: Some(key) });
        for id in changed {
            if let Some(part) = self.life.no(id.as_str()) {
                self.redo_if_changed(part);
            }
        }
        for id in newcomers {
            self.settle_in(&id);
        }
    }

    /// What cannot become part of the plan is answered by the policy the first time; later, what it became before goes on
    /// being the plan until someone decides.
    pub(super) fn leave_as_it_is(&mut self, no: TaskNo, failure: Failure) {
        if self.life.node(no).children.is_empty() { self.fail(no, failure) } else { self.ask_for_help(no, failure) }
    }
}

impl Life {
    /// The plan that people are asked to accept: what was made and waits to be adopted is in it already.
    pub fn proposed(&self) -> Plan {
        let mut plan = self.plan();
        for no in self.numbers() {
            let Some(Action::Adopt(adopt)) = &self.node(no).task.action else { continue };
            let life = self.task(no);
            let waits = match &life.state {
                State::Pending => true,
                State::Open { .. } => self.key(no).is_ok_and(|(key, _)| key != life.key), // it was made anew since
                _ => false,
            };
            if !waits {
                continue;
            }
            let made = self.resolve(&adopt.0).ok().and_then(|made| made_plan(made).ok());
            if let Some(proposed) = made.and_then(|made| self.with_made(plan.clone(), no, made).ok()) {
                plan = proposed;
            }
        }
        plan
    }

    /// The plan with what was made below a task, instead of what was there.
    fn with_made(&self, mut wanted: Plan, no: TaskNo, made: Plan) -> Result<Plan, Failure> {
        let refused = |why: String| Failure::new(FailureClass::Logic, format!("it cannot adopt this: {why}"));
        if let Some(message) = self.too_deep_below(no) {
            return Err(Failure::new(FailureClass::Policy, message));
        }
        let names = self.names_below(no, &made);
        let names = names.map_err(|taken| refused(format!("the plan has a task `{taken}` already")))?;
        self.put_below(no, made, &names, &mut wanted);
        match what_is_wrong(&wanted) {
            None => Ok(wanted),
            Some(why) => Err(refused(why)),
        }
    }
}

/// What is wrong with a plan that a task would make of this one, in a few words.
pub(super) fn what_is_wrong(wanted: &Plan) -> Option<String> {
    let errors = wanted.check().into_iter().filter(|problem| problem.severity == Severity::Error);
    let messages: Vec<String> = errors.map(|problem| problem.message).collect();
    match messages.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        [first, rest @ ..] => Some(format!("{first}; and {} more errors", rest.len())),
    }
}
