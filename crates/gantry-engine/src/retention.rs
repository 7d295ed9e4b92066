//! How long the contents of artifacts are kept: as the tasks that made them declare.
//!
//! A plan that is pinned, or that is a part of one, keeps everything. What taking something back needs is spoken of by
//! recorded calls, and the store keeps it.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::id::{PlanId, TaskId};
use gantry_core::life::{Life, TaskState};
use gantry_core::plan::Retention;
use gantry_core::time::{Duration, Timestamp};
use gantry_store::{ArtifactRow, ListFilter, PlanCard, Store, StoreError, Vacuumed, all_artifacts, all_plans};

use crate::error::EngineError;
use crate::load::open;

/// How long a content is safe that was handed in while someone works: the append that refers to it may be on its way.
const ON_ITS_WAY: Duration = Duration::from_hours(24);

/// Drops the contents of artifacts whose time is over.
pub async fn drop_expired(store: &dyn Store, now: Timestamp) -> Result<Vacuumed, EngineError> {
    let plans = all_plans(store, &ListFilter::default()).await?;
    let mut worked_on = false;
    for plan in plans.iter().filter(|plan| !plan.card.state.is_over()) {
        worked_on = worked_on || store.claimed_by_other(plan.no).await?;
    }
    let before =
        if worked_on { Timestamp::from_ms(now.as_ms().saturating_sub_unsigned(ON_ITS_WAY.as_ms())) } else { now };
    let mut expired = Vec::new();
    for plan in kept_as_declared(&plans) {
        expired.extend(expired_of(store, plan, now).await?);
    }
    if expired.is_empty() {
        return Ok(Vacuumed::default());
    }
    Ok(store.drop_contents(expired, before, now).await?)
}

/// Forgets plans that ended longer ago than this, with everything that belongs to them; returns which.
///
/// A plan stays that is pinned, that is a part of one that is pinned or has not ended so long ago, that someone works on,
/// or that made something to be kept for ever: whatever stays can be replayed as before.
pub async fn forget_ended(store: &dyn Store, age: Duration, now: Timestamp) -> Result<Vec<PlanId>, EngineError> {
    let plans = all_plans(store, &ListFilter::default()).await?;
    let by_id: BTreeMap<&PlanId, &PlanCard> = plans.iter().map(|plan| (&plan.id, plan)).collect();
    let is_old = |plan: &PlanCard| plan.card.state.is_over() && now - plan.updated_at >= age;
    let mut forgotten = Vec::new();
    for plan in kept_as_declared(&plans) {
        let above = |plan: &&PlanCard| plan.card.parent.as_ref().and_then(|parent| by_id.get(parent)).copied();
        if !std::iter::successors(Some(plan), above).take(by_id.len()).all(is_old)
            || keeps_for_ever(store, plan).await?
        {
            continue;
        }
        if let Some(_claim) = store.claim(plan.no).await? {
            store.forget(&plan.id).await?;
            forgotten.push(plan.id.clone());
        }
    }
    Ok(forgotten)
}

async fn keeps_for_ever(store: &dyn Store, plan: &PlanCard) -> Result<bool, EngineError> {
    let life = match open(store, &plan.id).await {
        Ok(opened) => opened.life,
        // What cannot be read says nothing about what may be forgotten.
        Err(EngineError::Journal { .. } | EngineError::Store(StoreError::Corrupt { .. })) => return Ok(true),
        Err(error) => return Err(error),
    };
    let rows = all_artifacts(store, &plan.id).await?;
    Ok(rows.iter().any(|row| retention_of(&life, row) == Retention::Forever))
}

/// Returns how long an artifact is kept: as its task declares it, the parts of something that grows like the whole.
pub fn retention_of(life: &Life, artifact: &ArtifactRow) -> Retention {
    let name = artifact.artifact.whole_name().unwrap_or(&artifact.artifact.name);
    let task = life.definition(artifact.artifact.task.as_str());
    let declared = task.and_then(|task| task.artifacts.iter().find(|declared| declared.name == name));
    declared.map(|declared| declared.retention).unwrap_or_default()
}

/// The plans that are neither pinned nor a part of one that is.
fn kept_as_declared(plans: &[PlanCard]) -> impl Iterator<Item = &PlanCard> {
    let by_id: BTreeMap<&PlanId, &PlanCard> = plans.iter().map(|plan| (&plan.id, plan)).collect();
    plans.iter().filter(move |plan| {
        let above = |plan: &&PlanCard| plan.card.parent.as_ref().and_then(|parent| by_id.get(parent)).copied();
        !std::iter::successors(Some(*plan), above).take(by_id.len()).any(|plan| plan.pinned)
    })
}

async fn expired_of(store: &dyn Store, plan: &PlanCard, now: Timestamp) -> Result<Vec<ArtifactRow>, EngineError> {
    let life = match open(store, &plan.id).await {
        Ok(opened) => opened.life,
        // What cannot be read says nothing about what may be dropped.
        Err(EngineError::Journal { .. } | EngineError::Store(StoreError::Corrupt { .. })) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let limited = |retention: Retention| matches!(retention, Retention::Task | Retention::For(_));
    let tasks = life.task_ids();
    let declared = tasks.iter().filter_map(|task| life.definition(task.as_str())).flat_map(|task| &task.artifacts);
    if !declared.into_iter().any(|declared| limited(declared.retention)) {
        return Ok(Vec::new());
    }
    let finished = finished(&life);
    let is_expired = |row: &ArtifactRow| match retention_of(&life, row) {
        Retention::Plan | Retention::Forever => false,
        Retention::Task => finished.contains(&row.artifact.task),
        Retention::For(length) => life.state().is_over() && now - plan.updated_at >= length,
    };
    Ok(all_artifacts(store, &plan.id).await?.into_iter().filter(is_expired).collect())
}

/// The tasks that are final, and nobody who waits for them is still to begin or at work.
fn finished(life: &Life) -> BTreeSet<TaskId> {
    let plan = life.plan();
    let over = |task: &TaskId| match life.task_state(task.as_str()) {
        Some(TaskState::Completed | TaskState::Failed | TaskState::Skipped | TaskState::Abandoned) => true,
        Some(_) | None => life.state().is_over(),
    };
    let mut finished: BTreeSet<TaskId> = plan.tasks.iter().map(|task| task.id.clone()).filter(over).collect();
    for (task, waits) in plan.tasks.iter().zip(plan.waits()) {
        if !over(&task.id) {
            finished.retain(|done| !waits.contains(done));
        }
    }
    finished
}
