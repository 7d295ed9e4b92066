//! Blobs, artifacts, recorded effects and the inbox.

use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::time::Timestamp;
use gantry_store::{
    ARTIFACT_TEXT_BYTES_MAX, ArtifactRow, BLOB_BYTES_MAX, EffectRow, Hash, InboxId, NewArtifact, Page, PlanNo, Problem,
    StoreError,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::error::sql;
use crate::pack::{PACKED_BLOCK_BYTES_MAX, unpack, unpack_beginning};
use crate::row::{self, EffectTexts, int};

/// The bytes with this hash.
pub(crate) fn blob(conn: &Connection, hash: Hash) -> Result<Option<Vec<u8>>, StoreError> {
    let what = format!("blob {hash}");
    let stored: Option<(String, u64, Vec<u8>)> = conn
        .prepare_cached("SELECT packing, bytes, content FROM blob WHERE hash = ?1 AND dropped_at IS NULL")
        .and_then(|mut statement| {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row::uint(row, 1)?, row.get(2)?));
            statement.query_row([hash.as_bytes()], read).optional()
        })
        .map_err(|error| sql(&error, &format!("reading {what}")))?;
    let Some((packing, bytes, content)) = stored else { return Ok(None) };
    let plain = unpack(&packing, bytes, content, BLOB_BYTES_MAX, &what)?;
    if Hash::of(&plain) != hash {
        return Err(StoreError::corrupt(format!("{what} is not what was written: its hash does not fit")));
    }
    Ok(Some(plain))
}

/// When the content with this hash was dropped, if it was.
pub(crate) fn dropped_at(conn: &Connection, hash: Hash) -> Result<Option<Timestamp>, StoreError> {
    conn.prepare_cached("SELECT dropped_at FROM blob WHERE hash = ?1 AND dropped_at IS NOT NULL")
        .and_then(|mut statement| statement.query_row([hash.as_bytes()], |row| row::time(row, 0)).optional())
        .map_err(|error| sql(&error, &format!("looking for blob {hash}")))
}

