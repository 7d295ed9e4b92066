//! The single lines that everything else is a sum of.

use jiff::ToSpan;
use rust_decimal::Decimal;

use crate::calendar::Timeline;
use crate::chance;
use crate::frame::Edge;
use crate::level::Share;
use crate::network::occupied_from;
use crate::project::{CostKind, Due, Money, Project, Recurring, Shape, ThreePoint, Unit, places, to_coins};
use crate::schedule::{Basis, Computed};

/// A century of dues every hour; shorter intervals are refused when a project is checked.
const DUES_MAX: usize = 100 * 366 * 24;

/// One amount for one thing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub kind: CostKind,
    /// The task, by place; none is the whole project.
    pub task: Option<usize>,
    /// Who is paid, by place.
    pub resource: Option<usize>,
    pub amount: Decimal,
    /// From when to when it falls due.
    pub from: i64,
    pub to: i64,
    /// The timeline along which it falls due.
    pub timeline: usize,
}

impl Line {
    /// What of it has fallen due before a second, not rounded.
    pub(crate) fn due_before(&self, lines: &[Timeline], second: i64) -> Decimal {
        if second <= self.from {
            return Decimal::ZERO;
        }
        let work = |to: i64| Decimal::from(lines[self.timeline].work_between(self.from, to));
        match work(self.to) {
            _ if self.to <= second => self.amount,
            whole if whole.is_zero() => Decimal::ZERO,
            whole => self.amount * work(second) / whole,
        }
    }
}

/// An amount in the project's currency, not rounded.
pub(crate) fn converted(project: &Project, money: &Money) -> Decimal {
    let rate = money.currency.as_ref().filter(|currency| **currency != project.currency);
    rate.and_then(|currency| project.exchange.get(currency)).map_or(money.amount, |rate| money.amount * rate)
}

/// The amount a schedule takes for one amount or three.
pub(crate) fn planned(project: &Project, amount: &ThreePoint<Money>, basis: Basis) -> Decimal {
    let ThreePoint { low, likely, high, shape } = amount.map(|money| converted(project, money));
    match (basis, shape) {
        _ if amount.is_fixed() => likely,
        (Basis::Likely, _) => likely,
        (Basis::Expected, Shape::Pert) => (low + likely * Decimal::from(4) + high) / Decimal::from(6),
        (Basis::Expected, Shape::Triangular) => (low + likely + high) / Decimal::from(3),
        (Basis::Expected, Shape::Lognormal) => {
            let float = |value: Decimal| f64::try_from(value).unwrap_or(0.0);
            let mean = chance::mean(&ThreePoint { low: float(low), likely: float(likely), high: float(high), shape });
            Decimal::try_from(mean).unwrap_or(likely)
        }
    }
}

/// What an hour of one share of a resource costs.
fn hourly(computed: &Computed<'_>, share: Share) -> Decimal {
    let model = &computed.model;
    let rate = model.resources[share.resource].resource.rate.as_ref();
    let rate = rate.map(|rate| converted(model.project, rate)).unwrap_or_default();
    rate * Decimal::from(share.amount) / Decimal::from(1_000)
}

/// What a second of work on a node costs in people, for simulations.
pub(crate) fn price_per_second(computed: &Computed<'_>, node: usize) -> f64 {
    let sum: Decimal = computed.placement.shares[node].iter().map(|share| hourly(computed, *share)).sum();
    f64::try_from(sum).unwrap_or(0.0) / 3_600.0
}

/// Every line of a schedule, in a fixed order.
pub(crate) fn lines(computed: &Computed<'_>, basis: Basis) -> Vec<Line> {
    let mut lines = Vec::new();
    for task in 0..computed.model.tasks.len() {
        if let Some(at) = computed.model.node_of[task] {
            labour(computed, task, at, &mut lines);
        }
        things(computed, task, basis, &mut lines);
    }
    for recurring in &computed.model.project.recurring {
        again(computed, recurring, &mut lines);
    }
    let places = places(&computed.model.project.currency);
    for line in &mut lines {
        line.amount = to_coins(line.amount, places);
    }
    lines.retain(|line| !line.amount.is_zero());
    lines
}

