//! How often a loop may go round can change: what has come to its end because of that gets another chance.
//!
//! A loop has one limit, however many rounds it has made: who changes it in one round means those that come.

use std::collections::BTreeMap;

use super::Life;
use super::draft::Draft;
use super::state::State;
use crate::id::{TaskId, TaskNo};
use crate::plan::{Action, On, Plan, Route, Task};

/// A way back that is not taken any more, because it was taken as often as it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedUp<'l> {
    /// Where it leads.
    pub to: &'l TaskId,
    /// How often it was taken.
    pub rounds: u32,
    /// The policy allows no more, whatever the way back says.
    pub by_policy: bool,
}

impl Draft {
    /// Opens again what may send work back once more.
    pub(super) fn reopen_loops(&mut self, ended: &[TaskNo]) {
        for no in ended {
            let life = self.life.task(*no);
            if matches!(life.state, State::Completed | State::Failed { handled: false }) && !life.suspect {
                self.reopen(*no, "it may send work back more often now", false);
            }
        }
    }
}

impl Life {
    /// Why a failure stands though the plan has a way back for it: the way was taken as often as it may be.
    pub fn rounds_used_up(&self, task: &str) -> Option<UsedUp<'_>> {
        let no = self.no(task)?;
        let ended = matches!(self.task(no).state, State::Failed { handled: false });
        if !ended || self.newer_round(no).is_some() {
            return None;
        }
        self.node(no).task.next.iter().find_map(|route| {
            let to = self.no(route.to.as_str()).filter(|_| self.is_way_back_now(no, route))?;
            let rounds = self.rounds_made(no, &[to]);
            let limit = self.header.policy.rounds_limit(route.max);
            let by_policy = route.max.is_some_and(|max| limit < max);
            (rounds >= limit).then_some(UsedUp { to: &route.to, rounds, by_policy })
        })
    }

    /// Tells whether a route leads back for the way in which a task has ended.
    fn is_way_back_now(&self, no: TaskNo, route: &Route) -> bool {
        let life = self.task(no);
        route.max.is_some()
            && match (&route.on, &life.state) {
                (On::Always, State::Completed | State::Failed { .. })
                | (On::Success, State::Completed)
                | (On::Failure, State::Failed { .. }) => true,
                (On::Outcome(name), State::Completed) => life.outcome.as_ref() == Some(name),
                // What a gate has refused, it was refused for.
                (On::Outcome(_), State::Failed { .. }) => self.node(no).is_gate(),
                _ => false,
            }
    }

    /// The tasks that have ended where their rounds were used up, and that may send work back again in the plan that
    /// is wanted.
    pub(super) fn loops_that_go_on(&self, wanted: &Plan) -> Vec<TaskNo> {
        let goes_on = |no: &TaskNo| {
            let ended = matches!(self.task(*no).state, State::Completed | State::Failed { handled: false });
            if !ended || self.newer_round(*no).is_some() {
                return false;
            }
            let Some(then) = wanted.task(self.task_id(*no).as_str()) else { return false };
            self.node(*no).task.next.iter().any(|route| {
                let limit_then = then.next.iter().find(|other| is_same_way(other, route) && other.to == route.to);
                let limit_then = limit_then.map_or(0, |other| wanted.policy.rounds_limit(other.max));
                let limit = self.header.policy.rounds_limit(route.max);
                let to = self.no(route.to.as_str()).filter(|_| limit < limit_then && self.is_way_back_now(*no, route));
                to.is_some_and(|to| (limit..limit_then).contains(&self.rounds_made(*no, &[to])))
            })
        };
        self.numbers().filter(|no| !self.node(*no).task.next.is_empty()).filter(goes_on).collect()
    }

    /// Gives the newest round of a task the limit that the plan that is wanted gives to an earlier one.
    pub(super) fn share_limits(&self, wanted: &mut Plan) {
        if self.newest_round.is_empty() {
            return;
        }
        let mut newer: BTreeMap<TaskId, Vec<Limit>> = BTreeMap::new();
        for task in &wanted.tasks {
            let Some(no) = self.no(task.id.as_str()) else { continue };
            let Some(newest) = self.newest_round.get(self.first_name(no)).filter(|newest| **newest != no) else {
                continue;
            };
            let limits = self.new_limits(no, task);
            if !limits.is_empty() {
                newer.entry(self.task_id(*newest).clone()).or_default().extend(limits);
            }
        }
        for task in &mut wanted.tasks {
            let (Some(limits), Some(no)) = (newer.get(&task.id), self.no(task.id.as_str())) else { continue };
            for limit in limits {
                self.take_limit(task, no, limit);
            }
        }
    }

    /// The limits of a task that are others in the plan that is wanted.
    fn new_limits(&self, no: TaskNo, wanted: &Task) -> Vec<Limit> {
        let now = &self.node(no).task;
        let ways = wanted.next.iter().filter(|route| route.max.is_some()).filter_map(|route| {
            let goal = self.goal(&route.to);
            let before = now.next.iter().find(|other| is_same_way(other, route) && self.goal(&other.to) == goal)?;
            (before.max != route.max).then(|| Limit::Way { like: route.clone(), goal })
        });
        let gate = match (&now.action, &wanted.action) {
            (Some(Action::Gate(before)), Some(Action::Gate(gate))) if before.rounds_max != gate.rounds_max => {
                Some(Limit::Gate(gate.rounds_max))
            }
            _ => None,
        };
        ways.chain(gate).collect()
    }

    /// Sets a limit of a round, unless the plan that is wanted says something about it itself.
    fn take_limit(&self, task: &mut Task, no: TaskNo, limit: &Limit) {
        let now = &self.node(no).task;
        match limit {
            Limit::Way { like, goal } => {
                for route in &mut task.next {
                    let untouched = now.next.iter().any(|other| other == route);
                    if untouched && is_same_way(route, like) && self.goal(&route.to) == *goal {
                        route.max = like.max;
                    }
                }
            }
            Limit::Gate(rounds_max) => {
                if let (Some(Action::Gate(gate)), Some(Action::Gate(before))) = (&mut task.action, &now.action)
                    && gate.rounds_max == before.rounds_max
                {
                    gate.rounds_max = *rounds_max;
                }
            }
        }
    }

    /// The name in the first round of what a way leads to.
    fn goal(&self, to: &TaskId) -> TaskId {
        self.no(to.as_str()).map_or_else(|| to.clone(), |no| self.first_name(no).clone())
    }

    /// Tells whether nothing about a task is different but how often it may send work back.
    pub(super) fn only_limits_differ(&self, id: &TaskId, wanted: &Plan) -> bool {
        let Some((no, then)) = self.no(id.as_str()).zip(wanted.task(id.as_str())) else { return false };
        let unlimited = |task: &Task| {
            let mut task = task.clone();
            task.next.iter_mut().filter(|route| route.max.is_some()).for_each(|route| route.max = Some(0));
            if let Some(Action::Gate(gate)) = &mut task.action {
                gate.rounds_max = None;
            }
            task
        };
        unlimited(&self.node(no).task) == unlimited(then)
    }
}

/// How often work may be sent back on one way.
enum Limit {
    Way { like: Route, goal: TaskId },
    Gate(Option<u32>),
}

/// Tells whether two routes are followed on the same ending and condition.
fn is_same_way(one: &Route, other: &Route) -> bool {
    one.on == other.on && one.when == other.when && one.max.is_some() == other.max.is_some()
}
