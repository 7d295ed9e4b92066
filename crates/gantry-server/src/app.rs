//! What every handler shares.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use gantry_engine::Engine;
use gantry_store::{PlanCard, Store};
use gantry_view::elapsed;

use crate::access::{Access, Audit, Rate};
use crate::foreman::Foreman;
use crate::house::House;
use crate::limits::Limits;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::runs::Runs;
use crate::telemetry::Telemetry;
use crate::work::Works;

/// What every handler shares.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// The parts.
pub struct Inner {
    pub house: Arc<dyn House>,
    pub foreman: Foreman,
    pub runs: Runs,
    pub works: Works,
    pub access: Access,
    pub audit: Audit,
    pub live: Live,
    pub limits: Limits,
    pub requests: Rate,
    pub sign_ins: Rate,
    pub metrics: Metrics,
    pub telemetry: Telemetry,
    pub started: Instant,
    /// The address and the scheme of a client are what a proxy in front says.
    pub behind_proxy: bool,
    /// Clients talk to this process over TLS.
    pub speaks_tls: bool,
    /// Told when the server stops: streams end then.
    pub stopping: tokio_util::sync::CancellationToken,
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    /// Puts the parts together.
    pub fn new(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// The engine to look at plans with.
    pub fn engine(&self) -> &Engine {
        self.house.engine()
    }

    /// The record.
    pub fn store(&self) -> &dyn Store {
        &**self.engine().store()
    }

    /// Finds the one plan that is meant: its id, its number, the beginning of its id, `@last`.
    pub async fn plan(&self, reference: &str) -> Result<PlanCard, Problem> {
        Ok(self.store().plan(reference).await?)
    }

    /// Tells whether some process works on a plan.
    pub async fn is_driven(&self, card: &PlanCard) -> Result<bool, Problem> {
        Ok(self.foreman.is_driven(&card.id) || self.store().claimed_by_other(card.no).await?)
    }

    /// The time of this machine.
    pub fn now() -> Timestamp {
        elapsed::now()
    }

    /// The id of the plan that is meant.
    pub async fn id(&self, reference: &str) -> Result<PlanId, Problem> {
        Ok(self.plan(reference).await?.id)
    }
}
