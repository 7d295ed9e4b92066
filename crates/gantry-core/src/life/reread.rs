//! A file that is read again knows neither what its maps have become and what was adopted, nor the rounds that its loops have made.
//!
//! Both belong to the plan and stay, unless the file names them itself: then it means just those.

use std::collections::{BTreeMap, BTreeSet};

use super::Life;
use super::begin_round::{lead_back, rename_needs, ways_back};
use super::graph::grows;
use super::state::State;
use crate::id::{TaskId, TaskNo};
use crate::plan::{On, Plan, Reference, Task, references};

impl Life {
    /// Adds to what a file asks for what the plan has become by itself since: rounds of loops, parts of maps, and what was
    /// adopted.
    ///
    /// What a changed map becomes is seen to when it runs; rounds that were made stay as they were made. Rounds of a task
    /// that the file leaves out go with it.
    pub fn with_own_growth(&self, mut wanted: Plan) -> Plan {
        let names_rounds = wanted.tasks.iter().any(|task| task.round.is_some());
        if !names_rounds && !self.newest_round.is_empty() {
            self.keep_rounds(&mut wanted);
        }
        self.keep_parts(&mut wanted);
        self.share_limits(&mut wanted);
        wanted
    }

    /// Adds the parts of everything that grows and of which the plan names none.
    pub(super) fn keep_parts(&self, wanted: &mut Plan) {
        let is_growing = |task: &&Task| grows(task.action.as_ref());
        let named: BTreeSet<&TaskId> = wanted.tasks.iter().filter_map(|task| task.parent.as_ref()).collect();
        let silent: BTreeSet<&TaskId> =
            wanted.tasks.iter().filter(is_growing).map(|task| &task.id).filter(|id| !named.contains(id)).collect();
        let known: BTreeSet<&TaskId> = wanted.tasks.iter().map(|task| &task.id).collect();
        let is_part = |no: &TaskNo| {
            let mut above = self.ancestors(*no);
            above.any(|above| self.node(above).grows() && silent.contains(self.task_id(above)))
        };
        let parts = self.numbers().filter(|no| is_part(no) && !known.contains(self.task_id(*no)));
        let parts: Vec<Task> = parts.map(|no| Task::clone(&self.node(no).task)).collect();
        if !parts.is_empty() {
            wanted.tasks.extend(parts);
            wanted.sort_tree();
        }
    }

    /// Adds the later rounds of the file's tasks, and lets its tasks need, and lead to, the rounds that they do now.
    fn keep_rounds(&self, wanted: &mut Plan) {
        let asked_for: BTreeSet<TaskId> = wanted.tasks.iter().map(|task| task.id.clone()).collect();
        let is_kept = |task: &Task| task.round.as_ref().is_some_and(|round| asked_for.contains(&round.of));
        let current = self.plan();
        let rounds: Vec<&Task> = current.tasks.iter().filter(|task| is_kept(task)).collect();
        if rounds.is_empty() {
            return;
        }
        let mut known = asked_for.clone();
        known.extend(rounds.iter().map(|task| task.id.clone()));
        for task in &mut wanted.tasks {
            self.meet_rounds(task, &known);
        }
        self.put_back(wanted, &is_kept, &known);
        wanted.sort_tree();
    }

    /// Adds tasks of the plan as it is now, each behind the sibling that it stands behind now. What is not known any more
    /// is not waited for and not led to.
    pub(super) fn put_back(&self, wanted: &mut Plan, is_kept: &impl Fn(&Task) -> bool, known: &BTreeSet<TaskId>) {
        let current = self.plan();
        let mut last: BTreeMap<Option<&TaskId>, &TaskId> = BTreeMap::new();
        for task in &current.tasks {
            let before = last.insert(task.parent.as_ref(), &task.id);
            if is_kept(task) {
                let mut round = task.clone();
                round.depends_on.retain(|id| known.contains(id));
                round.next.retain(|route| known.contains(&route.to));
                let place = wanted.tasks.iter().position(|other| Some(&other.id) == before);
                wanted.tasks.insert(place.map_or(wanted.tasks.len(), |place| place + 1), round);
            }
        }
    }

