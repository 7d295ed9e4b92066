//! Everything that changes the record: checked first, so that a refusal changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::id::{PlanId, TaskId};
use gantry_core::time::Timestamp;
use serde_json::Value;

use super::{ANSWERED, Letter, Plan, Record, UNREFERENCED};
use crate::kept::{FILE_LIST, hashes_in, listed_in, noted_in};
use crate::{
    Append, Appended, ArtifactRow, Card, EffectRow, Hash, InboxId, NewArtifact, OnceKey, PlanNo, Sealed, Snapshot,
    StoreError, TextKind, Vacuumed, check_life, first_head, text_of_artifact,
};

impl Record {
    pub(super) fn plan(&self, id: &PlanId) -> Result<&Plan, StoreError> {
        self.plans.get(id).ok_or_else(|| StoreError::not_found(format!("plan `{id}`")))
    }

    pub(super) fn plan_mut(&mut self, id: &PlanId) -> Result<&mut Plan, StoreError> {
        self.plans.get_mut(id).ok_or_else(|| StoreError::not_found(format!("plan `{id}`")))
    }

    pub(super) fn append(&mut self, append: Append) -> Result<Appended, StoreError> {
        let sealed = Sealed::new(append.turn.clone(), append.length)?;
        if let Some(once) = &append.once {
            self.check_once(once)?;
        }
        let length = self.plans.get(&append.plan).map_or(0, |plan| plan.length);
        if length != append.length {
            return Err(StoreError::Conflict { length });
        }
        self.check_parts(&append, sealed.last_seq())?;

        let plan = self.plans.entry(append.plan.clone()).or_insert_with(|| {
            self.last_no += 1;
            Plan::new(&append.plan, PlanNo(self.last_no), sealed.at)
        });
        let appended = plan.append(&append.plan, sealed, append.card, append.artifacts);
        for row in &appended.artifacts {
            let content = self.blobs.get(&row.artifact.hash).map(|(bytes, _)| bytes.as_slice()).unwrap_or_default();
            if let Some(text) = text_of_artifact(row, content) {
                plan.texts.insert((text.task, text.kind, text.name), text.text);
            }
        }
        for effect in append.effects {
            plan.record_effect(effect);
        }
        for text in append.texts {
            plan.texts.insert((text.task, text.kind, text.name), text.text);
        }
        if let Some(snapshot) = append.snapshot {
            plan.save_snapshot(snapshot)?;
        }
        for (id, answer) in append.answered {
            self.answer(id, answer)?;
        }
        if let Some(once) = append.once {
            self.once.insert(once.key, (once.body_hash, append.plan));
        }
        Ok(appended)
    }

    pub(super) fn import(&mut self, life: Vec<Append>) -> Result<Appended, StoreError> {
        let id = check_life(&life)?;
        if let Some(plan) = self.plans.get(&id) {
            return Err(StoreError::Conflict { length: plan.length });
        }
        let last_no = self.last_no;
        let appended = life.into_iter().map(|append| self.append(append)).collect::<Result<Vec<_>, _>>();
        if appended.is_err() && self.plans.contains_key(&id) {
            self.forget(&id)?;
            self.last_no = last_no;
        }
        appended?.pop().ok_or_else(|| StoreError::not_found(format!("plan `{id}`")))
    }

    fn check_once(&self, once: &OnceKey) -> Result<(), StoreError> {
        match self.once.get(&once.key) {
            None => Ok(()),
            Some((body_hash, plan)) if *body_hash == once.body_hash => {
                Err(StoreError::AlreadyDone { plan: plan.clone() })
            }
            Some(_) => Err(StoreError::KeyReused { key: once.key.clone() }),
        }
    }

