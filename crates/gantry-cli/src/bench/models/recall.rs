//! Calls that are recorded, and found again with the network off: as an attempt does that another process takes up.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_core::policy::FailureClass;
use gantry_llm::{Asking, Gateway};
use gantry_runners::{Ended, Notes, Place, Ports, Preview, Runner, Runners, Work};
use tokio_util::sync::CancellationToken;

use super::super::plans::{self, NOTHING};
use super::line::{Line, question};
use crate::exit::Fault;
use crate::session;

/// How many calls are recorded.
pub const CALLS: usize = 10_000;
/// How many are made or recalled at once.
const AT_ONCE: usize = 64;

/// What came of it, in calls per second.
#[derive(Clone, Copy, Default)]
pub struct Recalled {
    /// Asked, answered and durably recorded, many at once.
    pub recorded: f64,
    /// Recalled, one after the other.
    pub one_by_one: f64,
    /// Recalled, many at once.
    pub at_once: f64,
}

/// Records and recalls within one attempt, by the ports that every attempt has.
pub fn measure(line: &Line, folder: &Path) -> Result<Recalled, Fault> {
    let (asking, cut) = (line.gateway("at-once", 64)?, line.cut("at-once"));
    let found = Arc::new(Mutex::new(Recalled::default()));
    let runner = Recalling { asking, cut, found: Arc::clone(&found) };
    session::block_on(async {
        let engine = super::super::engine_with(&folder.join("gantry.db"), Runners::none().with(Arc::new(runner)))?;
        super::super::carry_out(&engine, vec![plans::chain(1)]).await?;
        Ok(())
    })?;
    let found = *found.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(found)
}

/// A capability that does nothing but record calls and recall them.
struct Recalling {
    asking: Gateway,
    cut: Gateway,
    found: Arc<Mutex<Recalled>>,
}

impl Recalling {
    /// Asks all questions, so many at once; returns how many per second.
    async fn ask_all(&self, gateway: &Gateway, ports: &Ports, at_once: usize) -> Result<f64, Failure> {
        let notes = Notes::of(&*ports.calls);
        let begin = Instant::now();
        let mut answers = futures_util::stream::iter(0..CALLS)
            .map(|number| gateway.ask(Asking { record: &notes, plan: "bench", ..Asking::new(question(number)) }))
            .buffer_unordered(at_once);
        while let Some(answer) = answers.next().await {
            answer?;
        }
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let per_s = CALLS as f64 / begin.elapsed().as_secs_f64();
        Ok(per_s)
    }

    async fn measure(&self, ports: &Ports) -> Result<(), Failure> {
        let found = Recalled {
            recorded: self.ask_all(&self.asking, ports, AT_ONCE).await?,
            one_by_one: self.ask_all(&self.cut, ports, 1).await?,
            at_once: self.ask_all(&self.cut, ports, AT_ONCE).await?,
        };
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(())
    }
}

#[async_trait]
impl Runner for Recalling {
    fn names(&self) -> &'static [&'static str] {
        &[NOTHING]
    }

    fn guard(&self, _: &Work, _: &Place) -> Result<(), Failure> {
        Ok(())
    }

    async fn preview(&self, _: &Work, _: &Place) -> Result<Preview, Failure> {
        Err(Failure::new(FailureClass::Logic, "there is nothing to show"))
    }

    async fn run(&self, _: &Work, _: &Place, ports: &Ports, _: &CancellationToken) -> Ended {
        Ended::with(self.measure(ports).await.map(|()| Success::default()))
    }
}
