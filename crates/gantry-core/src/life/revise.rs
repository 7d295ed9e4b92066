//! The plan changes while it runs: a new revision, finished work stays finished.

use super::draft::Draft;
use super::key::definition_hash;
use super::state::State;
use super::{Phase, Refusal};
use crate::event::{Event, Outputs, Source};
use crate::id::{Revision, TaskId, TaskNo};
use crate::input::Change;
use crate::plan::{InitialStatus, Plan, Severity, Task, diff};

impl Draft {
    pub(super) fn revise(&mut self, by: &str, rationale: &str, base: Revision, change: &Change) -> Result<(), Refusal> {
        if base != self.life.revision {
            return Err(Refusal::OldRevision { seen: base, current: self.life.revision });
        }
        let current = self.life.plan();
        let mut wanted = match change {
            Change::To(plan) => self.life.with_own_growth((**plan).clone()),
            Change::By(diff) => {
                let mut wanted =
                    diff.apply_to(&current).map_err(|error| Refusal::DoesNotFit { reason: error.to_string() })?;
                self.life.share_limits(&mut wanted);
                wanted
            }
        };
        wanted.id.clone_from(&current.id);
        wanted.sort_tree();
        let problems: Vec<_> =
            wanted.check().into_iter().filter(|problem| problem.severity == Severity::Error).collect();
        if !problems.is_empty() {
            return Err(Refusal::BadPlan { problems });
        }
        let diff = diff(&current, &wanted);
        if diff.is_empty() {
            return Err(Refusal::NothingChanges);
        }
        if let Some(left) = self.life.nodes_left(None)
            && self.life.phase != Phase::Created
            && diff.added.len() as u64 > left
        {
            return Err(Refusal::OverBudget {
                detail: format!("{} tasks more, but the nodes budget allows {left}", diff.added.len()),
            });
        }
        if self.life.undoing.is_some() {
            return Err(Refusal::Undoing);
        }
        self.reopen_plan(&format!("{by} changed the plan: {rationale}"))?;
        let touched: Vec<TaskId> = diff.changed.iter().map(|change| change.id.clone()).collect();
        let loops = self.life.loops_that_go_on(&wanted);
        let limited = |id: &TaskId| self.life.only_limits_differ(id, &wanted);
        let changed: Vec<TaskId> = touched.iter().filter(|id| !limited(id)).cloned().collect();
        let redefined: Vec<TaskId> = changed.iter().filter(|id| self.is_redefined(id, &wanted)).cloned().collect();
        let status_of = |plan: &Plan, id: &TaskId| plan.task(id.as_str()).map(|task| task.status).unwrap_or_default();
        let stated: Vec<(TaskId, InitialStatus)> = touched
            .iter()
            .filter(|id| status_of(&current, id) != status_of(&wanted, id))
            .map(|id| (id.clone(), status_of(&wanted, id)))
            .collect();
        let released = self.released_by(diff.removed.iter().chain(stated.iter().map(|(id, _)| id)));
        for id in diff.removed.iter().chain(&redefined) {
            self.stop_running(id, "the plan was changed");
        }
        self.say_what_stays(&diff.removed);
        let placed = diff.added.iter().map(|placed| &placed.task.id).chain(diff.moved.iter().map(|moved| &moved.id));
        let newcomers: Vec<TaskId> = placed.cloned().collect();
        let revision = Revision(self.life.revision.0 + 1);
        self.record(Event::PlanRevised {
            revision,
            diff: Box::new(diff),
            rationale: rationale.to_owned(),
            by: by.to_owned(),
        });
        for id in changed {
            if let Some(no) = self.life.no(id.as_str()) {
                self.redo_if_changed(no);
                self.follow_new_routes(no);
            }
        }
        self.hold_open();
        self.reopen_loops(&loops);
        for (id, status) in stated {
            self.take_state(&id, status, by);
        }
        for scope in released {
            self.take_up_within(scope, "what it was given up for is no longer in the way");
        }
        for id in newcomers {
            self.settle_in(&id);
        }
        for hypothesis in self.life.header.hypotheses.clone() {
            if self.life.phase != Phase::Created && !self.life.beliefs.contains_key(&hypothesis.id) {
                self.record(Event::HypothesisAdded { hypothesis });
            }
        }
        if self.life.breaker.is_some() && self.life.overrun().is_none() && !self.time_is_up() {
            self.record(Event::BreakerReset);
        }
        if self.life.is_under_way() {
            // A budget may have been lowered below what is spent already.
            self.trip_if_overrun();
        }
        Ok(())
    }

