//! Totals: by task, by kind, by resource and by month, which all agree.

use std::collections::BTreeMap;

use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::Serialize;

use super::line::{Line, converted};
use super::spread::by_month;
use crate::project::{CostKind, places, to_coins};
use crate::schedule::Computed;

/// What a project costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostReport {
    /// The currency of everything in here.
    pub currency: String,
    /// The sum of everything planned.
    pub total: Decimal,
    /// Set aside so that the total is enough with the confidence asked for; only with drawn futures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contingency: Option<Decimal>,
    /// The total with contingency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_with_contingency: Option<Decimal>,
    /// What may be spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Decimal>,
    /// What is left of the budget; negative when it is not enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_budget: Option<Decimal>,
    /// By sort of cost.
    pub by_kind: Vec<KindTotal>,
    /// By who is paid; only people and equipment.
    pub by_resource: Vec<ResourceTotal>,
    /// Month by month; only for projects with dates.
    pub cash_flow: CashFlow,
}

/// The sum of one sort of cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindTotal {
    /// The sort.
    pub kind: CostKind,
    /// Its sum.
    pub total: Decimal,
}

/// What one resource is paid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceTotal {
    /// Who.
    pub id: String,
    /// The sum.
    pub total: Decimal,
}

/// When money is due.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct CashFlow {
    /// Every month from the first with a due to the last.
    pub months: Vec<Month>,
}

/// What is due in one month.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Month {
    /// The first day of the month.
    pub month: Date,
    /// What is due in it.
    pub due: Decimal,
    /// What has been due up to its end.
    pub so_far: Decimal,
}

/// What each task costs, by place. A summary costs what it and its parts cost.
pub(crate) fn by_task(computed: &Computed<'_>, lines: &[Line]) -> Vec<Decimal> {
    let model = &computed.model;
    let mut by_task = vec![to_coins(Decimal::ZERO, places(&model.project.currency)); model.tasks.len()];
    let above = |&task: &usize| model.tasks[task].parent.as_deref().map(|id| model.place(id));
    for line in lines {
        for task in std::iter::successors(line.task, above) {
            by_task[task] += line.amount;
        }
    }
    by_task
}

/// Adds lines up.
pub(crate) fn report(computed: &Computed<'_>, lines: &[Line]) -> CostReport {
    let model = &computed.model;
    let project = model.project;
    let places = places(&project.currency);
    let zero = to_coins(Decimal::ZERO, places);
    let mut by_kind: BTreeMap<CostKind, Decimal> = BTreeMap::new();
    let mut by_resource: BTreeMap<usize, Decimal> = BTreeMap::new();
    let mut total = zero;
    for line in lines {
        total += line.amount;
        *by_kind.entry(line.kind).or_insert(zero) += line.amount;
        if let Some(resource) = line.resource {
            *by_resource.entry(resource).or_insert(zero) += line.amount;
        }
    }
    let budget = project.budget.as_ref().map(|budget| to_coins(converted(project, budget), places));
    let name = |resource: usize| model.resources[resource].resource.id.clone();
    CostReport {
        currency: project.currency.clone(),
        total,
        contingency: None,
        total_with_contingency: None,
        budget,
        under_budget: budget.map(|budget| budget - total),
        by_kind: by_kind.into_iter().map(|(kind, total)| KindTotal { kind, total }).collect(),
        by_resource: by_resource.into_iter().map(|(at, total)| ResourceTotal { id: name(at), total }).collect(),
        cash_flow: if model.frame.dated { cash_flow(computed, lines, places) } else { CashFlow::default() },
    }
}

fn cash_flow(computed: &Computed<'_>, lines: &[Line], places: u32) -> CashFlow {
    let mut months: BTreeMap<Date, Decimal> = BTreeMap::new();
    let zero = to_coins(Decimal::ZERO, places);
    for (month, amount) in lines.iter().flat_map(|line| by_month(computed, line, places)) {
        *months.entry(month).or_insert(zero) += amount;
    }
    let (Some(&first), Some(&last)) = (months.keys().next(), months.keys().next_back()) else {
        return CashFlow::default();
    };
    let mut so_far = zero;
    let mut flow = Vec::new();
    let mut month = first;
    while month <= last {
        let due = months.get(&month).copied().unwrap_or(zero);
        so_far += due;
        flow.push(Month { month, due, so_far });
        let Ok(next) = month.last_of_month().tomorrow() else { break };
        month = next;
    }
    CashFlow { months: flow }
}
