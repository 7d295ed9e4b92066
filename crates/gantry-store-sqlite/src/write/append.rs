//! One turn: one row of the journal, one change of the plan's row, and what belongs to it.

use gantry_core::id::PlanId;
use gantry_store::{Append, Appended, Hash, ListFilter, OnceKey, PlanCard, PlanNo, Sealed, StoreError, first_head};
use rusqlite::{OptionalExtension, params};

use super::KnownPlan;
use super::parts::{AnswerWork, ArtifactPart, EffectsWork, SnapshotPart, TextPart};
use crate::error::sql;
use crate::row::{self, int};
use crate::writer::{Tx, Work};

/// An append.
pub(crate) struct AppendWork {
    given: Option<Box<Append>>,
    ready: Option<Result<Box<Ready>, StoreError>>,
}

impl AppendWork {
    /// One that the thread that writes turns into JSON and hashes, while those who append decide the next turn.
    pub(crate) fn new(append: Append) -> Self {
        Self { given: Some(Box::new(append)), ready: None }
    }

    /// One that has to be written and nothing else, for what is large, and for when the thread has enough to do.
    pub(crate) fn prepared(append: Append) -> Result<Self, StoreError> {
        Ok(Self { given: None, ready: Some(Ok(Box::new(Ready::new(append)?))) })
    }
}

impl Work for AppendWork {
    type Reply = Appended;

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<Appended, StoreError> {
        if let Some(append) = self.given.take() {
            self.ready = Some(Ready::new(*append).map(Box::new));
        }
        match &mut self.ready {
            Some(Ok(ready)) => ready.write(tx),
            Some(Err(error)) => Err(error.clone()),
            None => Err(StoreError::Invalid { what: "there is nothing to append".to_owned() }),
        }
    }

    /// Large ones are prepared elsewhere.
    fn is_small(&self) -> bool {
        self.given.as_ref().is_some_and(|append| append.snapshot.is_none())
    }

    fn announces(&self) -> bool {
        matches!(&self.ready, Some(Ok(ready)) if !ready.answered.is_empty())
    }
}

/// An append, written and hashed as far as it can be without knowing the journal.
struct Ready {
    plan: PlanId,
    length: u64,
    sealed: Sealed,
    state: String,
    searchable: String,
    card: String,
    once: Option<OnceKey>,
    artifacts: ArtifactPart,
    effects: EffectsWork,
    answered: Vec<AnswerWork>,
    snapshot: Option<SnapshotPart>,
    texts: TextPart,
}

impl Ready {
    /// Does everything that does not need the file.
    fn new(append: Append) -> Result<Self, StoreError> {
        let sealed = Sealed::new(append.turn, append.length)?;
        if let Some(effect) = append.effects.iter().find(|effect| effect.plan != append.plan) {
            return Err(StoreError::Invalid { what: format!("{} is of another plan", effect.name()) });
        }
        let card = append.card.bounded();
        let listed = PlanCard {
            id: append.plan.clone(),
            no: PlanNo(0),
            created_at: sealed.at,
            updated_at: sealed.at,
            length: 0,
            pinned: false,
            card,
        };
        let answered = append.answered.iter().map(|(id, answer)| AnswerWork::new(*id, answer));
        Ok(Self {
            state: listed.card.state.to_string(),
            searchable: ListFilter::searchable(&listed),
            card: row::json(&listed.card)?,
            answered: answered.collect::<Result<_, _>>()?,
            artifacts: ArtifactPart::new(append.artifacts),
            effects: EffectsWork::new(append.effects)?,
            snapshot: append.snapshot.map(SnapshotPart::new),
            texts: TextPart::new(append.texts),
            once: append.once,
            plan: append.plan,
            length: append.length,
            sealed,
        })
    }
}

impl Ready {
    fn write(&mut self, tx: &mut Tx<'_>) -> Result<Appended, StoreError> {
        if let Some(once) = &self.once {
            check_once(tx, once)?;
        }
        if self.has_parts() {
            self.find(tx)?; // a conflict is told before anything that may only follow from it
            self.check_parts(tx)?;
        }
        let plan = self.write_turn(tx)?;
        let no = int(plan.no.0);
        let artifacts = self.artifacts.write(tx, &self.plan, no)?;
        self.effects.write_for(tx, no)?;
        self.texts.write(tx, no, &artifacts)?;
        for answer in &mut self.answered {
            answer.write(tx)?;
        }
        if let Some(snapshot) = &self.snapshot {
            let head = if snapshot.length == plan.length { plan.head } else { self.head_before(tx, plan.no)? };
            snapshot.write(tx, &self.plan, no, head)?;
        }
        if let Some(once) = &self.once {
            let statement = "INSERT INTO once (key, body_hash, plan_no) VALUES (?1, ?2, ?3)";
            tx.execute(statement, params![once.key, once.body_hash, no])?;
        }
        Ok(Appended { plan_no: plan.no, length: plan.length, head: plan.head, artifacts })
    }

    fn has_parts(&self) -> bool {
        !self.artifacts.is_empty() || !self.effects.is_empty() || !self.answered.is_empty() || self.snapshot.is_some()
    }

    /// Everything that could be refused after the journal was written.
    fn check_parts(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.artifacts.check(tx)?;
        self.effects.check_for(tx, &self.plan)?;
        for answer in &self.answered {
            answer.check(tx)?;
        }
        match &self.snapshot {
            Some(snapshot) if snapshot.length != self.sealed.last_seq() && snapshot.length != self.length => {
                Err(super::parts::no_boundary(snapshot.length))
            }
            _ => Ok(()),
        }
    }

