//! Going back without a cycle: the tasks from the target to the source are added once more.
//!
//! A loop is a new revision with a fresh iteration of the phase. Finished rounds stay as they are;
//! whatever waited for a repeated task and has not begun waits for its newest round instead.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::Life;
use super::draft::Draft;
use super::state::State;
use crate::event::Event;
use crate::id::{Revision, TaskId, TaskNo};
use crate::plan::{Action, Diff, Input, Placed, Reference, Round, Task, task_change};

/// The name of the input that tells a repeated task why it is repeated.
const FEEDBACK: &str = "feedback";

impl Draft {
    /// Adds another round from `targets` to `source`; the error says why there is none.
    pub(super) fn begin_round(
        &mut self,
        source: TaskNo,
        targets: &[TaskNo],
        max: u32,
        why: &str,
    ) -> Result<(), String> {
        let round = self.life.node(source).task.round.as_ref().map_or(1, |round| round.number);
        if round > max {
            return Err(format!("{max} rounds were made, and more are not allowed"));
        }
        let region = self.life.region(source, targets);
        if self.life.nodes_left().is_some_and(|left| (region.len() as u64) > left) {
            return Err("the nodes budget is used up".to_owned());
        }
        let names = self.life.names_for_round(&region, round + 1);
        let because = self.id(source);
        let rename = |id: &TaskId| names.get(id).cloned();
        let mut diff = Diff::default();
        let mut last: BTreeMap<Option<TaskId>, TaskId> = BTreeMap::new();
        let anchor = self.life.top_in(&region, source);
        last.insert(self.life.node(anchor).task.parent.clone(), self.id(anchor));
        for no in &region {
            let old = &self.life.node(*no).task;
            let mut task = renamed(old, &rename);
            task.round = Some(Round {
                of: old.round.as_ref().map_or_else(|| old.id.clone(), |round| round.of.clone()),
                number: round + 1,
                because: because.clone(),
            });
            if targets.contains(no) {
                task.inputs.insert(FEEDBACK.to_owned(), Input::Value(Value::String(why.to_owned())));
            }
            let after = last.insert(task.parent.clone(), task.id.clone());
            diff.added.push(Placed { after, task });
        }
        let waiting = self.life.waiting_behind(&region);
        for no in &waiting {
            let old = &self.life.node(*no).task;
            diff.changed.extend(task_change(old, &renamed(old, &rename)));
        }
        for no in self.life.leading_back(&region, &waiting) {
            let old = &self.life.node(no).task;
            diff.changed.extend(task_change(old, &led_back(old, &rename)));
        }
        let revision = Revision(self.life.revision.0 + 1);
        let rationale = format!("round {} after `{because}`: {why}", round + 1);
        self.record(Event::PlanRevised { revision, diff: Box::new(diff), rationale, by: "gantry".to_owned() });
        Ok(())
    }
}

impl Life {
    /// The tasks to repeat: everything between the targets and the source, whole composites.
    fn region(&self, source: TaskNo, targets: &[TaskNo]) -> Vec<TaskNo> {
        // A way back out of a composite repeats the composite.
        let holds_all = |above: &TaskNo| targets.iter().all(|target| self.ancestors(*target).any(|no| no == *above));
        let around: BTreeSet<TaskNo> = self.ancestors(source).filter(holds_all).collect();
        let behind = self.closure(targets.to_vec(), &around, |no| {
            let node = self.node(no);
            let mut next: Vec<TaskNo> = node.dependents.clone();
            next.extend(node.route_targets(self));
            next.extend(node.parent);
            next
        });
        let before = self.closure(vec![source], &around, |no| {
            let node = self.node(no);
            let mut next: Vec<TaskNo> = node.waits.clone();
            next.extend(&node.routed_from);
            next.extend(node.parent);
            next
        });
        let mut region: BTreeSet<TaskNo> = BTreeSet::from([source]);
        for no in behind.intersection(&before).copied().chain(targets.iter().copied()).chain([source]) {
            let whole = self.ancestors(no).filter(|above| !around.contains(above)).last().unwrap_or(no);
            region.extend(self.subtree(whole));
        }
        // A map that is repeated makes its parts itself.
        let is_part =
            |no: &TaskNo| self.ancestors(*no).any(|above| region.contains(&above) && self.node(above).is_map());
        region.iter().copied().filter(|no| !self.node(*no).removed && !is_part(no)).collect()
    }

    fn closure(
        &self,
        from: Vec<TaskNo>,
        around: &BTreeSet<TaskNo>,
        next: impl Fn(TaskNo) -> Vec<TaskNo>,
    ) -> BTreeSet<TaskNo> {
        let mut seen = BTreeSet::new();
        let mut stack = from;
        while let Some(no) = stack.pop() {
            if !around.contains(&no) && seen.insert(no) {
                // What waits for a composite's part is inside it; what it waits for is before its parts.
                stack.extend(next(no));
                stack.extend(self.node(no).children.iter().filter(|_| !self.node(no).removed));
            }
        }
        seen
    }

