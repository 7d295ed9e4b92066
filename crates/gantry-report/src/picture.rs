//! A schedule as a picture: the charts, filled from what was computed.

use std::collections::{BTreeMap, BTreeSet};

use gantry_schedule::project::LinkKind;
use gantry_schedule::{Moment, Project, Schedule, TaskKind, Verdict};
use rust_decimal::prelude::ToPrimitive as _;

use crate::chart::{
    self, CashFlow, CashSpan, Clock, Frame, Gantt, GanttLink, GanttTask, Histogram, Load, Measure, Network,
    NetworkLink, NetworkTask, SCurve, TaskShape, Tornado,
};

/// Nobody looks deeper into a tree than this.
const DEPTH_MAX: usize = 20;

/// A rest shorter than this share of the time that is drawn cannot be seen.
const REST_SEEN: f64 = 0.01;

/// What can be drawn of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// When everything happens, and what waits for what.
    Gantt,
    /// What waits for what, as a graph.
    Network,
    /// When it may be finished.
    Histogram,
    /// How sure each finish is.
    SCurve,
    /// What everyone has to do.
    Load,
    /// What is due each month.
    Cash,
    /// What moves the finish most.
    Tornado,
}

impl Picture {
    /// Draws it; nothing where it shows futures and none were drawn.
    pub fn draw(self, schedule: &Schedule, project: &Project, frame: &Frame) -> Option<String> {
        let futures = schedule.monte_carlo.as_ref();
        let svg = match self {
            Self::Gantt => gantt(schedule, project).svg(frame),
            Self::Network => network(schedule, project).svg(frame),
            Self::Load => load(schedule, project).svg(frame),
            Self::Cash => cash(schedule).svg(frame),
            Self::Histogram => {
                let bins = futures?.histogram.iter().map(|bin| chart::Bin {
                    from: value(bin.from),
                    until: value(bin.to),
                    count: u64::from(bin.count),
                });
                Histogram {
                    measure: measure(schedule),
                    bins: bins.collect(),
                    percentiles: percentiles(schedule),
                    limit: limit(schedule),
                    within_limit: within(schedule),
                }
                .svg(frame)
            }
            Self::SCurve => {
                let points = futures?
                    .s_curve
                    .iter()
                    .map(|point| chart::Point { x: value(point.finish), y: f64::from(point.percent) / 100.0 });
                SCurve {
                    measure: measure(schedule),
                    probability: points.collect(),
                    percentiles: percentiles(schedule),
                    limit: limit(schedule),
                    within_limit: within(schedule),
                    today: today(schedule).map(chart::Moment::value),
                    sums_measure: Measure::Percent,
                    sums: Vec::new(),
                }
                .svg(frame)
            }
            Self::Tornado => {
                let futures = futures?;
                let drivers = futures.drivers.iter().map(|driver| chart::Driver {
                    name: called(project, &driver.id),
                    low: value(driver.low_finish),
                    high: value(driver.high_finish),
                    ..chart::Driver::default()
                });
                Tornado { measure: measure(schedule), drivers: drivers.collect(), base: value(futures.finish.p50) }
                    .svg(frame)
            }
        };
        Some(svg)
    }
}

/// Draws when everything happens beside when it was to happen.
pub fn compared(schedule: &Schedule, project: &Project, planned: &Schedule, frame: &Frame) -> String {
    let mut chart = gantt(schedule, project);
    let before = places(planned);
    for (drawn, row) in chart.tasks.iter_mut().zip(&schedule.tasks) {
        let was = before.get(row.id.as_str()).map(|at| &planned.tasks[*at]);
        let span = was.map(|was| chart::Span { from: moment(was.start), until: moment(was.finish) });
        drawn.planned =
            span.filter(|span| row.kind == TaskKind::Task && (span.from, span.until) != (drawn.start, drawn.finish));
    }
    chart.svg(frame)
}

