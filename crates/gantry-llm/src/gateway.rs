//! One question, until an answer holds.
//!
//! The way down: recall what is recorded; share the call of an identical question of the same plan; else ask the first
//! model of the chain, and again while its trouble may pass; read the answer, let it go on where it was cut, ask for it
//! in parts, show it its faults; ask the next model; ask the offline model unless that is forbidden; fail with a type.
//! Every step is in the answer's `repairs`, in its `fallback` or in the note, and every call is counted and paid for.
//!
//! Invariant: nothing is called that the allowance has no room for: room is set aside before and settled after.
//! Invariant: an answer is in the record, where no kill loses it, before anything is done with it, and a reply before the
//! question goes on.
//!
//! There is no hedging, that is, no second call while a first one is still under way: docs/adr/0005-no-hedging.md.

mod chain; // in reading order
mod allowance;
mod price;
mod limits;
mod breaker;
mod ledger;
mod call;
mod ladder;
mod split;
mod share;
mod remind;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gantry_core::time::Timestamp;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::config::Config;
use crate::error::AskError;
use crate::offline::Offline;
use crate::provider::{Delta, Listener, Provider, Unheard};
use crate::record::{Forgetful, Record};
use crate::request::Request;
use crate::structured::Rules;
use crate::target::{Protocol, Target};
use crate::wire::Wire;

use breaker::Breakers;
use ledger::Ledger;
use limits::Limiters;
use share::UnderWay;

pub use allowance::{Allowance, Reserved};
pub use chain::{Chains, Team};
pub use price::{Foreseen, cost, estimate};

/// One question, with everything around it.
pub struct Asking<'a> {
    /// The plan: identical questions of one plan that are under way at once share one call.
    pub plan: &'a str,
    /// What is asked.
    pub request: Request,
    /// What must hold beyond the schema. Free text is shown to it as a JSON string.
    pub rules: Rules<'a>,
    /// Hears the answer while it comes.
    pub listener: &'a dyn Listener,
    /// Keeps the call.
    pub record: &'a dyn Record,
    /// What may be spent.
    pub allowance: &'a Allowance,
    /// Never fall back to the offline model, whatever the configuration says.
    pub strict: bool,
    /// Stops it.
    pub stop: CancellationToken,
    /// Goes into the note, for whoever looks for it.
    pub context: BTreeMap<String, String>,
}

static UNLIMITED: LazyLock<Allowance> = LazyLock::new(Allowance::unlimited);

impl Asking<'static> {
    /// A question without rules, listener, record or limit; whoever has them sets them.
    pub fn new(request: Request) -> Self {
        Self {
            plan: "",
            request,
            rules: &|_| Vec::new(),
            listener: &Unheard,
            record: &Forgetful,
            allowance: &UNLIMITED,
            strict: false,
            stop: CancellationToken::new(),
            context: BTreeMap::new(),
        }
    }
}

/// How hard the gateway tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// How often a model may go on with an answer that was cut.
    pub continues_max: u32,
    /// How often a model is shown what is wrong with its answer.
    pub feedbacks_max: u32,
    /// The wait before the first repetition of a call; each further one takes twice as long.
    pub backoff_min: Duration,
    /// The longest such wait.
    pub backoff_max: Duration,
    /// A provider that wants to be left alone for longer than this is left alone for good: the next one is asked.
    pub wait_max: Duration,
    /// After so many failures in a row a model is not asked for a while.
    pub failures_max: u32,
    /// How long that is.
    pub rest: Duration,
    /// Waits differ by chance, so that many callers do not come back at once; this is where the chance begins.
    pub seed: u64,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            continues_max: 3,
            feedbacks_max: 2,
            backoff_min: Duration::from_millis(500),
            backoff_max: Duration::from_secs(20),
            wait_max: Duration::from_mins(1),
            failures_max: 5,
            rest: Duration::from_secs(30),
            seed: 0,
        }
    }
}

/// Tells the time for notes.
type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Asks models.
pub struct Gateway {
    providers: BTreeMap<Protocol, Arc<dyn Provider>>,
    chains: Arc<dyn Chains>,
    habits: Habits,
    clock: Clock,
    limiters: Limiters,
    breakers: Breakers,
    under_way: UnderWay,
    team: Team,
    /// Room for the questions of teams.
    workers: Semaphore,
}

impl Gateway {
    /// Asks along these chains. Providers are added with [`Gateway::with`].
    pub fn new(chains: Arc<dyn Chains>) -> Self {
        let team = chains.team();
        let workers = team.workers_max.and_then(|workers| usize::try_from(workers).ok());
        let workers = workers.unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Self {
            team,
            workers: Semaphore::new(workers),
            providers: BTreeMap::new(),
            chains,
            habits: Habits::default(),
            clock: Arc::new(machine_time),
            limiters: Limiters::default(),
            breakers: Breakers::default(),
            under_way: UnderWay::default(),
        }
    }

