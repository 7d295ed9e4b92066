//! A whole life decided again from what was recorded, with no process and no network.

use gantry_core::event::{Entry, Event};
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{self, Life};
use gantry_core::plan::Plan;
use gantry_core::policy::Policy;
use gantry_store::{Store, Turn, all_turns};

use crate::cause::Cause;
use crate::error::EngineError;

/// What to change before the life is decided again.
#[derive(Clone, Debug, Default)]
pub struct WhatIf {
    /// Another policy.
    pub policy: Option<Policy>,
    /// Another revision of the plan, from the beginning on. People's own revisions are passed over then.
    pub revision: Option<Plan>,
}

impl WhatIf {
    /// The first entry of the other life.
    fn beginning(&self, recorded: &[Entry]) -> Result<Vec<Entry>, EngineError> {
        let mut entries = recorded.to_vec();
        let Some(Entry { at, event: Event::PlanCreated { id, seed, plan }, .. }) = entries.first_mut() else {
            return Ok(entries);
        };
        if let Some(other) = &self.revision {
            let created = life::create(other.clone(), id.clone(), *seed, *at).map_err(EngineError::Refused)?;
            if let Some(Entry { event: Event::PlanCreated { plan: other, .. }, .. }) = created.into_iter().next() {
                *plan = other;
            }
        }
        if let Some(policy) = &self.policy {
            plan.policy = policy.clone();
        }
        Ok(entries)
    }

    /// Tells whether an input counts in the other life.
    fn takes(&self, input: &Input) -> bool {
        self.revision.is_none() || !matches!(input, Input::Revise { .. })
    }
}

/// What came of deciding a life again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// How many turns were decided again.
    pub turns: u64,
    /// How many entries came out the same.
    pub entries: u64,
    /// How many turns nobody decided, so that nothing of them can be decided again: the part of a turn that a fork
    /// begins with, or whatever someone wrote into a journal and marked so.
    pub given: u64,
    /// Where it went another way.
    pub difference: Option<Difference>,
}

/// The first place where a life decided again is not the recorded one.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The number of the entry.
    pub seq: u64,
    /// What was recorded, if anything.
    pub recorded: Option<Box<Event>>,
    /// What is decided now, if anything.
    pub decided: Option<Box<Event>>,
}

/// Decides a plan's life again, turn by turn, and compares.
pub async fn replay(store: &dyn Store, plan: &PlanId, what_if: WhatIf) -> Result<Replayed, EngineError> {
    replay_turns(plan, &all_turns(store, plan).await?, &what_if)
}

/// The same for a life that is in no store yet.
pub fn replay_turns(plan: &PlanId, turns: &[Turn], what_if: &WhatIf) -> Result<Replayed, EngineError> {
    let mut replayed = Replayed { turns: 0, entries: 0, given: 0, difference: None };
    let mut life: Option<Life> = None;
    for turn in turns {
        let cause = Cause::from_json(&turn.inputs).map_err(|why| EngineError::Journal {
            plan: plan.to_string(),
            why: format!("entry {}: {why}", turn.first_seq),
        })?;
        match (cause, life.take()) {
            (Cause::Decided { inputs, room, scarce }, Some(before)) => {
                let mut draft = before.draft(turn.at, room);
                draft.limit(scarce);
                for input in inputs.iter().filter(|input| what_if.takes(input)) {
                    // What was refused was not recorded; what is refused now shows as a difference.
                    let _ = draft.take(input);
                }
                let verdict = draft.close();
                replayed.turns += 1;
                let revised = inputs.iter().any(|input| !what_if.takes(input));
                let counts = |entry: &&Entry| !revised || !matches!(entry.event, Event::PlanRevised { .. });
                let recorded: Vec<Entry> = turn.entries.iter().filter(counts).cloned().collect();
                let difference = match &what_if.revision {
                    Some(_) => first_other_event(&recorded, &verdict.events),
                    None => first_difference(&recorded, &verdict.events),
                };
                if let Some(difference) = difference {
                    replayed.difference = Some(difference);
                    return Ok(replayed);
                }
                replayed.entries += turn.entries.len() as u64;
                life = Some(verdict.life);
            }
            (_, Some(mut before)) => {
                if !is_mark_of_fork(&turn.entries, &before) {
                    replayed.given += 1;
                }
                replayed.entries += turn.entries.len() as u64;
                before.apply(&turn.entries);
                life = Some(before);
            }
            (_, None) => {
                if let Some(difference) = first_difference(&turn.entries, &created_again(&turn.entries)) {
                    replayed.difference = Some(difference);
                    return Ok(replayed);
                }
                replayed.entries += turn.entries.len() as u64;
                let entries = what_if.beginning(&turn.entries)?;
                life = Some(life::replay(&entries).map_err(|bad| EngineError::journal(plan, &bad))?);
            }
        }
    }
    Ok(replayed)
}

/// What creating this plan gives.
fn created_again(recorded: &[Entry]) -> Vec<Entry> {
    match recorded.first() {
        Some(Entry { at, event: Event::PlanCreated { id, seed, plan }, .. }) => {
            life::create((**plan).clone(), id.clone(), *seed, *at).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// That a plan is a fork follows from the plan before it: nobody has to decide it.
fn is_mark_of_fork(recorded: &[Entry], before: &Life) -> bool {
    match recorded {
        [Entry { event: Event::PlanForked { from, at, .. }, .. }] => from == before.id() && *at == before.length(),
        _ => false,
    }
}

fn first_difference(recorded: &[Entry], decided: &[Entry]) -> Option<Difference> {
    first_that(recorded, decided, |one, other| one != other)
}

/// The same where entries may have other numbers, because some of the recorded ones are passed over.
fn first_other_event(recorded: &[Entry], decided: &[Entry]) -> Option<Difference> {
    let event = |entry: Option<&Entry>| entry.map(|entry| (entry.at, entry.event.clone()));
    first_that(recorded, decided, |one, other| event(one) != event(other))
}

fn first_that(
    recorded: &[Entry],
    decided: &[Entry],
    differ: impl Fn(Option<&Entry>, Option<&Entry>) -> bool,
) -> Option<Difference> {
    let length = recorded.len().max(decided.len());
    (0..length).find(|at| differ(recorded.get(*at), decided.get(*at))).map(|at| {
        let event = |entry: &Entry| Box::new(entry.event.clone());
        let seq = recorded.get(at).or(decided.get(at)).map_or(0, |entry| entry.seq);
        Difference { seq, recorded: recorded.get(at).map(event), decided: decided.get(at).map(event) }
    })
}
