//! What is kept and what is not: blobs, pins, forgetting, vacuum.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::id::PlanId;
use gantry_core::time::{Duration, Timestamp};
use gantry_store::kept::{FILE_LIST, hashes_in, listed_in, noted_in};
use gantry_store::{ArtifactRow, Hash, StoreError, TextKind, Vacuumed};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::sql;
use crate::pack::Packed;
use crate::row::{self, int};
use crate::writer::{Tx, Work};

/// How long a blob that nothing refers to is kept: an append that refers to it may be on its way.
const UNREFERENCED: Duration = Duration::from_hours(24);

/// How long an input that was answered is kept: its sender may still ask.
const ANSWERED: Duration = Duration::from_hours(7 * 24);

/// The file is rewritten when more than one in this many pages is empty.
const EMPTY_PAGES: i64 = 4;

/// Some bytes to keep.
pub(crate) struct BlobWork {
    pub hash: Hash,
    pub packed: Packed,
    pub at: Timestamp,
}

impl Work for BlobWork {
    type Reply = Hash;

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<Hash, StoreError> {
        let known = tx.execute(
            "UPDATE blob SET at = max(at, ?1) WHERE hash = ?2 AND dropped_at IS NULL",
            params![self.at.as_ms(), self.hash.as_bytes()],
        )?;
        if known == 0 {
            tx.execute(
                "INSERT INTO blob (hash, packing, bytes, at, content) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (hash) DO UPDATE SET packing = ?2, bytes = ?3, at = ?4, content = ?5, dropped_at = NULL",
                params![
                    self.hash.as_bytes(),
                    self.packed.packing,
                    int(self.packed.bytes),
                    self.at.as_ms(),
                    self.packed.stored
                ],
            )?;
        }
        Ok(self.hash)
    }
}

/// Keeps a plan from being forgotten, or lets it be.
pub(crate) struct PinWork {
    pub plan: PlanId,
    pub pinned: bool,
}

impl Work for PinWork {
    type Reply = ();

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let no = tx.plan_no(&self.plan)?;
        tx.execute("UPDATE plan SET pinned = ?1 WHERE no = ?2", params![self.pinned, no]).map(drop)
    }
}

/// Removes a plan with everything that belongs to it.
pub(crate) struct ForgetWork {
    pub plan: PlanId,
}

impl Work for ForgetWork {
    type Reply = ();

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let missing = || StoreError::not_found(format!("plan `{}`", self.plan));
        let found = row::plan_by_id(tx.conn, &self.plan)?.ok_or_else(missing)?;
        if found.card.pinned {
            return Err(StoreError::Pinned { plan: self.plan.clone() });
        }
        let no = found.known.no;
        tx.execute("DELETE FROM turn WHERE plan_no = ?1", [int(no.0)])?;
        // Everything else goes with the plan's row.
        tx.execute("DELETE FROM plan WHERE no = ?1", [int(no.0)])?;
        tx.known.drop(&self.plan);
        Ok(())
    }
}

/// The contents that recorded calls and notes speak of, and those that lists of files among them speak of in turn.
fn spoken_of(tx: &Tx<'_>) -> Result<BTreeSet<Hash>, StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, "looking for what is spoken of");
    let mut found = BTreeSet::new();
    let mut calls = tx.prepare("SELECT request, coalesce(answer, '') FROM effect")?;
    let mut rows = calls.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        for column in 0..2 {
            found.extend(hashes_in(row.get_ref(column).map_err(failed)?.as_bytes().unwrap_or_default()));
        }
    }
    let mut turns = tx.prepare("SELECT entries FROM turn WHERE instr(entries, 'note_added') > 0")?;
    let mut rows = turns.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        found.extend(noted_in(row.get_ref(0).map_err(failed)?.as_str().unwrap_or_default()));
    }
    let mut lists = tx.prepare("SELECT hash FROM artifact WHERE name = ?1")?;
    let lists: rusqlite::Result<Vec<Hash>> =
        lists.query_map([FILE_LIST], |row| row::hash(row, 0)).map_err(failed)?.collect();
    found.extend(lists.map_err(failed)?);
    for hash in found.clone() {
        // What is damaged lists nothing that could be brought back.
        if let Ok(Some(content)) = crate::read::blob(tx.conn, hash) {
            found.extend(listed_in(&content));
        }
    }
    Ok(found)
}

/// Drops the contents of artifacts whose time is over.
pub(crate) struct DropWork {
    pub expired: Vec<ArtifactRow>,
    pub before: Timestamp,
    pub now: Timestamp,
}

