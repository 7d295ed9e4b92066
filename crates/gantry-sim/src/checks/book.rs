//! The checkers' own account of a plan, kept from nothing but the journal.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use gantry_core::event::{AfterUndo, Asked, Entry, Event, JudgeOf, Outputs, Source};
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::plan::{InitialStatus, Plan, Task};
use gantry_core::policy::{FailureClass, Remedy, Usage};

use super::fresh::Seen;
use super::graph::Graph;
use crate::violation::{Outcome, Violation};

/// Where a task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stand {
    /// Not begun.
    #[default]
    Pending,
    /// A precondition does not hold.
    Blocked,
    /// A composite whose parts may run.
    Open,
    /// An attempt is under way, or has just ended.
    Running,
    /// For a person, a judge, a time.
    Waiting,
    /// Done.
    Completed,
    /// Failed for good.
    Failed,
    /// Left out.
    Skipped,
    /// Given up.
    Abandoned,
}

impl Stand {
    /// Tells whether nothing more is to be done.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped | Self::Abandoned)
    }
}

/// An attempt under way.
#[derive(Clone, Debug)]
pub struct Under {
    /// Its number.
    pub attempt: AttemptNo,
    /// Its key.
    pub key: String,
    /// What is set aside for it.
    pub reserved: Usage,
    /// The budgets that it is set aside from; none is the plan's.
    pub scopes: Vec<Option<TaskId>>,
}

/// What is known about one task.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Where it stands.
    pub stand: Stand,
    /// Its failure is taken care of.
    pub handled: bool,
    /// Its result is its fallback.
    pub fallback: bool,
    /// Its result is what a person said instead of it.
    pub stated: bool,
    /// How it ended.
    pub outcome: Option<String>,
    /// The last attempt.
    pub attempt: AttemptNo,
    /// The attempt under way.
    pub under: Option<Under>,
    /// Which of its ways is tried.
    pub way: u32,
    /// Something that it worked on is being made again.
    pub suspect: bool,
    /// Under which entry it was done.
    pub done_at: Option<u64>,
    /// Under which entry it was last tried, unless that was taken back.
    pub tried_at: Option<u64>,
    /// The key of an attempt that may have happened, while nobody has found out.
    pub doubt: Option<String>,
    /// Whence routes to it were followed.
    pub taken_from: BTreeSet<TaskId>,
    /// The judge that is waited for judges the start.
    pub judged_before: bool,
    /// It was taken back because the plan itself says so.
    pub rolled_back: bool,
    /// What it gives.
    pub outputs: Outputs,
    /// What it read when what it does, or gave, began.
    pub worked_on: Option<Seen>,
}

/// Where the plan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not started.
    Created,
    /// Going on.
    Running,
    /// Held.
    Paused,
    /// Over.
    Ended,
}

/// The account.
#[derive(Clone, Debug)]
pub struct Book {
    /// The plan as the diffs make it.
    pub plan: Plan,
    /// Its edges.
    pub graph: Graph,
    /// Its tasks by id.
    pub defined: BTreeMap<TaskId, Task>,
    /// Where each stands.
    pub lines: BTreeMap<TaskId, Line>,
    /// Where the plan stands.
    pub phase: Phase,
    /// A budget is used up.
    pub tripped: bool,
    /// What is still to be taken back, what happened last first, and what comes then.
    pub undoing: Option<(Vec<TaskId>, AfterUndo)>,
    /// When each of those really happened, as it stood when its turn was planned.
    undo_at: BTreeMap<TaskId, u64>,
    /// The task whose undo has begun.
    undo_under_way: Option<TaskId>,
    /// What was spent under each budget; none is the plan's.
    pub spent: BTreeMap<Option<TaskId>, Usage>,
    /// The newest round of each task that was repeated, by its name in the first.
    pub newest: BTreeMap<TaskId, TaskId>,
}

impl Book {
    /// Begins with a plan as created.
    pub fn new(plan: &Plan) -> Self {
        let mut book = Self {
            plan: plan.clone(),
            graph: Graph::default(),
            defined: BTreeMap::new(),
            lines: BTreeMap::new(),
            phase: Phase::Created,
            tripped: false,
            undoing: None,
            undo_at: BTreeMap::new(),
            undo_under_way: None,
            spent: BTreeMap::new(),
            newest: BTreeMap::new(),
        };
        book.read_plan();
        book
    }

    /// The line of a task; an unknown task stands nowhere.
    pub fn line(&self, id: &TaskId) -> Outcome<&Line> {
        self.lines.get(id).ok_or_else(|| Violation::new("events are about tasks of the plan", format!("`{id}`")))
    }