    fn check_parts(&self, append: &Append, length: u64) -> Result<(), StoreError> {
        for artifact in &append.artifacts {
            if !self.blobs.contains_key(&artifact.hash) && !self.dropped.contains_key(&artifact.hash) {
                return Err(StoreError::not_found(format!("blob {}", artifact.hash)));
            }
        }
        for effect in &append.effects {
            if effect.plan != append.plan {
                return Err(StoreError::Invalid { what: format!("{} is of another plan", effect.name()) });
            }
            if let Some(plan) = self.plans.get(&append.plan) {
                plan.check_effect(effect)?;
            }
        }
        for (id, _) in &append.answered {
            self.letter(*id)?;
        }
        match &append.snapshot {
            Some(snapshot) if snapshot.length != length && snapshot.length != append.length => {
                Err(no_boundary(snapshot))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn record_effects(&mut self, effects: Vec<EffectRow>) -> Result<(), StoreError> {
        for effect in &effects {
            self.plan(&effect.plan)?.check_effect(effect)?;
        }
        for effect in effects {
            self.plan_mut(&effect.plan.clone())?.record_effect(effect);
        }
        Ok(())
    }

    pub(super) fn submit(&mut self, plan: &PlanId, input: Value, at: Timestamp) -> Result<InboxId, StoreError> {
        self.plan(plan)?;
        self.last_inbox += 1;
        let id = InboxId(self.last_inbox);
        self.inbox.insert(id, Letter { plan: plan.clone(), input, at, answer: None });
        Ok(id)
    }

    pub(super) fn letter(&self, id: InboxId) -> Result<&Letter, StoreError> {
        self.inbox.get(&id).ok_or_else(|| StoreError::not_found(format!("input {} in the inbox", id.0)))
    }

    pub(super) fn answer(&mut self, id: InboxId, answer: Value) -> Result<(), StoreError> {
        self.letter(id)?;
        if let Some(letter) = self.inbox.get_mut(&id) {
            letter.answer.get_or_insert(answer);
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, plan: &PlanId) -> Result<(), StoreError> {
        if self.plan(plan)?.pinned {
            return Err(StoreError::Pinned { plan: plan.clone() });
        }
        self.plans.remove(plan);
        self.inbox.retain(|_, letter| letter.plan != *plan);
        self.once.retain(|_, (_, other)| other != plan);
        Ok(())
    }

    pub(super) fn drop_contents(&mut self, expired: &[ArtifactRow], before: Timestamp, now: Timestamp) -> Vacuumed {
        let rows = self.plans.values().flat_map(|plan| &plan.artifacts);
        let mut used: BTreeSet<Hash> = rows.filter(|row| !expired.contains(row)).map(|row| row.artifact.hash).collect();
        used.extend(self.spoken_of());
        let mut vacuumed = Vacuumed::default();
        for row in expired.iter().filter(|row| !used.contains(&row.artifact.hash)) {
            let hash = row.artifact.hash;
            if self.blobs.get(&hash).is_some_and(|(_, at)| *at > before) {
                continue;
            }
            if let Some((bytes, _)) = self.blobs.remove(&hash) {
                vacuumed.blobs += 1;
                vacuumed.bytes += bytes.len() as u64;
                self.dropped.insert(hash, now);
            }
            if let Some(plan) = self.plans.get_mut(&row.plan) {
                plan.texts.remove(&text_key(row));
            }
        }
        vacuumed
    }

    /// The contents that recorded calls, notes and lists of files speak of, and those that these speak of in turn.
    fn spoken_of(&self) -> BTreeSet<Hash> {
        let rows = self.plans.values().flat_map(|plan| &plan.artifacts);
        let lists = rows.filter(|row| row.artifact.name == FILE_LIST).map(|row| row.artifact.hash);
        let mut spoken_of: BTreeSet<Hash> = lists.collect();
        for effect in self.plans.values().flat_map(|plan| &plan.effects) {
            spoken_of.extend(hashes_in(effect.request.to_string().as_bytes()));
            let answer = effect.answer.as_ref().map(ToString::to_string).unwrap_or_default();
            spoken_of.extend(hashes_in(answer.as_bytes()));
        }
        let turns = self.plans.values().flat_map(|plan| &plan.turns);
        spoken_of.extend(turns.flat_map(|(sealed, _)| noted_in(&sealed.entries)));
        for hash in spoken_of.clone() {
            spoken_of.extend(self.blobs.get(&hash).into_iter().flat_map(|(bytes, _)| listed_in(bytes)));
        }
        spoken_of
    }

    pub(super) fn vacuum(&mut self, now: Timestamp) -> Vacuumed {
        let rows = self.plans.values().flat_map(|plan| &plan.artifacts);
        let mut used: BTreeSet<Hash> = rows.map(|row| row.artifact.hash).collect();
        used.extend(self.spoken_of());
        let mut vacuumed = Vacuumed::default();
        self.inbox.retain(|_, letter| letter.answer.is_none() || now - letter.at < ANSWERED);
        self.blobs.retain(|hash, (bytes, at)| {
            let kept = used.contains(hash) || now - *at < UNREFERENCED;
            if !kept {
                vacuumed.blobs += 1;
                vacuumed.bytes += bytes.len() as u64;
            }
            kept
        });
        vacuumed
    }
}

impl Plan {
    fn new(id: &PlanId, no: PlanNo, at: Timestamp) -> Self {
        Self {
            no,
            created_at: at,
            updated_at: at,
            pinned: false,
            card: Card::new(""),
            length: 0,
            head: first_head(id),
            turns: Vec::new(),
            snapshot: None,
            artifacts: Vec::new(),
            effects: Vec::new(),
            texts: BTreeMap::new(),
        }
    }

    fn append(&mut self, id: &PlanId, sealed: Sealed, card: Card, artifacts: Vec<NewArtifact>) -> Appended {
        self.head = sealed.head(self.head);
        self.length = sealed.last_seq();
        self.updated_at = sealed.at;
        self.card = card.bounded();
        self.turns.push((sealed, self.head));
        let first = self.artifacts.len();
        for artifact in artifacts {
            let same = |row: &&ArtifactRow| row.artifact.task == artifact.task && row.artifact.name == artifact.name;
            let version = self.artifacts.iter().filter(same).map(|row| row.version).max().unwrap_or(0) + 1;
            self.artifacts.push(ArtifactRow { plan: id.clone(), version, artifact });
        }
        let artifacts = self.artifacts[first..].to_vec();
        Appended { plan_no: self.no, length: self.length, head: self.head, artifacts }
    }

    fn same_effect(&self, effect: &EffectRow) -> Option<usize> {
        let key = |row: &EffectRow| (row.attempt, row.ordinal);
        self.effects.iter().position(|row| row.task == effect.task && key(row) == key(effect))
    }

    /// An answer stays: recording the same once more is fine, recording another is not.
    fn check_effect(&self, effect: &EffectRow) -> Result<(), StoreError> {
        match self.same_effect(effect).map(|at| &self.effects[at]) {
            Some(known) if known.answer.is_some() && known != effect => {
                Err(StoreError::Invalid { what: format!("{} has an answer already", effect.name()) })
            }
            _ => Ok(()),
        }
    }

    fn record_effect(&mut self, effect: EffectRow) {
        match self.same_effect(&effect) {
            Some(at) => self.effects[at] = effect,
            None => self.effects.push(effect),
        }
    }

    pub(super) fn save_snapshot(&mut self, snapshot: Snapshot) -> Result<(), StoreError> {
        if !self.turns.iter().any(|(turn, _)| turn.last_seq() == snapshot.length) {
            return Err(no_boundary(&snapshot));
        }
        if self.snapshot.as_ref().is_none_or(|known| known.length <= snapshot.length) {
            self.snapshot = Some(snapshot);
        }
        Ok(())
    }
}

/// Where the text of an artifact stands.
fn text_key(row: &ArtifactRow) -> (Option<TaskId>, TextKind, String) {
    (Some(row.artifact.task.clone()), TextKind::Artifact, row.versioned_name())
}

fn no_boundary(snapshot: &Snapshot) -> StoreError {
    StoreError::Invalid { what: format!("no turn ends with entry {}, which the snapshot is of", snapshot.length) }
}
