//! The engine of one process: creates plans, drives them, and passes on what people say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gantry_core::event::Event;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{self, PlanState};
use gantry_core::plan::Plan;
use gantry_core::policy::Policy;
use gantry_runners::{Place, Runners};
use gantry_store::{Append, Claim, Hash, ListFilter, OnceKey, PlanNo, Store, StoreError, Turn, all_plans};
use serde_json::Value;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::card::{card_of, texts_of};
use crate::cause::{Cause, Origin};
use crate::clock::Clock;
use crate::crash::crash_point;
use crate::driver::Driver;
use crate::error::EngineError;
use crate::happening::Happening;
use crate::load::{Opened, open};
use crate::message::{Ending, Message, Stop, Until};
use crate::nested::Above;
use crate::options::Options;
use crate::share::{Capabilities, capabilities};
use crate::slots::Slots;

/// How many things those who watch may lag behind before they miss some and have to read the journal.
const HAPPENINGS_MAX: usize = 4_096;
/// How long the process that drives a plan may take to answer what was said to it.
pub(crate) const ANSWER_WAIT: Duration = Duration::from_secs(20);
/// How often to look whether it has.
const ANSWER_POLL: Duration = Duration::from_millis(20);
/// How long a plan that someone else holds is waited for: whoever only says something to it lets go soon.
const CLAIM_WAIT: Duration = Duration::from_secs(1);
/// How many plans that were created here and that nobody drives yet are remembered.
const FRESH_MAX: usize = 256;

/// What all drivers of a process share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) runners: Runners,
    pub(crate) options: Options,
    pub(crate) slots: Arc<Slots>,
    pub(crate) capabilities: Arc<Capabilities>,
    pub(crate) happenings: broadcast::Sender<Happening>,
    drivers: Mutex<BTreeMap<PlanId, mpsc::UnboundedSender<Message>>>,
    /// Plans as they were created here: whoever drives one of them next does not have to read it.
    fresh: Mutex<BTreeMap<PlanId, Opened>>,
    /// Passes on what others write, from the first driver on.
    watcher: Mutex<Option<JoinHandle<()>>>,
}

/// The engine of one process.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// A plan to be created.
#[derive(Clone, Debug)]
pub struct NewPlan {
    /// The plan.
    pub plan: Plan,
    /// Where it comes from.
    pub origin: Origin,
    /// The request's key: the same request twice gives one plan.
    pub once: Option<String>,
}

/// What became of something that was said to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// The process that drives the plan took it, and goes on.
    Driven,
    /// It is recorded; what follows from it starts when someone drives the plan.
    Recorded,
}

/// A plan that is being driven.
pub struct Driving {
    plan: PlanId,
    sender: mpsc::UnboundedSender<Message>,
    stop: CancellationToken,
    handle: JoinHandle<Result<Ending, EngineError>>,
}

impl Driving {
    /// Returns the plan's id.
    pub fn plan(&self) -> &PlanId {
        &self.plan
    }

    pub(crate) fn sender(&self) -> mpsc::UnboundedSender<Message> {
        self.sender.clone()
    }

    /// Returns something that can stop it from anywhere.
    pub fn stopper(&self) -> impl Fn(Stop) + Send + Sync + 'static {
        let (sender, at_once) = (self.sender.clone(), self.stop.clone());
        move |stop| {
            if stop == Stop::Now {
                at_once.cancel();
            }
            drop(sender.send(Message::Stop(stop)));
        }
    }

    /// Waits for its end.
    pub async fn ended(self) -> Result<Ending, EngineError> {
        match self.handle.await {
            Ok(ending) => ending,
            Err(error) => Err(EngineError::Broken { plan: self.plan.to_string(), why: error.to_string() }),
        }
    }
}

