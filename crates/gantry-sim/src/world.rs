//! Drives one plan through a memory journal, simulated time and an adversarial environment.
//!
//! Every turn goes the way of the engine: take in what has arrived, decide, append, apply, start
//! effects. A fault can strike between any two of these steps. What an effect did outside is written
//! to a ledger when it really happens, so that the checkers can compare what the plan believes with
//! what is true; what each turn took in is kept, so that the whole life can be decided again.
//!
//! The journal is a list in memory that can refuse and be overtaken, as a store can: the core needs no more of one, and stores
//! have a suite of their own.

mod calm; // in reading order: the last part of a run …
mod crash;
mod edits;
mod environment;
mod mix;
mod nested;
mod people; // … and who acts on the plan
mod steering;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::event::Entry;
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::input::Input;
use gantry_core::life::{self, Life, PlanState, Room};
use gantry_core::plan::Plan;
use gantry_core::time::Timestamp;
use serde_json::Value;

use crate::checks::turn as check_turn;
use crate::dice::Dice;
use crate::plans::{self, BEGINNING};
use crate::violation::{Outcome, Violation};

pub use mix::{Faults, Mix};

/// A busy engine finds no more than this many answers together.
const ARRIVALS_MAX: usize = 5;

/// How long an engine is busy before it looks at what has arrived.
const BUSY_MS: i64 = 10_000;

/// Something that really happened outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The task that it was done for.
    pub task: TaskId,
    /// The attempt that did it.
    pub attempt: AttemptNo,
    /// The idempotency key of the attempt.
    pub key: String,
    /// What was done: the action's key, or `undo`.
    pub what: &'static str,
}

/// Something on its way.
#[derive(Clone, Debug)]
enum Coming {
    /// An effect is about to happen outside; its answer follows.
    Act { deed: Deed, answer: Box<Input>, after_ms: i64 },
    /// An answer.
    Answer(Box<Input>),
}

/// Whether every input, event and effect is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Say nothing.
    Off,
    /// Print everything.
    On,
}

/// What one turn took in: with the plan and its seed, all that it takes to decide the turn again.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// When.
    pub now: Timestamp,
    /// For how many attempts there was room.
    pub room: Room,
    /// The inputs in their order, without those that were refused.
    pub inputs: Vec<Input>,
}

/// What a run was like.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The journal.
    pub journal: Vec<Entry>,
    /// What each turn that was appended took in.
    pub taken: Vec<Taken>,
    /// What really happened.
    pub ledger: Vec<Deed>,
    /// Turns taken.
    pub turns: u64,
    /// Faults by kind.
    pub faults: Faults,
    /// How often the process died.
    pub crashes: u64,
    /// Requests that were refused.
    pub refusals: u64,
    /// Drawings of plans that were not valid.
    pub discarded: u64,
}

/// One plan and everything around it.
pub struct World {
    dice: Dice,
    mix: Mix,
    trace: Trace,
    life: Life,
    /// The plan as the diffs of the journal make it.
    plan: Plan,
    record: Record,
    /// True time, which never goes back.
    true_ms: i64,
    /// What the clock on the wall adds to it.
    skew_ms: i64,
    coming: BTreeMap<(i64, u64), Coming>,
    next_no: u64,
    /// What is true outside.
    facts: BTreeMap<String, Value>,
    /// The process died and has not yet taken stock.
    must_recover: bool,
    calm: bool,
    /// How often each task was helped after the faults stopped.
    helped: BTreeMap<TaskId, u32>,
    /// Attempts whose runner has fallen silent.
    silent: BTreeSet<(TaskId, AttemptNo)>,
}

impl World {
    /// Draws a plan and begins its life.
    pub fn new(seed: u64, trace: Trace) -> Result<Self, Violation> {
        let mut drawn = plans::draw(&mut Dice::new(seed, 1));
        if seed % 12 == 4 {
            drawn = drawn.adopting(&mut Dice::new(seed, 4));
        }
        if seed % 3 == 1 {
            drawn = drawn.reading(&mut Dice::new(seed, 5));
        }
        if seed % 4 == 2 {
            drawn = drawn.computing(&mut Dice::new(seed, 6));
        }
        if trace == Trace::On {
            let text = serde_json::to_string_pretty(&drawn.plan).unwrap_or_default();
            println!("plan {text}");
        }
        let mut dice = Dice::new(seed, 2);
        let mix = Mix::draw(&mut dice);
        let mut world = Self::begin(drawn.plan, seed, dice, trace)?;
        world.mix = mix;
        world.record.discarded = u64::from(drawn.discarded);
        Ok(world)
    }

    /// Begins the life of this plan in a world without faults.
    pub fn with_plan(plan: Plan, seed: u64) -> Result<Self, Violation> {
        Self::begin(plan, seed, Dice::new(seed, 2), Trace::Off)
    }

    fn begin(plan: Plan, seed: u64, dice: Dice, trace: Trace) -> Result<Self, Violation> {
        let id = PlanId::mint(&plan.title, seed);
        let journal = life::create(plan, id, seed, BEGINNING)
            .map_err(|refusal| Violation::new("a valid plan begins", refusal.to_string()))?;
        let life = life::replay(&journal).map_err(|bad| Violation::new("a journal replays", bad.to_string()))?;
        Ok(Self {
            dice,
            mix: Mix::default(),
            trace,
            plan: life.plan(),
            life,
            record: Record { journal, ..Record::default() },
            true_ms: BEGINNING.as_ms(),
            skew_ms: 0,
            coming: BTreeMap::new(),
            next_no: 0,
            facts: BTreeMap::new(),
            must_recover: false,
            calm: false,
            helped: BTreeMap::new(),
            silent: BTreeSet::new(),
        })
    }

