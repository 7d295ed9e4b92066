//! Makes the plan of a topic in this process: no server, no chat, and what is there when it returns is the whole plan.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::{Change, Decision, GateDecision, Input};
use gantry_core::life::{Life, PlanState, State, TaskState, Waiting};
use gantry_core::plan::{Action, Input as Given, Model, Plan};
use gantry_engine::{Engine, EngineError, NewPlan, Origin, Until};
use gantry_planner::decompose::{Decomposition, Outcome, TOOL};
use gantry_planner::facts::Asked;
use gantry_planner::intake;
use gantry_planner::template::{Detail, Template};
use gantry_store::{ListFilter, StoreError};
use jiff::civil::Date;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::message::{KEY, RUN};
use crate::score::{Score, score};
use crate::topics::Topic;

/// How long it is waited between two looks at a plan that somebody else goes on with.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How much is told of what a plan waits for.
const WAITS_MAX: usize = 3;

/// A longer title is a whole request, and the plan gets one that was read out of it.
const TITLE_MAX: usize = 120;

/// How plans are made.
pub struct Direct {
    /// Carries out.
    pub engine: Engine,
    /// The way from a topic to a plan.
    pub template: Template,
    /// How much is worked out, where the template has levels of it.
    pub detail: Detail,
    /// How tasks are broken down, where that is not as usual.
    pub settings: Map<String, Value>,
    /// Where plans come from.
    pub origin: Origin,
    /// The day.
    pub today: Date,
    /// The run: the same run and topic is the same plan.
    pub run: String,
    /// How often what failed is tried again.
    pub retries_max: u32,
    /// Has models do the tasks when the plan is there.
    pub execute: bool,
    /// Plans of this run by topic, as far as they had to be looked for.
    pub known: OnceCell<BTreeMap<String, PlanId>>,
}

/// What came of a topic.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The plan, also where it is of no use.
    pub plan: Option<(PlanId, u64)>,
    /// How many tasks were made.
    pub tasks: u32,
    /// Why breaking down ended.
    pub stopped_reason: String,
    /// Why it came to nothing.
    pub error: Option<String>,
    /// How often it was tried again.
    pub retries: u32,
    /// Why the offline model made it instead of the one that was asked, where it did.
    pub degraded: Option<String>,
    /// How good the plan is.
    pub score: Option<Score>,
    /// Everything that was said about it.
    pub answer: Value,
}

impl Made {
    fn nothing(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::default() }
    }
}

/// The label of the plans of a run.
pub fn label(run: &str) -> String {
    format!("bulk-{run}")
}

impl Direct {
    /// One that only looks at what is there.
    pub fn looking(engine: Engine, template: Template, origin: Origin, today: Date) -> Self {
        let (settings, known) = (Map::new(), OnceCell::new());
        let (detail, run) = (Detail::default(), String::new());
        Self { engine, template, detail, settings, origin, today, run, retries_max: 0, execute: false, known }
    }

    /// Makes the plan of a topic, or goes on with it.
    pub async fn make(&self, topic: &Topic, key: &str) -> Made {
        let plan = match self.plan(topic, key) {
            Ok(plan) => plan,
            Err(why) => return Made::nothing(why),
        };
        let id = match self.create(plan, key).await {
            Ok(id) => id,
            Err(error) => return Made::nothing(error.to_string()),
        };
        let made = match self.carried_out(&id).await {
            Ok(made) if self.execute && made.error.is_none() => Box::pin(self.executed(&id, made)).await,
            other => other,
        };
        match made {
            Ok(made) => made,
            Err(error) => Made { plan: None, ..Made::nothing(format!("plan `{id}`: {error}")) },
        }
    }

