//! `gantry model estimate`: what a plan would ask of models, and what that would cost, before it runs.

use std::fmt::Write as _;
use std::process::ExitCode;

use gantry_core::effect::Failure;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::life::{self, Life};
use gantry_core::plan::{Action, Check, Decide, FailureMode, Plan, Task};
use gantry_core::policy::{Judge, Usage};
use gantry_core::time::Timestamp;
use gantry_runners::{Models, Outlook};
use serde_json::{Value, json};

use super::options::ModelOptions;
use super::set_up::Configured;
use crate::exit::{self, Fault};
use crate::file::{count, load_sound};
use crate::run::first_attempt;
use crate::session;
use crate::show::table::columns;
use crate::show::{first_line, plain};

/// What is found of a plan.
#[derive(Default)]
struct Found {
    tasks: Vec<(String, Outlook)>,
    /// Tasks that cannot be counted before they begin, and why.
    open: Vec<(String, &'static str)>,
}

impl Found {
    /// Adds what a task asks: in each of its ways, and of those who judge it.
    async fn look_at(&mut self, models: &Models, life: &Life, task: &Task) -> Result<(), Failure> {
        for (way, action) in task.action.iter().chain(&task.alternates).enumerate() {
            let name = if way == 0 { task.id.to_string() } else { format!("{}, way {}", task.id, way + 1) };
            let outlook = models.foresee(&first_attempt(life, task, action)).await?;
            self.tasks.extend(outlook.map(|outlook| (name, outlook)));
        }
        let Some(action) = task.action.as_ref().filter(|_| life.plan().policy.judge == Judge::Model) else {
            return Ok(());
        };
        let work = first_attempt(life, task, action);
        let result = [&task.success_criteria, &task.postconditions].into_iter().flat_map(|checks| in_words(checks));
        let modes = task.failure_modes.iter().filter_map(FailureMode::absence);
        for checks in [in_words(&task.preconditions), modes.chain(result).collect()] {
            for (outlook, by) in models.foresee_judging(&work, &checks).await?.into_iter().zip(["judge", "critic"]) {
                self.tasks.push((format!("{}, {by}", task.id), outlook));
            }
        }
        Ok(())
    }

    fn total(&self) -> Usage {
        self.tasks.iter().fold(Usage::default(), |sum, (_, outlook)| sum.plus(outlook.usage))
    }