/// The unit of every length, as one calls it in the singular.
pub(crate) fn unit(schedule: &Schedule) -> String {
    let unit = serde_json::to_value(schedule.unit).ok();
    unit.as_ref().and_then(serde_json::Value::as_str).unwrap_or("period").to_owned()
}

/// `3 days`, `1 day`.
pub(crate) fn counted(number: &str, unit: &str) -> String {
    let many = if number == "1" { "" } else { "s" };
    format!("{number} {unit}{many}")
}

fn clock(schedule: &Schedule) -> Clock {
    match schedule.start {
        Moment::Date(..) => Clock::Dates,
        Moment::Count(_) => Clock::periods(&unit(schedule)),
    }
}

fn measure(schedule: &Schedule) -> Measure {
    Measure::Time(clock(schedule))
}

fn moment(at: Moment) -> chart::Moment {
    match at {
        Moment::Date(instant, offset) => chart::Moment::civil(offset.to_datetime(instant)),
        Moment::Count(count) => chart::Moment::at(count.as_f64()),
    }
}

/// By when something is due: the end of a day is the last minute of it, so that the right date stands there.
fn due(at: Moment) -> chart::Moment {
    match at {
        Moment::Date(instant, offset) => {
            let local = offset.to_datetime(instant);
            let midnight = local.time() == jiff::civil::Time::midnight();
            let minute = jiff::Span::new().minutes(i64::from(midnight));
            chart::Moment::civil(local.checked_sub(minute).unwrap_or(local))
        }
        Moment::Count(_) => moment(at),
    }
}

fn value(at: Moment) -> f64 {
    moment(at).value()
}

fn percentiles(schedule: &Schedule) -> Vec<chart::Percentile> {
    let Some(futures) = &schedule.monte_carlo else { return Vec::new() };
    let finish = &futures.finish;
    [(10.0, finish.p10), (50.0, finish.p50), (80.0, finish.p80), (95.0, finish.p95)]
        .map(|(percent, at)| chart::Percentile { percent, value: value(at) })
        .to_vec()
}

fn limit(schedule: &Schedule) -> Option<f64> {
    schedule.deadlines.iter().find(|verdict| verdict.task.is_none()).map(|verdict| due(verdict.at).value())
}

fn within(schedule: &Schedule) -> Option<f64> {
    schedule.deadlines.iter().find(|verdict| verdict.task.is_none())?.probability
}

/// The moment up to which things are known.
fn today(schedule: &Schedule) -> Option<chart::Moment> {
    schedule.earned_value.as_ref().map(|value| moment(value.data_date))
}

fn places(schedule: &Schedule) -> BTreeMap<&str, usize> {
    schedule.tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect()
}

fn name(task: &gantry_schedule::TaskRow) -> &str {
    if task.title.is_empty() { &task.id } else { &task.title }
}

fn gantt(schedule: &Schedule, project: &Project) -> Gantt {
    let at = places(schedule);
    let parent = |id: &str| at.get(id).and_then(|at| schedule.tasks[*at].parent.as_deref());
    let unit = unit(schedule);
    let mut deadlines: BTreeMap<Option<&str>, chart::Deadline> =
        schedule.deadlines.iter().map(|verdict| (verdict.task.as_deref(), deadline(verdict, &unit))).collect();
    let people: BTreeMap<&str, &str> =
        project.resources.iter().map(|one| (one.id.as_str(), one.name.as_str())).collect();
    let who =
        |id: &str| people.get(id).filter(|name| !name.is_empty()).map_or(id.to_owned(), |name| (*name).to_owned());
    let tasks = schedule.tasks.iter().map(|task| {
        let late = moment(task.late_finish);
        GanttTask {
            depth: std::iter::successors(task.parent.as_deref(), |id| parent(id)).take(DEPTH_MAX).count(),
            shape: match task.kind {
                TaskKind::Task => TaskShape::Task,
                TaskKind::Milestone => TaskShape::Milestone,
                TaskKind::Summary => TaskShape::Summary,
            },
            critical: task.critical,
            float: (!task.critical && task.kind == TaskKind::Task)
                .then(|| chart::Float { until: late, length: counted(&task.float.to_string(), &unit) }),
            deadline: deadlines.remove(&Some(task.id.as_str())),
            note: task.resources.iter().map(|one| who(&one.id)).collect::<Vec<_>>().join(", "),
            percent_done: (task.percent > 0).then(|| f64::from(task.percent)),
            ..GanttTask::new(name(task), moment(task.start), moment(task.finish))
        }
    });
    let tasks: Vec<GanttTask> = tasks.collect();
    let path = Path::of(schedule, &at);
    let links = links(project, &at).map(|(from, to, kind)| GanttLink {
        from,
        to,
        kind: match kind {
            LinkKind::FinishToStart => chart::LinkKind::FinishToStart,
            LinkKind::StartToStart => chart::LinkKind::StartToStart,
            LinkKind::FinishToFinish => chart::LinkKind::FinishToFinish,
            LinkKind::StartToFinish => chart::LinkKind::StartToFinish,
        },
        critical: path.steps.contains(&(schedule.tasks[from].id.as_str(), schedule.tasks[to].id.as_str())),
    });
    Gantt {
        clock: clock(schedule),
        tasks,
        links: links.collect(),
        deadline: deadlines.remove(&None),
        path: path.first,
        today: today(schedule),
        ..Gantt::default()
    }
}

