//! Writes down what was computed, task by task and resource by resource.

use rust_decimal::Decimal;
use serde::Serialize;

use super::{Computed, Options};
use crate::frame::{Moment, Quantity};
use crate::level;
use crate::network::Role;
use crate::project::{Amount, Length, Scale, Task};

/// A rest of a day or more, such as a weekend or a holiday, is no load; nights are too many to be told.
const REST: i64 = 86_400;

/// One task of a schedule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskRow {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// What it is.
    pub kind: TaskKind,
    /// The summary that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it starts, or started.
    pub start: Moment,
    /// When it finishes, or finished.
    pub finish: Moment,
    /// The latest start that delays nothing.
    pub late_start: Moment,
    /// The latest finish that delays nothing.
    pub late_finish: Moment,
    /// How much work it is, or how much of it is left.
    pub duration: Quantity,
    /// How many hours of work it was estimated at; a summary is as much as its parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    /// How much later it may be before the project, or a hard deadline, is late.
    pub float: Quantity,
    /// How much later it may be before any other task is.
    pub free_float: Quantity,
    /// Whether it lies on a critical path, or has no float before the project or a hard deadline is late.
    pub critical: bool,
    /// Whether little delay of it would.
    pub near_critical: bool,
    /// How much shorter the project would be if it took no time.
    pub drag: Quantity,
    /// How much of it is done, 0 to 100.
    pub percent: u8,
    /// Who works on it.
    pub resources: Vec<Assigned>,
    /// What it costs; a summary costs what it and its parts cost.
    pub cost: Decimal,
    /// The share of drawn futures in which it is critical.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criticality: Option<f64>,
}

/// An estimate in hours of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hours {
    /// If all goes well.
    pub low: Quantity,
    /// Most likely.
    pub likely: Quantity,
    /// If it does not.
    pub high: Quantity,
}

impl Hours {
    fn of(task: &Task, scale: &Scale) -> Option<Self> {
        let estimate = task.estimate?;
        let hours = |length: Length| Quantity::thousandths(length.to_seconds(scale).saturating_mul(10) / 36);
        Some(Self { low: hours(estimate.low), likely: hours(estimate.likely), high: hours(estimate.high) })
    }

    fn sum(parts: &[&TaskRow]) -> Option<Self> {
        let all: Vec<Self> = parts.iter().filter_map(|part| part.hours).collect();
        let sum = |one: fn(&Self) -> Quantity| {
            Quantity::thousandths(all.iter().map(|hours| one(hours).in_thousandths()).sum())
        };
        let whole =
            Self { low: sum(|hours| hours.low), likely: sum(|hours| hours.likely), high: sum(|hours| hours.high) };
        (!all.is_empty()).then_some(whole)
    }
}

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// Work.
    Task,
    /// A point in time.
    Milestone,
    /// Made of others.
    Summary,
}

/// Someone who works on a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assigned {
    /// The resource.
    pub id: String,
    /// How much of it.
    pub amount: Amount,
}

/// A stretch of time in which someone has more to do than they can.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overload {
    /// Who.
    pub resource: String,
    /// From when.
    pub from: Moment,
    /// Until when.
    pub to: Moment,
    /// How much they have to do.
    pub used: Amount,
    /// How much they can.
    pub capacity: Amount,
    /// The tasks that ask for it.
    pub tasks: Vec<String>,
}

/// What one resource has to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceRow {
    /// Its id.
    pub id: String,
    /// How much work is planned for it, in units of the project.
    pub work: Quantity,
    /// How much it has to do, stretch by stretch, without days off.
    pub load: Vec<LoadStep>,
}

/// A stretch of constant load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadStep {
    /// From when.
    pub from: Moment,
    /// Until when.
    pub to: Moment,
    /// How much is in use.
    pub used: Amount,
    /// How much there is.
    pub capacity: Amount,
}

