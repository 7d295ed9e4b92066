//! What is looked at before a plan is driven: whether it may be, with what, and what has to be said about it.

use std::time::Duration;

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{Life, PlanState};
use gantry_engine::EngineError;
use gantry_store::Store;

use super::how::How;
use super::{Begun, Carried, offline, sandbox};
use crate::exit::Fault;
use crate::session;
use crate::show::timeline::Timeline;
use crate::surroundings::as_options;

/// How often, and how far apart, to look whether someone else still holds a plan: a second in all.
const CLAIM_LOOKS: u32 = 20;
const CLAIM_LOOK_EVERY: Duration = Duration::from_millis(50);
/// The name under which this program leaves notes.
pub const NOTED_BY: &str = "gantry";

/// A plan that may be driven.
pub struct Prepared {
    /// As it stands.
    pub life: Life,
    /// When things began and ended.
    pub timeline: Timeline,
    /// What its journal has, for a plan that has not begun.
    pub entries: Vec<Entry>,
    /// What it is told first.
    pub first: Vec<Input>,
    /// What is said about it.
    pub notes: Vec<String>,
}

/// Looks at a plan before anything starts.
pub(super) async fn prepare(carried: &Carried, how: &How, begun: Begun) -> Result<Prepared, Fault> {
    let Carried { engine, plan } = carried;
    let store = &**engine.store();
    if stays_claimed(store, plan).await? {
        return Err(EngineError::Driven { plan: plan.to_string() }.into());
    }
    let opened = engine.open(plan).await?;
    let (mut notes, mut first) = (Vec::new(), Vec::new());
    if let Some(options) = as_options(&opened.origin.given).filter(|_| begun != Begun::Now) {
        notes.push(format!("as `{plan}` was begun: {options}"));
    }
    let (place, life, timeline) = (engine.place(&opened), opened.life, opened.timeline);
    let is_new = life.state() == PlanState::Pending;
    if let Some(note) = sandbox::announce(&place, &life.plan()).await? {
        // A policy that cannot be kept is remembered with the plan; that a machine confines less is said only.
        if is_new && sandbox::is_asked_for(&place) {
            first.push(Input::Note { task: None, by: NOTED_BY.to_owned(), text: note.clone() });
        }
        notes.push(note);
    }
    notes.extend(offline::announce(&life, &how.models).await);
    match life.state() {
        PlanState::Pending => first.push(Input::Start),
        PlanState::Paused => first.push(Input::Resume { by: session::operator() }),
        _ => {}
    }
    let entries = if is_new { gantry_engine::entries(store, plan).await? } else { Vec::new() };
    Ok(Prepared { life, timeline, entries, first, notes })
}

/// Tells whether someone else holds a plan, and for longer than it takes to say something to it.
async fn stays_claimed(store: &dyn Store, plan: &PlanId) -> Result<bool, Fault> {
    let no = store.plan(plan.as_str()).await?.no;
    for _ in 0..CLAIM_LOOKS {
        if !store.claimed_by_other(no).await? {
            return Ok(false);
        }
        tokio::time::sleep(CLAIM_LOOK_EVERY).await;
    }
    Ok(true)
}
