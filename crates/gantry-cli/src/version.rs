//! A plan as people name it: a file, or a plan of the record, perhaps at an earlier revision.

use std::path::Path;

use gantry_core::id::{PlanId, Revision};
use gantry_core::life::Life;
use gantry_core::plan::Plan;
use gantry_engine::EngineError;
use gantry_store::{Store, StoreError};
use gantry_view::revision::split;

use crate::exit::Fault;
use crate::file;
use crate::session::Record;

/// Tells whether a text names a file rather than a plan: it exists, or it looks like one.
pub fn is_file(text: &str) -> bool {
    let path = Path::new(text);
    text == "-" || path.exists() || text.contains('/') || path.extension().is_some()
}

/// Reads a plan from a file, or from the record.
pub async fn load(record: &Record, text: &str) -> Result<Plan, Fault> {
    Ok(seen(record, text).await?.plan)
}

/// A plan, and its life when it is one of the record.
pub struct Seen {
    /// The plan.
    pub plan: Plan,
    /// How it stands, or stood when its revision was the newest.
    pub life: Option<Box<Life>>,
    /// It is an earlier revision.
    pub past: bool,
}

impl Seen {
    /// The plan with what waits to be accepted.
    pub fn proposed(&self) -> Plan {
        self.life.as_ref().map_or_else(|| self.plan.clone(), |life| life.proposed())
    }
}

/// Reads a plan from a file, or from the record with its life.
pub async fn seen(record: &Record, text: &str) -> Result<Seen, Fault> {
    if is_file(text) {
        return Ok(Seen { plan: file::load_sound(text)?, life: None, past: false });
    }
    let neither = || {
        Fault::bad_input(format!("`{text}` is neither a file nor a plan of the record"))
            .hint("name a plan file, or a plan by its id, its number, the beginning of its id, or @last")
    };
    if !record.path()?.exists() {
        return Err(neither());
    }
    let store = record.open()?;
    let (reference, revision) = split(text);
    let card = match store.plan(reference).await {
        Err(StoreError::NotFound { candidates, .. }) if candidates.is_empty() => return Err(neither()),
        Err(StoreError::NotFound { candidates, .. }) => {
            return Err(neither().hint(format!("did you mean the plan `{}`?", candidates.join("`, or `"))));
        }
        other => other?,
    };
    let life = match revision {
        Some(_) => life_at(&store, &card.id, revision).await?,
        None => gantry_engine::open(&store, &card.id).await?.life,
    };
    Ok(Seen { plan: life.plan(), life: Some(Box::new(life)), past: revision.is_some() })
}

/// The plan at a revision, or as it is now.
pub async fn at(store: &dyn Store, id: &PlanId, revision: Option<Revision>) -> Result<Plan, Fault> {
    Ok(life_at(store, id, revision).await?.plan())
}

/// The life of a plan until a revision gave way to the next, or until now.
async fn life_at(store: &dyn Store, id: &PlanId, revision: Option<Revision>) -> Result<Life, Fault> {
    gantry_view::revision::life_at(store, id, revision).await.map_err(|error| match (&error, revision) {
        (EngineError::Store(StoreError::NotFound { candidates, .. }), Some(wanted)) => {
            let fault = Fault::bad_input(format!("plan `{id}` has no revision {wanted}"));
            match candidates.first() {
                Some(known) => fault.hint(format!("it has {known}")),
                None => fault,
            }
        }
        _ => error.into(),
    })
}