    /// Where a file names a task of the first round, the round that counts for this task is meant.
    pub(super) fn meet_rounds(&self, task: &mut Task, known: &BTreeSet<TaskId>) {
        let no = self.no(task.id.as_str());
        let now = no.map(|no| Task::clone(&self.node(no).task));
        let needed: BTreeSet<&TaskId> = now.iter().flat_map(|now| needs_of(now)).collect();
        let has_begun = no.is_some_and(|no| {
            !matches!(self.task(no).state, State::Pending | State::Blocked { .. } | State::Skipped { by_hand: false })
        });
        let round_in = |ids: &BTreeSet<&TaskId>, first: &TaskId| {
            let of_it = |id: &&TaskId| self.no(id.as_str()).is_some_and(|no| self.first_name(no) == first);
            ids.iter().copied().filter(of_it).max_by_key(|id| self.no(id.as_str())).cloned()
        };
        let newest = |id: &TaskId| self.newest(id.as_str()).map(|no| self.task_id(no).clone());
        let meant = |round: Option<TaskId>, id: &TaskId| {
            let round = round.or_else(|| newest(id).filter(|_| !has_begun));
            round.filter(|round| known.contains(round) && round != id)
        };
        rename_needs(task, &|id: &TaskId| meant(round_in(&needed, id), id));
        let Some(now) = now else {
            for target in ways_back(task).into_iter().cloned().collect::<Vec<_>>() {
                lead_back(task, &target, &|id: &TaskId| meant(None, id));
            }
            return;
        };
        let back: BTreeSet<&TaskId> = ways_back(&now).into_iter().collect();
        for target in ways_back(task).into_iter().cloned().collect::<Vec<_>>() {
            lead_back(task, &target, &|id: &TaskId| round_in(&back, id).filter(|round| known.contains(round)));
        }
        // A round waits for the round that makes what it reads; so does what reads a round.
        for maker in now.depends_on.iter().filter(|id| known.contains(*id)) {
            if !task.depends_on.contains(maker) && self.is_read(task, maker) {
                task.depends_on.push(maker.clone());
            }
        }
        // What led to a repeated task leads to its later rounds, too.
        let leads =
            |task: &Task, on: &On, to: &TaskId| task.next.iter().any(|route| route.on == *on && route.to == *to);
        for route in now.next.iter().filter(|route| route.max.is_none() && known.contains(&route.to)) {
            let first = self.no(route.to.as_str()).map(|no| self.first_name(no).clone());
            if let Some(first) = first.filter(|first| *first != route.to)
                && leads(task, &route.on, &first)
                && !leads(task, &route.on, &route.to)
            {
                task.next.push(route.clone());
            }
        }
    }

    /// Tells whether a task reads an artifact that some round of this one makes.
    fn is_read(&self, task: &Task, maker: &TaskId) -> bool {
        let first = self.no(maker.as_str()).map(|no| self.first_name(no));
        references(task).into_iter().any(|(_, reference)| match reference {
            Reference::Artifact { name } => self
                .producers
                .get(name)
                .is_some_and(|from| self.no(from.as_str()).map(|no| self.first_name(no)) == first),
            Reference::Task { .. } | Reference::Memory { .. } => false,
        })
    }
}

/// The tasks that a task waits for or reads from, as it is written.
fn needs_of(task: &Task) -> Vec<&TaskId> {
    let read = references(task).into_iter().filter_map(|(_, reference)| match reference {
        Reference::Task { task, .. } => Some(task),
        Reference::Artifact { .. } | Reference::Memory { .. } => None,
    });
    task.depends_on.iter().chain(read).collect()
}
