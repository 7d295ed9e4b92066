//! One turn: an input is taken in, then everything that follows from it happens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::graph::{INLINE_LANE, capabilities_of};
use super::ledger::Afford;
use super::state::State;
use super::{Life, Phase, Refusal};
use crate::effect::Effect;
use crate::event::{EVENT_VERSION, Entry, Event};
use crate::id::{TaskId, TaskNo};
use crate::input::Input;
use crate::time::Timestamp;

/// After this many events a turn stops starting things and asks for another turn.
const TURN_EVENTS_MAX: usize = 10_000;

/// What happens because of an input.
#[must_use = "a verdict that is not appended never happened"]
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// To be appended.
    pub events: Vec<Entry>,
    /// To be started once the events are on disk.
    pub effects: Vec<Effect>,
    /// The life with these events applied: what is true once they are on disk.
    pub life: Life,
}

/// How many attempts a turn may start, besides what the plan's own policy says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Room(pub u32);

impl Room {
    /// Nobody is there to do anything: what is ready stays ready.
    pub const NONE: Self = Self(0);
    /// As many as the plan itself allows.
    pub const PLENTY: Self = Self(u32::MAX);
}

/// How many attempts that use a capability a turn may start, where there is a limit besides the plan's own policy.
pub type Scarce = BTreeMap<String, u32>;

impl Life {
    /// Says what happens because of this input. Changes nothing.
    pub fn decide(&self, input: &Input, now: Timestamp) -> Result<Verdict, Refusal> {
        let mut draft = self.clone().draft(now, Room::PLENTY);
        draft.take(input)?;
        Ok(draft.close())
    }

    /// Begins a turn in which several inputs are decided together.
    ///
    /// The life goes into the turn and comes back with the verdict, so nothing is copied on the way. If the
    /// verdict cannot be appended, the life in it never was: load the plan again.
    pub fn draft(self, now: Timestamp, room: Room) -> Draft {
        Draft {
            now: now.max(self.last_at),
            life: self,
            room,
            scarce: Scarce::new(),
            entries: Vec::new(),
            effects: Vec::new(),
            woken: VecDeque::new(),
            held: BTreeSet::new(),
        }
    }

    /// When the next turn is due without any input; in the past means at once.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.next_wake_in(Room::PLENTY)
    }

    /// The same when there is only so much room for attempts.
    pub fn next_wake_in(&self, room: Room) -> Option<Timestamp> {
        self.next_wake_within(room, &Scarce::new())
    }

    /// The same when there is only so much room for attempts that use a capability, too.
    pub fn next_wake_within(&self, room: Room, scarce: &Scarce) -> Option<Timestamp> {
        // A lane whose first task waits for money that others may give back is looked at when they do.
        let mut held = BTreeSet::new();
        while self.may_start()
            && let Some(no) = self.next_startable(&held, room, scarce)
        {
            if !matches!(self.affords(no, self.reservation(no)), Afford::Later) {
                return Some(self.last_at);
            }
            held.insert(self.node(no).lane.clone());
        }
        self.timers.get_min().map(|(at, _)| *at).filter(|_| self.is_under_way())
    }

    /// Tells whether anything new may start at all.
    fn may_start(&self) -> bool {
        matches!(self.phase, Phase::Running { .. }) && self.breaker.is_none() && self.undoing.is_none()
    }

    /// The task that goes first among those that limits allow.
    fn next_startable(&self, held: &BTreeSet<String>, room: Room, scarce: &Scarce) -> Option<TaskNo> {
        let full = self.running.len() >= self.header.policy.parallel() as usize;
        if full || room == Room::NONE {
            let inline = self.lanes.get(INLINE_LANE).filter(|_| !held.contains(INLINE_LANE));
            return inline.and_then(|lane| lane.get_min()).map(|(_, no)| *no);
        }
        let free = |lane: &str| {
            let limits = &self.header.policy.capabilities;
            capabilities_of(lane).all(|name| {
                let in_plan = limits.get(name).is_none_or(|limit| self.busy.get(name).copied().unwrap_or(0) < *limit);
                in_plan && scarce.get(name).is_none_or(|left| *left > 0)
            })
        };
        let may_go = |no: &TaskNo| {
            let lane = &self.node(*no).lane;
            !held.contains(lane) && free(lane)
        };
        self.heads.iter().map(|(_, no)| *no).find(may_go)
    }
}

