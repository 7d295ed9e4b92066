//! A plan and the world around it, moved by verbs.

mod turns;

use std::collections::BTreeMap;

use gantry_core::effect::{Effect, Failure, StartAttempt};
use gantry_core::event::{Entry, Event, Outputs};
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::input::{Change, Decision, GateDecision, Input, Resolution, Success, TakeBack, Verdict as Judgement};
use gantry_core::life::{self, Life, PlanState, Refusal, Room, TaskState};
use gantry_core::plan::Plan;
use gantry_core::policy::{FailureClass, Usage};
use gantry_core::time::{Duration, Timestamp};
use serde_json::{Value, json};

use crate::draw_plan;

/// Some seconds.
pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
/// Some minutes.
pub const fn mins(n: u64) -> Duration {
    Duration::from_mins(n)
}
/// Some hours.
pub const fn hours(n: u64) -> Duration {
    Duration::from_hours(n)
}
/// Some days.
pub const fn days(n: u64) -> Duration {
    Duration::from_hours(24 * n)
}

/// A plan and the world around it.
pub struct World {
    life: Life,
    journal: Vec<Entry>,
    effects: Vec<Effect>,
    now: Timestamp,
    /// What was taken in so far, turn by turn.
    turns: Vec<turns::Turn>,
}

impl World {
    /// A drawn plan, started on 2026-01-01 at 9:00 UTC.
    pub fn with_plan(drawing: &str) -> Self {
        let mut world = Self::not_started(draw_plan(drawing));
        world.turn(Input::Start);
        world
    }

    /// A plan that is not started yet.
    pub fn not_started(plan: Plan) -> Self {
        let now = Timestamp::parse("2026-01-01T09:00:00Z").expect("a point in time");
        let id = PlanId::new("plan-test-0000").expect("an id");
        let journal = life::create(plan, id, 7, now).unwrap_or_else(|refusal| panic!("{refusal}"));
        let life = life::replay(&journal).expect("a journal of one entry");
        Self { life, journal, effects: Vec::new(), now, turns: Vec::new() }
    }

    /// Lets an input happen; what it started is added to [`World::started`].
    ///
    /// # Panics
    /// When the core refuses it, or when replaying the journal gives another state.
    pub fn turn(&mut self, input: Input) {
        self.try_turn(input).unwrap_or_else(|refusal| panic!("refused: {refusal}"));
    }

    fn try_turn(&mut self, input: Input) -> Result<(), Refusal> {
        let verdict = self.life.decide(&input, self.now)?;
        assert_eq!(Ok(&verdict), self.life.decide(&input, self.now).as_ref(), "deciding twice must give the same");
        self.commit(verdict, turns::Turn { now: self.now, room: Room::PLENTY, inputs: vec![input] });
        Ok(())
    }

    /// Returns what the core says to a request that it refuses; nothing may change.
    pub fn refusal(&mut self, input: Input) -> String {
        let before = self.life.clone();
        match self.try_turn(input) {
            Err(refusal) => {
                assert_eq!(before, self.life, "a refusal changes nothing");
                format!("{refusal} [{}]", refusal.code())
            }
            Ok(()) => panic!("this should have been refused"),
        }
    }

    // --- verbs of runners ---

    fn attempt(&self, task: &str) -> AttemptNo {
        self.life.task_life(task).unwrap_or_else(|| panic!("no task {task}")).attempt
    }

    /// The task's attempt succeeds.
    pub fn finish(&mut self, task: &str) {
        self.finish_with(task, json!({}));
    }

    /// The task's attempt succeeds with these outputs.
    pub fn finish_with(&mut self, task: &str, outputs: Value) {
        self.turn(self.finished_with(task, outputs));
    }

    /// The task's attempt succeeds with this outcome.
    pub fn finish_as(&mut self, task: &str, outcome: &str) {
        let success = Success { outcome: Some(outcome.to_owned()), ..Success::default() };
        self.end(task, self.attempt(task), Ok(success), Usage::default());
    }

    /// The task's attempt succeeds and has used this much.
    pub fn finish_using(&mut self, task: &str, usage: Usage) {
        self.end(task, self.attempt(task), Ok(Success::default()), usage);
    }