fn deadline(verdict: &Verdict, unit: &str) -> chart::Deadline {
    let margin = verdict.margin.in_thousandths() != 0;
    let margin = margin.then(|| format!("{} of work", counted(&verdict.margin.to_string(), unit)));
    chart::Deadline { at: due(verdict.at), missed: !verdict.met, margin: margin.unwrap_or_default() }
}

/// What the critical paths go through.
struct Path<'s> {
    /// The tasks of the first, by place among what is shown.
    first: Vec<usize>,
    /// From which task to which any of them goes; what happens to a task happens to all that contains it.
    steps: BTreeSet<(&'s str, &'s str)>,
}

impl<'s> Path<'s> {
    fn of(schedule: &'s Schedule, shown: &BTreeMap<&str, usize>) -> Self {
        let parents: BTreeMap<&str, &str> =
            schedule.tasks.iter().filter_map(|task| Some((task.id.as_str(), task.parent.as_deref()?))).collect();
        let around = |id: &'s str| std::iter::successors(Some(id), |id| parents.get(id).copied()).take(DEPTH_MAX);
        let pairs = schedule.critical_paths.iter().flat_map(|path| path.windows(2));
        let steps = pairs.flat_map(|pair| around(&pair[0]).flat_map(|from| around(&pair[1]).map(move |to| (from, to))));
        let first = schedule.critical_path.iter().filter_map(|id| shown.get(id.as_str()).copied());
        Self { first: first.collect(), steps: steps.collect() }
    }
}

/// Where each link leads from and to, by place.
fn links<'a>(
    project: &'a Project,
    at: &'a BTreeMap<&str, usize>,
) -> impl Iterator<Item = (usize, usize, LinkKind)> + 'a {
    project.tasks.iter().flat_map(move |task| {
        let to = at.get(task.id.as_str()).copied();
        task.after.iter().filter_map(move |link| Some((*at.get(link.task.as_str())?, to?, link.kind)))
    })
}

