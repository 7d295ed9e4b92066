//! Rows: how numbers and hashes are stored, and the sum that shows that a row was changed.

use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use gantry_store::{ArtifactRow, EffectRow, Hash, PlanCard, PlanNo, StoreError};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::sql;
use crate::write::KnownPlan;

/// A number as SQLite stores it. Nothing here comes near the limit; what does stops there.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as it was stored.
pub(crate) fn uint(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    let stored: i64 = row.get(at)?;
    u64::try_from(stored).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, stored))
}

/// A small number as it was stored.
pub(crate) fn small(row: &Row<'_>, at: usize) -> rusqlite::Result<u32> {
    let stored: i64 = row.get(at)?;
    u32::try_from(stored).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, stored))
}

/// A hash as it was stored.
pub(crate) fn hash(row: &Row<'_>, at: usize) -> rusqlite::Result<Hash> {
    let stored = row.get_ref(at)?.as_blob()?;
    let broken = || rusqlite::Error::FromSqlConversionFailure(at, Type::Blob, "a hash has 32 bytes".into());
    Hash::from_bytes(stored).ok_or_else(broken)
}

/// A point in time as it was stored.
pub(crate) fn time(row: &Row<'_>, at: usize) -> rusqlite::Result<Timestamp> {
    row.get(at).map(Timestamp::from_ms)
}

/// Something that is stored as text and has a type of its own.
pub(crate) fn parsed<T, E>(row: &Row<'_>, at: usize, parse: impl FnOnce(&str) -> Result<T, E>) -> rusqlite::Result<T>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let stored = row.get_ref(at)?.as_str()?;
    parse(stored).map_err(|error| rusqlite::Error::FromSqlConversionFailure(at, Type::Text, error.into()))
}

/// Something that is stored as JSON.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<T> {
    parsed(row, at, |text| serde_json::from_str(text))
}

/// The columns of a plan's row, as [`PlanRow::read`] expects them.
pub(crate) const PLAN_COLUMNS: &str =
    "no, length, head, state, created_at, id, updated_at, searchable, card, sum, pinned";

/// A plan's row whose sum fits.
pub(crate) struct PlanRow {
    pub known: KnownPlan,
    pub card: PlanCard,
}

impl PlanRow {
    /// Reads a row; the inner error says that it was changed.
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Result<Self, StoreError>> {
        let known = KnownPlan {
            no: PlanNo(uint(row, 0)?),
            length: uint(row, 1)?,
            head: hash(row, 2)?,
            state: row.get(3)?,
            created_at: time(row, 4)?,
        };
        let id = parsed(row, 5, PlanId::new)?;
        let updated_at = time(row, 6)?;
        let searchable: String = row.get(7)?;
        let card = row.get_ref(8)?.as_str()?;
        if plan_sum(&id, &known, updated_at, &searchable, card) != hash(row, 9)? {
            let what = format!("the row of plan `{id}` is not what was written: its sum does not fit");
            return Ok(Err(StoreError::corrupt(what)));
        }
        let card = PlanCard {
            no: known.no,
            created_at: known.created_at,
            updated_at,
            length: known.length,
            pinned: row.get(10)?,
            card: read_json(row, 8)?,
            id,
        };
        Ok(Ok(Self { known, card }))
    }
}

/// Reads the row of a plan.
pub(crate) fn plan_by_id(conn: &Connection, id: &PlanId) -> Result<Option<PlanRow>, StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, &format!("reading plan `{id}`"));
    let mut statement =
        conn.prepare_cached(&format!("SELECT {PLAN_COLUMNS} FROM plan WHERE id = ?1")).map_err(failed)?;
    statement.query_row([id.as_str()], PlanRow::read).optional().map_err(failed)?.transpose()
}

/// The sum of a plan's row.
pub(crate) fn plan_sum(id: &PlanId, plan: &KnownPlan, updated_at: Timestamp, searchable: &str, card: &str) -> Hash {
    Hash::of_parts(&[
        id.as_str().as_bytes(),
        &plan.no.0.to_le_bytes(),
        &plan.length.to_le_bytes(),
        plan.head.as_bytes(),
        plan.state.as_bytes(),
        &plan.created_at.as_ms().to_le_bytes(),
        &updated_at.as_ms().to_le_bytes(),
        searchable.as_bytes(),
        card.as_bytes(),
    ])
}

/// The sum of a snapshot's row: over the state, not over how it is packed.
pub(crate) fn snapshot_sum(plan: &PlanId, length: u64, head: Hash, body: Hash) -> Hash {
    Hash::of_parts(&[plan.as_str().as_bytes(), &length.to_le_bytes(), head.as_bytes(), body.as_bytes()])
}

/// The sum of an input's row.
pub(crate) fn inbox_sum(id: u64, plan_no: i64, at: i64, input: &str, answer: Option<&str>) -> Hash {
    Hash::of_parts(&[
        &id.to_le_bytes(),
        &plan_no.to_le_bytes(),
        &at.to_le_bytes(),
        input.as_bytes(),
        &[u8::from(answer.is_some())],
        answer.unwrap_or_default().as_bytes(),
    ])
}

/// The texts of an effect, as they are stored.
pub(crate) struct EffectTexts<'a> {
    pub request: &'a str,
    pub answer: Option<&'a str>,
    pub usage: &'a str,
}

/// The sum of an effect's row: over its texts, which are what is stored.
pub(crate) fn effect_sum(effect: &EffectRow, texts: &EffectTexts<'_>) -> Hash {
    Hash::of_parts(&[
        effect.plan.as_str().as_bytes(),
        effect.task.as_str().as_bytes(),
        &effect.attempt.0.to_le_bytes(),
        &effect.ordinal.to_le_bytes(),
        effect.kind.as_bytes(),
        effect.request_hash.as_bytes(),
        texts.request.as_bytes(),
        &[u8::from(texts.answer.is_some())],
        texts.answer.unwrap_or_default().as_bytes(),
        texts.usage.as_bytes(),
        &effect.started_at.as_ms().to_le_bytes(),
        &effect.ended_at.map_or(i64::MIN, Timestamp::as_ms).to_le_bytes(),
    ])
}

/// The sum of an artifact's row.
pub(crate) fn artifact_sum(row: &ArtifactRow) -> Hash {
    let artifact = &row.artifact;
    Hash::of_parts(&[
        row.plan.as_str().as_bytes(),
        artifact.task.as_str().as_bytes(),
        artifact.name.as_bytes(),
        &row.version.to_le_bytes(),
        artifact.hash.as_bytes(),
        &artifact.bytes.to_le_bytes(),
        artifact.media.as_bytes(),
        &artifact.attempt.0.to_le_bytes(),
        &artifact.at.as_ms().to_le_bytes(),
        artifact.made_by.as_bytes(),
    ])
}

/// A value as JSON text.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::Invalid { what: format!("it cannot be written as JSON: {error}") })
}