    fn write_turn(&self, tx: &mut Tx<'_>) -> Result<KnownPlan, StoreError> {
        // What is remembered may be old; what the file says is not, because nobody else can write now.
        let remembered = tx.known.get(&self.plan).filter(|known| known.length == self.length).cloned();
        let plan = match remembered {
            Some(known) => match self.move_plan(tx, &known)? {
                Some(plan) => plan,
                None => self.place(tx)?,
            },
            None => self.place(tx)?,
        };
        let statement = "INSERT INTO turn (plan_no, first_seq, last_seq, at, inputs, entries, head)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        tx.execute(
            statement,
            params![
                int(plan.no.0),
                int(self.sealed.first_seq),
                int(plan.length),
                self.sealed.at.as_ms(),
                self.sealed.inputs,
                self.sealed.entries,
                plan.head.as_bytes()
            ],
        )?;
        tx.known.put(&self.plan, plan.clone());
        Ok(plan)
    }

    /// Finds the plan in the file and moves it on, or makes it.
    fn place(&self, tx: &mut Tx<'_>) -> Result<KnownPlan, StoreError> {
        match self.find(tx)? {
            None => self.make_plan(tx),
            Some(known) => self.move_plan(tx, &known)?.ok_or(StoreError::Conflict { length: known.length }),
        }
    }

    /// Finds the plan in the file as long as it should be.
    fn find(&self, tx: &mut Tx<'_>) -> Result<Option<KnownPlan>, StoreError> {
        let found = tx.look_up(&self.plan)?;
        let length = found.as_ref().map_or(0, |plan| plan.length);
        if length == self.length { Ok(found) } else { Err(StoreError::Conflict { length }) }
    }

    /// The plan's row after this turn, given the one before.
    fn moved(&self, before: &KnownPlan) -> KnownPlan {
        KnownPlan {
            no: before.no,
            length: self.sealed.last_seq(),
            head: self.sealed.head(before.head),
            state: self.state.clone(),
            created_at: before.created_at,
        }
    }

    /// Changes the plan's row if it still is what it was taken for.
    fn move_plan(&self, tx: &mut Tx<'_>, before: &KnownPlan) -> Result<Option<KnownPlan>, StoreError> {
        let plan = self.moved(before);
        let sum = row::plan_sum(&self.plan, &plan, self.sealed.at, &self.searchable, &self.card);
        let changed = tx.execute(
            "UPDATE plan SET length = ?1, head = ?2, searchable = ?3, updated_at = ?4, card = ?5, sum = ?6
             WHERE no = ?7 AND length = ?8 AND head = ?9",
            params![
                int(plan.length),
                plan.head.as_bytes(),
                self.searchable,
                self.sealed.at.as_ms(),
                self.card,
                sum.as_bytes(),
                int(plan.no.0),
                int(before.length),
                before.head.as_bytes()
            ],
        )?;
        if changed == 0 {
            return Ok(None);
        }
        // On its own, so that the index by state is touched only when the state changes.
        if plan.state != before.state {
            tx.execute("UPDATE plan SET state = ?1 WHERE no = ?2", params![plan.state, int(plan.no.0)])?;
        }
        Ok(Some(plan))
    }

    fn make_plan(&self, tx: &mut Tx<'_>) -> Result<KnownPlan, StoreError> {
        let last: Option<i64> = tx
            .prepare("SELECT seq FROM sqlite_sequence WHERE name = 'plan'")?
            .query_row([], |row| row.get(0))
            .optional()
            .map_err(|error| sql(&error, "numbering a plan"))?;
        let no = PlanNo(u64::try_from(last.unwrap_or(0)).unwrap_or(0) + 1);
        let nothing =
            KnownPlan { no, length: 0, head: first_head(&self.plan), state: String::new(), created_at: self.sealed.at };
        let plan = self.moved(&nothing);
        let sum = row::plan_sum(&self.plan, &plan, self.sealed.at, &self.searchable, &self.card);
        tx.execute(
            "INSERT INTO plan (no, id, length, head, state, searchable, created_at, updated_at, card, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9)",
            params![
                int(no.0),
                self.plan.as_str(),
                int(plan.length),
                plan.head.as_bytes(),
                plan.state,
                self.searchable,
                self.sealed.at.as_ms(),
                self.card,
                sum.as_bytes()
            ],
        )?;
        Ok(plan)
    }

    /// The hash before this turn.
    fn head_before(&self, tx: &Tx<'_>, no: PlanNo) -> Result<Hash, StoreError> {
        head_at(tx, no, self.length)?.ok_or_else(|| super::parts::no_boundary(self.length))
    }
}

/// The hash after the turn that ends with an entry, if one does.
pub(super) fn head_at(tx: &Tx<'_>, no: PlanNo, last_seq: u64) -> Result<Option<Hash>, StoreError> {
    tx.prepare("SELECT head FROM turn WHERE plan_no = ?1 AND last_seq = ?2")?
        .query_row([int(no.0), int(last_seq)], |row| row::hash(row, 0))
        .optional()
        .map_err(|error| sql(&error, "reading the journal"))
}

fn check_once(tx: &Tx<'_>, once: &OnceKey) -> Result<(), StoreError> {
    let known: Option<(String, PlanId)> = tx
        .prepare("SELECT once.body_hash, plan.id FROM once JOIN plan ON plan.no = once.plan_no WHERE once.key = ?1")?
        .query_row([&once.key], |row| Ok((row.get(0)?, row::parsed(row, 1, PlanId::new)?)))
        .optional()
        .map_err(|error| sql(&error, "looking for a key"))?;
    match known {
        None => Ok(()),
        Some((body_hash, plan)) if body_hash == once.body_hash => Err(StoreError::AlreadyDone { plan }),
        Some(_) => Err(StoreError::KeyReused { key: once.key.clone() }),
    }
}
