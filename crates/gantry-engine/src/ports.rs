//! What runners get of the engine: a place to keep things, someone who watches, a diary of intents.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use gantry_core::effect::ArtifactRef;
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::input::Input;
use gantry_core::policy::Usage;
use gantry_runners::{CallNo, Calls, Chunk, Intents, Keep, KeepError, MODEL, Noted, Ports, Recalled, Watch};
use gantry_store::{EffectRow, Hash, Store, StoreError, all_effects};
use serde_json::Value;
use tokio::sync::{OnceCell, broadcast, mpsc};

use crate::clock::Clock;
use crate::crash::crash_point;
use crate::happening::Happening;
use crate::message::Message;
use crate::patience::{STORE_RETRY, Troubled, patiently};

/// An attempt makes fewer calls than this; those of undos, verifications and judges have numbers beyond it.
pub(crate) const ORDINALS_MAX: u32 = 1 << 20;
/// The kind under which the way back is recorded, before anything is changed.
pub(crate) const INTENT: &str = "intent";

/// What one attempt does outside.
pub(crate) struct Attempt {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) happenings: broadcast::Sender<Happening>,
    pub(crate) driver: mpsc::UnboundedSender<Message>,
    pub(crate) plan: PlanId,
    pub(crate) task: TaskId,
    pub(crate) number: AttemptNo,
    /// Where the numbers of its calls begin.
    pub(crate) first_ordinal: u32,
    pub(crate) next_ordinal: AtomicU32,
    /// Calls that were made; they are written with the turn that takes the attempt's end.
    pub(crate) calls: Mutex<Vec<EffectRow>>,
    /// The last record of how to take something back.
    pub(crate) intent: Mutex<Option<EffectRow>>,
    /// What calls of this attempt used before this process took it up.
    pub(crate) before: OnceCell<Usage>,
    /// It did nothing before.
    pub(crate) fresh: AtomicBool,
    /// Calls that are written down one by one: those under way, and what the others used.
    pub(crate) ledger: Mutex<Ledger>,
}

/// The calls of an attempt that are written down one by one.
#[derive(Default)]
pub(crate) struct Ledger {
    begun: BTreeMap<CallNo, EffectRow>,
    used: Usage,
}

impl Attempt {
    /// The ports for the runner.
    pub(crate) fn ports(self: &Arc<Self>) -> Ports {
        Ports {
            keep: Arc::clone(self) as _,
            watch: Arc::clone(self) as _,
            intents: Arc::clone(self) as _,
            calls: Arc::clone(self) as _,
            sessions: Default::default(),
        }
    }

