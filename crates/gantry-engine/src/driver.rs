//! One plan under way: waits for whatever reaches it and makes turns of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gantry_core::effect::{Effect, Failure};
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{Life, PlanState, Refusal, Room, WaitsFor};
use gantry_core::policy::{FailureClass, Usage};
use gantry_runners::Place;
use gantry_store::{Append, Claim, EffectRow, ForkedFrom, InboxId, StoreError, Turn};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::act::Flight;
use crate::card::{artifacts_of, card_of, texts_of_changes};
use crate::cause::{Cause, Origin};
use crate::crash::crash_point;
use crate::engine::Shared;
use crate::error::EngineError;
use crate::happening::Happening;
use crate::load::{Opened, snapshot_of};
use crate::slots::Guest;

/// How many inputs one turn takes at most.
const TURN_INPUTS_MAX: usize = 2_000;
/// A snapshot is due after this many entries, and after two for each task: its cost stays a share of theirs.
const SNAPSHOT_ENTRIES: u64 = 2_000;
/// How long to wait before an append that failed is tried again.
const STORE_RETRY: Duration = Duration::from_millis(500);

/// What reaches a driver.
pub(crate) enum Message {
    /// A runner answers.
    Answer { input: Input, calls: Vec<EffectRow> },
    /// Facts were looked at.
    Observed { flight: Flight, input: Input },
    /// Someone says something and waits for what becomes of it.
    Told { input: Input, reply: oneshot::Sender<Result<(), EngineError>> },
    /// The inbox may have something.
    Look,
    /// Come to an end.
    Stop(Stop),
}

/// How to come to an end before the plan does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Start nothing more, let what runs finish, pause the plan.
    Park,
    /// At once: what runs is killed and counts as lost.
    Now,
}

/// Until when a plan is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// It has ended.
    Ended,
    /// It has ended, or nothing can go on without someone outside.
    Stuck,
}

/// How driving a plan came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The plan has ended in this state, for these causes.
    Ended {
        /// Completed, failed or abandoned.
        state: PlanState,
        /// Why it failed.
        causes: Vec<String>,
    },
    /// Nothing can go on without someone outside.
    Waiting(Vec<WaitsFor>),
    /// It was parked.
    Parked,
    /// It was stopped at once.
    Stopped,
}

/// One input of a turn, and who waits for what becomes of it.
struct Taken {
    input: Input,
    from: From,
}

enum From {
    Runner,
    Person(oneshot::Sender<Result<(), EngineError>>),
    Inbox(InboxId),
}

