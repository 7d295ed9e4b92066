//! The quantities of a plan, each computed once: when, how much, how sure. Everything that names one takes it from here.

use std::collections::BTreeSet;

use gantry_schedule::{Moment, Schedule, TaskKind};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Map, Value, json};

use super::Figure;

/// What takes fewer days is told by the hour.
const BY_THE_HOUR_DAYS: i32 = 10;

/// The quantities of a schedule, by name.
pub fn figures_of(schedule: &Schedule) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| {
        all.insert(name.to_owned(), value);
    };
    let futures = schedule.monte_carlo.as_ref();
    let whole = schedule.deadlines.iter().find(|verdict| verdict.task.is_none());
    put("start", json!(schedule.start.day()));
    put("finish", json!(schedule.finish.day()));
    if let Some(futures) = futures {
        put("finish_p50", json!(futures.finish.p50.day()));
        put("finish_p80", json!(futures.finish.p80.day()));
        put("finish_p95", json!(futures.finish.p95.day()));
        put("draws", json!(futures.draws));
        let (middle, safe) = (futures.finish.p50.day(), futures.finish.p80.day());
        let days = days_apart(&middle, &safe);
        put("spread_days", json!(days));
        put("spread", json!(days.filter(|days| *days > 0).map(|days| counted(days, "day"))));
    }
    if let Some(verdict) = whole {
        put("deadline", json!(last_day(verdict.at)));
        put("deadline_chance", json!(verdict.probability.map(percent)));
        let late = days_between(verdict.at, schedule.finish).filter(|days| *days > 0);
        put("days_late", json!(late));
        let likely = futures.is_some_and(|futures| futures.finish.p50 > verdict.at);
        let safe = futures.is_none_or(|futures| futures.finish.p80 <= verdict.at);
        put("deadline_tone", json!(tone(!verdict.met || likely, safe)));
        put("deadline_verdict", json!(verdict_words(verdict.met, likely, safe, "kept")));
    }
    let cost = &schedule.cost;
    put("currency", json!(cost.currency));
    if cost.total > Decimal::ZERO || cost.budget.is_some() {
        put("cost", json!(rounded(cost.total)));
        if let Some(futures) = futures {
            put("cost_p50", json!(rounded(futures.cost.p50)));
            put("cost_p80", json!(rounded(futures.cost.p80)));
            put("cost_p95", json!(rounded(futures.cost.p95)));
            put(
                "spread_cost",
                json!(rounded(futures.cost.p80).zip(rounded(futures.cost.p50)).map(|(safe, middle)| safe - middle)),
            );
        }
        put("contingency", json!(cost.contingency.and_then(rounded)));
    }
    if let Some(budget) = cost.budget {
        put("budget", json!(rounded(budget)));
        put("budget_chance", json!(futures.and_then(|futures| futures.budget_probability).map(percent)));
        let over = cost.under_budget.filter(|left| *left < Decimal::ZERO).and_then(|left| rounded(-left));
        put("over_budget", json!(over));
        let likely = futures.is_some_and(|futures| futures.cost.p50 > budget);
        let safe = futures.is_none_or(|futures| futures.cost.p80 <= budget);
        put("budget_tone", json!(tone(over.is_some() || likely, safe)));
        put("budget_verdict", json!(verdict_words(over.is_none(), likely, safe, "enough")));
    }
    let milestones = schedule.tasks.iter().filter(|task| task.kind == TaskKind::Milestone);
    put("milestones", json!(milestones.count()));
    put("feasible", json!(schedule.feasible));
    let days = days_apart(&schedule.start.day(), &schedule.finish.day());
    put("by_the_hour", json!(days.is_some_and(|days| days < BY_THE_HOUR_DAYS)));
    all
}

/// Costs that are shares of the budget say nothing about whether it is enough, unless they are more.
pub(super) fn leave_the_budget_open(all: &mut Map<String, Value>) {
    let is_over = all.get("over_budget").is_some_and(|over| !over.is_null());
    if all.contains_key("budget") && !is_over {
        all.remove("budget_chance");
        all.insert("budget_tone".to_owned(), json!("care"));
        all.insert(
            "budget_verdict".to_owned(),
            json!("no price is known, so offers have to show whether it is enough"),
        );
    }
}

/// From the sum of all costs to what to ask for, step by step.
pub(super) fn of_money(all: &Map<String, Value>) -> Value {
    let of = |name: &str| all.get(name).and_then(Value::as_i64);
    let mut rows: Vec<Value> = Vec::new();
    let mut row = |what: &str, amount: Option<i64>, why: &str| {
        rows.extend(amount.map(|amount| json!({"what": what, "amount": amount, "why": why})));
    };
    let (sum, likely, safe) = (of("cost"), of("cost_p50"), of("cost_p80"));
    let more = |to: Option<i64>, from: Option<i64>| to.zip(from).map(|(to, from)| to - from);
    row("As planned", sum, "what every task costs, if nothing goes wrong");
    row(
        "More for what is likely",
        more(likely, sum),
        "risks that strike, and work that takes longer, in half of all futures",
    );
    row("In half of all futures at most", likely, "P50");
    row("More for being sure", more(safe, likely), "from half to eight of ten futures");
    row("In eight of ten futures at most", safe, "P80: what to ask for");
    row("Reserve in all", of("contingency"), "on top of what is planned");
    let budget = of("budget");
    row("Budget", budget, "what there is");
    match more(budget, safe) {
        Some(left) if left >= 0 => row("Left of the budget", Some(left), "in eight of ten futures"),
        lacking => row("Missing for being sure", lacking.map(|lacking| -lacking), "P80 beyond the budget"),
    }
    if rows.len() > 1 { Value::Array(rows) } else { Value::Null }
}

