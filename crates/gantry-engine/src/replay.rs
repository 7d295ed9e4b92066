//! A whole life decided again from what was recorded, with no process and no network.

use gantry_core::event::{Entry, Event};
use gantry_core::id::PlanId;
use gantry_core::life::{self, Life};
use gantry_core::policy::Policy;
use gantry_store::Store;

use crate::cause::Cause;
use crate::error::EngineError;
use crate::load::all_turns;

/// What to change before the life is decided again.
#[derive(Clone, Debug, Default)]
pub struct WhatIf {
    /// Another policy.
    pub policy: Option<Policy>,
}

/// What came of deciding a life again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// How many turns were decided again.
    pub turns: u64,
    /// How many entries came out the same.
    pub entries: u64,
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
    let turns = all_turns(store, plan).await?;
    let mut replayed = Replayed { turns: 0, entries: 0, difference: None };
    let mut life: Option<Life> = None;
    let mut given: Vec<Entry> = Vec::new();
    for turn in turns {
        let cause = Cause::from_json(&turn.inputs).map_err(|why| EngineError::Journal {
            plan: plan.to_string(),
            why: format!("entry {}: {why}", turn.first_seq),
        })?;
        match (cause, life.take()) {
            (Cause::Decided { inputs, room }, Some(before)) => {
                let mut draft = before.draft(turn.at, room);
                for input in &inputs {
                    // What was refused was not recorded; what is refused now shows as a difference.
                    let _ = draft.take(input);
                }
                let verdict = draft.close();
                replayed.turns += 1;
                if let Some(difference) = first_difference(&turn.entries, &verdict.events) {
                    replayed.difference = Some(difference);
                    return Ok(replayed);
                }
                replayed.entries += turn.entries.len() as u64;
                life = Some(verdict.life);
            }
            (_, before) => {
                replayed.entries += turn.entries.len() as u64;
                let mut entries = turn.entries;
                match before {
                    Some(mut before) => {
                        before.apply(&entries);
                        life = Some(before);
                    }
                    None => {
                        if let (Some(policy), Some(Entry { event: Event::PlanCreated { plan, .. }, .. })) =
                            (&what_if.policy, entries.first_mut())
                        {
                            plan.policy = policy.clone();
                        }
                        given.extend(entries);
                        life = Some(life::replay(&given).map_err(|bad| EngineError::journal(plan, &bad))?);
                    }
                }
            }
        }
    }
    Ok(replayed)
}

fn first_difference(recorded: &[Entry], decided: &[Entry]) -> Option<Difference> {
    let length = recorded.len().max(decided.len());
    (0..length).find(|at| recorded.get(*at) != decided.get(*at)).map(|at| {
        let event = |entry: &Entry| Box::new(entry.event.clone());
        let seq = recorded.get(at).or(decided.get(at)).map_or(0, |entry| entry.seq);
        Difference { seq, recorded: recorded.get(at).map(event), decided: decided.get(at).map(event) }
    })
}