    /// The task's attempt fails.
    pub fn fail(&mut self, task: &str, class: FailureClass, message: &str) {
        self.turn(self.failed(task, class, message));
    }

    /// An answer arrives for any attempt.
    pub fn end(&mut self, task: &str, attempt: AttemptNo, end: Result<Success, Failure>, usage: Usage) {
        self.turn(Input::Ended { task: id(task), attempt, end, usage });
    }

    /// The runner of a task is alive.
    pub fn heartbeat(&mut self, task: &str, note: &str) {
        self.turn(self.alive(task, note));
    }

    /// The process goes away and comes back: memory is gone, the journal is not.
    pub fn crash(&mut self) {
        self.life = life::replay(&self.journal).expect("a sound journal");
        self.effects.clear();
        self.turn(Input::Recover);
    }

    /// Facts are observed.
    pub fn observe(&mut self, facts: Value) {
        self.turn(Input::Observed { facts: outputs_of(facts) });
    }

    /// It is found out whether a lost attempt happened.
    pub fn verified(&mut self, task: &str, happened: Option<bool>) {
        let attempt = self.attempt(task);
        self.turn(Input::Verified {
            task: id(task),
            attempt,
            happened,
            outputs: Outputs::new(),
            usage: Usage::default(),
        });
    }

    /// A judge says the same about every check of a task.
    pub fn judge(&mut self, task: &str, holds: bool, because: &str) {
        self.judge_using(task, holds, because, Usage::default());
    }

    /// A judge says the same about every check of a task, and has used this much.
    pub fn judge_using(&mut self, task: &str, holds: bool, because: &str, usage: Usage) {
        let input = self.judgement(Some(id(task)), holds, because, usage);
        self.turn(input);
    }

    /// A judge says the same about everything in words that the plan's definition of done asks for.
    pub fn judge_plan(&mut self, holds: bool, because: &str) {
        let input = self.judgement(None, holds, because, Usage::default());
        self.turn(input);
    }

    /// What a judge says about the checks of a task, or of the plan, that were asked about last.
    pub fn judgement(&self, about: Option<TaskId>, holds: bool, because: &str, usage: Usage) -> Input {
        let asked = self.journal.iter().rev().find_map(|entry| match &entry.event {
            Event::JudgeAsked { task, checks, .. } if *task == about => Some((entry.seq, checks.clone())),
            _ => None,
        });
        let verdict = |check| Judgement { check, holds, because: because.to_owned(), another_way: false };
        let (asked, checks) = asked.expect("a judge was asked");
        let verdicts = checks.into_iter().map(verdict).collect();
        Input::Judged { task: about, by: "judge".to_owned(), verdicts, usage, attempt: None, asked: Some(asked) }
    }

    /// What comes of asking a model to judge what was asked about last, when none can.
    pub fn no_judgement(&self, about: Option<TaskId>, failed: u32, why: &str, usage: Usage) -> Input {
        let Input::Judged { task, asked, .. } = self.judgement(about, true, "", Usage::default()) else {
            unreachable!("it is a judgement");
        };
        let attempt = task.as_ref().and_then(|task| self.life().task_life(task.as_str())).map(|life| life.attempt);
        let (attempt, asked) = (attempt.unwrap_or_default(), asked.unwrap_or_default());
        Input::JudgeFailed { task, why: why.to_owned(), usage, attempt, asked, failed }
    }

    /// The undo under way ends.
    pub fn undo_ends(&mut self, task: &str, end: Result<&str, &str>) {
        let attempt = self.undo_attempt(task);
        let end = end.map(str::to_owned).map_err(str::to_owned);
        self.turn(Input::UndoEnded { task: id(task), attempt, end, usage: Usage::default() });
    }

    /// The number of the last undo of a task.
    pub fn undo_attempt(&self, task: &str) -> AttemptNo {
        let started = self.journal.iter().rev().find_map(|entry| match &entry.event {
            Event::UndoStarted { task: about, attempt } if about.as_str() == task => Some(*attempt),
            _ => None,
        });
        started.unwrap_or_else(|| panic!("no undo of {task} was started"))
    }

    // --- verbs of people ---

