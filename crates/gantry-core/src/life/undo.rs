//! Taking back what was done, in reverse order of what really happened. Durable like everything else.

use super::draft::Draft;
use super::state::{State, Waiting};
use super::{Life, Refusal};
use crate::effect::Effect;
use crate::event::{AfterUndo, AnswerTo, Event, Outputs, Source};
use crate::id::{AttemptNo, TaskId, TaskNo};
use crate::input::Resolution;
use crate::plan::{Action, Task, Undo};
use crate::policy::Usage;

/// How often one undo is tried before a person is asked.
const UNDO_FAILURES_MAX: u32 = 3;

/// How a task without `undo` is taken back that may have changed something outside: not at all.
pub const STAYS: &str = "what it did stays as it is: the task has no `undo`";

impl Life {
    /// What was done since an event, or tried and may be half done, the last thing first.
    ///
    /// A finished task stands where it finished, one that was tried and did not finish where it was last tried.
    fn done_since(&self, seq: u64) -> Vec<TaskNo> {
        let done = self.done.after(seq);
        let tried = self.tried.after(seq);
        let half_done = tried.filter(|(_, no)| {
            let life = self.task(*no);
            let over = !matches!(life.state, State::Completed | State::Running { .. });
            let node = self.node(*no);
            over && !life.undone && !node.removed && node.task.undo != Undo::None
        });
        let mut all: Vec<(u64, TaskNo)> = done.chain(half_done).collect();
        all.sort_unstable();
        all.into_iter().rev().map(|(_, no)| no).collect()
    }

    /// What was tried since an event, failed, and left nothing that is taken back.
    fn failed_since(&self, seq: u64) -> Vec<TaskNo> {
        let failed = self.tried.after(seq).filter(|(_, no)| {
            let nothing_left = self.node(*no).task.undo == Undo::None && !self.node(*no).removed;
            nothing_left && matches!(self.task(*no).state, State::Failed { .. })
        });
        failed.map(|(_, no)| no).collect()
    }

    /// The same within a composite, or in the whole plan.
    pub(super) fn done_within(&self, scope: Option<TaskNo>) -> Vec<TaskNo> {
        let inside =
            |no: &TaskNo| scope.is_none_or(|scope| *no == scope || self.ancestors(*no).any(|above| above == scope));
        self.done_since(0).into_iter().filter(inside).collect()
    }

    /// What was taken back and is not done again of everything that a task waits for.
    pub(super) fn taken_back_before(&self, no: TaskNo) -> Vec<TaskNo> {
        let (mut found, mut stack) = (Vec::new(), vec![no]);
        let mut seen = std::collections::BTreeSet::from([no]);
        while let Some(at) = stack.pop() {
            let around = std::iter::once(at).chain(self.ancestors(at)).map(|at| self.node(at));
            let before: Vec<TaskNo> =
                around.flat_map(|node| node.waits.iter().chain(&node.routed_from).copied()).collect();
            let parts = before.iter().flat_map(|before| self.subtree(*before)).collect::<Vec<_>>();
            for before in parts {
                let life = self.task(before);
                if life.undone && life.state == State::Abandoned && seen.insert(before) {
                    found.push(before);
                    stack.push(before);
                }
            }
        }
        found
    }

    /// Tells whether a task is going to be taken back so that it can be done again.
    pub(super) fn goes_back(&self, no: TaskNo) -> bool {
        let undoing = self.undoing.as_ref().filter(|undoing| undoing.then == AfterUndo::Pause);
        undoing.is_some_and(|undoing| undoing.rest.contains(&no))
    }

    /// The event that a checkpoint or a task stands for; an empty name is the beginning.
    fn point(&self, to: &str) -> Option<u64> {
        if to.is_empty() {
            return Some(0);
        }
        self.points.get(to).copied().or_else(|| self.task(self.newest(to)?).done_seq)
    }
}

impl Draft {
    pub(super) fn begin_undo(&mut self, tasks: Vec<TaskNo>, then: AfterUndo, why: &str) {
        let tasks = tasks.into_iter().map(|no| self.id(no)).collect();
        self.record(Event::UndoBegun { tasks, then, why: why.to_owned() });
    }

    /// Says of tasks that leave the plan that what they did stays: only tasks of the plan are taken back.
    pub(super) fn say_what_stays(&mut self, leaving: &[TaskId]) {
        for no in leaving.iter().filter_map(|id| self.life.no(id.as_str())).collect::<Vec<_>>() {
            let life = self.life.task(no);
            let did_something = life.state == State::Completed || life.tried_seq.is_some();
            if did_something && !life.undone && self.life.node(no).task.undo != Undo::None {
                self.say(no, "what it did stays as it is: outside the plan it can no longer be taken back");
            }
        }
    }

