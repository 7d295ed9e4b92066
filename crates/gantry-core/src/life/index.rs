//! Keeps every count and queue true when a task changes: who may start, who waits, what is active.
//!
//! All changes of a task pass through [`Life::change`], which compares before and after and tells
//! parents, dependents and route targets. The cost is that of the task's own edges.

use std::sync::Arc;

use super::graph::Node;
use super::open_gate::NEEDS_CHANGES;
use super::state::{State, TaskLife, Timer, Waiting};
use super::{Life, Phase, Stirring};
use crate::id::TaskNo;
use crate::time::{Duration, Timestamp};

/// What a task means to those that wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Not over.
    Unmet,
    /// Done.
    Ran,
    /// Left out, which holds up nobody.
    Skipped,
    /// Ended in a way that leaves out those behind it.
    Barred,
}

/// What a waiting task goes on by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mover {
    Time,
    Verifier,
    Judge,
    Others,
}

impl Mover {
    fn of(waiting: &Waiting) -> Self {
        match waiting {
            // Without an answer it goes on by its default.
            Waiting::Time { .. } | Waiting::Retry { .. } | Waiting::Answer { until: Some(_) } => Self::Time,
            Waiting::Verify { .. } => Self::Verifier,
            Waiting::Judge { .. } => Self::Judge,
            Waiting::Gate { .. }
            | Waiting::Answer { until: None }
            | Waiting::Work
            | Waiting::Help { .. }
            | Waiting::Undo => Self::Others,
        }
    }
}

impl Stirring {
    fn of(&mut self, mover: Mover) -> Option<&mut u32> {
        match mover {
            Mover::Time => Some(&mut self.time),
            Mover::Verifier => Some(&mut self.verifier),
            Mover::Judge => Some(&mut self.judge),
            Mover::Others => None,
        }
    }
}

/// The list that a task's state puts it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    Running,
    Waiting(Mover),
    Blocked,
    Open,
    /// Finished, by the number of the event.
    Done(u64),
    Failed,
    Nowhere,
}

impl Life {
    pub(super) fn set_state(&mut self, no: TaskNo, state: State, woken: &mut Vec<TaskNo>) {
        self.change(no, woken, |life| life.state = state);
    }

    /// Changes a task and everything that follows from it. Tasks whose situation changed are added to `woken`.
    pub(super) fn change(&mut self, no: TaskNo, woken: &mut Vec<TaskNo>, change: impl FnOnce(&mut TaskLife)) {
        let was = self.standing(no);
        let below = self.failed_below(no);
        let was_settled = self.task(no).is_settled();
        let led_to = self.task(no).leads_to().to_vec();
        let was_failed = self.failed.contains(&no);
        let was_open = matches!(self.task(no).state, State::Open { .. });
        let (listed, timers, way) = (self.listing(no), self.timers_of(no), self.task(no).way);
        let place = self.task(no).state.place();
        change(self.task_mut(no));
        let (is, other_way) = (self.listing(no), self.task(no).way != way);
        if listed != is || other_way {
            // Before the lane changes: what it used is given back, not what it will use.
            self.unlist(no, listed);
        }
        if other_way {
            self.leave_lane(no);
            self.find_lane(no);
        }
        if listed != is || other_way {
            self.list(no, is);
        }
        if self.task(no).state.place() != place {
            self.counts[place] -= 1;
            self.counts[self.task(no).state.place()] += 1;
        }
        self.rearm(no, &timers);
        let is_settled = self.task(no).is_settled();
        let is_failed = self.failed.contains(&no);
        if let Some(parent) = self.node(no).parent {
            let life = self.task_mut(parent);
            life.children_open = life.children_open + u32::from(was_settled) - u32::from(is_settled);
            life.children_failed = life.children_failed + u32::from(is_failed) - u32::from(was_failed);
            woken.push(parent);
            self.refresh(parent, woken);
        }
        let node = Arc::clone(self.node(no));
        let is = self.standing(no);
        if was != is {
            for dependent in &node.dependents {
                self.add_standing(*dependent, was, -1);
                self.add_standing(*dependent, is, 1);
                self.refresh(*dependent, woken);
            }
        }
        for (failed, was) in below {
            let is = self.standing(failed);
            if was != is {
                for dependent in self.node(failed).dependents.clone() {
                    self.add_standing(dependent, was, -1);
                    self.add_standing(dependent, is, 1);
                    self.refresh(dependent, woken);
                }
            }
        }
        if led_to != self.task(no).leads_to() {
            let leads_to = self.task(no).leads_to().to_vec();
            for target in &led_to {
                self.task_mut(*target).routes_taken -= 1;
            }
            for target in &leads_to {
                self.task_mut(*target).routes_taken += 1;
            }
            for target in led_to.into_iter().chain(leads_to) {
                self.refresh(target, woken);
            }
        }
        if was_settled != is_settled {
            let routes = if node.task.has_routes { Node::forward_routes(&node.task) } else { Vec::new() };
            for route in routes {
                let Some(to) = self.no(route.to.as_str()).filter(|to| self.node(*to).routed_from.contains(&no)) else {
                    continue;
                };
                let life = self.task_mut(to);
                life.routes_open = life.routes_open + u32::from(was_settled) - u32::from(is_settled);
                self.refresh(to, woken);
            }
        }
        if was_open != matches!(self.task(no).state, State::Open { .. }) {
            self.refresh_parts(no, woken);
        }
        self.refresh(no, woken);
    }

