//! What is read, one file for each kind of thing. Everything is checked against its hash or sum.

mod journal; // in reading order
mod plans;
mod things;

pub(crate) use journal::{load, turns, verify};
pub(crate) use plans::{find, list, search};
pub(crate) use things::{artifact, artifacts, ask_answer, beginning, blob, dropped_at, effects, inbox, recall};

use gantry_core::id::PlanId;
use gantry_store::{PAGE_ITEMS_MAX, Page, StoreError};
use rusqlite::{Connection, OptionalExtension as _};

use crate::error::sql;
use crate::row::{self, PlanRow};

/// The row of a plan that must exist.
fn plan(conn: &Connection, id: &PlanId) -> Result<PlanRow, StoreError> {
    row::plan_by_id(conn, id)?.ok_or_else(|| StoreError::not_found(format!("plan `{id}`")))
}

/// The number of a plan that must exist. What is found by it is checked against the plan's id.
fn plan_no(conn: &Connection, id: &PlanId) -> Result<i64, StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, &format!("reading plan `{id}`"));
    let mut statement = conn.prepare_cached("SELECT no FROM plan WHERE id = ?1").map_err(failed)?;
    let found = statement.query_row([id.as_str()], |row| row.get(0)).optional().map_err(failed)?;
    found.ok_or_else(|| StoreError::not_found(format!("plan `{id}`")))
}

/// How many rows to ask for: one more than the page has, to see whether there is a next one.
fn rows_asked(limit: u32) -> i64 {
    i64::from(limit.clamp(1, PAGE_ITEMS_MAX)) + 1
}

/// Makes a page of rows that come with their cursors.
fn page<T>(mut rows: Vec<(u64, T)>, limit: u32) -> Page<T> {
    let limit = limit.clamp(1, PAGE_ITEMS_MAX) as usize;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().map(|(cursor, _)| *cursor).filter(|_| more);
    Page { items: rows.into_iter().map(|(_, item)| item).collect(), next }
}

/// Runs a query and reads all of its rows.
fn rows<T>(
    conn: &Connection,
    query: &str,
    params: impl rusqlite::Params,
    doing: &str,
    mut read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<Result<T, StoreError>>,
) -> Result<Vec<T>, StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, doing);
    let mut statement = conn.prepare_cached(query).map_err(failed)?;
    let mut found = statement.query(params).map_err(failed)?;
    let mut items = Vec::new();
    while let Some(row) = found.next().map_err(failed)? {
        items.push(read(row).map_err(failed)??);
    }
    Ok(items)
}
