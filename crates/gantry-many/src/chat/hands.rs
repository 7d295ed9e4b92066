//! What a talk needs from whoever holds it: a server, or the command line.

use async_trait::async_trait;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_engine::{Engine, EngineError, Origin};
use gantry_planner::decompose::Settings;
use gantry_planner::intake;
use gantry_planner::template::Template;
use gantry_store::StoreError;
use jiff::civil::Date;
use serde_json::Value;

use crate::edits::Unfit;

/// Why something was not done, with the status that a server answers with.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// The status of HTTP.
    pub status: u16,
    /// The stable code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What became of each action, where it came to that.
    pub actions: Option<Box<Value>>,
    /// Everything in words, where it came to that.
    pub response: Option<String>,
}

impl Trouble {
    /// Something is wrong.
    pub fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self { status, code: code.to_owned(), message: message.into(), hint: None, actions: None, response: None }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<Unfit> for Trouble {
    fn from(unfit: Unfit) -> Self {
        let status = unfit.status();
        Self { hint: unfit.hint, ..Self::new(status, unfit.code, unfit.message) }
    }
}

impl From<intake::Unfit> for Trouble {
    fn from(unfit: intake::Unfit) -> Self {
        let (status, code) = match unfit.why {
            intake::Why::Refused => (403, "plan::refused"),
            intake::Why::Wrong => (422, "plan::unusable-request"),
            intake::Why::Broken => (500, "plan::broken-template"),
        };
        Self { hint: unfit.hint, ..Self::new(status, code, unfit.message) }
    }
}

/// Carries out what a talk comes to.
#[async_trait]
pub trait Hands: Send + Sync {
    /// The engine for new plans.
    fn engine(&self) -> &Engine;

    /// The engine that gives a plan what it was given before.
    async fn engine_for(&self, plan: &PlanId) -> Result<Engine, Trouble>;

    /// Who asks.
    fn by(&self) -> &str;

    /// Says no where who asks may only look.
    fn may_change(&self) -> Result<(), Trouble>;

    /// Where new plans come from.
    fn origin(&self) -> Result<Origin, Trouble>;

    /// All templates.
    fn templates(&self) -> Result<Vec<Template>, Trouble>;

    /// The day.
    fn today(&self) -> Date;

    /// Tells whether a plan that is made is broken down at once.
    fn breaks_down_at_once(&self) -> Result<bool, Trouble> {
        let said = Settings::breaks_down_at_once(|name| std::env::var(name).ok());
        said.map_err(|bad| Trouble::new(500, "chat::fault", bad.to_string()))
    }

    /// Says something to a plan.
    async fn tell(&self, plan: &PlanId, input: Input) -> Result<(), Trouble>;

    /// Begins a plan, or goes on with it, and waits a little for what goes on by itself.
    async fn go_on(&self, plan: &PlanId) -> Result<(), Trouble>;

    /// The turn to change a plan: whoever holds it is the only one in this process who does.
    async fn turn(&self, plan: &PlanId) -> Box<dyn Send>;

    /// Why the engine did not do something.
    fn trouble(&self, error: EngineError) -> Trouble;

    /// Why the record did not do something.
    fn store_trouble(&self, error: StoreError) -> Trouble {
        self.trouble(EngineError::Store(error))
    }
}
