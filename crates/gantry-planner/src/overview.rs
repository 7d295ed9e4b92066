//! What a plan means in time and money: computed once, and the only source of such numbers for every text about it.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::plan::{Action, Plan};
use gantry_core::time::Timestamp;
use gantry_report::report::whole_hours;
use gantry_schedule::{Options, Project, Schedule};
use jiff::civil::Date;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Value, json};

use crate::brief::Held;
use crate::facts::Facts;
use crate::fill::{begun_large, thousands};
use crate::trace::Trace;

/// How many risks are among the first.
const TOP_RISKS: usize = 5;
/// How many people are among the busiest.
const BUSIEST: usize = 5;
/// How many tasks are among the longest.
const LONGEST: usize = 3;

/// What holds in fewer futures than this holds only if nothing goes wrong: to call it feasible would be a promise that
/// nobody can keep.
const FEASIBLE_CHANCE_MIN: f64 = 0.2;
/// What holds in fewer than half of them is told.
const LIKELY_CHANCE_MIN: f64 = 0.5;

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

/// How the plan stands to what it may cost and how long it may take.
pub(crate) struct Bounds {
    /// How much it costs beyond the budget, even if nothing goes wrong.
    pub(crate) over: Option<i64>,
    /// By how many days it is late, even if nothing goes wrong.
    pub(crate) late: Option<i32>,
    /// The share of futures that keep the budget.
    pub(crate) in_budget: Option<f64>,
    /// The share of futures that keep the deadline, or the day.
    pub(crate) in_time: Option<f64>,
    pub(crate) on_the_day: Option<OnTheDay>,
}

impl Bounds {
    /// What is as good as broken: it holds only if nothing goes wrong.
    pub(crate) fn is_hopeless(chance: Option<f64>) -> bool {
        chance.is_some_and(|chance| chance < FEASIBLE_CHANCE_MIN)
    }
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

/// What happens on the days that were named: where it lies, and how likely it stays there.
pub(crate) struct OnTheDay {
    held: Held,
    start: Date,
    finish: Date,
    chance: Option<f64>,
}

impl OnTheDay {
    /// None where nothing in the plan is held to such days.
    fn of(draft: &Value, schedule: &Value, facts: &Facts) -> Option<Self> {
        let held = facts.held?;
        let on_the_day =
            |id: &Value| id.as_str().is_some_and(|id| draft["schedule"]["tasks"][id]["start_no_earlier"].is_string());
        let rows = || items(&schedule["tasks"]).filter(|row| on_the_day(&row["id"]));
        let chances = items(&schedule["deadlines"]).filter(|due| on_the_day(&due["task"]));
        Some(Self {
            held,
            start: rows().filter_map(|row| day(&row["start"])).min()?,
            finish: rows().filter_map(|row| day(&row["finish"])).max()?,
            chance: chances.filter_map(|due| due["probability"].as_f64()).min_by(f64::total_cmp),
        })
    }

    /// By how many days it is late.
    fn late(&self) -> i32 {
        (self.finish - self.held.to).get_days()
    }

    /// `on 2027-10-14`, `from 2027-07-03 to 2027-07-17`.
    fn when(&self) -> String {
        let Held { from, to, all } = self.held;
        match (from == to, all) {
            (true, _) => format!("on {to}"),
            (false, true) => format!("from {from} to {to}"),
            (false, false) => format!("between {from} and {to}"),
        }
    }

