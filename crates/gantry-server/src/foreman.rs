//! Drives plans in this process: those that were left behind, those that someone starts, those that someone speaks to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_engine::{Driving, Engine, EngineError, Stop, Tell, Until};
use gantry_view::standing::is_new_fork;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::house::House;
use crate::problem::Problem;

/// How many plans that could not go on are remembered.
const TROUBLES_MAX: usize = 100;

/// How long what runs of a plan may take to finish when someone wants to have the plan alone.
const RELEASED_WITHIN: std::time::Duration = std::time::Duration::from_secs(20);

/// The name under which this program leaves notes.
const NOTED_BY: &str = "gantry";

/// Drives plans.
#[derive(Clone)]
pub struct Foreman(Arc<Inner>);

struct Inner {
    house: Arc<dyn House>,
    state: Mutex<State>,
    /// Told whenever a plan is not driven here any more.
    ended: Notify,
    /// One change of a plan at a time, where a change depends on what was seen before.
    turns: Mutex<BTreeMap<PlanId, Arc<tokio::sync::Mutex<()>>>>,
}

#[derive(Default)]
struct State {
    driven: BTreeMap<PlanId, Driven>,
    /// Why plans could not go on, the last ones.
    troubles: BTreeMap<PlanId, String>,
    stopping: bool,
}

struct Driven {
    engine: Engine,
    stop: Arc<dyn Fn(Stop) + Send + Sync>,
}

