//! Everything of something that comes in pages, for those who need all of it.

use std::future::Future;

use gantry_core::id::{PlanId, TaskId};

use crate::{ArtifactRow, EffectRow, ListFilter, PAGE_ITEMS_MAX, Page, PlanCard, Store, StoreError, Turn};

/// All artifacts of a plan.
pub async fn all_artifacts(store: &dyn Store, plan: &PlanId) -> Result<Vec<ArtifactRow>, StoreError> {
    every_page(|cursor| store.artifacts(plan, cursor.unwrap_or(0), PAGE_ITEMS_MAX)).await
}

/// All recorded calls of a plan, or of one of its tasks, in the order in which they began.
pub async fn all_effects(
    store: &dyn Store,
    plan: &PlanId,
    task: Option<&TaskId>,
) -> Result<Vec<EffectRow>, StoreError> {
    every_page(|cursor| store.effects(plan, task, cursor.unwrap_or(0), PAGE_ITEMS_MAX)).await
}

/// All turns of a plan.
pub async fn all_turns(store: &dyn Store, plan: &PlanId) -> Result<Vec<Turn>, StoreError> {
    every_page(|cursor| store.turns(plan, cursor.unwrap_or(0), PAGE_ITEMS_MAX)).await
}

/// All plans that the filter lets through.
pub async fn all_plans(store: &dyn Store, filter: &ListFilter) -> Result<Vec<PlanCard>, StoreError> {
    every_page(|cursor| store.list(ListFilter { cursor, ..filter.clone() })).await
}

async fn every_page<T, F>(mut ask: impl FnMut(Option<u64>) -> F) -> Result<Vec<T>, StoreError>
where
    F: Future<Output = Result<Page<T>, StoreError>>,
{
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = ask(cursor).await?;
        all.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}
