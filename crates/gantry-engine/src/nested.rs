//! A plan inside a task.
//!
//! The inner plan has a record of its own, and an attempt at the task drives it and hands on what it gives. Its name
//! follows from the task and what the task works on, so that another process, or another attempt, goes on with it:
//!
//! - An inner plan that has not ended goes on where it is. One whose end nobody was told yet ends the attempt so.
//! - One that failed, and whose end was told, is tried again: its failed tasks are done once more.
//! - One that completed or was given up, and whose end was told, is followed by another one, with the next number.
//!
//! The inner plan never ends by having to wait: it says so to the plan around it, which shows it and decides. When
//! the attempt is stopped, the inner plan is paused and can be gone on with or taken back; it is given up only when
//! the plan around it has ended.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::{Change, Input, Success, TakeBack};
use gantry_core::life::{Life, PlanState, Refusal, State, WaitsFor};
use gantry_core::plan::{Nested, Plan, Severity, Undo};
use gantry_core::policy::{FailureClass, Usage};
use gantry_runners::{Ended, Watch as _, Work};
use gantry_store::{Hash, StoreError};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::act::Flight;
use crate::cause::Origin;
use crate::engine::{ANSWER_WAIT, Driving, Engine, Shared, append_new, drive};
use crate::error::EngineError;
use crate::happening::Happening;
use crate::load::{Opened, open};
use crate::message::{Ending, Message, Stop, Until};
use crate::narrow::{left, narrowed};
use crate::parts::{Part, TakenUp, parts_of};
use crate::patience::{STORE_RETRY, Troubled as _, patiently};
use crate::ports::Attempt;

/// How deep plans may be nested.
pub(crate) const NESTING_MAX: usize = 8;
/// How often an inner plan that is over is followed by another one.
const FOLLOWERS_MAX: u32 = 1_000;
/// How much of an inner plan's name tells whose it is; the rest tells it from all others.
const NAME_CHARS_MAX: usize = 80;
/// How often to say that an attempt is alive when nobody asked for it.
const BEAT: Duration = Duration::from_hours(1);

/// What the plans inside a plan are to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Course {
    pub(crate) way: Way,
    /// Counted up whenever what the plan may do has changed.
    pub(crate) rules: u32,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    /// Go on.
    #[default]
    On,
    /// Start nothing more, let what runs finish, and wait.
    Park,
    /// Whoever drives them goes away because everything waits: start nothing more, and stop when nothing runs.
    Rest,
    /// Whoever drives them goes away: stop as they are.
    Leave,
}

/// The attempt that an inner plan is driven by, which is told what it waits for.
pub(crate) struct Above {
    pub(crate) sender: mpsc::UnboundedSender<Message>,
    pub(crate) flight: Flight,
}

/// One attempt at a task that is a plan.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) work: Work,
    pub(crate) ports: Arc<Attempt>,
    /// The driver of the plan around it.
    pub(crate) sender: mpsc::UnboundedSender<Message>,
    pub(crate) course: watch::Receiver<Course>,
    pub(crate) stop: CancellationToken,
}

/// An inner plan that was found, and what to do with it.
enum Found {
    /// To be driven, after these inputs.
    Open { id: PlanId, first: Vec<Input>, from: TakenUp },
    /// It is over, and nobody was told.
    Over { id: PlanId, from: TakenUp },
    /// It may not be.
    Refused(Failure),
}

/// Whether an inner plan may be driven.
enum May {
    Go,
    /// The driver of the plan around it goes away.
    Leave,
    /// The attempt was stopped.
    Stop,
}

impl Inner {
    /// Carries out the attempt.
    pub(crate) fn run(mut self, nested: Nested) -> Pin<Box<dyn Future<Output = Ended> + Send>> {
        Box::pin(async move {
            let mut usage = Usage::default();
            let end = self.carry_out(&nested, &mut usage).await;
            Ended { usage, ..Ended::with(end) }
        })
    }