/// Summaries have their place here only where something waits for them, or they for it.
fn network(schedule: &Schedule, project: &Project) -> Network {
    let waited_for = project.tasks.iter().flat_map(|task| &task.after).map(|link| link.task.as_str());
    let waiting = project.tasks.iter().filter(|task| !task.after.is_empty()).map(|task| task.id.as_str());
    let linked: BTreeSet<&str> = waited_for.chain(waiting).collect();
    let shown: Vec<&gantry_schedule::TaskRow> = schedule
        .tasks
        .iter()
        .filter(|task| task.kind != TaskKind::Summary || linked.contains(task.id.as_str()))
        .collect();
    let tasks = shown.iter().map(|task| NetworkTask {
        name: name(task).to_owned(),
        group: task.parent.clone().unwrap_or_default(),
        start: moment(task.start),
        finish: moment(task.finish),
        float: counted(&task.float.to_string(), &unit(schedule)),
        critical: task.critical,
        done: task.percent == 100,
        milestone: task.kind == TaskKind::Milestone,
        summary: task.kind == TaskKind::Summary,
    });
    let at: BTreeMap<&str, usize> = shown.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect();
    let path = Path::of(schedule, &at);
    let links = links(project, &at).map(|(from, to, _)| NetworkLink {
        from,
        to,
        critical: path.steps.contains(&(shown[from].id.as_str(), shown[to].id.as_str())),
    });
    Network {
        clock: clock(schedule),
        tasks: tasks.collect(),
        links: links.collect(),
        path: path.first,
        ..Network::default()
    }
}

/// What a task or a risk is called.
fn called(project: &Project, id: &str) -> String {
    let task = project.tasks.iter().find(|task| task.id == id).map(|task| &task.title);
    let risk = project.risks.iter().find(|risk| risk.id == id).map(|risk| &risk.title);
    task.or(risk).filter(|title| !title.is_empty()).map_or_else(|| id.to_owned(), Clone::clone)
}

fn amount(amount: gantry_schedule::project::Amount) -> f64 {
    f64::from(amount.0) / 1_000.0
}

/// What is in use, without rests that are too short to be seen.
fn uses(load: &[gantry_schedule::LoadStep], least: f64) -> Vec<chart::Use> {
    let mut uses: Vec<chart::Use> = Vec::new();
    for step in load.iter().filter(|step| step.used.0 > 0) {
        let (from, until, amount) = (moment(step.from), moment(step.to), amount(step.used));
        match uses.last_mut() {
            Some(last) if from.value() - last.until.value() < least && (last.amount - amount).abs() < f64::EPSILON => {
                last.until = until;
            }
            _ => uses.push(chart::Use { task: String::new(), from, until, amount }),
        }
    }
    uses
}

fn load(schedule: &Schedule, project: &Project) -> Load {
    let given = |id: &str| project.resources.iter().find(|one| one.id == id);
    let called = |id: &str| given(id).filter(|one| !one.name.is_empty());
    // Who has nothing to do yet is there all the same.
    let first =
        |id: &str| given(id).map(|one| chart::Capacity { from: moment(schedule.start), amount: amount(one.capacity) });
    let step =
        |step: &gantry_schedule::LoadStep| chart::Capacity { from: moment(step.from), amount: amount(step.capacity) };
    let steps = || schedule.resources.iter().flat_map(|resource| &resource.load);
    let ends = steps().map(|step| value(step.from)).chain(steps().map(|step| value(step.to)));
    let (first_use, last_use) = ends.fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
    let least = (last_use - first_use) * REST_SEEN;
    let resources = schedule.resources.iter().map(|resource| chart::Resource {
        name: called(&resource.id).map_or(&resource.id, |one| &one.name).clone(),
        unit: String::new(),
        capacity: first(&resource.id).into_iter().chain(resource.load.iter().map(step)).collect(),
        uses: uses(&resource.load, least),
    });
    Load { clock: clock(schedule), resources: resources.collect(), today: today(schedule) }
}

fn cash(schedule: &Schedule) -> CashFlow {
    let cost = &schedule.cost;
    let spans = cost.cash_flow.months.iter().map(|month| {
        let next = month.month.checked_add(jiff::Span::new().months(1)).unwrap_or(month.month);
        CashSpan {
            from: chart::Moment::civil(month.month.at(0, 0, 0, 0)),
            until: chart::Moment::civil(next.at(0, 0, 0, 0)),
            paid: month.due.to_f64().unwrap_or_default(),
            received: 0.0,
        }
    });
    CashFlow {
        clock: Clock::Dates,
        currency: cost.currency.clone(),
        spans: spans.collect(),
        budget: cost.budget.and_then(|budget| budget.to_f64()),
        today: today(schedule),
    }
}