/// The ids of the tasks along a path; points of summaries are left out.
pub(super) fn names(computed: &Computed<'_>, path: &[usize]) -> Vec<String> {
    let nodes = path.iter().map(|&at| &computed.network.nodes[at]).filter(|node| node.role == Role::Work);
    nodes.map(|node| computed.model.tasks[node.task].id.clone()).collect()
}

/// When the first task starts; the project's start when there is none.
pub(super) fn first_start(computed: &Computed<'_>) -> i64 {
    let nodes = computed.network.nodes.iter().zip(&computed.placement.times);
    let starts = nodes.filter(|(node, _)| node.role == Role::Work).map(|(_, times)| times.start);
    starts.min().unwrap_or(0).min(computed.end)
}

/// All tasks in the order of the project; `costs` is by place.
pub(super) fn tasks(computed: &Computed<'_>, options: &Options, costs: &[Decimal]) -> Vec<TaskRow> {
    let model = &computed.model;
    let near = options.near_critical.map_or_else(
        || model.line().work_between(0, computed.end) / 20,
        |length| length.to_seconds(&model.frame.scale),
    );
    let mut on_path = vec![false; computed.network.len()];
    for &at in computed.paths.iter().flatten() {
        on_path[at] = true;
    }
    let mut rows: Vec<Option<TaskRow>> =
        (0..model.tasks.len()).map(|task| leaf(computed, task, near, &on_path)).collect();
    let mut deepest_first: Vec<(usize, usize)> = (0..rows.len()).map(|task| (depth(computed, task), task)).collect();
    deepest_first.sort_unstable_by(|a, b| b.cmp(a));
    for (_, task) in deepest_first {
        if rows[task].is_none() {
            let parts: Vec<&TaskRow> = model.parts[task].iter().filter_map(|&part| rows[part].as_ref()).collect();
            let row = summary(computed, task, &parts);
            rows[task] = Some(row);
        }
    }
    for (row, cost) in rows.iter_mut().zip(costs) {
        if let Some(row) = row {
            row.cost = *cost;
        }
    }
    let order = model.project.tasks.iter().map(|task| model.place(&task.id));
    order.filter_map(|task| rows[task].clone()).collect()
}

fn depth(computed: &Computed<'_>, task: usize) -> usize {
    let model = &computed.model;
    let above = |id: &&str| model.tasks[model.place(id)].parent.as_deref();
    std::iter::successors(model.tasks[task].parent.as_deref(), above).count()
}

fn leaf(computed: &Computed<'_>, task: usize, near: i64, on_path: &[bool]) -> Option<TaskRow> {
    let model = &computed.model;
    let at = model.node_of[task]?;
    let (node, given) = (&computed.network.nodes[at], model.tasks[task]);
    let (times, late, float) = (computed.placement.times[at], computed.late[at], computed.floats[at]);
    let done = node.finished.is_some();
    let critical = !done && (float.total <= 0 || on_path[at]);
    let elapsed = given.estimate.is_some_and(|estimate| estimate.likely.is_elapsed());
    let quantity = |seconds| if elapsed { model.frame.elapsed(seconds) } else { model.frame.quantity(seconds) };
    let assigned = computed.placement.shares[at].iter().map(|share| Assigned {
        id: model.resources[share.resource].resource.id.clone(),
        amount: Amount(share.amount),
    });
    Some(TaskRow {
        id: given.id.clone(),
        title: title(given),
        kind: if given.estimate.is_some() { TaskKind::Task } else { TaskKind::Milestone },
        parent: given.parent.clone(),
        start: model.frame.moment(times.start),
        finish: model.frame.moment(times.finish),
        late_start: model.frame.moment(if node.started.is_some() { times.start } else { late.start }),
        late_finish: model.frame.moment(late.finish),
        duration: quantity(node.duration),
        hours: Hours::of(given, &model.scale_of(given)),
        float: quantity(float.total),
        free_float: quantity(float.free),
        critical,
        near_critical: !done && !critical && float.total <= near,
        drag: model.frame.quantity(computed.drags[at]),
        percent: model.percent[task],
        resources: assigned.collect(),
        cost: Decimal::ZERO,
        criticality: None,
    })
}