    async fn carry_out(&mut self, nested: &Nested, usage: &mut Usage) -> Result<Success, Failure> {
        let Some(plan) = &nested.plan else {
            let name = nested.template.as_deref().unwrap_or_default();
            return Err(Failure::new(FailureClass::Logic, format!("there is no template `{name}`")));
        };
        let found = {
            let this = &*self;
            this.patiently(|| this.find(plan)).await?
        };
        let (id, from, ended) = match found {
            Found::Refused(failure) => return Err(failure),
            Found::Over { id, from } => (id, from, true),
            Found::Open { id, first, from } => {
                let ended = self.drive_to_its_end(&id, first).await?;
                (id, from, ended)
            }
        };
        let opened = {
            let this = &*self;
            this.patiently(|| open(&*this.shared.store, &id)).await?
        };
        *usage = opened.life.spent().minus(from.used);
        if !ended {
            return Err(Failure::new(FailureClass::Cancelled, format!("plan `{id}` was stopped")));
        }
        Part::told(&self.ports, &id, from, &opened.life);
        match opened.life.state() {
            PlanState::Completed => Ok(Success { outputs: outputs_of(&opened.life), ..Success::default() }),
            state => {
                let causes = opened.life.causes().join("; ");
                let because = if causes.is_empty() { String::new() } else { format!(": {causes}") };
                Err(Failure::new(FailureClass::Logic, format!("plan `{id}` {state}{because}")))
            }
        }
    }

    /// Asks the record, again and again while it has trouble that may pass.
    async fn patiently<T, F>(&self, ask: impl FnMut() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, EngineError>>,
    {
        patiently(ask, |trouble| self.wait_out(trouble)).await.map_err(|error| match error.passing() {
            Some(_) => Failure::new(FailureClass::Cancelled, "it was stopped"),
            None => Failure::new(FailureClass::Logic, error.to_string()),
        })
    }

    /// Waits while the record has trouble; false when the attempt was stopped meanwhile.
    async fn wait_out(&self, error: StoreError) -> bool {
        // Nobody has to watch.
        let _ = self.shared.happenings.send(Happening::StoreTrouble { plan: self.work.plan.clone(), error });
        self.ports.alive(String::new(), Vec::new());
        self.pause_for(STORE_RETRY).await
    }

    /// Waits this long; false when the attempt was stopped meanwhile.
    async fn pause_for(&self, duration: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(duration) => true,
            () = self.stop.cancelled() => false,
        }
    }

    /// Finds the inner plan of this attempt, or makes it.
    async fn find(&self, plan: &Plan) -> Result<Found, EngineError> {
        let parts = parts_of(&*self.shared.store, &self.work.plan, &self.work.task).await?;
        let around = Some((self.work.plan.clone(), self.work.task.clone()));
        for number in 1..=FOLLOWERS_MAX {
            let id = name_of(&self.work, number);
            let Some(Opened { life, origin, .. }) = known(&self.shared, &id).await? else {
                if let Some(failure) = self.create(plan, &id).await? {
                    return Ok(Found::Refused(failure));
                }
                let from = self.begun(&id, Usage::default()).await?;
                return Ok(Found::Open { id, first: vec![Input::Start], from });
            };
            if origin.parent != around {
                let message = format!("there is a plan `{id}` already, and it is no part of this task; rename one");
                return Ok(Found::Refused(Failure::new(FailureClass::Logic, message)));
            }
            let own = parts.iter().rfind(|part| part.plan == id);
            let taken_up = own.filter(|part| part.attempt == self.work.attempt);
            let told = taken_up.is_none() && own.is_some_and(|part| part.told);
            let first = match life.state() {
                PlanState::Pending => vec![Input::Start],
                PlanState::Paused => vec![Input::Resume { by: self.operator() }],
                PlanState::Running | PlanState::Blocked => Vec::new(),
                PlanState::Failed if told && !self.retries(&life).is_empty() => self.retries(&life),
                PlanState::Completed | PlanState::Failed | PlanState::Abandoned if told => continue,
                PlanState::Completed | PlanState::Failed | PlanState::Abandoned => {
                    let anew = || TakenUp { at: self.shared.clock.now(), used: Usage::default() };
                    return Ok(Found::Over { id, from: taken_up.map_or_else(anew, |part| part.from) });
                }
            };
            if let Some(part) = taken_up {
                return Ok(Found::Open { id, first, from: part.from });
            }
            let from = self.begun(&id, life.spent()).await?;
            let first = self.allowance(plan, &life, from.used).await?.into_iter().chain(first).collect();
            return Ok(Found::Open { id, first, from });
        }
        let message = format!("it was done anew {FOLLOWERS_MAX} times");
        Ok(Found::Refused(Failure::new(FailureClass::Logic, message)))
    }