    /// The definition of a task.
    pub fn task(&self, id: &TaskId) -> Outcome<&Task> {
        self.defined.get(id).ok_or_else(|| Violation::new("events are about tasks of the plan", format!("`{id}`")))
    }

    /// The tasks that contain this one, the nearest first.
    pub fn ancestors(&self, id: &TaskId) -> Vec<TaskId> {
        let above = |id: &TaskId| self.defined.get(id).and_then(|task| task.parent.clone());
        std::iter::successors(above(id), above).collect()
    }

    fn read_plan(&mut self) {
        self.graph = Graph::of(&self.plan);
        self.defined = self.plan.tasks.iter().map(|task| (task.id.clone(), task.clone())).collect();
        self.lines.retain(|id, _| self.defined.contains_key(id));
        let created = self.phase == Phase::Created;
        for task in &self.plan.tasks {
            let above = task.parent.as_ref().and_then(|parent| self.lines.get(parent)).map(|line| line.stand);
            let stand = match (task.status, above) {
                (InitialStatus::Completed, _) => Stand::Completed,
                (InitialStatus::Skipped, _) => Stand::Skipped,
                // What was over before the plan was read is so with all of its parts.
                (InitialStatus::Pending, Some(Stand::Completed)) if created => Stand::Completed,
                (InitialStatus::Pending, Some(Stand::Skipped)) if created => Stand::Skipped,
                (InitialStatus::Pending, _) => Stand::Pending,
            };
            self.lines.entry(task.id.clone()).or_insert_with(|| Line { stand, ..Line::default() });
        }
        for line in self.lines.values_mut() {
            line.taken_from.retain(|from| self.defined.contains_key(from));
        }
    }

    /// Where a repeated task leads, its new round says.
    fn take_round(&mut self, task: &Task) {
        let Some(round) = &task.round else { return };
        let before = self.newest.insert(round.of.clone(), task.id.clone());
        let before = before.filter(|before| self.defined.contains_key(before)).unwrap_or_else(|| round.of.clone());
        for (to, line) in &mut self.lines {
            if self.graph.routed_from.get(to).is_some_and(|from| from.contains(&task.id)) {
                line.taken_from.remove(&before);
            }
        }
    }

    fn change(&mut self, id: &TaskId, change: impl FnOnce(&mut Line)) {
        if let Some(line) = self.lines.get_mut(id) {
            change(line);
        }
    }

    /// Takes the next entry in.
    pub fn apply(&mut self, entry: &Entry) -> Outcome {
        self.charge(&entry.event);
        match &entry.event {
            Event::PlanStarted | Event::PlanResumed { .. } | Event::PlanReopened { .. } => self.phase = Phase::Running,
            Event::PlanPaused { .. } => self.phase = Phase::Paused,
            Event::PlanCompleted { .. } | Event::PlanFailed { .. } => self.phase = Phase::Ended,
            Event::PlanAbandoned { .. } => self.abandon(),
            Event::PlanRevised { diff, .. } => {
                self.plan = diff.apply_to(&self.plan).map_err(|mismatch| {
                    Violation::new("a recorded diff fits the plan before it", mismatch.to_string())
                })?;
                self.read_plan();
                for placed in &diff.added {
                    self.take_round(&placed.task);
                }
            }
            Event::BreakerTripped { .. } => self.tripped = true,
            Event::BreakerReset => self.tripped = false,
            Event::UndoBegun { tasks, then, .. } => {
                if let AfterUndo::CompleteTask(task) = then {
                    self.change(task, |line| line.stand = Stand::Waiting);
                }
                self.plan_undo(tasks, then);
            }
            Event::UndoStarted { task, .. } => self.undo_under_way = Some(task.clone()),
            Event::UndoPassedOver { task } => self.is_dealt_with(task),
            Event::UndoFinished => self.end_undo(),
            Event::RouteTaken { from, to, .. } => self.change(to, |line| {
                line.taken_from.insert(from.clone());
            }),
            other => self.apply_to_task(other, entry.seq),
        }
        Ok(())
    }

