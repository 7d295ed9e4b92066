//! Calls that someone has to approve first.
//!
//! An attempt that comes to such a call keeps what would be done, writes down where it is, and ends with a failure that
//! asks a person. Their word starts the next attempt, which finds what was written down and goes on from there: an agent
//! repeats nothing that was answered, and the one call that was seen is made, or not.
//!
//! Invariant: what is done is what was approved. When it has changed meanwhile, someone is asked again.

use gantry_core::effect::Failure;
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::input::Approval;
use gantry_core::plan::Action;
use gantry_core::policy::Usage;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::policy::forbidden;
use crate::ports::Ports;
use crate::registry::Runners;
use crate::runner::Preview;
use crate::text::shortened;
use crate::work::{Place, Work};

/// The kind under which it is recorded that an attempt was held.
const HELD: &str = "held";
/// The artifact that shows what would be done.
pub const PREVIEW: &str = "preview";
/// How much of what would be done stands in the question itself.
const MESSAGE_CHARS_MAX: usize = 200;

/// Where an attempt was held.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    /// The attempt that began what was held.
    first: AttemptNo,
    /// What that attempt was told.
    feedback: Option<String>,
    /// The call that has to be approved.
    call: String,
    /// A hash of what would be done.
    preview: String,
    /// What someone said about it.
    #[serde(skip)]
    said: Option<Approval>,
}

impl Held {
    /// Finds out whether the attempt before was held, and what was said about it.
    pub(crate) async fn before(work: &Work, ports: &Ports) -> Result<Option<Self>, Failure> {
        let Some(before) = work.attempt.0.checked_sub(1).filter(|before| *before > 0) else { return Ok(None) };
        let found = ports.calls.recall(HELD, &key_of(&work.task, AttemptNo(before))).await?;
        let held = found.and_then(|call| call.answer).and_then(|answer| serde_json::from_value::<Self>(answer).ok());
        Ok(held.map(|held| Self { said: work.feedback.as_deref().and_then(Approval::parse), ..held }))
    }

    /// The work as the first attempt began it, when someone has said whether it may go on.
    pub(crate) fn taken_up(&self, work: &Work) -> Option<Work> {
        self.said.as_ref()?;
        Some(Work { attempt: self.first, feedback: self.feedback.clone(), ..work.clone() })
    }

    /// What was said about this call, if it was about this call and what would be done is still the same.
    fn word_on(&self, call: &str, preview: &str) -> Option<&Approval> {
        let said = self.said.as_ref().filter(|_| self.call == call)?;
        let same = self.preview == preview || matches!(said, Approval::Refused { .. });
        same.then_some(said)
    }
}

/// The record of being held is found by the task and the attempt alone.
fn key_of(task: &TaskId, attempt: AttemptNo) -> String {
    blake3::hash(json!([HELD, task, attempt]).to_string().as_bytes()).to_hex().to_string()
}

/// What was said about a call; when nobody has said anything yet, the failure that asks someone.
pub(crate) async fn word_on(
    held: Option<&Held>,
    call: &str,
    (name, preview): (&str, &Preview),
    work: &Work,
    ports: &Ports,
) -> Result<Approval, Failure> {
    let shown = shown(preview);
    let hash = blake3::hash(shown.as_bytes()).to_hex().to_string();
    if let Some(said) = held.and_then(|held| held.word_on(call, &hash)) {
        return Ok(said.clone());
    }
    let changed = held.is_some_and(|held| held.said.is_some() && held.call == call);
    let since = if changed { "what it would do has changed since it was approved: " } else { "" };
    let kept = ports.keep_as(PREVIEW, shown.into_bytes()).await?;
    let (first, feedback) = match held.filter(|held| held.said.is_some()) {
        Some(held) => (held.first, held.feedback.clone()),
        None => (work.attempt, work.feedback.clone()),
    };
    let now = Held { first, feedback, call: call.to_owned(), preview: hash, said: None };
    let request = json!({"tool": name, "task": work.task, "preview": kept.hash});
    let call = ports.calls.begin(HELD, &key_of(&work.task, work.attempt), request).await?;
    ports.calls.end(call, json!(now), Usage::default()).await?;
    let what = preview.text.lines().next().unwrap_or_default();
    let message = format!("`{name}`: {since}{}", shortened(what, MESSAGE_CHARS_MAX));
    Err(Failure { evidence: vec![kept], ..Failure::needs_approval(message) })
}

/// What would be done, in full.
fn shown(preview: &Preview) -> String {
    match &preview.diff {
        Some(diff) => format!("{}\n\n{diff}", preview.text),
        None => preview.text.clone(),
    }
}

/// Asks someone about a task that is itself a call which has to be approved; none when it may go on.
pub(crate) async fn of_task(runners: &Runners, work: &Work, place: &Place, ports: &Ports) -> Option<Failure> {
    let name = tools_of(&work.action).into_iter().find(|name| crate::policy::needs_approval(name, place))?;
    // Rare and large: on its own, so that the others stay small.
    let decide = Box::pin(async {
        let preview = runners.preview(work, place).await?;
        let held = Held::before(work, ports).await?;
        word_on(held.as_ref(), &work.key, (name, &preview), work, ports).await
    });
    match decide.await {
        Ok(Approval::Granted) => None,
        Ok(Approval::Refused { why }) => Some(forbidden(refusal(name, &why))),
        Err(failure) => Some(failure),
    }
}

/// That someone refused a call, in words.
pub(crate) fn refusal(name: &str, why: &str) -> String {
    let because = if why.is_empty() { String::new() } else { format!(": {why}") };
    format!("someone was asked whether `{name}` may do this, and refused{because}")
}

/// The tools that a task itself calls.
pub(crate) fn tools_of(action: &Action) -> Vec<&str> {
    match action {
        Action::Tool(tool) => vec![&tool.name],
        Action::Run(_) => vec!["shell"],
        Action::Command(command) => command.calls().into_iter().flatten().map(|call| call.name.as_str()).collect(),
        _ => Vec::new(),
    }
}