impl Work for DropWork {
    type Reply = Vacuumed;

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<Vacuumed, StoreError> {
        let mut vacuumed = Vacuumed::default();
        let mut of_content: BTreeMap<Hash, Vec<&ArtifactRow>> = BTreeMap::new();
        for row in &self.expired {
            of_content.entry(row.artifact.hash).or_default().push(row);
        }
        let spoken_of = if of_content.is_empty() { BTreeSet::new() } else { spoken_of(tx)? };
        for (hash, expired) in of_content.into_iter().filter(|(hash, _)| !spoken_of.contains(hash)) {
            if holders(tx, hash)?.iter().any(|holder| !expired.iter().any(|row| row.reference() == *holder)) {
                continue;
            }
            let bytes: Option<u64> = tx
                .prepare("SELECT bytes FROM blob WHERE hash = ?1 AND at <= ?2 AND dropped_at IS NULL")?
                .query_row(params![hash.as_bytes(), self.before.as_ms()], |row| row::uint(row, 0))
                .optional()
                .map_err(|error| sql(&error, "looking for a content"))?;
            let Some(bytes) = bytes else { continue };
            tx.execute(
                "UPDATE blob SET packing = 'plain', content = zeroblob(0), dropped_at = ?1 WHERE hash = ?2",
                params![self.now.as_ms(), hash.as_bytes()],
            )?;
            for row in expired {
                tx.execute(
                    "DELETE FROM text WHERE kind = ?1 AND task = ?2 AND name = ?3
                     AND plan_no = (SELECT no FROM plan WHERE id = ?4)",
                    params![
                        TextKind::Artifact.as_str(),
                        row.artifact.task.as_str(),
                        row.versioned_name(),
                        row.plan.as_str()
                    ],
                )?;
            }
            vacuumed.blobs += 1;
            vacuumed.bytes += bytes;
        }
        Ok(vacuumed)
    }
}

/// The artifacts that have this content, as they are called from anywhere.
fn holders(tx: &Tx<'_>, hash: Hash) -> Result<Vec<String>, StoreError> {
    tx.prepare(
        "SELECT plan.id || '/' || artifact.task || '/' || artifact.name || '@' || artifact.version
         FROM artifact JOIN plan ON plan.no = artifact.plan_no WHERE artifact.hash = ?1",
    )?
    .query_map([hash.as_bytes()], |row| row.get(0))
    .and_then(Iterator::collect)
    .map_err(|error| sql(&error, "looking for artifacts"))
}

/// Removes blobs that nothing refers to, and gives back room.
pub(crate) struct VacuumWork {
    pub now: Timestamp,
}

impl Work for VacuumWork {
    type Reply = Vacuumed;

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<Vacuumed, StoreError> {
        let oldest = self.now.as_ms().saturating_sub_unsigned(UNREFERENCED.as_ms());
        let unused = "SELECT hash, bytes FROM blob
                      WHERE at <= ?1 AND NOT EXISTS (SELECT 1 FROM artifact WHERE artifact.hash = blob.hash)";
        let unused: Vec<(Hash, u64)> = tx
            .prepare(unused)?
            .query_map([oldest], |row| Ok((row::hash(row, 0)?, row::uint(row, 1)?)))
            .and_then(Iterator::collect)
            .map_err(|error| sql(&error, "looking for unused blobs"))?;
        let mut vacuumed = Vacuumed::default();
        let spoken_of = if unused.is_empty() { BTreeSet::new() } else { spoken_of(tx)? };
        for (hash, bytes) in unused.into_iter().filter(|(hash, _)| !spoken_of.contains(hash)) {
            tx.execute("DELETE FROM blob WHERE hash = ?1", [hash.as_bytes()])?;
            vacuumed.blobs += 1;
            vacuumed.bytes += bytes;
        }
        let oldest = self.now.as_ms().saturating_sub_unsigned(ANSWERED.as_ms());
        tx.execute("DELETE FROM inbox WHERE answer IS NOT NULL AND at <= ?1", [oldest])?;
        Ok(vacuumed)
    }

    fn after_commit(&mut self, conn: &Connection) -> Result<(), StoreError> {
        let count = |pragma: &str| conn.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0));
        let failed = |error: rusqlite::Error| sql(&error, "giving back room");
        if count("freelist_count").map_err(failed)? * EMPTY_PAGES > count("page_count").map_err(failed)? {
            conn.execute_batch("VACUUM").map_err(failed)?;
        }
        // How much of the log could be taken over depends on who reads; the rest is taken over later.
        count("wal_checkpoint(TRUNCATE)").map(drop).map_err(failed)
    }
}