    /// Gives an inner plan that goes on what was set aside for this attempt, instead of what earlier ones were given.
    async fn allowance(&self, plan: &Plan, life: &Life, before: Usage) -> Result<Option<Input>, EngineError> {
        let around = open(&*self.shared.store, &self.work.plan).await?.life;
        let left = left(around.limits_over(self.work.task.as_str()), self.work.reserved, before);
        let mut wanted = life.plan();
        wanted.policy.budget = plan.policy.budget.smaller(left);
        let diff = gantry_core::plan::diff(&life.plan(), &wanted);
        let rationale = "this much is left of the budgets around it".to_owned();
        let (by, base, change) = (self.operator(), life.revision(), Change::By(Box::new(diff.clone())));
        Ok((!diff.is_empty()).then(|| Input::Revise { by, rationale, base, change }))
    }

    /// Writes down which plan this attempt drives, and what that plan had used before.
    async fn begun(&self, id: &PlanId, used: Usage) -> Result<TakenUp, EngineError> {
        let row = Part::begun(&self.ports, id, used);
        let from = TakenUp { at: row.started_at, used };
        self.shared.store.record_effects(vec![row]).await?;
        Ok(from)
    }

    fn operator(&self) -> String {
        self.shared.options.operator.clone()
    }

    /// Has everything done again that failed and that nobody took care of, the innermost first.
    fn retries(&self, life: &Life) -> Vec<Input> {
        let failed =
            |id: &str| life.task_life(id).is_some_and(|task| matches!(task.state, State::Failed { handled: false }));
        let tasks = life.task_ids().into_iter().rev().filter(|task| failed(task.as_str()));
        let why =
            format!("task `{}` of plan `{}`, which it is a part of, is tried again", self.work.task, self.work.plan);
        tasks.map(|task| Input::Retry { task, by: self.operator(), why: why.clone() }).collect()
    }

    /// Makes the inner plan; says why not.
    async fn create(&self, plan: &Plan, id: &PlanId) -> Result<Option<Failure>, EngineError> {
        let around = open(&*self.shared.store, &self.work.plan).await?;
        if around.above.len() + 1 > NESTING_MAX {
            let message = format!("plans are nested more than {NESTING_MAX} deep");
            return Ok(Some(Failure::new(FailureClass::Policy, message)));
        }
        let sound = plan.check().iter().all(|problem| problem.severity != Severity::Error);
        let mut plan = plan.clone();
        give_inputs(&mut plan, &self.work);
        let left = left(around.life.limits_over(self.work.task.as_str()), self.work.reserved, Usage::default());
        plan.policy = narrowed(&plan.policy, &around.life.header().policy, left);
        let parent = Some((self.work.plan.clone(), self.work.task.clone()));
        let origin = Origin { parent, ..around.origin };
        match append_new(&self.shared, plan, id.clone(), origin, None).await {
            // An append that was reported to have failed may have been made all the same.
            Ok(()) | Err(EngineError::Store(StoreError::Conflict { .. })) => Ok(None),
            Err(EngineError::Refused(Refusal::BadPlan { problems })) if sound => {
                let why = problems.first().map(|problem| problem.message.as_str()).unwrap_or_default();
                let message = format!("what is left of the budgets around it does not suffice: {why}");
                Ok(Some(Failure::new(FailureClass::Policy, message)))
            }
            Err(EngineError::Refused(refusal)) => Ok(Some(Failure::new(FailureClass::Logic, refusal.to_string()))),
            Err(error) => Err(error),
        }
    }

