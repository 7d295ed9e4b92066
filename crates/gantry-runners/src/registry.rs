//! Who carries out which action.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_core::effect::Failure;
use gantry_core::plan::Action;
use gantry_core::policy::FailureClass;
use gantry_core::suggest::nearest;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::files::Files;
use crate::ports::Ports;
use crate::process::GuardProgram;
use crate::redacting::redacting;
use crate::runner::{Ended, Happened, Preview, Runner};
use crate::shell::Shell;
use crate::work::{Place, Work};

/// All capabilities by name.
#[derive(Clone, Default)]
pub struct Runners {
    by_name: BTreeMap<&'static str, Arc<dyn Runner>>,
}

impl Runners {
    /// No capabilities.
    pub fn none() -> Self {
        Self::default()
    }

    /// The capabilities of this crate.
    pub fn standard(guard: GuardProgram) -> Self {
        Self::none().with(Arc::new(Shell::new(guard))).with(Arc::new(Files))
    }

    /// Adds a runner; it takes over names that others had.
    #[must_use]
    pub fn with(mut self, runner: Arc<dyn Runner>) -> Self {
        for name in runner.names() {
            self.by_name.insert(name, Arc::clone(&runner));
        }
        self
    }

    /// The names of all capabilities, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }

    /// Returns the runner with this name, or a failure that names the nearest.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Runner>, Failure> {
        self.by_name.get(name).ok_or_else(|| {
            let hint = match nearest(name, self.names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", self.names().collect::<Vec<_>>().join(", ")),
            };
            Failure::new(FailureClass::Logic, format!("there is no capability `{name}`; {hint}"))
        })
    }

    fn of(&self, work: &Work) -> Result<&Arc<dyn Runner>, Failure> {
        self.get(name_of(&work.action))
    }

    /// Says no before anything starts.
    pub fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        self.of(work)?.guard(work, place).map_err(|failure| place.secrets.redact_failure(failure))
    }

    /// Shows what would be done, and touches nothing.
    pub async fn preview(&self, work: &Work, place: &Place) -> Result<Preview, Failure> {
        let runner = self.of(work)?;
        runner.guard(work, place)?;
        let preview = runner.preview(work, place).await;
        preview
            .map(|preview| place.secrets.redact_preview(preview))
            .map_err(|failure| place.secrets.redact_failure(failure))
    }

    /// Guards, then runs.
    pub async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        let allowed = self.of(work).and_then(|runner| runner.guard(work, place).map(|()| runner));
        let ended = match allowed {
            Ok(runner) => runner.run(work, place, &redacting(ports, &place.secrets), stop).await,
            Err(failure) => Ended::with(Err(failure)),
        };
        place.secrets.redact_ended(ended)
    }

    /// Takes back what one record is about.
    pub async fn undo(&self, work: &Work, place: &Place, ports: &Ports, record: &Value) -> Result<String, String> {
        let runner = self.of(work).map_err(|failure| failure.message)?;
        let ended = runner.undo(work, place, &redacting(ports, &place.secrets), record).await;
        ended.map(|how| place.secrets.redact(&how)).map_err(|why| place.secrets.redact(&why))
    }

    /// Carries out a verification.
    pub async fn happened(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Happened {
        match self.of(work) {
            Ok(runner) if runner.guard(work, place).is_ok() => {
                let happened = runner.happened(work, place, &redacting(ports, &place.secrets), stop).await;
                place.secrets.redact_happened(happened)
            }
            Ok(_) | Err(_) => Happened::default(),
        }
    }
}

/// The name of the capability that an action needs.
fn name_of(action: &Action) -> &str {
    match action {
        Action::Tool(tool) => &tool.name,
        other => other.key(),
    }
}
