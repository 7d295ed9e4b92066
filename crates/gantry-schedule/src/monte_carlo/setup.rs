//! Everything that is the same in all futures.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rust_decimal::Decimal;

use super::falls::Falls;
use super::source::{Source, dice};
use crate::calendar::Timeline;
use crate::chance::Quantiles;
use crate::cost::{self, Line};
use crate::frame::Edge;
use crate::model::shared_causes;
use crate::network::{Network, Node, Role};
use crate::project::{CostKind, Money, Project, ThreePoint};
use crate::schedule::{Computed, Options};

/// A project ready to be drawn.
pub(super) struct Simulation<'c> {
    /// On the project's time axis, or on that of work when there is only one calendar.
    pub network: Network,
    pub lines: Cow<'c, [Timeline]>,
    /// The one calendar; its work is then the time axis, and instants are needed only in the end.
    pub axis: Option<&'c Timeline>,
    pub dice: ChaCha8Rng,
    pub causes: Vec<Source>,
    /// Ratios of past work, and their sources.
    pub classes: Vec<(Quantiles, Source)>,
    pub works: Vec<Work>,
    pub falls: Falls,
    pub risks: Vec<Event>,
    /// Amounts in doubt, and their sources.
    pub amounts: Vec<(Quantiles, Source)>,
    /// Everything that costs the same in every future.
    pub fixed_cost: f64,
    /// When recurring costs fall due, with what is due up to and with each.
    pub recurring: Vec<(i64, f64)>,
    /// Deadlines to watch: the node, or none for the whole, and the second.
    pub deadlines: Vec<(Option<usize>, i64)>,
    pub names: Names,
    /// Where the time axis begins, and where the plan ends.
    pub begin: i64,
    pub end: i64,
}

/// The ids of drivers: tasks by node, then classes and risks by place.
pub(super) struct Names {
    pub classes: Vec<String>,
    pub risks: Vec<String>,
}

/// How long a node takes.
pub(super) struct Work {
    /// Without doubt.
    pub seconds: i64,
    /// In doubt: the distribution, where from, and which part of it is still to be done.
    pub doubt: Option<Doubt>,
    /// The class of past work.
    pub class: Option<usize>,
    /// The risks that would delay it; a summary is delayed at its closing point.
    pub risks: Vec<usize>,
    /// What a second of it costs.
    pub price: f64,
}

pub(super) struct Doubt {
    pub table: Quantiles,
    pub source: Source,
    pub left: f64,
}

/// Something that may happen.
pub(super) struct Event {
    pub probability: f32,
    pub source: Source,
    pub delay: Option<(Quantiles, Source)>,
    pub cost: Option<(Quantiles, Source)>,
}

impl<'c> Simulation<'c> {
    pub(super) fn new(computed: &'c Computed<'_>, options: &Options, costs: &[Line]) -> Self {
        let model = &computed.model;
        let project = model.project;
        let shared = shared_causes(project);
        let class_places: BTreeMap<&str, usize> =
            project.classes.iter().enumerate().map(|(at, class)| (&*class.id, at)).collect();
        let mut risks_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, risk) in project.risks.iter().enumerate().filter(|(_, risk)| risk.delay.is_some()) {
            for task in &risk.tasks {
                risks_of.entry(model.place(task)).or_default().push(at);
            }
        }
        let works: Vec<Work> = (0..computed.network.len())
            .map(|node| work(computed, options, node, &shared, &class_places, &risks_of))
            .collect();
        let axis = only_line(computed, &works).map(|line| &model.lines.all[line]);
        let (network, lines) = match axis {
            Some(axis) => (in_work(&computed.network, axis), vec![Timeline::Always; model.lines.all.len()].into()),
            None => (computed.network.clone(), Cow::Borrowed(&model.lines.all[..])),
        };
        let amounts = amounts(computed);
        let fixed_cost = fixed_cost(computed, options, costs, &works);
        Self {
            network,
            lines,
            axis,
            dice: dice(options.seed),
            causes: project.correlations.iter().map(|cause| Source::new(&format!("cause {}", cause.id))).collect(),
            classes: project
                .classes
                .iter()
                .map(|class| (Quantiles::seen(&class.ratios), Source::new(&format!("class {}", class.id))))
                .collect(),
            works,
            falls: Falls::new(computed, options, axis),
            risks: project.risks.iter().map(|risk| event(computed, risk, &shared)).collect(),
            amounts,
            fixed_cost,
            recurring: recurring(computed),
            deadlines: deadlines(computed, axis),
            names: Names {
                classes: project.classes.iter().map(|class| class.id.clone()).collect(),
                risks: project.risks.iter().map(|risk| risk.id.clone()).collect(),
            },
            begin: axis.map_or(0, |axis| axis.work_before(0)),
            end: computed.end,
        }
    }
}

