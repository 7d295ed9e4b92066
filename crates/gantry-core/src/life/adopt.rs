//! A plan that a task has made becomes a part of this one, in a new revision.
//!
//! When it is made anew later, only what differs changes: tasks that stay as they were keep their results.

use std::collections::BTreeSet;

use serde_json::Value;

use super::draft::Draft;
use crate::effect::Failure;
use crate::event::{Event, Outputs};
use crate::id::{Revision, TaskId, TaskNo};
use crate::plan::{Action, Plan, Scheduling, Severity, Task, diff};
use crate::policy::FailureClass;

impl Draft {
    /// Takes in what was made.
    pub(super) fn adopt(&mut self, no: TaskNo, key: String, mut inputs: Outputs) {
        let wanted = made_plan(inputs.remove("from").unwrap_or_default())
            .map_err(|why| Failure::new(FailureClass::Logic, format!("what it should adopt is no plan: {why}")))
            .and_then(|made| self.with_made(no, made));
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

    /// What cannot be adopted is answered by the policy the first time; later, what was adopted before goes on being
    /// the plan until someone decides.
    fn leave_as_it_is(&mut self, no: TaskNo, failure: Failure) {
        if self.life.node(no).children.is_empty() { self.fail(no, failure) } else { self.ask_for_help(no, failure) }
    }

    /// The plan with what was made below a task, instead of what was there.
    fn with_made(&self, no: TaskNo, made: Plan) -> Result<Plan, Failure> {
        let refused = |why: String| Failure::new(FailureClass::Logic, format!("it cannot adopt this: {why}"));
        if let Some(message) = self.life.too_deep_below(no) {
            return Err(Failure::new(FailureClass::Policy, message));
        }
        let mut wanted = self.life.plan();
        let below: BTreeSet<TaskId> = self.life.subtree(no).into_iter().skip(1).map(|part| self.id(part)).collect();
        let named: BTreeSet<TaskId> = made.tasks.iter().map(|task| task.id.clone()).collect();
        let is_kept = |task: &Task| {
            let round_of_kept = task.round.as_ref().is_some_and(|round| named.contains(&round.of));
            !below.contains(&task.id) || round_of_kept
        };
        wanted.tasks.retain(is_kept);
        if let Some(taken) = wanted.tasks.iter().find(|task| named.contains(&task.id)) {
            return Err(refused(format!("the plan has a task `{}` already", taken.id)));
        }
        let home = self.id(no);
        wanted.tasks.extend(made.tasks.into_iter().map(|task| Task {
            // Everything that is adopted is below the task that adopts it, and rounds are made by the plan alone.
            parent: Some(task.parent.filter(|parent| named.contains(parent)).unwrap_or_else(|| home.clone())),
            round: None,
            ..task
        }));
        wanted.schedule.tasks.retain(|id, _| !below.contains(id) || named.contains(id));
        if made.schedule != Scheduling::default() {
            let before = std::mem::replace(&mut wanted.schedule, made.schedule);
            let others = before.tasks.into_iter().filter(|(id, _)| !named.contains(id));
            wanted.schedule.tasks.extend(others);
        }
        for words in made.done_when {
            if !wanted.done_when.contains(&words) {
                wanted.done_when.push(words);
            }
        }
        wanted = self.life.with_own_growth(wanted);
        wanted.sort_tree();
        let problems: Vec<String> = wanted
            .check()
            .into_iter()
            .filter(|problem| problem.severity == Severity::Error)
            .map(|problem| problem.message)
            .collect();
        match problems.as_slice() {
            [] => Ok(wanted),
            [only] => Err(refused(only.clone())),
            [first, rest @ ..] => Err(refused(format!("{first}; and {} more errors", rest.len()))),
        }
    }
}

/// Reads a plan as it is exported: tasks may contain tasks, and an action may stand beside the other fields.
fn made_plan(value: Value) -> Result<Plan, String> {
    let Value::Object(mut fields) = value else { return Err("it is no object with `tasks`".to_owned()) };
    let Some(Value::Array(listed)) = fields.remove("tasks") else { return Err("it has no list `tasks`".to_owned()) };
    let mut tasks = Vec::new();
    for task in listed {
        unfold(task, None, &mut tasks)?;
    }
    if tasks.is_empty() {
        return Err("it has no tasks".to_owned());
    }
    fields.insert("tasks".to_owned(), Value::Array(tasks));
    fields.entry("title").or_insert_with(|| Value::String("adopted".to_owned()));
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

/// Puts a task and the tasks inside it behind each other, in the form that the model has.
fn unfold(task: Value, parent: Option<&Value>, all: &mut Vec<Value>) -> Result<(), String> {
    let Value::Object(mut fields) = task else { return Err("one of its tasks is no object".to_owned()) };
    if let Some(parent) = parent {
        fields.entry("parent").or_insert_with(|| parent.clone());
    }
    if !fields.contains_key("action")
        && let Some(key) = Action::KEYS.into_iter().find(|key| fields.contains_key(*key))
        && let Some(content) = fields.remove(key)
    {
        fields.insert("action".to_owned(), Value::Object([(key.to_owned(), content)].into_iter().collect()));
    }
    let inside = fields.remove("tasks");
    let id = fields.get("id").cloned().ok_or("one of its tasks has no `id`")?;
    all.push(Value::Object(fields));
    match inside {
        None => {}
        Some(Value::Array(inside)) => {
            for task in inside {
                unfold(task, Some(&id), all)?;
            }
        }
        Some(_) => return Err(format!("`tasks` of {id} is no list")),
    }
    Ok(())
}
