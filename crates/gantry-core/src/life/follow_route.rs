//! When a task ends, its routes say where to go.

use std::collections::BTreeSet;

use super::draft::Draft;
use super::graph::Node;
use super::scope::Sight;
use super::state::State;
use crate::effect::Failure;
use crate::event::{Event, Outputs};
use crate::id::TaskNo;
use crate::plan::{On, Route};
use crate::policy::FailureClass;

/// How a task ended.
#[derive(Clone, Copy)]
pub(super) enum Ending<'a> {
    Completed { outputs: &'a Outputs, outcome: Option<&'a str> },
    Failed { failure: &'a Failure, outcome: Option<&'a str> },
}

impl Ending<'_> {
    fn matches(&self, on: &On) -> bool {
        let (completed, outcome) = match self {
            Self::Completed { outcome, .. } => (true, *outcome),
            Self::Failed { outcome, .. } => (false, *outcome),
        };
        match on {
            On::Always => true,
            On::Success => completed,
            On::Failure => !completed,
            On::Outcome(name) => outcome == Some(name),
        }
    }

    /// What a new round is told about why it is needed.
    fn feedback(&self) -> String {
        match self {
            Self::Completed { outcome, .. } => format!("the outcome was {}", outcome.unwrap_or("not good enough")),
            Self::Failed { failure, .. } => failure.message.clone(),
        }
    }
}

impl Draft {
    /// Follows every route that fits the ending; true when at least one is an answer to it. A route that is followed
    /// however the task ended answers no failure.
    ///
    /// Called before the event that ends the task, so that nobody behind it sees an ending without
    /// knowing where it leads.
    pub(super) fn follow_routes(&mut self, no: TaskNo, ending: Ending<'_>) -> bool {
        if !self.life.node(no).task.has_routes {
            return false;
        }
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        let mut taken = false;
        // Ways back first: whether there is another round decides what follows this one.
        let (back, forward): (Vec<&Route>, Vec<&Route>) = task.next.iter().partition(|route| route.max.is_some());
        for route in back.into_iter().chain(forward) {
            if !ending.matches(&route.on) || !self.condition_holds(no, route, ending) {
                continue;
            }
            let Some(to) = self.life.no(route.to.as_str()) else { continue };
            let answers = route.on != On::Always;
            taken |= answers
                & match route.max {
                    Some(max) => match self.begin_round(
                        no,
                        &[to],
                        self.life.header.policy.rounds_limit(Some(max)),
                        &ending.feedback(),
                    ) {
                        Ok(()) => true,
                        Err(reason) => {
                            self.say(no, &format!("the route back to `{}` was not taken: {reason}", route.to));
                            false
                        }
                    },
                    None => {
                        self.take_route(no, to, &route.on);
                        true
                    }
                };
        }
        taken
    }

    /// Tells whether the result of a finished task leads elsewhere than where its routes were followed to.
    pub(super) fn leads_elsewhere(&mut self, no: TaskNo) -> bool {
        self.fitting_routes(no).into_iter().map(|(to, _)| to).collect::<BTreeSet<_>>()
            != self.life.task(no).taken.iter().copied().collect()
    }

    /// Follows routes that a finished task got after it was done.
    pub(super) fn follow_new_routes(&mut self, no: TaskNo) {
        let life = self.life.task(no);
        if life.state != State::Completed || life.suspect {
            return;
        }
        for (to, on) in self.fitting_routes(no) {
            if !self.life.task(no).taken.contains(&to) {
                self.take_route(no, to, &on);
            }
        }
    }

    /// Where the routes of a finished task lead, by its result.
    fn fitting_routes(&mut self, no: TaskNo) -> Vec<(TaskNo, On)> {
        if !self.life.node(no).task.has_routes {
            return Vec::new();
        }
        let (task, life) = (std::sync::Arc::clone(&self.life.node(no).task), std::sync::Arc::clone(self.life.task(no)));
        let ending = Ending::Completed { outputs: &life.outputs, outcome: life.outcome.as_deref() };
        let mut leads_to = Vec::new();
        for route in task.next.iter().filter(|route| route.max.is_none() && ending.matches(&route.on)) {
            let to = self.life.no(route.to.as_str()).filter(|to| self.life.node(*to).routed_from.contains(&no));
            let to = to.filter(|to| !self.life.newest_leads_to(no, *to) && self.condition_holds(no, route, ending));
            leads_to.extend(to.map(|to| (to, route.on.clone())));
        }
        leads_to
    }

