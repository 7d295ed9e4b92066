//! The journal: loading, paging, verifying.

use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use gantry_store::{
    ChainReport, Hash, Loaded, PAGE_BYTES_MAX, PAGE_ITEMS_MAX, Page, PlanNo, Problem, Snapshot, StoreError, StoredTurn,
    Turn, first_head,
};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::sql;
use crate::pack::unpack;
use crate::row::{self, PlanRow};

/// More than any snapshot has: a damaged row must not ask for all the memory there is.
const SNAPSHOT_BYTES_MAX: u64 = 1 << 30;

/// Where reading begins: how many entries stand before, and the hash after them.
#[derive(Clone, Copy)]
struct Reached {
    length: u64,
    head: Hash,
}

/// Loads a plan from its newest snapshot that is sound.
pub(crate) fn load(conn: &Connection, id: &PlanId) -> Result<Option<Loaded>, StoreError> {
    let Some(plan) = row::plan_by_id(conn, id)? else { return Ok(None) };
    let mut damaged = Vec::new();
    let snapshot = match snapshot(conn, id, plan.known.no) {
        Ok(snapshot) => snapshot,
        // It only saves time: what it says is in the journal, too.
        Err(StoreError::Corrupt { what, .. }) => {
            damaged.push(format!("{what}; the whole journal was read instead"));
            None
        }
        Err(other) => return Err(other),
    };
    let begin = match &snapshot {
        Some((snapshot, head)) => Reached { length: snapshot.length, head: *head },
        None => Reached { length: 0, head: first_head(id) },
    };
    let mut turns = Vec::new();
    let mut reached = begin;
    each_turn(conn, plan.known.no, begin.length, |stored| {
        let turn = stored.open(reached.length, reached.head).map_err(|what| broken(id, &what))?;
        reached = Reached { length: stored.last_seq, head: stored.head };
        turns.push(turn);
        Ok(Go::On)
    })?;
    check_end(id, &plan, reached).map_err(|what| broken(id, &what))?;
    let snapshot = snapshot.map(|(snapshot, _)| snapshot);
    Ok(Some(Loaded { plan_no: plan.known.no, snapshot, turns, length: reached.length, head: reached.head, damaged }))
}

/// A page of turns, beginning with the one that holds the entry after `after_seq`.
pub(crate) fn turns(conn: &Connection, id: &PlanId, after_seq: u64, limit: u32) -> Result<Page<Turn>, StoreError> {
    let plan = super::plan(conn, id)?;
    let mut reached = reached_before(conn, id, plan.known.no, after_seq)?;
    let limit = limit.clamp(1, PAGE_ITEMS_MAX) as usize;
    let mut items: Vec<Turn> = Vec::new();
    let mut bytes = 0;
    each_turn(conn, plan.known.no, reached.length, |stored| {
        if items.len() == limit || bytes >= PAGE_BYTES_MAX {
            return Ok(Go::Stop);
        }
        items.push(stored.open(reached.length, reached.head).map_err(|what| broken(id, &what))?);
        bytes += stored.entries.len() + stored.inputs.len();
        reached = Reached { length: stored.last_seq, head: stored.head };
        Ok(Go::On)
    })?;
    let next = Some(reached.length).filter(|length| !items.is_empty() && *length < plan.known.length);
    Ok(Page { items, next })
}

/// Recomputes everything that is known of a plan.
pub(crate) fn verify(conn: &Connection, id: &PlanId) -> Result<ChainReport, StoreError> {
    let mut problems = Vec::new();
    let plan = super::plan(conn, id)?;
    let mut reached = Reached { length: 0, head: first_head(id) };
    let mut count = 0;
    let read = each_turn(conn, plan.known.no, 0, |stored| match stored.check(reached.length, reached.head) {
        Ok(()) => {
            reached = Reached { length: stored.last_seq, head: stored.head };
            count += 1;
            Ok(Go::On)
        }
        Err(what) => {
            problems.push(Problem { seq: Some(reached.length + 1), what });
            Ok(Go::Stop)
        }
    });
    match read {
        Ok(()) => {}
        Err(StoreError::Corrupt { what, .. }) => problems.push(Problem { seq: Some(reached.length + 1), what }),
        Err(other) => return Err(other),
    }
    if problems.is_empty()
        && let Err(what) = check_end(id, &plan, reached)
    {
        problems.push(Problem { seq: Some(reached.length.min(plan.known.length) + 1), what });
    }
    note(&mut problems, snapshot(conn, id, plan.known.no).map(drop))?;
    for artifact in super::things::sound_artifacts(conn, id, plan.known.no, &mut problems)? {
        let gone = || StoreError::corrupt(format!("the content of artifact `{}` is gone", artifact.reference()));
        let hash = artifact.artifact.hash;
        if super::things::dropped_at(conn, hash)?.is_some() {
            continue; // its time was over, and that is on record
        }
        let content = super::things::blob(conn, hash).and_then(|found| found.ok_or_else(gone));
        note(&mut problems, content.map(drop))?;
    }
    super::things::check_effects(conn, id, plan.known.no, &mut problems)?;
    Ok(ChainReport { plan: id.clone(), length: reached.length, turns: count, head: reached.head, problems })
}