/// The one timeline on which everything happens, if there is one and nothing depends on time off.
fn only_line(computed: &Computed<'_>, works: &[Work]) -> Option<usize> {
    let network = &computed.network;
    let takes_time = |at: usize| network.nodes[at].duration > 0 || !works[at].risks.is_empty();
    let (working, points): (Vec<usize>, Vec<usize>) = (0..network.len()).partition(|&at| takes_time(at));
    let line = network.nodes[*working.first()?].line;
    let same = working.iter().all(|&at| network.nodes[at].line == line);
    let lines = &computed.model.lines.all;
    let round_the_clock = |at: usize| lines[at] == Timeline::Always;
    let on_it = |at: usize| at == line || (round_the_clock(at) && round_the_clock(line));
    let lags = network.ties().iter().all(|tie| tie.lag == 0 || on_it(tie.line));
    let free = |node: &Node| node.finished.is_some() || node.earliest <= computed.model.from;
    (same && lags && points.iter().all(|&at| free(&network.nodes[at]))).then_some(line)
}

/// A network with the work of its one timeline as time axis.
fn in_work(network: &Network, axis: &Timeline) -> Network {
    let mut network = network.clone();
    for node in &mut network.nodes {
        node.earliest = axis.work_before(node.earliest);
        node.started = node.started.map(|at| axis.work_before(at));
        node.finished = node.finished.map(|at| axis.work_before(at));
    }
    network
}

fn source(sort: &str, id: &str, shared: &BTreeMap<&str, Vec<(usize, f64)>>) -> Source {
    let name = format!("{sort} {id}");
    shared.get(id).map_or_else(|| Source::new(&name), |causes| Source::sharing(&name, causes))
}

#[expect(clippy::cast_precision_loss, reason = "lengths are below 2^36 seconds")]
fn work(
    computed: &Computed<'_>,
    options: &Options,
    at: usize,
    shared: &BTreeMap<&str, Vec<(usize, f64)>>,
    classes: &BTreeMap<&str, usize>,
    risks: &BTreeMap<usize, Vec<usize>>,
) -> Work {
    let (model, node) = (&computed.model, &computed.network.nodes[at]);
    let task = model.tasks[node.task];
    let mut work = Work { seconds: node.duration, doubt: None, class: None, risks: Vec::new(), price: 0.0 };
    // A summary is delayed as a whole, after all its parts; and what is done can be delayed no more.
    let over = node.finished.is_some() || (node.role == Role::Close && model.percent[node.task] == 100);
    if !over && at == model.last_of[node.task] {
        work.risks = risks.get(&node.task).cloned().unwrap_or_default();
    }
    if over || node.role != Role::Work {
        return work;
    }
    work.price = cost::price_per_second(computed, at);
    work.class = task.class.as_deref().and_then(|class| classes.get(class).copied());
    if let Some(estimate) = &task.estimate {
        let seconds = estimate.map(|length| length.to_seconds(&model.scale_of(task)));
        let planned = model.planned(task, options.basis);
        let untouched = node.started.is_none() && node.duration == planned;
        let left = if untouched || planned == 0 { 1.0 } else { node.duration as f64 / planned as f64 };
        if !seconds.is_fixed() || work.class.is_some() {
            let table = Quantiles::of(&seconds.map(|value| *value as f64));
            work.doubt = Some(Doubt { table, source: source("task", &task.id, shared), left });
        }
    }
    work
}

