//! A task is opened again or taken back, and everything finished behind it may have to be done again, too.

use std::sync::Arc;

use crate::event::AfterUndo;
use crate::id::TaskNo;
use crate::life::results::Results;
use crate::life::state::State;
use crate::life::{Life, Undoing};

impl Life {
    pub(super) fn apply_reopened(&mut self, no: TaskNo, afresh: bool, woken: &mut Vec<TaskNo>) {
        // A part of a finished composite makes it unfinished again.
        let closed: Vec<TaskNo> = self
            .ancestors(no)
            .take_while(|above| !matches!(self.task(*above).state, State::Open { .. } | State::Running { .. }))
            .collect();
        // While the own action of one above is under way, its parts wait for that.
        let under_way = self.ancestors(no).any(|above| matches!(self.task(above).state, State::Running { .. }));
        let now = self.last_at;
        self.change(no, woken, |life| {
            if let State::Open { until } = &life.state {
                life.box_left = until.map(|until| until - now);
            }
            if afresh {
                life.memo.clear();
                life.in_doubt = false;
            }
            life.retries = 0;
            life.losses = 0;
            life.repairs = 0;
            life.way = 0;
            life.feedback = None;
            life.failure = None;
            life.because = None;
            life.suspect = false;
            life.undone = false;
            life.rolled_back = false;
            life.judged_before = false;
            life.taken.clear();
            life.done_seq = None;
            life.outputs = Results::default();
            life.outcome = None;
            life.rest();
        });
        for above in closed {
            // What was never opened, or is to be opened once more, is opened in its turn.
            if !matches!(self.task(above).state, State::Completed | State::Failed { .. } | State::Waiting(_)) {
                self.change(above, woken, |life| {
                    life.forget_result();
                    life.rest();
                });
                self.suspect_behind(above, woken);
                continue;
            }
            let until = self.timebox_end(above, self.last_at);
            // What it waits for itself may be made again, too.
            let may_open = !under_way && self.is_led_to(above);
            let state = if may_open { State::Open { until } } else { State::Pending };
            self.change(above, woken, |life| {
                life.forget_result();
                life.resume(state);
            });
            self.suspect_behind(above, woken);
        }
        self.suspect_behind(no, woken);
    }

    /// Everything that is over behind a task which is done again may have to be done again, too, and whatever contains
    /// such a task is in question with it. Parts of what waits for the task begin no more until it is done.
    pub(super) fn suspect_behind(&mut self, no: TaskNo, woken: &mut Vec<TaskNo>) {
        let now = self.last_at;
        let mut waiting: Vec<TaskNo> = self.behind(no);
        let mut concerned: Vec<TaskNo> = Vec::new();
        while let Some((no, waits)) =
            waiting.pop().map(|no| (no, true)).or_else(|| concerned.pop().map(|no| (no, false)))
        {
            let life = self.task(no);
            match &life.state {
                State::Completed | State::Failed { .. } if !life.suspect => {
                    self.change(no, woken, |life| life.suspect = true);
                    waiting.extend(self.behind(no));
                    concerned.extend(self.subtree(no).into_iter().skip(1));
                    concerned.extend(self.ancestors(no));
                }
                State::Open { until } if waits => {
                    let left = until.map(|until| until - now);
                    self.change(no, woken, |life| {
                        life.rest();
                        life.box_left = left;
                    });
                    concerned.extend(self.subtree(no).into_iter().skip(1));
                }
                _ => {}
            }
        }
    }

    pub(super) fn undo_step(&mut self, change: impl FnOnce(&mut Undoing)) {
        if let Some(undoing) = &mut self.undoing {
            change(Arc::make_mut(undoing));
        }
    }

    pub(super) fn apply_undone(&mut self, no: TaskNo, woken: &mut Vec<TaskNo>) {
        let then = self.undoing.as_ref().map(|undoing| undoing.then.clone());
        let again = matches!(then, Some(AfterUndo::Pause));
        let rolled_back = matches!(then, Some(AfterUndo::CompleteTask(_) | AfterUndo::Abandon));
        self.undo_step(|undoing| undoing.next(no));
        if let Some(tried) = self.task_mut(no).tried_seq.take() {
            self.tried.strike(tried);
        }
        match &self.task(no).state {
            State::Completed | State::Failed { .. } | State::Abandoned if again => self.apply_reopened(no, true, woken),
            State::Completed => self.change(no, woken, |life| {
                life.undone = true;
                life.rolled_back = rolled_back;
                life.because = Some("taken back".to_owned());
                life.end(State::Abandoned);
            }),
            // It was half done, or it was opened again meanwhile.
            _ => {
                let life = self.task_mut(no);
                life.undone = true;
                life.rolled_back = rolled_back;
            }
        }
    }
}

impl Undoing {
    /// One task is dealt with.
    pub(super) fn next(&mut self, done: TaskNo) {
        self.rest.retain(|other| *other != done);
        self.attempt = None;
        self.failures = 0;
        self.halted = None;
    }
}