    /// Stops what runs within a composite (or the whole plan), because it is going to be taken back.
    pub(super) fn stop_within(&mut self, scope: Option<TaskNo>, why: &str) {
        for no in self.life.running.clone() {
            if scope.is_none_or(|scope| self.life.ancestors(no).any(|above| above == scope)) {
                self.abandon(no, why);
            }
        }
    }

    /// Someone wants everything since a point taken back.
    pub(super) fn undo_to(&mut self, to: &str, by: &str, why: &str) -> Result<(), Refusal> {
        if self.life.undoing.is_some() {
            return Err(Refusal::Undoing);
        }
        let Some(seq) = self.life.point(to) else { return Err(Refusal::UnknownPoint { to: to.to_owned() }) };
        if let Some(no) = self.life.running.get_min() {
            return Err(Refusal::TaskRuns { task: self.id(*no).to_string() });
        }
        self.reopen_plan(&format!("{by} takes back what was done since `{to}`: {why}"))?;
        let done = self.life.done_since(seq);
        self.begin_undo(done, AfterUndo::Pause, &format!("{by} asked for it: {why}"));
        // What failed since then had nothing to take back, and is tried again with everything else.
        for no in self.life.failed_since(seq) {
            self.reopen(no, &format!("what was done since `{to}` is taken back"), true);
        }
        Ok(())
    }

    /// A task whose work is to take back what was done since a point.
    pub(super) fn begin_undo_task(&mut self, no: TaskNo, to: &str) {
        match self.life.point(to) {
            Some(seq) => {
                let done = self.life.done_since(seq);
                self.begin_undo(done, AfterUndo::CompleteTask(self.id(no)), "the plan says so");
            }
            None => {
                let message = format!("there is no checkpoint or finished task `{to}`");
                self.give_up(no, crate::effect::Failure::new(crate::policy::FailureClass::Logic, message));
            }
        }
    }

    /// Takes the next step of an undo, if one is in progress and nothing is under way.
    pub(super) fn continue_undo(&mut self) {
        while let Some(undoing) = self.life.undoing.clone() {
            if undoing.attempt.is_some() || undoing.halted.is_some() {
                return;
            }
            let Some(no) = undoing.rest.first().copied() else {
                self.finish_undo(&undoing.then);
                return;
            };
            let task = std::sync::Arc::clone(&self.life.node(no).task);
            let life = self.life.task(no);
            if life.state != State::Completed && life.tried_seq.is_none() {
                let how = "it is not done any more".to_owned();
                self.record(Event::TaskUndone { task: task.id.clone(), how, usage: Usage::default() });
                continue;
            }
            match &task.undo {
                Undo::None => {
                    let how = if acts_outside(&task) { STAYS } else { "there was nothing to take back" };
                    self.take_back(no, how.to_owned(), Usage::default());
                }
                Undo::Never => {
                    let reason = format!("`{}` cannot be taken back", task.id);
                    self.record(Event::UndoHalted { task: task.id.clone(), reason: reason.clone() });
                    self.wish(Effect::Notify { to: self.owner_of(no), task: Some(task.id.clone()), text: reason });
                }
                Undo::Restore | Undo::Action(_) => self.start_undo(no),
            }
        }
    }

    /// One task is taken back; questions about what it did are withdrawn. If it is done again, so is what was given up
    /// for its failure, or for that of what contains it.
    fn take_back(&mut self, no: TaskNo, how: String, usage: Usage) {
        let again = self.life.goes_back(no) && self.life.task(no).state.is_final();
        let failed = self.life.outermost_failure(no);
        self.record(Event::TaskUndone { task: self.id(no), how, usage });
        self.withdraw_behind(no);
        if again {
            self.bring_along(no, failed);
        }
    }

    /// These are not taken back after all. What was given up with them is taken up by now, and so are they.
    fn take_up_left(&mut self, tasks: &[TaskNo]) {
        let is_left = |no: &TaskNo| tasks.contains(no);
        for no in self.life.given_up_within(None).into_iter().filter(is_left) {
            self.reopen(no, "what it was given up for is done again", false);
        }
    }

    fn start_undo(&mut self, no: TaskNo) {
        let task = std::sync::Arc::clone(&self.life.node(no).task);
        // Numbered by the journal, so that an answer to an earlier try can be told.
        let attempt = AttemptNo(u32::try_from(self.life.length + 1).unwrap_or(u32::MAX));
        self.record(Event::UndoStarted { task: task.id.clone(), attempt });
        self.wish(Effect::StartUndo { task: task.id.clone(), attempt, undo: task.undo.clone() });
    }