fn event(computed: &Computed<'_>, risk: &crate::project::Risk, shared: &BTreeMap<&str, Vec<(usize, f64)>>) -> Event {
    let model = &computed.model;
    #[expect(clippy::cast_precision_loss, reason = "lengths are below 2^36 seconds")]
    let delay = risk.delay.map(|delay| {
        let seconds = delay.map(|length| length.to_seconds(&model.frame.scale) as f64);
        (Quantiles::of(&seconds), Source::new(&format!("delay {}", risk.id)))
    });
    let cost = risk
        .cost
        .as_ref()
        .map(|cost| (Quantiles::of(&floats(model.project, cost)), Source::new(&format!("cost {}", risk.id))));
    #[expect(clippy::cast_possible_truncation, reason = "six digits of probability are enough")]
    let probability = risk.probability as f32;
    Event { probability, source: source("risk", &risk.id, shared), delay, cost }
}

fn floats(project: &Project, amount: &ThreePoint<Money>) -> ThreePoint<f64> {
    amount.map(|money| f64::try_from(cost::converted(project, money)).unwrap_or(0.0))
}

fn amounts(computed: &Computed<'_>) -> Vec<(Quantiles, Source)> {
    let model = &computed.model;
    let each = |task: &&crate::project::Task| {
        let costs = task.costs.iter().enumerate().filter(|(_, cost)| !cost.amount.is_fixed());
        let drawn = |(at, cost): (usize, &crate::project::Cost)| {
            (Quantiles::of(&floats(model.project, &cost.amount)), Source::new(&format!("amount {} {at}", task.id)))
        };
        costs.map(drawn).collect::<Vec<_>>()
    };
    model.tasks.iter().flat_map(each).collect()
}

/// What the plan costs without everything that is drawn again in each future.
fn fixed_cost(computed: &Computed<'_>, options: &Options, lines: &[Line], works: &[Work]) -> f64 {
    let model = &computed.model;
    let drawn: Decimal = model
        .tasks
        .iter()
        .flat_map(|task| &task.costs)
        .filter(|cost| !cost.amount.is_fixed())
        .map(|cost| cost::planned(model.project, &cost.amount, options.basis))
        .sum();
    let lasting = lines.iter().filter(|line| line.kind != CostKind::Recurring).map(|line| line.amount).sum::<Decimal>();
    #[expect(clippy::cast_precision_loss, reason = "lengths are below 2^36 seconds")]
    let labour: f64 = works.iter().map(|work| work.price * work.seconds as f64).sum();
    f64::try_from(lasting - drawn).unwrap_or(0.0) - labour
}

/// Dues far enough into the future for late finishes.
fn recurring(computed: &Computed<'_>) -> Vec<(i64, f64)> {
    let project = computed.model.project;
    let far = computed.end.saturating_mul(3).saturating_add(366 * 86_400);
    let mut dues: Vec<(i64, f64)> = Vec::new();
    for cost in &project.recurring {
        let amount = f64::try_from(cost::converted(project, &cost.amount)).unwrap_or(0.0);
        dues.extend(cost::dues(computed, cost, far).into_iter().map(|at| (at, amount)));
    }
    dues.sort_by_key(|due| due.0);
    let mut sum = 0.0;
    for due in &mut dues {
        sum += due.1;
        due.1 = sum;
    }
    dues
}

/// The deadlines in the order in which the schedule tells them: the project's, then by task.
fn deadlines(computed: &Computed<'_>, axis: Option<&Timeline>) -> Vec<(Option<usize>, i64)> {
    let model = &computed.model;
    let whole = model.project.deadline.map(|deadline| (None, deadline));
    let each = model.tasks.iter().enumerate();
    let each = each.filter_map(|(task, given)| given.deadline.map(|deadline| (Some(model.last_of[task]), deadline)));
    let second = |(node, deadline): (Option<usize>, crate::project::Deadline)| {
        let at = model.second(deadline.at, Edge::Last)?;
        Some((node, axis.filter(|_| node.is_some()).map_or(at, |axis| axis.work_before(at))))
    };
    whole.into_iter().chain(each).filter_map(second).collect()
}