pub(crate) struct Driver {
    pub(crate) shared: Arc<Shared>,
    pub(crate) plan: PlanId,
    pub(crate) place: Arc<Place>,
    pub(crate) sender: mpsc::UnboundedSender<Message>,
    pub(crate) flights: BTreeMap<Flight, CancellationToken>,
    pub(crate) work: JoinSet<()>,
    messages: mpsc::UnboundedReceiver<Message>,
    /// None only while a turn has it.
    life: Option<Life>,
    origin: Origin,
    forked_from: Option<ForkedFrom>,
    snapshot_length: u64,
    until: Until,
    parking: bool,
    /// How it takes room for attempts.
    guest: Arc<Guest>,
    /// The last turn left something ready for want of room.
    crowded: bool,
    /// Calls to write with the next turn.
    calls: Vec<EffectRow>,
    /// Nobody is there to do anything: turns are decided and appended, effects are left to the next driver.
    unattended: bool,
    _claim: Claim,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, opened: Opened, claim: Claim, place: Place, until: Until) -> Self {
        let (sender, messages) = mpsc::unbounded_channel();
        Self {
            plan: opened.life.id().clone(),
            shared,
            place: Arc::new(place),
            sender,
            messages,
            flights: BTreeMap::new(),
            work: JoinSet::new(),
            life: Some(opened.life),
            origin: opened.origin,
            forked_from: opened.forked_from,
            snapshot_length: opened.snapshot_length,
            until,
            parking: false,
            guest: Arc::default(),
            crowded: false,
            calls: Vec::new(),
            unattended: false,
            _claim: claim,
        }
    }

    pub(crate) fn life(&self) -> &Life {
        self.life.as_ref().expect("a life is away only inside a turn")
    }

    pub(crate) fn tell(&self, happening: Happening) {
        // Nobody has to watch.
        let _ = self.shared.happenings.send(happening);
    }

    /// Drives the plan from wherever it stands.
    pub(crate) async fn drive(mut self, first: Vec<Input>) -> Result<Ending, EngineError> {
        let mut inputs = vec![Taken { input: Input::Recover, from: From::Runner }];
        inputs.extend(first.into_iter().map(|input| Taken { input, from: From::Runner }));
        self.turn(inputs).await?;
        self.look_into_inbox().await?;
        loop {
            if let Some(ending) = self.ending() {
                return Ok(ending);
            }
            let batch = self.next().await;
            if self.messages.is_closed() {
                self.work.abort_all();
                return Ok(Ending::Stopped);
            }
            self.take_in(batch).await?;
        }
    }

    /// One turn with nobody there to act: what someone says is decided and recorded, and what follows waits.
    pub(crate) async fn hear(mut self, input: Input) -> Result<Life, EngineError> {
        self.unattended = true;
        let (reply, answer) = oneshot::channel();
        self.turn(vec![Taken { input, from: From::Person(reply) }]).await?;
        answer.await.unwrap_or(Ok(()))?;
        Ok(self.life.take().expect("a life is away only inside a turn"))
    }

    fn ending(&self) -> Option<Ending> {
        if !self.flights.is_empty() {
            return None;
        }
        let life = self.life();
        match life.state() {
            state @ (PlanState::Completed | PlanState::Failed | PlanState::Abandoned) => {
                Some(Ending::Ended { state, causes: life.causes().to_vec() })
            }
            _ if self.parking => Some(Ending::Parked),
            PlanState::Blocked | PlanState::Paused if self.until == Until::Stuck => {
                Some(Ending::Waiting(life.waits_for()))
            }
            PlanState::Pending | PlanState::Running | PlanState::Paused | PlanState::Blocked => None,
        }
    }

    /// Waits for whatever comes first, and takes along what has come as well.
    async fn next(&mut self) -> Vec<Message> {
        let room = if self.crowded { Room::NONE } else { Room::PLENTY };
        let wake = self.life().next_wake_in(room);
        let clock = Arc::clone(&self.shared.clock);
        let timer = async move {
            match wake {
                Some(at) => clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let first = tokio::select! {
            biased;
            message = self.messages.recv() => message,
            () = self.guest.called(), if self.crowded => Some(tick()),
            () = timer => Some(tick()),
        };
        let mut batch: Vec<Message> = first.into_iter().collect();
        while batch.len() < TURN_INPUTS_MAX
            && let Ok(message) = self.messages.try_recv()
        {
            batch.push(message);
        }
        batch
    }

    /// Makes one turn of what came.
    async fn take_in(&mut self, batch: Vec<Message>) -> Result<(), EngineError> {
        let (mut inputs, mut look) = (Vec::new(), false);
        for message in batch {
            match message {
                Message::Answer { input, calls } => {
                    self.calls.extend(calls);
                    inputs.push(Taken { input, from: From::Runner });
                }
                Message::Observed { flight, input } => {
                    self.flights.remove(&flight);
                    inputs.push(Taken { input, from: From::Runner });
                }
                Message::Told { input, reply } => inputs.push(Taken { input, from: From::Person(reply) }),
                Message::Look => look = true,
                Message::Stop(Stop::Park) => {
                    self.parking = true;
                    let input =
                        Input::Pause { by: self.shared.options.operator.clone(), why: "interrupted".to_owned() };
                    inputs.push(Taken { input, from: From::Runner });
                }
                Message::Stop(Stop::Now) => {
                    self.messages.close();
                    return Ok(());
                }
            }
        }
        if !inputs.is_empty() {
            self.turn(inputs).await?;
        }
        if look {
            self.look_into_inbox().await?;
        }
        Ok(())
    }

    /// Hears what was said to other processes.
    async fn look_into_inbox(&mut self) -> Result<(), EngineError> {
        for (id, value) in self.shared.store.inbox(&self.plan).await? {
            match serde_json::from_value::<Input>(value) {
                Ok(input) => self.turn(vec![Taken { input, from: From::Inbox(id) }]).await?,
                Err(error) => {
                    let message = format!("this input cannot be read: {error}");
                    let answer = json!({"refused": {"code": "input::unreadable", "message": message}});
                    self.shared.store.answer(id, answer).await?;
                }
            }
        }
        Ok(())
    }

    /// One turn. Everything that happens to a plan passes through these steps.
    async fn turn(&mut self, inputs: Vec<Taken>) -> Result<(), EngineError> {
        loop {
            let room = self.take_room();
            let now = self.shared.clock.now();
            let life = self.life.take().expect("a life is away only inside a turn");
            let (length, mut draft) = (life.length(), life.draft(now, Room(room)));
            let refusals: Vec<Option<Refusal>> = inputs.iter().map(|taken| draft.take(&taken.input).err()).collect();
            let verdict = draft.close(); // pure until here
            let started = verdict.effects.iter().filter(|effect| matches!(effect, Effect::StartAttempt(_))).count();
            let started = u32::try_from(started).unwrap_or(u32::MAX);
            self.shared.slots.give_back(room.saturating_sub(started));
            if !verdict.events.is_empty() {
                let room = if started < room { Room::PLENTY } else { Room(room) };
                let append = self.append_for(&verdict.life, length, &verdict.events, &inputs, &refusals, room);
                crash_point("before_append");
                match self.shared.store.append(append).await {
                    Ok(_) => crash_point("after_append"), // durable: from here on it is so
                    Err(error) => {
                        self.shared.slots.give_back(started);
                        self.recover_from(error).await?;
                        continue;
                    }
                }
                self.calls.clear();
            }
            self.life = Some(verdict.life);
            self.settle_flights(&inputs);
            if !verdict.events.is_empty() {
                let entries = Arc::new(verdict.events);
                self.tell(Happening::Events { plan: self.plan.clone(), entries });
            }
            self.reply(inputs, refusals).await?;
            if !self.unattended {
                for effect in verdict.effects {
                    self.act(effect);
                }
                self.stand_in_line();
                self.keep_snapshot();
            }
            return Ok(());
        }
    }

    fn take_room(&self) -> u32 {
        if self.unattended { 0 } else { self.shared.slots.take(&self.guest, self.life().header().policy.parallel()) }
    }

    /// When something is ready and there was no room for it, room is waited for.
    fn stand_in_line(&mut self) {
        let now = self.shared.clock.now();
        let at_once = |wake: Option<gantry_core::time::Timestamp>| wake.is_some_and(|at| at <= now);
        self.crowded = at_once(self.life().next_wake()) && !at_once(self.life().next_wake_in(Room::NONE));
        if self.crowded {
            self.shared.slots.wait_in_line(&self.guest);
        }
    }

    fn append_for(
        &self,
        life: &Life,
        length: u64,
        entries: &[gantry_core::event::Entry],
        inputs: &[Taken],
        refusals: &[Option<Refusal>],
        room: Room,
    ) -> Append {
        let taken = inputs.iter().zip(refusals).filter(|(_, refusal)| refusal.is_none());
        let cause = Cause::Decided { inputs: taken.map(|(taken, _)| taken.input.clone()).collect(), room };
        let turn = Turn {
            first_seq: length + 1,
            inputs: cause.to_value(),
            entries: entries.to_vec(),
            at: entries.last().map(|entry| entry.at).unwrap_or_default(),
        };
        let parent = self.origin.parent.as_ref().map(|(plan, _)| plan);
        let card = card_of(life, parent, self.forked_from.as_ref());
        let answered = inputs.iter().zip(refusals).filter_map(|(taken, refusal)| match taken.from {
            From::Inbox(id) => Some((id, answer_to(refusal.as_ref()))),
            From::Runner | From::Person(_) => None,
        });
        Append {
            artifacts: artifacts_of(entries, inputs.iter().map(|taken| &taken.input)),
            effects: self.calls.clone(),
            answered: answered.collect(),
            texts: texts_of_changes(entries, life),
            ..Append::new(self.plan.clone(), length, turn, card)
        }
    }

    /// The turn was not appended: the life in it never was. Reads what is true and lets the turn be decided again.
    async fn recover_from(&mut self, error: StoreError) -> Result<(), EngineError> {
        if error.is_transient() {
            self.tell(Happening::StoreTrouble { plan: self.plan.clone(), error: error.clone() });
            tokio::time::sleep(STORE_RETRY).await;
        } else if !matches!(error, StoreError::Conflict { .. }) {
            return Err(error.into());
        }
        let opened = loop {
            match crate::load::open(&*self.shared.store, &self.plan).await {
                Ok(opened) => break opened,
                Err(EngineError::Store(error)) if error.is_transient() => tokio::time::sleep(STORE_RETRY).await,
                Err(error) => return Err(error),
            }
        };
        self.snapshot_length = opened.snapshot_length;
        let strangers = opened.life.in_flight().into_iter().filter(|(task, attempt)| {
            !self.unattended && !self.flights.contains_key(&Flight::Attempt(task.clone(), *attempt))
        });
        for (task, attempt) in strangers {
            // Someone else decided to start it, and only we could.
            let end = Err(Failure::new(FailureClass::Lost, "nobody is known to run it"));
            let input = Input::Ended { task, attempt, end, usage: Usage::default() };
            let _ = self.sender.send(Message::Answer { input, calls: Vec::new() });
        }
        self.life = Some(opened.life);
        Ok(())
    }

    /// Attempts that were answered make room for others.
    fn settle_flights(&mut self, inputs: &[Taken]) {
        for flight in inputs.iter().filter_map(|taken| Flight::answered_by(&taken.input)) {
            let attempt = matches!(flight, Flight::Attempt(..));
            if self.flights.remove(&flight).is_some() && attempt {
                self.shared.slots.give_back(1);
            }
        }
        while self.work.try_join_next().is_some() {}
    }

    async fn reply(&self, inputs: Vec<Taken>, refusals: Vec<Option<Refusal>>) -> Result<(), EngineError> {
        for (taken, refusal) in inputs.into_iter().zip(refusals) {
            match taken.from {
                From::Runner => {}
                From::Person(reply) => {
                    // Who went away does not want to know.
                    let _ = reply.send(refusal.map_or(Ok(()), |refusal| Err(EngineError::Refused(refusal))));
                }
                // The first answer stays: the one that was written with the turn, if there was one.
                From::Inbox(id) => self.shared.store.answer(id, answer_to(refusal.as_ref())).await?,
            }
        }
        Ok(())
    }

    /// Keeps the folded life now and then, so that loading it stays fast.
    fn keep_snapshot(&mut self) {
        let length = self.life().length();
        let due = SNAPSHOT_ENTRIES.max(2 * u64::from(self.life().task_count()));
        if length - self.snapshot_length < due {
            return;
        }
        self.snapshot_length = length;
        let (life, store, plan) = (self.life().clone(), Arc::clone(&self.shared.store), self.plan.clone());
        self.work.spawn(async move {
            if let Ok(Some(snapshot)) = tokio::task::spawn_blocking(move || snapshot_of(&life)).await {
                // A snapshot is for speed only: without it, loading takes longer.
                let _ = store.save_snapshot(&plan, snapshot).await;
            }
        });
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let attempts = self.flights.keys().filter(|flight| matches!(flight, Flight::Attempt(..))).count();
        self.shared.slots.give_back(u32::try_from(attempts).unwrap_or(0));
        self.shared.slots.leave(&self.guest);
    }
}

fn tick() -> Message {
    Message::Answer { input: Input::Tick, calls: Vec::new() }
}

fn answer_to(refusal: Option<&Refusal>) -> Value {
    match refusal {
        None => json!({"taken": true}),
        Some(refusal) => json!({"refused": {"code": refusal.code(), "message": refusal.to_string()}}),
    }
}
