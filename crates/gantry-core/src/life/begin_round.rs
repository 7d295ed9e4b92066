//! Going back without a cycle: the tasks from the target to the source are added once more.
//!
//! A loop is a new revision with a fresh iteration of the phase. Finished rounds stay as they are;
//! whatever waited for a repeated task and has not begun waits for its newest round instead.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Life;
use super::draft::Draft;
use super::state::{State, Waiting};
use crate::event::{Event, JudgeOf};
use crate::id::{Revision, TaskId, TaskNo};
use crate::plan::{
    Action, Diff, InitialStatus, Input, LOOPS_MAX, On, Placed, Reference, Round, Route, Task, references, task_change,
};

/// The name of the input that tells a repeated task why it is repeated, unless it has an own input of that name.
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
        if let Some(newer) = self.life.newer_round(source) {
            let newer = self.id(newer);
            self.say(source, &format!("it is done again already, as `{newer}`"));
            return Ok(());
        }
        let number = self.life.node(source).task.round.as_ref().map_or(1, |round| round.number);
        let number = number.checked_add(1).ok_or("there is no number for another round")?;
        if self.life.rounds_made(source, targets) >= max {
            return Err(match max {
                1 => "1 round was made, and more are not allowed".to_owned(),
                max => format!("{max} rounds were made, and more are not allowed"),
            });
        }
        let whole = self.life.region(source, targets);
        let joined = self.life.joined(&whole);
        let region: Vec<TaskNo> = whole.iter().copied().filter(|no| !joined.contains_key(no)).collect();
        if self.life.nodes_left(self.life.node(source).parent).is_some_and(|left| (region.len() as u64) > left) {
            return Err("the nodes budget is used up".to_owned());
        }
        let loops = |tasks: &mut dyn Iterator<Item = TaskNo>| -> usize {
            tasks.map(|no| self.life.node(no).task.next.iter().filter(|route| route.max.is_some()).count()).sum()
        };
        if loops(&mut self.life.numbers()) + loops(&mut region.iter().copied()) > LOOPS_MAX {
            return Err(format!("a plan has at most {LOOPS_MAX} routes back"));
        }
        let mut names = self.life.names_for_round(&region, number);
        names.extend(joined.iter().map(|(old, new)| (self.id(*old), self.id(*new))));
        let because = self.id(source);
        let rename = |id: &TaskId| names.get(id).cloned();
        let mut diff = Diff::default();
        let mut last: BTreeMap<Option<TaskId>, TaskId> = BTreeMap::new();
        let anchor = self.life.top_in(&region, source);
        last.insert(self.life.node(anchor).task.parent.clone(), self.id(anchor));
        for no in &region {
            let old = &self.life.node(*no).task;
            let mut task = renamed(old, &rename);
            self.life.wait_for_makers(&mut task, &rename);
            task.round = Some(Round {
                of: old.round.as_ref().map_or_else(|| old.id.clone(), |round| round.of.clone()),
                number,
                because: because.clone(),
            });
            // What a file brings along is about the first round; what someone left out stays out.
            let is_left_out = |no: TaskNo| {
                region.binary_search(&no).is_ok() && self.life.task(no).state == State::Skipped { by_hand: true }
            };
            let left_out = is_left_out(*no) || self.life.ancestors(*no).any(is_left_out);
            task.status = if left_out { InitialStatus::Skipped } else { InitialStatus::Pending };
            if targets.contains(no) && !self.life.has_own_feedback(*no) {
                task.inputs.insert(FEEDBACK.to_owned(), Input::Value(Value::String(why.to_owned())));
            }
            let after = last.insert(task.parent.clone(), task.id.clone());
            diff.added.push(Placed { after, task });
        }
        let readers = self.life.readers_beside(&region);
        let (outside, taken) = self.life.around_round(&region, &whole, &readers, &rename);
        // Whoever sends the work back has been answered, and is about to end with that.
        let asked: Vec<TaskNo> = (outside.keys().copied())
            .filter(|no| *no != source && self.life.is_asked(*no) && self.life.waits_on(*no, &region))
            .collect();
        for (no, task) in &outside {
            diff.changed.extend(task_change(&self.life.node(*no).task, task));
        }
        let dead = self.life.drop_dead_ways(&mut diff, &outside, !joined.is_empty());
        let revision = Revision(self.life.revision.0 + 1);
        let rationale = format!("round {number} after `{because}`: {why}");
        self.record(Event::PlanRevised { revision, diff: Box::new(diff), rationale, by: "gantry".to_owned() });
        for (from, to) in dead {
            let text = format!("its way back to `{to}` is left out: that is not before it any more");
            self.record(Event::NoteAdded { task: Some(from), by: "gantry".to_owned(), text });
        }
        for (from, to, on) in taken {
            self.record(Event::RouteTaken { from, to, on });
        }
        for no in asked {
            self.reopen(no, &format!("what it is about is done again after `{because}`"), false);
        }
        for no in readers.into_iter().filter(|no| *no != source) {
            self.redo_if_changed(no);
        }
        self.hold_open();
        Ok(())
    }
}

