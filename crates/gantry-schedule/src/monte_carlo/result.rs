//! What all futures together say.

use rust_decimal::Decimal;
use serde::Serialize;

use super::LANES;
use super::run::Block;
use super::setup::Simulation;
use super::tally::Tally;
use crate::frame::{Moment, Quantity};
use crate::network::Role;
use crate::project::{places, to_coins};
use crate::schedule::{Computed, Options};

/// Bars of the histogram.
const BINS: i64 = 40;

/// Drivers worth telling.
const DRIVERS_MAX: usize = 20;

/// What many futures of a project say about its finish and its cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonteCarlo {
    /// How many futures were drawn.
    pub draws: u32,
    /// From which seed.
    pub seed: u64,
    /// When it finishes.
    pub finish: Percentiles<Moment>,
    /// What it costs.
    pub cost: Percentiles<Decimal>,
    /// In how many futures it finishes when.
    pub histogram: Vec<Bin>,
    /// For each percent, when it is finished and what it has cost with that probability.
    pub s_curve: Vec<SCurvePoint>,
    /// What moves the finish most, the strongest first.
    pub drivers: Vec<Driver>,
    /// The share of futures that keep the project's deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_probability: Option<f64>,
    /// The share of futures that keep the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_probability: Option<f64>,
}

/// Values that are not exceeded with some probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is the percentile of its name")]
pub struct Percentiles<T> {
    pub mean: T,
    pub p5: T,
    pub p10: T,
    pub p20: T,
    pub p30: T,
    pub p40: T,
    pub p50: T,
    pub p60: T,
    pub p70: T,
    pub p80: T,
    pub p90: T,
    pub p95: T,
}

/// One bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// From when.
    pub from: Moment,
    /// Until before when.
    pub to: Moment,
    /// How many futures finish in between.
    pub count: u32,
}

/// One point of an S-curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SCurvePoint {
    /// The probability in percent.
    pub percent: u8,
    /// Finished by then.
    pub finish: Moment,
    /// Costs at most this.
    pub cost: Decimal,
}

/// Something that moves the finish.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Driver {
    /// The task, class or risk.
    pub id: String,
    /// Which of them.
    pub kind: DriverKind,
    /// When the project finishes on average if this goes well: in its best tenth, or when the risk does not happen.
    pub low_finish: Moment,
    /// When it finishes on average if this goes badly: in its worst tenth, or when the risk happens.
    pub high_finish: Moment,
    /// The work between the two.
    pub swing: Quantity,
    /// How much more the project costs on average if this goes badly than if it goes well.
    pub cost_swing: Decimal,
    /// How closely the finish follows it, from -1 to 1.
    pub correlation: f64,
}

/// Sorts of driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DriverKind {
    /// A task with a doubtful estimate.
    Task,
    /// A class of past work.
    Class,
    /// A risk.
    Risk,
}

/// The result, with what belongs into other parts of the schedule.
pub(crate) struct Outcome {
    pub monte_carlo: MonteCarlo,
    /// For each node, the share of futures in which it is critical.
    pub criticality: Vec<f64>,
    /// For each deadline, the share of futures that keep it.
    pub met: Vec<f64>,
    /// The cost at the confidence asked for.
    pub cost_at_confidence: Decimal,
    /// The share of futures in which some work is so late that nobody is left for it.
    pub alone: f64,
}

pub(super) fn outcome(
    computed: &Computed<'_>,
    options: &Options,
    simulation: &Simulation<'_>,
    blocks: &[Block],
) -> Outcome {
    let draws = options.draws as usize;
    let project = computed.model.project;
    let coins = places(&project.currency);
    // The last block may have more futures than were asked for.
    let wanted = |block: usize| if (block + 1) * LANES <= draws { u64::MAX } else { (1 << (draws % LANES)) - 1 };
    let mut finishes: Vec<i64> = blocks.iter().flat_map(|block| block.finishes).take(draws).collect();
    let mut costs: Vec<f64> = blocks.iter().flat_map(|block| block.costs).take(draws).collect();
    let mean_finish = computed.end + mean(finishes.iter().map(|finish| to_f64(finish - computed.end)));
    let money = |value: f64| to_coins(Decimal::try_from(value).unwrap_or_default(), coins);
    let budget = project.budget.as_ref().map(|budget| crate::cost::converted(project, budget));
    let in_budget = budget.map(|budget| share(costs.iter().filter(|cost| money(**cost) <= budget).count(), draws));
    let mean_cost = costs.iter().sum::<f64>() / to_f64(i64::from(options.draws)).max(1.0);
    finishes.sort_unstable();
    costs.sort_by(f64::total_cmp);
    let moment = |second: i64| computed.model.frame.moment(second);
    let part = |counts: &dyn Fn(&Block) -> u64| {
        let counted = blocks.iter().enumerate().map(|(at, block)| (counts(block) & wanted(at)).count_ones() as usize);
        share(counted.sum(), draws)
    };
    let met: Vec<f64> = (0..simulation.deadlines.len()).map(|at| part(&|block| block.met[at])).collect();
    let monte_carlo = MonteCarlo {
        draws: options.draws,
        seed: options.seed,
        finish: percentiles(moment(mean_finish), |percent| moment(finishes[rank(draws, percent)])),
        cost: percentiles(money(mean_cost), |percent| money(costs[rank(draws, percent)])),
        histogram: histogram(computed, &finishes),
        s_curve: (1..=99)
            .map(|percent| {
                let at = rank(draws, percent);
                SCurvePoint { percent, finish: moment(finishes[at]), cost: money(costs[at]) }
            })
            .collect(),
        drivers: drivers(computed, simulation, blocks),
        deadline_probability: project.deadline.and_then(|_| met.first().copied()),
        budget_probability: in_budget,
    };
    Outcome {
        monte_carlo,
        criticality: (0..computed.network.len()).map(|node| part(&|block| block.critical[node])).collect(),
        met,
        alone: part(&|block| block.alone),
        cost_at_confidence: money(costs[rank(draws, options.confidence.clamp(1, 99))]),
    }
}

