//! What belongs to a turn, and can partly be written without one: artifacts, effects, answers, snapshots, texts.

use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use gantry_store::{
    ArtifactRow, EffectRow, Hash, InboxId, NewArtifact, PlanNo, Snapshot, StoreError, TextRow, text_of_artifact,
};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::append::head_at;
use crate::error::sql;
use crate::pack::Packed;
use crate::row::{self, int};
use crate::writer::{Tx, Work};

/// Calls with more text than this are written by the thread that writes.
const SMALL_BYTES_MAX: usize = 64 << 10;

/// Artifacts of a turn.
pub(super) struct ArtifactPart(Vec<NewArtifact>);

impl ArtifactPart {
    pub(super) fn new(artifacts: Vec<NewArtifact>) -> Self {
        Self(artifacts)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their blobs are there.
    pub(super) fn check(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        for artifact in &self.0 {
            if !tx.exists("SELECT 1 FROM blob WHERE hash = ?1", [artifact.hash.as_bytes()])? {
                return Err(StoreError::not_found(format!("blob {}", artifact.hash)));
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, tx: &Tx<'_>, plan: &PlanId, no: i64) -> Result<Vec<ArtifactRow>, StoreError> {
        let mut rows = Vec::with_capacity(self.0.len());
        for artifact in &self.0 {
            let version: u32 = tx
                .prepare(
                    "SELECT coalesce(max(version), 0) + 1 FROM artifact WHERE plan_no = ?1 AND task = ?2 AND name = ?3",
                )?
                .query_row(params![no, artifact.task.as_str(), artifact.name], |row| row::small(row, 0))
                .map_err(|error| sql(&error, "numbering an artifact"))?;
            let row = ArtifactRow { plan: plan.clone(), version, artifact: artifact.clone() };
            let sum = row::artifact_sum(&row);
            tx.execute(
                "INSERT INTO artifact (plan_no, task, name, version, hash, bytes, media, attempt, at, made_by, sum)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                params![
                    no,
                    artifact.task.as_str(),
                    artifact.name,
                    version,
                    artifact.hash.as_bytes(),
                    int(artifact.bytes),
                    artifact.media,
                    artifact.attempt.0,
                    artifact.at.as_ms(),
                    artifact.made_by,
                    sum.as_bytes()
                ],
            )?;
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Recorded calls to the outside, written as JSON on the caller's side.
pub(crate) struct EffectsWork(Vec<EffectPart>);

struct EffectPart {
    row: EffectRow,
    request: String,
    answer: Option<String>,
    usage: String,
    sum: Hash,
}

impl EffectsWork {
    pub(crate) fn new(rows: Vec<EffectRow>) -> Result<Self, StoreError> {
        let part = |row: EffectRow| {
            let request = row::json(&row.request)?;
            let answer = row.answer.as_ref().map(row::json).transpose()?;
            let usage = row::json(&row.usage)?;
            let texts = row::EffectTexts { request: &request, answer: answer.as_deref(), usage: &usage };
            let sum = row::effect_sum(&row, &texts);
            Ok(EffectPart { row, request, answer, usage, sum })
        };
        rows.into_iter().map(part).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// None of them would take the place of an answer. A plan that is new has no answers.
    pub(super) fn check_for(&self, tx: &mut Tx<'_>, plan: &PlanId) -> Result<(), StoreError> {
        match tx.look_up(plan)? {
            Some(known) => self.0.iter().try_for_each(|effect| effect.check(tx, int(known.no.0))),
            None => Ok(()),
        }
    }

    pub(super) fn write_for(&self, tx: &Tx<'_>, no: i64) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|effect| effect.write(tx, no))
    }
}

impl Work for EffectsWork {
    type Reply = ();

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let mut numbers = Vec::with_capacity(self.0.len());
        for effect in &self.0 {
            let no = tx.plan_no(&effect.row.plan)?;
            effect.check(tx, no)?;
            numbers.push(no);
        }
        for (effect, no) in self.0.iter().zip(numbers) {
            effect.write(tx, no)?;
        }
        Ok(())
    }

    /// What is long is written elsewhere.
    fn is_small(&self) -> bool {
        let bytes = |effect: &EffectPart| effect.request.len() + effect.answer.as_ref().map_or(0, String::len);
        self.0.iter().map(bytes).sum::<usize>() <= SMALL_BYTES_MAX
    }
}

impl EffectPart {
    fn check(&self, tx: &Tx<'_>, no: i64) -> Result<(), StoreError> {
        let row = &self.row;
        let known: Option<Option<Hash>> = tx
            .prepare(
                "SELECT answer IS NOT NULL, sum FROM effect
                 WHERE plan_no = ?1 AND task = ?2 AND attempt = ?3 AND ordinal = ?4",
            )?
            .query_row(params![no, row.task.as_str(), row.attempt.0, row.ordinal], |row| {
                Ok(if row.get(0)? { Some(row::hash(row, 1)?) } else { None })
            })
            .optional()
            .map_err(|error| sql(&error, "looking for an effect"))?;
        match known.flatten() {
            Some(sum) if sum != self.sum => {
                Err(StoreError::Invalid { what: format!("{} has an answer already", row.name()) })
            }
            _ => Ok(()),
        }
    }

    fn write(&self, tx: &Tx<'_>, no: i64) -> Result<(), StoreError> {
        let row = &self.row;
        tx.execute(
            "INSERT INTO effect (plan_no, task, attempt, ordinal, kind, request_hash, request, answer, usage,
                                 started_at, ended_at, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (plan_no, task, attempt, ordinal) DO UPDATE SET
               kind = ?5, request_hash = ?6, request = ?7, answer = ?8, usage = ?9, started_at = ?10, ended_at = ?11,
               sum = ?12",
            params![
                no,
                row.task.as_str(),
                row.attempt.0,
                row.ordinal,
                row.kind,
                row.request_hash.as_bytes(),
                self.request,
                self.answer,
                self.usage,
                row.started_at.as_ms(),
                row.ended_at.map(Timestamp::as_ms),
                self.sum.as_bytes()
            ],
        )?;
        Ok(())
    }
}

/// A new input for the process that drives a plan.
pub(crate) struct SubmitWork {
    pub plan: PlanId,
    pub input: String,
    pub at: Timestamp,
}

impl Work for SubmitWork {
    type Reply = InboxId;

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<InboxId, StoreError> {
        let no = tx.plan_no(&self.plan)?;
        let statement = "INSERT INTO inbox (plan_no, at, input, sum) VALUES (?1, ?2, ?3, zeroblob(32))";
        tx.execute(statement, params![no, self.at.as_ms(), self.input])?;
        let id = tx.conn.last_insert_rowid();
        let inbox = InboxId(u64::try_from(id).unwrap_or_default());
        let sum = row::inbox_sum(inbox.0, no, self.at.as_ms(), &self.input, None);
        tx.execute("UPDATE inbox SET sum = ?1 WHERE id = ?2", params![sum.as_bytes(), id])?;
        Ok(inbox)
    }

    fn announces(&self) -> bool {
        true
    }
}

/// The answer to an input.
pub(crate) struct AnswerWork {
    id: InboxId,
    answer: String,
}

impl AnswerWork {
    pub(crate) fn new(id: InboxId, answer: &Value) -> Result<Self, StoreError> {
        Ok(Self { id, answer: row::json(answer)? })
    }

    pub(super) fn check(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        if tx.exists("SELECT 1 FROM inbox WHERE id = ?1", [int(self.id.0)])? {
            return Ok(());
        }
        Err(StoreError::not_found(format!("input {} in the inbox", self.id.0)))
    }
}

impl Work for AnswerWork {
    type Reply = ();

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.check(tx)?;
        let open: Option<(i64, i64, String)> = tx
            .prepare("SELECT plan_no, at, input FROM inbox WHERE id = ?1 AND answer IS NULL")?
            .query_row([int(self.id.0)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()
            .map_err(|error| sql(&error, "looking for an input"))?;
        if let Some((plan_no, at, input)) = open {
            let sum = row::inbox_sum(self.id.0, plan_no, at, &input, Some(&self.answer));
            let statement = "UPDATE inbox SET answer = ?1, sum = ?2 WHERE id = ?3";
            tx.execute(statement, params![self.answer, sum.as_bytes(), int(self.id.0)])?;
        }
        Ok(())
    }

    fn announces(&self) -> bool {
        true
    }
}

/// A folded state in its stored form.
pub(super) struct SnapshotPart {
    pub length: u64,
    body: Packed,
    plain: Hash,
}

impl SnapshotPart {
    pub(super) fn new(snapshot: Snapshot) -> Self {
        let plain = Hash::of(&snapshot.body);
        Self { length: snapshot.length, plain, body: Packed::new(snapshot.body) }
    }

    pub(super) fn write(&self, tx: &Tx<'_>, plan: &PlanId, no: i64, head: Hash) -> Result<(), StoreError> {
        let sum = row::snapshot_sum(plan, self.length, head, self.plain);
        tx.execute(
            "INSERT INTO snapshot (plan_no, length, head, packing, bytes, body, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (plan_no) DO UPDATE SET
               length = ?2, head = ?3, packing = ?4, bytes = ?5, body = ?6, sum = ?7 WHERE length <= ?2",
            params![
                no,
                int(self.length),
                head.as_bytes(),
                self.body.packing,
                int(self.body.bytes),
                self.body.stored,
                sum.as_bytes()
            ],
        )?;
        Ok(())
    }
}

/// A snapshot that comes without a turn.
pub(crate) struct SnapshotWork {
    plan: PlanId,
    part: SnapshotPart,
}

impl SnapshotWork {
    pub(crate) fn new(plan: PlanId, snapshot: Snapshot) -> Self {
        Self { plan, part: SnapshotPart::new(snapshot) }
    }
}

impl Work for SnapshotWork {
    type Reply = ();

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let no = tx.plan_no(&self.plan)?;
        let plan_no = PlanNo(u64::try_from(no).unwrap_or_default());
        let head = head_at(tx, plan_no, self.part.length)?.ok_or_else(|| no_boundary(self.part.length))?;
        self.part.write(tx, &self.plan, no, head)
    }
}

pub(super) fn no_boundary(length: u64) -> StoreError {
    StoreError::Invalid { what: format!("no turn ends with entry {length}, which the snapshot is of") }
}

/// Texts to search.
///
/// The index writes its pages after every statement, so all of them are one statement: they travel as a JSON array.
pub(super) struct TextPart(Vec<TextRow>);

impl TextPart {
    pub(super) fn new(texts: Vec<TextRow>) -> Self {
        Self(texts)
    }

    /// Writes them, and those that these artifacts are found by.
    pub(super) fn write(&self, tx: &Tx<'_>, no: i64, artifacts: &[ArtifactRow]) -> Result<(), StoreError> {
        let mut made = Vec::new();
        for row in artifacts.iter().filter(|row| row.artifact.whole_name().is_none()) {
            made.extend(text_of_artifact(row, &crate::read::beginning(tx.conn, row.artifact.hash)?));
        }
        let row = |text: &TextRow| {
            let task = text.task.as_ref().map_or("", |task| task.as_str()).to_owned();
            (task, text.kind.as_str(), text.name.clone(), text.text.clone())
        };
        let rows: Vec<_> = self.0.iter().chain(&made).map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        tx.execute(
            "INSERT INTO text (plan_no, task, kind, name, text)
             SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?2) WHERE true
             ON CONFLICT (plan_no, task, kind, name) DO UPDATE SET text = excluded.text",
            params![no, row::json(&rows)?],
        )?;
        Ok(())
    }
}
