//! What was made gets its names and its place in the plan.
//!
//! In the first round tasks keep the names that they were made with. A later round must not touch what the earlier ones
//! took in, so its tasks are rounds of those: `dig` becomes `dig-r2`.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{TaskId, TaskNo};
use crate::life::Life;
use crate::life::begin_round::renamed;
use crate::plan::{Plan, Reference, Round, Route, Scheduling, Task, producers, references};

/// The names that tasks have in the plan, by those that they were made with.
pub(super) type Names = BTreeMap<TaskId, TaskId>;

impl Life {
    /// The name of each task that was made; the error is a name that some other task has.
    pub(super) fn names_below(&self, no: TaskNo, made: &Plan) -> Result<Names, TaskId> {
        let home = self.task_id(no);
        let round = self.node(no).task.round.as_ref();
        let made: BTreeSet<&TaskId> = made.tasks.iter().map(|task| &task.id).collect();
        // Those of earlier rounds do not stand in the way of a later one.
        let is_own = |other: TaskNo| {
            let mut above = self.ancestors(other);
            above.any(|above| if round.is_none() { above == no } else { self.first_name(above) == self.first_name(no) })
        };
        let foreign = |id: &&&TaskId| self.no(id.as_str()).is_some_and(|other| !is_own(other));
        if let Some(taken) = made.iter().find(foreign) {
            return Err((*taken).clone());
        }
        let Some(round) = round else { return Ok(made.into_iter().map(|id| (id.clone(), id.clone())).collect()) };
        let below = self.subtree(no).into_iter().map(|part| &self.node(part).task);
        let mut names: Names = below
            .filter_map(|task| {
                Some((task.round.as_ref().filter(|round| round.because == *home)?.of.clone(), task.id.clone()))
            })
            .filter(|(of, _)| made.contains(of))
            .collect();
        let mut used: BTreeSet<TaskId> = names.values().cloned().collect();
        for id in &made {
            if !names.contains_key(*id) {
                let is_used = |name: &TaskId| made.contains(name) || used.contains(name);
                let name = self.name_in_round(id, round.number, is_used);
                used.insert(name.clone());
                names.insert((*id).clone(), name);
            }
        }
        Ok(names)
    }

    /// Puts what was made below a task, instead of what is there. Rounds that its loops have made since stay with it.
    pub(super) fn put_below(&self, no: TaskNo, made: Plan, names: &Names, wanted: &mut Plan) {
        let home = self.task_id(no);
        let below: BTreeSet<TaskId> =
            self.subtree(no).into_iter().skip(1).map(|part| self.task_id(part).clone()).collect();
        let mut own: BTreeSet<TaskId> = names.values().cloned().collect();
        let mut rounds: BTreeSet<TaskId> = BTreeSet::new();
        for task in wanted.tasks.iter().filter(|task| below.contains(&task.id)) {
            let repeats = |round: &Round| round.because != *home && names.contains_key(&round.of);
            let has_place = task.parent.as_ref().is_some_and(|parent| parent == home || own.contains(parent));
            if has_place && !own.contains(&task.id) && task.round.as_ref().is_some_and(repeats) {
                own.insert(task.id.clone());
                rounds.insert(task.id.clone());
            }
        }
        wanted.tasks.retain(|task| !below.contains(&task.id));
        // What other rounds have taken in is not what is meant here.
        let is_elsewhere = |id: &TaskId| {
            let mut above = self.no(id.as_str()).into_iter().flat_map(|other| self.ancestors(other));
            above.any(|above| self.first_name(above) == self.first_name(no))
        };
        let mut known = own;
        known.extend(wanted.tasks.iter().map(|task| &task.id).filter(|id| !is_elsewhere(id)).cloned());
        let makers = producers(&made);
        let Plan { tasks, schedule, done_when, .. } = made;
        wanted.tasks.extend(tasks.into_iter().map(|task| self.placed(no, task, names, &known, &makers)));
        self.put_back(wanted, &|task: &Task| rounds.contains(&task.id), &known);
        self.keep_parts(wanted);
        wanted.sort_tree();
        let there: BTreeSet<&TaskId> = wanted.tasks.iter().map(|task| &task.id).collect();
        wanted.schedule.tasks.retain(|id, _| !below.contains(id) || there.contains(id));
        if schedule != Scheduling::default() {
            let before = std::mem::replace(&mut wanted.schedule, named_anew(schedule, names));
            let taken_in: BTreeSet<&TaskId> = names.values().collect();
            wanted.schedule.tasks.extend(before.tasks.into_iter().filter(|(id, _)| !taken_in.contains(id)));
        }
        for words in done_when {
            if !wanted.done_when.contains(&words) {
                wanted.done_when.push(words);
            }
        }
    }

    /// A task as it stands in the plan: below the task that takes it in, and linked with the rounds that count for it.
    fn placed(
        &self,
        no: TaskNo,
        mut task: Task,
        names: &Names,
        known: &BTreeSet<TaskId>,
        makers: &BTreeMap<String, TaskId>,
    ) -> Task {
        let home = self.task_id(no);
        let of = task.id.clone();
        let rename = |id: &TaskId| names.get(id).cloned();
        let read: Vec<TaskId> = references(&task)
            .into_iter()
            .filter_map(|(_, reference)| match reference {
                Reference::Artifact { name } => makers.get(name).cloned(),
                Reference::Task { .. } | Reference::Memory { .. } => None,
            })
            .collect();
        task.id = rename(&of).unwrap_or(task.id);
        task.parent = Some(task.parent.filter(|parent| names.contains_key(parent)).unwrap_or_else(|| home.clone()));
        if !self.newest_round.is_empty() {
            self.meet_rounds(&mut task, known);
        }
        let mut task = renamed(&task, &rename);
        // Rounds are made by the plan alone.
        task.round = self.node(no).task.round.as_ref().map(|round| Round {
            of: of.clone(),
            number: round.number,
            because: home.clone(),
        });
        // A way on that was met as a round of its target is named like the one that was made.
        let mut seen: Vec<Route> = Vec::new();
        task.next.retain(|route| {
            let is_new = !seen.contains(route);
            seen.push(route.clone());
            is_new
        });
        if task.round.is_some() {
            self.wait_for_read(&mut task, &of, &read, names);
        }
        task
    }

    /// Artifacts have one name for all rounds: a task waits for the round that it is to read.
    fn wait_for_read(&self, task: &mut Task, of: &TaskId, read: &[TaskId], names: &Names) {
        for maker in read.iter().filter(|maker| *maker != of) {
            let Some(name) = names.get(maker) else { continue };
            let is_round =
                |id: &TaskId| id == name || self.no(id.as_str()).is_some_and(|no| self.first_name(no) == maker);
            if !task.depends_on.iter().any(is_round) {
                task.depends_on.push(name.clone());
            }
        }
    }
}

/// What a schedule says, about the tasks as they are called in the plan.
fn named_anew(mut schedule: Scheduling, names: &Names) -> Scheduling {
    let rename = |id: &mut String| {
        if let Some(name) = names.get(id.as_str()) {
            *id = name.to_string();
        }
    };
    for task in schedule.tasks.values_mut() {
        task.after.iter_mut().for_each(|link| rename(&mut link.task));
    }
    schedule.risks.iter_mut().flat_map(|risk| &mut risk.tasks).for_each(rename);
    schedule.correlations.iter_mut().flat_map(|group| &mut group.members).for_each(rename);
    let tasks = std::mem::take(&mut schedule.tasks).into_iter();
    schedule.tasks = tasks.map(|(id, task)| (names.get(&id).cloned().unwrap_or(id), task)).collect();
    schedule
}
