//! A map becomes one task for each item of its list, in a new revision.
//!
//! When the list changes later, only the items that differ change: unchanged ones keep their results.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Life;
use super::adopt::what_is_wrong;
use super::draft::Draft;
use super::state::State;
use crate::effect::Failure;
use crate::event::{Event, Outputs, Source};
use crate::id::{Revision, TaskId, TaskNo};
use crate::plan::{Action, DEPTH_MAX, Diff, Input, Map, Placed, Reference, Task, task_change};
use crate::policy::FailureClass;

impl Draft {
    pub(super) fn expand(&mut self, no: TaskNo, map: &Map, key: String, mut inputs: Outputs) {
        let items = match inputs.remove("over") {
            Some(Value::Array(items)) => items,
            other => {
                let kind = other.map_or("nothing", |value| kind_of(&value));
                return self
                    .give_up(no, Failure::new(FailureClass::Logic, format!("it maps over {kind}, not over a list")));
            }
        };
        if let Some(message) = self.life.too_deep_below(no) {
            return self.fail(no, Failure::new(FailureClass::Policy, message));
        }
        let limit = self.life.header.policy.map_limit(map.max);
        if items.len() > limit as usize {
            let message = format!("the list has {} items, but at most {limit} are allowed", items.len());
            return self.fail(no, Failure::new(FailureClass::Policy, message));
        }
        let diff = match self.life.checked(self.children_for(no, map, &items)) {
            Ok(diff) => diff,
            Err(why) => {
                let failure = Failure::new(FailureClass::Logic, format!("it cannot become this: {why}"));
                return self.leave_as_it_is(no, failure);
            }
        };
        if self.life.nodes_left(Some(no)).is_some_and(|left| (diff.added.len() as u64) > left) {
            let message = format!("{} more tasks are needed, and the nodes budget does not suffice", diff.added.len());
            return self.fail(no, Failure::new(FailureClass::Policy, message));
        }
        let changed: Vec<TaskId> = diff.changed.iter().map(|change| change.id.clone()).collect();
        if !diff.is_empty() {
            for id in &diff.removed {
                self.stop_running(id, "its item is gone");
            }
            self.say_what_stays(&diff.removed);
            let revision = Revision(self.life.revision.0 + 1);
            let tasks = if items.len() == 1 { "1 task".to_owned() } else { format!("{} tasks", items.len()) };
            let rationale = format!("`{}` became {tasks}", self.id(no));
            self.record(Event::PlanRevised { revision, diff: Box::new(diff), rationale, by: "gantry".to_owned() });
        }
        if items.is_empty() {
            let results = Outputs::from([("results".to_owned(), json!([]))]);
            return self.accept(no, results, None, Source::Made);
        }
        let until = self.life.timebox_end(no, self.now);
        self.record(Event::TaskOpened { task: self.id(no), until, key: Some(key) });
        for id in changed {
            if let Some(child) = self.life.no(id.as_str()).filter(|child| self.life.node(*child).parent == Some(no)) {
                self.redo_if_changed(child);
            }
        }
    }

    /// The difference between the children that are there and those that the items ask for.
    fn children_for(&self, no: TaskNo, map: &Map, items: &[Value]) -> Diff {
        let node = self.life.node(no);
        let mut diff = Diff::default();
        let mut kept: BTreeSet<TaskId> = BTreeSet::new();
        let mut after: Option<TaskId> = None;
        for (index, item) in items.iter().enumerate() {
            let (id, there) = self.child_name(no, index + 1);
            let child = map.child(&node.task, id.clone(), index + 1, item);
            match there {
                Some(existing) => diff.changed.extend(task_change(&self.life.node(existing).task, &child)),
                None => diff.added.push(Placed { after: after.clone(), task: child }),
            }
            kept.insert(id.clone());
            after = Some(id);
        }
        let is_kept = |child: &TaskNo| {
            let task = &self.life.node(*child).task;
            kept.contains(task.round.as_ref().map_or(&task.id, |round| &round.of))
        };
        // A part that goes takes along what is inside it.
        let mut gone: Vec<TaskNo> = node.children.iter().copied().filter(|child| !is_kept(child)).collect();
        let mut at = 0;
        while at < gone.len() {
            gone.extend(self.life.node(gone[at]).children.iter().copied());
            at += 1;
        }
        diff.removed = gone.into_iter().map(|task| self.id(task)).collect();
        if !diff.removed.is_empty() {
            self.forget_removed(&mut diff);
        }
        diff
    }