    /// Asks whom the configuration names, over the network, and the offline model.
    pub fn of(config: Config, offline: Offline) -> Result<Self, String> {
        let wire = Arc::new(Wire::new()?);
        Ok(Self::new(Arc::new(config)).with_wire(wire).with(Protocol::Offline, Arc::new(offline)))
    }

    /// Whoever answers for a protocol.
    pub fn provider(&self, protocol: Protocol) -> Option<&Arc<dyn Provider>> {
        self.providers.get(&protocol)
    }

    /// Lets a provider answer for a protocol.
    #[must_use]
    pub fn with(mut self, protocol: Protocol, provider: Arc<dyn Provider>) -> Self {
        self.providers.insert(protocol, provider);
        self
    }

    /// Lets the network answer for every protocol that it speaks.
    #[must_use]
    pub fn with_wire(self, wire: Arc<Wire>) -> Self {
        [Protocol::OpenaiResponses, Protocol::OpenaiChat, Protocol::Anthropic, Protocol::Gemini]
            .into_iter()
            .fold(self, |gateway, protocol| gateway.with(protocol, wire.clone()))
    }

    /// Tries as hard as this.
    #[must_use]
    pub fn with_habits(mut self, habits: Habits) -> Self {
        self.habits = habits;
        self
    }

    /// Writes these times into notes.
    #[must_use]
    pub fn with_clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now);
        self
    }

    /// Asks until an answer holds.
    pub async fn ask(&self, asking: Asking<'_>) -> Result<Answer, AskError> {
        let chain = self.chain(&asking.request, asking.strict)?;
        let Some(first) = chain.first() else {
            return Err(AskError::Configuration(format!("no model is configured for `{}`", asking.request.role)));
        };
        let key = asking.request.key(first);
        let mut turn = tokio::select! {
            biased;
            () = asking.stop.cancelled() => return Err(AskError::Cancelled),
            turn = self.under_way.turn(asking.plan, &key) => turn,
        };
        let (known, before) = match turn.end() {
            Some(Ok(answer)) => (Some(answer), None),
            Some(Err(error)) => return Err(error),
            None => {
                let noted = asking.record.recall(&key).await.map_err(|error| AskError::Record(error.to_string()))?;
                let before = noted.as_ref().map(|call| call.started_at);
                (noted.and_then(|call| call.answer), before)
            }
        };
        if let Some(answer) = known.filter(|answer| holds(answer, asking.rules)) {
            self.remind(&chain, &asking.request, &answer);
            return Ok(again(answer, asking.listener));
        }
        let _worker = if chain::is_of_team(&asking.request.role) {
            tokio::select! {
                biased;
                () = asking.stop.cancelled() => return Err(AskError::Cancelled),
                worker = self.workers.acquire() => worker.ok(),
            }
        } else {
            None
        };
        let end = self.ask_anew(&chain, &key, &asking, before).await;
        turn.set(&end);
        end
    }

    async fn ask_anew(
        &self,
        chain: &[Target],
        key: &str,
        asking: &Asking<'_>,
        noted: Option<Timestamp>,
    ) -> Result<Answer, AskError> {
        let started_at = (self.clock)();
        let mut ledger = Ledger::after(noted);
        let end =
            self.go_down(chain, (key, started_at), asking, &mut ledger).await.map(|answer| ledger.complete(answer));
        if !ledger.is_empty() {
            let call = ledger.note(key, asking, chain, end.as_ref().ok(), started_at, (self.clock)());
            asking.record.note(call, ledger.unrecorded()).await.map_err(|error| AskError::Record(error.to_string()))?;
        }
        end
    }
}

/// What holds for the rules of this asker; another may have had others.
fn holds(answer: &Answer, rules: Rules<'_>) -> bool {
    if !answer.calls.is_empty() {
        return true;
    }
    match &answer.value {
        Some(value) => rules(value).is_empty(),
        None => rules(&Value::String(answer.text.clone())).is_empty(),
    }
}

/// An answer that is known already: nothing was called for it, and nothing is owed.
fn again(answer: Answer, listener: &dyn Listener) -> Answer {
    if !answer.text.is_empty() {
        listener.hear(Delta::Text(answer.text.clone()));
    }
    Answer { calls_made: 0, tokens: Default::default(), cost_usd: Default::default(), ..answer }
}

fn machine_time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
