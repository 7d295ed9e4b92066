//! Earned value: what was planned by now, what is done, what it cost, and what that says about the end.

use rust_decimal::Decimal;
use serde::Serialize;

use crate::cost::{self, Line};
use crate::frame::{Edge, Moment};
use crate::problem::Problem;
use crate::project::{Progress, Project, places, to_coins};
use crate::schedule::{Computed, Options, compute};

/// Places of the indices.
const INDEX_PLACES: u32 = 4;

/// Where a project stands at its data date. Indices are none when there is nothing to divide by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EarnedValue {
    /// Up to when progress is known.
    pub data_date: Moment,
    /// Budget at completion: what everything was to cost.
    pub bac: Decimal,
    /// Planned value: what was to be done by now.
    pub pv: Decimal,
    /// Earned value: what of the budget is done.
    pub ev: Decimal,
    /// Actual cost.
    pub ac: Decimal,
    /// Schedule variance: earned less planned.
    pub sv: Decimal,
    /// Cost variance: earned less actual.
    pub cv: Decimal,
    /// Schedule performance index: earned over planned.
    pub spi: Option<Decimal>,
    /// Cost performance index: earned over actual.
    pub cpi: Option<Decimal>,
    /// Estimate at completion, if costs go on as they did: budget over cost performance.
    pub eac: Option<Decimal>,
    /// Estimate to complete: what is still to be spent of it.
    pub etc: Option<Decimal>,
    /// Variance at completion: budget less estimate.
    pub vac: Option<Decimal>,
    /// The cost performance that the rest needs to keep the budget.
    pub tcpi: Option<Decimal>,
}

/// What each part of the project contributes.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    budget: Decimal,
    planned: Decimal,
    earned: Decimal,
    actual: Decimal,
}

/// Earned value at the data date; none without one. What has no baseline is measured against the plan without progress.
pub(crate) fn earned_value(
    computed: &Computed<'_>,
    options: &Options,
    lines: &[Line],
) -> Result<Option<EarnedValue>, Vec<Problem>> {
    let model = &computed.model;
    if model.project.data_date.is_none() {
        return Ok(None);
    }
    let agreed = without_progress(model.project);
    // Searched for like the schedule it is measured against; time that was given for that is spent.
    let schedules = match options.schedules {
        Options::UNTIL_STOPPED => Options::usual_schedules(&agreed),
        schedules => schedules,
    };
    let agreed = compute(&agreed, &Options { schedules, ..options.clone() }, &|| false)?;
    let (budgets, unbound) = of_tasks(&agreed, &cost::lines(&agreed, options.basis), model.from);
    let (spent, unbound_now) = of_tasks(computed, lines, model.from);
    // What no task bears, such as a rent, goes with time and not with work: it is earned as it was planned.
    let mut whole =
        Part { budget: unbound.all, planned: unbound.so_far, earned: unbound.so_far, actual: unbound_now.so_far };
    for task in 0..model.tasks.len() {
        let part = part(computed, &agreed, task, budgets[task].all, spent[task]);
        whole.budget += part.budget;
        whole.planned += part.planned;
        whole.earned += part.earned;
        whole.actual += part.actual;
    }
    Ok(Some(told(computed, &whole)))
}

/// What something costs in all, and what of that has fallen due.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    all: Decimal,
    so_far: Decimal,
}

/// What each task costs by itself, without its parts, and what no task bears.
fn of_tasks(computed: &Computed<'_>, lines: &[Line], now: i64) -> (Vec<Sum>, Sum) {
    let model = &computed.model;
    let (mut of_tasks, mut unbound) = (vec![Sum::default(); model.tasks.len()], Sum::default());
    for line in lines {
        let sum = line.task.map_or(&mut unbound, |task| &mut of_tasks[task]);
        sum.all += line.amount;
        sum.so_far += line.due_before(&model.lines.all, now);
    }
    (of_tasks, unbound)
}

/// The project as it was before any work began.
pub(crate) fn without_progress(project: &Project) -> Project {
    let mut agreed = project.clone();
    agreed.data_date = None;
    for task in &mut agreed.tasks {
        task.progress = Progress::default();
    }
    agreed
}

fn part(computed: &Computed<'_>, agreed: &Computed<'_>, task: usize, budget: Decimal, spent: Sum) -> Part {
    let model = &computed.model;
    let given = model.tasks[task];
    let (mut budget, (mut start, mut finish)) = (budget, agreed.span(task));
    if let Some(baseline) = &given.baseline {
        budget = cost::converted(model.project, &baseline.cost);
        start = model.second(baseline.start, Edge::First).unwrap_or(start);
        finish = model.second(baseline.finish, Edge::Last).unwrap_or(finish);
    }
    let line = agreed.model.node_of[task].map_or(0, |at| agreed.network.nodes[at].line);
    let line = &agreed.model.lines.all[line];
    let (work, by_now) =
        (line.work_between(start, finish), line.work_between(start, model.from.clamp(start, finish.max(start))));
    let planned = match (work > 0, finish <= model.from) {
        (_, true) => budget,
        (true, false) => budget * Decimal::from(by_now) / Decimal::from(work),
        (false, false) => Decimal::ZERO,
    };
    let done = model.percent[task];
    let earned = budget * Decimal::from(done) / Decimal::ONE_HUNDRED;
    let actual = match &given.progress.cost {
        Some(actual) => cost::converted(model.project, actual),
        None if done == 100 => spent.all,
        None => spent.so_far,
    };
    Part { budget, planned, earned, actual }
}

fn told(computed: &Computed<'_>, whole: &Part) -> EarnedValue {
    let model = &computed.model;
    let coins = places(&model.project.currency);
    let [bac, pv, ev, ac] =
        [whole.budget, whole.planned, whole.earned, whole.actual].map(|amount| to_coins(amount, coins));
    let over = |a: Decimal, b: Decimal| (!b.is_zero()).then(|| a / b);
    let index = |value: Option<Decimal>| value.map(|value| value.round_dp(INDEX_PLACES).normalize());
    let cpi = over(ev, ac);
    let eac = cpi.and_then(|cpi| over(bac, cpi)).map(|eac| to_coins(eac, coins));
    EarnedValue {
        data_date: model.frame.moment(model.from),
        bac,
        pv,
        ev,
        ac,
        sv: ev - pv,
        cv: ev - ac,
        spi: index(over(ev, pv)),
        cpi: index(cpi),
        eac,
        etc: eac.map(|eac| eac - ac),
        vac: eac.map(|eac| bac - eac),
        tcpi: index(over(bac - ev, bac - ac)),
    }
}
