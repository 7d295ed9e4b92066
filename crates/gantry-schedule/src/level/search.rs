//! Lets the optimiser look for a good schedule, on whole periods.
//!
//! The optimiser knows periods and amounts, and nothing of calendars, zones or who has which skill. So it gets a
//! simplified picture: work of the project's calendar as its axis, and for people yet to be found one pool of all who
//! fit. Where the picture is exact, its schedules are those of the project, and its lower bound is one for the project
//! too. Where it is not, the picture only breeds orders, and each of them is placed and judged as it really is.

use std::collections::BTreeMap;

use super::serial::{Ground, place_all};
use super::{Best, Levelling, Search};
use crate::calendar::Timeline;
use crate::model::{ALWAYS, Model};
use crate::network::{Node, Role, Tie, Times};
use crate::project::{LinkKind, Who};
use crate::rcpsp::{self, Capacity, Effort, Instance, Judge, Judged, Link, Task, explore, placed, solve};

/// More periods than this in all are made coarser.
const PERIODS_MAX: i64 = 1 << 26;

/// No real schedule ends in a later period than this, as far as the optimiser is told.
const LATEST: i32 = 1 << 28;

/// What the optimiser did.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// How many schedules it made.
    pub schedules: u64,
    /// No schedule takes less work than this, from the project's start.
    pub lower_bound: i64,
}

/// The best schedule of an exact picture.
pub(super) struct Exact {
    /// For each node a number; lower goes first.
    pub order: Vec<i64>,
    /// For each node the second at which it starts.
    pub starts: Vec<i64>,
}

/// The project as the optimiser sees it.
pub(super) struct Picture {
    instance: Instance,
    /// Seconds of work in one period.
    period: i64,
    /// Thousandths of a resource in one unit.
    unit: u32,
    /// Whether nothing is simplified.
    pub exact: bool,
}

impl Picture {
    pub fn new(model: &Model<'_>) -> Self {
        let line = model.line();
        let since_start = |at: i64| line.work_between(0, at.max(0));
        let nodes = &model.network.nodes;
        let mut lengths: Vec<i64> = nodes.iter().flat_map(|node| [node.duration, since_start(node.earliest)]).collect();
        lengths.extend(model.network.ties().iter().map(|tie| in_work(model, tie).abs()));
        let total: i64 = lengths.iter().sum();
        let common = lengths.iter().copied().fold(0, gcd).max(1);
        let period = common.max(total / PERIODS_MAX + 1);
        let exact = period == common && is_exact(model);
        let mut picture = Self { instance: Instance::default(), period, unit: common_unit(model), exact };
        let mut pools: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for supply in &model.resources {
            let step = |&(from, amount): &(i64, u32)| (picture.periods(since_start(from)), amount / picture.unit);
            let steps = supply.capacity.iter().map(step);
            picture.instance.add_resource(Capacity::changing(steps.collect::<Vec<_>>()));
        }
        for node in nodes {
            let mut task =
                Task::new(picture.periods(node.duration)).released(picture.periods(since_start(node.earliest)));
            for (pool, amount) in picture.demands(model, node, &mut pools) {
                task = task.with(pool, amount);
            }
            picture.instance.add_task(task);
        }
        for tie in model.network.ties() {
            let lag = picture.start_to_start(model, tie);
            picture.instance.links.push(Link { before: tie.from, after: tie.to, lag });
        }
        picture
    }

    /// What a node occupies: named resources, and pools of all who could be found. What nobody can give is left out.
    fn demands(
        &mut self,
        model: &Model<'_>,
        node: &Node,
        pools: &mut BTreeMap<Vec<usize>, usize>,
    ) -> Vec<(usize, u32)> {
        let mut demands: BTreeMap<usize, u32> = BTreeMap::new();
        if node.role == Role::Work && node.finished.is_none() {
            for need in &model.tasks[node.task].needs {
                let (resource, amount) = match &need.who {
                    Who::Named { .. } => (model.named(need), need.amount.0),
                    Who::Fitting { role, skills, count } => {
                        let fitting = super::fit::all_fitting(model, role.as_deref(), skills);
                        let most =
                            |one: &usize| model.resources[*one].capacity.iter().map(|step| step.1).max().unwrap_or(0);
                        let capacity = fitting.iter().map(most).fold(0, u32::saturating_add);
                        let capacity = Capacity::constant(capacity / self.unit);
                        let instance = &mut self.instance;
                        let pool = pools.entry(fitting).or_insert_with(|| instance.add_resource(capacity));
                        (Some(*pool), need.amount.0.saturating_mul(*count))
                    }
                };
                if let Some(resource) = resource {
                    let sum = demands.entry(resource).or_default();
                    *sum = sum.saturating_add(amount / self.unit);
                }
            }
        }
        let enough = |(resource, amount): &(usize, u32)| self.instance.capacities[*resource].last() >= *amount;
        demands.into_iter().filter(enough).collect()
    }

    fn periods(&self, seconds: i64) -> u32 {
        u32::try_from((seconds + self.period - 1) / self.period).unwrap_or(0)
    }

    fn start_to_start(&self, model: &Model<'_>, tie: &Tie) -> i32 {
        let length = |node: usize| i64::from(self.instance.tasks[node].duration);
        let lag = in_work(model, tie);
        let lag = lag.signum() * i64::from(self.periods(lag.abs()));
        let lag = match tie.kind {
            LinkKind::FinishToStart => lag + length(tie.from),
            LinkKind::StartToStart => lag,
            LinkKind::FinishToFinish => lag + length(tie.from) - length(tie.to),
            LinkKind::StartToFinish => lag - length(tie.to),
        };
        i32::try_from(lag).unwrap_or(i32::MAX)
    }