    /// Drives the inner plan; true when it has ended, false when the attempt was stopped before that.
    async fn drive_to_its_end(&mut self, id: &PlanId, mut first: Vec<Input>) -> Result<bool, Failure> {
        loop {
            match self.may_go_on(id).await {
                May::Go => {}
                May::Leave => return Ok(false),
                May::Stop => {
                    self.part_with(id).await;
                    return Ok(false);
                }
            }
            let Some(driving) = self.begin(id, &first).await? else { continue };
            self.rest(None);
            match self.follow(id, driving).await {
                Ok(Ending::Ended { .. }) => return Ok(true),
                // It was parked, or someone stopped it: it goes on when the plan around it does.
                Ok(Ending::Parked | Ending::Stopped | Ending::Waiting(_)) => {
                    first = vec![Input::Resume { by: self.operator() }];
                }
                Err(error) if error.passing().is_some() => first = Vec::new(),
                Err(error) => return Err(Failure::new(FailureClass::Logic, error.to_string())),
            }
            if self.stop.is_cancelled() {
                return Ok(false);
            }
        }
    }

    /// Waits until it is known whether to go on.
    async fn may_go_on(&mut self, id: &PlanId) -> May {
        loop {
            if self.stop.is_cancelled() {
                return May::Stop;
            }
            let way = self.course.borrow_and_update().way;
            match way {
                Way::On => return May::Go,
                Way::Rest | Way::Leave => return May::Leave,
                Way::Park => self.rest(Some(vec![wait_of(&self.work, id, "someone to resume it")])),
            }
            let beat = self.beat();
            tokio::select! {
                changed = self.course.changed() => if changed.is_err() { return May::Leave },
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(beat) => self.ports.alive(String::new(), Vec::new()),
            }
        }
    }

    /// Begins to drive the inner plan, once nobody else does; none when it is not to be driven any more.
    async fn begin(&self, id: &PlanId, first: &[Input]) -> Result<Option<Driving>, Failure> {
        let ask = || {
            let flight = Flight::Attempt(self.work.task.clone(), self.work.attempt);
            let above = Above { sender: self.sender.clone(), flight };
            drive(&self.shared, id, Until::Ended, first.to_vec(), Some(above))
        };
        let goes_on = |waited: bool| waited && self.course.borrow().way == Way::On;
        loop {
            let wait = |trouble| async { goes_on(self.wait_out(trouble).await) };
            match patiently(ask, wait).await {
                Ok(driving) => return Ok(Some(driving)),
                Err(EngineError::Driven { .. }) => {
                    let what = "another process, which works on it, to be done";
                    self.rest(Some(vec![wait_of(&self.work, id, what)]));
                    self.ports.alive(String::new(), Vec::new());
                }
                Err(error) if error.passing().is_some() => return Ok(None),
                Err(error) => return Err(Failure::new(FailureClass::Logic, error.to_string())),
            }
            if !goes_on(self.pause_for(STORE_RETRY).await) {
                return Ok(None);
            }
        }
    }

    /// Passes on to the inner plan what the plan around it wants, until it comes to an end.
    async fn follow(&mut self, id: &PlanId, driving: Driving) -> Result<Ending, EngineError> {
        let (sender, reins) = (driving.sender(), Reins(Box::new(driving.stopper())));
        let mut beat = tokio::time::interval(self.beat());
        let ended = driving.ended();
        tokio::pin!(ended);
        loop {
            tokio::select! {
                ending = &mut ended => return ending,
                () = self.stop.cancelled() => {
                    self.part_with(id).await;
                    (reins.0)(Stop::Now);
                    return ended.await;
                }
                changed = self.course.changed() => {
                    let way = if changed.is_ok() { self.course.borrow_and_update().way } else { Way::Leave };
                    match way {
                        Way::On => drop(sender.send(Message::Rules)),
                        Way::Park => (reins.0)(Stop::Park),
                        Way::Rest => drop(sender.send(Message::Leave)),
                        Way::Leave => {
                            (reins.0)(Stop::Now);
                            return ended.await;
                        }
                    }
                }
                _ = beat.tick() => self.ports.alive(String::new(), Vec::new()),
            }
        }
    }

    /// How often to say that the attempt is alive.
    fn beat(&self) -> Duration {
        self.work.heartbeat.map_or(BEAT, |every| Duration::from_millis(every.as_ms().max(1)))
    }