    /// The outermost task of the region that contains this one.
    fn top_in(&self, region: &[TaskNo], no: TaskNo) -> TaskNo {
        self.ancestors(no).filter(|above| region.binary_search(above).is_ok()).last().unwrap_or(no)
    }

    /// `<first name>-r<round>`, made unique.
    fn names_for_round(&self, region: &[TaskNo], round: u32) -> BTreeMap<TaskId, TaskId> {
        let mut names = BTreeMap::new();
        let mut used: BTreeSet<TaskId> = BTreeSet::new();
        for no in region {
            let task = &self.node(*no).task;
            let first = task.round.as_ref().map_or(&task.id, |round| &round.of);
            let mut name = TaskId::slugged(&format!("{first}-r{round}"));
            let mut extra = 1;
            while self.no(name.as_str()).is_some() || !used.insert(name.clone()) {
                extra += 1;
                name = TaskId::slugged(&format!("{first}-r{round}-{extra}"));
            }
            names.insert(task.id.clone(), name);
        }
        names
    }

    /// Tasks outside the region that wait for something in it and have not begun.
    fn waiting_behind(&self, region: &[TaskNo]) -> BTreeSet<TaskNo> {
        region
            .iter()
            .flat_map(|no| self.node(*no).dependents.iter().copied())
            .filter(|no| region.binary_search(no).is_err())
            .filter(|no| matches!(self.task(*no).state, State::Pending | State::Skipped { by_hand: false }))
            .collect()
    }

    /// Tasks further behind that may send work back to something in the region.
    fn leading_back(&self, region: &[TaskNo], waiting: &BTreeSet<TaskNo>) -> Vec<TaskNo> {
        let repeated = |id: &TaskId| self.no(id.as_str()).is_some_and(|no| region.binary_search(&no).is_ok());
        let leads_back = |task: &Task| {
            let gate = match &task.action {
                Some(Action::Gate(gate)) => gate.back_to.as_ref(),
                _ => None,
            };
            task.next.iter().filter(|route| route.max.is_some()).map(|route| &route.to).chain(gate).any(repeated)
        };
        let is_behind = |no: TaskNo| {
            let before = self.closure(vec![no], &BTreeSet::new(), |no| {
                let node = self.node(no);
                node.waits.iter().chain(&node.routed_from).copied().chain(node.parent).collect()
            });
            waiting.iter().any(|no| before.contains(no))
        };
        self.by_id
            .values()
            .copied()
            .filter(|no| region.binary_search(no).is_err() && !waiting.contains(no))
            .filter(|no| leads_back(&self.node(*no).task) && is_behind(*no))
            .collect()
    }
}

/// The task with its ways back leading to the next round.
fn led_back(task: &Arc<Task>, rename: &impl Fn(&TaskId) -> Option<TaskId>) -> Task {
    let mut task = (**task).clone();
    let swap = |id: &mut TaskId| {
        if let Some(name) = rename(id) {
            *id = name;
        }
    };
    task.next.iter_mut().filter(|route| route.max.is_some()).for_each(|route| swap(&mut route.to));
    if let Some(Action::Gate(gate)) = &mut task.action {
        gate.back_to.iter_mut().for_each(swap);
    }
    task
}

/// The task with every mention of a repeated task replaced by its next round.
fn renamed(task: &Arc<Task>, rename: &impl Fn(&TaskId) -> Option<TaskId>) -> Task {
    let mut task = (**task).clone();
    let swap = |id: &mut TaskId| {
        if let Some(name) = rename(id) {
            *id = name;
        }
    };
    let swap_input = |input: &mut Input| {
        if let Input::From(Reference::Task { task, .. }) = input {
            swap(task);
        }
    };
    swap(&mut task.id);
    task.parent.iter_mut().for_each(swap);
    task.depends_on.iter_mut().for_each(swap);
    task.next.iter_mut().for_each(|route| swap(&mut route.to));
    for recover in task.failure_modes.iter_mut().filter_map(|mode| mode.recover.as_mut()) {
        if let Some(name) = TaskId::new(recover).ok().and_then(|id| rename(&id)) {
            *recover = name.to_string();
        }
    }
    task.inputs.values_mut().for_each(swap_input);
    match &mut task.action {
        Some(Action::Tool(tool)) => tool.args.values_mut().for_each(swap_input),
        Some(Action::Plan(nested)) => nested.with.values_mut().for_each(swap_input),
        Some(Action::Map(map)) => swap_input(&mut map.over),
        Some(Action::Gate(gate)) => gate.back_to.iter_mut().for_each(swap),
        _ => {}
    }
    task
}