    /// After a crash the undo under way is started again: undoing twice is undoing once.
    pub(super) fn restart_undo(&mut self) {
        if let Some(undoing) = self.life.undoing.clone()
            && undoing.attempt.is_some()
            && let Some(no) = undoing.rest.first()
        {
            self.start_undo(*no);
        }
    }

    pub(super) fn undo_ended(
        &mut self,
        task: &TaskId,
        attempt: AttemptNo,
        end: &Result<String, String>,
        usage: Usage,
    ) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        let current = self
            .life
            .undoing
            .as_ref()
            .filter(|undoing| undoing.attempt == Some(attempt) && undoing.rest.first() == Some(&no));
        let Some(undoing) = current.cloned() else {
            let reason = "this undo is not under way".to_owned();
            let usage = self.life.owed_for(no, AnswerTo::Undo, attempt, usage);
            self.ignore(task, attempt, AnswerTo::Undo, reason, usage);
            return Ok(());
        };
        match end {
            Ok(how) => {
                self.take_back(no, how.clone(), usage);
                self.trip_if_overrun();
            }
            Err(message) => {
                self.record(Event::UndoFailed { task: task.clone(), attempt, message: message.clone(), usage });
                self.trip_if_overrun();
                if undoing.failures + 1 >= UNDO_FAILURES_MAX {
                    let reason = format!("`{task}` could not be taken back: {message}");
                    self.record(Event::UndoHalted { task: task.clone(), reason: reason.clone() });
                    self.wish(Effect::Notify { to: self.owner_of(no), task: Some(task.clone()), text: reason });
                }
            }
        }
        Ok(())
    }

    /// A person says how to go on with an undo that cannot go on; true when there was one.
    pub(super) fn resolve_undo(&mut self, no: TaskNo, by: &str, resolution: &Resolution, why: &str) -> bool {
        let halted =
            self.life.undoing.as_ref().filter(|undoing| undoing.halted.is_some() && undoing.rest.first() == Some(&no));
        if halted.is_none() {
            return false;
        }
        let said = match resolution {
            Resolution::Retry { .. } => "try to take it back again",
            Resolution::Complete { .. } => "it was taken back by hand",
            Resolution::Skip => "leave it as it is",
            Resolution::Fail => "stop taking back",
        };
        let task = self.id(no);
        self.record(Event::PersonAnswered {
            task: task.clone(),
            by: by.to_owned(),
            said: format!("{said}: {why}"),
            evidence: Vec::new(),
        });
        match resolution {
            Resolution::Retry { .. } if self.life.node(no).task.undo == Undo::Never => {
                let reason = format!("`{task}` cannot be taken back");
                self.record(Event::UndoHalted { task, reason });
            }
            Resolution::Retry { .. } => self.start_undo(no),
            Resolution::Complete { .. } => self.take_back(no, format!("{by}: {said}"), Usage::default()),
            Resolution::Skip => {
                let left = if self.life.goes_back(no) { vec![no] } else { Vec::new() };
                self.record(Event::UndoPassedOver { task });
                self.take_up_left(&left);
            }
            Resolution::Fail => {
                let undoing = self.life.undoing.clone();
                let then = undoing.as_ref().map_or(AfterUndo::Fail, |undoing| undoing.then.clone());
                if let Some(undoing) = undoing.filter(|undoing| undoing.then == AfterUndo::Pause) {
                    self.take_up_left(&undoing.rest);
                }
                self.finish_undo(&then);
            }
        }
        true
    }

    fn finish_undo(&mut self, then: &AfterUndo) {
        self.record(Event::UndoFinished);
        match then {
            AfterUndo::Fail => {}
            AfterUndo::CompleteTask(task) => {
                if let Some(no) = self.life.no(task.as_str())
                    && self.life.task(no).state == State::Waiting(Waiting::Undo)
                {
                    self.complete(no, Outputs::new(), None, Source::Made, Vec::new());
                }
            }
            AfterUndo::Pause => {
                if matches!(self.life.phase, super::Phase::Running { .. }) {
                    self.record(Event::PlanPaused {
                        by: "gantry".to_owned(),
                        why: "what was done is taken back".to_owned(),
                    });
                }
            }
            AfterUndo::Abandon => {
                self.record(Event::PlanAbandoned {
                    by: "gantry".to_owned(),
                    why: "what was done is taken back as far as it could be".to_owned(),
                });
            }
        }
    }
}

/// Whether a task may change something that the plan does not hold.
fn acts_outside(task: &Task) -> bool {
    match &task.action {
        Some(action) => matches!(
            action,
            Action::Run(_)
                | Action::Command(_)
                | Action::Tool(_)
                | Action::Agent(_)
                | Action::Manual(_)
                | Action::Plan(_)
        ),
        None => false,
    }
}
