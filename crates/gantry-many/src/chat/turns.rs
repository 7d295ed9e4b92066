//! One thing that is said, as a small plan: a model reads it, and a note of its journal keeps what was answered.
//!
//! All of them are parts of one plan that is called Conversations, so that they stand beside nobody's plans.

use std::collections::BTreeMap;

use gantry_core::event::Event;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::{Change, Input};
use gantry_core::life::{Life, PlanState};
use gantry_core::plan::{Action, Input as Given, Model, Plan, Task, diff};
use gantry_engine::{EngineError, NewPlan, Origin, Until};
use gantry_store::{ListFilter, StoreError};
use serde_json::{Value, json};

use super::hands::{Hands, Trouble};
use super::{Said, operations, sessions};
use crate::chat::carry_out::Proposed;

/// The only step of a turn.
const STEP: &str = "understand";
/// The prompt that a model is asked with.
const PROMPT: &str = "chat";
/// The label of everything that is said.
pub const LABEL: &str = "chat";
/// The label of the plan that all of it is a part of, and its task.
const ROOT: &str = gantry_view::standing::CONVERSATIONS;
/// Where a turn keeps what was said.
pub const SAID: &str = "chat";
/// Where a turn keeps which talk it belongs to.
pub const SESSION: &str = "session_id";
/// How many of the newest plans a model is told of.
const PLANS_MAX: u32 = 20;
/// How much of what was said before a model is told.
const HISTORY_MAX: usize = 8;
const HISTORY_CHARS_MAX: usize = 1_000;
/// How many lines of the plan that a talk is about a model is told.
const OUTLINE_LINES_MAX: usize = 60;

/// One thing that is said.
pub struct Turn {
    plan: PlanId,
    said: Said,
    session: String,
}

/// The plan that a talk is about: its number and its id.
pub type Bound = (u64, PlanId);

/// What is proposed.
pub struct Proposal {
    /// What the model says about it.
    pub message: String,
    /// Who proposes it.
    pub answered_by: Value,
    /// The actions, in their order.
    pub actions: Vec<Proposed>,
}

impl Turn {
    /// Begins a turn, or finds the one that this key began.
    pub async fn begun(hands: &dyn Hands, said: &Said, key: Option<&str>) -> Result<Self, Trouble> {
        let engine = hands.engine();
        let root = root(hands).await?;
        let mut step = Task::new(TaskId::slugged(STEP));
        step.action = Some(Action::Model(Model { prompt: Some(PROMPT.to_owned()), ..Model::default() }));
        let mut inputs = vec![("message", json!(said.message.trim()))];
        inputs.extend(said.context.plan_title.as_ref().map(|title| ("title", json!(title))));
        step.inputs = given(inputs);
        // Which talk it belongs to is no part of what is asked for: the same key may come again in another one.
        let asked = Said { session_id: None, history: Vec::new(), ..said.clone() };
        let plan = Plan {
            title: format!("Chat: {}", gantry_view::first_line(said.message.trim(), 60)),
            labels: vec![LABEL.to_owned()],
            metadata: BTreeMap::from([(SAID.to_owned(), json!(asked))]).into_iter().collect(),
            tasks: vec![step],
            ..Plan::default()
        };
        let parent = Some((root, TaskId::slugged(ROOT)));
        let origin = Origin { parent, ..hands.origin()? };
        // A key is of whoever sends it: nobody is given the answer of someone else.
        let once = key.map(|key| format!("chat:{}:{key}", hands.by()));
        let created = engine.create(NewPlan { plan, origin, once }).await;
        let plan = created.map_err(|error| match error {
            EngineError::Store(StoreError::KeyReused { .. }) => {
                Trouble::new(409, "store::key-reused", "this key was sent with another message before")
                    .hint("choose a new key for a new message")
            }
            error => hands.trouble(error),
        })?;
        let session = Self::placed(hands, &plan, said).await?;
        Ok(Self { plan, said: said.clone(), session })
    }