    /// A decision about one gate.
    pub fn decision(gate: &str, decision: Decision, rationale: &str) -> GateDecision {
        GateDecision { gate: id(gate), decision, rationale: rationale.to_owned(), evidence: Vec::new(), revision: None }
    }

    /// A review of one gate as an input, for refusals.
    pub fn review(by: &str, gate: &str, decision: Decision) -> Input {
        Input::Review { by: by.to_owned(), role: None, decisions: vec![Self::decision(gate, decision, "as tested")] }
    }

    /// Someone approves a gate.
    pub fn approve(&mut self, gate: &str, by: &str) {
        self.turn(Self::review(by, gate, Decision::Approve));
    }

    /// Someone rejects a gate.
    pub fn reject(&mut self, gate: &str, by: &str) {
        self.turn(Self::review(by, gate, Decision::Reject));
    }

    /// Someone sends work back.
    pub fn needs_changes(&mut self, gate: &str, by: &str) {
        self.turn(Self::review(by, gate, Decision::NeedsChanges));
    }

    /// Someone answers a question.
    pub fn answer(&mut self, task: &str, answer: &str) {
        self.turn(Input::Answer { task: id(task), by: "ana".to_owned(), answer: answer.to_owned() });
    }

    /// Someone did a manual task.
    pub fn done_by(&mut self, task: &str, by: &str) {
        self.turn(Input::Report { task: id(task), by: by.to_owned(), end: Ok(Success::default()) });
    }

    /// Someone says what to do about a failure.
    pub fn resolve(&mut self, task: &str, resolution: Resolution) {
        let (by, why) = ("ana".to_owned(), "as tested".to_owned());
        self.turn(Input::Resolve { task: id(task), by, resolution, why });
    }

    /// Someone pauses the plan.
    pub fn pause(&mut self) {
        self.turn(Input::Pause { by: "ana".to_owned(), why: String::new() });
    }

    /// Someone resumes the plan.
    pub fn resume(&mut self) {
        self.turn(Input::Resume { by: "ana".to_owned() });
    }

    /// Someone gives the plan up.
    pub fn cancel(&mut self, undo: TakeBack) {
        self.turn(Input::Cancel { by: "ana".to_owned(), why: String::new(), undo });
    }

    /// Someone has a task done again.
    pub fn retry(&mut self, task: &str) {
        self.turn(Input::Retry { task: id(task), by: "ana".to_owned(), why: String::new() });
    }

    /// Someone changes the outputs of a finished task.
    pub fn edit_output(&mut self, task: &str, outputs: Value) {
        let (by, why) = ("ana".to_owned(), String::new());
        self.turn(Input::EditOutput { task: id(task), by, why, outputs: outputs_of(outputs) });
    }

    /// Someone changes the plan to what `change` makes of it.
    pub fn revise(&mut self, change: impl FnOnce(&mut Plan)) {
        let input = self.revision(change);
        self.turn(input);
    }

    /// A change of the plan as an input, for refusals.
    pub fn revision(&self, change: impl FnOnce(&mut Plan)) -> Input {
        let mut plan = self.life.plan();
        change(&mut plan);
        Input::Revise {
            by: "ana".to_owned(),
            rationale: "as tested".to_owned(),
            base: self.life.revision(),
            change: Change::To(Box::new(plan)),
        }
    }

    // --- time ---