    /// The calls that were made so far.
    pub(crate) fn take_calls(&self) -> Vec<EffectRow> {
        std::mem::take(&mut self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says that a call was made; it is written with the turn that takes the attempt's end.
    pub(crate) fn made(&self, call: EffectRow) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    /// Asks the store, again and again while it has trouble that may pass: what was done outside cannot be done
    /// again only because there was no room to write it down.
    pub(crate) async fn patiently<T, E: Troubled, F>(&self, ask: impl FnMut() -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let mut told = false;
        let wait = |error: StoreError| {
            if !std::mem::replace(&mut told, true) {
                // Nobody has to watch.
                let _ = self.happenings.send(Happening::StoreTrouble { plan: self.plan.clone(), error });
            }
            async move {
                tokio::time::sleep(STORE_RETRY).await;
                self.alive(String::new(), Vec::new()); // who waits for the record is not silent
                true
            }
        };
        patiently(ask, wait).await
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, usage: Usage) {
        let mut ledger = self.ledger();
        ledger.used = ledger.used.plus(usage);
    }

    /// Writes calls down. `soon`: for the next process at once, and on disk with the next turn.
    async fn write(&self, rows: Vec<EffectRow>, soon: bool) -> Result<(), KeepError> {
        let write = || {
            let rows = rows.clone();
            async move { if soon { self.store.note_effects(rows).await } else { self.store.record_effects(rows).await } }
        };
        self.patiently(write).await.map_err(|error: StoreError| store_failed(&error))
    }

    /// A call that was begun, with its answer.
    fn answer(&self, call: CallNo, answer: Value, usage: Usage) -> Option<EffectRow> {
        let begun = self.ledger().begun.remove(&call)?;
        Some(EffectRow { answer: Some(answer), usage, ended_at: Some(self.clock.now()), ..begun })
    }

    /// Reads what this attempt did before this process took it up; calls from now on are numbered after those.
    async fn catch_up(&self) -> Result<Usage, KeepError> {
        let read = async || {
            let rows = self.patiently(|| all_effects(&*self.store, &self.plan, Some(&self.task))).await?;
            let own = self.first_ordinal..self.first_ordinal + ORDINALS_MAX;
            let mut used = Usage::default();
            for row in rows.iter().filter(|row| row.attempt == self.number && own.contains(&row.ordinal)) {
                used = used.plus(row.usage);
                self.fresh.store(false, Ordering::Relaxed);
                self.next_ordinal.fetch_max(row.ordinal + 1, Ordering::Relaxed);
            }
            Ok(used)
        };
        self.before.get_or_try_init(read).await.copied().map_err(|error: StoreError| store_failed(&error))
    }

    /// A call of this attempt, for the record.
    pub(crate) fn row(&self, kind: &str, request: Value, answer: Option<Value>) -> EffectRow {
        let now = self.clock.now();
        EffectRow {
            plan: self.plan.clone(),
            task: self.task.clone(),
            attempt: self.number,
            ordinal: self.next_ordinal.fetch_add(1, Ordering::Relaxed),
            kind: kind.to_owned(),
            request_hash: Hash::of(request.to_string().as_bytes()),
            request,
            ended_at: answer.is_some().then_some(now),
            answer,
            usage: Usage::default(),
            started_at: now,
        }
    }
}

fn store_failed(error: &StoreError) -> KeepError {
    KeepError::Store { why: error.to_string() }
}

#[async_trait]
impl Keep for Attempt {
    async fn put(&self, bytes: Vec<u8>) -> Result<String, KeepError> {
        let now = self.clock.now();
        let kept = self.patiently(|| self.store.put_blob(bytes.clone(), now)).await;
        kept.map(|hash| hash.to_string()).map_err(|error| store_failed(&error))
    }

    async fn get(&self, hash: &str) -> Result<Vec<u8>, KeepError> {
        let unknown = || KeepError::Unknown { hash: hash.to_owned() };
        let parsed: Hash = hash.parse().map_err(|_| unknown())?;
        let found = self.patiently(|| self.store.get_blob(parsed)).await;
        found.map_err(|error| store_failed(&error))?.ok_or_else(unknown)
    }
}

impl Watch for Attempt {
    fn output(&self, chunk: Chunk) {
        crash_point("during_effect");
        let (plan, task, attempt) = (self.plan.clone(), self.task.clone(), self.number);
        // Nobody has to watch.
        let _ = self.happenings.send(Happening::Output { plan, task, attempt, chunk });
    }

    fn alive(&self, note: String, artifacts: Vec<ArtifactRef>) {
        let input = Input::Heartbeat { task: self.task.clone(), attempt: self.number, note, artifacts };
        // A driver that is gone has stopped the attempt already.
        let _ = self.driver.send(Message::Answer { input, calls: Vec::new() });
    }
}

#[async_trait]
impl Calls for Attempt {
    async fn recall(&self, kind: &str, key: &str) -> Result<Option<Recalled>, KeepError> {
        let hash = hash_of(key)?;
        let found = self.patiently(|| self.store.recall(&self.plan, kind, hash)).await;
        let row = found.map_err(|error| store_failed(&error))?;
        Ok(row.map(|EffectRow { task, attempt, answer, .. }| Recalled { task, attempt, answer }))
    }

    async fn begin(&self, kind: &str, key: &str, request: Value) -> Result<CallNo, KeepError> {
        self.catch_up().await?;
        let row = EffectRow { request_hash: hash_of(key)?, ..self.row(kind, request, None) };
        // A commit of its own, which it shares with whoever else writes now: written with the turn that starts the attempt,
        // it would put in doubt what had not begun when the process went away. A command takes a hundred times as long.
        // A model that is asked twice does no harm, and is under way meanwhile.
        self.write(vec![row.clone()], kind == MODEL).await?;
        let call = CallNo(row.ordinal);
        self.ledger().begun.insert(call, row);
        crash_point("call_begun");
        Ok(call)
    }

    fn answered(&self, call: CallNo, answer: Value) {
        if let Some(row) = self.answer(call, answer, Usage::default()) {
            self.made(row);
        }
    }

    async fn end(&self, call: CallNo, answer: Value, usage: Usage) -> Result<(), KeepError> {
        crash_point("call_made");
        let row = self.answer(call, answer, usage);
        let row = row.ok_or_else(|| KeepError::Store { why: format!("call {} was not begun", call.0) })?;
        // What was done for this call is known as soon as the call's own answer is.
        let rows: Vec<EffectRow> = self.take_calls().into_iter().chain([row]).collect();
        self.write(rows, false).await?;
        self.count(usage);
        crash_point("call_ended");
        Ok(())
    }

    async fn hand_in(&self, call: CallNo, answer: Value, usage: Usage) -> Result<(), KeepError> {
        crash_point("call_made");
        let row = self.answer(call, answer, usage);
        let row = row.ok_or_else(|| KeepError::Store { why: format!("call {} was not begun", call.0) })?;
        self.write(vec![row], true).await?;
        self.count(usage);
        crash_point("call_ended");
        Ok(())
    }

    async fn is_fresh(&self) -> Result<bool, KeepError> {
        self.catch_up().await?;
        Ok(self.fresh.load(Ordering::Relaxed))
    }

    async fn note(&self, call: Noted) -> Result<(), KeepError> {
        self.catch_up().await?;
        let Noted { kind, key, request, answer, usage, started_at } = call;
        let made = self.row(kind, request, Some(answer));
        let row = EffectRow { request_hash: hash_of(&key)?, usage, started_at, ..made };
        crash_point("call_made");
        self.write(vec![row], false).await?;
        self.count(usage);
        crash_point("call_ended");
        Ok(())
    }

    async fn used(&self) -> Result<Usage, KeepError> {
        let before = self.catch_up().await?;
        Ok(before.plus(self.ledger().used))
    }
}

fn hash_of(key: &str) -> Result<Hash, KeepError> {
    key.parse().map_err(|_| KeepError::Store { why: format!("`{key}` is no key of a call") })
}

#[async_trait]
impl Intents for Attempt {
    async fn intend(&self, undo: Value) -> Result<(), KeepError> {
        let row = self.row(INTENT, undo, None);
        self.write(vec![row.clone()], false).await?;
        *self.intent.lock().unwrap_or_else(PoisonError::into_inner) = Some(row);
        Ok(())
    }

    async fn intend_instead(&self, undo: Value) -> Result<(), KeepError> {
        let last = self.intent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(last) = last else { return self.intend(undo).await };
        let row = EffectRow { request_hash: Hash::of(undo.to_string().as_bytes()), request: undo, ..last };
        self.write(vec![row], false).await
    }
}
