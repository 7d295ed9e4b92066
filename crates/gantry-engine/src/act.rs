//! Does what was decided: wishes of the core become work for runners, and what comes of it becomes an input.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use gantry_core::effect::{Effect, Failure, StartAttempt};
use gantry_core::event::Outputs;
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::input::Input;
use gantry_core::life::WaitsFor;
use gantry_core::plan::{Action, Check, Decide, Task, Undo};
use gantry_core::policy::{FailureClass, Usage};
use gantry_llm::gateway::Allowance;
use gantry_runners::{Brief, Calls as _, Ended, Happened, Paying, Work};
use gantry_store::EffectRow;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::bulk::bounded;
use crate::crash::crash_point;
use crate::driver::Driver;
use crate::happening::Happening;
use crate::keep_folder::keep_after;
use crate::message::Message;
use crate::nested::Inner;
use crate::parts::take_back;
use crate::ports::{Attempt, Ledger, ORDINALS_MAX};
use crate::share::used_by;
use crate::shown::shown;

/// Calls of an undo are numbered from here, so that they are told from those of an attempt with that number.
const UNDO_ORDINALS: u32 = ORDINALS_MAX;
/// The same for calls that find out whether an attempt happened.
const VERIFY_ORDINALS: u32 = 2 * ORDINALS_MAX;
/// And for those that judge its result; when no model could, those of the next try have numbers beyond these again, so
/// that each counts what it used itself.
const JUDGE_ORDINALS: u32 = 3 * ORDINALS_MAX;
/// So many tries are told apart.
const JUDGE_TRIES_MAX: u32 = 4_000;
/// The name under which calls about the definition of done are kept.
const DONE_WHEN: &str = "done-when";

/// Something that goes on outside for a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flight {
    /// An attempt at a task.
    Attempt(TaskId, AttemptNo),
    /// An attempt at taking a task back.
    Undo(TaskId, AttemptNo),
    /// Finding out whether an attempt happened.
    Verify(TaskId, AttemptNo),
    /// A model judges a task, or the plan as a whole.
    Judge(Option<TaskId>),
    /// Looking at facts.
    Observe(Vec<String>),
}

/// What is known of something that goes on outside.
pub(crate) struct Aloft {
    /// Stops it.
    pub(crate) stop: CancellationToken,
    /// It takes up room that is given back when it ends. A plan inside a task takes none: its own attempts do.
    pub(crate) slot: bool,
    /// The capabilities with a limit that it uses.
    pub(crate) uses: Vec<String>,
    /// What it waits for, when it cannot go on without someone.
    pub(crate) waits: Option<Vec<WaitsFor>>,
}

impl Aloft {
    fn stopped_by(stop: CancellationToken) -> Self {
        Self { stop, slot: false, uses: Vec::new(), waits: None }
    }
}

/// Tells whether what is wished for takes up room.
pub(crate) fn takes_slot(effect: &Effect) -> bool {
    matches!(effect, Effect::StartAttempt(start) if !matches!(start.action, Action::Plan(_)))
}

impl Flight {
    /// What an input answers.
    pub(crate) fn answered_by(input: &Input) -> Option<Self> {
        match input {
            Input::Ended { task, attempt, .. } => Some(Self::Attempt(task.clone(), *attempt)),
            Input::UndoEnded { task, attempt, .. } => Some(Self::Undo(task.clone(), *attempt)),
            Input::Verified { task, attempt, .. } => Some(Self::Verify(task.clone(), *attempt)),
            Input::Judged { task, .. } | Input::JudgeFailed { task, .. } => Some(Self::Judge(task.clone())),
            _ => None,
        }
    }
}

impl Driver {
    /// Starts what was wished for; the turn that wished for it is on disk.
    pub(crate) fn act(&mut self, effect: Effect) {
        match effect {
            Effect::StartAttempt(start) => self.start_attempt(*start),
            Effect::CancelAttempt { task, attempt, .. } => {
                if let Some(aloft) = self.flights.get(&Flight::Attempt(task, attempt)) {
                    aloft.stop.cancel();
                }
            }
            Effect::Verify { task, attempt, action } => self.verify(task, attempt, *action),
            Effect::StartUndo { task, attempt, undo } => self.start_undo(task, attempt, undo),
            Effect::Observe { facts } => self.observe(facts),
            Effect::Judge { task, checks, outputs, asked, failed } => {
                self.judge(task, checks, outputs, (asked, failed));
            }
            Effect::Notify { to, task, text } => {
                self.tell(Happening::Notice { plan: self.plan.clone(), task, to, text });
            }
        }
    }