/// The place of a percentile among sorted values: the first that is not exceeded in so many of a hundred.
fn rank(count: usize, percent: u8) -> usize {
    (count * usize::from(percent)).div_ceil(100).clamp(1, count.max(1)) - 1
}

fn percentiles<T>(mean: T, at: impl Fn(u8) -> T) -> Percentiles<T> {
    Percentiles {
        mean,
        p5: at(5),
        p10: at(10),
        p20: at(20),
        p30: at(30),
        p40: at(40),
        p50: at(50),
        p60: at(60),
        p70: at(70),
        p80: at(80),
        p90: at(90),
        p95: at(95),
    }
}

fn histogram(computed: &Computed<'_>, sorted: &[i64]) -> Vec<Bin> {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let width = ((last - first) / BINS + 1).max(1);
    let moment = |second: i64| computed.model.frame.moment(second);
    let bins = (last - first) / width + 1;
    let bin = |bin: i64| {
        let (from, to) = (first + bin * width, first + (bin + 1) * width);
        let count = sorted.partition_point(|finish| *finish < to) - sorted.partition_point(|finish| *finish < from);
        Bin { from: moment(from), to: moment(to), count: u32::try_from(count).unwrap_or(u32::MAX) }
    };
    (0..bins).map(bin).collect()
}

fn drivers(computed: &Computed<'_>, simulation: &Simulation<'_>, blocks: &[Block]) -> Vec<Driver> {
    let model = &computed.model;
    let nodes = simulation.works.len();
    let count = nodes + simulation.classes.len() + simulation.risks.len();
    let mut tallies = vec![Tally::default(); count];
    for block in blocks {
        for (tally, more) in tallies.iter_mut().zip(&block.tallies) {
            tally.join(more);
        }
    }
    let named = |at: usize| {
        if let Some(node) = computed.network.nodes.get(at) {
            (node.role == Role::Work).then(|| (DriverKind::Task, model.tasks[node.task].id.clone()))
        } else if let Some(id) = simulation.names.classes.get(at - nodes) {
            Some((DriverKind::Class, id.clone()))
        } else {
            simulation.names.risks.get(at - nodes - simulation.classes.len()).map(|id| (DriverKind::Risk, id.clone()))
        }
    };
    let driver = |(at, tally): (usize, &Tally)| {
        let ((low_late, low_cost), (high_late, high_cost)) = (tally.low.means()?, tally.high.means()?);
        let (kind, id) = named(at)?;
        let second = |hours: f64| computed.end + mean(std::iter::once(hours * 3_600.0));
        let (low, high) = (second(low_late), second(high_late));
        let cost = Decimal::try_from(high_cost - low_cost).unwrap_or_default();
        Some(Driver {
            id,
            kind,
            low_finish: model.frame.moment(low),
            high_finish: model.frame.moment(high),
            swing: model.frame.quantity(model.line().work_between(low, high)),
            cost_swing: to_coins(cost, places(&model.project.currency)),
            correlation: (tally.correlation() * 1_000.0).round() / 1_000.0,
        })
    };
    let mut drivers: Vec<Driver> = tallies.iter().enumerate().filter_map(driver).collect();
    drivers.sort_by(|a, b| {
        let strength = |driver: &Driver| driver.swing.in_thousandths().abs();
        strength(b).cmp(&strength(a)).then_with(|| (a.kind, &a.id).cmp(&(b.kind, &b.id)))
    });
    drivers.truncate(DRIVERS_MAX);
    drivers
}

/// The mean of small numbers, in whole seconds.
#[expect(clippy::cast_possible_truncation, reason = "seconds off the plan are below 2^52")]
fn mean(values: impl Iterator<Item = f64>) -> i64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (sum / f64::max(count, 1.0)).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "seconds off the plan are below 2^52")]
fn to_f64(value: i64) -> f64 {
    value as f64
}

/// A share with four places.
#[expect(clippy::cast_precision_loss, reason = "there are fewer futures than 2^52")]
fn share(count: usize, of: usize) -> f64 {
    (count as f64 / of.max(1) as f64 * 10_000.0).round() / 10_000.0
}
