//! Doing finished work again: exactly the tasks whose keys change.

use std::collections::BTreeSet;

use super::draft::Draft;
use super::state::{State, Waiting};
use super::{Life, Refusal};
use crate::event::{Event, Outputs};
use crate::id::{TaskId, TaskNo};
use crate::plan::Action;

impl Draft {
    /// Opens a task again; whoever waits behind it with a question withdraws it. What was given up because it failed, or
    /// because something around it did, gets another chance with it, and so does what it needs and was taken back.
    pub(super) fn reopen(&mut self, no: TaskNo, because: &str, afresh: bool) {
        // What contains it and was over is not any more.
        let over = |above: &TaskNo| self.life.task(*above).state.is_final();
        let unfinished: Vec<TaskNo> = self.life.ancestors(no).filter(over).collect();
        let failed = self.life.outermost_failure(no);
        self.record(Event::TaskReopened { task: self.id(no), because: because.to_owned(), afresh });
        self.withdraw_behind(no);
        for above in unfinished {
            self.withdraw_behind(above);
        }
        self.bring_along(no, failed);
    }

    /// Takes up with a task that is done again what was given up for the failure that stood over it, and what it needs
    /// and was taken back.
    pub(super) fn bring_along(&mut self, no: TaskNo, failed: Option<TaskNo>) {
        if let Some(failed) = failed {
            let because = format!("`{}`, for which it was given up, is done again", self.id(no));
            self.take_up_within(self.life.node(failed).parent, &because);
        }
        let taken_back = if self.life.gave_up() { self.life.taken_back_before(no) } else { Vec::new() };
        for before in taken_back {
            // What the plan itself has taken back stays so, unless someone asks for it.
            if !self.life.task(before).rolled_back {
                self.reopen(before, &format!("it was taken back, and `{}` needs it", self.id(no)), true);
            }
        }
    }

    /// Opens again what was given up within a composite, or in the whole plan, for a failure that stands no longer.
    pub(super) fn take_up_within(&mut self, scope: Option<TaskNo>, because: &str) {
        for no in self.life.given_up_within(scope) {
            // What is going to be taken back to be done again is opened again with that.
            if !self.life.goes_back(no) {
                self.reopen(no, because, self.life.task(no).undone);
            }
        }
    }

    /// What is open, and waits for something since the plan was changed, is opened again when that is over. What was
    /// adopted is the plan by now, whatever people have made of it since: it would not be adopted once more.
    pub(super) fn hold_open(&mut self) {
        let is_held = |no: &TaskNo| {
            let adopted = matches!(self.life.node(*no).task.action, Some(Action::Adopt(_)));
            // What was there when it was opened may have been taken back since: that holds up nothing.
            let taken_back = self.life.node(*no).waits.iter().any(|before| self.life.task(*before).undone);
            let waits = self.life.task(*no).unmet > 0;
            !adopted && (waits || !taken_back && !self.life.is_led_to(*no))
        };
        let held: Vec<TaskNo> = self.life.open.iter().copied().filter(is_held).collect();
        for no in held {
            let waits: Vec<String> =
                self.life.held_by(self.id(no).as_str()).iter().map(|id| format!("`{id}`")).collect();
            let because = match waits.as_slice() {
                [] => "what leads to it has changed".to_owned(),
                waits => format!("it waits for {} now", waits.join(", ")),
            };
            self.reopen(no, &because, false);
        }
    }

    /// Withdraws the questions behind a task that is done again, and those of whatever contains a task behind it.
    pub(super) fn withdraw_behind(&mut self, no: TaskNo) {
        let because = format!("`{}` before it is done again", self.id(no));
        let mut seen = BTreeSet::new();
        let mut stack: Vec<TaskNo> = self.life.behind(no);
        while let Some(behind) = stack.pop() {
            if !seen.insert(behind) {
                continue;
            }
            match &self.life.task(behind).state {
                State::Waiting(_) | State::Blocked { .. } => self.withdraw(behind, &because),
                State::Completed | State::Failed { .. } => {
                    stack.extend(self.life.behind(behind));
                    stack.extend(&self.life.node(behind).children);
                    for above in self.life.ancestors(behind).collect::<Vec<_>>() {
                        stack.extend(self.life.behind(above).into_iter().filter(|_| self.life.task(above).suspect));
                        self.withdraw(above, &because);
                    }
                }
                State::Open { .. } | State::Pending => {
                    stack.extend(self.life.behind(behind));
                    stack.extend(&self.life.node(behind).children);
                }
                State::Running { .. } | State::Skipped { .. } | State::Abandoned => {}
            }
        }
    }

