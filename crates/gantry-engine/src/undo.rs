//! Takes back what a task did, by the records that were made before it did it.

use std::sync::Arc;

use gantry_runners::{Place, Work};
use gantry_store::{EffectRow, PAGE_ITEMS_MAX};
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
    let intents = open_intents(work, ports).await?;
    if intents.is_empty() {
        return Ok("it had changed nothing".to_owned());
    }
    let count = intents.len();
    for mut intent in intents.into_iter().rev() {
        let how = shared.runners.undo(work, place, &ports.ports(), &intent.request).await?;
        intent.answer = Some(json!({ "undone": how }));
        intent.ended_at = Some(shared.clock.now());
        let recorded = ports.patiently(|| shared.store.record_effects(vec![intent.clone()])).await;
        recorded.map_err(|error| error.to_string())?;
    }
    Ok(format!("restored what it changed ({count} {})", if count == 1 { "change" } else { "changes" }))
}

/// What attempts at a task were about to change, in order, without what was taken back.
async fn open_intents(work: &Work, ports: &Attempt) -> Result<Vec<EffectRow>, String> {
    let (mut intents, mut cursor) = (Vec::new(), 0);
    loop {
        let page = ports.patiently(|| ports.store.effects(&work.plan, Some(&work.task), cursor, PAGE_ITEMS_MAX)).await;
        let page = page.map_err(|error| error.to_string())?;
        intents.extend(page.items.into_iter().filter(|row| row.kind == INTENT && row.answer.is_none()));
        match page.next {
            Some(next) => cursor = next,
            None => return Ok(intents),
        }
    }
}