    /// Runs the plan: chaos first, then calm until it ends.
    pub fn run(&mut self) -> Outcome {
        if self.dice.percent(60) {
            let input = self.observation();
            self.turn(input)?;
        }
        self.turn(Input::Start)?;
        let tasks = self.plan.tasks.len() as u64;
        let steps = self.dice.between(15, 60 + 4 * tasks.min(40));
        for _ in 0..steps {
            self.step()?;
            // Little happens to a plan that is over, so few steps are spent on it.
            if self.has_ended() && self.dice.percent(15) {
                break;
            }
        }
        self.calm_down()
    }

    /// The life as it stands.
    pub fn life(&self) -> &Life {
        &self.life
    }

    /// What the run was like so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Gives the record away.
    pub fn into_record(self) -> Record {
        self.record
    }

    fn step(&mut self) -> Outcome {
        if self.must_recover {
            return self.recover();
        }
        let mix = self.mix;
        let mut roll = u32::try_from(self.dice.below(1_000)).unwrap_or(0);
        let mut falls = |share: u32| {
            let hit = roll < share;
            roll = roll.saturating_sub(share);
            hit
        };
        if falls(mix.people) {
            self.someone_acts()
        } else if falls(mix.steer) {
            self.someone_steers()
        } else if falls(mix.bogus) {
            self.bogus_answer()
        } else if falls(mix.kill) {
            self.fault("kill");
            self.crash(None)
        } else if falls(mix.jump) {
            self.jump();
            Ok(())
        } else {
            self.time_passes().map(|_| ())
        }
    }

    fn jump(&mut self) {
        let day = 24 * 3_600_000;
        let (name, by) = if self.dice.percent(50) { ("jump ahead", 90 * day) } else { ("jump back", -day) };
        self.fault(name);
        self.skew_ms += by;
    }

    /// Lets the next thing happen: what is on its way, or a timer. False when there is nothing.
    fn time_passes(&mut self) -> Outcome<bool> {
        let arrival = self.coming.first_key_value().map(|((at, _), _)| *at);
        let wake = self.life.next_wake().map(|at| (at.as_ms() - self.skew_ms).max(self.true_ms));
        match (arrival, wake) {
            (Some(at), wake) if wake.is_none_or(|wake| at <= wake) => {
                self.take_arrivals()?;
                Ok(true)
            }
            (_, Some(wake)) => {
                self.true_ms = self.true_ms.max(wake);
                self.tick()?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Takes in what has arrived: one thing, or several when the engine was busy meanwhile.
    fn take_arrivals(&mut self) -> Outcome {
        let several = self.dice.permille(self.mix.together);
        let most = if several { self.dice.index(ARRIVALS_MAX - 1) + 2 } else { 1 };
        let until = self.coming.first_key_value().map_or(0, |((at, _), _)| at.saturating_add(BUSY_MS));
        let mut inputs = Vec::new();
        while inputs.len() < most
            && let Some(next) = self.coming.first_entry().filter(|next| next.key().0 <= until)
        {
            let ((at, _), coming) = next.remove_entry();
            self.true_ms = self.true_ms.max(at);
            inputs.extend(self.arrive(coming));
            if !several {
                break;
            }
        }
        if several {
            self.add_others(&mut inputs);
        }
        if inputs.is_empty() { Ok(()) } else { self.turn_of(&inputs) }
    }

    /// The clock and people do not wait until the answers are dealt with.
    fn add_others(&mut self, inputs: &mut Vec<Input>) {
        if self.dice.percent(40) {
            inputs.insert(self.dice.index(inputs.len() + 1), Input::Tick);
        }
        if !self.calm && self.dice.percent(30) {
            let input = if self.dice.percent(50) { self.someones_answer() } else { Some(self.steering()) };
            if let Some(input) = input {
                self.fault("someone among others");
                inputs.insert(self.dice.index(inputs.len() + 1), input);
            }
        }
    }

    /// A timer is due, or there is more to do.
    fn tick(&mut self) -> Outcome {
        let before = self.record.journal.len();
        let crashes = self.record.crashes;
        let room = self.draw_room();
        self.turn_in(room, &[Input::Tick])?;
        let idle = self.record.journal.len() == before && self.record.crashes == crashes;
        check_turn::woken(&self.life, self.wall(), idle && room != Room::NONE)
    }

    fn wall(&self) -> Timestamp {
        Timestamp::from_ms(self.true_ms + self.skew_ms)
    }

    fn send(&mut self, after_ms: i64, coming: Coming) {
        self.next_no += 1;
        self.coming.insert((self.true_ms + after_ms, self.next_no), coming);
    }

    fn fault(&mut self, kind: &'static str) {
        self.say(|| format!("fault: {kind}"));
        *self.record.faults.entry(kind).or_default() += 1;
    }

    fn say(&self, text: impl FnOnce() -> String) {
        if self.trace == Trace::On {
            println!("{:>12} {}", self.true_ms - BEGINNING.as_ms(), text());
        }
    }

    fn has_ended(&self) -> bool {
        matches!(self.life.state(), PlanState::Completed | PlanState::Failed | PlanState::Abandoned)
    }
}
