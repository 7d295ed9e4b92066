//! What the plan learns: facts, beliefs, checkpoints, notes.

use std::collections::BTreeMap;

use serde_json::Value;

use super::draft::Draft;
use super::state::State;
use super::{Life, Refusal};
use crate::event::Event;
use crate::id::{TaskId, TaskNo};
use crate::input::EvidenceFor;
use crate::plan::{Action, Confidence, HYPOTHESES_MAX, Hypothesis, Reference};

/// How many checkpoints a plan keeps.
const CHECKPOINTS_MAX: usize = 10_000;

impl Draft {
    pub(super) fn observe(&mut self, facts: &BTreeMap<String, Value>) {
        let news: BTreeMap<String, Value> = facts
            .iter()
            .filter(|(name, value)| self.life.facts.get(*name) != Some(value))
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        if !news.is_empty() {
            let settings = news.keys().any(|name| name.starts_with("prompt.") || name.starts_with("model."));
            self.record(Event::FactsObserved { facts: news });
            if settings {
                self.redo_changed_settings();
            }
        }
    }

    /// A prompt or a model has changed: finished tasks that used it are done again. Looks at all tasks, which is
    /// right for something that happens between releases of a prompt.
    fn redo_changed_settings(&mut self) {
        let count = u32::try_from(self.life.tasks.len()).unwrap_or(u32::MAX);
        let uses = |no: &TaskNo| {
            let model = matches!(self.life.action_now(*no), Some(Action::Model(_) | Action::Agent(_)));
            let done = self.life.task(*no).state == State::Completed && !self.life.task(*no).suspect;
            model && done && !self.life.node(*no).removed
        };
        let changed: Vec<TaskNo> = (1..=count)
            .map(TaskNo)
            .filter(uses)
            .filter(|no| self.life.key(*no).is_ok_and(|(key, _)| key != self.life.task(*no).key))
            .collect();
        if changed.is_empty() || self.reopen_plan("a prompt or a model has changed").is_err() {
            return;
        }
        for no in changed {
            self.reopen(no, "its prompt or model has changed", false);
        }
    }

    pub(super) fn hypothesise(&mut self, hypothesis: &Hypothesis) -> Result<(), Refusal> {
        if self.life.beliefs.contains_key(&hypothesis.id) {
            return Err(Refusal::KnownHypothesis { id: hypothesis.id.clone() });
        }
        if self.life.beliefs.len() >= HYPOTHESES_MAX {
            return Err(Refusal::TooMany { what: "hypotheses", max: HYPOTHESES_MAX });
        }
        self.record(Event::HypothesisAdded { hypothesis: hypothesis.clone() });
        Ok(())
    }

    pub(super) fn evidence(
        &mut self,
        hypothesis: &str,
        direction: EvidenceFor,
        evidence: &str,
        by: &str,
    ) -> Result<(), Refusal> {
        let Some(belief) = self.life.beliefs.get(hypothesis) else {
            return Err(Refusal::UnknownHypothesis { id: hypothesis.to_owned() });
        };
        // What is no reference is words.
        if let Some(reference) = Reference::parse(evidence).filter(|reference| !self.life.is_there(reference)) {
            return Err(Refusal::DoesNotFit { reason: format!("nothing makes `{reference}`") });
        }
        let confidence = match direction {
            EvidenceFor::Supports => belief.weighed(2, 1),
            EvidenceFor::StronglySupports => belief.weighed(8, 1),
            EvidenceFor::Neutral => *belief,
            EvidenceFor::Refutes => belief.weighed(1, 2),
            EvidenceFor::StronglyRefutes => belief.weighed(1, 8),
        };
        self.record(Event::EvidenceAdded {
            hypothesis: hypothesis.to_owned(),
            direction,
            evidence: evidence.to_owned(),
            by: by.to_owned(),
            confidence,
        });
        Ok(())
    }

    pub(super) fn checkpoint(&mut self, name: &str) -> Result<(), Refusal> {
        if self.life.checkpoints.len() >= CHECKPOINTS_MAX {
            return Err(Refusal::TooMany { what: "checkpoints", max: CHECKPOINTS_MAX });
        }
        let last = self.life.done.last();
        self.mark_checkpoint(name.to_owned(), last);
        Ok(())
    }

    pub(super) fn mark_checkpoint(&mut self, name: String, task: Option<TaskNo>) {
        let task = task.map(|no| self.id(no));
        if self.life.checkpoints.len() >= CHECKPOINTS_MAX {
            let text = format!("checkpoint `{name}` was not made: a plan keeps at most {CHECKPOINTS_MAX}");
            return self.record(Event::NoteAdded { task, by: "gantry".to_owned(), text });
        }
        let whose = task.as_ref().map_or("plan", TaskId::as_str);
        let first = format!("cp-{whose}-{}", self.now);
        let (mut id, mut extra) = (first.clone(), 1);
        while self.life.points.contains_key(&id) {
            extra += 1;
            id = format!("{first}-{extra}");
        }
        self.record(Event::CheckpointMade { id, name, task });
    }

    pub(super) fn note(&mut self, task: Option<&TaskId>, by: &str, text: &str) -> Result<(), Refusal> {
        if let Some(task) = task {
            self.life.known(task)?;
        }
        self.record(Event::NoteAdded { task: task.cloned(), by: by.to_owned(), text: text.to_owned() });
        Ok(())
    }
}

impl Life {
    /// Tells whether the plan has what a reference names, made already or not.
    fn is_there(&self, reference: &Reference) -> bool {
        match reference {
            Reference::Task { task, .. } => self.no(task.as_str()).is_some(),
            Reference::Artifact { name } => self.producers.contains_key(name),
            Reference::Memory { .. } => true,
        }
    }

    /// How sure one is of each hypothesis.
    pub fn beliefs(&self) -> impl Iterator<Item = (&str, Confidence)> {
        self.beliefs.iter().map(|(id, confidence)| (id.as_str(), *confidence))
    }

    /// The points that one can come back to, oldest first.
    pub fn checkpoints(&self) -> impl Iterator<Item = &super::CheckpointMark> {
        self.checkpoints.iter()
    }
}