/// What is over has no futures.
pub(super) fn leave_out_futures(all: &mut Map<String, Value>) {
    const AHEAD: [&str; 17] = [
        "finish",
        "finish_p50",
        "finish_p80",
        "finish_p95",
        "draws",
        "spread",
        "spread_days",
        "deadline_chance",
        "deadline_tone",
        "deadline_verdict",
        "cost_p50",
        "cost_p80",
        "cost_p95",
        "spread_cost",
        "budget_chance",
        "budget_tone",
        "budget_verdict",
    ];
    all.retain(|name, _| !AHEAD.contains(&name.as_str()) && name != "critical_tasks");
}

/// How much work there is: pieces that someone does, no phases and no decisions.
pub(super) fn of_work(plan: &Value) -> Map<String, Value> {
    let all: Vec<&Value> = plan["tasks"].as_array().into_iter().flatten().collect();
    let parents: BTreeSet<&str> = all.iter().filter_map(|task| task["parent"].as_str()).collect();
    let is_work =
        |task: &&&Value| task["id"].as_str().is_some_and(|id| !parents.contains(id)) && task["action"] != "gate";
    let work: Vec<&Value> = all.iter().filter(is_work).copied().collect();
    let hours: f64 = work.iter().filter_map(|task| task["estimate"]["likely"].as_f64()).sum();
    let owners: BTreeSet<&str> = work.iter().filter_map(|task| task["owner"].as_str()).collect();
    let mut all = Map::new();
    if work.is_empty() {
        return all;
    }
    all.insert("tasks".to_owned(), json!(work.len()));
    all.insert("critical_tasks".to_owned(), json!(work.iter().filter(|task| task["critical"] == true).count()));
    if hours > 0.0 {
        all.insert("hours".to_owned(), json!(whole_hours(hours)));
    }
    if !owners.is_empty() {
        all.insert("people".to_owned(), json!(owners.len()));
    }
    let share = |owner: &&&str| -> f64 {
        let own = work.iter().filter(|task| task["owner"] == **owner);
        own.filter_map(|task| task["estimate"]["likely"].as_f64()).sum()
    };
    let busiest = owners.iter().filter(|_| owners.len() > 1).max_by(|one, other| share(one).total_cmp(&share(other)));
    all.insert("busiest".to_owned(), json!(busiest));
    all
}

fn counted(number: i32, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Hours as people say them: whole ones, and hundredths where there is not even one.
pub fn whole_hours(hours: f64) -> f64 {
    if hours < 1.0 { (hours * 100.0).round() / 100.0 } else { hours.round() }
}

/// The same as a list, without what is unknown and what is only about them.
pub(super) fn listed(all: &Map<String, Value>) -> Vec<Figure> {
    const NAMES: [&str; 21] = [
        "start",
        "finish",
        "finish_p50",
        "finish_p80",
        "finish_p95",
        "deadline",
        "deadline_chance",
        "days_late",
        "cost",
        "cost_p50",
        "cost_p80",
        "cost_p95",
        "contingency",
        "budget",
        "budget_chance",
        "over_budget",
        "tasks",
        "critical_tasks",
        "milestones",
        "hours",
        "draws",
    ];
    let one = |name: &&'static str| {
        let value = all.get(*name).filter(|value| !value.is_null())?;
        Some(Figure { name, value: value.clone() })
    };
    NAMES.iter().filter_map(one).collect()
}

fn verdict_words(holds: bool, likely_not: bool, safe: bool, word: &str) -> String {
    match (holds, likely_not, safe) {
        (false, _, _) => format!("not {word}, even if nothing goes wrong"),
        (true, true, _) => format!("{word} as planned, but not in half of all futures"),
        (true, false, false) => format!("{word} in half of all futures, but not in eight of ten"),
        (true, false, true) => format!("{word} in at least eight of ten futures"),
    }
}

fn tone(bad: bool, safe: bool) -> &'static str {
    match (bad, safe) {
        (true, _) => "bad",
        (false, false) => "care",
        (false, true) => "good",
    }
}

fn percent(share: f64) -> f64 {
    (share * 100.0).round()
}

/// An amount as a whole number.
fn rounded(amount: Decimal) -> Option<i64> {
    amount.round().to_i64()
}

/// The day on which something is due.
fn last_day(at: Moment) -> String {
    at.last_date().map_or_else(|| at.day(), |date| date.to_string())
}

fn days_between(due: Moment, finish: Moment) -> Option<i32> {
    days_apart(&last_day(due), &finish.day())
}

fn days_apart(first: &str, last: &str) -> Option<i32> {
    let (first, last): (jiff::civil::Date, jiff::civil::Date) = (first.parse().ok()?, last.parse().ok()?);
    Some((last - first).get_days())
}