impl Engine {
    /// Makes an engine.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, runners: Runners, options: Options) -> Self {
        let (happenings, _) = broadcast::channel(HAPPENINGS_MAX);
        let slots = Arc::new(Slots::new(options.attempts_max.max(1)));
        let capabilities = Arc::new(capabilities(&options.capabilities));
        let (drivers, fresh, watcher) = (Mutex::default(), Mutex::default(), Mutex::default());
        let shared =
            Shared { store, clock, runners, options, slots, capabilities, happenings, drivers, fresh, watcher };
        Self { shared: Arc::new(shared) }
    }

    /// Makes an engine for other plans that are given other things, such as secrets or models. Both share the room for
    /// attempts, fairly, and whoever watches one sees what happens in the other.
    #[must_use]
    pub fn beside(&self, runners: Runners, options: Options) -> Self {
        let Shared { store, clock, options: before, slots, capabilities, happenings, .. } = &*self.shared;
        let options = Options { own_files: before.own_files.clone(), ..options };
        let shared = Shared {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            runners,
            options,
            slots: Arc::clone(slots),
            capabilities: Arc::clone(capabilities),
            happenings: happenings.clone(),
            drivers: Mutex::default(),
            fresh: Mutex::default(),
            watcher: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Makes an engine over the same record that works otherwise. Which files are the record's own stays as it is.
    #[must_use]
    pub fn working(&self, options: Options) -> Self {
        let Shared { store, clock, runners, options: before, .. } = &*self.shared;
        let options = Options { own_files: before.own_files.clone(), ..options };
        Self::new(Arc::clone(store), Arc::clone(clock), runners.clone(), options)
    }

    /// Makes an engine over the same record that has other capabilities, such as other models.
    #[must_use]
    pub fn having(&self, runners: Runners) -> Self {
        let Shared { store, clock, options, .. } = &*self.shared;
        Self::new(Arc::clone(store), Arc::clone(clock), runners, options.clone())
    }

    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared) }
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    /// Returns the capabilities.
    pub fn runners(&self) -> &Runners {
        &self.shared.runners
    }

    /// Watches what happens from now on.
    pub fn watch(&self) -> broadcast::Receiver<Happening> {
        self.shared.happenings.subscribe()
    }

    /// Creates a plan. The same request again (by its key) gives the plan that it gave first.
    pub async fn create(&self, new: NewPlan) -> Result<PlanId, EngineError> {
        create(&self.shared, new).await
    }

    /// Reads a plan.
    pub async fn open(&self, plan: &PlanId) -> Result<Opened, EngineError> {
        open(&*self.shared.store, plan).await
    }

    /// Where a plan's tasks work, and what is allowed there.
    pub fn place(&self, opened: &Opened) -> Place {
        place_for(&self.shared.options, opened)
    }

    /// Drives a plan from wherever it stands, after these inputs.
    pub async fn drive(&self, plan: &PlanId, until: Until, first: Vec<Input>) -> Result<Driving, EngineError> {
        drive(&self.shared, plan, until, first, None).await
    }

    /// Says something to a plan: to its driver here or in another process, or for the record.
    pub async fn tell(&self, plan: &PlanId, input: Input) -> Result<Tell, EngineError> {
        let driver = self.shared.drivers().get(plan).cloned();
        if let Some(driver) = driver {
            let (reply, answer) = oneshot::channel();
            if driver.send(Message::Told { input: input.clone(), reply }).is_ok()
                && let Ok(answer) = answer.await
            {
                return answer.map(|()| Tell::Driven);
            }
        }
        let no = self.shared.store.plan(plan.as_str()).await?.no;
        let mut submitted = None;
        let since = tokio::time::Instant::now();
        loop {
            if let Some(id) = submitted
                && let Some(answer) = passing(self.shared.store.ask_answer(id).await, submitted)?
            {
                return read_answer(&answer).map(|()| Tell::Driven);
            }
            if let Some(claim) = passing(self.shared.store.claim(no).await, submitted)? {
                return self.hear(plan, claim, input, submitted).await;
            }
            if submitted.is_none() {
                let value = serde_json::to_value(&input).unwrap_or_default();
                submitted = Some(self.shared.store.submit(plan, value, self.shared.clock.now()).await?);
                crash_point("after_submit");
            }
            if since.elapsed() > ANSWER_WAIT {
                if let Some(id) = submitted {
                    // Whoever gives up takes it back, or it would be obeyed days later; the first answer stays.
                    self.shared.store.answer(id, withdrawn()).await?;
                    match self.shared.store.ask_answer(id).await? {
                        Some(answer) if answer != withdrawn() => return read_answer(&answer).map(|()| Tell::Driven),
                        Some(_) | None => {}
                    }
                }
                return Err(EngineError::Silent { plan: plan.to_string(), waited_s: ANSWER_WAIT.as_secs() });
            }
            tokio::time::sleep(ANSWER_POLL).await;
        }
    }

    /// Nobody drives the plan: what is said is decided here and recorded, and what follows waits for a driver.
    async fn hear(
        &self,
        plan: &PlanId,
        claim: Claim,
        input: Input,
        submitted: Option<gantry_store::InboxId>,
    ) -> Result<Tell, EngineError> {
        if let Some(id) = submitted {
            // Its driver went away between two looks; whoever answers first has heard it.
            if let Some(answer) = self.shared.store.ask_answer(id).await? {
                return read_answer(&answer).map(|()| Tell::Driven);
            }
        }
        let opened = self.open(plan).await?;
        let place = self.place(&opened);
        let driver = Driver::new(Arc::clone(&self.shared), opened, claim, place, Until::Stuck);
        driver.hear(input, submitted).await.map(|()| Tell::Recorded)
    }

    /// Finds plans that were under way when their process went away: nobody drives them.
    pub async fn orphans(&self) -> Result<Vec<(PlanNo, PlanId)>, EngineError> {
        let states = vec![PlanState::Running, PlanState::Blocked];
        let filter = ListFilter { states, ..ListFilter::default() };
        let mut found = Vec::new();
        // A plan inside another is driven by whoever drives that one.
        for card in all_plans(&*self.shared.store, &filter).await?.into_iter().filter(|card| card.card.parent.is_none())
        {
            if !self.shared.store.claimed_by_other(card.no).await? && !self.shared.drivers().contains_key(&card.id) {
                found.push((card.no, card.id));
            }
        }
        Ok(found)
    }

    /// Begins another life with the first `at` entries of this one.
    pub async fn fork(&self, plan: &PlanId, at: u64, origin: Origin) -> Result<PlanId, EngineError> {
        crate::import::fork(&*self.shared.store, plan, at, origin, self.shared.clock.now()).await
    }
}