/// People × rates × time, and what each costs per use. Work that is done was paid over its actual time, work under way
/// for all the time since it began, and what it really cost, when that is known, stands in for rates.
fn labour(computed: &Computed<'_>, task: usize, at: usize, lines: &mut Vec<Line>) {
    let model = &computed.model;
    let (node, times, given) = (&computed.network.nodes[at], computed.placement.times[at], model.tasks[task]);
    let timeline = &model.lines.all[node.line];
    let base = Line {
        kind: CostKind::Labour,
        task: Some(task),
        resource: None,
        amount: Decimal::ZERO,
        from: times.start,
        to: times.finish,
        timeline: node.line,
    };
    if let Some(actual) = &given.progress.cost {
        let to = node.finished.unwrap_or(model.from).max(times.start);
        lines.push(Line { amount: converted(model.project, actual), to, ..base.clone() });
    }
    let paid_for = given.progress.cost.is_some();
    let whole = (times.start, times.finish, timeline.work_between(times.start, times.finish));
    let so_far = model.from.clamp(times.start, times.finish);
    let worked = (times.start, so_far, timeline.work_between(times.start, so_far));
    let left = (occupied_from(node, timeline, times), times.finish, node.duration);
    let stretches = match (node.started.is_some(), node.finished.is_some()) {
        (_, true) if paid_for => vec![],
        (_, true) => vec![whole],
        (true, false) if !paid_for => vec![worked, left],
        (_, false) => vec![left],
    };
    for share in &computed.placement.shares[at] {
        let resource = model.resources[share.resource].resource;
        for &(from, to, seconds) in &stretches {
            let amount = hourly(computed, *share) * Decimal::from(seconds) / Decimal::from(3_600);
            lines.push(Line { resource: Some(share.resource), amount, from, to, ..base.clone() });
        }
        if let Some(per_use) = resource.per_use.as_ref().filter(|_| !paid_for) {
            let amount = converted(model.project, per_use);
            lines.push(Line { resource: Some(share.resource), amount, to: times.start, ..base.clone() });
        }
    }
}

/// Materials and fixed costs.
fn things(computed: &Computed<'_>, task: usize, basis: Basis, lines: &mut Vec<Line>) {
    let model = &computed.model;
    let (start, finish) = computed.span(task);
    for cost in &model.tasks[task].costs {
        let (from, to) = match cost.due {
            Due::Start => (start, start),
            Due::Finish => (finish, finish),
            Due::Spread => (start, finish),
        };
        let timeline = model.node_of[task].map_or(0, |at| computed.network.nodes[at].line);
        let amount = planned(model.project, &cost.amount, basis) * still_due(computed, task, cost.due);
        lines.push(Line { kind: cost.kind, task: Some(task), resource: None, amount, from, to, timeline });
    }
}

/// Which part of a cost is not yet in what a task is known to have cost.
fn still_due(computed: &Computed<'_>, task: usize, due: Due) -> Decimal {
    let done = computed.model.percent[task];
    match due {
        _ if computed.model.tasks[task].progress.cost.is_none() => Decimal::ONE,
        Due::Start => Decimal::ZERO,
        Due::Finish if done == 100 => Decimal::ZERO,
        Due::Finish => Decimal::ONE,
        Due::Spread => Decimal::ONE - Decimal::from(done) / Decimal::ONE_HUNDRED,
    }
}

/// Each due of a recurring cost is a line of its own.
fn again(computed: &Computed<'_>, recurring: &Recurring, lines: &mut Vec<Line>) {
    let amount = converted(computed.model.project, &recurring.amount);
    for at in dues(computed, recurring, computed.end) {
        lines.push(Line {
            kind: CostKind::Recurring,
            task: None,
            resource: None,
            amount,
            from: at,
            to: at,
            timeline: 0,
        });
    }
}

/// When a recurring cost is due before an end.
pub(crate) fn dues(computed: &Computed<'_>, recurring: &Recurring, end: i64) -> Vec<i64> {
    let model = &computed.model;
    let from = recurring.from.and_then(|when| model.second(when, Edge::First)).unwrap_or(0);
    let to = recurring.to.and_then(|when| model.second(when, Edge::First)).unwrap_or(end).min(end);
    let first = model.frame.timestamp(from).to_zoned(model.frame.zone.clone());
    let mut dues = Vec::new();
    let mut at = from;
    while at < to && dues.len() < DUES_MAX {
        dues.push(at);
        let count = i64::try_from(dues.len()).unwrap_or(i64::MAX);
        // Counted from the first, so that the 31st does not slip to the 28th for good.
        let step = match recurring.every {
            Unit::Second => count.seconds(),
            Unit::Minute => count.minutes(),
            Unit::Hour => count.hours(),
            Unit::Day | Unit::Period => count.days(),
            Unit::Week => count.weeks(),
            Unit::Month => count.months(),
            Unit::Year => count.years(),
        };
        let Ok(next) = first.checked_add(step) else { break };
        at = next.timestamp().as_second() - model.frame.origin.as_second();
    }
    dues
}