/// A route that was followed: from where, where to, on which ending.
type Taken = (TaskId, TaskId, On);

impl Life {
    /// The name that a task had in the first round.
    pub(super) fn first_name(&self, no: TaskNo) -> &TaskId {
        let task = &self.node(no).task;
        task.round.as_ref().map_or(&task.id, |round| &round.of)
    }

    /// Tells whether the plan itself gives the task an input called `feedback`.
    fn has_own_feedback(&self, no: TaskNo) -> bool {
        let name = self.first_name(no);
        let first = self.no(name.as_str()).or_else(|| self.numbers().find(|other| self.first_name(*other) == name));
        first.is_some_and(|first| self.node(first).task.inputs.contains_key(FEEDBACK))
    }

    /// How often this task, in its rounds so far, has sent work back to these. A way back around it begins a new count.
    pub(super) fn rounds_made(&self, source: TaskNo, targets: &[TaskNo]) -> u32 {
        let name = self.first_name(source);
        // Rounds that were taken out of the plan were made all the same.
        let all = (1..=source.0).map(TaskNo);
        let rounds: Vec<TaskNo> = all.filter(|no| self.first_name(*no) == name).collect();
        let goals: BTreeSet<&TaskId> = targets.iter().map(|target| self.first_name(*target)).collect();
        let mut made = 0;
        for pair in rounds.windows(2).rev() {
            let Some(cause) = self.sent_back_by(pair[1]) else {
                made += u32::from(self.node(pair[1]).task.round.is_some());
                continue;
            };
            if self.first_name(cause) != name {
                if self.is_before(pair[0], cause) {
                    break;
                }
                continue;
            }
            // The same task may go back near or far.
            let is_goal = |no: &TaskNo| goals.contains(self.first_name(*no));
            let ways = ways_back(&self.node(cause).task);
            let repeated: Vec<TaskNo> = ways
                .into_iter()
                .filter_map(|id| self.no(id.as_str()))
                .filter(|to| self.is_repeated_because_of(cause, self.first_name(*to)))
                .collect();
            let further =
                |far: &TaskNo| targets.iter().any(|near| self.is_before(*far, self.counterpart(*near, cause)));
            if repeated.iter().any(|to| !is_goal(to) && further(to)) {
                break;
            }
            made += u32::from(repeated.is_empty() || repeated.iter().any(is_goal));
        }
        made
    }

    /// The task that sent work back and so had this one repeated. What a round took in names what contains it.
    fn sent_back_by(&self, no: TaskNo) -> Option<TaskNo> {
        let mut at = no;
        loop {
            let cause = self.no(self.node(at).task.round.as_ref()?.because.as_str())?;
            if !self.ancestors(at).any(|above| above == cause) {
                return Some(cause);
            }
            at = cause;
        }
    }

    fn is_repeated_because_of(&self, cause: TaskNo, name: &TaskId) -> bool {
        let id = self.task_id(cause);
        self.numbers()
            .any(|no| self.node(no).task.round.as_ref().is_some_and(|round| round.of == *name && round.because == *id))
    }

