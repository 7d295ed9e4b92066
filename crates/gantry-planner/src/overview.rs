//! What a plan means in time and money: computed once, and the only source of such numbers for every text about it.

use std::collections::BTreeSet;

use gantry_core::plan::{Action, Plan};
use gantry_core::time::Timestamp;
use gantry_report::report::whole_hours;
use gantry_schedule::{Options, Project, Schedule};
use jiff::civil::Date;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Value, json};

use crate::facts::Facts;
use crate::fill::{begun_large, thousands};
use crate::trace::Trace;

/// How many risks are among the first.
const TOP_RISKS: usize = 5;
/// How many people are among the busiest.
const BUSIEST: usize = 5;
/// How many tasks are among the longest.
const LONGEST: usize = 3;

/// A plan that nobody has accepted yet, with its schedule.
pub(crate) struct Draft {
    pub(crate) plan: Plan,
    pub(crate) project: Project,
    pub(crate) schedule: Schedule,
}

impl Draft {
    /// Reads a plan as it was put together, and schedules it.
    pub(crate) fn of(draft: &Value, facts: &Facts) -> Result<Self, String> {
        let mut draft = draft.clone();
        let Value::Object(fields) = &mut draft else { return Err("there is no plan to forecast".to_owned()) };
        fields.entry("title").or_insert_with(|| json!(facts.title));
        let read = gantry_format::load("plan.json", draft.to_string().as_bytes());
        let plan = read.plan.ok_or_else(|| {
            let first = read.report.diagnostics.first().map(|found| found.message.clone()).unwrap_or_default();
            format!("the plan is not sound: {first}")
        })?;
        let project = plan.project(Timestamp::from_ms(0)); // a draft says itself when it starts
        let schedule = gantry_schedule::schedule(&project, &Options::usual(&project))
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        Ok(Self { plan, project, schedule })
    }
}

/// What steps before the schedule answered, by what readers call the step.
pub type Stages<'a> = [(&'static str, &'a Value)];

/// Computes it for a plan as it is exported; what was demanded is looked for in every stage.
pub fn overview(draft: &Value, facts: &Facts, stages: &Stages<'_>) -> Result<Value, String> {
    let Draft { plan, project, schedule } = Draft::of(draft, facts)?;
    let health = json!(gantry_schedule::health(&project, &schedule));
    let schedule = serde_json::to_value(&schedule).map_err(|error| error.to_string())?;
    Ok(Overview { plan: &plan, draft, schedule: &schedule, facts, health, stages }.value())
}

struct Overview<'a> {
    plan: &'a Plan,
    /// The plan as it was put together.
    draft: &'a Value,
    schedule: &'a Value,
    facts: &'a Facts,
    health: Value,
    stages: &'a Stages<'a>,
}

pub(crate) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(crate) fn day(moment: &Value) -> Option<Date> {
    moment.as_str()?.get(..10)?.parse().ok()
}

/// An amount as a whole number.
pub(crate) fn whole(amount: &Value) -> Option<i64> {
    let amount: Decimal = match amount {
        Value::String(text) => text.parse().ok()?,
        other => Decimal::try_from(other.as_f64()?).ok()?,
    };
    amount.round().to_i64()
}

