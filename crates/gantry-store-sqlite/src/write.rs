//! What is written, one file for each kind of request. Each refuses before it changes anything.

mod append; // in reading order
mod import;
mod parts;
mod keep;

use std::collections::HashMap;

use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use gantry_store::{Hash, PlanNo, StoreError};
use rusqlite::{CachedStatement, Params};

pub(crate) use append::AppendWork;
pub(crate) use import::ImportWork;
pub(crate) use keep::{BlobWork, DropWork, ForgetWork, PinWork, VacuumWork};
pub(crate) use parts::{AnswerWork, EffectsWork, SnapshotWork, SubmitWork};

use crate::error::sql;
use crate::row;
use crate::writer::Tx;

/// How many plans the writer remembers.
const KNOWN_MAX: usize = 10_000;

/// What the writer knows of a plan without asking; the compare-and-set of the append finds out when it is not true.
#[derive(Clone, Debug)]
pub(crate) struct KnownPlan {
    pub no: PlanNo,
    pub length: u64,
    pub head: Hash,
    pub state: String,
    pub created_at: Timestamp,
}

/// The plans that were written lately.
#[derive(Default)]
pub(crate) struct Known(HashMap<PlanId, KnownPlan>);

impl Known {
    fn get(&self, id: &PlanId) -> Option<&KnownPlan> {
        self.0.get(id)
    }
    fn put(&mut self, id: &PlanId, plan: KnownPlan) {
        if self.0.len() >= KNOWN_MAX && !self.0.contains_key(id) {
            self.0.clear();
        }
        self.0.insert(id.clone(), plan);
    }
    fn drop(&mut self, id: &PlanId) {
        self.0.remove(id);
    }
}

impl Tx<'_> {
    fn prepare(&self, statement: &str) -> Result<CachedStatement<'_>, StoreError> {
        self.conn.prepare_cached(statement).map_err(|error| sql(&error, "writing"))
    }

    fn execute(&self, statement: &str, params: impl Params) -> Result<usize, StoreError> {
        self.prepare(statement)?.execute(params).map_err(|error| sql(&error, "writing"))
    }

    fn exists(&self, statement: &str, params: impl Params) -> Result<bool, StoreError> {
        self.prepare(statement)?.exists(params).map_err(|error| sql(&error, "looking before writing"))
    }

    /// Reads where a plan stands from the file.
    fn look_up(&mut self, id: &PlanId) -> Result<Option<KnownPlan>, StoreError> {
        let found = row::plan_by_id(self.conn, id)?.map(|found| found.known);
        match &found {
            Some(plan) => self.known.put(id, plan.clone()),
            None => self.known.drop(id),
        }
        Ok(found)
    }

    /// The number of a plan that must exist.
    fn plan_no(&mut self, id: &PlanId) -> Result<i64, StoreError> {
        let known = match self.known.get(id) {
            Some(known) => Some(known.no),
            None => self.look_up(id)?.map(|plan| plan.no),
        };
        known.map(|no| row::int(no.0)).ok_or_else(|| StoreError::not_found(format!("plan `{id}`")))
    }
}
