//! A whole life: many turns of one new plan, all of them or none.

use gantry_core::id::PlanId;
use gantry_store::{Append, Appended, StoreError, check_life};

use super::append::AppendWork;
use crate::writer::{Tx, Work};

/// A life, written and hashed on the caller's side.
pub(crate) struct ImportWork {
    plan: PlanId,
    turns: Vec<AppendWork>,
}

impl ImportWork {
    pub(crate) fn new(life: Vec<Append>) -> Result<Self, StoreError> {
        let plan = check_life(&life)?;
        let turns = life.into_iter().map(AppendWork::prepared).collect::<Result<_, _>>()?;
        Ok(Self { plan, turns })
    }

    fn write_all(&mut self, tx: &mut Tx<'_>) -> Result<Appended, StoreError> {
        let mut last = None;
        for turn in &mut self.turns {
            last = Some(turn.write(tx)?);
        }
        last.ok_or_else(|| StoreError::not_found(format!("plan `{}`", self.plan)))
    }
}

impl Work for ImportWork {
    type Reply = Appended;

    /// A turn may be refused after others were written; the savepoint takes those back, and the refusal is the answer.
    fn write(&mut self, tx: &mut Tx<'_>) -> Result<Appended, StoreError> {
        tx.execute("SAVEPOINT life", [])?;
        let written = self.write_all(tx);
        if written.is_err() {
            tx.known.drop(&self.plan);
            tx.execute("ROLLBACK TO life", [])?;
        }
        tx.execute("RELEASE life", [])?;
        written
    }
}