    /// The round of a task that another one sent back: of those that are before it, the newest.
    fn counterpart(&self, no: TaskNo, before: TaskNo) -> TaskNo {
        let name = self.first_name(no);
        self.numbers()
            .filter(|other| self.first_name(*other) == name && self.is_before(*other, before))
            .last()
            .unwrap_or(no)
    }

    /// Tells whether a task comes before another one.
    fn is_before(&self, first: TaskNo, then: TaskNo) -> bool {
        self.stays_behind(then, first, &[], &BTreeSet::new())
    }

    /// The round of a task that is newer than this one and still counts.
    pub(super) fn newer_round(&self, no: TaskNo) -> Option<TaskNo> {
        let newest = self.newest_round.get(self.first_name(no)).copied().filter(|newest| *newest > no)?;
        let counts = matches!(
            self.task(newest).state,
            State::Pending
                | State::Blocked { .. }
                | State::Open { .. }
                | State::Running { .. }
                | State::Waiting(_)
                | State::Completed
        );
        (counts && !self.node(newest).removed).then_some(newest)
    }

    /// What another way back has repeated meanwhile: a second one joins that round instead of repeating it once more.
    fn joined(&self, region: &[TaskNo]) -> BTreeMap<TaskNo, TaskNo> {
        let is_in = |no: &TaskNo| region.binary_search(no).is_ok();
        // A composite is repeated as a whole.
        if region.iter().any(|no| self.node(*no).parent.as_ref().is_some_and(is_in)) {
            return BTreeMap::new();
        }
        region.iter().filter_map(|no| Some((*no, self.newer_round(*no).filter(|newer| !is_in(newer))?))).collect()
    }

    /// Tells whether someone was asked about what a task waits for, or was and has approved it, or it is blocked.
    fn is_asked(&self, no: TaskNo) -> bool {
        match &self.task(no).state {
            State::Blocked { .. }
            | State::Waiting(
                Waiting::Gate { .. }
                | Waiting::Answer { .. }
                | Waiting::Work
                | Waiting::Judge { of: JudgeOf::Start, .. },
            ) => true,
            State::Completed => self.node(no).is_gate(),
            _ => false,
        }
    }

    /// Tells whether a task waits for something in the region, or is led to by it.
    fn waits_on(&self, no: TaskNo, region: &[TaskNo]) -> bool {
        let node = self.node(no);
        node.waits.iter().chain(&node.routed_from).any(|other| region.binary_search(other).is_ok())
    }