    /// Where it lies, in the words of the request and in those of the schedule.
    pub(crate) fn lies(&self) -> String {
        if self.start == self.finish {
            return format!("It is held on {}.", self.start);
        }
        format!("It is held from {} to {}.", self.start, self.finish)
    }
}

/// A share of futures, as people say it.
pub(crate) fn futures(chance: f64) -> String {
    if chance < 0.01 {
        "fewer than one in a hundred futures".to_owned()
    } else {
        format!("{:.0} % of futures", chance * 100.0)
    }
}

impl Overview<'_> {
    fn value(&self) -> Value {
        let schedule = self.schedule;
        let (chance, cost) = (&schedule["monte_carlo"], &schedule["cost"]);
        let over = whole(&cost["under_budget"]).map(|left| -left).filter(|over| *over > 0);
        let finish = day(&schedule["finish"]);
        let on_the_day = OnTheDay::of(self.draft, schedule, self.facts);
        let late = match &on_the_day {
            Some(held) => Some(held.late()),
            None => finish.zip(self.facts.deadline).map(|(finish, due)| (finish - due).get_days()),
        };
        let late = late.filter(|late| *late > 0);
        let bounds = Bounds {
            over,
            late,
            in_budget: chance["budget_probability"].as_f64(),
            in_time: match &on_the_day {
                Some(held) => held.chance,
                None => chance["deadline_probability"].as_f64(),
            },
            on_the_day,
        };
        let (gaps, options) = (self.gaps(&bounds), self.options(&bounds));
        let percent = |chance: Option<f64>| chance.map(|chance| (chance * 100.0).round());
        let held = bounds.on_the_day.as_ref();
        json!({
            "start": day(&schedule["start"]),
            "finish": finish,
            "finish_p50": day(&chance["finish"]["p50"]),
            "finish_p80": day(&chance["finish"]["p80"]),
            "deadline": self.facts.deadline.filter(|_| held.is_none()),
            "deadline_chance": percent(bounds.in_time),
            "held": held.map(|held| json!({
                "from": held.held.from, "to": held.held.to, "when": held.when(), "start": held.start, "finish": held.finish,
            })),
            "days_late": late,
            "cost": whole(&cost["total"]),
            "cost_p50": whole(&chance["cost"]["p50"]),
            "cost_p80": whole(&chance["cost"]["p80"]),
            "currency": self.facts.currency,
            "budget": whole(&cost["budget"]),
            "budget_chance": percent(bounds.in_budget),
            "over_budget": over,
            "priced_by": self.facts.priced_by,
            "feasible": schedule["feasible"] == true && gaps.is_empty(),
            "gaps": gaps,
            "doubts": self.doubts(&bounds),
            "options": options,
            "tasks": self.leaves().count(),
            "hours": self.hours(),
            "team": self.team(),
            "critical_path": self.critical_path(held.is_some()),
            "busiest": self.busiest(),
            "phases": self.phases(),
            "top_risks": self.top_risks(),
            "demands": Trace { plan: self.plan, schedule: self.schedule, facts: self.facts, stages: self.stages, bounds: &bounds }.demands(),
            "risks": self.register(),
            "health": self.health,
        })
    }