/// A turn that is being decided: a life that sees each event as soon as it is recorded.
pub struct Draft {
    pub(super) life: Life,
    pub(super) now: Timestamp,
    room: Room,
    scarce: Scarce,
    entries: Vec<Entry>,
    effects: Vec<Effect>,
    woken: VecDeque<TaskNo>,
    /// Lanes whose first task has to wait for money that others may give back.
    held: BTreeSet<String>,
}

impl Draft {
    /// Starts no more attempts than this that use these capabilities, besides what the plan's own policy says.
    pub fn limit(&mut self, scarce: Scarce) {
        self.scarce = scarce;
    }

    /// Takes in one more input; one that is refused leaves no trace.
    pub fn take(&mut self, input: &Input) -> Result<(), Refusal> {
        let lengths = (self.entries.len(), self.effects.len(), self.woken.len());
        // A copy of the life makes the next change to a task copy the list of all tasks.
        let before = input.may_be_refused_midway().then(|| self.life.clone());
        let taken = self.dispatch(input);
        debug_assert!(
            taken.is_ok() || before.is_some() || self.entries.len() == lengths.0,
            "{input:?} was refused after something was recorded"
        );
        if let (Err(_), Some(life)) = (&taken, before) {
            self.life = life;
            self.entries.truncate(lengths.0);
            self.effects.truncate(lengths.1);
            self.woken.truncate(lengths.2);
        }
        taken
    }

    /// Ends the turn: everything that follows from the inputs happens.
    pub fn close(mut self) -> Verdict {
        self.settle();
        Verdict { events: self.entries, effects: self.effects, life: self.life }
    }

    /// Records what happened; from here on the draft knows it.
    pub(super) fn record(&mut self, event: Event) {
        let entry = Entry { v: EVENT_VERSION, seq: self.life.length + 1, at: self.now, event };
        let mut woken = Vec::new();
        self.life.apply_one(&entry, &mut woken);
        self.woken.extend(woken);
        self.entries.push(entry);
    }

    /// Uses up room for one attempt at a task.
    pub(super) fn use_room(&mut self, no: TaskNo) {
        self.room.0 = self.room.0.saturating_sub(1);
        for name in capabilities_of(&self.life.node(no).lane) {
            if let Some(left) = self.scarce.get_mut(name) {
                *left = left.saturating_sub(1);
            }
        }
    }