    /// Gives a new turn its talk and what a model has to know; says which talk it belongs to.
    async fn placed(hands: &dyn Hands, plan: &PlanId, said: &Said) -> Result<String, Trouble> {
        let _alone = hands.turn(plan).await;
        let life = hands.engine().open(plan).await.map_err(|error| hands.trouble(error))?.life;
        if let Some(session) = life.header().metadata.get(SESSION).and_then(Value::as_str) {
            return Ok(session.to_owned());
        }
        let fresh = || format!("chat-{}", &blake3::hash(plan.as_str().as_bytes()).to_hex()[..12]);
        let session = said.session_id.as_deref().map_or_else(fresh, |session| session.trim().to_owned());
        let mut now = life.plan();
        now.labels.push(sessions::label(hands.by(), &session));
        now.metadata.insert(SESSION.to_owned(), json!(session));
        let mut known = vec![("operations", operations::told())];
        known.extend(filled("plans", plans(hands).await?));
        if let Some(bound) = bound(hands, said, &session).await? {
            known.extend(filled("bound", outline(hands, &bound.1).await?));
        }
        let history = history(hands, said, &session).await?;
        known.extend((!history.is_empty()).then(|| ("history", Value::Array(history))));
        for task in &mut now.tasks {
            task.inputs.extend(given(known.clone()));
        }
        let change = Change::By(Box::new(diff(&life.plan(), &now)));
        let rationale = "what has to be known to answer".to_owned();
        let input = Input::Revise { by: hands.by().to_owned(), rationale, base: life.revision(), change };
        hands.engine().tell(plan, input).await.map_err(|error| hands.trouble(error))?;
        Ok(session)
    }

    /// The plan that it is.
    pub fn plan(&self) -> &PlanId {
        &self.plan
    }

    /// The talk that it belongs to.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// What was said.
    pub fn said(&self) -> &Said {
        &self.said
    }

    /// What it was answered, if it was.
    pub async fn answered(&self, hands: &dyn Hands) -> Result<Option<Value>, Trouble> {
        let entries = gantry_engine::entries(&**hands.engine().store(), &self.plan).await;
        let entries = entries.map_err(|error| hands.trouble(error))?;
        Ok(entries.iter().rev().find_map(|entry| match &entry.event {
            Event::NoteAdded { task: None, text, .. } => answer_in(text),
            _ => None,
        }))
    }

    /// What a model proposes.
    pub async fn proposed(&self, hands: &dyn Hands) -> Result<Proposal, Trouble> {
        let engine = hands.engine_for(&self.plan).await?;
        let open = async || engine.open(&self.plan).await.map_err(|error| hands.trouble(error));
        let first = match open().await?.life.state() {
            PlanState::Pending => vec![Input::Start],
            PlanState::Failed => {
                vec![Input::Retry { task: TaskId::slugged(STEP), by: hands.by().to_owned(), why: String::new() }]
            }
            _ => Vec::new(),
        };
        let life = open().await?.life;
        if life.state() != PlanState::Completed {
            let driving = match engine.drive(&self.plan, Until::Stuck, first).await {
                Err(EngineError::Driven { .. }) => {
                    return Err(Trouble::new(409, "chat::under-way", "this message is being answered already")
                        .hint("send it again in a moment, with the same key"));
                }
                driving => driving.map_err(|error| hands.trouble(error))?,
            };
            driving.ended().await.map_err(|error| hands.trouble(error))?;
        }
        let life = open().await?.life;
        read(&life)
    }

    /// The plan that is meant where none is named.
    pub async fn bound(&self, hands: &dyn Hands) -> Result<Option<Bound>, Trouble> {
        bound(hands, &self.said, &self.session).await
    }
}

/// What stands in a note of a turn, if it is an answer.
pub fn answer_in(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    value["response"].is_string().then_some(value)
}

/// What a model answered.
fn read(life: &Life) -> Result<Proposal, Trouble> {
    let outputs = life.outputs(STEP).filter(|outputs| outputs.contains_key("llm_reply"));
    let Some(outputs) = outputs else {
        let waits = || gantry_view::standing::about(life, &TaskId::slugged(STEP));
        let why = life.causes().first().cloned().unwrap_or_else(waits);
        let why = if why.is_empty() { "the model did not answer".to_owned() } else { why };
        return Err(Trouble::new(502, "chat::no-answer", why)
            .hint("see which models there are with `gantry model doctor`, then send the message again"));
    };
    let actions = outputs.get("actions").cloned().unwrap_or_default();
    let mut actions: Vec<Proposed> = serde_json::from_value(actions).map_err(|error| {
        Trouble::new(502, "chat::unusable-answer", format!("the model's answer cannot be read: {error}"))
    })?;
    actions.sort_by_key(|action| action.order);
    Ok(Proposal {
        message: outputs["llm_reply"]["message"].as_str().unwrap_or_default().to_owned(),
        answered_by: outputs.get("answered_by").cloned().unwrap_or_default(),
        actions,
    })
}