    /// Says to the plan around it that this attempt cannot go on without someone, or that it does again.
    fn rest(&self, waits: Option<Vec<WaitsFor>>) {
        let flight = Flight::Attempt(self.work.task.clone(), self.work.attempt);
        // A driver that is gone wants nothing any more.
        let _ = self.sender.send(Message::Resting { flight, waits });
    }

    /// The attempt was stopped: its plan is given up with the plan around it, and otherwise paused.
    async fn part_with(&self, id: &PlanId) {
        let Ok(around) = open(&*self.shared.store, &self.work.plan).await else { return };
        let task = self.work.task.as_str();
        let ended = around.life.state().is_over();
        let abandoned = around.life.task_life(task).is_none_or(|task| task.state == State::Abandoned);
        let kept = around.life.definition(task).is_some_and(|task| task.undo == Undo::None);
        let (by, why) = (self.operator(), "the task that it is a part of was stopped".to_owned());
        let input = if ended || (abandoned && kept) {
            Input::Cancel { by, why, undo: TakeBack::Nothing }
        } else {
            Input::Pause { by, why }
        };
        // What is refused was so already; what is not heard in time is found by the next attempt.
        let _ = tokio::time::timeout(ANSWER_WAIT, Engine::of(&self.shared).tell(id, input)).await;
    }
}

/// Stops an inner plan when whoever drives it goes away.
pub(crate) struct Reins(pub(crate) Box<dyn Fn(Stop) + Send + Sync>);

impl Drop for Reins {
    fn drop(&mut self) {
        (self.0)(Stop::Now);
    }
}

/// What a task waits for inside its plan.
fn wait_of(work: &Work, id: &PlanId, what: &str) -> WaitsFor {
    wait_inside(&work.task, id, &WaitsFor { task: None, what: what.to_owned() })
}

/// What an inner plan waits for, as the plan around it says it.
pub(crate) fn wait_inside(task: &TaskId, id: &PlanId, wait: &WaitsFor) -> WaitsFor {
    let inside = wait.task.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
    WaitsFor { task: Some(task.clone()), what: format!("plan `{id}`: {inside}{}", wait.what) }
}

/// Reads a plan, if there is one of this name.
async fn known(shared: &Shared, id: &PlanId) -> Result<Option<Opened>, EngineError> {
    match open(&*shared.store, id).await {
        Ok(opened) => Ok(Some(opened)),
        Err(EngineError::Store(StoreError::NotFound { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The name of an inner plan: the plan and the task that it belongs to as far as there is room, and a hash of the
/// whole, which tells it from those of other tasks and other inputs.
fn name_of(work: &Work, number: u32) -> PlanId {
    let whole = serde_json::to_vec(&(&work.plan, &work.task, &work.key)).unwrap_or_default();
    let hash = Hash::of(&whole).to_string();
    let name: String = format!("{}-{}", work.plan, work.task).chars().take(NAME_CHARS_MAX).collect();
    let number = if number == 1 { String::new() } else { format!("-{number}") };
    PlanId::slugged(&format!("{}-{}{number}", name.trim_end_matches('-'), &hash[..12]))
}

/// What a nested plan is given: each of its tasks sees it among its inputs, unless it has one of that name.
fn give_inputs(plan: &mut Plan, work: &Work) {
    let Some(Value::Object(given)) = work.inputs.get("with") else { return };
    for task in &mut plan.tasks {
        for (name, value) in given {
            task.inputs.entry(name.clone()).or_insert_with(|| gantry_core::plan::Input::Value(value.clone()));
        }
    }
}

/// What a nested plan gives: its id, and the outputs of each of its tasks by the task's name.
fn outputs_of(life: &Life) -> Outputs {
    let mut outputs = Outputs::new();
    for task in life.task_ids() {
        if let Some(given) = life.outputs(task.as_str()).filter(|given| !given.is_empty()) {
            outputs.insert(task.to_string(), serde_json::to_value(given).unwrap_or_default());
        }
    }
    outputs.insert("plan".to_owned(), Value::String(life.id().to_string()));
    outputs
}