    /// Nobody waits for, reads from or leads to a part that is gone.
    fn forget_removed(&self, diff: &mut Diff) {
        let gone = |id: &TaskId| diff.removed.contains(id);
        let mut changed = Vec::new();
        for no in self.life.numbers() {
            let old = &self.life.node(no).task;
            if gone(&old.id) || diff.changed.iter().any(|change| change.id == old.id) {
                continue;
            }
            let mut task = Task::clone(old);
            task.depends_on.retain(|id| !gone(id));
            task.next.retain(|route| !gone(&route.to));
            let reads_gone = |input: &Input| matches!(input, Input::From(Reference::Task { task, .. }) if gone(task));
            task.inputs.retain(|_, input| !reads_gone(input));
            match &mut task.action {
                Some(Action::Tool(tool)) => tool.args.retain(|_, input| !reads_gone(input)),
                Some(Action::Plan(nested)) => nested.with.retain(|_, input| !reads_gone(input)),
                // Without what it is made of, it says so when its turn comes.
                Some(Action::Map(map)) if reads_gone(&map.over) => map.over = Input::Value(Value::Null),
                Some(Action::Adopt(adopt)) if reads_gone(&adopt.0) => adopt.0 = Input::Value(Value::Null),
                Some(Action::Gate(gate)) => gate.back_to = gate.back_to.take().filter(|id| !gone(id)),
                _ => {}
            }
            changed.extend(task_change(old, &task));
        }
        diff.changed.extend(changed);
    }

    /// `<map>-<number>`, made unique; with the child that has the name already.
    fn child_name(&self, no: TaskNo, number: usize) -> (TaskId, Option<TaskNo>) {
        let map = self.life.task_id(no);
        let mut id = map.with_ending(&format!("-{number}"));
        let mut extra = 1;
        loop {
            match self.life.no(id.as_str()) {
                None => return (id, None),
                Some(taken) => {
                    let node = self.life.node(taken);
                    if node.parent == Some(no) && node.task.round.is_none() {
                        return (id, Some(taken));
                    }
                }
            }
            extra += 1;
            id = map.with_ending(&format!("-{number}-{extra}"));
        }
    }

    /// The results of a map, in the order of its items.
    pub(super) fn map_results(&self, no: TaskNo) -> Outputs {
        let results: Vec<Value> = self
            .life
            .node(no)
            .children
            .iter()
            .filter(|child| self.life.node(**child).task.round.is_none())
            .map(|child| self.life.newest(self.life.task_id(*child).as_str()).unwrap_or(*child))
            .map(|child| match self.life.task(child).state {
                State::Completed => json!(&*self.life.task(child).outputs),
                _ => Value::Null,
            })
            .collect();
        Outputs::from([("results".to_owned(), Value::Array(results))])
    }
}

impl Life {
    /// Holds what a map would make of the plan against everything that a plan has to be.
    ///
    /// Growing can break nothing, so it costs nothing: what each item becomes was checked when the plan was read
    /// (`check/each.rs`), has its place in the plan from the map, waits for nothing that the map has not waited for, and
    /// gets a name that nobody has. A plan with a schedule, and one that loses tasks of which others may speak, is
    /// checked as a whole.
    fn checked(&self, diff: Diff) -> Result<Diff, String> {
        if diff.removed.is_empty() && self.header.schedule.is_empty() {
            return Ok(diff);
        }
        let current = self.plan();
        let mut wanted = diff.apply_to(&current).map_err(|mismatch| mismatch.to_string())?;
        let before = wanted.schedule.tasks.len();
        wanted.schedule.tasks.retain(|id, _| !diff.removed.contains(id));
        let without_schedule = wanted.schedule.tasks.len() != before;
        match what_is_wrong(&wanted) {
            Some(why) => Err(why),
            None if without_schedule => Ok(crate::plan::diff(&current, &wanted)),
            None => Ok(diff),
        }
    }

    /// Why the parts of a task would be nested too deep, if they would.
    pub(super) fn too_deep_below(&self, no: TaskNo) -> Option<String> {
        let depth = u32::try_from(self.ancestors(no).count() + 2).unwrap_or(u32::MAX);
        if self.header.policy.budget.depth.is_some_and(|depth_max| depth > depth_max) {
            return Some(format!("its tasks would be nested {depth} deep, and the depth budget does not suffice"));
        }
        if depth > DEPTH_MAX {
            return Some(format!("its tasks would be nested {depth} deep, and at most {DEPTH_MAX} is allowed"));
        }
        let around = std::iter::once(no).chain(self.ancestors(no)).zip(1_u32..);
        around.filter_map(|(above, depth)| Some((above, depth, self.node(above).task.budget.depth?))).find_map(
            |(above, depth, limit)| {
                let id = self.task_id(above);
                (depth > limit)
                    .then(|| format!("its tasks would be {depth} deep in `{id}`, whose depth budget is {limit}"))
            },
        )
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a yes or no",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
