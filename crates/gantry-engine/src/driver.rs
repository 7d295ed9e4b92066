//! One plan under way: waits for whatever reaches it and makes turns of it.

mod room; // how much may start
mod trouble; // when the record does not take a turn

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gantry_core::effect::Effect;
use gantry_core::event::Event;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{Life, PlanState, Refusal, Room, Scarce, WaitsFor};
use gantry_llm::gateway::Allowance;
use gantry_runners::Place;
use gantry_store::{Append, Card, Claim, EffectRow, ForkedFrom, Home, InboxId, Turn, WAITING_MAX, WaitingLine};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::act::{Aloft, Flight, takes_slot};
use crate::card::{artifacts_of, card_of, texts_of_changes};
use crate::cause::{Cause, Origin};
use crate::crash::crash_point;
use crate::engine::{Shared, read_answer};
use crate::error::EngineError;
use crate::happening::Happening;
use crate::keep_folder::LastCheckpoint;
use crate::load::{Opened, snapshot_of};
use crate::message::{Ending, Message, Stop, Until};
use crate::nested::{Above, Course};
use crate::prompts;
use crate::share::{Share, give_back};
use crate::slots::Guest;
use crate::timeline::Timeline;

/// How many inputs one turn takes at most.
const TURN_INPUTS_MAX: usize = 2_000;
/// After inputs with this many bytes in their results a turn takes no more: what follows from them says it all again.
const TURN_BYTES_MAX: usize = 8 << 20;
/// How long a turn that is being written, and plans inside this one, may take to end after being told to stop at once.
pub(crate) const STOP_WITHIN: Duration = Duration::from_millis(500);
/// A snapshot is due after this many entries.
const SNAPSHOT_ENTRIES: u64 = 2_000;
/// And after this many for each task: a snapshot says everything about every task, so its cost stays a share of theirs,
/// and a plan that goes straight to its end needs none.
const SNAPSHOT_ENTRIES_OF_TASK: u64 = 4;

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
    pub(crate) flights: BTreeMap<Flight, Aloft>,
    pub(crate) work: JoinSet<()>,
    /// What attempts pay for models from, while they run.
    pub(crate) purse: Arc<Allowance>,
    /// What the plans inside this one are to do.
    pub(crate) course: watch::Sender<Course>,
    /// The attempt that drives this plan, when it is inside another.
    pub(crate) above: Option<Above>,
    /// What that attempt was told last.
    pub(crate) told_above: Option<Vec<WaitsFor>>,
    messages: mpsc::UnboundedReceiver<Message>,
    /// None only while a turn has it.
    life: Option<Life>,
    /// As of the same turn as the life; also while a turn has the life, because a turn that falls through reads both again.
    timeline: Timeline,
    pub(crate) origin: Origin,
    forked_from: Option<ForkedFrom>,
    home: Option<Home>,
    snapshot_length: u64,
    pub(crate) last_checkpoint: Arc<LastCheckpoint>,
    pub(crate) until: Until,
    pub(crate) parking: bool,
    /// Nothing more is started, and it ends when nothing runs.
    pub(crate) leaving: bool,
    /// How it takes room for attempts.
    guest: Arc<Guest>,
    /// The same for attempts that use a capability with a limit.
    share: Share,
    /// The last turn left something ready for want of room.
    crowded: bool,
    /// Room that was taken for attempts which are about to start.
    starting: u32,
    /// Calls to write with the next turn.
    calls: Vec<EffectRow>,
    /// Told to stop at once: a record that has trouble is not waited for any longer.
    pub(crate) stop: CancellationToken,
    /// Nobody is there to do anything: turns are decided and appended, effects are left to the next driver.
    unattended: bool,
    /// Since when.
    since: tokio::time::Instant,
    _claim: Claim,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, opened: Opened, claim: Claim, place: Place, until: Until) -> Self {
        let (sender, messages) = mpsc::unbounded_channel();
        let guest: Arc<Guest> = Arc::default();
        let purse = Allowance::of(opened.life.header().policy.budget);
        purse.spend(opened.life.spent());
        Self {
            purse: Arc::new(purse),
            share: Share::of(&shared.capabilities, &guest),
            plan: opened.life.id().clone(),
            shared,
            place: Arc::new(place),
            sender,
            course: watch::Sender::new(Course::default()),
            above: None,
            told_above: None,
            messages,
            flights: BTreeMap::new(),
            work: JoinSet::new(),
            life: Some(opened.life),
            timeline: opened.timeline,
            origin: opened.origin,
            forked_from: opened.forked_from,
            home: opened.home,
            snapshot_length: opened.snapshot_length,
            last_checkpoint: Arc::default(),
            until,
            parking: false,
            leaving: false,
            guest,
            crowded: false,
            starting: 0,
            calls: Vec::new(),
            stop: CancellationToken::new(),
            unattended: false,
            since: tokio::time::Instant::now(),
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

    /// Tells whether anyone would hear what is told.
    fn is_watched(&self) -> bool {
        self.shared.happenings.receiver_count() > 0
    }

    /// Drives the plan from wherever it stands.
    pub(crate) async fn drive(mut self, first: Vec<Input>) -> Result<Ending, EngineError> {
        let stop = self.stop.clone();
        let late = async move {
            stop.cancelled().await;
            tokio::time::sleep(STOP_WITHIN).await;
        };
        // Whatever it is in the middle of then ends as if the process had: the record knows everything that counts.
        let ending = tokio::select! {
            biased;
            ending = self.go_on(first) => ending,
            () = late => Ok(Ending::Stopped),
        };
        if matches!(ending, Ok(Ending::Waiting(_) | Ending::Parked)) {
            self.lay_to_rest().await;
        }
        self.let_go().await;
        ending
    }

    async fn go_on(&mut self, first: Vec<Input>) -> Result<Ending, EngineError> {
        let models = self.shared.runners.models();
        let facts = models.map(|models| prompts::news(self.life(), models)).unwrap_or_default();
        let observed = (!facts.is_empty()).then_some(Input::Observed { facts });
        let mut inputs: Vec<Taken> =
            observed.into_iter().chain([Input::Recover]).map(|input| Taken { input, from: From::Runner }).collect();
        inputs.extend(first.into_iter().map(|input| Taken { input, from: From::Runner }));
        self.turn(inputs).await?;
        self.look_into_inbox().await?;
        loop {
            if let Some(ending) = self.ending() {
                return Ok(ending);
            }
            self.tell_above();
            let batch = self.next().await;
            self.take_in(batch).await?;
            if self.messages.is_closed() {
                return Ok(Ending::Stopped);
            }
        }
    }

    /// One turn with nobody there to act: what someone says is decided and recorded, and what follows waits.
    ///
    /// What was handed in before is answered with the turn that takes it: it counts and is known to count, or neither.
    pub(crate) async fn hear(mut self, input: Input, handed_in: Option<InboxId>) -> Result<(), EngineError> {
        self.unattended = true;
        let Some(id) = handed_in else {
            let (reply, answer) = oneshot::channel();
            self.turn(vec![Taken { input, from: From::Person(reply) }]).await?;
            return answer.await.unwrap_or(Ok(()));
        };
        self.turn(vec![Taken { input, from: From::Inbox(id) }]).await?;
        self.shared.store.ask_answer(id).await?.map_or(Ok(()), |answer| read_answer(&answer))
    }

    fn ending(&self) -> Option<Ending> {
        if self.flights.values().any(|aloft| aloft.waits.is_none()) {
            return None;
        }
        let life = self.life();
        match life.state() {
            state @ (PlanState::Completed | PlanState::Failed | PlanState::Abandoned) => {
                self.flights.is_empty().then(|| Ending::Ended { state, causes: life.causes().to_vec() })
            }
            _ if self.parking => Some(Ending::Parked),
            _ if self.leaving => Some(Ending::Stopped),
            PlanState::Pending | PlanState::Running | PlanState::Paused | PlanState::Blocked => {
                self.stuck().filter(|_| self.until == Until::Stuck).map(Ending::Waiting)
            }
        }
    }

    /// Waits for whatever comes first, and takes along what has come as well.
    async fn next(&mut self) -> Vec<Message> {
        let room = if self.crowded { Room::NONE } else { Room::PLENTY };
        let wake = self.life().next_wake_within(room, &self.share.short);
        let clock = Arc::clone(&self.shared.clock);
        let timer = async move {
            match wake {
                Some(at) => clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let (first, last) = tokio::select! {
            biased;
            message = self.messages.recv() => (message, None),
            () = self.guest.called(), if self.crowded || !self.share.short.is_empty() => (None, Some(tick())),
            () = timer => {
                // When this process was stopped for a while, its runners have not been heard from because they were
                // stopped, too: they go first.
                tokio::task::yield_now().await;
                (None, Some(tick()))
            }
        };
        let mut batch = Vec::with_capacity(self.messages.len().min(TURN_INPUTS_MAX) + 2);
        batch.extend(first);
        let mut bytes: usize = batch.iter().map(Message::weight).sum();
        while batch.len() < TURN_INPUTS_MAX
            && bytes < TURN_BYTES_MAX
            && let Ok(message) = self.messages.try_recv()
        {
            bytes += message.weight();
            batch.push(message);
        }
        batch.extend(last);
        batch
    }

    /// Makes one turn of what came.
    async fn take_in(&mut self, batch: Vec<Message>) -> Result<(), EngineError> {
        let (mut inputs, mut look, mut stop) = (Vec::with_capacity(batch.len()), false, false);
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
                Message::Gone { flight } => drop(self.flights.remove(&flight)),
                Message::Told { input, reply } => inputs.push(Taken { input, from: From::Person(reply) }),
                Message::Resting { flight, waits } => {
                    let note = self.rests(flight, waits);
                    inputs.extend(note.map(|input| Taken { input, from: From::Runner }));
                }
                Message::Rules => self.reread_rules().await?,
                Message::Look => look = true,
                Message::Leave | Message::Stop(Stop::Leave) => {
                    self.leaving = true;
                    self.set_course();
                }
                Message::Stop(Stop::Park) => {
                    self.parking = true;
                    let input =
                        Input::Pause { by: self.shared.options.operator.clone(), why: "interrupted".to_owned() };
                    inputs.push(Taken { input, from: From::Runner });
                }
                Message::Stop(Stop::Now) => stop = true,
            }
        }
        if stop {
            // What has been answered is recorded; what follows from it is left to the next driver.
            self.unattended = true;
            self.messages.close();
        }
        if !inputs.is_empty() {
            self.turn(inputs).await?;
        }
        if stop {
            return Ok(());
        }
        if look {
            self.look_into_inbox().await?;
        }
        Ok(())
    }

    /// Hears what was said to other processes.
    async fn look_into_inbox(&mut self) -> Result<(), EngineError> {
        let waiting = self.patiently(|| self.shared.store.inbox(&self.plan)).await?;
        for (id, value) in waiting {
            match serde_json::from_value::<Input>(value) {
                Ok(input) => self.turn(vec![Taken { input, from: From::Inbox(id) }]).await?,
                Err(error) => {
                    let message = format!("this input cannot be read: {error}");
                    let answer = json!({"refused": {"code": "input::unreadable", "message": message}});
                    self.answer(id, answer).await?;
                }
            }
        }
        Ok(())
    }

    async fn answer(&self, id: InboxId, answer: Value) -> Result<(), EngineError> {
        Ok(self.patiently(|| self.shared.store.answer(id, answer.clone())).await?)
    }

    /// One turn. Everything that happens to a plan passes through these steps.
    async fn turn(&mut self, inputs: Vec<Taken>) -> Result<(), EngineError> {
        loop {
            let (room, scarce) = (self.take_room(), self.take_share());
            let now = self.shared.clock.now();
            let life = self.life.take().expect("a life is away only inside a turn");
            let (length, mut draft) = (life.length(), life.draft(now, Room(room)));
            draft.limit(scarce.clone());
            let refusals: Vec<Option<Refusal>> = inputs.iter().map(|taken| draft.take(&taken.input).err()).collect();
            let mut verdict = draft.close(); // pure until here
            let mut told = None;
            let count = |like: fn(&Effect) -> bool| {
                u32::try_from(verdict.effects.iter().filter(|effect| like(effect)).count()).unwrap_or(u32::MAX)
            };
            let started = count(|effect| matches!(effect, Effect::StartAttempt(_)));
            self.starting = count(takes_slot);
            self.shared.slots.give_back(room.saturating_sub(self.starting));
            let scarce = self.share.decided(&self.shared.capabilities, scarce, &verdict.life, &verdict.effects);
            let revised = verdict.events.iter().any(|entry| matches!(entry.event, Event::PlanRevised { .. }));
            if !verdict.events.is_empty() {
                let room = if started < room { Room::PLENTY } else { Room(room) };
                let events = std::mem::take(&mut verdict.events);
                self.timeline.apply(&events);
                told = self.is_watched().then(|| Arc::new(events.clone()));
                let append = self.append_for(&verdict.life, length, events, &inputs, &refusals, (room, &scarce));
                if !self.make_durable(append, &verdict.life).await? {
                    if inputs.iter().all(|taken| taken.input == Input::Tick) {
                        return Ok(()); // it comes again by itself, after what was said meanwhile
                    }
                    continue;
                }
                self.calls.clear();
            }
            self.life = Some(verdict.life);
            if revised {
                self.take_rules();
            }
            self.settle_flights(&inputs);
            if let Some(entries) = told {
                self.tell(Happening::Events { plan: self.plan.clone(), entries });
            }
            self.reply(inputs, refusals).await?;
            if !self.unattended {
                self.set_course();
                for effect in verdict.effects {
                    self.act(effect);
                }
                self.starting = 0; // they are in flight now
                self.share.started();
                self.stand_in_line();
                self.keep_snapshot();
            }
            return Ok(());
        }
    }

    /// Appends a turn, after which this is the life; false when the turn has to be decided again.
    async fn make_durable(&mut self, append: Append, life: &Life) -> Result<bool, EngineError> {
        crash_point("before_append");
        let Err(error) = self.shared.store.append(append).await else {
            crash_point("after_append"); // durable: from here on it is so
            return Ok(true);
        };
        let opened = self.read_after(error).await?;
        if opened.life == *life {
            // It was said to have failed and is on disk all the same: what it wishes for has to start.
            return Ok(true);
        }
        self.shared.slots.give_back(std::mem::take(&mut self.starting));
        self.share.fell_through(&self.shared.capabilities);
        self.start_over(opened);
        Ok(false)
    }

    fn append_for(
        &self,
        life: &Life,
        length: u64,
        entries: Vec<gantry_core::event::Entry>,
        inputs: &[Taken],
        refusals: &[Option<Refusal>],
        (room, scarce): (Room, &Scarce),
    ) -> Append {
        let taken = inputs.iter().zip(refusals).filter(|(_, refusal)| refusal.is_none());
        let inputs_json = Cause::decided_to_json(taken.map(|(taken, _)| &taken.input).collect(), room, scarce);
        let mut card = Card { home: self.home.clone(), ..card_of(life, &self.origin, self.forked_from.as_ref()) };
        let inside = self.waits_inside().map(|wait| WaitingLine { task: wait.task.clone(), what: wait.what.clone() });
        card.waiting.extend(inside);
        card.waiting.truncate(WAITING_MAX);
        let answered = inputs.iter().zip(refusals).filter_map(|(taken, refusal)| match taken.from {
            From::Inbox(id) => Some((id, answer_to(refusal.as_ref()))),
            From::Runner | From::Person(_) => None,
        });
        let (artifacts, texts) =
            (artifacts_of(&entries, inputs.iter().map(|taken| &taken.input)), texts_of_changes(&entries, life));
        let at = entries.last().map(|entry| entry.at).unwrap_or_default();
        let turn = Turn { first_seq: length + 1, inputs: inputs_json, entries, at };
        Append {
            artifacts,
            effects: self.calls.clone(),
            answered: answered.collect(),
            texts,
            ..Append::new(self.plan.clone(), length, turn, card)
        }
    }

    /// Attempts that were answered make room for others.
    fn settle_flights(&mut self, inputs: &[Taken]) {
        for flight in inputs.iter().filter_map(|taken| Flight::answered_by(&taken.input)) {
            let Some(aloft) = self.flights.remove(&flight) else { continue };
            self.shared.slots.give_back(u32::from(aloft.slot));
            give_back(&self.shared.capabilities, &aloft.uses);
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
                From::Inbox(id) => self.answer(id, answer_to(refusal.as_ref())).await?,
            }
        }
        Ok(())
    }

    /// Keeps the folded life now and then, so that loading it stays fast.
    fn keep_snapshot(&mut self) {
        let length = self.life().length();
        let due = SNAPSHOT_ENTRIES.max(SNAPSHOT_ENTRIES_OF_TASK * u64::from(self.life().task_count()));
        if length - self.snapshot_length < due {
            return;
        }
        self.snapshot_length = length;
        let (life, timeline) = (self.life().clone(), self.timeline.clone());
        let (store, plan) = (Arc::clone(&self.shared.store), self.plan.clone());
        self.work.spawn(async move {
            if let Ok(Some(snapshot)) = tokio::task::spawn_blocking(move || snapshot_of(&life, &timeline)).await {
                // A snapshot is for speed only: without it, loading takes longer.
                let _ = store.save_snapshot(&plan, snapshot).await;
            }
        });
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let attempts = self.flights.values().filter(|aloft| aloft.slot).count();
        self.shared.slots.give_back(u32::try_from(attempts).unwrap_or(0).saturating_add(self.starting));
        self.shared.slots.leave(&self.guest);
        self.flights.values().for_each(|aloft| give_back(&self.shared.capabilities, &aloft.uses));
        self.share.fell_through(&self.shared.capabilities);
        self.share.stand_in_line(&self.shared.capabilities, false);
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