    /// Gives up a task. What is to follow however it ends does follow, if it had begun and the plan goes on; routes back
    /// are not taken.
    pub(super) fn abandon(&mut self, no: TaskNo, because: &str) {
        let begun = matches!(self.life.task(no).state, State::Running { .. } | State::Waiting(_) | State::Open { .. });
        self.end_running(no, because);
        if begun {
            self.follow_always(no, &Failure::new(FailureClass::Cancelled, because));
        }
        self.record(Event::TaskAbandoned { task: self.id(no), because: because.to_owned() });
    }

    /// Follows the routes of a task that are followed however it ends, and that do not lead back.
    pub(super) fn follow_always(&mut self, no: TaskNo, failure: &Failure) {
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        let ending = Ending::Failed { failure, outcome: None };
        for route in task.next.iter().filter(|route| route.on == On::Always && route.max.is_none()) {
            if let Some(to) = self.life.no(route.to.as_str()).filter(|_| self.condition_holds(no, route, ending)) {
                self.take_route(no, to, &route.on);
            }
        }
    }

    /// Gives up all parts of a composite that are not over.
    pub(super) fn abandon_parts(&mut self, of: TaskNo, because: &str) {
        for below in self.life.subtree(of).into_iter().skip(1) {
            if !self.life.task(below).state.is_final() {
                self.abandon(below, because);
            }
        }
    }

    /// Follows the forward routes for exactly this ending; true when there was one.
    pub(super) fn take_forward(&mut self, no: TaskNo, on: &On) -> bool {
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        let mut taken = false;
        for route in task.next.iter().filter(|route| route.on == *on && route.max.is_none()) {
            if let Some(to) = self.life.no(route.to.as_str()) {
                self.take_route(no, to, on);
                taken = true;
            }
        }
        taken
    }

    fn take_route(&mut self, from: TaskNo, to: TaskNo, on: &On) {
        // What follows however a task ends follows its last round.
        if *on == On::Always && self.life.newest_leads_to(from, to) {
            return;
        }
        if self.life.node(to).routed_from.contains(&from) {
            self.record(Event::RouteTaken { from: self.id(from), to: self.id(to), on: on.clone() });
            if matches!(self.life.task(to).state, State::Skipped { by_hand: false }) {
                let because = format!("a route from `{}` leads to it", self.id(from));
                self.record(Event::TaskReopened { task: self.id(to), because, afresh: false });
            }
        }
    }

    fn condition_holds(&mut self, no: TaskNo, route: &Route, ending: Ending<'_>) -> bool {
        let Some(when) = &route.when else { return true };
        let (outputs, outcome, failure) = match ending {
            Ending::Completed { outputs, outcome } => (Some(outputs), outcome, None),
            Ending::Failed { failure, outcome } => (None, outcome, Some(failure)),
        };
        let sight = Sight { outputs, failure, outcome, ..Sight::of(&self.life, Some(no)) };
        match when.test(&sight) {
            Ok(finding) => finding.holds,
            Err(error) => {
                self.say(no, &format!("the route to `{}` was not taken: `{}`: {error}", route.to, when.source()));
                false
            }
        }
    }

    /// Writes down something that a reader of the journal would otherwise miss.
    pub(super) fn say(&mut self, no: TaskNo, text: &str) {
        self.record(Event::NoteAdded { task: Some(self.id(no)), by: "gantry".to_owned(), text: text.to_owned() });
    }
}

impl super::Life {
    /// Tells whether a later round of a task has a route to another one: then that round says whether it is next.
    fn newest_leads_to(&self, from: TaskNo, to: TaskNo) -> bool {
        self.newest_round.get(self.first_name(from)).is_some_and(|newest| {
            *newest > from && !self.node(*newest).removed && self.node(to).routed_from.contains(newest)
        })
    }

    /// The tasks that come after this one: those that wait for it, and those that its routes lead to.
    pub(super) fn behind(&self, no: TaskNo) -> Vec<TaskNo> {
        let node = self.node(no);
        let mut behind = node.dependents.clone();
        behind.extend(node.route_targets(self).filter(|to| self.node(*to).routed_from.contains(&no)));
        behind
    }
}

impl Node {
    /// Where forward routes of this task lead.
    pub fn route_targets<'a>(&'a self, life: &'a super::Life) -> impl Iterator<Item = TaskNo> + 'a {
        Self::forward_routes(&self.task).into_iter().filter_map(|route| life.no(route.to.as_str()))
    }
}
