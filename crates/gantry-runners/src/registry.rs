//! Who carries out which action.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::plan::Action;
use gantry_core::policy::FailureClass;
use gantry_core::suggest::nearest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::agent::Agents;
use crate::approval;
use crate::checkpoint::Checkpoints;
use crate::files::Files;
use crate::git::Git;
use crate::http::Http;
use crate::mcp::{self, Mcp};
use crate::model::OneAnswer;
use crate::models::Models;
use crate::named::keep_named;
use crate::pipeline;
use crate::policy::check_tool;
use crate::ports::{Intents, KeepError, Ports};
use crate::process::GuardProgram;
use crate::redacting::redacting;
use crate::runner::{Ended, Happened, Preview, Runner};
use crate::shell::Shell;
use crate::simple::Noop;
use crate::sql::Sql;
use crate::work::{Place, Work};

/// All capabilities by name.
#[derive(Clone, Default)]
pub struct Runners {
    by_name: BTreeMap<&'static str, Arc<dyn Runner>>,
    models: Option<Arc<Models>>,
    mcp: Option<Arc<Mcp>>,
}

impl Runners {
    /// No capabilities.
    pub fn none() -> Self {
        Self::default()
    }

    /// The capabilities of this crate.
    pub fn standard(guard: GuardProgram) -> Self {
        Self::none()
            .with(Arc::new(Git::new(guard.clone())))
            .with(Arc::new(Shell::new(guard)))
            .with(Arc::new(Files))
            .with(Arc::new(Http))
            .with(Arc::new(Sql))
            .with(Arc::new(Checkpoints))
            .with(Arc::new(Noop))
    }

    /// Adds a runner; it takes over names that others had.
    #[must_use]
    pub fn with(mut self, runner: Arc<dyn Runner>) -> Self {
        for name in runner.names() {
            self.by_name.insert(name, Arc::clone(&runner));
        }
        self
    }

    /// Lets tools of MCP servers be called.
    #[must_use]
    pub fn with_mcp(self, mcp: Mcp) -> Self {
        let mcp = Arc::new(mcp);
        Self { mcp: Some(Arc::clone(&mcp)), ..self.with(mcp) }
    }

    /// The MCP servers, where tools of some may be called.
    pub fn mcp(&self) -> Option<&Arc<Mcp>> {
        self.mcp.as_ref()
    }

    /// Lets models answer, decide, judge and, with the capabilities that there are so far, work as agents.
    #[must_use]
    pub fn with_models(self, models: Arc<Models>) -> Self {
        let agents = Agents::new(Arc::clone(&models), self.clone());
        let with = self.with(Arc::new(OneAnswer::new(Arc::clone(&models)))).with(Arc::new(agents));
        Self { models: Some(models), ..with }
    }

    /// The models, where there are any.
    pub fn models(&self) -> Option<&Arc<Models>> {
        self.models.as_ref()
    }