/// Damage is a finding; any other error means that nothing could be found.
pub(super) fn note(problems: &mut Vec<Problem>, found: Result<(), StoreError>) -> Result<(), StoreError> {
    match found {
        Err(StoreError::Corrupt { what, .. }) => {
            problems.push(Problem { seq: None, what });
            Ok(())
        }
        other => other,
    }
}

/// The journal must end where the plan's row says: a missing tail has no hash of its own.
fn check_end(id: &PlanId, plan: &PlanRow, reached: Reached) -> Result<(), String> {
    if reached.length != plan.known.length {
        return Err(format!("the journal ends after entry {} instead of {}", reached.length, plan.known.length));
    }
    if reached.head != plan.known.head {
        return Err(format!("the journal of `{id}` ends with another hash than its row says"));
    }
    Ok(())
}

fn broken(id: &PlanId, what: &str) -> StoreError {
    StoreError::corrupt(format!("plan `{id}`: {what}"))
}

/// The end of the last turn with no entry after `seq`.
fn reached_before(conn: &Connection, id: &PlanId, no: PlanNo, seq: u64) -> Result<Reached, StoreError> {
    let found = conn
        .prepare_cached(
            "SELECT last_seq, head FROM turn WHERE plan_no = ?1 AND last_seq <= ?2 ORDER BY last_seq DESC LIMIT 1",
        )
        .and_then(|mut statement| {
            let read = |row: &Row<'_>| Ok(Reached { length: row::uint(row, 0)?, head: row::hash(row, 1)? });
            statement.query_row([row::int(no.0), row::int(seq)], read).optional()
        })
        .map_err(|error| sql(&error, "reading the journal"))?;
    Ok(found.unwrap_or(Reached { length: 0, head: first_head(id) }))
}

/// Whether to read the next turn.
enum Go {
    On,
    Stop,
}

/// Reads the turns after `length` entries, without keeping them.
fn each_turn(
    conn: &Connection,
    no: PlanNo,
    length: u64,
    mut each: impl FnMut(&StoredTurn<'_>) -> Result<Go, StoreError>,
) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, &format!("reading the journal of plan {no}"));
    let mut statement = conn
        .prepare_cached(
            "SELECT first_seq, last_seq, at, inputs, entries, head FROM turn
             WHERE plan_no = ?1 AND last_seq > ?2 ORDER BY last_seq",
        )
        .map_err(failed)?;
    let mut rows = statement.query([row::int(no.0), row::int(length)]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let stored = stored_turn(row).map_err(failed)?;
        if let Go::Stop = each(&stored)? {
            return Ok(());
        }
    }
    Ok(())
}

fn stored_turn<'a>(row: &'a Row<'_>) -> rusqlite::Result<StoredTurn<'a>> {
    Ok(StoredTurn {
        first_seq: row::uint(row, 0)?,
        last_seq: row::uint(row, 1)?,
        at: Timestamp::from_ms(row.get(2)?),
        inputs: row.get_ref(3)?.as_str()?,
        entries: row.get_ref(4)?.as_str()?,
        head: row::hash(row, 5)?,
    })
}

/// The snapshot of a plan and the hash of the journal where it was made.
fn snapshot(conn: &Connection, id: &PlanId, no: PlanNo) -> Result<Option<(Snapshot, Hash)>, StoreError> {
    type Stored = (u64, Hash, String, u64, Vec<u8>, Hash);
    let read = |row: &Row<'_>| -> rusqlite::Result<Stored> {
        let body = row.get_ref(4)?.as_blob()?.to_vec();
        Ok((row::uint(row, 0)?, row::hash(row, 1)?, row.get(2)?, row::uint(row, 3)?, body, row::hash(row, 5)?))
    };
    let what = format!("the snapshot of plan `{id}`");
    let stored = conn
        .prepare_cached("SELECT length, head, packing, bytes, body, sum FROM snapshot WHERE plan_no = ?1")
        .and_then(|mut statement| statement.query_row([row::int(no.0)], read).optional())
        .map_err(|error| sql(&error, &format!("reading {what}")))?;
    let Some((length, head, packing, bytes, body, sum)) = stored else { return Ok(None) };
    let body = unpack(&packing, bytes, body, SNAPSHOT_BYTES_MAX, &what)?;
    if row::snapshot_sum(id, length, head, Hash::of(&body)) != sum {
        return Err(StoreError::corrupt(format!("{what} is not what was written: its sum does not fit")));
    }
    // The state must be of this journal, not only sound in itself.
    let reached = reached_before(conn, id, no, length)?;
    if (reached.length, reached.head) != (length, head) {
        return Err(StoreError::corrupt(format!("{what} does not fit the journal at entry {length}")));
    }
    Ok(Some((Snapshot { length, body }, head)))
}
