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
    let budgets = cost::by_task(&agreed, &cost::lines(&agreed, options.basis));
    let spent = cost::by_task(computed, lines);
    let mut whole = Part::default();
    for task in 0..model.tasks.len() {
        let below =
            |amounts: &[Decimal]| amounts[task] - model.parts[task].iter().map(|&part| amounts[part]).sum::<Decimal>();
        let part = part(computed, &agreed, task, below(&budgets), below(&spent));
        whole.budget += part.budget;
        whole.planned += part.planned;
        whole.earned += part.earned;
        whole.actual += part.actual;
    }
    Ok(Some(told(computed, &whole)))
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

fn part(computed: &Computed<'_>, agreed: &Computed<'_>, task: usize, budget: Decimal, spent: Decimal) -> Part {
    let model = &computed.model;
    let given = model.tasks[task];
    let (mut budget, (mut start, mut finish)) = (budget, agreed.span(task));
    if let Some(baseline) = &given.baseline {
        budget = cost::converted(model.project, &baseline.cost);
        start = model.second(baseline.start, Edge::First).unwrap_or(start);
        finish = model.second(baseline.finish, Edge::Last).unwrap_or(finish);
    }
    let line = model.line();
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
        None if done == 100 => spent,
        None => spent * Decimal::from(done) / Decimal::ONE_HUNDRED,
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