    /// Looks again at the parts of a composite, and at theirs where one of them is open: it may have been moved here.
    pub(super) fn refresh_parts(&mut self, no: TaskNo, woken: &mut Vec<TaskNo>) {
        let node = Arc::clone(self.node(no));
        for child in &node.children {
            self.refresh(*child, woken);
            if matches!(self.task(*child).state, State::Open { .. }) {
                self.refresh_parts(*child, woken);
            }
        }
    }

    fn standing(&self, no: TaskNo) -> Standing {
        let life = self.task(no);
        match &life.state {
            // What it was made of is being made again.
            State::Completed | State::Failed { .. } if life.suspect => Standing::Unmet,
            // A gate that sent work back has let nobody through.
            State::Completed if life.outcome.as_deref() == Some(NEEDS_CHANGES) && self.node(no).is_gate() => {
                Standing::Barred
            }
            State::Completed => Standing::Ran,
            State::Skipped { .. } => Standing::Skipped,
            // The plan may do without an optional gate; what it refused is refused all the same.
            State::Failed { .. } if self.node(no).task.optional && !self.node(no).is_gate() => Standing::Ran,
            State::Failed { .. } if self.node(no).task.optional => Standing::Barred,
            State::Failed { handled: true } | State::Abandoned => Standing::Barred,
            State::Failed { .. } if self.is_answered_above(no) => Standing::Barred,
            State::Failed { .. }
            | State::Pending
            | State::Blocked { .. }
            | State::Open { .. }
            | State::Running { .. }
            | State::Waiting(_) => Standing::Unmet,
        }
    }

    /// Tells whether a composite around a failed task has ended in a way that lets the plan go on.
    fn is_answered_above(&self, no: TaskNo) -> bool {
        self.ancestors(no).any(|above| match self.task(above).state {
            State::Completed | State::Skipped { .. } | State::Abandoned | State::Failed { handled: true } => true,
            State::Failed { .. } => self.node(above).task.optional,
            _ => false,
        })
    }

    /// Failed tasks in a composite, and what each means to those that wait for it.
    fn failed_below(&self, no: TaskNo) -> Vec<(TaskNo, Standing)> {
        if self.task(no).children_failed == 0 {
            return Vec::new();
        }
        let below = self.subtree(no).into_iter().skip(1).filter(|below| self.failed.contains(below));
        below.map(|below| (below, self.standing(below))).collect()
    }

    fn add_standing(&mut self, no: TaskNo, standing: Standing, by: i64) {
        let life = self.task_mut(no);
        let count = match standing {
            Standing::Unmet => &mut life.unmet,
            Standing::Ran => &mut life.ran,
            Standing::Barred => &mut life.barred,
            Standing::Skipped => return,
        };
        *count = u32::try_from(i64::from(*count) + by).unwrap_or(0);
    }

    /// Counts (or stops counting) `other` among what `no` waits for.
    pub(super) fn count_wait(&mut self, no: TaskNo, other: TaskNo, by: i64) {
        let standing = self.standing(other);
        self.add_standing(no, standing, by);
    }

    /// Where a task is listed because of its state.
    pub(super) fn listing(&self, no: TaskNo) -> Listing {
        let life = self.task(no);
        match &life.state {
            State::Running { .. } => Listing::Running,
            State::Waiting(waiting) => Listing::Waiting(Mover::of(waiting)),
            State::Blocked { .. } => Listing::Blocked,
            State::Open { .. } => Listing::Open,
            State::Completed => life.done_seq.map_or(Listing::Nowhere, Listing::Done),
            State::Failed { handled: false } if !life.suspect && !self.node(no).task.optional => Listing::Failed,
            State::Failed { .. } | State::Pending | State::Skipped { .. } | State::Abandoned => Listing::Nowhere,
        }
    }