    fn apply_to_task(&mut self, event: &Event, seq: u64) {
        let Some(id) = event.task().cloned() else { return };
        if self.begins(&id, event) {
            let seen = self.seen_by(&id);
            self.change(&id, |line| line.worked_on = Some(seen));
        }
        match event {
            Event::TaskOpened { .. } => self.change(&id, |line| line.stand = Stand::Open),
            Event::TaskBlocked { .. } => self.change(&id, |line| line.stand = Stand::Blocked),
            Event::TaskUnblocked { .. } => self.change(&id, |line| line.stand = Stand::Pending),
            Event::AttemptStarted { attempt, key, reserved, .. } => {
                let scopes = self.scopes_over(&id);
                let under = Under { attempt: *attempt, key: key.clone(), reserved: *reserved, scopes };
                self.change(&id, |line| {
                    line.attempt = *attempt;
                    line.rolled_back = false;
                    line.outputs.clear();
                    line.tried_at = Some(seq);
                    line.stand = Stand::Running;
                    line.under = Some(under);
                });
            }
            Event::AttemptSucceeded { usage, outputs, .. } => {
                self.end_attempt(&id, *usage);
                self.change(&id, |line| line.outputs.clone_from(outputs));
            }
            Event::OutputEdited { outputs, .. } => self.change(&id, |line| line.outputs.clone_from(outputs)),
            Event::AttemptFailed { failure, usage, .. } => {
                let key = self.end_attempt(&id, *usage);
                if failure.class == FailureClass::Lost {
                    self.change(&id, |line| line.doubt = key);
                }
            }
            Event::RetryPlanned { remedy, .. } => self.change(&id, |line| {
                line.stand = Stand::Waiting;
                line.way += u32::from(*remedy == Remedy::Alternate);
            }),
            Event::TaskCompleted { outcome, source, outputs, .. } => self.change(&id, |line| {
                line.outcome.clone_from(outcome);
                line.outputs.clone_from(outputs);
                line.stated |= *source == Source::Imported;
                line.fallback = *source == Source::Fallback;
                line.done_at = Some(seq);
                line.end(Stand::Completed);
            }),
            Event::TaskFailed { handled, .. } => self.change(&id, |line| {
                line.handled = *handled;
                line.end(Stand::Failed);
            }),
            Event::TaskSkipped { .. } => self.change(&id, |line| line.end(Stand::Skipped)),
            Event::TaskAbandoned { .. } => self.change(&id, |line| line.end(Stand::Abandoned)),
            Event::TaskReopened { afresh, .. } => self.reopen(&id, *afresh),
            Event::TaskConfirmed { .. } => self.change(&id, |line| line.suspect = false),
            Event::GateOpened { .. } | Event::WaitBegun { .. } | Event::VerifyAsked { .. } => {
                self.change(&id, |line| line.stand = Stand::Waiting);
            }
            Event::PersonAsked { what, .. } => {
                let asked = matches!(what, Asked::Answer | Asked::Work | Asked::Help { .. });
                self.change(&id, |line| line.stand = if asked { Stand::Waiting } else { line.stand });
            }
            Event::PersonAnswered { said, .. } => self.change(&id, |line| {
                line.doubt = None;
                line.stated = said == "complete" || said.starts_with("complete: ");
            }),
            Event::Verified { happened, .. } => self.change(&id, |line| {
                if happened.is_some() {
                    line.doubt = None;
                }
            }),
            Event::JudgeAsked { of, .. } => self.change(&id, |line| {
                line.judged_before = *of == JudgeOf::Start;
                line.stand = Stand::Waiting;
            }),
            Event::Judged { .. } => self.change(&id, |line| {
                if line.judged_before {
                    line.stand = Stand::Pending;
                }
            }),
            Event::TaskUndone { .. } => self.undone(&id),
            _ => {}
        }
    }

    /// Adds to what is taken back; whatever the reason, what happened last goes first, after what is under way.
    fn plan_undo(&mut self, tasks: &[TaskId], then: &AfterUndo) {
        let (mut rest, mut after) = self.undoing.take().unwrap_or_else(|| (Vec::new(), then.clone()));
        if *then != AfterUndo::Fail {
            after = then.clone();
        }
        for id in tasks.iter().filter(|id| self.defined.contains_key(*id)) {
            if !rest.contains(id) {
                rest.push(id.clone());
            }
            // Planned anew: meanwhile it may have turned out when it really happened.
            self.undo_at.insert(id.clone(), self.lines.get(id).and_then(Line::happened_at).unwrap_or(0));
        }
        let place = |id: &TaskId| (self.undo_under_way.as_ref() == Some(id), self.undo_at.get(id).copied());
        rest.sort_by_key(|id| Reverse(place(id)));
        self.undoing = Some((rest, after));
    }

    fn is_dealt_with(&mut self, id: &TaskId) {
        self.undo_under_way = None;
        if let Some((rest, _)) = &mut self.undoing {
            rest.retain(|other| other != id);
        }
    }

    fn end_undo(&mut self) {
        self.undoing = None;
        self.undo_under_way = None;
    }