    fn attempt(&self, task: &TaskId, attempt: AttemptNo, first_ordinal: u32) -> Arc<Attempt> {
        Arc::new(Attempt {
            store: Arc::clone(&self.shared.store),
            clock: Arc::clone(&self.shared.clock),
            happenings: self.shared.happenings.clone(),
            driver: self.sender.clone(),
            plan: self.plan.clone(),
            task: task.clone(),
            number: attempt,
            first_ordinal,
            next_ordinal: AtomicU32::new(first_ordinal),
            calls: Mutex::new(Vec::new()),
            intent: Mutex::new(None),
            before: OnceCell::new(),
            fresh: AtomicBool::new(true),
            ledger: Mutex::new(Ledger::default()),
        })
    }

    /// Lets some work go on outside; its answer comes back as a message.
    fn launch(&mut self, flight: Flight, aloft: Aloft, work: impl Future<Output = Answer> + Send + 'static) {
        let (sender, broken) = (self.sender.clone(), flight.clone());
        // The runtime moves what it is given several times, and keeps its room until the driver looks.
        let work = Box::pin(work);
        self.flights.insert(flight, aloft);
        self.work.spawn(async move {
            // A runner that breaks ends its attempt, never the process.
            let (input, calls) =
                AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| (broke(broken, &panic), Vec::new()));
            crash_point("after_effect");
            // A driver that is gone has lost the attempt, and the next one will know.
            let _ = sender.send(Message::Answer { input, calls });
        });
    }

    fn start_attempt(&mut self, start: StartAttempt) {
        let (task, attempt) = (start.task.clone(), start.attempt);
        let stop = CancellationToken::new();
        let ports = self.attempt(&task, attempt, 0);
        let definition = self.life().definition(task.as_str());
        let undo = definition.map(|task| task.undo.clone()).unwrap_or_default();
        let keeps_folder = definition.is_some_and(|task| self.life().is_checkpointed_after(task));
        let uses = used_by(&self.shared.capabilities, self.life(), &start);
        let mut work = Work::of(self.plan.clone(), start, undo, self.paying(definition), self.brief_of(definition));
        let flight = Flight::Attempt(task.clone(), attempt);
        // Whoever asks models pays as it goes; what others set aside is out of reach until they have ended.
        let pays = match &work.action {
            Action::Model(_) | Action::Agent(_) | Action::Decide(_) => true,
            Action::Tool(tool) => self.shared.runners.get(&tool.name).is_ok_and(|runner| runner.asks_models()),
            _ => false,
        };
        let (purse, set_aside) = (Arc::clone(&self.purse), if pays { Usage::default() } else { work.reserved });
        purse.spend(set_aside);
        let settle = move |usage: Usage| {
            purse.refund(set_aside);
            purse.spend(if pays { Usage::default() } else { usage });
        };
        if let Action::Plan(nested) = &work.action {
            let nested = nested.clone();
            let (shared, sender, course) = (Arc::clone(&self.shared), self.sender.clone(), self.course.subscribe());
            let inner = Inner { shared, work, ports: Arc::clone(&ports), sender, course, stop: stop.clone() };
            let run = inner.run(nested);
            return self.launch(flight, Aloft::stopped_by(stop), async move {
                let Ended { end, usage, .. } = run.await;
                settle(usage);
                let end = bounded(end, &ports.ports()).await;
                (Input::Ended { task, attempt, end, usage }, ports.take_calls())
            });
        }
        let checkpoints = Arc::clone(&self.last_checkpoint);
        let (shared, place, token) = (Arc::clone(&self.shared), Arc::clone(&self.place), stop.clone());
        self.launch(flight, Aloft { slot: true, uses, ..Aloft::stopped_by(stop) }, async move {
            let given = ports.ports();
            // What is rare and large is on its own, so that the others stay small.
            if matches!(work.action, Action::Checkpoint(_))
                && let Some(hash) = Box::pin(checkpoints.hash(&*shared.store, &work.plan, &given)).await
            {
                work.inputs.insert(gantry_runners::checkpoint::SINCE.to_owned(), hash.into());
            }
            let Ended { mut end, usage, .. } = shared.runners.attempt(&work, &place, &given, &token).await;
            if keeps_folder {
                end = Box::pin(keep_after(end, &place, &given, &token)).await;
            }
            checkpoints.note(&end);
            given.sessions.close().await; // no process outlives its attempt
            settle(usage);
            let end = bounded(end, &given).await;
            (Input::Ended { task, attempt, end, usage }, ports.take_calls())
        });
    }

    /// The work of a task whose attempt is not started by the core: for a verification, an undo or a judgement.
    fn work_for(&self, task: &TaskId, attempt: AttemptNo, action: Action, inputs: Outputs) -> Work {
        let definition = self.life().definition(task.as_str());
        let environment = definition.map(|task| task.environment.clone()).unwrap_or_default();
        let paying = self.paying(definition);
        let key = self.life().task_life(task.as_str()).map(|life| life.key.clone()).unwrap_or_default();
        Work {
            plan: self.plan.clone(),
            task: task.clone(),
            attempt,
            key,
            action,
            inputs,
            feedback: None,
            reserved: Usage::default(),
            timeout: definition.and_then(|task| task.timeout),
            heartbeat: None,
            environment,
            undo: Undo::None,
            may_spend: paying.may_spend,
            purse: paying.purse,
            brief: self.brief_of(definition),
        }
    }

    /// What an attempt at a task may spend, and from what it pays.
    fn paying(&self, task: Option<&Task>) -> Paying {
        let own = task.map(|task| task.budget).unwrap_or_default();
        let plan = self.life().header().policy.budget;
        self.purse.limit(plan);
        let purse = Arc::new(Allowance::of(own).within(Arc::clone(&self.purse)));
        Paying { may_spend: plan.smaller(own), purse }
    }

    /// What a task is for, in words. Shell commands need none, only what they are to make.
    fn brief_of(&self, definition: Option<&Task>) -> Arc<Brief> {
        let Some(definition) = definition else { return Arc::default() };
        let artifacts: Vec<String> = definition.artifacts.iter().map(|artifact| artifact.name.clone()).collect();
        if matches!(definition.action, Some(Action::Run(_) | Action::Tool(_) | Action::Plan(_))) {
            let nothing = artifacts.is_empty();
            return if nothing { Arc::default() } else { Arc::new(Brief { artifacts, ..Brief::default() }) };
        }
        let header = self.life().header();
        let in_words = |checks: &[Check]| checks.iter().map(ToString::to_string).collect::<Vec<_>>();
        Arc::new(Brief {
            objective: if header.objective.is_empty() { header.title.clone() } else { header.objective.clone() },
            constraints: header.constraints.clone(),
            title: definition.name().to_owned(),
            description: definition.description.clone().unwrap_or_default(),
            outputs: definition.outputs.clone(),
            artifacts,
            criteria: in_words(&definition.success_criteria),
        })
    }

    fn verify(&mut self, task: TaskId, attempt: AttemptNo, action: Action) {
        let stop = CancellationToken::new();
        let ports = self.attempt(&task, attempt, VERIFY_ORDINALS);
        let inputs = self.life().inputs_for(task.as_str(), &action);
        if let Err(why) = &inputs {
            let text = format!("whether `{task}` happened cannot be found out: {why}");
            self.tell(Happening::Notice { plan: self.plan.clone(), task: Some(task.clone()), to: String::new(), text });
        }
        let work = inputs.ok().map(|inputs| self.work_for(&task, attempt, action, inputs));
        let (shared, place, token) = (Arc::clone(&self.shared), Arc::clone(&self.place), stop.clone());
        self.launch(Flight::Verify(task.clone(), attempt), Aloft::stopped_by(stop), async move {
            let given = ports.ports();
            let found = match &work {
                Some(work) => shared.runners.happened(work, &place, &given, &token).await,
                None => Happened::default(),
            };
            given.sessions.close().await;
            let (happened, outputs) = (found.happened, found.outputs);
            (Input::Verified { task, attempt, happened, outputs, usage: Usage::default() }, ports.take_calls())
        });
    }

    fn start_undo(&mut self, task: TaskId, attempt: AttemptNo, undo: Undo) {
        let stop = CancellationToken::new();
        let ports = self.attempt(&task, attempt, UNDO_ORDINALS);
        let work = self.work_of_undo(&task, attempt, &undo);
        let (shared, place, token) = (Arc::clone(&self.shared), Arc::clone(&self.place), stop.clone());
        self.launch(Flight::Undo(task.clone(), attempt), Aloft::stopped_by(stop), async move {
            let (end, usage) = match (work, undo) {
                (Err(why), _) => (Err(why), Usage::default()),
                (Ok(work), Undo::Action(_)) => {
                    let given = ports.ports();
                    let ended = shared.runners.run(&work, &place, &given, &token).await;
                    given.sessions.close().await;
                    let how = || format!("by `{}`", work.action.key());
                    (ended.end.map(|_| how()).map_err(|failure| failure.message), ended.usage)
                }
                (Ok(work), _) if matches!(work.action, Action::Plan(_)) => take_back(&shared, &work, &ports).await,
                (Ok(work), _) => (crate::undo::restore(&shared, &work, &place, &ports).await, Usage::default()),
            };
            (Input::UndoEnded { task, attempt, end, usage }, ports.take_calls())
        });
    }

    /// What is to be done to take a task back, or why that cannot be said.
    fn work_of_undo(&self, task: &TaskId, attempt: AttemptNo, undo: &Undo) -> Result<Work, String> {
        if let Undo::Action(action) = undo {
            let inputs = self.life().inputs_for(task.as_str(), action)?;
            return Ok(self.work_for(task, attempt, (**action).clone(), inputs));
        }
        let own = self.life().definition(task.as_str()).and_then(|task| task.action.clone());
        let own = own.ok_or_else(|| "there is nothing that could be taken back".to_owned())?;
        // What is restored stands in the record.
        Ok(self.work_for(task, attempt, own, self.life().inputs_of(task.as_str())))
    }

    /// Has a model judge; when none can, someone is asked to.
    fn judge(&mut self, task: Option<TaskId>, checks: Vec<String>, outputs: Outputs, (asked, failed): (u64, u32)) {
        let flight = Flight::Judge(task.clone());
        if self.flights.contains_key(&flight) {
            return;
        }
        let Some(models) = self.shared.runners.models().cloned() else {
            let text = format!("no model is configured to judge; say whether these hold: {}", checks.join("; "));
            return self.tell(Happening::Notice { plan: self.plan.clone(), task, to: String::new(), text });
        };
        let outputs = shown(self.life(), task.as_ref(), outputs);
        // Calls about the plan as a whole are kept under a name that no task has.
        let under = task.clone().unwrap_or_else(|| TaskId::new(DONE_WHEN).expect("it is an id"));
        let attempt = self.life().task_life(under.as_str()).map(|life| life.attempt).unwrap_or_default();
        let judged = task.is_some().then_some(attempt);
        let first_ordinal = JUDGE_ORDINALS + failed.min(JUDGE_TRIES_MAX) * ORDINALS_MAX;
        let (stop, ports) = (CancellationToken::new(), self.attempt(&under, attempt, first_ordinal));
        let inputs = self.life().inputs_of(under.as_str());
        let work = self.work_for(&under, attempt, Action::Decide(Decide::default()), inputs);
        let (place, token) = (Arc::clone(&self.place), stop.clone());
        let sender = self.sender.clone();
        self.flights.insert(flight.clone(), Aloft::stopped_by(stop));
        self.work.spawn(async move {
            let given = ports.ports();
            let said =
                gantry_runners::judge(&models, &work, (&place, &given, &token), (&checks, failed), &outputs).await;
            let usage = ports.used().await.unwrap_or_default();
            let answer = |input| Message::Answer { input, calls: ports.take_calls() };
            let message = match said {
                Ok((verdicts, by)) => {
                    answer(Input::Judged { task, by, verdicts, usage, attempt: judged, asked: Some(asked) })
                }
                // Whoever is stopped has not found out that nobody can.
                Err(failure) if failure.class == FailureClass::Cancelled => Message::Gone { flight },
                Err(failure) => {
                    answer(Input::JudgeFailed { task, why: failure.message, usage, attempt, asked, failed })
                }
            };
            // A driver that is gone asks again when it comes back.
            let _ = sender.send(message);
        });
    }

    fn observe(&mut self, facts: Vec<String>) {
        let flight = Flight::Observe(facts.clone());
        if self.flights.contains_key(&flight) {
            return;
        }
        let place = Arc::clone(&self.place);
        let done = flight.clone();
        let sender = self.sender.clone();
        self.flights.insert(flight, Aloft::stopped_by(CancellationToken::new()));
        self.work.spawn(async move {
            let look = move || gantry_runners::observe(&facts, &place);
            let facts = tokio::task::spawn_blocking(look).await.unwrap_or_default();
            let _ = sender.send(Message::Observed { flight: done, input: Input::Observed { facts } });
        });
    }
}

/// What a flight came to, and the calls that it made.
type Answer = (Input, Vec<EffectRow>);

/// What is known when a runner broke in the middle: nothing.
fn broke(flight: Flight, panic: &Box<dyn std::any::Any + Send>) -> Input {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned());
    let message = format!("the runner broke: {said}");
    match flight {
        Flight::Attempt(task, attempt) => {
            let end = Err(Failure::new(FailureClass::Lost, message));
            Input::Ended { task, attempt, end, usage: Usage::default() }
        }
        Flight::Undo(task, attempt) => Input::UndoEnded { task, attempt, end: Err(message), usage: Usage::default() },
        Flight::Verify(task, attempt) => {
            let outputs = Default::default();
            Input::Verified { task, attempt, happened: None, outputs, usage: Usage::default() }
        }
        Flight::Judge(_) | Flight::Observe(_) => Input::Observed { facts: Default::default() },
    }
}
