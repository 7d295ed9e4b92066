//! What a plan comes to: when, how much, how big, and what may go wrong.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gantry_core::id::TaskId;
use gantry_core::plan::Plan;
use gantry_report::thousands;
use gantry_schedule::{Options, schedule};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::Serialize;

use crate::schedule::of_plan;
use crate::show::elapsed::now;

/// How many risks are named.
const RISKS_MAX: usize = 12;

/// What a plan comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// When it is done if nothing goes wrong, in half of all cases, and in eight of ten.
    finish: Option<Finish>,
    /// What it costs: planned, in half of all cases, and in eight of ten.
    cost: Option<Cost>,
    /// How many pieces of work it has.
    tasks: usize,
    /// How many hours of work they are.
    hours: f64,
    /// What may go wrong.
    risks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Finish {
    planned: String,
    p50: String,
    p80: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Cost {
    planned: Decimal,
    p50: Decimal,
    p80: Decimal,
    currency: String,
}

impl Figures {
    /// Computes them; a plan without estimates has neither dates nor costs.
    pub fn of(plan: &Plan) -> Self {
        let project = of_plan::project(plan, None, now());
        let estimated = project.tasks.iter().any(|task| task.estimate.is_some());
        let computed = if estimated { schedule(&project, &Options::usual(&project)).ok() } else { None };
        let inner: BTreeSet<&TaskId> = plan.tasks.iter().filter_map(|task| task.parent.as_ref()).collect();
        let leaves = plan.tasks.iter().filter(|task| !inner.contains(&task.id));
        let named = plan.schedule.risks.iter().map(|risk| risk.id.clone());
        let mut risks: Vec<String> =
            named.chain(plan.tasks.iter().flat_map(|task| task.risks.iter().map(|risk| risk.name.clone()))).collect();
        risks.sort();
        risks.dedup();
        let futures = computed.as_ref().and_then(|computed| computed.monte_carlo.as_ref());
        let hours = computed.iter().flat_map(|computed| &computed.tasks).filter(|row| row.parent.is_none());
        Self {
            finish: computed.as_ref().zip(futures).map(|(computed, futures)| Finish {
                planned: computed.finish.day(),
                p50: futures.finish.p50.day(),
                p80: futures.finish.p80.day(),
            }),
            cost: computed.as_ref().zip(futures).map(|(computed, futures)| Cost {
                planned: computed.cost.total,
                p50: futures.cost.p50,
                p80: futures.cost.p80,
                currency: project.currency.clone(),
            }),
            tasks: leaves.count(),
            hours: hours
                .filter_map(|row| Some(row.hours?.likely.in_thousandths()))
                .sum::<i64>()
                .to_f64()
                .map_or(0.0, |thousandths| (thousandths / 1_000.0).round()),
            risks,
        }
    }
}

/// `before → after`, or once what is the same.
fn arrow(before: &str, after: &str) -> String {
    if before == after { before.to_owned() } else { format!("{before} → {after}") }
}

/// What differs, a line each.
pub fn drawn(before: &Figures, after: &Figures) -> String {
    let mut text = String::new();
    if before == after || (before.finish.is_none() && after.finish.is_none()) {
        return text;
    }
    if let (Some(old), Some(new)) = (&before.finish, &after.finish) {
        let _ = writeln!(
            text,
            "finish  {}; P50 {}; P80 {}",
            arrow(&old.planned, &new.planned),
            arrow(&old.p50, &new.p50),
            arrow(&old.p80, &new.p80)
        );
    }
    if let (Some(old), Some(new)) = (&before.cost, &after.cost) {
        let money = |amount: &Decimal, currency: &str| {
            let whole = amount.round().to_u64().map_or_else(|| amount.to_string(), thousands);
            format!("{whole} {currency}")
        };
        let line = |one: fn(&Cost) -> &Decimal| arrow(&money(one(old), &old.currency), &money(one(new), &new.currency));
        let _ = writeln!(
            text,
            "cost    {}; P50 {}; P80 {}",
            line(|cost| &cost.planned),
            line(|cost| &cost.p50),
            line(|cost| &cost.p80)
        );
    }
    let tasks = arrow(&before.tasks.to_string(), &after.tasks.to_string());
    let hours = arrow(&before.hours.to_string(), &after.hours.to_string());
    let _ = writeln!(text, "scope   {tasks} tasks, {hours} hours of work");
    let only = |one: &Figures, other: &Figures, sign: char| {
        let risks = one.risks.iter().filter(|risk| !other.risks.contains(risk)).take(RISKS_MAX);
        risks.map(|risk| format!("{sign}{risk}")).collect::<Vec<_>>()
    };
    let risks: Vec<String> = only(after, before, '+').into_iter().chain(only(before, after, '-')).collect();
    if !risks.is_empty() {
        let _ = writeln!(text, "risks   {}", risks.join(" "));
    }
    text
}