    /// Asks the engine for something, once the events are on disk.
    pub(super) fn wish(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(super) fn id(&self, no: TaskNo) -> TaskId {
        self.life.task_id(no).clone()
    }

    fn dispatch(&mut self, input: &Input) -> Result<(), Refusal> {
        match input {
            Input::Start => self.start_plan(),
            Input::Pause { by, why } => self.pause(by, why),
            Input::Resume { by } => self.resume(by),
            Input::Cancel { by, why, undo } => self.cancel(by, why, *undo),
            Input::Tick => {
                self.fire_timers();
                Ok(())
            }
            Input::Recover => {
                self.recover_lost();
                Ok(())
            }
            Input::Ended { task, attempt, end, usage } => self.end_attempt(task, *attempt, end, usage.bounded()),
            Input::Heartbeat { task, attempt, note, artifacts } => self.heartbeat(task, *attempt, note, artifacts),
            Input::Verified { task, attempt, happened, outputs, usage } => {
                self.verified(task, *attempt, *happened, outputs, usage.bounded())
            }
            Input::Judged { task, by, verdicts, usage, attempt, asked } => {
                let usage = usage.bounded();
                match task {
                    Some(task) => self.judged((task, *attempt, *asked), by, verdicts, usage),
                    None => self.judged_plan(*asked, by, verdicts, usage),
                }
            }
            Input::JudgeFailed { task, why, usage, attempt, asked, failed } => {
                let usage = usage.bounded();
                match task {
                    Some(task) => self.judge_failed(task, *attempt, (*asked, *failed), why, usage),
                    None => {
                        self.judge_of_plan_failed((*asked, *failed), why, usage);
                        Ok(())
                    }
                }
            }
            Input::UndoEnded { task, attempt, end, usage } => self.undo_ended(task, *attempt, end, usage.bounded()),
            Input::Observed { facts } => {
                self.observe(facts);
                Ok(())
            }
            Input::Review { by, role, decisions } => self.review(by, role.as_deref(), decisions),
            Input::Answer { task, by, answer } => self.answer(task, by, answer),
            Input::Report { task, by, end } => self.report(task, by, end),
            Input::Resolve { task, by, resolution, why } => self.resolve(task, by, resolution, why),
            Input::Revise { by, rationale, base, change } => self.revise(by, rationale, *base, change),
            Input::EditOutput { task, by, why, outputs } => self.edit_output(task, by, why, outputs),
            Input::Retry { task, by, why } => self.retry(task, by, why),
            Input::Undo { to, by, why } => self.undo_to(to, by, why),
            Input::Checkpoint { name } => self.checkpoint(name),
            Input::Hypothesise { hypothesis } => self.hypothesise(hypothesis),
            Input::Evidence { hypothesis, direction, evidence, by } => {
                self.evidence(hypothesis, *direction, evidence, by)
            }
            Input::Note { task, by, text } => self.note(task.as_ref(), by, text),
        }
    }

    /// Everything that follows: skips, openings, completions of composites, starts, undo, the end.
    fn settle(&mut self) {
        loop {
            while let Some(no) = self.woken.pop_front() {
                self.look_at(no);
            }
            if self.entries.len() < TURN_EVENTS_MAX
                && self.life.may_start()
                && let Some(no) = self.life.next_startable(&self.held, self.room, &self.scarce)
            {
                self.start(no);
                continue;
            }
            // The end of an undo lets others start.
            let before = self.entries.len();
            self.continue_undo();
            if self.entries.len() == before {
                break;
            }
        }
        self.finish_plan();
    }

    /// Holds a lane for the rest of the turn.
    pub(super) fn hold_lane_of(&mut self, no: TaskNo) {
        self.held.insert(self.life.node(no).lane.clone());
    }

    /// Does what the situation of one task asks for by itself.
    fn look_at(&mut self, no: TaskNo) {
        if self.life.node(no).removed || !self.life.is_under_way() {
            return;
        }
        let task = self.life.task(no);
        match &task.state {
            State::Pending => {
                if let Some(because) = self.life.why_skip(no) {
                    self.skip(no, &because);
                } else if self.life.is_openable(no) {
                    self.open(no);
                }
            }
            State::Skipped { by_hand: false } => {
                if self.life.why_skip(no).is_none() && self.life.parent_is_open(no) {
                    self.record(Event::TaskReopened {
                        task: self.id(no),
                        because: "it is needed after all".to_owned(),
                        afresh: false,
                    });
                }
            }
            State::Open { .. } => self.look_at_open(no),
            State::Blocked { .. } => self.look_at_blocked(no),
            State::Completed | State::Failed { .. }
                if task.suspect && task.unmet == 0 && task.children_open == 0 && self.life.ways_in_are_known(no) =>
            {
                self.recheck(no);
            }
            _ => {}
        }
    }

    /// Leaves a task out, with everything below it.
    pub(super) fn skip(&mut self, no: TaskNo, because: &str) {
        for no in self.life.subtree(no) {
            if !self.life.task(no).state.is_final() {
                self.end_running(no, because);
                self.record(Event::TaskSkipped { task: self.id(no), because: because.to_owned(), by_hand: false });
            }
        }
    }
}

impl Life {
    /// The capabilities that an attempt at a task uses.
    pub fn capabilities_of(&self, task: &str) -> impl Iterator<Item = &str> {
        self.no(task).into_iter().flat_map(|no| capabilities_of(&self.node(no).lane))
    }

    /// Tells whether it is decided whether a route leads to this task.
    fn ways_in_are_known(&self, no: TaskNo) -> bool {
        let life = self.task(no);
        self.node(no).routed_from.is_empty() || life.routes_taken > 0 || life.routes_open == 0
    }

    /// Tells whether the plan was started and has not ended.
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.phase, Phase::Running { .. } | Phase::Paused { .. })
    }
}