    /// Withdraws the question of a task that waits for an answer. One that waits for things to be taken back waits for
    /// the very thing that goes on.
    fn withdraw(&mut self, no: TaskNo, because: &str) {
        let asks = match &self.life.task(no).state {
            State::Waiting(Waiting::Undo) => false,
            State::Waiting(_) | State::Blocked { .. } => true,
            _ => false,
        };
        if asks {
            self.record(Event::TaskReopened { task: self.id(no), because: because.to_owned(), afresh: false });
        }
    }

    /// A task that is over and whose inputs were made again: is it still the same work? A failure that nobody has taken
    /// care of is no work to keep.
    pub(super) fn recheck(&mut self, no: TaskNo) {
        let node = self.life.node(no);
        let led_to = node.routed_from.is_empty() || self.life.task(no).routes_taken > 0;
        let kept = !matches!(self.life.task(no).state, State::Failed { handled: false });
        if led_to && kept && self.life.key(no).is_ok_and(|(key, _)| key == self.life.task(no).key) {
            self.record(Event::TaskConfirmed { task: self.id(no) });
        } else {
            self.reopen(no, "what it works on has changed", false);
        }
    }

    /// Opens a finished or failed task again if its definition or inputs changed.
    pub(super) fn redo_if_changed(&mut self, no: TaskNo) {
        let life = self.life.task(no);
        let changed = self.life.key(no).map_or(true, |(key, _)| key != life.key);
        match &life.state {
            State::Completed if changed && !life.suspect => {
                self.reopen(no, "its definition or input has changed", false);
            }
            State::Open { .. } if changed && self.life.is_grown(no) => {
                self.reopen(no, "what its parts were made of has changed", false);
            }
            // What was answered by another way is over, whatever else is said about it.
            State::Failed { handled: true } if !changed => {}
            State::Failed { .. } | State::Waiting(_) | State::Blocked { .. } => {
                self.reopen(no, "its definition has changed", false);
            }
            _ => {}
        }
    }

    pub(super) fn edit_output(&mut self, task: &TaskId, by: &str, why: &str, outputs: &Outputs) -> Result<(), Refusal> {
        let no = self.life.known(task)?;
        if self.life.task(no).state != State::Completed {
            return Err(Refusal::NotFinished { task: task.to_string() });
        }
        if *self.life.task(no).outputs == *outputs {
            return Err(Refusal::NothingChanges);
        }
        if self.life.undoing.is_some() {
            return Err(Refusal::Undoing);
        }
        self.record(Event::OutputEdited {
            task: task.clone(),
            outputs: outputs.clone(),
            by: by.to_owned(),
            why: why.to_owned(),
        });
        let stale = |reader: &TaskNo| {
            let life = self.life.task(*reader);
            let answered = matches!(life.state, State::Completed | State::Failed { .. }) && !life.suspect;
            let asked = matches!(
                life.state,
                State::Waiting(Waiting::Gate { .. } | Waiting::Answer { .. } | Waiting::Work | Waiting::Judge { .. })
            );
            (answered || asked || self.life.is_grown(*reader))
                && self.life.key(*reader).map_or(true, |(key, _)| key != life.key)
        };
        let behind = self.life.behind(no);
        let far = self.life.gates_behind(no).into_iter().chain(self.life.computed_from(|read| read == no));
        let far: BTreeSet<TaskNo> = far.filter(|far| !behind.contains(far)).collect();
        let mut readers: Vec<TaskNo> = behind.iter().copied().chain(far).filter(stale).collect();
        // The results of a map, and what a composite's own gate approved, are made of its parts.
        readers.extend(self.life.node(no).parent.filter(|parent| {
            let composite = self.life.node(*parent);
            let reads = matches!(composite.task.action, Some(Action::Map(_) | Action::Gate(_)));
            reads && self.life.task(*parent).state == State::Completed
        }));
        let other_way = self.leads_elsewhere(no);
        if readers.is_empty() && !other_way && self.life.header.done_when.is_empty() {
            return Ok(());
        }
        let why = format!("{by} edited the output of `{task}`");
        self.reopen_plan(&why)?;
        if other_way {
            // Its result is on record: it is not done again, but its routes are followed anew.
            self.reopen(no, &why, false);
        }
        for reader in readers {
            // The key of a map says nothing about its parts, so its recorded results would serve again.
            let afresh = self.life.node(no).parent == Some(reader)
                && matches!(self.life.node(reader).task.action, Some(Action::Map(_)));
            self.reopen(reader, &why, afresh);
        }
        Ok(())
    }
}