    fn undone(&mut self, id: &TaskId) {
        let then = self.undoing.as_ref().map(|(_, then)| then.clone());
        let again = then == Some(AfterUndo::Pause);
        let rolled_back = matches!(then, Some(AfterUndo::CompleteTask(_) | AfterUndo::Abandon));
        self.is_dealt_with(id);
        self.change(id, |line| {
            line.tried_at = None;
            line.rolled_back = rolled_back;
        });
        match self.lines.get(id).map(|line| line.stand) {
            Some(Stand::Completed | Stand::Failed | Stand::Abandoned) if again => self.reopen(id, true),
            Some(Stand::Completed) => self.change(id, |line| line.end(Stand::Abandoned)),
            _ => {} // it was half done, or opened again meanwhile
        }
    }

    /// Counts what was used beside attempts: by judges, verifiers and undos, and by answers that came late.
    fn charge(&mut self, event: &Event) {
        let (Event::Judged { usage, .. }
        | Event::JudgeFailed { usage, .. }
        | Event::Verified { usage, .. }
        | Event::TaskUndone { usage, .. }
        | Event::UndoFailed { usage, .. }
        | Event::AnswerIgnored { usage, .. }) = event
        else {
            return;
        };
        for scope in event.task().map_or_else(|| vec![None], |id| self.scopes_over(id)) {
            let spent = self.spent.entry(scope).or_default();
            *spent = spent.plus(*usage);
        }
    }

    /// Settles the attempt under way and returns its key.
    fn end_attempt(&mut self, id: &TaskId, usage: Usage) -> Option<String> {
        let under = self.lines.get_mut(id)?.under.take()?;
        for scope in under.scopes {
            let spent = self.spent.entry(scope).or_default();
            *spent = spent.plus(usage);
        }
        Some(under.key)
    }

    /// The budgets that an attempt of this task draws on.
    pub fn scopes_over(&self, id: &TaskId) -> Vec<Option<TaskId>> {
        let limited = |id: &TaskId| self.defined.get(id).is_some_and(|task| task.budget.limits_spending());
        let mut scopes: Vec<Option<TaskId>> = vec![None];
        scopes.extend(std::iter::once(id.clone()).chain(self.ancestors(id)).filter(limited).map(Some));
        scopes
    }

    fn reopen(&mut self, id: &TaskId, afresh: bool) {
        for line in self.lines.values_mut() {
            line.taken_from.remove(id);
        }
        self.change(id, |line| {
            line.way = 0;
            line.stated = false;
            line.rolled_back = false;
            line.outputs.clear();
            line.done_at = None;
            line.suspect = false;
            if afresh {
                line.doubt = None;
            }
            line.stand = Stand::Pending;
        });
        let mut redone = vec![id.clone()];
        let ancestors = self.ancestors(id);
        let stand = |book: &Self, id: &TaskId| book.lines.get(id).map_or(Stand::Open, |line| line.stand);
        let under_way = ancestors.iter().any(|above| stand(self, above) == Stand::Running);
        for above in ancestors {
            if matches!(stand(self, &above), Stand::Open | Stand::Running) {
                break;
            }
            self.change(&above, |line| {
                line.done_at = None;
                line.suspect = false;
                let was_opened = matches!(line.stand, Stand::Completed | Stand::Failed | Stand::Waiting);
                line.stand = if under_way || !was_opened { Stand::Pending } else { Stand::Open };
            });
            redone.push(above);
        }
        for id in redone {
            self.suspect_behind(&id);
        }
    }

    /// What is over behind a task that is done again is in question, and so is everything behind that, until it is done
    /// again or confirmed. A way that was followed may be another one now, so routes count as well.
    fn suspect_behind(&mut self, id: &TaskId) {
        let mut stack: Vec<TaskId> = self.graph.behind(id).collect();
        while let Some(id) = stack.pop() {
            let Some(line) = self.lines.get_mut(&id) else { continue };
            if line.stand != Stand::Completed || line.suspect {
                continue;
            }
            line.suspect = true;
            stack.extend(self.graph.behind(&id));
            stack.extend(self.graph.inside(&id));
        }
    }

    fn abandon(&mut self) {
        self.phase = Phase::Ended;
        self.end_undo();
        for line in self.lines.values_mut() {
            if matches!(line.stand, Stand::Open | Stand::Running | Stand::Waiting | Stand::Blocked) {
                line.end(Stand::Abandoned);
            }
        }
    }
}

impl Line {
    /// When it really happened: where it was done, or else where it was last tried.
    pub fn happened_at(&self) -> Option<u64> {
        if self.stand == Stand::Completed { self.done_at } else { self.tried_at }
    }

    fn end(&mut self, stand: Stand) {
        self.stand = stand;
        self.suspect = false;
        self.under = None;
    }
}
