//! A small world around a gateway: models that say what they are told, a record, a clock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;
use gantry_llm::config::LeftOut;
use gantry_llm::{
    Answer, AskError, Asking, Begun, Call, CallError, CallFault, Chains, Delta, Finish, Gateway, Habits, Limits,
    Listener, Protocol, Provider, Record, RecordError, Reply, Request, Rung, Target, Team, Tokens,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What a model does with a call.
pub type Does = Result<Reply, CallFault>;

/// Words, and ten tokens in and five out.
#[expect(clippy::unnecessary_wraps, reason = "it stands beside failures in scripts")]
pub fn says(text: &str) -> Does {
    let tokens = Some(Tokens { input: 10, output: 5, ..Tokens::default() });
    Ok(Reply { text: text.into(), tokens, model: "m-of-today".into(), ..Reply::default() })
}

/// Words that break off.
pub fn breaks_off(text: &str) -> Does {
    says(text).map(|reply| Reply { finish: Finish::Length, ..reply })
}

/// A model of this world.
pub fn model(name: &str) -> Target {
    Target {
        provider: "acme".into(),
        protocol: Protocol::OpenaiChat,
        base_url: "http://nowhere/".into(),
        key: None,
        model: name.into(),
        price: None,
        limits: Limits::default(),
        context: None,
        schemas: true,
        tools: true,
        keep: false,
    }
}

/// Models that say what they are told, one after the other; then `ok`.
#[derive(Default)]
pub struct Puppet {
    script: Mutex<VecDeque<Does>>,
    heard: Mutex<Vec<(Target, Request, Instant)>>,
    /// How long the provider wants to be left alone when it fails.
    pub retry_after: Mutex<Option<std::time::Duration>>,
}

impl Puppet {
    /// Tells it what to do next.
    pub fn script(&self, does: impl IntoIterator<Item = Does>) {
        self.script.lock().unwrap().extend(does);
    }

    /// What it was asked, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.heard.lock().unwrap().iter().map(|(_, request, _)| request.clone()).collect()
    }

    /// How often it was called.
    pub fn called(&self) -> usize {
        self.heard.lock().unwrap().len()
    }
}

#[async_trait]
impl Provider for Puppet {
    async fn call(
        &self,
        target: &Target,
        request: &Request,
        listener: &dyn Listener,
        _: &CancellationToken,
    ) -> Result<Reply, CallError> {
        self.heard.lock().unwrap().push((target.clone(), request.clone(), Instant::now()));
        let does = self.script.lock().unwrap().pop_front().unwrap_or_else(|| says("ok"));
        match does {
            Ok(reply) => {
                listener.hear(Delta::Text(reply.text.clone()));
                Ok(reply)
            }
            Err(fault) => Err(CallError {
                fault,
                target: target.id(),
                message: format!("{fault:?}"),
                retry_after: *self.retry_after.lock().unwrap(),
            }),
        }
    }
}

/// The offline model of this world.
pub struct Offline;