    fn is_priced(&self) -> bool {
        self.tasks.iter().all(|(_, outlook)| outlook.priced)
    }
}

pub fn run(options: &ModelOptions, file: &str, json: bool) -> Result<ExitCode, Fault> {
    let plan = load_sound(file)?;
    let found = session::block_on(look_at(plan.clone(), options.clone()))?;
    let short = beyond(&found, &plan);
    if json {
        exit::print_json(&to_json(&found, &plan, &short))?;
    } else {
        exit::print(&drawn(&found, &plan, &short))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

/// What a plan would ask of models with these options, for programs.
pub async fn of(plan: &Plan, options: ModelOptions) -> Result<Value, Fault> {
    let found = look_at(plan.clone(), options).await?;
    Ok(to_json(&found, plan, &beyond(&found, plan)))
}

async fn look_at(plan: Plan, options: ModelOptions) -> Result<Found, Fault> {
    let models = Models::new(Configured(options));
    let id = plan.id.clone().unwrap_or_else(|| PlanId::slugged(plan.name()));
    let entries =
        life::create(plan, id, 0, Timestamp::default()).map_err(|refusal| Fault::bad_input(refusal.to_string()))?;
    let life = life::replay(&entries).map_err(|bad| Fault::internal(bad.to_string()))?;
    let mut found = Found::default();
    for task in &life.plan().tasks {
        let name = task.id.to_string();
        match &task.action {
            Some(Action::Map(_)) => found.open.push((name, "one task for each item of a list")),
            Some(Action::Plan(_)) => found.open.push((name, "a plan inside")),
            Some(Action::Adopt(_)) => found.open.push((name, "the tasks of a plan that is still to be made")),
            Some(_) | None => {}
        }
        found
            .look_at(&models, &life, task)
            .await
            .map_err(|failure| Fault::bad_input(format!("task `{}`: {}", task.id, failure.message)))?;
    }
    let done_when = in_words(&life.plan().done_when);
    if life.plan().policy.judge == Judge::Model && !done_when.is_empty() {
        let name = TaskId::new("done-when").map_err(|error| Fault::internal(error.to_string()))?;
        let work = first_attempt(&life, &Task::new(name), &Action::Decide(Decide::default()));
        let outlooks = models.foresee_judging(&work, &done_when).await;
        let outlooks = outlooks.map_err(|failure| Fault::bad_input(format!("`done_when`: {}", failure.message)))?;
        found.tasks.extend(
            outlooks
                .into_iter()
                .zip(["done_when, judge", "done_when, critic"])
                .map(|(one, name)| (name.to_owned(), one)),
        );
    }
    Ok(found)
}

/// The checks that a judge is asked about.
fn in_words(checks: &[Check]) -> Vec<String> {
    let words = checks.iter().filter(|check| matches!(check, Check::Words(_)));
    words.map(|check| check.text().to_owned()).collect()
}

/// What the budget of the plan has no room for.
fn beyond(found: &Found, plan: &Plan) -> Vec<String> {
    let (budget, total) = (plan.policy.budget, found.total());
    let calls = budget.model_calls.filter(|max| total.model_calls > *max).map(|max| format!("{max} calls"));
    let tokens = budget.tokens.filter(|max| total.tokens > *max).map(|max| format!("{max} tokens"));
    let cost = budget.cost_usd.filter(|max| total.cost_usd > *max).map(|max| format!("${max}"));
    calls.into_iter().chain(tokens).chain(cost).collect()
}

fn price(usage: Usage, priced: bool) -> String {
    if priced { format!("${}", usage.cost_usd) } else { "unknown".to_owned() }
}

fn row(name: &str, target: &str, usage: Usage, priced: bool) -> Vec<String> {
    let calls = usize::try_from(usage.model_calls).unwrap_or(usize::MAX);
    let used = [count(calls, "call"), format!("{} tokens", usage.tokens), price(usage, priced)];
    [name.to_owned(), target.to_owned()].into_iter().chain(used).collect()
}

fn drawn(found: &Found, plan: &Plan, short: &[String]) -> String {
    let title = first_line(plan.name(), 100);
    if found.tasks.is_empty() && found.open.is_empty() {
        return format!("{title}: asks no model\n");
    }
    let mut rows: Vec<Vec<String>> =
        found.tasks.iter().map(|(name, outlook)| row(name, &outlook.target, outlook.usage, outlook.priced)).collect();
    rows.push(row("at most", "", found.total(), found.is_priced()));
    let mut text = format!("{title}: what models would be asked; nobody is asked now\n\n{}", columns(&rows));
    for (name, why) in &found.open {
        let _ = writeln!(text, "not counted: {}: {why}", plain(name));
    }
    text += "not counted: inputs that other tasks make, what tools give, repairs and repetitions\n";
    if !short.is_empty() {
        let _ = writeln!(text, "the budget of the plan may stop it before: {}", short.join(", "));
    }
    text
}

fn to_json(found: &Found, plan: &Plan, short: &[String]) -> Value {
    let usage = |usage: Usage, priced: bool| {
        json!({
            "calls": usage.model_calls, "tokens": usage.tokens,
            "cost_usd": priced.then_some(usage.cost_usd),
        })
    };
    let tasks = found.tasks.iter().map(|(name, outlook)| {
        json!({"task": name, "model": outlook.target, "at_most": usage(outlook.usage, outlook.priced)})
    });
    let open = found.open.iter().map(|(name, why)| json!({"task": name, "why": why}));
    json!({
        "title": plan.name(), "tasks": tasks.collect::<Vec<_>>(), "at_most": usage(found.total(), found.is_priced()),
        "not_counted": open.collect::<Vec<_>>(), "beyond_budget": short,
    })
}
