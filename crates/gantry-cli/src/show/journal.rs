//! Reads the journal of a plan, page by page.

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_store::{PAGE_ITEMS_MAX, Store};

use crate::exit::Fault;

/// The entries after this one, all of them.
pub async fn entries(store: &dyn Store, plan: &PlanId, after: u64) -> Result<Vec<Entry>, Fault> {
    let (mut found, mut cursor) = (Vec::new(), after);
    loop {
        let page = store.turns(plan, cursor, PAGE_ITEMS_MAX).await?;
        let entries = page.items.into_iter().flat_map(|turn| turn.entries);
        found.extend(entries.filter(|entry| entry.seq > after));
        match page.next {
            Some(next) => cursor = next,
            None => return Ok(found),
        }
    }
}