fn given(values: Vec<(&str, Value)>) -> BTreeMap<String, Given> {
    values.into_iter().map(|(name, value)| (name.to_owned(), Given::Value(value))).collect()
}

fn filled(name: &'static str, text: String) -> Option<(&'static str, Value)> {
    (!text.is_empty()).then(|| (name, json!(text)))
}

/// The plan that everything that is said is a part of.
async fn root(hands: &dyn Hands) -> Result<PlanId, Trouble> {
    let mut task = Task::new(TaskId::slugged(ROOT));
    task.description = Some("Keeps what was said about plans, and what was answered.".to_owned());
    let title = "Conversations".to_owned();
    let plan = Plan { title, labels: vec![ROOT.to_owned()], tasks: vec![task], ..Plan::default() };
    let new = NewPlan { plan, origin: Origin::default(), once: Some(ROOT.to_owned()) };
    hands.engine().create(new).await.map_err(|error| hands.trouble(error))
}

/// The plan that is named beside the message, or else the last one of the talk.
async fn bound(hands: &dyn Hands, said: &Said, session: &str) -> Result<Option<Bound>, Trouble> {
    let named = match &said.context.plan_id {
        Value::Null => sessions::last_plan(hands, session).await?,
        named => Some(named.clone()),
    };
    let Some(named) = named else { return Ok(None) };
    let name = match &named {
        Value::String(name) => name.clone(),
        Value::Number(no) => no.to_string(),
        _ => {
            return Err(Trouble::new(422, "chat::bad-plan", "`context.plan_id` is the number or the id of a plan"));
        }
    };
    match hands.engine().store().plan(&name).await {
        Ok(card) => Ok(Some((card.no.0, card.id))),
        // One that the talk was about may be gone by now.
        Err(StoreError::NotFound { .. }) if said.context.plan_id.is_null() => Ok(None),
        Err(error) => Err(hands.store_trouble(error)),
    }
}

/// The newest plans, in lines.
async fn plans(hands: &dyn Hands) -> Result<String, Trouble> {
    let cards = listed(hands, PLANS_MAX).await?;
    let line = |card: &gantry_store::PlanCard| {
        format!("- {}: {} ({})", card.no, gantry_view::first_line(&card.card.title, 100), card.card.state)
    };
    Ok(cards.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// The newest plans; parts of others and talks are left out.
pub async fn listed(hands: &dyn Hands, limit: u32) -> Result<Vec<gantry_store::PlanCard>, Trouble> {
    let (mut cards, mut filter) = (Vec::new(), ListFilter { limit: 200, ..ListFilter::default() });
    loop {
        let page = hands.engine().store().list(filter.clone()).await.map_err(|error| hands.store_trouble(error))?;
        cards.extend(page.items.into_iter().filter(|card| !gantry_view::standing::is_aside(card)));
        filter.cursor = page.next;
        if cards.len() >= limit as usize || filter.cursor.is_none() {
            cards.truncate(limit as usize);
            return Ok(cards);
        }
    }
}

async fn outline(hands: &dyn Hands, plan: &PlanId) -> Result<String, Trouble> {
    let opened = hands.engine().open(plan).await.map_err(|error| hands.trouble(error))?;
    let (no, life) = (opened.no, opened.life);
    let tasks = gantry_view::tree::outline(&life);
    let mut lines: Vec<&str> = tasks.lines().take(OUTLINE_LINES_MAX).collect();
    if lines.len() == OUTLINE_LINES_MAX {
        lines.push("…");
    }
    Ok(format!("plan {no}: {} ({})\n{}", life.header().title, life.state(), lines.join("\n")))
}

/// What was said before, the oldest first: as it is on record, or else as the client has it.
async fn history(hands: &dyn Hands, said: &Said, session: &str) -> Result<Vec<Value>, Trouble> {
    let cut = |text: &str| text.chars().take(HISTORY_CHARS_MAX).collect::<String>();
    let before = sessions::turns(hands, session, HISTORY_MAX).await?;
    let told = |turn: &sessions::Told| json!({"said": cut(&turn.message), "answered": turn.answer["response"].as_str().map(cut)});
    let mut all: Vec<Value> = before.iter().map(told).collect();
    if all.is_empty() {
        let short = |one: &Value| match one {
            Value::String(text) => json!(cut(text)),
            other => json!({"by": other["role"].as_str().map(cut), "text": other["content"].as_str().map(cut)}),
        };
        let skip = said.history.len().saturating_sub(HISTORY_MAX);
        all = said.history.iter().skip(skip).map(short).collect();
    }
    Ok(all)
}
