//! A world with a store in memory: engines come and go, the record stays.

pub mod faulty;
pub mod script;

use std::sync::Arc;

use gantry_core::event::{Entry, Event};
use gantry_core::id::PlanId;
use gantry_core::input::{Decision, GateDecision, Input};
use gantry_core::life::{Life, PlanState};
use gantry_core::time::Timestamp;
use gantry_engine::{Ending, Engine, NewPlan, Options, Origin, Stop, TokioClock, Until};
use gantry_runners::Runners;
use gantry_store::{MemoryStore, Store};

pub use faulty::{Failing, Faulty};
pub use script::{Act, Script};

pub struct World {
    pub store: Arc<Faulty>,
    pub script: Arc<Script>,
    pub engine: Engine,
    pub clock: TokioClock,
}

impl World {
    pub fn new() -> Self {
        Self::with_attempts_max(1_000)
    }

    pub fn with_attempts_max(attempts_max: u32) -> Self {
        let store = Arc::new(Faulty::over(Arc::new(MemoryStore::new())));
        let script = Arc::new(Script::default());
        let clock = TokioClock::starting_at(Timestamp::parse("2026-03-01T09:00:00Z").unwrap());
        let engine = engine(&store, &script, clock, attempts_max);
        Self { store, script, engine, clock }
    }

    /// A world in which only so many attempts may use these capabilities at once.
    pub fn with_capabilities<const N: usize>(limits: [(&str, u32); N]) -> Self {
        let world = Self::new();
        let capabilities = limits.into_iter().map(|(name, max)| (name.to_owned(), max)).collect();
        let options = Options { operator: "ana".to_owned(), capabilities, ..Options::default() };
        Self { engine: world.engine.working(options), ..world }
    }

    /// The process is gone with everything in its memory; another one starts on the same record.
    pub fn another_process(&mut self) {
        self.engine = engine(&self.store, &self.script, self.clock, 1_000);
    }

    /// The same at another time of the machine.
    pub fn another_process_at(&mut self, time: &str) {
        self.clock = TokioClock::starting_at(Timestamp::parse(time).unwrap());
        self.another_process();
    }

    pub async fn create(&self, yaml: &str) -> PlanId {
        let loaded = gantry_format::load("plan.yaml", yaml.as_bytes());
        let plan = loaded.plan.unwrap_or_else(|| panic!("{}", loaded.report.render(false)));
        self.engine.create(NewPlan { plan, origin: Origin::default(), once: None }).await.unwrap()
    }

    /// Starts a plan and goes on until it has ended or waits for someone.
    pub async fn run(&self, plan: &PlanId) -> Ending {
        self.drive(plan, vec![Input::Start]).await
    }

    /// Goes on with a plan.
    pub async fn resume(&self, plan: &PlanId) -> Ending {
        self.drive(plan, Vec::new()).await
    }

    pub async fn drive(&self, plan: &PlanId, first: Vec<Input>) -> Ending {
        self.engine.drive(plan, Until::Stuck, first).await.unwrap().ended().await.unwrap()
    }

    /// Runs a plan until this task has begun, then the process is killed.
    pub async fn kill_while_running(&mut self, plan: &PlanId, task: &str, first: Vec<Input>) {
        let driving = self.engine.drive(plan, Until::Ended, first).await.unwrap();
        self.script.begun(task).await;
        driving.stopper()(Stop::Now);
        assert_eq!(driving.ended().await.unwrap(), Ending::Stopped);
        self.another_process();
    }

    /// The plan inside a task, by the first attempt that drove one.
    pub async fn inside(&self, plan: &PlanId, task: &str) -> PlanId {
        let task = gantry_core::id::TaskId::new(task).unwrap();
        let calls = self.store.effects(plan, Some(&task), 0, 100).await.unwrap().items;
        let call = calls.into_iter().find(|call| call.kind == "plan").expect("no attempt drove a plan");
        PlanId::new(call.request["plan"].as_str().unwrap()).unwrap()
    }

    pub async fn life(&self, plan: &PlanId) -> Life {
        self.engine.open(plan).await.unwrap().life
    }

    pub async fn journal(&self, plan: &PlanId) -> Vec<Entry> {
        let page = self.store.turns(plan, 0, 1_000).await.unwrap();
        page.items.into_iter().flat_map(|turn| turn.entries).collect()
    }

    pub async fn count(&self, plan: &PlanId, like: impl Fn(&Event) -> bool) -> usize {
        self.journal(plan).await.iter().filter(|entry| like(&entry.event)).count()
    }
}

fn engine(store: &Arc<Faulty>, script: &Arc<Script>, clock: TokioClock, attempts_max: u32) -> Engine {
    let runners = Runners::none().with(Arc::clone(script) as _);
    let options = Options { operator: "ana".to_owned(), attempts_max, ..Options::default() };
    Engine::new(Arc::clone(store) as _, Arc::new(clock), runners, options)
}

pub fn completed() -> Ending {
    Ending::Ended { state: PlanState::Completed, causes: Vec::new() }
}

/// Waits for something that must come, however much of the runtime's time that takes.
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    let patience = std::time::Duration::from_hours(24);
    tokio::time::timeout(patience, future).await.expect("it never came")
}

pub fn approve(gate: &str) -> Input {
    Input::Review {
        by: "ben".to_owned(),
        role: None,
        decisions: vec![GateDecision {
            gate: gantry_core::id::TaskId::new(gate).unwrap(),
            decision: Decision::Approve,
            rationale: "good".to_owned(),
            evidence: Vec::new(),
            revision: None,
        }],
    }
}
