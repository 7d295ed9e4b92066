//! Talks about plans: what someone says becomes actions, carried out by the same functions as every other route.

use std::time::Duration;

use async_trait::async_trait;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_engine::{Engine, EngineError, Origin};
use gantry_many::chat::{self, Answer, Hands, Said as Words, Trouble};
use gantry_planner::template::Template;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{plans, steer};
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::Items;

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/chat/message",
        Role::Operator,
        message,
        Does::new(
            "chat",
            "Say something about plans: a model proposes actions, and they are carried out \
             before it is answered",
        )
        .about(
            "Where nothing of it could be done the answer is a problem, with what became of \
             each action in `errors`.",
        )
        .header("Idempotency-Key", "The same key with the same message again gives the answer that it gave first.")
        .takes::<Words>()
        .gives::<ChatAnswer>(200, "What was done.")
        .gives::<ChatAnswer>(207, "Some of it was done, and some was not."),
    )
    .get(
        "/chat/sessions",
        Role::Viewer,
        sessions,
        Does::new("chat", "Your talks, the newest first").gives::<Items>(200, "The talks."),
    )
    .get(
        "/chat/sessions/{name}",
        Role::Viewer,
        session,
        Does::new("chat", "What was said in a talk of yours, and what was answered")
            .gives::<Items>(200, "The oldest first."),
    )
}

/// How long a plan that begins may take to come to rest before it is told as it stands.
const SETTLES_WITHIN: Duration = Duration::from_secs(20);
/// How often it is looked at least.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// What was done, and what was not.
#[derive(Debug, Deserialize, ToSchema)]
#[allow(dead_code)] // says how the answer reads; gantry-many makes it
pub struct ChatAnswer {
    /// Everything in words.
    pub response: String,
    /// What the model said: `message`.
    pub llm_reply: Value,
    /// What became of each action: `status` is done, refused, failed or skipped.
    pub actions: Vec<Value>,
    /// The talk.
    pub session_id: String,
    /// `plan_id` is the number of the plan that was made, or that it is about; `status` is completed or partial.
    pub metadata: Value,
}

impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        let status = StatusCode::from_u16(trouble.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let problem = Self::new(status, &trouble.code, trouble.message).maybe_hint(trouble.hint);
        match trouble.actions {
            Some(actions) => problem.with_errors(*actions),
            None => problem,
        }
    }
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self { hint: problem.hint, ..Self::new(problem.status, &problem.code, problem.detail) }
    }
}

/// This server, for whoever asks.
pub struct ByServer {
    app: App,
    who: Who,
}

impl ByServer {
    /// For whoever asks.
    pub fn of(app: &App, who: &Who) -> Self {
        Self { app: app.clone(), who: who.clone() }
    }
}

fn troubled(problem: impl Into<Problem>) -> Trouble {
    problem.into().into()
}

#[async_trait]
impl Hands for ByServer {
    fn engine(&self) -> &Engine {
        self.app.engine()
    }

    async fn engine_for(&self, plan: &PlanId) -> Result<Engine, Trouble> {
        self.app.house.engine_for(plan).await.map_err(troubled)
    }

    fn by(&self) -> &str {
        &self.who.name
    }

    fn may_change(&self) -> Result<(), Trouble> {
        if self.who.role >= Role::Operator {
            return Ok(());
        }
        let detail = format!("{} is {}, and this takes the role {}", self.who.name, self.who.role, Role::Operator);
        Err(Trouble::new(403, "access::role", detail).hint("ask an admin for the role"))
    }

    fn origin(&self) -> Result<Origin, Trouble> {
        self.app.house.origin(&self.who.name).map_err(troubled)
    }

    fn templates(&self) -> Result<Vec<Template>, Trouble> {
        self.app.house.templates().map_err(troubled)
    }

    fn today(&self) -> Date {
        self.app.house.today()
    }

    async fn tell(&self, plan: &PlanId, input: Input) -> Result<(), Trouble> {
        self.app.foreman.tell(plan, input).await.map(drop).map_err(troubled)
    }

    async fn go_on(&self, plan: &PlanId) -> Result<(), Trouble> {
        let mut happenings = self.app.engine().watch();
        steer::go_on(&self.app, &self.who, plan).await?;
        let until = tokio::time::Instant::now() + SETTLES_WITHIN;
        while tokio::time::Instant::now() < until {
            let card = self.app.plan(plan.as_str()).await?;
            if !matches!(card.card.state, PlanState::Running | PlanState::Pending) {
                break;
            }
            // Whatever happens, or nothing for a while, is a reason to look again.
            drop(tokio::time::timeout(LOOK_AGAIN, happenings.recv()).await);
        }
        Ok(())
    }

    async fn turn(&self, plan: &PlanId) -> Box<dyn Send> {
        Box::new(self.app.foreman.turn(plan).await)
    }

    fn trouble(&self, error: EngineError) -> Trouble {
        troubled(error)
    }
}

/// Answers what someone says.
pub async fn message(
    State(app): State<App>,
    who: Who,
    headers: HeaderMap,
    Said(words): Said<Words>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let once = plans::once(&headers)?;
    let Answer { status, body } = Box::pin(chat::say(&ByServer::of(&app, &who), words, once.as_deref())).await?;
    Ok((StatusCode::from_u16(status).unwrap_or(StatusCode::OK), Told(body)))
}

/// The talks of whoever asks.
pub async fn sessions(State(app): State<App>, who: Who) -> Result<Told<Value>, Problem> {
    Ok(Told(json!({"items": chat::sessions(&ByServer::of(&app, &who)).await?})))
}

/// One talk of whoever asks.
pub async fn session(State(app): State<App>, who: Who, Named(name): Named<String>) -> Result<Told<Value>, Problem> {
    let turns = chat::session(&ByServer::of(&app, &who), &name).await?;
    Ok(Told(json!({"items": turns.iter().map(chat::Told::told).collect::<Vec<_>>()})))
}