    /// What cannot be kept, and by how much.
    fn gaps(&self, bounds: &Bounds) -> Vec<String> {
        let (schedule, currency) = (self.schedule, &self.facts.currency);
        let (over, late) = (bounds.over, bounds.late);
        let mut gaps: Vec<String> = Vec::new();
        if let Some(due) = self.facts.deadline.filter(|_| self.facts.is_past_due()) {
            gaps.push(format!(
                "It is due on {due}, which had passed when it was asked for on {}: say by when it has to be done now.",
                self.facts.today
            ));
        } else if let (Some(late), Some(held)) = (late, &bounds.on_the_day) {
            gaps.push(format!(
                "It is to be held {}, and would end on {} even if nothing goes wrong: {late} days too late.",
                held.when(),
                held.finish
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
        gaps.extend(self.unlikely(bounds, 0.0..FEASIBLE_CHANCE_MIN));
        let other = items(&schedule["infeasible"]).filter(|gap| gap["constraint"]["kind"] != "deadline");
        gaps.extend(other.filter_map(|gap| Some(begun_large(gap["what"].as_str()?))));
        if gaps.is_empty() && schedule["feasible"] != true {
            gaps.push("Somebody or something is needed in more than one place at once.".to_owned());
        }
        gaps
    }

    /// What holds as planned, but not in half of all futures.
    fn doubts(&self, bounds: &Bounds) -> Vec<String> {
        self.unlikely(bounds, FEASIBLE_CHANCE_MIN..LIKELY_CHANCE_MIN)
    }

    /// What holds if nothing goes wrong, and in such a share of all futures.
    fn unlikely(&self, bounds: &Bounds, share: std::ops::Range<f64>) -> Vec<String> {
        let (chance, currency) = (&self.schedule["monte_carlo"], &self.facts.currency);
        let only =
            if share.start < FEASIBLE_CHANCE_MIN { "only if nothing goes wrong" } else { "if little goes wrong" };
        let in_time = bounds.in_time.filter(|chance| bounds.late.is_none() && share.contains(chance));
        let in_budget = bounds.in_budget.filter(|chance| bounds.over.is_none() && share.contains(chance));
        let mut told: Vec<String> = Vec::new();
        match (in_time, &bounds.on_the_day, self.facts.deadline.zip(day(&chance["finish"]["p50"]))) {
            (Some(chance), Some(held), _) => {
                told.push(format!("It is held {} {only}: {} keep to that.", held.when(), futures(chance)));
            }
            (Some(chance), None, Some((due, half))) if !self.facts.is_past_due() => told.push(format!(
                "It is done by {due} {only}: {} keep to that, and half of them end after {half}.",
                futures(chance)
            )),
            _ => {}
        }
        if let (Some(in_budget), Some(budget), Some(half)) =
            (in_budget, whole(&self.schedule["cost"]["budget"]), whole(&chance["cost"]["p50"]))
        {
            let [budget, half] = [budget, half].map(|amount| thousands(&amount.to_string()));
            told.push(format!(
                "It costs no more than {budget} {currency} {only}: {} keep to that, and half of them cost more than {half} {currency}.",
                futures(in_budget)
            ));
        }
        told
    }

    /// What would close the gaps, each on its own.
    fn options(&self, bounds: &Bounds) -> Vec<String> {
        let (schedule, currency) = (self.schedule, &self.facts.currency);
        let chance = &schedule["monte_carlo"];
        let (over, late) = (self.over(bounds), self.late(bounds));
        let mut options: Vec<String> = Vec::new();
        match (&bounds.on_the_day, day(&chance["finish"]["p80"])) {
            (Some(held), _) if bounds.late.is_some() => {
                options.push(format!("Move the day to {} or later.", held.finish));
            }
            (None, Some(safe)) if late.is_some() => {
                options.push(format!("Move the deadline to {safe}, which holds in eight of ten cases."));
            }
            _ => {}
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

    /// How much more it costs than it may, as planned or else in half of all futures where that much does not hold.
    fn over(&self, bounds: &Bounds) -> Option<i64> {
        let unlikely = Bounds::is_hopeless(bounds.in_budget);
        let half = || {
            let (half, budget) = (&self.schedule["monte_carlo"]["cost"]["p50"], &self.schedule["cost"]["budget"]);
            whole(half).zip(whole(budget)).map(|(half, budget)| half - budget).filter(|over| *over > 0)
        };
        bounds.over.or_else(|| half().filter(|_| unlikely))
    }

    /// How many days later it is done than it may, in the same way.
    fn late(&self, bounds: &Bounds) -> Option<i32> {
        let unlikely = bounds.on_the_day.is_none() && Bounds::is_hopeless(bounds.in_time);
        let half = day(&self.schedule["monte_carlo"]["finish"]["p50"]).zip(self.facts.deadline);
        let half = half.map(|(half, due)| (half - due).get_days()).filter(|late| unlikely && *late > 0);
        bounds.late.or(half)
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

    /// What decides the end. Before a day that was named there is time to spare, so that only what comes after it is
    /// critical to the schedule; what decides whether that day is kept is the chain of work that is ready last.
    fn critical_path(&self, on_the_day: bool) -> Vec<Value> {
        let mut ids: Vec<&str> = items(&self.schedule["critical_path"]).filter_map(Value::as_str).collect();
        let finish: BTreeMap<&str, &str> = items(&self.schedule["tasks"])
            .filter_map(|row| Some((row["id"].as_str()?, row["finish"].as_str()?)))
            .collect();
        let ready_last = |id: &str| {
            let before = self.plan.task(id)?.depends_on.iter().map(gantry_core::id::TaskId::as_str);
            before.filter(|before| finish.contains_key(before)).max_by_key(|before| finish[before])
        };
        if on_the_day {
            let begun = ids.first().copied().and_then(ready_last);
            let mut chain: Vec<&str> =
                std::iter::successors(begun, |id| ready_last(id)).take(self.plan.tasks.len()).collect();
            chain.reverse();
            ids.splice(0..0, chain);
        }
        let tasks = ids.into_iter().filter_map(|id| self.plan.task(id));
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