    /// Sets the timers that a task has now in place of those that it had.
    fn rearm(&mut self, no: TaskNo, timers_before: &[(Timestamp, Timer)]) {
        let timers = self.timers_of(no);
        if timers != timers_before {
            for timer in timers_before {
                self.timers.remove(timer);
            }
            self.timers.extend(timers);
        }
    }

    fn unlist(&mut self, no: TaskNo, listing: Listing) {
        match listing {
            Listing::Running => {
                self.running.remove(&no);
                self.use_capabilities(no, -1);
            }
            Listing::Waiting(mover) => {
                self.waiting.remove(&no);
                if let Some(count) = self.stirring.of(mover) {
                    *count -= 1;
                }
            }
            Listing::Blocked => {
                self.blocked.remove(&no);
                self.unwatch_names(no);
            }
            Listing::Open => drop(self.open.remove(&no)),
            Listing::Done(seq) => self.done.strike(seq),
            Listing::Failed => drop(self.failed.remove(&no)),
            Listing::Nowhere => {}
        }
    }

    fn list(&mut self, no: TaskNo, listing: Listing) {
        match listing {
            Listing::Running => {
                self.running.insert(no);
                self.use_capabilities(no, 1);
            }
            Listing::Waiting(mover) => {
                self.waiting.insert(no);
                if let Some(count) = self.stirring.of(mover) {
                    *count += 1;
                }
            }
            Listing::Blocked => {
                self.blocked.insert(no);
                self.watch_names(no);
            }
            Listing::Open => drop(self.open.insert(no)),
            Listing::Done(seq) => self.done.insert(seq, no),
            Listing::Failed => drop(self.failed.insert(no)),
            Listing::Nowhere => {}
        }
    }

    /// Takes a task out of every list, as if it were not there.
    pub(super) fn leave_indexes(&mut self, no: TaskNo) {
        for timer in self.timers_of(no) {
            self.timers.remove(&timer);
        }
        self.unlist(no, self.listing(no));
        self.counts[self.task(no).state.place()] -= 1;
    }

    /// Lists a task everywhere it belongs.
    pub(super) fn enter_indexes(&mut self, no: TaskNo) {
        self.list(no, self.listing(no));
        self.counts[self.task(no).state.place()] += 1;
        self.arm(no);
    }

    fn use_capabilities(&mut self, no: TaskNo, by: i64) {
        let node = Arc::clone(self.node(no));
        for name in node.capabilities() {
            let count = self.busy.get(name).copied().unwrap_or(0);
            match u32::try_from(i64::from(count) + by).unwrap_or(0) {
                0 => self.busy.remove(name),
                count => self.busy.insert(name.to_owned(), count),
            };
        }
    }

    /// Sets the timers that a new task has from the start.
    pub(super) fn arm(&mut self, no: TaskNo) {
        for timer in self.timers_of(no) {
            self.timers.insert(timer);
        }
    }

    /// The timers that a task has because of its state.
    fn timers_of(&self, no: TaskNo) -> Vec<(Timestamp, Timer)> {
        let life = self.task(no);
        let mut timers = Vec::new();
        if life.state.is_final() {
            return timers;
        }
        if let Some(deadline) = self.node(no).task.deadline
            && !life.deadline_missed
        {
            timers.push((deadline, Timer::Deadline(no)));
        }
        timers.extend(life.watch.at.map(|at| (at, Timer::Escalate(no))));
        match &life.state {
            State::Running { attempt, timeout_at, lease_until, .. } => {
                timers.extend(timeout_at.map(|at| (at, Timer::Timeout(no, *attempt))));
                timers.extend(lease_until.map(|at| (at, Timer::Lease(no, *attempt))));
            }
            State::Open { until } => timers.extend(until.map(|at| (at, Timer::Timebox(no)))),
            State::Waiting(Waiting::Retry { at }) => timers.push((*at, Timer::Retry(no))),
            State::Waiting(Waiting::Time { until }) => timers.push((*until, Timer::Due(no))),
            State::Waiting(Waiting::Answer { until }) => timers.extend(until.map(|at| (at, Timer::Due(no)))),
            _ => {}
        }
        timers
    }

    pub(super) fn set_phase(&mut self, phase: Phase) {
        self.change_plan(|life| life.phase = phase);
    }

    /// Changes something that the plan's own timers follow.
    pub(super) fn change_plan(&mut self, change: impl FnOnce(&mut Self)) {
        for timer in self.plan_timers() {
            self.timers.remove(&timer);
        }
        change(self);
        for timer in self.plan_timers() {
            self.timers.insert(timer);
        }
    }