fn title(task: &Task) -> String {
    if task.title.is_empty() { task.id.clone() } else { task.title.clone() }
}

/// A summary spans its parts and is as critical as the worst of them, or as its finish where a link holds that later.
fn summary(computed: &Computed<'_>, task: usize, parts: &[&TaskRow]) -> TaskRow {
    let model = &computed.model;
    let given = model.tasks[task];
    let here = model.frame.moment(computed.end);
    let (first, last) = computed.span(task);
    let (start, finish) = (model.frame.moment(first), model.frame.moment(last));
    let close = model.last_of[task];
    let held = parts.iter().all(|part| part.finish < finish).then(|| computed.floats[close].total);
    let late_finish = match held {
        Some(_) => Some(model.frame.moment(computed.late[close].finish)),
        None => parts.iter().map(|part| part.late_finish).max(),
    };
    let critical = held.is_some_and(|float| float <= 0) || parts.iter().any(|part| part.critical);
    let float = parts.iter().map(|part| part.float).chain(held.map(|float| model.frame.quantity(float)));
    TaskRow {
        id: given.id.clone(),
        title: title(given),
        kind: TaskKind::Summary,
        parent: given.parent.clone(),
        start,
        finish,
        late_start: parts.iter().map(|part| part.late_start).min().unwrap_or(here),
        late_finish: late_finish.unwrap_or(here),
        duration: model.frame.quantity(model.line().work_between(first, last)),
        hours: Hours::sum(parts),
        float: float.min().unwrap_or_default(),
        free_float: parts.iter().map(|part| part.free_float).min().unwrap_or_default(),
        critical,
        near_critical: !critical && parts.iter().any(|part| part.near_critical),
        drag: Quantity::default(),
        percent: model.percent[task],
        resources: Vec::new(),
        cost: Decimal::ZERO,
        criticality: None,
    }
}

pub(super) fn overloads(computed: &Computed<'_>) -> Vec<Overload> {
    let model = &computed.model;
    let found = level::overloads(model, &computed.network, &computed.placement);
    let each = found.into_iter().map(|(resource, stretch)| Overload {
        resource: model.resources[resource].resource.id.clone(),
        from: model.frame.moment(stretch.from),
        to: model.frame.moment(stretch.to),
        used: amount(stretch.used),
        capacity: amount(stretch.capacity),
        tasks: names(computed, &stretch.nodes),
    });
    each.collect()
}

fn amount(thousandths: u64) -> Amount {
    Amount(u32::try_from(thousandths).unwrap_or(u32::MAX))
}

pub(super) fn resources(computed: &Computed<'_>) -> Vec<ResourceRow> {
    let model = &computed.model;
    let mut work = vec![0_i64; model.resources.len()];
    for (at, shares) in computed.placement.shares.iter().enumerate() {
        for share in shares {
            let seconds = i128::from(computed.network.nodes[at].duration) * i128::from(share.amount) / 1_000;
            work[share.resource] += i64::try_from(seconds).unwrap_or(i64::MAX);
        }
    }
    let step = |stretch: level::Stretch| LoadStep {
        from: model.frame.moment(stretch.from),
        to: model.frame.moment(stretch.to),
        used: amount(stretch.used),
        capacity: amount(stretch.capacity),
    };
    let row = |resource: usize| ResourceRow {
        id: model.resources[resource].resource.id.clone(),
        work: model.frame.quantity(work[resource]),
        load: level::loads(model, &computed.network, &computed.placement, resource, Some(REST))
            .into_iter()
            .map(step)
            .collect(),
    };
    (0..model.resources.len()).map(row).collect()
}