    /// When nodes start. A point lies where what it waits for ends, and not where the next work begins.
    fn seconds(&self, model: &Model<'_>, starts: &[u32]) -> Vec<i64> {
        let line = model.line();
        let second = |(&start, task): (&u32, &Task)| match task.duration {
            0 => self.finish(model, start),
            _ => line.start_at(line.work_before(0) + i64::from(start) * self.period),
        };
        starts.iter().zip(&self.instance.tasks).map(second).collect()
    }

    fn finish(&self, model: &Model<'_>, end: u32) -> i64 {
        let line = model.line();
        line.finish_at(line.work_before(0) + i64::from(end) * self.period)
    }

    /// Looks for the shortest schedule of an exact picture; none when it has none.
    pub fn solve(&self, model: &Model<'_>, effort: &Effort, stop: &dyn Fn() -> bool) -> Option<(Found, Exact)> {
        let best: rcpsp::Best = solve(&self.instance, effort, stop).ok()?;
        let lower_bound = i64::from(best.lower_bound) * self.period;
        let order = best.starts.iter().map(|&start| i64::from(start)).collect();
        let starts = self.seconds(model, &best.starts);
        Some((Found { schedules: best.schedules, lower_bound }, Exact { order, starts }))
    }

    /// The seconds at which nodes start when they are placed in each of these orders, for the order that keeps hard
    /// deadlines best and ends first. Both are those of the picture.
    pub fn quickest(&self, model: &Model<'_>, orders: &[Vec<usize>]) -> Option<(usize, Vec<i64>)> {
        let tasks = &self.instance.tasks;
        let value = |starts: &[u32]| {
            let end = |at: usize| starts[at] + tasks[at].duration;
            let late = super::lateness(model, |at| self.finish(model, end(at)));
            (late, (0..starts.len()).map(end).max())
        };
        let each = orders.iter().enumerate().filter_map(|(at, order)| Some((at, placed(&self.instance, order)?)));
        let (at, starts) = each.min_by_key(|(at, starts)| (value(starts), *at))?;
        Some((at, self.seconds(model, &starts)))
    }

    /// Looks for an order that is placed best as people really work; what is best is kept in `best`.
    pub fn explore(
        &self,
        model: &mut Model<'_>,
        ground: &Ground,
        late: &[Times],
        search: &Search<'_>,
        best: &mut Best,
    ) -> Option<Found> {
        let bound = super::bound::earliest_end(model);
        let keys = vec![0; late.len()];
        let mut court = Court { picture: self, model, ground, late, bound, best, keys };
        let schedules = explore(&self.instance, &search.effort, search.stop, &mut court).ok()?;
        Some(Found { schedules, lower_bound: model.line().work_between(0, bound) })
    }
}

/// Judges orders by placing them as people really work.
struct Court<'c, 'm> {
    picture: &'c Picture,
    model: &'c mut Model<'m>,
    ground: &'c Ground,
    late: &'c [Times],
    /// Nothing ends before this second.
    bound: i64,
    best: &'c mut Best,
    keys: Vec<i64>,
}

impl Judge for Court<'_, '_> {
    #[expect(clippy::cast_precision_loss, reason = "periods after a deadline are small numbers")]
    fn judge(&mut self, order: &[usize], finishes: &mut [i32]) -> Judged {
        for (place, &node) in (0..).zip(order) {
            self.keys[node] = place;
        }
        let placement = place_all(self.model, Levelling::Slip, self.ground, &self.keys, None, self.late);
        let line = self.model.line();
        let period = |second: i64| {
            let periods = (line.work_between(0, second) + self.picture.period - 1).div_euclid(self.picture.period);
            i32::try_from(periods).unwrap_or(LATEST).clamp(0, LATEST)
        };
        for (finish, times) in finishes.iter_mut().zip(&placement.times) {
            *finish = period(times.finish);
        }
        let end = finishes.iter().copied().max().unwrap_or(0);
        let late = super::lateness(self.model, |at| placement.times[at].finish);
        let worse = late as f64 / self.picture.period as f64;
        self.best.offer(placement, self.model);
        Judged { end, worse, perfect: self.best.is_in_time() && self.best.finish() <= self.bound }
    }
}

/// A lag in seconds of work: of elapsed time the usual share is work.
fn in_work(model: &Model<'_>, tie: &Tie) -> i64 {
    if tie.line != ALWAYS || *model.line() == Timeline::Always {
        return tie.lag;
    }
    let lag = i128::from(tie.lag) * i128::from(model.frame.scale.week) / (7 * 86_400);
    i64::try_from(lag).unwrap_or(0)
}

/// Whether nothing is simplified: one calendar, named resources that are always there, nothing in progress.
fn is_exact(model: &Model<'_>) -> bool {
    let nodes = model.network.nodes.iter().all(|node| {
        let same = node.line == 0 || model.lines.all[node.line] == *model.line();
        (same || node.duration == 0) && node.started.is_none()
    });
    let named = model.tasks.iter().flat_map(|task| &task.needs).all(|need| model.named(need).is_some());
    let same = |line: usize| line == 0 || model.lines.all[line] == *model.line();
    let lags = model.network.ties().iter().all(|tie| tie.lag == 0 || same(tie.line));
    nodes && named && lags
}

/// The largest amount of which all amounts are multiples.
fn common_unit(model: &Model<'_>) -> u32 {
    let needs = model.tasks.iter().flat_map(|task| &task.needs).map(|need| need.amount.0);
    let capacities = model.resources.iter().flat_map(|supply| &supply.capacity).map(|step| step.1);
    let common = needs.chain(capacities).fold(0, |common, amount| gcd(common, i64::from(amount)));
    u32::try_from(common).unwrap_or(1).max(1)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
