//! The search as callers see it: an effort goes in, the best schedule found comes out.

use super::bound;
use super::dense::Dense;
use super::evolve::Search;
use super::fault::Fault;
use super::instance::Instance;
use super::judge::Judge;
use super::network::Prepared;
use super::record::Record;
use super::serial::Maker;
use super::sparse::Sparse;

/// How much to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many schedules to make at most; each pass over all tasks is one. Without a limit only `stop` ends the search.
    pub schedules: Option<u64>,
    /// After how many schedules without a better one to give up.
    pub patience: Option<u64>,
    /// The seed of all chance.
    pub seed: u64,
}

/// Up to this horizon every period has a word of its own; beyond it only the periods where something changes.
const DENSE_MAX: i32 = 4_096;

/// The best schedule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// When each task starts.
    pub starts: Vec<u32>,
    /// When the last task finishes.
    pub makespan: u32,
    /// No schedule is shorter than this.
    pub lower_bound: u32,
    /// How many schedules were made.
    pub schedules: u64,
    /// True when no schedule is shorter than this one.
    pub proven: bool,
}

/// Makes the one schedule that places tasks in this order, each as early as it fits; the order must respect the links.
/// When each task starts; none when one of them finds no room before capacity ends for good.
pub(crate) fn placed(instance: &Instance, order: &[usize]) -> Option<Vec<u32>> {
    let prepared = Prepared::new(instance).ok()?;
    let mut places = vec![0_u32; order.len()];
    for (place, &task) in (0..).zip(&prepared.written) {
        places[task] = place;
    }
    let order: Vec<u32> = order.iter().map(|&task| places[task]).collect();
    let mut starts = vec![0; order.len()];
    Maker::<Sparse>::new(prepared.forward, prepared.horizon).serial(&order, &mut starts)?;
    Some(places.iter().map(|&place| starts[place as usize].unsigned_abs()).collect())
}

/// Looks for a short schedule until it is proven shortest, the effort is spent or `stop` says so.
///
/// The result depends on the instance and the effort alone, unless `stop` ends the search. There is always a schedule
/// in the result, however early `stop` asks to stop.
pub fn solve(instance: &Instance, effort: &Effort, stop: &dyn Fn() -> bool) -> Result<Best, Fault> {
    let prepared = Prepared::new(instance)?;
    bound::fits_alone(&prepared)?;
    let lower_bound = bound::lower(instance, &prepared)?;
    let record = Record::new(*effort, lower_bound.cast_signed(), stop);
    let record = if prepared.horizon <= DENSE_MAX {
        Search::<Dense>::new(&prepared, record, effort.seed).run()
    } else {
        Search::<Sparse>::new(&prepared, record, effort.seed).run()
    };
    let Some((end, placed)) = record.best else { return Err(Fault::NotFound { schedules: record.made }) };
    let mut starts = vec![0; placed.len()];
    for (&task, start) in prepared.written.iter().zip(placed) {
        starts[task] = start.unsigned_abs();
    }
    let makespan = end.unsigned_abs();
    Ok(Best { starts, makespan, lower_bound, schedules: record.made, proven: makespan == lower_bound })
}

/// Looks for a good order until the judge knows no better, the effort is spent or `stop` says so, and returns how many
/// schedules were made. The judge keeps what it likes best.
///
/// Which orders are tried depends on the instance and the seed alone: with more effort there are more of them, after the
/// same ones.
pub(crate) fn explore(
    instance: &Instance,
    effort: &Effort,
    stop: &dyn Fn() -> bool,
    judge: &mut dyn Judge,
) -> Result<u64, Fault> {
    let prepared = Prepared::new(instance)?;
    let record = Record::new(*effort, i32::MIN, stop);
    let record = if prepared.horizon <= DENSE_MAX {
        Search::<Dense>::new(&prepared, record, effort.seed).judged_by(judge).run()
    } else {
        Search::<Sparse>::new(&prepared, record, effort.seed).judged_by(judge).run()
    };
    Ok(record.made)
}
