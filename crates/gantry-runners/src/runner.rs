//! What every capability can do: guard, preview, run, take back, and tell whether it happened.

use std::borrow::Cow;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::policy::Usage;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::policy::wrong;
use crate::ports::Ports;
use crate::work::{Place, Work};

/// One capability, or a family of them.
#[async_trait]
pub trait Runner: Send + Sync {
    /// The names that it answers to, such as `files.write`; the keys of actions (`run`) count as names.
    fn names(&self) -> &'static [&'static str];

    /// Tells whether it asks models while it works, and so pays as it goes.
    fn asks_models(&self) -> bool {
        false
    }

    /// The names of the arguments that may be given by position in a pipeline.
    fn parameters(&self, _name: &str) -> &'static [&'static str] {
        &[]
    }

    /// What someone who is to call it by name has to know; none means that it is not called by name.
    fn description(&self, _name: &str) -> Option<Description> {
        None
    }

    /// Says no when nobody can call it by this name, as far as that is known without asking anyone.
    fn callable(&self, name: &str) -> Result<(), Failure> {
        let known = self.description(name).map(drop);
        known.ok_or_else(|| wrong(format!("`{name}` is nothing that an agent can call")))
    }

    /// What someone has to know who is to call what this name stands for, which may be several capabilities. One that
    /// has to ask someone else what it can do remembers that for whoever takes up the attempt.
    async fn describe(
        &self,
        name: &str,
        _work: &Work,
        _place: &Place,
        _ports: &Ports,
        _stop: &CancellationToken,
    ) -> Result<Vec<(String, Description)>, Failure> {
        self.callable(name)?;
        Ok(self.description(name).map(|description| (name.to_owned(), description)).into_iter().collect())
    }

    /// Says no before anything starts, with a failure of class `policy`, or `logic` for arguments that make no sense.
    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure>;

    /// Shows what would be done, and touches nothing.
    async fn preview(&self, work: &Work, place: &Place) -> Result<Preview, Failure>;

    /// Does it. Ends soon after `stop` is cancelled, with a failure of class `cancelled`.
    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended;

    /// Takes back what one record of [`Ports::intend`] is about; says how, or why it cannot be done.
    /// Taking back twice is taking back once.
    async fn undo(&self, _work: &Work, _place: &Place, _ports: &Ports, _record: &Value) -> Result<String, String> {
        Err("this capability keeps nothing to restore; declare `undo: {run: …}` or `undo: never`".to_owned())
    }

    /// Finds out whether a lost attempt happened: for a verification this is the action of `verify`.
    async fn happened(&self, _work: &Work, _place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Happened {
        Happened::default()
    }
}

/// What a capability does and takes, for whoever calls it by name: a model, say.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// What it does, in one or two sentences.
    pub text: Cow<'static, str>,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
    /// Somebody else wrote the text and the schema: models are shown them as data.
    pub foreign: bool,
    /// A second call with the same arguments does no harm.
    pub repeatable: bool,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Its result, or why there is none.
    pub end: Result<Success, Failure>,
    /// What it used.
    pub usage: Usage,
    /// The last record that was handed to [`Ports::intend`], if any.
    pub undo: Option<Value>,
}

impl Ended {
    /// An end without anything to pay for or to take back.
    pub fn with(end: Result<Success, Failure>) -> Self {
        Self { end, usage: Usage::default(), undo: None }
    }
}

/// What would be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// In words.
    pub text: String,
    /// As a unified diff, when files would change.
    pub diff: Option<String>,
}

/// Whether a lost attempt happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Happened {
    /// None means that it cannot be known.
    pub happened: Option<bool>,
    /// Its result, if it happened.
    pub outputs: Outputs,
}