    /// Tasks outside the region that come right after something in it, or are computed from that, however far behind.
    fn beside(&self, region: &[TaskNo]) -> BTreeSet<TaskNo> {
        let is_in = |no: TaskNo| region.binary_search(&no).is_ok();
        let next = region.iter().flat_map(|no| self.behind(*no));
        let mut computed = self.computed_from(is_in);
        if !computed.is_empty() {
            // What contains the loop cannot wait for it.
            let around: BTreeSet<TaskNo> = region.iter().flat_map(|no| self.ancestors(*no)).collect();
            computed.retain(|no| !around.contains(no) && region.iter().any(|inside| self.is_before(*inside, *no)));
        }
        next.chain(computed).filter(|no| !is_in(*no) && !self.node(*no).removed).collect()
    }

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
        // What grows and is repeated makes its parts itself.
        let is_part =
            |no: &TaskNo| self.ancestors(*no).any(|above| region.contains(&above) && self.node(above).grows());
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
            let name = self.name_in_round(self.first_name(*no), round, |name| used.contains(name));
            used.insert(name.clone());
            names.insert(self.task_id(*no).clone(), name);
        }
        names
    }

    /// The name of one task in a round, which neither a task of the plan nor anything else has.
    pub(super) fn name_in_round(&self, first: &TaskId, round: u32, is_used: impl Fn(&TaskId) -> bool) -> TaskId {
        let mut name = first.with_ending(&format!("-r{round}"));
        let mut extra = 1;
        while self.no(name.as_str()).is_some() || is_used(&name) {
            extra += 1;
            name = first.with_ending(&format!("-r{round}-{extra}"));
        }
        name
    }

    /// Tasks outside the region that wait for something in it and have not begun. People who were asked about it, or have
    /// approved it, are asked about the new round.
    fn waiting_behind(&self, region: &[TaskNo]) -> BTreeSet<TaskNo> {
        let has_not_begun = |no: &TaskNo| {
            matches!(self.task(*no).state, State::Pending | State::Skipped { by_hand: false }) || self.is_asked(*no)
        };
        self.beside(region).into_iter().filter(has_not_begun).collect()
    }

    /// Tasks outside the region that have begun, or are over, and read what something in it has made: they read the new
    /// round, and are done again if that gives them anything else. So is what has failed behind it. What later rounds
    /// have repeated stays as it was.
    fn readers_beside(&self, region: &[TaskNo]) -> BTreeSet<TaskNo> {
        let is_in = |no: TaskNo| region.binary_search(&no).is_ok();
        let makes = |reference: &Reference| match reference {
            Reference::Task { task, .. } => self.no(task.as_str()).is_some_and(is_in),
            Reference::Artifact { name } => {
                self.producers.get(name).and_then(|maker| self.newest(maker.as_str())).is_some_and(is_in)
            }
            Reference::Memory { .. } => false,
        };
        let reads = |no: &TaskNo| {
            let task = &self.node(*no).task;
            // Their expressions mean the newest round by themselves.
            matches!(task.action, Some(Action::Compute(_) | Action::Decide(_)))
                || references(task).into_iter().any(|(_, reference)| makes(reference))
        };
        let is_concerned = |no: &TaskNo| match self.task(*no).state {
            State::Pending | State::Skipped { .. } | State::Abandoned | State::Waiting(Waiting::Undo) => false,
            State::Failed { handled: false } => true,
            State::Blocked { .. }
            | State::Open { .. }
            | State::Running { .. }
            | State::Waiting(_)
            | State::Completed
            | State::Failed { handled: true } => reads(no),
        };
        // What grows is repeated without its parts: they are no more beside the round than it is.
        let is_repeated = |no: &TaskNo| {
            let mut all = std::iter::once(*no).chain(self.ancestors(*no));
            all.any(|no| is_in(no) || self.newer_round(no).is_some())
        };
        self.beside(region)
            .into_iter()
            .filter(|no| is_concerned(no) && !self.is_asked(*no) && !is_repeated(no))
            .collect()
    }

    /// How tasks outside the region change, and the routes that lead into the new round already. `whole` is the region
    /// with what has a newer round already.
    fn around_round(
        &self,
        region: &[TaskNo],
        whole: &[TaskNo],
        readers: &BTreeSet<TaskNo>,
        rename: &impl Fn(&TaskId) -> Option<TaskId>,
    ) -> (BTreeMap<TaskNo, Task>, Vec<Taken>) {
        let mut outside: BTreeMap<TaskNo, Task> = BTreeMap::new();
        let mut taken = Vec::new();
        let mut waiting = self.waiting_behind(region);
        waiting.extend(readers);
        for no in &waiting {
            let mut task = Task::clone(&self.node(*no).task);
            rename_needs(&mut task, rename);
            self.wait_for_makers(&mut task, rename);
            self.wait_for_computed(*no, &mut task, rename);
            outside.insert(*no, task);
        }
        // Whatever may send work back to something repeated, and is no longer behind the old one.
        let is_outside = |no: &TaskNo| region.binary_search(no).is_err();
        for no in self.numbers().filter(is_outside) {
            for target in ways_back(&self.node(no).task).into_iter().filter_map(|id| self.no(id.as_str())) {
                if whole.binary_search(&target).is_err() || self.stays_behind(no, target, whole, &waiting) {
                    continue;
                }
                let task = outside.entry(no).or_insert_with(|| Task::clone(&self.node(no).task));
                lead_back(task, self.task_id(target), rename);
            }
        }
        // What led to a repeated task leads to its next round, too.
        for to in region {
            for from in self.node(*to).routed_from.iter().copied().filter(|no| is_outside(no)) {
                let Some(name) = rename(self.task_id(*to)) else { continue };
                let task = outside.entry(from).or_insert_with(|| Task::clone(&self.node(from).task));
                let routes: Vec<Route> = task
                    .next
                    .iter()
                    .filter(|route| route.max.is_none() && route.to == *self.task_id(*to))
                    .cloned()
                    .collect();
                if let Some(route) = routes.first().filter(|_| self.task(from).taken.contains(to)) {
                    taken.push((task.id.clone(), name.clone(), route.on.clone()));
                }
                task.next.extend(routes.into_iter().map(|route| Route { to: name.clone(), ..route }));
            }
        }
        (outside, taken)
    }

    /// A way back of a repeated task to something outside the round may have led there through what another loop has
    /// repeated meanwhile. When that is not before it any more, there is nothing to go back to: it is left out. Returns
    /// what was left out, from where to where.
    fn drop_dead_ways(
        &self,
        diff: &mut Diff,
        outside: &BTreeMap<TaskNo, Task>,
        joins: bool,
    ) -> BTreeSet<(TaskId, TaskId)> {
        let own: BTreeSet<TaskId> = diff.added.iter().map(|placed| placed.task.id.clone()).collect();
        let leads_out = |task: &Task| ways_back(task).into_iter().any(|to| !own.contains(to));
        let mut dead: BTreeSet<(TaskId, TaskId)> = BTreeSet::new();
        if !joins && !diff.added.iter().any(|placed| leads_out(&placed.task)) {
            return dead;
        }
        let Ok(wanted) = diff.apply_to(&self.plan()) else { return dead };
        for problem in wanted.check().iter().filter(|problem| problem.code == "plan::route-not-back") {
            let Some(task) = problem.place.task.and_then(|at| wanted.tasks.get(at)) else { continue };
            let route = problem.place.path.strip_prefix("next.").and_then(|rest| rest.split('.').next()?.parse().ok());
            let to = match route {
                Some(at) => task.next.get::<usize>(at).map(|route| route.to.clone()),
                None => gate_back_to(&mut task.clone()).and_then(Option::take),
            };
            dead.extend(to.map(|to| (task.id.clone(), to)));
        }
        diff.added.iter_mut().for_each(|placed| leave_out(&mut placed.task, &dead));
        // So may a way of an earlier round, or of another task, when what stood between was repeated.
        for no in dead.iter().filter_map(|(from, _)| self.no(from.as_str())) {
            let old = &self.node(no).task;
            let mut task = outside.get(&no).cloned().unwrap_or_else(|| Task::clone(old));
            leave_out(&mut task, &dead);
            diff.changed.retain(|change| change.id != task.id);
            diff.changed.extend(task_change(old, &task));
        }
        dead
    }

    /// Artifacts have one name for all rounds: a task waits for the round that it is to read.
    fn wait_for_makers(&self, task: &mut Task, rename: &impl Fn(&TaskId) -> Option<TaskId>) {
        let makers: Vec<TaskId> = references(task)
            .into_iter()
            .filter_map(|(_, reference)| match reference {
                Reference::Artifact { name } => {
                    let maker = self.newest(self.producers.get(name)?.as_str())?;
                    rename(self.task_id(maker))
                }
                Reference::Task { .. } | Reference::Memory { .. } => None,
            })
            .collect();
        for maker in makers {
            if maker != task.id && !task.depends_on.contains(&maker) {
                task.depends_on.push(maker);
            }
        }
    }

    /// What expressions read is that of the newest round: whoever is computed from it waits for that.
    fn wait_for_computed(&self, no: TaskNo, task: &mut Task, rename: &impl Fn(&TaskId) -> Option<TaskId>) {
        for read in self.read_by_expressions(no) {
            if let Some(newer) = rename(self.task_id(read)).filter(|newer| !task.depends_on.contains(newer)) {
                task.depends_on.push(newer);
            }
        }
    }

    /// Tells whether a task is still behind the old round of another when those that wait are not.
    fn stays_behind(&self, no: TaskNo, target: TaskNo, region: &[TaskNo], waiting: &BTreeSet<TaskNo>) -> bool {
        let (mut seen, mut stack) = (BTreeSet::new(), vec![no]);
        while let Some(no) = stack.pop() {
            if no == target {
                return true;
            }
            if seen.insert(no) {
                let node = self.node(no);
                let moves_on = |other: &TaskNo| waiting.contains(&no) && region.binary_search(other).is_ok();
                stack.extend(node.waits.iter().copied().filter(|other| !moves_on(other)));
                stack.extend(node.routed_from.iter().copied().chain(node.parent));
            }
        }
        false
    }
}

