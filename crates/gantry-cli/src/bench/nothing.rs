//! The capability that measured tasks use: does nothing, at once or after a pause, and may keep a ledger.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_runners::{Ended, Place, Ports, Preview, Runner, Work};
use tokio_util::sync::CancellationToken;

use super::{machine, plans::NOTHING};

/// Does nothing.
#[derive(Default)]
pub struct Nothing {
    /// Where each run leaves a line, outside of the record: `task shared_ms`.
    ledger: Option<Mutex<std::fs::File>>,
}

impl Nothing {
    /// Leaves a line for each run in a file.
    pub fn with_ledger(path: &PathBuf) -> std::io::Result<Self> {
        let file = std::fs::File::options().create(true).append(true).open(path)?;
        Ok(Self { ledger: Some(Mutex::new(file)) })
    }
}

#[async_trait::async_trait]
impl Runner for Nothing {
    fn names(&self) -> &'static [&'static str] {
        &[NOTHING]
    }

    fn guard(&self, _work: &Work, _place: &Place) -> Result<(), Failure> {
        Ok(())
    }

    async fn preview(&self, _work: &Work, _place: &Place) -> Result<Preview, Failure> {
        Ok(Preview { text: "does nothing".to_owned(), diff: None })
    }

    async fn run(&self, work: &Work, _place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Ended {
        if let Some(ledger) = &self.ledger
            && let Ok(mut ledger) = ledger.lock()
        {
            // One write for a line: a killed process leaves whole lines.
            let _ = ledger.write_all(format!("{} {:.3}\n", work.task, machine::shared_ms()).as_bytes());
        }
        if let Some(pause_ms) = work.args().get("pause_ms").and_then(serde_json::Value::as_u64) {
            // A thread sleeps as long as it is told; timers of the runtime round up to the next millisecond.
            let pause = move || std::thread::sleep(Duration::from_millis(pause_ms));
            let _ = tokio::task::spawn_blocking(pause).await;
        }
        Ended::with(Ok(Success::default()))
    }
}
