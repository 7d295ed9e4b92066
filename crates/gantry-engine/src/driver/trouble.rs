//! The record has trouble, or has not taken a turn: it is waited for, and what is true is read again.

use gantry_core::effect::Failure;
use gantry_core::input::Input;
use gantry_core::policy::{FailureClass, Usage};
use gantry_store::StoreError;

use super::Driver;
use crate::act::Flight;
use crate::engine::ANSWER_WAIT;
use crate::error::EngineError;
use crate::happening::Happening;
use crate::load::Opened;
use crate::message::Message;
use crate::patience::{STORE_RETRY, Troubled, patiently};

impl Driver {
    /// Asks the record, again and again while it has trouble that may pass.
    pub(crate) async fn patiently<T, E: Troubled, F>(&self, ask: impl FnMut() -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        patiently(ask, |trouble| self.wait_out(trouble)).await
    }

    /// Waits while the record has trouble; false when there is no more time for that.
    async fn wait_out(&self, error: StoreError) -> bool {
        if self.unattended && self.since.elapsed() > ANSWER_WAIT {
            return false;
        }
        self.tell(Happening::StoreTrouble { plan: self.plan.clone(), error });
        tokio::select! {
            () = tokio::time::sleep(STORE_RETRY) => true,
            () = self.stop.cancelled() => false,
        }
    }

    /// An append failed, or was said to: reads what is true.
    pub(super) async fn read_after(&self, error: StoreError) -> Result<Opened, EngineError> {
        let goes_on = match &error {
            StoreError::Conflict { .. } => true,
            error if error.is_transient() => self.wait_out(error.clone()).await,
            _ => false,
        };
        if !goes_on {
            return Err(error.into());
        }
        self.patiently(|| crate::load::open(&*self.shared.store, &self.plan)).await
    }

    /// The turn was not appended: the life in it never was, and what is true takes its place.
    pub(super) fn start_over(&mut self, opened: Opened) {
        self.snapshot_length = opened.snapshot_length;
        let strangers = opened.life.in_flight().into_iter().filter(|(task, attempt)| {
            !self.unattended && !self.flights.contains_key(&Flight::Attempt(task.clone(), *attempt))
        });
        for (task, attempt) in strangers {
            // Someone else decided to start it, and only we could.
            let end = Err(Failure::new(FailureClass::Lost, "nobody is known to run it"));
            let input = Input::Ended { task, attempt, end, usage: Usage::default() };
            let _ = self.sender.send(Message::Answer { input, calls: Vec::new() });
        }
        self.life = Some(opened.life);
        self.timeline = opened.timeline;
        self.take_rules();
    }
}
