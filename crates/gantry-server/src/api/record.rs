//! The record: what happened, how everything stood then, whether it is what was written, and what is found in it.

use std::collections::BTreeMap;

use axum::extract::State;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::life::Life;
use gantry_store::{ListFilter, PAGE_ITEMS_MAX};
use gantry_view::changes::is_decision;
use gantry_view::revision::life_after;
use gantry_view::standing::about;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::access::Role;
use crate::app::App;
use crate::body::{Asked, Named, Told};
use crate::documented::{Described, Does};
use crate::live;
use crate::live::Resume;
use crate::live::channel::journal_value;
use crate::problem::Problem;
use crate::shapes::{Anything, Items, JournalPage};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/memory",
        Role::Viewer,
        memory,
        Does::new("record", "What plans remember under these keys, as it was last observed")
            .asked::<Keys>()
            .gives::<Items>(200, "One item for each key."),
    )
    .get(
        "/api/v1/plans/{plan}/journal",
        Role::Viewer,
        journal,
        Does::new("record", "What happened to a plan")
            .asked::<JournalQuery>()
            .gives::<JournalPage>(200, "Entries, in order."),
    )
    .get(
        "/api/v1/plans/{plan}/events",
        Role::Viewer,
        live::of_plan,
        Does::new("live", "Watch a plan: server-sent events that can be resumed")
            .about(
                "Events are `journal` (on record, numbered for ever), `output`, `notice`, \
             `progress` and `trouble`. Come back with `Last-Event-ID` or `after` and \
             nothing is missed or told twice.",
            )
            .asked::<Resume>()
            .header("Last-Event-ID", "The number of the last message that the client has.")
            .gives_media(200, &["text/event-stream"], "Events, until the client goes away."),
    )
    .get(
        "/api/v1/events",
        Role::Viewer,
        live::of_all,
        Does::new("live", "Watch all plans: one event whenever a plan has changed, with how it stands")
            .asked::<Resume>()
            .header("Last-Event-ID", "The number of the last message that the client has.")
            .gives_media(200, &["text/event-stream"], "Events, until the client goes away."),
    )
    .get(
        "/api/v1/plans/{plan}/state",
        Role::Viewer,
        state_at,
        Does::new("record", "How all tasks stood after an entry of the journal")
            .asked::<At>()
            .gives::<Anything>(200, "The states, by task."),
    )
    .get(
        "/api/v1/plans/{plan}/audit",
        Role::Viewer,
        audit,
        Does::new("record", "Whether the record is what was written, and who decided what")
            .asked::<Kept>()
            .gives::<Anything>(200, "The findings."),
    )
    .get(
        "/api/v1/search",
        Role::Viewer,
        search,
        Does::new("record", "Find plans, tasks and artifacts by their words")
            .asked::<Words>()
            .gives::<Items>(200, "What was found."),
    )
}

/// Which entries of a journal.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct JournalQuery {
    /// Only entries after this one.
    pub after: u64,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// Only what is about this task.
    pub task: Option<String>,
}

/// Entries of the journal.
pub async fn journal(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(query): Asked<JournalQuery>,
) -> Result<Told<Value>, Problem> {
    let limit = query.limit.unwrap_or(200);
    if !(1..=1_000).contains(&limit) {
        return Err(Problem::wrong("request::wrong-query", "`limit` is a number from 1 to 1000"));
    }
    let id = app.id(&plan).await?;
    let (mut items, mut after) = (Vec::new(), query.after);
    loop {
        let page = app.store().turns(&id, after, PAGE_ITEMS_MAX).await?;
        for entry in page.items.iter().flat_map(|turn| &turn.entries).filter(|entry| entry.seq > after) {
            let about = entry.event.task().map(TaskId::as_str);
            if query.task.as_deref().is_some_and(|task| about != Some(task)) {
                continue;
            }
            if items.len() == limit {
                let last = items.last().and_then(|item: &Value| item["seq"].as_u64());
                return Ok(Told(json!({"items": items, "next": last})));
            }
            items.push(journal_value(&id, entry));
        }
        match page.next {
            Some(next) => after = next,
            None => return Ok(Told(json!({"items": items, "next": null}))),
        }
    }
}

/// Which entry.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct At {
    /// After which entry; now when it is left out.
    pub at: Option<u64>,
}

/// A plan after an entry, or now.
pub async fn life(app: &App, id: &PlanId, at: Option<u64>) -> Result<Life, Problem> {
    Ok(match at {
        Some(at) => life_after(app.store(), id, at).await?,
        None => app.engine().open(id).await?.life,
    })
}