impl Overview<'_> {
    fn value(&self) -> Value {
        let schedule = self.schedule;
        let (chance, cost) = (&schedule["monte_carlo"], &schedule["cost"]);
        let over = whole(&cost["under_budget"]).map(|left| -left).filter(|over| *over > 0);
        let finish = day(&schedule["finish"]);
        let late =
            finish.zip(self.facts.deadline).map(|(finish, due)| (finish - due).get_days()).filter(|late| *late > 0);
        let (gaps, options) = (self.gaps(over, late), self.options(over, late));
        json!({
            "start": day(&schedule["start"]),
            "finish": finish,
            "finish_p50": day(&chance["finish"]["p50"]),
            "finish_p80": day(&chance["finish"]["p80"]),
            "deadline": self.facts.deadline,
            "days_late": late,
            "cost": whole(&cost["total"]),
            "cost_p50": whole(&chance["cost"]["p50"]),
            "cost_p80": whole(&chance["cost"]["p80"]),
            "currency": self.facts.currency,
            "budget": whole(&cost["budget"]),
            "over_budget": over,
            "priced_by": self.facts.priced_by,
            "feasible": schedule["feasible"] == true && over.is_none(),
            "gaps": gaps,
            "options": options,
            "tasks": self.leaves().count(),
            "hours": self.hours(),
            "team": self.team(),
            "critical_path": self.critical_path(),
            "busiest": self.busiest(),
            "phases": self.phases(),
            "top_risks": self.top_risks(),
            "demands": Trace { plan: self.plan, schedule: self.schedule, facts: self.facts, stages: self.stages, over, late }.demands(),
            "risks": self.register(),
            "health": self.health,
        })
    }

    /// What cannot be kept, and by how much.
    fn gaps(&self, over: Option<i64>, late: Option<i32>) -> Vec<String> {
        let (schedule, currency) = (self.schedule, &self.facts.currency);
        let mut gaps: Vec<String> = Vec::new();
        if let Some(due) = self.facts.deadline.filter(|_| self.facts.is_past_due()) {
            gaps.push(format!(
                "It is due on {due}, which had passed when it was asked for on {}: say by when it has to be done now.",
                self.facts.today
            ));
        } else if let (Some(late), Some(finish), Some(due)) = (late, day(&schedule["finish"]), self.facts.deadline) {
            gaps.push(format!(
                "It is due on {due} and done on {finish} even if nothing goes wrong: {late} days too late."
            ));
        }
        let cost = &schedule["cost"];
        if let (Some(over), Some(total), Some(budget)) = (over, whole(&cost["total"]), whole(&cost["budget"])) {
            let [total, budget, over] = [total, budget, over].map(|amount| thousands(&amount.to_string()));
            gaps.push(format!(
                "It costs {total} {currency} even if nothing goes wrong, and the budget is {budget} {currency}: {over} {currency} too much."
            ));
        }
        let other = items(&schedule["infeasible"]).filter(|gap| gap["constraint"]["kind"] != "deadline");
        gaps.extend(other.filter_map(|gap| Some(begun_large(gap["what"].as_str()?))));
        if gaps.is_empty() && schedule["feasible"] != true {
            gaps.push("Somebody or something is needed in more than one place at once.".to_owned());
        }
        gaps
    }

    /// What would close the gaps, each on its own.
    fn options(&self, over: Option<i64>, late: Option<i32>) -> Vec<String> {
        let (schedule, currency) = (self.schedule, &self.facts.currency);
        let chance = &schedule["monte_carlo"];
        let mut options: Vec<String> = Vec::new();
        if let Some(safe) = day(&chance["finish"]["p80"]).filter(|_| late.is_some()) {
            options.push(format!("Move the deadline to {safe}, which holds in eight of ten cases."));
        }
        if let Some(late) = late.filter(|_| !self.facts.is_past_due()) {
            let mut path: Vec<(f64, String)> = items(&schedule["critical_path"])
                .filter_map(Value::as_str)
                .filter_map(|id| Some((self.estimate(id)?, self.plan.task(id)?.name().to_owned())))
                .collect();
            path.sort_by(|one, other| other.0.total_cmp(&one.0));
            let longest: Vec<String> = path.into_iter().take(LONGEST).map(|(_, title)| format!("“{title}”")).collect();
            options.push(format!(
                "Take {late} days out of the critical path; its longest tasks are {}.",
                longest.join(", ")
            ));
            let made = items(&schedule["infeasible"]).flat_map(|gap| items(&gap["fixes"]));
            let single = made.filter(|fix| {
                fix["change"]
                    .as_str()
                    .is_some_and(|change| change.contains(".estimate=") || change.contains(".capacity="))
            });
            options.extend(
                single.take(LONGEST).filter_map(|fix| Some(format!("{}.", begun_large(fix["what"].as_str()?)))),
            );
        }
        if let (Some(over), Some(safe)) = (over, whole(&chance["cost"]["p80"])) {
            let [over, safe] = [over, safe].map(|amount| thousands(&amount.to_string()));
            options.push(format!("Raise the budget to {safe} {currency}, which is enough in eight of ten cases."));
            let phases = self.phases();
            // Where there is one phase, its steps say more.
            let mut parts: Vec<(i64, &str)> = match phases.len() {
                ..2 => self.leaves().filter_map(|row| Some((whole(&row["cost"])?, row["title"].as_str()?))).collect(),
                _ => phases
                    .iter()
                    .filter_map(|phase| Some((phase["cost"].as_i64()?, phase["title"].as_str()?)))
                    .collect(),
            };
            parts.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            let dearest: Vec<String> = parts.iter().take(2).map(|(_, title)| format!("“{title}”")).collect();
            options.push(format!(
                "Leave out work worth {over} {currency}; most money goes into {}.",
                dearest.join(" and ")
            ));
        }
        options
    }

    /// The pieces of work: no phases and no decisions.
    fn leaves(&self) -> impl Iterator<Item = &Value> {
        let decided = |row: &Value| {
            let task = row["id"].as_str().and_then(|id| self.plan.task(id));
            task.is_some_and(|task| matches!(task.action, Some(Action::Gate(_))))
        };
        items(&self.schedule["tasks"]).filter(move |row| row["kind"] == "task" && !decided(row))
    }

    fn hours(&self) -> f64 {
        let hours = |id: &Value| id.as_str().and_then(|id| self.estimate(id)).unwrap_or_default();
        whole_hours(self.leaves().map(|row| hours(&row["id"])).sum())
    }

    /// The likely hours of work of a task.
    fn estimate(&self, id: &str) -> Option<f64> {
        let text = self.draft["schedule"]["tasks"][id]["estimate"].as_str()?;
        let parts: Vec<&str> = text.split('/').map(str::trim).collect();
        parts.get(parts.len() / 2)?.trim_end_matches('h').parse().ok()
    }

    fn critical_path(&self) -> Vec<Value> {
        let ids = items(&self.schedule["critical_path"]).filter_map(Value::as_str);
        let tasks = ids.filter_map(|id| self.plan.task(id));
        tasks.map(|task| json!({"id": task.id, "title": task.name(), "owner": task.owner})).collect()
    }

    fn busiest(&self) -> Vec<Value> {
        let all = self.hours().max(1.0);
        let mut busy: Vec<(String, f64)> = Vec::new();
        for task in &self.plan.tasks {
            let (Some(owner), Some(hours)) = (&task.owner, self.estimate(task.id.as_str())) else { continue };
            match busy.iter_mut().find(|(known, _)| known == owner) {
                Some((_, sum)) => *sum += hours,
                None => busy.push((owner.clone(), hours)),
            }
        }
        busy.retain(|(_, hours)| *hours > 0.0);
        busy.sort_by(|one, other| other.1.total_cmp(&one.1));
        let share = |hours: f64| (hours / all * 100.0).round();
        busy.into_iter()
            .take(BUSIEST)
            .map(|(role, hours)| json!({"role": role, "hours": hours.round(), "share": share(hours)}))
            .collect()
    }

    fn phases(&self) -> Vec<Value> {
        let rows = items(&self.schedule["tasks"]).filter(|row| row["kind"] == "summary");
        let inside = |id: &Value| self.leaves().filter(|row| row["parent"] == *id).count();
        rows.map(|row| {
            json!({
                "id": row["id"], "title": row["title"], "start": day(&row["start"]), "finish": day(&row["finish"]),
                "cost": whole(&row["cost"]), "tasks": inside(&row["id"]),
            })
        })
        .collect()
    }

    /// Every risk, with what is done about it.
    fn register(&self) -> Vec<Value> {
        let risks = self.plan.schedule.risks.iter();
        risks
            .map(|risk| {
                json!({
                    "id": risk.id, "title": risk.title, "likelihood": risk.probability, "impact": risk.impact,
                    "effect": risk.effect, "mitigation": risk.mitigation, "owner": risk.owner,
                })
            })
            .collect()
    }

    fn top_risks(&self) -> Vec<Value> {
        let section = serde_json::to_value(&self.plan.schedule.risks).unwrap_or_default();
        let mut risks: Vec<&Value> = items(&section).collect();
        let weight = |risk: &Value| risk["probability"].as_f64().unwrap_or_default();
        risks.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
        let top = risks.into_iter().take(TOP_RISKS);
        top.map(|risk| {
            json!({
                "id": risk["id"], "title": risk["title"], "probability": risk["probability"], "impact": risk["impact"],
                "mitigation": risk["mitigation"],
            })
        })
        .collect()
    }

    /// Whether the people that were named are enough, in words; nothing where nobody said how many there are.
    fn team(&self) -> Option<String> {
        let people = self.facts.team_size?;
        let roles: BTreeSet<&String> = self.plan.tasks.iter().filter_map(|task| task.owner.as_ref()).collect();
        Some(format!(
            "{people} work on it, as was said: never more at once, whoever is hired included. They share {} roles.",
            roles.len()
        ))
    }
}
