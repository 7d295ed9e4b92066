//! `noop`: does nothing, at once. For trying out plans and for measuring everything around it.

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::input::Success;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::ports::Ports;
use crate::runner::{Ended, Happened, Preview, Runner};
use crate::work::{Place, Work};

/// Does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noop;

#[async_trait]
impl Runner for Noop {
    fn names(&self) -> &'static [&'static str] {
        &["noop"]
    }

    fn guard(&self, _work: &Work, _place: &Place) -> Result<(), Failure> {
        Ok(())
    }

    async fn preview(&self, _work: &Work, _place: &Place) -> Result<Preview, Failure> {
        Ok(Preview { text: "would do nothing".to_owned(), diff: None })
    }

    /// Hands its arguments back as outputs.
    async fn run(&self, work: &Work, _place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Ended {
        let outputs = work.args().into_iter().collect();
        Ended::with(Ok(Success { outputs, ..Success::default() }))
    }

    async fn undo(&self, _work: &Work, _place: &Place, _ports: &Ports, _record: &Value) -> Result<String, String> {
        Ok("there was nothing to take back".to_owned())
    }

    async fn happened(&self, work: &Work, _place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Happened {
        Happened { happened: Some(true), outputs: work.args().into_iter().collect() }
    }
}