/// Where a task may send work back to.
pub(super) fn ways_back(task: &Task) -> Vec<&TaskId> {
    let gate = match &task.action {
        Some(Action::Gate(gate)) => gate.back_to.iter().collect(),
        Some(Action::Map(map)) => map.each.as_deref().map(ways_back).unwrap_or_default(),
        _ => Vec::new(),
    };
    task.next.iter().filter(|route| route.max.is_some()).map(|route| &route.to).chain(gate).collect()
}

/// Leaves out these ways back of a task, each from where to where.
fn leave_out(task: &mut Task, dead: &BTreeSet<(TaskId, TaskId)>) {
    let id = task.id.clone();
    let is_dead = |to: &TaskId| dead.contains(&(id.clone(), to.clone()));
    task.next.retain(|route| route.max.is_none() || !is_dead(&route.to));
    if let Some(back_to) = gate_back_to(task).filter(|back_to| back_to.as_ref().is_some_and(is_dead)) {
        *back_to = None;
    }
}

/// Where the gate that a task is, or becomes for each item, sends work back to.
fn gate_back_to(task: &mut Task) -> Option<&mut Option<TaskId>> {
    match &mut task.action {
        Some(Action::Gate(gate)) => Some(&mut gate.back_to),
        Some(Action::Map(map)) => map.each.as_deref_mut().and_then(gate_back_to),
        _ => None,
    }
}