    /// Where something may have been given up for one of these, which have failed and are about to be dealt with.
    fn released_by<'i>(&self, ids: impl Iterator<Item = &'i TaskId>) -> Vec<Option<TaskNo>> {
        if !self.life.gave_up() {
            return Vec::new();
        }
        let failed = ids.filter_map(|id| self.life.outermost_failure(self.life.no(id.as_str())?));
        failed.map(|no| self.life.node(no).parent).collect()
    }

    /// Tells whether a task means other work in the plan that is wanted.
    pub(super) fn is_redefined(&self, id: &TaskId, wanted: &Plan) -> bool {
        let old = self.life.no(id.as_str()).map(|no| &self.life.node(no).task);
        old.zip(wanted.task(id.as_str())).is_some_and(|(old, new)| {
            let hash = |task: &Task| definition_hash(task, &|_: &TaskId| None);
            hash(old) != hash(new) || old.inputs != new.inputs
        })
    }

    /// Someone says in a revision that a task was done, or is not needed.
    fn take_state(&mut self, id: &TaskId, status: InitialStatus, by: &str) {
        let Some(no) = self.life.no(id.as_str()) else { return };
        let done = matches!(self.life.task(no).state, State::Completed | State::Skipped { .. });
        if done || status == InitialStatus::Pending {
            return;
        }
        self.stop_running(id, "the plan says what became of it");
        match status {
            InitialStatus::Completed => self.complete(no, Outputs::new(), None, Source::Imported, Vec::new()),
            InitialStatus::Skipped => {
                let because = format!("{by} said so");
                self.record(Event::TaskSkipped { task: id.clone(), because, by_hand: true });
            }
            InitialStatus::Pending => {}
        }
    }

    /// A part that comes to a composite which is over, or past its parts, opens it again or shares its end.
    pub(super) fn settle_in(&mut self, id: &TaskId) {
        let Some(no) = self.life.no(id.as_str()) else { return };
        let Some(parent) = self.life.node(no).parent.filter(|_| !self.life.task(no).state.is_final()) else { return };
        match &self.life.task(parent).state {
            State::Completed | State::Failed { .. } | State::Waiting(_) | State::Blocked { .. } => {
                self.reopen(parent, &format!("`{id}` is a part of it now"), false);
            }
            State::Skipped { .. } | State::Abandoned => {
                self.stop_running(id, "what contains it is over");
                let because = format!("`{}`, which contains it, is over", self.id(parent));
                self.skip(no, &because);
            }
            State::Pending | State::Open { .. } | State::Running { .. } => {}
        }
    }

    fn time_is_up(&self) -> bool {
        let used = self.life.used_ms(self.now);
        self.life.header.policy.budget.time.is_some_and(|limit| used >= limit.as_ms())
    }

    /// Takes a running task back to pending, because what it does is no longer wanted as it is.
    pub(super) fn stop_running(&mut self, id: &TaskId, why: &str) {
        let Some(no) = self.life.no(id.as_str()) else { return };
        if matches!(self.life.task(no).state, State::Running { .. }) {
            self.end_running(no, why);
            self.record(Event::TaskReopened { task: id.clone(), because: why.to_owned(), afresh: false });
        }
    }
}