    fn plan(&self, topic: &Topic, key: &str) -> Result<Plan, String> {
        let asked = Asked::new(topic.request(), self.today);
        let said = |unfit: intake::Unfit| unfit.message;
        let mut plan = intake::plan(&self.template, &asked, self.detail, &[]).map_err(said)?;
        if topic.title.chars().count() <= TITLE_MAX {
            plan.title.clone_from(&topic.title);
        }
        plan.owner = (!topic.owner.is_empty()).then(|| topic.owner.clone());
        plan.labels.push(label(&self.run));
        plan.metadata.extend(topic.metadata.clone());
        if !topic.description.is_empty() {
            plan.metadata.insert("description".to_owned(), json!(topic.description));
        }
        plan.metadata.extend([(RUN.to_owned(), json!(self.run)), (KEY.to_owned(), json!(key))]);
        for task in &mut plan.tasks {
            if let Some(Action::Tool(tool)) = &mut task.action
                && tool.name == TOOL
                && !self.settings.is_empty()
            {
                tool.args.insert("settings".to_owned(), Given::Value(Value::Object(self.settings.clone())));
            }
        }
        Ok(plan)
    }

    /// The plan of a topic: there is one for each run and topic, whatever was tried before.
    async fn create(&self, plan: Plan, key: &str) -> Result<PlanId, EngineError> {
        let once = format!("bulk {} {key}", self.run);
        let new = NewPlan { plan, origin: self.origin.clone(), once: Some(once) };
        match self.engine.create(new).await {
            // The same topic was asked for on another day, or with other settings: that plan is taken as it is.
            Err(EngineError::Store(StoreError::KeyReused { key: used })) => {
                let known = self.known.get_or_try_init(|| self.look()).await?;
                known.get(key).cloned().ok_or(EngineError::Store(StoreError::KeyReused { key: used }))
            }
            other => other,
        }
    }

