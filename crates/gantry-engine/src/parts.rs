//! Which plans were driven for a task, as its recorded calls say, and how all of them are taken back.

use std::sync::Arc;
use std::time::Duration;

use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::input::Input;
use gantry_core::life::{Life, PlanState};
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;
use gantry_runners::Work;
use gantry_store::{EffectRow, Store, StoreError, all_effects};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::{Shared, drive};
use crate::error::EngineError;
use crate::load::open;
use crate::message::Until;
use crate::nested::Reins;
use crate::patience::{STORE_RETRY, a_while, patiently};
use crate::ports::Attempt;

/// The kind under which it is recorded that an attempt drives another plan.
const PLAN: &str = "plan";
/// Its place among the calls of an attempt: such an attempt makes no others.
const ORDINAL: u32 = 0;
/// How long a plan that is just being stopped is waited for before it is taken back.
const FREE_WITHIN: Duration = Duration::from_secs(10);

/// A plan that an attempt drove.
pub(crate) struct Part {
    pub(crate) attempt: AttemptNo,
    pub(crate) plan: PlanId,
    /// From where on.
    pub(crate) from: TakenUp,
    /// Whether its end was told to the plan around it.
    pub(crate) told: bool,
}

/// Where an attempt took a plan up.
#[derive(Clone, Copy)]
pub(crate) struct TakenUp {
    /// When.
    pub(crate) at: Timestamp,
    /// What that plan had used by then.
    pub(crate) used: Usage,
}

#[derive(Serialize, Deserialize)]
struct Request {
    plan: PlanId,
    used_before: Usage,
}

impl Part {
    /// The call that says which plan an attempt drives.
    pub(crate) fn begun(attempt: &Attempt, plan: &PlanId, used_before: Usage) -> EffectRow {
        let request = json!(Request { plan: plan.clone(), used_before });
        EffectRow { ordinal: ORDINAL, ..attempt.row(PLAN, request, None) }
    }

    /// Says how that plan ended, with the turn that takes the end of the attempt.
    pub(crate) fn told(attempt: &Attempt, plan: &PlanId, from: TakenUp, life: &Life) {
        let request = json!(Request { plan: plan.clone(), used_before: from.used });
        let answer = json!({"state": life.state(), "length": life.length()});
        let (usage, started_at) = (life.spent().minus(from.used), from.at);
        attempt.made(EffectRow { ordinal: ORDINAL, usage, started_at, ..attempt.row(PLAN, request, Some(answer)) });
    }

    fn of(row: EffectRow) -> Option<Self> {
        let request: Request = serde_json::from_value(row.request).ok().filter(|_| row.kind == PLAN)?;
        let told = row.answer.as_ref().is_some_and(|answer| answer.get("state").is_some_and(Value::is_string));
        let from = TakenUp { at: row.started_at, used: request.used_before };
        Some(Self { attempt: row.attempt, plan: request.plan, from, told })
    }
}

/// The plans that attempts at a task drove, the first attempt first.
pub(crate) async fn parts_of(store: &dyn Store, plan: &PlanId, task: &TaskId) -> Result<Vec<Part>, StoreError> {
    let rows = all_effects(store, plan, Some(task)).await?;
    let mut parts: Vec<Part> = rows.into_iter().filter_map(Part::of).collect();
    parts.sort_by_key(|part| part.attempt);
    Ok(parts)
}

/// Takes back everything that the plans inside a task did, the last plan first, and says what that used.
pub(crate) async fn take_back(shared: &Arc<Shared>, work: &Work, ports: &Attempt) -> (Result<String, String>, Usage) {
    let mut usage = Usage::default();
    let end = take_back_all(shared, work, ports, &mut usage).await;
    (end, usage)
}

async fn take_back_all(
    shared: &Arc<Shared>,
    work: &Work,
    ports: &Attempt,
    usage: &mut Usage,
) -> Result<String, String> {
    let parts = ports.patiently(|| parts_of(&*shared.store, &work.plan, &work.task)).await;
    let mut plans: Vec<PlanId> = Vec::new();
    for part in parts.map_err(|error| error.to_string())?.into_iter().rev() {
        if !plans.contains(&part.plan) {
            plans.push(part.plan);
        }
    }
    let mut done = Vec::new();
    for plan in plans {
        if take_back_one(shared, &plan, usage).await? {
            done.push(format!("`{plan}`"));
        }
    }
    if done.is_empty() {
        return Ok("it had changed nothing".to_owned());
    }
    Ok(format!("took back what plan {} did", done.join(" and plan ")))
}

/// Takes one plan back; false when there is nothing to take back.
async fn take_back_one(shared: &Arc<Shared>, plan: &PlanId, usage: &mut Usage) -> Result<bool, String> {
    let Some(before) = life_of(shared, plan).await? else { return Ok(false) };
    let by = shared.options.operator.clone();
    let mut first = match before.state() {
        PlanState::Pending => return Ok(false),
        PlanState::Abandoned => {
            return Err(format!("plan `{plan}` was given up, so that what it did has to be taken back by hand"));
        }
        PlanState::Paused => vec![Input::Resume { by: by.clone() }],
        PlanState::Running | PlanState::Blocked | PlanState::Completed | PlanState::Failed => Vec::new(),
    };
    let why = "the task that it is a part of is taken back".to_owned();
    first.push(Input::Undo { to: String::new(), by, why });
    let since = tokio::time::Instant::now();
    let driving = loop {
        match patiently(|| drive(shared, plan, Until::Stuck, first.clone(), None), a_while).await {
            Ok(driving) => break driving,
            Err(EngineError::Driven { .. }) if since.elapsed() < FREE_WITHIN => tokio::time::sleep(STORE_RETRY).await,
            Err(error) => return Err(error.to_string()),
        }
    };
    let reins = Reins(Box::new(driving.stopper()));
    let ended = driving.ended().await;
    drop(reins);
    let after = life_of(shared, plan).await?;
    *usage = usage.plus(after.as_ref().map(Life::spent).unwrap_or_default().minus(before.spent()));
    match (ended, after) {
        (Err(error), _) => Err(error.to_string()),
        (Ok(_), Some(life)) if life.state() != PlanState::Paused => {
            let waits: Vec<String> = life.waits_for().into_iter().map(|wait| wait.what).collect();
            Err(format!("plan `{plan}` could not be taken back: {}", waits.join("; ")))
        }
        (Ok(_), _) => Ok(true),
    }
}

/// Reads the life of a plan, if it was not removed.
async fn life_of(shared: &Shared, plan: &PlanId) -> Result<Option<Life>, String> {
    match patiently(|| open(&*shared.store, plan), a_while).await {
        Ok(opened) => Ok(Some(opened.life)),
        Err(EngineError::Store(StoreError::NotFound { .. })) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
