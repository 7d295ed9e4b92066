//! Takes back what a task did, by the records that were made before it did it.

use std::sync::Arc;

use gantry_runners::{Place, Work, http, mcp, shell};
use gantry_store::{EffectRow, StoreError, all_effects};
use serde_json::json;

use crate::engine::Shared;
use crate::ports::{Attempt, INTENT};

/// Takes back everything that attempts at this task intended and nobody took back yet, the last thing first.
pub(crate) async fn restore(
    shared: &Arc<Shared>,
    work: &Work,
    place: &Place,
    ports: &Arc<Attempt>,
) -> Result<String, String> {
    let rows = rows(work, ports).await?;
    let is_intent = |row: &EffectRow| row.kind == INTENT;
    if !rows.iter().any(is_intent) {
        return without_record(shared, work, &rows);
    }
    let intents: Vec<EffectRow> = rows.into_iter().filter(|row| is_intent(row) && row.answer.is_none()).collect();
    if intents.is_empty() {
        return Ok("it was taken back before".to_owned());
    }
    let mut said = Vec::new();
    for mut intent in intents.into_iter().rev() {
        let how = shared.runners.undo(work, place, &ports.ports(), &intent.request).await?;
        intent.answer = Some(json!({ "undone": &how }));
        said.push(how);
        intent.ended_at = Some(shared.clock.now());
        let recorded = ports.patiently(|| shared.store.record_effects(vec![intent.clone()])).await;
        recorded.map_err(|error| error.to_string())?;
    }
    Ok(format!("restored what it changed: {}", said.join("; ")))
}

/// No attempt wrote down how to take it back: either it did nothing, or nobody can know what it did. Whatever is done
/// outside is on record before it begins, so without a row nothing was begun.
fn without_record(shared: &Arc<Shared>, work: &Work, rows: &[EffectRow]) -> Result<String, String> {
    let is_without = |row: &EffectRow, mark: &str| row.answer.as_ref().is_none_or(|answer| answer.get(mark).is_none());
    let began = |row: &EffectRow| match row.kind.as_str() {
        shell::PROCESS => is_without(row, shell::NOT_STARTED),
        http::REQUEST => is_without(row, http::NOT_SENT),
        mcp::CALL => true,
        _ => false,
    };
    let ran = rows.iter().any(began);
    if !ran && shared.runners.can(work) {
        return Ok("it had changed nothing".to_owned());
    }
    let task = &work.task;
    Err(format!("nothing was kept before `{task}` was done, so what it changed is not known: take it back by hand"))
}

/// Everything that attempts at a task did outside, in order.
async fn rows(work: &Work, ports: &Attempt) -> Result<Vec<EffectRow>, String> {
    let rows = ports.patiently(|| all_effects(&*ports.store, &work.plan, Some(&work.task))).await;
    rows.map_err(|error: StoreError| error.to_string())
}