    /// The names of all capabilities, sorted; those of servers are known to the servers alone.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied().filter(|name| *name != mcp::FAMILY)
    }

    /// Returns the runner with this name, or a failure that names the nearest.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Runner>, Failure> {
        // The tools of servers have names that only the servers know: whoever speaks to servers knows what to do.
        let family = if name.starts_with(mcp::PREFIX) { mcp::FAMILY } else { name };
        self.by_name.get(family).ok_or_else(|| {
            // A misspelt name is a mistake in the plan. What nobody here can do, a person may do, or leave out.
            let none = format!("there is no capability `{name}`");
            match nearest(name, self.names()) {
                Some(near) => Failure::new(FailureClass::Logic, format!("{none}; did you mean `{near}`?")),
                None => {
                    let known: Vec<&str> = self.names().collect();
                    Failure::missing_capability(format!("{none}; there are {}", known.join(", ")))
                }
            }
        })
    }

    fn of(&self, work: &Work) -> Result<&Arc<dyn Runner>, Failure> {
        let name = name_of(&work.action);
        let needs_model = matches!(work.action, Action::Model(_) | Action::Agent(_) | Action::Decide(_));
        if needs_model && !self.by_name.contains_key(name) {
            // Trying again would not help, and neither would other words: this is for another way, or for a person.
            let message = "no model is configured to do it; someone may do it by hand instead";
            return Err(Failure::missing_capability(message));
        }
        self.get(name)
    }

    /// Tells whether there is a capability for this work.
    pub fn can(&self, work: &Work) -> bool {
        match pipeline::calls(work) {
            Some(calls) => calls.iter().all(|call| self.get(&call.name).is_ok()),
            None => self.of(work).is_ok(),
        }
    }

    /// Says no before anything starts.
    pub fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        let allowed = approval::tools_of(&work.action).into_iter().try_for_each(|name| check_tool(name, place));
        let guarded = allowed.and_then(|()| match pipeline::calls(work) {
            Some(calls) => pipeline::guard(self, calls, work, place),
            None => self.of(work).and_then(|runner| runner.guard(work, place)),
        });
        guarded.map_err(|failure| place.secrets.redact_failure(failure))
    }

    /// Shows what would be done, and touches nothing.
    pub async fn preview(&self, work: &Work, place: &Place) -> Result<Preview, Failure> {
        self.guard(work, place)?;
        let preview = match pipeline::calls(work) {
            Some(calls) => pipeline::preview(self, calls, work, place).await,
            None => self.of(work)?.preview(work, place).await,
        };
        preview
            .map(|preview| place.secrets.redact_preview(preview))
            .map_err(|failure| place.secrets.redact_failure(failure))
    }

    /// Guards, has someone approve it where the policy says so, runs, and keeps what the task was to make.
    pub async fn attempt(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        if let Err(failure) = self.guard(work, place) {
            return Ended::with(Err(failure));
        }
        let ports = &redacting(ports, &place.secrets);
        if let Some(failure) = approval::of_task(self, work, place, ports).await {
            return Ended::with(Err(failure));
        }
        let ended = self.run_guarded(work, place, ports, stop).await;
        keep_named(ended, work, place, ports).await
    }

    /// Guards, then runs.
    pub async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        if let Err(failure) = self.guard(work, place) {
            return Ended::with(Err(failure));
        }
        self.run_guarded(work, place, &redacting(ports, &place.secrets), stop).await
    }

    /// Runs what was guarded, with ports that let no secret through.
    async fn run_guarded(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        let ended = match (pipeline::calls(work), self.of(work)) {
            // Rare and large: on its own, so that the others stay small.
            (Some(calls), _) => Box::pin(pipeline::run(self, calls, work, place, ports, stop)).await,
            (None, Ok(runner)) => signed_run(runner.as_ref(), work, place, ports, stop).await,
            (None, Err(failure)) => Ended::with(Err(failure)),
        };
        place.secrets.redact_ended(ended)
    }

    /// Takes back what one record is about. The record says which capability it belongs to.
    pub async fn undo(&self, work: &Work, place: &Place, ports: &Ports, record: &Value) -> Result<String, String> {
        let Signed { by, record } = serde_json::from_value(record.clone())
            .map_err(|error| format!("the record of what was there before cannot be read: {error}"))?;
        let runner = self.get(&by).map_err(|failure| failure.message)?;
        let ended = runner.undo(work, place, &redacting(ports, &place.secrets), &record).await;
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

/// A record of how to take something back, with the capability that can do it.
#[derive(Serialize, Deserialize)]
struct Signed {
    by: String,
    record: Value,
}

/// Signs every record that passes.
struct Signing {
    by: String,
    intents: Arc<dyn Intents>,
}

impl Signing {
    fn sign(&self, record: Value) -> Value {
        json!(Signed { by: self.by.clone(), record })
    }
}

#[async_trait]
impl Intents for Signing {
    async fn intend(&self, record: Value) -> Result<(), KeepError> {
        self.intents.intend(self.sign(record)).await
    }
    async fn intend_instead(&self, record: Value) -> Result<(), KeepError> {
        self.intents.intend_instead(self.sign(record)).await
    }
}

/// Runs one capability, with its name on every record that it leaves.
pub(crate) async fn signed_run(
    runner: &dyn Runner,
    work: &Work,
    place: &Place,
    ports: &Ports,
    stop: &CancellationToken,
) -> Ended {
    let signing = Arc::new(Signing { by: name_of(&work.action).to_owned(), intents: Arc::clone(&ports.intents) });
    let ports = Ports { intents: Arc::<Signing>::clone(&signing), ..ports.clone() };
    let ended = runner.run(work, place, &ports, stop).await;
    Ended { undo: ended.undo.map(|record| signing.sign(record)), ..ended }
}

/// The name of the capability that an action needs.
fn name_of(action: &Action) -> &str {
    match action {
        Action::Tool(tool) => &tool.name,
        other => other.key(),
    }
}
