//! Talks about plans. Someone says something; a model proposes actions; code checks them, carries them out with the rights of
//! whoever asks, by the same functions as every other surface, and tells what came of each.
//!
//! Everything that is said is a small plan of its own ([`turns`]), so it is on record, asked for and paid for once, and taken
//! up where it stands. What can be done stands in one table ([`operations`]).
//!
//! Invariant: the same key is carried out once, however often it is sent; what it was answered is answered again.
//! Invariant: nothing is left out silently: an action or parameter that is not carried out is told, with the reason.

pub mod operations; // in reading order
pub mod hands;
pub mod turns;
mod carry_out;
mod create;
mod sessions;

use gantry_core::input::Input;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

pub use hands::{Hands, Trouble};
pub use sessions::{Session, Told, said_before, said_in, session, sessions};

use carry_out::Outcome;
use turns::Turn;

/// How long a message may be.
pub const MESSAGE_BYTES_MAX: usize = 200_000;
/// How long the name of a session may be.
const SESSION_CHARS_MAX: usize = 200;

/// What someone says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
#[schema(as = ChatMessage)]
pub struct Said {
    /// The words.
    #[schema(required)]
    pub message: String,
    /// How it is answered; there is only `assistant`.
    pub mode: Option<String>,
    /// What was said before, for clients that keep that themselves.
    pub history: Vec<Value>,
    /// Which talk it belongs to; a new one where nothing is said.
    pub session_id: Option<String>,
    /// What it is about.
    pub context: Context,
    /// What nobody knows; it is told.
    #[serde(flatten, skip_serializing)]
    #[schema(ignore)]
    pub unknown: Map<String, Value>,
}

/// What a message is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
#[schema(as = ChatContext)]
pub struct Context {
    /// What a plan that is made is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_title: Option<String>,
    /// The plan that is meant where none is named.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub plan_id: Value,
    /// What is kept with a plan that is made.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// What nobody knows; it is told.
    #[serde(flatten, skip_serializing)]
    #[schema(ignore)]
    pub unknown: Map<String, Value>,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// 200 when everything was done, 207 when some of it was.
    pub status: u16,
    /// The body.
    pub body: Value,
}

/// Answers what someone says. Where nothing of what is asked for could be done, that is a trouble and no answer; the
/// trouble has the actions with it.
pub async fn say(hands: &dyn Hands, said: Said, key: Option<&str>) -> Result<Answer, Trouble> {
    check(&said)?;
    let unused: Vec<String> = unused(&said);
    let turn = Box::pin(Turn::begun(hands, &said, key)).await?;
    let _alone = hands.turn(turn.plan()).await;
    if let Some(answer) = turn.answered(hands).await? {
        return ended(answer);
    }
    let proposal = turn.proposed(hands).await?;
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut stopped: Option<String> = None;
    let mut bound = turn.bound(hands).await?;
    for action in proposal.actions {
        let outcome = match &stopped {
            Some(why) => Outcome::skipped(action, why),
            None => carry_out::carried_out(hands, &turn, bound.as_ref(), action).await,
        };
        if outcome.problem.is_some() && outcome.action.blocking {
            stopped = Some(format!("{}.{} was not done", outcome.action.kind, outcome.action.name));
        }
        if let Some(plan) = &outcome.plan {
            bound = Some(plan.clone());
        }
        outcomes.push(outcome);
    }
    let body = body(&turn, &proposal.message, &proposal.answered_by, &outcomes, &unused);
    // What may pass is not the answer for ever: the same request again tries again.
    if body["status"].as_u64().is_none_or(|status| status < 500) {
        let text = body.to_string();
        hands.tell(turn.plan(), Input::Note { task: None, by: hands.by().to_owned(), text }).await?;
    }
    ended(body)
}

