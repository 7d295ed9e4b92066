//! Talks, read back from the record: what was said in each, and what was answered.

use gantry_core::event::Event;
use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use gantry_store::ListFilter;
use serde::Serialize;
use serde_json::{Value, json};

use super::hands::{Hands, Trouble};
use super::turns::{LABEL, SAID, SESSION, answer_in};

/// How many turns of all talks are looked at for a list of them.
const LOOKED_AT_MAX: usize = 1_000;
/// How many turns of a talk are read back.
const TURNS_MAX: usize = 500;

/// A talk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Session {
    /// What it is called.
    pub session_id: String,
    /// What was said first, or what the plan that was asked for is called.
    pub title: String,
    /// How often something was said.
    pub messages: usize,
    /// When something was said last.
    pub updated_at: Timestamp,
}

/// One thing that was said, and what it was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The plan that it is.
    pub plan: PlanId,
    /// When it was said.
    pub at: Timestamp,
    /// Who said it.
    pub by: String,
    /// The words.
    pub message: String,
    /// What a plan that is made of it is called, where that was said.
    pub title: Option<String>,
    /// What it was answered; null where it was not.
    pub answer: Value,
}

impl Told {
    /// For programs.
    pub fn told(&self) -> Value {
        json!({"turn": self.plan, "at": self.at, "by": self.by, "message": self.message, "answer": self.answer})
    }
}

/// The label of a talk: nobody is shown those of others under the same name.
pub fn label(by: &str, session: &str) -> String {
    let both = json!([by, session]).to_string();
    format!("{LABEL}-{}", &blake3::hash(both.as_bytes()).to_hex()[..16])
}

/// The talks of whoever asks, the newest first.
pub async fn sessions(hands: &dyn Hands) -> Result<Vec<Session>, Trouble> {
    let mut all: Vec<Session> = Vec::new();
    for told in read(hands, LABEL, LOOKED_AT_MAX).await? {
        let (told, session) = told;
        if told.by != hands.by() {
            continue;
        }
        let title = gantry_view::first_line(told.title.as_deref().unwrap_or(&told.message), 100);
        match all.iter_mut().find(|one| one.session_id == session) {
            // They come the newest first, so each is older than the one before.
            Some(known) => (known.title, known.messages) = (title, known.messages + 1),
            None => all.push(Session { session_id: session, title, messages: 1, updated_at: told.at }),
        }
    }
    Ok(all)
}

/// What was said in a talk of whoever asks, and what was answered, the oldest first.
pub async fn session(hands: &dyn Hands, session: &str) -> Result<Vec<Told>, Trouble> {
    let all = turns(hands, session, TURNS_MAX).await?;
    if all.is_empty() {
        let shown = gantry_view::named(session);
        return Err(Trouble::new(404, "chat::no-session", format!("there is no talk `{shown}`"))
            .hint("see which there are at `/chat/sessions`, or with `gantry chat --sessions`"));
    }
    Ok(all)
}

/// What was said in a talk of whoever asks, as far as there is one, the oldest first.
pub async fn said_in(hands: &dyn Hands, session: &str) -> Result<Vec<Told>, Trouble> {
    turns(hands, session, TURNS_MAX).await
}

/// What whoever asks said last in any talk, the oldest first and nothing twice in a row.
pub async fn said_before(hands: &dyn Hands, max: usize) -> Result<Vec<String>, Trouble> {
    let all = read(hands, LABEL, max).await?;
    let own = all.into_iter().map(|(told, _)| told).filter(|told| told.by == hands.by());
    let mut said: Vec<String> = own.map(|told| told.message).collect();
    said.reverse();
    said.dedup();
    Ok(said)
}

/// The last turns of a talk, the oldest first.
pub async fn turns(hands: &dyn Hands, session: &str, max: usize) -> Result<Vec<Told>, Trouble> {
    let mut all: Vec<Told> =
        read(hands, &label(hands.by(), session), max).await?.into_iter().map(|(told, _)| told).collect();
    all.reverse();
    Ok(all)
}

/// The plan that the last answer of a talk was about.
pub async fn last_plan(hands: &dyn Hands, session: &str) -> Result<Option<Value>, Trouble> {
    let all = turns(hands, session, 8).await?;
    Ok(all.iter().rev().find_map(|told| told.answer["metadata"].get("plan_id").cloned()))
}

/// Turns with a label, the newest first, each with the name of its talk.
async fn read(hands: &dyn Hands, label: &str, max: usize) -> Result<Vec<(Told, String)>, Trouble> {
    let store = hands.engine().store();
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let filter = ListFilter { label: Some(label.to_owned()), cursor, ..ListFilter::default() };
        let page = store.list(filter).await.map_err(|error| hands.store_trouble(error))?;
        for card in page.items {
            let opened = hands.engine().open(&card.id).await.map_err(|error| hands.trouble(error))?;
            let metadata = &opened.life.header().metadata;
            // One without a talk was not even begun.
            let Some(session) = metadata.get(SESSION).and_then(Value::as_str) else { continue };
            let said = metadata.get(SAID).cloned().unwrap_or_default();
            let entries = gantry_engine::entries(&**store, &card.id).await.map_err(|error| hands.trouble(error))?;
            let answer = entries.iter().rev().find_map(|entry| match &entry.event {
                Event::NoteAdded { task: None, text, .. } => answer_in(text),
                _ => None,
            });
            let told = Told {
                plan: card.id,
                at: card.created_at,
                by: opened.origin.by,
                message: said["message"].as_str().unwrap_or_default().to_owned(),
                title: said["context"]["plan_title"].as_str().map(str::to_owned),
                answer: answer.unwrap_or_default(),
            };
            all.push((told, session.to_owned()));
            if all.len() >= max {
                return Ok(all);
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}