impl Shared {
    fn drivers(&self) -> std::sync::MutexGuard<'_, BTreeMap<PlanId, mpsc::UnboundedSender<Message>>> {
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self) -> std::sync::MutexGuard<'_, BTreeMap<PlanId, Opened>> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, plan: PlanId, opened: Opened) {
        let mut fresh = self.fresh();
        if fresh.len() >= FRESH_MAX {
            fresh.clear();
        }
        fresh.insert(plan, opened);
    }

    /// Has all drivers look into their inbox whenever someone else wrote something.
    fn watch_store(self: &Arc<Self>) {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_some() {
            return;
        }
        let shared = Arc::downgrade(self);
        let store = Arc::clone(&self.store);
        *watcher = Some(tokio::spawn(async move {
            let mut mark = store.mark();
            loop {
                mark = store.changed(mark).await;
                let Some(shared) = shared.upgrade() else { return };
                for driver in shared.drivers().values() {
                    // A driver that is gone has nothing to look for.
                    let _ = driver.send(Message::Look);
                }
            }
        }));
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            watcher.abort();
        }
    }
}

fn place_for(options: &Options, opened: &Opened) -> Place {
    let place = place_with(options, &opened.origin, Arc::new(opened.life.header().policy.clone()));
    Place { above: opened.above.clone(), ..place }
}

fn place_with(options: &Options, origin: &Origin, policy: Arc<Policy>) -> Place {
    let root = if origin.workspace.is_empty() { ".".to_owned() } else { origin.workspace.clone() };
    let given = origin.given.variables().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut environment: BTreeMap<String, String> = given.collect();
    environment.extend(options.environment.clone());
    Place {
        policy,
        sandbox: origin.given.sandbox(&options.sandbox),
        secrets: options.secrets.clone(),
        environment,
        limits: options.limits.clone(),
        own_files: options.own_files.clone(),
        ..Place::at(root)
    }
}

/// Chance from the system: for ids and seeds, which are then in the journal.
pub(crate) fn entropy() -> u64 {
    let mut bytes = [0; 8];
    // Without a source of chance ids are minted from the time; a taken id is minted again.
    if rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).is_err() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        bytes = (u64::from(now.subsec_nanos()) << 32 ^ now.as_secs()).to_le_bytes();
    }
    u64::from_le_bytes(bytes)
}

/// How often a new id is minted when one is taken.
const MINTS_MAX: u32 = 20;