    fn plan_timers(&self) -> Vec<(Timestamp, Timer)> {
        let mut timers = Vec::new();
        let Phase::Running { since, used_ms, waits } = &self.phase else { return timers };
        if let (None, Some(limit), false) = (&self.breaker, self.header.policy.budget.time, waits) {
            let left = limit.as_ms().saturating_sub(*used_ms);
            timers.push((*since + Duration::from_ms(left), Timer::PlanTime));
        }
        if let (false, Some(deadline)) = (self.deadline_missed, self.header.deadline) {
            timers.push((deadline, Timer::PlanDeadline));
        }
        timers
    }

    /// Puts a task into its lane or takes it out, as its situation demands.
    pub(super) fn refresh(&mut self, no: TaskNo, woken: &mut Vec<TaskNo>) {
        let candidate = self.is_candidate(no);
        if candidate && !self.task(no).in_lane {
            self.enter_lane(no);
        } else if !candidate {
            self.leave_lane(no);
        }
        let life = self.task(no);
        let active = life.in_lane
            || matches!(life.state, State::Running { .. } | State::Waiting(_) | State::Blocked { .. })
            || self.is_openable(no);
        if active != life.active {
            self.task_mut(no).active = active;
            let by = if active { 1 } else { -1 };
            self.active = u32::try_from(i64::from(self.active) + by).unwrap_or(0);
            if let Some(parent) = self.node(no).parent {
                self.add_active_above(parent, by);
                woken.extend(self.ancestors(no).filter(|ancestor| self.task(*ancestor).active_below == 0));
            }
        }
        woken.push(no);
    }

    /// Adds to the count of active tasks below `no` and everything above it.
    pub(super) fn add_active_above(&mut self, no: TaskNo, by: i64) {
        let mut at = Some(no);
        while let Some(no) = at {
            let life = self.task_mut(no);
            life.active_below = u32::try_from(i64::from(life.active_below) + by).unwrap_or(0);
            at = self.node(no).parent;
        }
    }

    /// Tells whether nothing but limits keeps the task from starting.
    fn is_candidate(&self, no: TaskNo) -> bool {
        let (node, life) = (self.node(no), self.task(no));
        if node.removed {
            return false;
        }
        match life.state {
            State::Pending => (node.children.is_empty() || node.grows()) && self.may_begin(no),
            State::Open { .. } => {
                // What it waited for may have been taken back since, by a part of it, say.
                let has_own_action = node.task.action.is_some() && !node.grows();
                let parts_are_over = life.children_open == 0 && life.children_failed == 0;
                has_own_action && parts_are_over && life.unmet == 0 && self.parent_is_open(no)
            }
            _ => false,
        }
    }

    /// Tells whether a composite can be opened.
    pub(super) fn is_openable(&self, no: TaskNo) -> bool {
        let node = self.node(no);
        let composite = !node.children.is_empty() && !node.grows();
        !node.removed && composite && self.task(no).state == State::Pending && self.may_begin(no)
    }

    /// Everything before the task is over, and something leads to it.
    fn may_begin(&self, no: TaskNo) -> bool {
        self.parent_is_open(no) && self.is_led_to(no)
    }

    /// Everything that the task itself waits for is over, and something leads to it.
    pub(super) fn is_led_to(&self, no: TaskNo) -> bool {
        let (node, life) = (self.node(no), self.task(no));
        life.unmet == 0
            && life.barred == 0
            && (node.routed_from.is_empty() || life.routes_taken > 0)
            && !(node.routed_from.is_empty() && !node.waits.is_empty() && life.ran == 0)
    }

    /// Everything around it is open. What was opened elsewhere may have been moved into something that is not.
    pub(super) fn parent_is_open(&self, no: TaskNo) -> bool {
        self.ancestors(no).all(|above| matches!(self.task(above).state, State::Open { .. }))
    }

    /// Says why a pending task will never be needed, if that is so.
    pub(super) fn why_skip(&self, no: TaskNo) -> Option<String> {
        let (node, life) = (self.node(no), self.task(no));
        if node.removed || !self.parent_is_open(no) {
            return None;
        }
        if life.barred > 0 {
            Some("a task before it took another way".to_owned())
        } else if !node.routed_from.is_empty() {
            (life.routes_taken == 0 && life.routes_open == 0).then(|| "no route led to it".to_owned())
        } else {
            (!node.waits.is_empty() && life.unmet == 0 && life.ran == 0)
                .then(|| "everything before it was skipped".to_owned())
        }
    }
}