    async fn look(&self) -> Result<BTreeMap<String, PlanId>, EngineError> {
        let (mut known, mut cursor) = (BTreeMap::new(), None);
        loop {
            let filter = ListFilter { label: Some(label(&self.run)), cursor, ..ListFilter::default() };
            let page = self.engine.store().list(filter).await?;
            for card in page.items {
                let life = self.engine.open(&card.id).await?.life;
                if let Some(key) = life.header().metadata.get(KEY).and_then(Value::as_str) {
                    known.insert(key.to_owned(), card.id);
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(known);
            }
        }
    }

    async fn carried_out(&self, id: &PlanId) -> Result<Made, EngineError> {
        let mut retries = 0;
        loop {
            let opened = self.engine.open(id).await?;
            let first = match opened.life.state() {
                PlanState::Pending => vec![Input::Start],
                PlanState::Failed if retries < self.retries_max => {
                    retries += 1;
                    failed(&opened.life).map(again).collect()
                }
                PlanState::Running => Vec::new(),
                _ => return Ok(Made { retries, ..told(&opened.life, opened.no.0) }),
            };
            match self.engine.drive(id, Until::Stuck, first).await {
                Ok(driving) => driving.ended().await?,
                // Somebody else goes on with it, such as a server that took it up when it started again.
                Err(EngineError::Driven { .. }) => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let opened = self.engine.open(id).await?;
            if opened.life.state() != PlanState::Failed || retries >= self.retries_max {
                return Ok(Made { retries, ..told(&opened.life, opened.no.0) });
            }
        }
    }

    /// Has models do what would be for people to do.
    async fn executed(&self, id: &PlanId, made: Made) -> Result<Made, EngineError> {
        self.accepted(id).await?;
        let life = self.engine.open(id).await?.life;
        let mut plan = life.plan();
        let wholes: BTreeSet<TaskId> = plan.tasks.iter().filter_map(|task| task.parent.clone()).collect();
        let for_people = |task: &&mut gantry_core::plan::Task| {
            matches!(task.action, None | Some(Action::Manual(_))) && !wholes.contains(&task.id)
        };
        for task in plan.tasks.iter_mut().filter(for_people) {
            let words = task.description.clone().unwrap_or_else(|| task.name().to_owned());
            task.action = Some(Action::Model(Model { instruction: Some(words), ..Model::default() }));
        }
        if plan != life.plan() {
            let rationale = "models do the tasks".to_owned();
            let (base, change) = (life.revision(), Change::To(Box::new(plan)));
            self.engine.tell(id, Input::Revise { by: self.origin.by.clone(), rationale, base, change }).await?;
        }
        self.engine.drive(id, Until::Stuck, Vec::new()).await?.ended().await?;
        let opened = self.engine.open(id).await?;
        let (no, life) = (opened.no, opened.life);
        let error = match (life.state(), life.causes().first()) {
            (PlanState::Completed, _) => None,
            (_, Some(cause)) => Some(format!("carrying it out: {cause}")),
            (state, None) => {
                let card = self.engine.store().plan(id.as_str()).await?.card;
                let waits: Vec<&str> = card.waiting.iter().take(WAITS_MAX).map(|one| one.what.as_str()).collect();
                let waits =
                    if waits.is_empty() { String::new() } else { format!(" and waits for {}", waits.join("; ")) };
                Some(format!("carrying it out: it is {state}{waits}; see `gantry status {no}`"))
            }
        };
        Ok(Made { error, ..made })
    }

    /// Accepts a plan that was made and waits to become this one: whoever has it carried out has it accepted.
    async fn accepted(&self, id: &PlanId) -> Result<(), EngineError> {
        let life = self.engine.open(id).await?.life;
        let waits = |gate: &TaskId| {
            let known = life.task_life(gate.as_str());
            known.is_some_and(|known| matches!(known.state, State::Waiting(Waiting::Gate { .. })))
        };
        let gates: Vec<TaskId> = life.task_ids().into_iter().filter(waits).collect();
        if gates.is_empty() || life.proposed() == life.plan() {
            return Ok(());
        }
        let decisions = gates.into_iter().map(|gate| GateDecision {
            gate,
            decision: Decision::Approve,
            rationale: "it is to be carried out".to_owned(),
            evidence: Vec::new(),
            revision: Some(life.revision()),
        });
        let review = Input::Review { by: self.origin.by.clone(), role: None, decisions: decisions.collect() };
        self.engine.drive(id, Until::Stuck, vec![review]).await?.ended().await?;
        Ok(())
    }
}

fn failed(life: &Life) -> impl Iterator<Item = TaskId> {
    let ids = life.task_ids();
    let failed = |id: &TaskId| life.task_state(id.as_str()) == Some(TaskState::Failed);
    ids.into_iter().filter(failed).collect::<Vec<_>>().into_iter()
}

fn again(task: TaskId) -> Input {
    Input::Retry { task, by: String::new(), why: String::new() }
}

/// What came of a plan.
fn told(life: &Life, no: u64) -> Made {
    let plan = Some((life.id().clone(), no));
    let calls = |task: &gantry_core::plan::Task| matches!(&task.action, Some(Action::Tool(tool)) if tool.name == TOOL);
    let plan_now = life.plan();
    let step = plan_now.tasks.iter().find(|task| calls(task)).map(|task| task.id.clone());
    let result = step.and_then(|step| life.outputs(step.as_str())?.get("result").cloned());
    let error = match life.state() {
        PlanState::Failed | PlanState::Abandoned => {
            Some(life.causes().first().cloned().unwrap_or_else(|| format!("it is {}", life.state())))
        }
        _ => None,
    };
    let degraded = life.task_ids().iter().find_map(|task| life.task_life(task.as_str())?.shortfall.clone());
    let proposed = life.proposed();
    let score = Some(score(&proposed.work()));
    let Some(result) = result else {
        let steps = u32::try_from(plan_now.tasks.len()).unwrap_or(u32::MAX);
        let all = u32::try_from(proposed.tasks.len()).unwrap_or(u32::MAX);
        let answer = json!({"plan_id": life.id(), "state": life.state().to_string()});
        return Made {
            plan,
            tasks: all.saturating_sub(steps).max(u32::from(error.is_none())),
            error,
            answer,
            score,
            degraded,
            ..Made::default()
        };
    };
    let made: Option<Decomposition> = serde_json::from_value(result.clone()).ok();
    let tasks = made.as_ref().map_or(0, |made| u32::try_from(made.created_tasks.len()).unwrap_or(u32::MAX));
    let reason = made.as_ref().map(|made| made.stopped_reason.clone()).unwrap_or_default();
    let nothing = (tasks == 0 || made.is_some_and(|made| made.outcome == Outcome::Failed))
        .then(|| format!("nothing was broken down: {reason}"));
    // Why nobody answered says more than which step failed because of that.
    let error = nothing.or(error);
    Made { plan, tasks, stopped_reason: reason, error, answer: result, score, degraded, ..Made::default() }
}
