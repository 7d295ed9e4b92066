//! What a plan would take, before it begins: questions to models, their price, and time.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use gantry_core::plan::Plan;
use gantry_store::{ListFilter, all_effects};
use serde_json::{Value, json};

use super::plans::{asked_for, models_of, read_new};
use super::schedule::scheduled;
use crate::access::Role;
use crate::app::App;
use crate::body::{Raw, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::{Anything, NewPlan};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/plans/estimate",
        Role::Viewer,
        estimate,
        Does::new(
            "plans",
            "Say what a plan would ask of models at most, what that costs and how long it \
             takes, and create nothing",
        )
        .takes::<NewPlan>()
        .gives::<Anything>(200, "The figures."),
    )
}

/// How long a call takes when none is on record: what usual models take for a page of text.
const CALL_MS_ASSUMED: i64 = 10_000;
/// In how many of the newest plans calls are looked for.
const PLANS_MAX: u32 = 20;

/// `POST /plans/estimate`.
pub async fn estimate(State(app): State<App>, raw: Raw) -> Result<Told<Value>, Problem> {
    let new = read_new(&raw)?;
    let (plan, _) = asked_for(&app, &new)?;
    Ok(Told(of(&app, &plan, &new).await?))
}

/// What a plan would take.
pub async fn of(app: &App, plan: &Plan, new: &NewPlan) -> Result<Value, Problem> {
    let mut value = app.house.estimate(plan, &models_of(app, new).await?).await?;
    let asking: BTreeMap<&str, &str> = value["tasks"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|task| Some((task["task"].as_str()?, task["model"].as_str()?)))
        .collect();
    let offline = asking.values().all(|model| model.starts_with(gantry_llm::config::OFFLINE));
    let chain = longest(plan, &asking.keys().copied().collect());
    let (each_ms, from) = match took(app).await? {
        _ if offline => (0, "the offline model answers at once".to_owned()),
        Some((mean, count)) => (mean, format!("{count} calls on record")),
        None => (CALL_MS_ASSUMED, "assumed: no call is on record".to_owned()),
    };
    let ms = each_ms * i64::try_from(chain).unwrap_or(i64::MAX);
    let time = json!({"questions_in_a_row": chain, "each_ms": each_ms, "ms": ms, "from": from});
    value["time"] = time;
    // What the plan itself says about its work, where it has estimates.
    let work = scheduled(plan.project(App::now())).await;
    value["work"] = match &work {
        Ok((_, schedule)) if !plan.schedule.tasks.is_empty() => {
            json!({"start": schedule.start, "finish": schedule.finish, "cost": schedule.cost.total})
        }
        _ => Value::Null,
    };
    Ok(value)
}

/// How many tasks that ask models wait for each other in a row.
fn longest(plan: &Plan, asking: &BTreeSet<&str>) -> usize {
    let waits = plan.waits();
    let places: BTreeMap<&str, usize> =
        plan.tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect();
    let mut chain = vec![None; plan.tasks.len()];
    // A stack instead of calls inside calls: plans may be long.
    let mut open: Vec<usize> = (0..plan.tasks.len()).collect();
    while let Some(at) = open.pop() {
        if chain[at].is_some() {
            continue;
        }
        let before: Vec<usize> = waits[at].iter().filter_map(|id| places.get(id.as_str()).copied()).collect();
        let missing: Vec<usize> = before.iter().copied().filter(|place| chain[*place].is_none()).collect();
        if missing.is_empty() {
            let own = usize::from(asking.contains(plan.tasks[at].id.as_str()));
            chain[at] = Some(own + before.iter().filter_map(|place| chain[*place]).max().unwrap_or(0));
        } else {
            open.push(at);
            open.extend(missing);
        }
    }
    chain.into_iter().flatten().max().unwrap_or(0)
}

/// How long calls to models took lately, and how many there were.
async fn took(app: &App) -> Result<Option<(i64, i64)>, Problem> {
    let (mut ms, mut count) = (0, 0);
    for card in app.store().list(ListFilter { limit: PLANS_MAX, ..ListFilter::default() }).await?.items {
        if card.card.used.model_calls == 0 {
            continue;
        }
        for call in all_effects(app.store(), &card.id, None).await?.iter().filter(|call| call.usage.model_calls > 0) {
            if let Some(ended) = call.ended_at {
                ms += ended.as_ms() - call.started_at.as_ms();
                count += 1;
            }
        }
    }
    Ok((count > 0).then(|| (ms / count, count)))
}