/// The beginning of the bytes with this hash, as far as they are searched.
pub(crate) fn beginning(conn: &Connection, hash: Hash) -> Result<Vec<u8>, StoreError> {
    let statement = "SELECT packing, substr(content, 1, iif(packing = 'plain', ?2, ?3)) FROM blob WHERE hash = ?1";
    // The part of a content that is empty is NULL.
    let stored: Option<(String, Option<Vec<u8>>)> = conn
        .prepare_cached(statement)
        .and_then(|mut statement| {
            let (plain, packed) = (ARTIFACT_TEXT_BYTES_MAX as u64, PACKED_BLOCK_BYTES_MAX as u64);
            let params = params![hash.as_bytes(), int(plain), int(packed)];
            statement.query_row(params, |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(|error| sql(&error, &format!("reading blob {hash}")))?;
    Ok(stored
        .map(|(packing, content)| unpack_beginning(&packing, content.unwrap_or_default(), ARTIFACT_TEXT_BYTES_MAX))
        .unwrap_or_default())
}

const ARTIFACT_COLUMNS: &str = "id, task, name, version, hash, bytes, media, attempt, at, made_by, sum";

fn read_artifact(row: &Row<'_>, plan: &PlanId) -> rusqlite::Result<Result<(u64, ArtifactRow), StoreError>> {
    let found = ArtifactRow {
        plan: plan.clone(),
        version: row::small(row, 3)?,
        artifact: NewArtifact {
            task: row::parsed(row, 1, TaskId::new)?,
            name: row.get(2)?,
            hash: row::hash(row, 4)?,
            bytes: row::uint(row, 5)?,
            media: row.get(6)?,
            attempt: AttemptNo(row::small(row, 7)?),
            at: row::time(row, 8)?,
            made_by: row.get(9)?,
        },
    };
    if row::artifact_sum(&found) != row::hash(row, 10)? {
        let what = format!("the row of artifact `{}` is not what was written: its sum does not fit", found.reference());
        return Ok(Err(StoreError::corrupt(what)));
    }
    Ok(Ok((row::uint(row, 0)?, found)))
}

/// One version of an artifact, or the newest.
pub(crate) fn artifact(
    conn: &Connection,
    id: &PlanId,
    task: &TaskId,
    name: &str,
    version: Option<u32>,
) -> Result<Option<ArtifactRow>, StoreError> {
    let plan = super::plan(conn, id)?;
    let query = format!(
        "SELECT {ARTIFACT_COLUMNS} FROM artifact
         WHERE plan_no = ?1 AND task = ?2 AND name = ?3 AND (?4 IS NULL OR version = ?4)
         ORDER BY version DESC LIMIT 1"
    );
    let params = params![int(plan.known.no.0), task.as_str(), name, version];
    let found = super::rows(conn, &query, params, "reading an artifact", |row| read_artifact(row, id))?;
    Ok(found.into_iter().next().map(|(_, artifact)| artifact))
}

/// The artifacts of a plan.
pub(crate) fn artifacts(
    conn: &Connection,
    id: &PlanId,
    cursor: u64,
    limit: u32,
) -> Result<Page<ArtifactRow>, StoreError> {
    let plan = super::plan(conn, id)?;
    let query = format!("SELECT {ARTIFACT_COLUMNS} FROM artifact WHERE plan_no = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
    let params = [int(plan.known.no.0), int(cursor), super::rows_asked(limit)];
    let found = super::rows(conn, &query, params, "reading artifacts", |row| read_artifact(row, id))?;
    Ok(super::page(found, limit))
}

/// The artifacts of a plan; damaged rows are noted.
pub(super) fn sound_artifacts(
    conn: &Connection,
    id: &PlanId,
    no: PlanNo,
    problems: &mut Vec<Problem>,
) -> Result<Vec<ArtifactRow>, StoreError> {
    let query = format!("SELECT {ARTIFACT_COLUMNS} FROM artifact WHERE plan_no = ?1 ORDER BY id");
    let found = super::rows(conn, &query, [int(no.0)], "reading artifacts", |row| Ok(Ok(read_artifact(row, id)?)))?;
    let mut sound = Vec::new();
    for artifact in found {
        super::journal::note(problems, artifact.map(|(_, row)| sound.push(row)))?;
    }
    Ok(sound)
}

const EFFECT_COLUMNS: &str =
    "id, task, attempt, ordinal, kind, request_hash, request, answer, usage, started_at, ended_at, sum";

/// Notes the recorded calls of a plan that are not what was written.
pub(super) fn check_effects(
    conn: &Connection,
    id: &PlanId,
    no: PlanNo,
    problems: &mut Vec<Problem>,
) -> Result<(), StoreError> {
    let query = format!("SELECT {EFFECT_COLUMNS} FROM effect WHERE plan_no = ?1 ORDER BY id");
    let read = |row: &Row<'_>| Ok(Ok(read_effect(row, id)?.map(drop)));
    let found = super::rows(conn, &query, [int(no.0)], "reading effects", read);
    match found {
        Ok(effects) => effects.into_iter().try_for_each(|effect| super::journal::note(problems, effect)),
        Err(error) => super::journal::note(problems, Err(error)),
    }
}

/// Recorded calls of a plan.
pub(crate) fn effects(
    conn: &Connection,
    id: &PlanId,
    task: Option<&TaskId>,
    cursor: u64,
    limit: u32,
) -> Result<Page<EffectRow>, StoreError> {
    let (no, cursor, asked) = (super::plan_no(conn, id)?, int(cursor), super::rows_asked(limit));
    let read = |row: &Row<'_>| read_effect(row, id);
    let found = match task {
        Some(task) => {
            let params = params![no, cursor, asked, task.as_str()];
            super::rows(conn, &effects_of_task(), params, "reading effects", read)?
        }
        None => {
            let query =
                format!("SELECT {EFFECT_COLUMNS} FROM effect WHERE plan_no = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
            super::rows(conn, &query, [no, cursor, asked], "reading effects", read)?
        }
    };
    Ok(super::page(found, limit))
}

/// The last call of a kind with this request; one that was answered comes first.
pub(crate) fn recall(
    conn: &Connection,
    id: &PlanId,
    kind: &str,
    request: Hash,
) -> Result<Option<EffectRow>, StoreError> {
    let no = super::plan_no(conn, id)?;
    let read = |row: &Row<'_>| read_effect(row, id);
    let query = recalled(kind);
    let found = super::rows(conn, &query, params![no, kind, request.as_bytes()], "recalling", read)?;
    Ok(found.into_iter().next().map(|(_, effect)| effect))
}

/// The index holds the kinds that are asked for again; it is used only where the query says the same of the kind.
fn recalled(kind: &str) -> String {
    let indexed = if matches!(kind, "model" | "tool") { "AND kind IN ('model', 'tool')" } else { "" };
    format!(
        "SELECT {EFFECT_COLUMNS} FROM effect WHERE plan_no = ?1 AND kind = ?2 {indexed} AND request_hash = ?3
         ORDER BY answer IS NOT NULL DESC, id DESC LIMIT 1"
    )
}

/// The plus signs keep the order from being read off the index of all effects: those of one task are few, and the index
/// that makes them unique finds them.
fn effects_of_task() -> String {
    format!("SELECT {EFFECT_COLUMNS} FROM effect WHERE plan_no = ?1 AND task = ?4 AND +id > ?2 ORDER BY +id LIMIT ?3")
}

fn read_effect(row: &Row<'_>, plan: &PlanId) -> rusqlite::Result<Result<(u64, EffectRow), StoreError>> {
    let texts = EffectTexts {
        request: row.get_ref(6)?.as_str()?,
        answer: row.get_ref(7)?.as_str_or_null()?,
        usage: row.get_ref(8)?.as_str()?,
    };
    let mut effect = EffectRow {
        plan: plan.clone(),
        task: row::parsed(row, 1, TaskId::new)?,
        attempt: AttemptNo(row::small(row, 2)?),
        ordinal: row::small(row, 3)?,
        kind: row.get(4)?,
        request_hash: row::hash(row, 5)?,
        request: Value::Null,
        answer: None,
        usage: gantry_core::policy::Usage::default(),
        started_at: row::time(row, 9)?,
        ended_at: if row.get_ref(10)? == rusqlite::types::ValueRef::Null { None } else { Some(row::time(row, 10)?) },
    };
    // The sum comes first: text that was changed is not worth reading.
    if row::effect_sum(&effect, &texts) != row::hash(row, 11)? {
        let what = format!("the row of {} is not what was written: its sum does not fit", effect.name());
        return Ok(Err(StoreError::corrupt(what)));
    }
    effect.request = row::read_json(row, 6)?;
    effect.usage = row::read_json(row, 8)?;
    if texts.answer.is_some() {
        effect.answer = Some(row::read_json(row, 7)?);
    }
    Ok(Ok((row::uint(row, 0)?, effect)))
}

/// What nobody answered yet.
pub(crate) fn inbox(conn: &Connection, id: &PlanId) -> Result<Vec<(InboxId, Value)>, StoreError> {
    let query = "SELECT inbox.id, inbox.plan_no, inbox.at, inbox.input, inbox.answer, inbox.sum
                 FROM inbox JOIN plan ON plan.no = inbox.plan_no
                 WHERE plan.id = ?1 AND inbox.answer IS NULL ORDER BY inbox.id";
    super::rows(conn, query, [id.as_str()], "reading the inbox", |row| {
        Ok(read_letter(row)?.map(|(inbox, input, _)| (inbox, input)))
    })
}

/// The answer to an input.
pub(crate) fn ask_answer(conn: &Connection, id: InboxId) -> Result<Option<Value>, StoreError> {
    let query = "SELECT id, plan_no, at, input, answer, sum FROM inbox WHERE id = ?1";
    let found = super::rows(conn, query, [int(id.0)], "reading the inbox", read_letter)?;
    let (_, _, answer) =
        found.into_iter().next().ok_or_else(|| StoreError::not_found(format!("input {} in the inbox", id.0)))?;
    Ok(answer)
}

type Letter = (InboxId, Value, Option<Value>);

fn read_letter(row: &Row<'_>) -> rusqlite::Result<Result<Letter, StoreError>> {
    let id = row::uint(row, 0)?;
    let (input, answer) = (row.get_ref(3)?.as_str()?, row.get_ref(4)?.as_str_or_null()?);
    if row::inbox_sum(id, row.get(1)?, row.get(2)?, input, answer) != row::hash(row, 5)? {
        let what = format!("input {id} in the inbox is not what was written: its sum does not fit");
        return Ok(Err(StoreError::corrupt(what)));
    }
    let answered = answer.is_some();
    let input = row::read_json(row, 3)?;
    let answer = if answered { Some(row::read_json(row, 4)?) } else { None };
    Ok(Ok((InboxId(id), input, answer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effects_of_one_task_or_question_are_found_without_reading_all_others() {
        let mut conn = Connection::open_in_memory().unwrap();
        crate::schema::migrate(&mut conn, crate::schema::MIGRATIONS).unwrap();
        let plan = |query: &str, params: &[&dyn rusqlite::ToSql]| -> String {
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let steps = statement.query_map(params, |row| row.get::<_, String>(3)).unwrap();
            steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
        };
        let found = plan(&effects_of_task(), &[&1, &0, &10, &"build"]);
        assert!(found.contains("(plan_no=? AND task=?)"), "{found}");
        for kind in ["model", "tool"] {
            let found = plan(&recalled(kind), &[&1, &kind, &"hash"]);
            assert!(found.contains("(plan_no=? AND kind=? AND request_hash=?)"), "{found}");
        }
        let found = plan(&recalled("process"), &[&1, &"process", &"hash"]);
        assert!(found.contains("effect_by_plan"), "no other kind is asked for again: {found}");
    }
}
