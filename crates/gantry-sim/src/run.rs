//! Runs seeds and sums up what happened.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{self, BadJournal, Life};

use crate::checks;
use crate::violation::{Outcome, Violation};
use crate::world::{Faults, Record, Trace, World};

/// What one seed gave.
#[derive(Clone, Debug)]
pub struct SeedReport {
    /// The seed.
    pub seed: u64,
    /// What the run was like.
    pub record: Record,
    /// The rule that was broken, if one was.
    pub violation: Option<Violation>,
}

/// Runs one seed; a panic counts as a violation.
pub fn run_seed(seed: u64, trace: Trace) -> SeedReport {
    let run = || -> (Record, Option<Violation>) {
        let mut world = match World::new(seed, trace) {
            Ok(world) => world,
            Err(violation) => return (Record::default(), Some(violation)),
        };
        let outcome = world.run().and_then(|()| check_end(&world));
        (world.into_record(), outcome.err())
    };
    let (record, violation) = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_default();
        (Record::default(), Some(Violation::new("nothing panics", text)))
    });
    SeedReport { seed, record, violation }
}

/// What must hold of a whole run.
fn check_end(world: &World) -> Outcome {
    let journal = &world.record().journal;
    let live = world.life();
    same(live, &replayed(journal)?, "from the journal")?;
    let lines: Result<Vec<String>, _> = journal.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| Violation::new("entries can be written", error.to_string()))?;
    let read: Result<Vec<Entry>, _> = lines.iter().map(|line| serde_json::from_str(line)).collect();
    let read = read.map_err(|error| Violation::new("entries can be read back", error.to_string()))?;
    if let Some((wrote, found)) = journal.iter().zip(&read).find(|(wrote, found)| wrote != found) {
        return Err(Violation::new("entries can be read back", format!("{wrote:?} became {found:?}")));
    }
    same(live, &replayed(&read)?, "from the journal as text")?;
    let text = written(live)?;
    let back: Life = serde_json::from_str(&text)
        .map_err(|error| Violation::new("a life can be read back", format!("{error} in {text}")))?;
    same(live, &back, "from its own text")?;
    check_fork(journal)?;
    checks::check(journal, &world.record().ledger)
}

/// Another life can begin at any point of this one.
fn check_fork(journal: &[Entry]) -> Outcome {
    let at = journal.len() as u64 / 2 + 1;
    let id = PlanId::mint("another life", 1);
    let now = journal.last().map(|entry| entry.at).unwrap_or_default();
    let broken = |bad: BadJournal| Violation::new("a life can be forked anywhere", bad.to_string());
    let mut forked = life::fork(journal, at, id.clone(), now).map_err(broken)?;
    let mut life = life::replay(&forked).map_err(broken)?;
    if let Ok(verdict) = life.decide(&Input::Recover, now) {
        life.apply(&verdict.events);
        forked.extend(verdict.events);
    }
    if *life.id() != id {
        return Err(Violation::new("a life can be forked anywhere", "it has the old id"));
    }
    same(&life, &replayed(&forked)?, "of a fork")
}

fn replayed(journal: &[Entry]) -> Outcome<Life> {
    life::replay(journal).map_err(|bad| Violation::new("a journal replays", bad.to_string()))
}

fn written(life: &Life) -> Outcome<String> {
    serde_json::to_string(life).map_err(|error| Violation::new("a life can be written", error.to_string()))
}

fn same(live: &Life, other: &Life, how: &str) -> Outcome {
    if live == other && written(live)? == written(other)? {
        return Ok(());
    }
    Err(Violation::new("replay equals memory", how.to_owned()))
}

/// What many seeds gave.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Seeds that were run.
    pub seeds: u64,
    /// Events of all journals.
    pub transitions: u64,
    /// Turns taken.
    pub turns: u64,
    /// Times that a process died.
    pub crashes: u64,
    /// Requests that were refused.
    pub refusals: u64,
    /// Effects that really happened.
    pub deeds: u64,
    /// Drawings of plans that were not valid.
    pub discarded: u64,
    /// Faults by kind.
    pub faults: Faults,
    /// Seeds that broke a rule.
    pub violations: Vec<(u64, Violation)>,
}

impl Summary {
    /// Takes one seed in.
    pub fn add(&mut self, report: SeedReport) {
        self.seeds += 1;
        self.transitions += report.record.journal.len() as u64;
        self.turns += report.record.turns;
        self.crashes += report.record.crashes;
        self.refusals += report.record.refusals;
        self.deeds += report.record.ledger.len() as u64;
        self.discarded += report.record.discarded;
        for (kind, count) in report.record.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        self.violations.extend(report.violation.map(|violation| (report.seed, violation)));
    }

    /// Takes another summary in.
    pub fn merge(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.transitions += other.transitions;
        self.turns += other.turns;
        self.crashes += other.crashes;
        self.refusals += other.refusals;
        self.deeds += other.deeds;
        self.discarded += other.discarded;
        for (kind, count) in other.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        self.violations.extend(other.violations);
    }
}

/// Runs a range of seeds on several threads.
pub fn run_range(start: u64, seeds: u64, jobs: u64) -> Summary {
    let jobs = jobs.max(1);
    let worker = |job: u64| {
        let mut summary = Summary::default();
        for seed in (start..start.saturating_add(seeds))
            .skip(usize::try_from(job).unwrap_or(0))
            .step_by(usize::try_from(jobs).unwrap_or(1))
        {
            summary.add(run_seed(seed, Trace::Off));
        }
        summary
    };
    let mut whole = Summary::default();
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..jobs).map(|job| scope.spawn(move || worker(job))).collect();
        for handle in handles {
            if let Ok(summary) = handle.join() {
                whole.merge(summary);
            }
        }
    });
    whole.violations.sort_by_key(|(seed, _)| *seed);
    whole
}
