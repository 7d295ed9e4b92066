//! Patience with a record that has trouble which may pass: it is asked again until it is well.

use std::time::Duration;

use gantry_store::StoreError;

use crate::error::EngineError;

/// How long to wait before a record that has trouble is asked again.
pub(crate) const STORE_RETRY: Duration = Duration::from_millis(500);

/// An answer that may tell of trouble with the record.
pub(crate) trait Troubled {
    /// The trouble, if it may pass.
    fn passing(&self) -> Option<&StoreError>;
}

impl Troubled for StoreError {
    fn passing(&self) -> Option<&StoreError> {
        self.is_transient().then_some(self)
    }
}

impl Troubled for EngineError {
    fn passing(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => error.passing(),
            _ => None,
        }
    }
}

/// Asks again and again while the record has trouble that may pass. `wait` hears of the trouble, waits, and says
/// whether to go on; if not, the trouble is the answer.
pub(crate) async fn patiently<T, E, F, W>(
    mut ask: impl FnMut() -> F,
    mut wait: impl FnMut(StoreError) -> W,
) -> Result<T, E>
where
    E: Troubled,
    F: Future<Output = Result<T, E>>,
    W: Future<Output = bool>,
{
    loop {
        let error = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let goes_on = match error.passing() {
            Some(trouble) => wait(trouble.clone()).await,
            None => false,
        };
        if !goes_on {
            return Err(error);
        }
    }
}

/// Waits a while, for those who have nobody to tell and cannot be stopped.
pub(crate) async fn a_while(_trouble: StoreError) -> bool {
    tokio::time::sleep(STORE_RETRY).await;
    true
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn busy() -> StoreError {
        StoreError::Busy { what: "someone writes".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn the_record_is_asked_until_its_trouble_has_passed() {
        let asked = Cell::new(0);
        let ask = || {
            asked.set(asked.get() + 1);
            std::future::ready(if asked.get() < 4 { Err(busy()) } else { Ok(asked.get()) })
        };
        assert_eq!(patiently(ask, a_while).await, Ok(4));
    }

    #[tokio::test]
    async fn trouble_that_stays_and_patience_that_ends_are_told_at_once() {
        let gone = || EngineError::Store(StoreError::Gone { what: "it was removed".to_owned() });
        let answer: Result<(), _> = patiently(|| std::future::ready(Err(gone())), |_| async { panic!() }).await;
        assert_eq!(answer, Err(gone()));
        let answer: Result<(), _> = patiently(|| std::future::ready(Err(busy())), |_| async { false }).await;
        assert_eq!(answer, Err(busy()));
    }
}
