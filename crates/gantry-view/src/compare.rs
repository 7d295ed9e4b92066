//! Two plans beside each other: what changed task by task, and what each comes to: when, how much, how big, and what may go
//! wrong.

use std::collections::BTreeSet;

use gantry_core::id::TaskId;
use gantry_core::plan::{Diff, FieldChange, Plan, diff};
use gantry_core::time::Timestamp;
use gantry_report::thousands;
use gantry_schedule::{Options, schedule};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::Serialize;
use serde_json::{Value, json};

use crate::plain;

/// How many risks are named.
const RISKS_MAX: usize = 12;

/// Two plans beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What changed.
    pub diff: Diff,
    /// What both come to, where anything changed.
    pub figures: Option<(Figures, Figures)>,
    came_and_went: (Value, Value),
}

impl Compared {
    /// Compares what is to be done in two plans; where that is the same, the way there.
    pub fn of(before: &Plan, after: &Plan, now: Timestamp) -> Self {
        let (work_before, work_after) = (before.work(), after.work());
        let differ = work_before != work_after;
        let (before, after) = if differ { (&work_before, &work_after) } else { (before, after) };
        let diff = diff(before, after);
        let figures = (!diff.is_empty()).then(|| (Figures::of(before, now), Figures::of(after, now)));
        let (came, went) = diff.edges(before);
        Self { came_and_went: (json!(came), json!(went)), diff, figures }
    }

    /// It for programs.
    pub fn to_json(&self) -> Value {
        let (before, after) = self.figures.as_ref().map(|(before, after)| (before, after)).unzip();
        json!({
            "diff": written(&self.diff), "edges": {"added": self.came_and_went.0, "removed": self.came_and_went.1},
            "figures": {"before": before, "after": after},
        })
    }

    /// What both come to where that differs, a line each.
    pub fn figure_lines(&self) -> Vec<String> {
        self.figures.as_ref().map(|(before, after)| lines(before, after)).unwrap_or_default()
    }

    /// What changed, a line each; a text of several lines has several.
    pub fn lines(&self) -> Vec<String> {
        diff_lines(&self.diff)
    }
}

/// What changed, for people: a line each; a text of several lines has several.
pub fn diff_lines(diff: &Diff) -> Vec<String> {
    diff.to_string().lines().map(plain).collect()
}

/// What changed, for programs, in the words of a plan file.
pub fn written(diff: &Diff) -> Value {
    fn list<'v>(value: &'v mut Value, name: &str) -> impl Iterator<Item = &'v mut Value> {
        value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
    }
    let mut value = json!(diff);
    for (written, change) in list(&mut value, "changed").zip(&diff.changed) {
        written["fields"] = json!(change.fields.iter().flat_map(FieldChange::as_written).collect::<Vec<_>>());
    }
    for added in list(&mut value, "added") {
        let Some(task) = added["task"].as_object_mut() else { continue };
        if let Some(Value::Object(action)) = task.shift_remove("action") {
            task.extend(action);
        }
    }
    value
}

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
    fn of(plan: &Plan, now: Timestamp) -> Self {
        let project = plan.project(now);
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
fn lines(before: &Figures, after: &Figures) -> Vec<String> {
    let mut lines = Vec::new();
    if before == after || (before.finish.is_none() && after.finish.is_none()) {
        return lines;
    }
    if let (Some(old), Some(new)) = (&before.finish, &after.finish) {
        lines.push(format!(
            "finish  {}; P50 {}; P80 {}",
            arrow(&old.planned, &new.planned),
            arrow(&old.p50, &new.p50),
            arrow(&old.p80, &new.p80)
        ));
    }
    if let (Some(old), Some(new)) = (&before.cost, &after.cost) {
        let money = |amount: &Decimal, currency: &str| {
            let whole = amount.round().to_u64().map_or_else(|| amount.to_string(), thousands);
            format!("{whole} {currency}")
        };
        let line = |one: fn(&Cost) -> &Decimal| arrow(&money(one(old), &old.currency), &money(one(new), &new.currency));
        lines.push(format!(
            "cost    {}; P50 {}; P80 {}",
            line(|cost| &cost.planned),
            line(|cost| &cost.p50),
            line(|cost| &cost.p80)
        ));
    }
    let tasks = arrow(&before.tasks.to_string(), &after.tasks.to_string());
    let hours = arrow(&before.hours.to_string(), &after.hours.to_string());
    lines.push(format!("scope   {tasks} tasks, {hours} hours of work"));
    let only = |one: &Figures, other: &Figures, sign: char| {
        let risks = one.risks.iter().filter(|risk| !other.risks.contains(risk)).take(RISKS_MAX);
        risks.map(|risk| format!("{sign}{risk}")).collect::<Vec<_>>()
    };
    let risks: Vec<String> = only(after, before, '+').into_iter().chain(only(before, after, '-')).collect();
    if !risks.is_empty() {
        lines.push(format!("risks   {}", risks.join(" ")));
    }
    lines
}