#[async_trait]
impl Provider for Offline {
    async fn call(
        &self,
        _: &Target,
        request: &Request,
        _: &dyn Listener,
        _: &CancellationToken,
    ) -> Result<Reply, CallError> {
        let text = if request.shape.is_some() { r#"{"sky": "clear", "degrees": 20}"# } else { "made up here" };
        let model = format!("gantry-offline-{}", request.role);
        Ok(Reply { text: text.into(), tokens: Some(Tokens::default()), model, ..Reply::default() })
    }
}

/// One chain for every role.
#[derive(Default)]
pub struct OneChain {
    pub chain: Vec<Target>,
    pub strict: bool,
    /// Who was to answer first, and cannot be asked.
    pub missing: Option<LeftOut>,
    pub team: Team,
}

impl Chains for OneChain {
    fn chain(&self, role: &str, model: Option<&str>) -> Result<Vec<Target>, String> {
        match (role, model) {
            ("nobody", _) => Err("no model is set for `nobody`".into()),
            (_, Some(name)) => Ok(self.chain.iter().filter(|target| target.model == name).cloned().collect()),
            _ => Ok(self.chain.clone()),
        }
    }
    fn missing(&self, _: &str, _: Option<&str>) -> Option<LeftOut> {
        self.missing.clone()
    }
    fn strict(&self) -> bool {
        self.strict
    }
    fn team(&self) -> Team {
        self.team
    }
}

/// Keeps calls in memory, and can be made to fail.
#[derive(Default)]
pub struct Notes {
    pub calls: Mutex<Vec<Call>>,
    /// The keys of questions that were begun.
    pub begun: Mutex<Vec<String>>,
    pub rungs: Mutex<Vec<Rung>>,
    /// What was noted as used, rungs apart.
    pub used: Mutex<Usage>,
    pub broken: Mutex<bool>,
}

#[async_trait]
impl Record for Notes {
    async fn recall(&self, key: &str) -> Result<Option<Call>, RecordError> {
        let calls = self.calls.lock().unwrap();
        let mut noted: Vec<&Call> = calls.iter().filter(|call| call.key == key).collect();
        noted.sort_by_key(|call| call.answer.is_some());
        Ok(noted.pop().cloned())
    }
    async fn begin(&self, begun: &Begun<'_>) -> Result<(), RecordError> {
        self.begun.lock().unwrap().push(begun.key.to_owned());
        Ok(())
    }
    async fn rung(&self, key: &str) -> Result<Option<Rung>, RecordError> {
        Ok(self.rungs.lock().unwrap().iter().find(|rung| rung.key == key).cloned())
    }
    async fn climb(&self, rung: Rung) -> Result<(), RecordError> {
        self.rungs.lock().unwrap().push(rung);
        Ok(())
    }
    async fn note(&self, call: Call, usage: Usage) -> Result<(), RecordError> {
        if *self.broken.lock().unwrap() {
            return Err(RecordError("the disk is full".into()));
        }
        self.calls.lock().unwrap().push(call);
        let mut used = self.used.lock().unwrap();
        *used = used.plus(usage);
        Ok(())
    }
}

impl Notes {
    /// What is on record as used in all.
    pub fn used(&self) -> Usage {
        let rungs = self.rungs.lock().unwrap();
        rungs.iter().fold(*self.used.lock().unwrap(), |sum, rung| sum.plus(rung.usage()))
    }

    /// Every note so far.
    pub fn all(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

/// A gateway and everything around it.
pub struct World {
    pub gateway: Gateway,
    pub puppet: Arc<Puppet>,
    pub notes: Notes,
}

impl World {
    /// Two models, `first` and `second`, and the offline one behind them.
    pub fn new() -> Self {
        Self::with(vec![model("first"), model("second")], false, Habits::default())
    }

    /// These models; the clock of the notes goes on by a second at every look.
    pub fn with(chain: Vec<Target>, strict: bool, habits: Habits) -> Self {
        let puppet = Arc::new(Puppet::default());
        let ticks = AtomicI64::new(0);
        let gateway = Gateway::new(Arc::new(OneChain { chain, strict, ..OneChain::default() }))
            .with(Protocol::OpenaiChat, puppet.clone())
            .with(Protocol::OpenaiResponses, puppet.clone())
            .with(Protocol::Offline, Arc::new(Offline))
            .with_habits(habits)
            .with_clock(move || Timestamp::from_ms(ticks.fetch_add(1_000, Ordering::Relaxed)));
        Self { gateway, puppet, notes: Notes::default() }
    }

    /// Tells the models what to do next.
    pub fn script(&self, does: impl IntoIterator<Item = Does>) -> &Self {
        self.puppet.script(does);
        self
    }

    /// Asks, and keeps what comes of it.
    pub async fn ask(&self, request: Request) -> Result<Answer, AskError> {
        self.gateway.ask(self.asking(request)).await
    }

    /// A question whose call is kept here.
    pub fn asking(&self, request: Request) -> Asking<'_> {
        Asking { plan: "p", record: &self.notes, ..Asking::new(request) }
    }

    /// Who was called, in order.
    pub fn called(&self) -> Vec<String> {
        self.puppet.heard.lock().unwrap().iter().map(|(target, _, _)| target.model.clone()).collect()
    }

    /// What was asked, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.puppet.requests()
    }

    /// When, after the first call, each call was made.
    pub fn times(&self) -> Vec<std::time::Duration> {
        let heard = self.puppet.heard.lock().unwrap();
        heard.iter().map(|(_, _, at)| at.duration_since(heard[0].2)).collect()
    }
}
