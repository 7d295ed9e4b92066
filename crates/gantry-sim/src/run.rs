//! Runs seeds and sums up what happened.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::checks;
use crate::violation::Violation;
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
        let outcome = world.run().and_then(|()| checks::check_whole(world.record(), world.life()));
        (world.into_record(), outcome.err())
    };
    let (record, violation) = guarded(run);
    SeedReport { seed, record, violation }
}

/// Runs something; when it panics, that is a violation.
pub fn guarded(run: impl FnOnce() -> (Record, Option<Violation>)) -> (Record, Option<Violation>) {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_default();
        (Record::default(), Some(Violation::new("nothing panics", text)))
    })
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
            match handle.join() {
                Ok(summary) => whole.merge(summary),
                // Seeds that were not run must not look like seeds that broke nothing.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    whole.violations.sort_by_key(|(seed, _)| *seed);
    whole
}