async fn create(shared: &Shared, new: NewPlan) -> Result<PlanId, EngineError> {
    let NewPlan { plan, origin, once } = new;
    let body_hash = Hash::of(&serde_json::to_vec(&plan).unwrap_or_default()).to_string();
    let once = once.map(|key| OnceKey { key, body_hash });
    for mint in 0..MINTS_MAX {
        let given = plan.id.clone().filter(|_| mint == 0);
        let id = given.unwrap_or_else(|| PlanId::mint(plan.name(), entropy()));
        match append_new(shared, plan.clone(), id.clone(), origin.clone(), once.clone()).await {
            Err(EngineError::Store(StoreError::Conflict { .. })) => {} // the id is taken
            Err(EngineError::Store(StoreError::AlreadyDone { plan })) => return Ok(plan),
            Err(error) => return Err(error),
            Ok(()) => return Ok(id),
        }
    }
    Err(StoreError::Invalid { what: "no free id was found for the plan".to_owned() }.into())
}

pub(crate) async fn append_new(
    shared: &Shared,
    plan: Plan,
    id: PlanId,
    origin: Origin,
    once: Option<OnceKey>,
) -> Result<(), EngineError> {
    let now = shared.clock.now();
    let entries = life::create(plan, id.clone(), entropy(), now).map_err(EngineError::Refused)?;
    let life = life::replay(&entries).map_err(|bad| EngineError::journal(&id, &bad))?;
    let texts = match &entries[0].event {
        Event::PlanCreated { plan, .. } => texts_of(plan),
        _ => Vec::new(),
    };
    let turn = Turn { first_seq: 1, inputs: Cause::Created(origin.clone()).to_json(), entries, at: now };
    let card = card_of(&life, &origin, None);
    let no = shared.store.append(Append { once, texts, ..Append::new(id.clone(), 0, turn, card) }).await?.plan_no;
    if origin.parent.is_none() {
        shared.remember(id, Opened::fresh(no, life, origin));
    }
    Ok(())
}

pub(crate) async fn drive(
    shared: &Arc<Shared>,
    plan: &PlanId,
    until: Until,
    first: Vec<Input>,
    above: Option<Above>,
) -> Result<Driving, EngineError> {
    // Nobody can have driven it unless it was changed, and then its first turn is refused and it is read after all.
    let fresh = shared.fresh().remove(plan);
    let no = match &fresh {
        Some(fresh) => fresh.no,
        None => shared.store.plan(plan.as_str()).await?.no,
    };
    let claim = claim(shared, plan, no).await?;
    let opened = match fresh {
        Some(fresh) => fresh,
        None => open(&*shared.store, plan).await?,
    };
    opened.check_home()?;
    for text in &opened.damaged {
        let text = format!("{text}; the whole journal was read instead");
        // Nobody has to watch.
        let _ = shared.happenings.send(Happening::Notice { plan: plan.clone(), task: None, to: String::new(), text });
    }
    let place = place_for(&shared.options, &opened);
    let mut driver = Driver::new(Arc::clone(shared), opened, claim, place, until);
    driver.above = above;
    let (sender, stop) = (driver.sender.clone(), driver.stop.clone());
    shared.drivers().insert(plan.clone(), sender.clone());
    shared.watch_store();
    let (shared, id) = (Arc::clone(shared), plan.clone());
    let handle = tokio::spawn(async move {
        let ending = driver.drive(first).await;
        shared.drivers().remove(&id);
        ending
    });
    Ok(Driving { plan: plan.clone(), sender, stop, handle })
}

/// Takes the claim of a plan, and waits a moment for whoever holds it only to say something.
async fn claim(shared: &Shared, plan: &PlanId, no: PlanNo) -> Result<Claim, EngineError> {
    let since = tokio::time::Instant::now();
    loop {
        if let Some(claim) = shared.store.claim(no).await? {
            return Ok(claim);
        }
        if since.elapsed() >= CLAIM_WAIT || shared.drivers().contains_key(plan) {
            return Err(EngineError::Driven { plan: plan.to_string() });
        }
        tokio::time::sleep(ANSWER_POLL).await;
    }
}

/// What was handed in is going to be heard, so that trouble of the record which may pass is waited out.
fn passing<T>(
    answer: Result<Option<T>, StoreError>,
    submitted: Option<gantry_store::InboxId>,
) -> Result<Option<T>, StoreError> {
    answer.or_else(|error| if submitted.is_some() && error.is_transient() { Ok(None) } else { Err(error) })
}

/// The answer of a sender who did not wait any longer.
fn withdrawn() -> Value {
    serde_json::json!({"withdrawn": true})
}

pub(crate) fn read_answer(answer: &Value) -> Result<(), EngineError> {
    let Some(refused) = answer.get("refused") else { return Ok(()) };
    let text = |key: &str| refused.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Err(EngineError::RefusedElsewhere { code: text("code"), message: text("message") })
}