/// The answer, or the trouble that it is.
fn ended(mut body: Value) -> Result<Answer, Trouble> {
    let status = body["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(500);
    if let Some(fields) = body.as_object_mut() {
        fields.remove("status");
    }
    if (200..300).contains(&status) {
        return Ok(Answer { status, body });
    }
    let first = body["actions"].as_array().and_then(|all| all.iter().find(|one| !one["problem"].is_null()));
    let problem = first.map(|one| one["problem"].clone()).unwrap_or_default();
    let word = |name: &str| problem[name].as_str().map(str::to_owned);
    Err(Trouble {
        status,
        code: word("code").unwrap_or_else(|| "chat::not-done".to_owned()),
        message: word("detail").unwrap_or_else(|| "nothing was done".to_owned()),
        hint: word("hint"),
        actions: Some(Box::new(body["actions"].clone())),
        response: body["response"].as_str().map(str::to_owned),
    })
}

fn check(said: &Said) -> Result<(), Trouble> {
    if said.message.trim().is_empty() {
        return Err(
            Trouble::new(422, "chat::no-message", "there is no message").hint("say what is wanted in `message`")
        );
    }
    if said.message.len() > MESSAGE_BYTES_MAX {
        let words = format!("the message has {} bytes, and at most {MESSAGE_BYTES_MAX} are read", said.message.len());
        return Err(Trouble::new(413, "chat::too-long", words).hint("say the goal and what must hold"));
    }
    if let Some(session) = &said.session_id
        && (session.trim().is_empty()
            || session.chars().count() > SESSION_CHARS_MAX
            || session.contains(char::is_control))
    {
        let words = format!("`session_id` is a text of 1 to {SESSION_CHARS_MAX} characters on one line");
        return Err(Trouble::new(422, "chat::bad-session", words));
    }
    if let Some(mode) = said.mode.as_deref().filter(|mode| !matches!(*mode, "" | "assistant")) {
        let shown = gantry_view::named(mode);
        return Err(Trouble::new(422, "chat::bad-mode", format!("there is no mode `{shown}`"))
            .hint("the only mode is `assistant`"));
    }
    if said.context.plan_title.as_ref().is_some_and(|title| title.chars().count() > create::TITLE_CHARS_MAX) {
        let words = format!("`context.plan_title` has more than {} characters", create::TITLE_CHARS_MAX);
        return Err(Trouble::new(422, "chat::long-title", words));
    }
    Ok(())
}

/// What was sent and is not used.
fn unused(said: &Said) -> Vec<String> {
    let inside = said.context.unknown.keys().map(|name| format!("context.{}", gantry_view::named(name)));
    said.unknown.keys().map(|name| gantry_view::named(name)).chain(inside).collect()
}

fn body(turn: &Turn, message: &str, answered_by: &Value, outcomes: &[Outcome], unused: &[String]) -> Value {
    let failed = outcomes.iter().filter(|outcome| outcome.problem.is_some()).count();
    let first = outcomes.iter().find_map(|outcome| outcome.problem.as_ref());
    let status = match (failed, first) {
        (0, _) | (_, None) => 200,
        (count, Some(_)) if count < outcomes.len() => 207,
        (_, Some(trouble)) => trouble.status,
    };
    let mut lines: Vec<String> = vec![message.trim().to_owned()];
    lines.extend(outcomes.iter().map(|outcome| outcome.words.clone()));
    if !unused.is_empty() {
        lines.push(format!("Not used: {}.", unused.join(", ")));
    }
    lines.retain(|line| !line.is_empty());
    let mut metadata = json!({
        "status": match status { 200 => "completed", 207 => "partial", _ => "failed" }, "session_id": turn.session(),
        "turn": turn.plan(), "answered_by": answered_by, "unused": unused,
    });
    let about = outcomes.iter().find(|outcome| outcome.created).or(outcomes.iter().find(|one| one.plan.is_some()));
    if let Some((no, id)) = about.and_then(|outcome| outcome.plan.as_ref()) {
        metadata["plan_id"] = json!(no);
        metadata["plan"] = json!(id);
    }
    json!({
        "status": status, "response": lines.join("\n"), "llm_reply": {"message": message},
        "actions": outcomes.iter().map(Outcome::told).collect::<Vec<_>>(), "session_id": turn.session(),
        "metadata": metadata,
    })
}