/// Lets ways back to `target` lead to its next round.
pub(super) fn lead_back(task: &mut Task, target: &TaskId, rename: &impl Fn(&TaskId) -> Option<TaskId>) {
    let Some(name) = rename(target) else { return };
    for route in task.next.iter_mut().filter(|route| route.max.is_some() && route.to == *target) {
        route.to = name.clone();
    }
    if let Some(back_to) = gate_back_to(task).filter(|back_to| back_to.as_ref() == Some(target)) {
        *back_to = Some(name);
    }
}

/// The task with every mention of a repeated task replaced by its next round.
pub(super) fn renamed(task: &Task, rename: &impl Fn(&TaskId) -> Option<TaskId>) -> Task {
    let mut task = task.clone();
    let swap = |id: &mut TaskId| {
        if let Some(name) = rename(id) {
            *id = name;
        }
    };
    rename_needs(&mut task, rename);
    swap(&mut task.id);
    task.parent.iter_mut().for_each(swap);
    task.next.iter_mut().for_each(|route| swap(&mut route.to));
    for recover in task.failure_modes.iter_mut().filter_map(|mode| mode.recover.as_mut()) {
        if let Some(name) = TaskId::new(recover).ok().and_then(|id| rename(&id)) {
            *recover = name.to_string();
        }
    }
    gate_back_to(&mut task).into_iter().flatten().for_each(swap);
    task
}

/// Lets a task wait for, and read from, the next round of what it waits for.
pub(super) fn rename_needs(task: &mut Task, rename: &impl Fn(&TaskId) -> Option<TaskId>) {
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
    task.depends_on.iter_mut().for_each(swap);
    task.inputs.values_mut().for_each(swap_input);
    match &mut task.action {
        Some(Action::Tool(tool)) => tool.args.values_mut().for_each(swap_input),
        Some(Action::Plan(nested)) => nested.with.values_mut().for_each(swap_input),
        Some(Action::Map(map)) => {
            swap_input(&mut map.over);
            if let Some(each) = &mut map.each {
                rename_needs(each, rename);
            }
        }
        Some(Action::Adopt(adopt)) => swap_input(&mut adopt.0),
        _ => {}
    }
}