impl Foreman {
    /// Makes one for a house.
    pub fn new(house: Arc<dyn House>) -> Self {
        let (state, ended, turns) = (Mutex::default(), Notify::new(), Mutex::default());
        Self(Arc::new(Inner { house, state, ended, turns }))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up every plan that was under way when its process went away; says how many, and which cannot go on.
    pub async fn take_up_orphans(&self) -> Result<(usize, Vec<(PlanId, Problem)>), EngineError> {
        let engine = self.0.house.engine();
        let (mut taken, mut unable) = (0, Vec::new());
        for (_, plan) in engine.orphans().await? {
            // What was only made from another plan was never under way.
            if is_new_fork(&engine.store().plan(plan.as_str()).await?) {
                continue;
            }
            match self.drive(&plan, Vec::new()).await {
                Ok(()) => taken += 1,
                Err(problem) => {
                    self.remember(&plan, &problem.detail);
                    unable.push((plan, problem));
                }
            }
        }
        Ok((taken, unable))
    }

    /// Drives a plan from wherever it stands, after these inputs. One that is driven already is told them.
    pub async fn drive(&self, plan: &PlanId, mut first: Vec<Input>) -> Result<(), Problem> {
        loop {
            if self.state().stopping {
                return Err(Problem::new(
                    axum::http::StatusCode::SERVICE_UNAVAILABLE,
                    "server::stopping",
                    "the server is about to stop",
                ));
            }
            let engine = self.0.house.engine_for(plan).await?;
            // Nobody sits here to be told, so it is written down when the plan begins.
            if first.contains(&Input::Start)
                && let Some(text) = self.0.house.confinement(&engine, plan).await?
            {
                first.insert(0, Input::Note { task: None, by: NOTED_BY.to_owned(), text });
            }
            match engine.drive(plan, Until::Ended, first.clone()).await {
                Ok(driving) => {
                    self.watch_over(plan, engine, driving);
                    return Ok(());
                }
                // Someone drives it: here since a moment ago, or in another process, which hears it all the same.
                Err(EngineError::Driven { .. }) => {
                    let mut heard = true;
                    for input in std::mem::take(&mut first) {
                        heard &= engine.tell(plan, input).await? == Tell::Driven;
                    }
                    if heard {
                        return Ok(());
                    }
                    // Whoever drove it has just gone: what was said is on record, and someone has to go on with it.
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Knows a plan as driven until it is not any more.
    fn watch_over(&self, plan: &PlanId, engine: Engine, driving: Driving) {
        let stop: Arc<dyn Fn(Stop) + Send + Sync> = Arc::new(driving.stopper());
        {
            let mut state = self.state();
            state.troubles.remove(plan);
            state.driven.insert(plan.clone(), Driven { engine, stop: Arc::clone(&stop) });
            if state.stopping {
                stop(Stop::Leave);
            }
        }
        let (foreman, plan) = (self.clone(), plan.clone());
        tokio::spawn(async move {
            if let Err(error) = driving.ended().await {
                foreman.remember(&plan, &error.to_string());
            }
            {
                // Between its end and this, someone may have begun to drive it again.
                let mut state = foreman.state();
                if state.driven.get(&plan).is_some_and(|driven| Arc::ptr_eq(&driven.stop, &stop)) {
                    state.driven.remove(&plan);
                }
            }
            foreman.0.ended.notify_waiters();
        });
    }

    /// Says something to a plan, and sees to it that what follows from it is done.
    pub async fn tell(&self, plan: &PlanId, input: Input) -> Result<Tell, Problem> {
        let here = self.state().driven.get(plan).map(|driven| driven.engine.clone());
        let engine = here.unwrap_or_else(|| self.0.house.engine().clone());
        let told = engine.tell(plan, input).await?;
        if told == Tell::Recorded {
            let card = engine.store().plan(plan.as_str()).await?;
            let is_inside = card.card.parent.is_some();
            if matches!(card.card.state, PlanState::Running | PlanState::Blocked) && !is_inside && !is_new_fork(&card) {
                // It is recorded whatever becomes of this; that nobody goes on with it is told where plans are shown.
                if let Err(problem) = self.drive(plan, Vec::new()).await {
                    self.remember(plan, &problem.detail);
                }
            }
        }
        Ok(told)
    }

    /// Lets go of a plan that is driven here, once what runs has finished; false when that takes too long.
    pub async fn release(&self, plan: &PlanId) -> bool {
        let Some(stop) = self.state().driven.get(plan).map(|driven| Arc::clone(&driven.stop)) else { return true };
        stop(Stop::Leave);
        self.wait_until(Instant::now() + RELEASED_WITHIN, || !self.is_driven(plan)).await;
        !self.is_driven(plan)
    }

    /// The turn to change a plan: whoever holds it is the only one in this process who does.
    pub async fn turn(&self, plan: &PlanId) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut turns = self.0.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(turns.entry(plan.clone()).or_default())
        };
        lock.lock_owned().await
    }

    /// Tells whether a plan is driven here.
    pub fn is_driven(&self, plan: &PlanId) -> bool {
        self.state().driven.contains_key(plan)
    }

    /// How many plans are driven here.
    pub fn driven(&self) -> usize {
        self.state().driven.len()
    }

    /// Why a plan could not go on here, if it could not.
    pub fn trouble(&self, plan: &PlanId) -> Option<String> {
        self.state().troubles.get(plan).cloned()
    }

    fn remember(&self, plan: &PlanId, why: &str) {
        let mut state = self.state();
        while state.troubles.len() >= TROUBLES_MAX {
            state.troubles.pop_first();
        }
        state.troubles.insert(plan.clone(), why.to_owned());
    }

    /// Starts nothing more, and waits for what runs to finish, at most this long; then stops it. Says how many plans
    /// had to be stopped in the middle of something.
    pub async fn stop(&self, within: std::time::Duration) -> usize {
        let until = Instant::now() + within;
        let stops: Vec<_> = {
            let mut state = self.state();
            state.stopping = true;
            state.driven.values().map(|driven| Arc::clone(&driven.stop)).collect()
        };
        for stop in &stops {
            stop(Stop::Leave);
        }
        self.wait_until_none(until).await;
        let left: Vec<_> = self.state().driven.values().map(|driven| Arc::clone(&driven.stop)).collect();
        for stop in &left {
            stop(Stop::Now);
        }
        if !left.is_empty() {
            self.wait_until_none(Instant::now() + std::time::Duration::from_secs(2)).await;
        }
        left.len()
    }

    async fn wait_until_none(&self, until: Instant) {
        self.wait_until(until, || self.driven() == 0).await;
    }

    /// Waits until something holds that changes when a plan is not driven any more, or until it is too late.
    async fn wait_until(&self, until: Instant, holds: impl Fn() -> bool) {
        loop {
            // From here on no end is missed, and only then it is looked.
            let ended = self.0.ended.notified();
            if holds() || tokio::time::timeout_at(until, ended).await.is_err() {
                return;
            }
        }
    }
}