/// How all tasks stood.
pub async fn state_at(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(query): Asked<At>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let life = life(&app, &id, query.at).await?;
    let ids = life.task_ids();
    let task = |id: &TaskId| {
        let value = json!({"state": life.task_state(id.as_str()), "about": about(&life, id)});
        (id.to_string(), value)
    };
    let tasks: serde_json::Map<String, Value> = ids.iter().map(task).collect();
    Ok(Told(json!({
        "plan": id, "at": life.length(), "state": life.state(), "revision": life.revision(), "tasks": tasks,
        "waiting_for": life.waits_for(),
    })))
}

/// Whether the record is what was written, and who decided what.
pub async fn audit(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(kept): Asked<Kept>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let mut found = audited(&app, &id).await?;
    if let Some(head) = &kept.head {
        if head.len() < HASH_CHARS_MIN || !head.chars().all(|digit| digit.is_ascii_hexdigit()) {
            let detail = format!("`head` is a hash, or its first {HASH_CHARS_MIN} digits or more");
            return Err(Problem::wrong("request::wrong-query", detail));
        }
        let same = found["head"].as_str().is_some_and(|now| now.starts_with(&head.to_lowercase()));
        found["as_kept"] = json!(same);
    }
    Ok(Told(found))
}

/// How many digits of a hash are enough to know it by.
const HASH_CHARS_MIN: usize = 8;

/// What was kept elsewhere.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Kept {
    /// The head hash, or its beginning, that was kept elsewhere: `as_kept` says whether the journal ends with it.
    pub head: Option<String>,
}

/// Whether the record is what was written, for programs.
pub async fn audited(app: &App, id: &PlanId) -> Result<Value, Problem> {
    let report = gantry_engine::verify(app.store(), id).await?;
    let (mut decisions, mut after) = (Vec::new(), 0);
    while after < report.length {
        let limit = if report.is_sound() { PAGE_ITEMS_MAX } else { 1 };
        let page = app.store().turns(id, after, limit).await?;
        let entries = page.items.iter().flat_map(|turn| &turn.entries);
        let counted = entries.filter(|entry| entry.seq <= report.length && is_decision(&entry.event));
        decisions.extend(counted.map(|entry| journal_value(id, entry)));
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    Ok(json!({
        "plan": report.plan, "sound": report.is_sound(), "length": report.length, "turns": report.turns,
        "head": report.head, "first_broken": report.first_broken(), "problems": report.problems,
        "decisions": decisions,
    }))
}

/// How many keys are looked for at once, and in how many of the newest plans.
const KEYS_MAX: usize = 100;
const REMEMBERED_MAX: usize = 1_000;

/// What is looked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Keys {
    /// The keys, with commas between them, such as `http3.key_claims`.
    pub keys: Option<String>,
}

/// What plans remember: each key with its value and the newest plan that observed it, or without.
pub async fn memory(State(app): State<App>, Asked(asked): Asked<Keys>) -> Result<Told<Value>, Problem> {
    let keys: Vec<&str> =
        asked.keys.iter().flat_map(|keys| keys.split(',')).map(str::trim).filter(|key| !key.is_empty()).collect();
    if keys.is_empty() || keys.len() > KEYS_MAX {
        let detail = format!("`keys` names 1 to {KEYS_MAX} keys, with commas between them");
        return Err(Problem::wrong("request::wrong-query", detail));
    }
    let mut found: BTreeMap<&str, Value> = BTreeMap::new();
    let limit = u32::try_from(REMEMBERED_MAX).unwrap_or(u32::MAX);
    for card in app.store().list(ListFilter { limit, ..ListFilter::default() }).await?.items {
        if keys.iter().all(|key| found.contains_key(key)) {
            break;
        }
        let life = app.engine().open(&card.id).await?.life;
        for key in &keys {
            if let Some(value) = life.fact(&format!("memory.{key}")).filter(|_| !found.contains_key(key)) {
                found.insert(key, json!({"key": key, "value": value, "plan": card.id}));
            }
        }
    }
    let item = |key: &&str| found.get(*key).cloned().unwrap_or_else(|| json!({"key": key, "value": null}));
    Ok(Told(json!({"items": keys.iter().map(item).collect::<Vec<_>>()})))
}

/// Words to look for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Words {
    /// The words; all of them must be there.
    pub q: String,
    /// How many at most.
    #[param(minimum = 1, maximum = 100)]
    pub limit: Option<u32>,
}

/// Finds texts.
pub async fn search(State(app): State<App>, Asked(words): Asked<Words>) -> Result<Told<Value>, Problem> {
    let hits = app.store().search(&words.q, words.limit.unwrap_or(20).clamp(1, 100)).await?;
    Ok(Told(json!({"items": hits.iter().map(|hit| json!(hit)).collect::<Vec<_>>()})))
}