    /// Time passes; timers fire when they are due.
    pub fn advance(&mut self, duration: Duration) {
        let until = self.now + duration;
        while let Some(at) = self.life.next_wake().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.turn(Input::Tick);
        }
        self.now = until;
    }

    /// The clock is set, whatever it showed before.
    pub fn clock_shows(&mut self, time: &str) {
        self.now = Timestamp::parse(time).expect("a point in time");
    }

    // --- what can be seen ---

    /// The living state.
    pub fn life(&self) -> &Life {
        &self.life
    }

    /// The journal so far.
    pub fn journal(&self) -> &[Entry] {
        &self.journal
    }

    /// The plan's state.
    pub fn state(&self) -> PlanState {
        self.life.state()
    }

    /// The tasks as a table: id, state and what is to say about it.
    pub fn tasks(&self) -> String {
        let ids = self.life.task_ids();
        let width = ids.iter().map(|id| id.as_str().len()).max().unwrap_or(0);
        let line = |id: &TaskId| {
            let state = self.life.task_state(id.as_str()).expect("a task of the plan");
            format!("{id:<width$}  {state:<9}  {}", self.detail(id, state)).trim_end().to_owned()
        };
        ids.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn detail(&self, task: &TaskId, state: TaskState) -> String {
        let life = self.life.task_life(task.as_str()).expect("a task of the plan");
        match state {
            TaskState::Pending | TaskState::Blocked | TaskState::Waiting => {
                let waits = self.life.waits_for();
                let own = waits.iter().find(|wait| wait.task.as_ref() == Some(task));
                own.map_or_else(
                    || {
                        let held_by = self.life.held_by(task.as_str());
                        let names: Vec<&str> = held_by.iter().map(TaskId::as_str).collect();
                        if names.is_empty() { String::new() } else { format!("for {}", names.join(", ")) }
                    },
                    |wait| wait.what.clone(),
                )
            }
            TaskState::Running if life.attempt.0 > 1 => format!("attempt {}", life.attempt),
            TaskState::Completed => life.outcome.clone().unwrap_or_default(),
            TaskState::Failed => life.failure.as_ref().map(|failure| failure.message.clone()).unwrap_or_default(),
            TaskState::Skipped | TaskState::Abandoned => life.because.clone().unwrap_or_default(),
            TaskState::Ready | TaskState::Running => String::new(),
        }
    }

    /// Tasks whose attempts were started since this was last asked, in order.
    pub fn started(&mut self) -> Vec<String> {
        let started = self.starts().iter().map(|start| start.task.to_string()).collect();
        self.effects.clear();
        started
    }

    /// The attempts that were started since [`World::started`] was last asked.
    pub fn starts(&self) -> Vec<&StartAttempt> {
        fn start(effect: &Effect) -> Option<&StartAttempt> {
            match effect {
                Effect::StartAttempt(start) => Some(start),
                _ => None,
            }
        }
        self.effects.iter().filter_map(start).collect()
    }

    /// Everything that was asked of the engine since the last look, as short lines.
    pub fn wishes(&mut self) -> String {
        let lines: Vec<String> = self.effects.drain(..).map(|effect| describe(&json!(effect), "effect")).collect();
        lines.join("\n")
    }

    /// The events since an entry, as short lines.
    pub fn log_since(&self, seq: u64) -> String {
        let fresh = self.journal.iter().filter(|entry| entry.seq > seq);
        fresh.map(|entry| describe(&json!(entry.event), "event")).collect::<Vec<_>>().join("\n")
    }

    /// The length of the journal, for [`World::log_since`].
    pub fn length(&self) -> u64 {
        self.life.length()
    }

    /// How many events of the journal are like this.
    pub fn count(&self, like: impl Fn(&Event) -> bool) -> usize {
        self.journal.iter().filter(|entry| like(&entry.event)).count()
    }

    /// What the plan waits for from outside.
    pub fn waits_for(&self) -> Vec<String> {
        let line = |wait: gantry_core::life::WaitsFor| match wait.task {
            Some(task) => format!("{task}: {}", wait.what),
            None => format!("plan: {}", wait.what),
        };
        self.life.waits_for().into_iter().map(line).collect()
    }
}

/// One line for an event or effect: its name, its task, then what else it says.
fn describe(value: &Value, tag: &str) -> String {
    let fields: BTreeMap<&str, &Value> =
        value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value)).collect();
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut words: Vec<String> =
        [tag, "task", "from", "to"].iter().filter_map(|name| fields.get(name).copied().map(plain)).collect();
    let shown = ["event", "effect", "task", "from", "to", "key", "plan", "diff", "action", "seed", "id", "asked"];
    let rest = fields.iter().filter(|(name, value)| !shown.contains(name) && !value.is_null() && **value != &json!({}));
    words.extend(rest.map(|(name, value)| format!("{name}={}", plain(value))));
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

fn id(task: &str) -> TaskId {
    TaskId::new(task).expect("a task id")
}

fn outputs_of(value: Value) -> Outputs {
    serde_json::from_value(value).expect("an object of outputs")
}