impl Life {
    /// Of a task and whatever contains it, the outermost that has failed.
    pub(super) fn outermost_failure(&self, no: TaskNo) -> Option<TaskNo> {
        let failed = |no: &TaskNo| matches!(self.task(*no).state, State::Failed { .. });
        std::iter::once(no).chain(self.ancestors(no)).filter(failed).last()
    }

    /// Tells whether anything was given up.
    pub(super) fn gave_up(&self) -> bool {
        self.counts[State::Abandoned.place()] > 0
    }

    /// What was given up, or taken back, within a composite or in the whole plan, the outer tasks first: but for what the
    /// plan itself takes back, and for what is part of something that is over.
    pub(super) fn given_up_within(&self, scope: Option<TaskNo>) -> Vec<TaskNo> {
        if !self.gave_up() {
            return Vec::new();
        }
        let inside = |scope: Option<TaskNo>| scope.map_or(&*self.roots, |no| &self.node(no).children).iter().rev();
        let mut stack: Vec<TaskNo> = inside(scope).copied().collect();
        let mut given_up = Vec::new();
        while let Some(no) = stack.pop() {
            let life = self.task(no);
            match &life.state {
                State::Completed | State::Failed { .. } | State::Skipped { .. } => continue,
                State::Abandoned if !life.rolled_back => given_up.push(no),
                _ => {}
            }
            stack.extend(inside(Some(no)));
        }
        given_up
    }

    /// Required work that was given up for a failure that stands no longer, or that nobody can name any more.
    pub(super) fn owed_work(&self) -> Vec<TaskNo> {
        let given_up = self.given_up_within(None);
        if given_up.is_empty() {
            return given_up;
        }
        // With a failure that was taken care of, what it was part of may have been taken back for good.
        let stands = |no: &TaskNo| matches!(self.task(*no).state, State::Failed { .. });
        let excused: BTreeSet<Option<TaskNo>> = self.numbers().filter(stands).map(|no| self.node(no).parent).collect();
        let is_owed = |no: &TaskNo| {
            let around = || self.ancestors(*no);
            let optional = std::iter::once(*no).chain(around()).any(|no| self.node(no).task.optional);
            !optional && !around().map(Some).chain([None]).any(|scope| excused.contains(&scope))
        };
        given_up.into_iter().filter(is_owed).collect()
    }

    /// The next gates behind a task, whatever stands between: people approve there what was made before.
    fn gates_behind(&self, no: TaskNo) -> Vec<TaskNo> {
        let (mut seen, mut look, mut gates) = (BTreeSet::from([no]), vec![no], Vec::new());
        while let Some(at) = look.pop() {
            let around = self.node(at).parent;
            for behind in self.behind(at).into_iter().chain(around).filter(|behind| seen.insert(*behind)) {
                if self.node(behind).is_gate() {
                    gates.push(behind);
                } else {
                    look.push(behind);
                }
            }
        }
        gates
    }
}
