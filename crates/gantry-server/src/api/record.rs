//! The record of a plan: its journal, revisions, artifacts, other lives, and whether it is what was written.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gantry_core::event::Event;
use gantry_core::id::{PlanId, Revision, TaskId};
use gantry_core::input::{Change, Input};
use gantry_core::life::Life;
use gantry_core::plan::{Action, Input as Argument, Plan, diff as difference};
use gantry_engine::{Origin, WhatIf};
use gantry_planner::screen::{Verdict, screen};
use gantry_store::PAGE_ITEMS_MAX;
use gantry_view::changes::is_decision;
use gantry_view::parts::{Shown, folded};
use gantry_view::revision::{life_after, life_at};
use gantry_view::standing::about;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::plans::{asked_for, created};
use super::steer::say;
use crate::access::Who;
use crate::app::App;
use crate::body::{Asked, Named, Said, Told};
use crate::live::channel::journal_value;
use crate::problem::Problem;
use crate::shapes::{Fork, Imagine, NewEvidence, NewPlan, NewRevision};

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

/// Which revision, in which form.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct OfRevision {
    /// Which revision; the current one when it is left out.
    pub revision: Option<u32>,
    /// yaml, json or mermaid.
    pub format: Option<String>,
}

/// The plan itself.
pub async fn definition(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(query): Asked<OfRevision>,
) -> Result<Response, Problem> {
    let id = app.id(&plan).await?;
    let life = life_at(app.store(), &id, query.revision.map(Revision)).await?;
    let (media, text) = written(&life.plan(), query.format.as_deref().unwrap_or("yaml"))?;
    let tag = format!("\"r{}\"", life.revision());
    Ok(([(header::CONTENT_TYPE, media.to_owned()), (header::ETAG, tag)], text).into_response())
}

/// A plan as a file.
pub fn written(plan: &Plan, format: &str) -> Result<(&'static str, String), Problem> {
    match format {
        "yaml" => Ok(("application/yaml", gantry_format::to_yaml(plan))),
        "json" => Ok(("application/json", gantry_format::to_json(plan))),
        "mermaid" => Ok(("text/vnd.mermaid", gantry_format::mermaid::export(plan))),
        _ => Err(Problem::wrong("request::wrong-query", "`format` is yaml, json or mermaid")),
    }
}

/// All revisions.
pub async fn revisions(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    Ok(Told(json!({"items": all_revisions(&app, &id).await?})))
}

/// All revisions, for programs, the newest last.
pub async fn all_revisions(app: &App, id: &PlanId) -> Result<Vec<Value>, Problem> {
    let entries = gantry_engine::entries(app.store(), id).await?;
    let made = entries.iter().filter_map(|entry| match &entry.event {
        Event::PlanCreated { .. } => {
            Some(json!({"revision": 1, "at": entry.at, "seq": entry.seq, "by": null, "rationale": "", "lines": []}))
        }
        Event::PlanRevised { revision, diff, rationale, by } => {
            let lines: Vec<String> = diff.to_string().lines().map(gantry_view::plain).collect();
            Some(json!({
                "revision": revision, "at": entry.at, "seq": entry.seq, "by": by, "rationale": rationale, "lines": lines,
            }))
        }
        _ => None,
    });
    Ok(made.collect())
}

/// Between which revisions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Between {
    /// The revision before; the one before `to` when it is left out.
    pub from: Option<u32>,
    /// The revision after; the current one when it is left out.
    pub to: Option<u32>,
}

/// What changed between two revisions.
pub async fn diff(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(query): Asked<Between>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let after = life_at(app.store(), &id, query.to.map(Revision)).await?;
    let from = query.from.unwrap_or_else(|| after.revision().0.saturating_sub(1).max(1));
    let before = life_at(app.store(), &id, Some(Revision(from))).await?;
    let found = difference(&before.plan(), &after.plan());
    let lines: Vec<String> = found.to_string().lines().map(gantry_view::plain).collect();
    Ok(Told(json!({
        "plan": id, "from": before.revision(), "to": after.revision(), "diff": found, "lines": lines,
        "before": gantry_format::to_yaml(&before.plan()), "after": gantry_format::to_yaml(&after.plan()),
    })))
}

/// A new revision.
pub async fn revise(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    headers: HeaderMap,
    Said(said): Said<NewRevision>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let life = app.engine().open(&id).await?.life;
    let rationale = match (&said.words, said.rationale.trim()) {
        (Some(words), "") => words.clone(),
        (_, "") => {
            return Err(
                Problem::unfit("revision::no-reason", "a revision needs a reason").hint("say it in `rationale`")
            );
        }
        (_, rationale) => rationale.to_owned(),
    };
    let current = life.plan();
    let mut plan = match &said.words {
        Some(words) if said.plan.is_none() && said.file.is_none() => changed(current.clone(), words)?,
        Some(_) => return Err(Problem::unfit("plan::which", "say exactly one of `plan`, `file` and `words`")),
        None => {
            let new = NewPlan { plan: said.plan.clone(), file: said.file.clone(), ..NewPlan::default() };
            asked_for(&app, &new)?.0
        }
    };
    if let Some(other) = plan.id.as_ref().filter(|other| **other != id) {
        return Err(Problem::unfit("revision::other-plan", format!("this is plan `{other}`, not `{id}`")));
    }
    let base = Revision(base(&said, &headers)?.unwrap_or(life.revision().0));
    plan = life.with_own_growth(plan);
    plan.id.clone_from(&current.id);
    plan.sort_tree();
    let change = difference(&current, &plan);
    let input = Input::Revise { by: who.name, rationale, base, change: Change::To(Box::new(plan)) };
    // What would be refused is refused also when it is only asked.
    drop(life.decide(&input, App::now())?);
    if !said.dry_run {
        app.foreman.tell(&id, input).await?;
    }
    let lines: Vec<String> = change.to_string().lines().map(gantry_view::plain).collect();
    Ok(Told(json!({"revision": base.0 + 1, "diff": change, "lines": lines, "dry_run": said.dry_run})))
}

/// The revision that was looked at: in the body, or as `If-Match: "r2"`.
fn base(said: &NewRevision, headers: &HeaderMap) -> Result<Option<u32>, Problem> {
    let Some(tag) = headers.get(header::IF_MATCH) else { return Ok(said.base) };
    let tag = tag.to_str().unwrap_or_default().trim();
    if tag == "*" {
        return Ok(said.base);
    }
    let number = tag.trim_matches('"').strip_prefix('r').and_then(|number| number.parse().ok());
    number.map(Some).ok_or_else(|| {
        Problem::wrong("request::tag", "`If-Match` is the ETag of the plan's definition, such as \"r2\"")
    })
}

/// The plan with one more change to what was asked for.
fn changed(mut plan: Plan, words: &str) -> Result<Plan, Problem> {
    let screening = screen(words);
    if matches!(screening.verdict, Verdict::Refuse) || screening.category == "injection" {
        return Err(Problem::new(StatusCode::FORBIDDEN, "plan::refused", screening.reason).hint(screening.hint));
    }
    let reading = plan.tasks.iter_mut().find_map(|task| match &mut task.action {
        Some(Action::Tool(tool)) if tool.name == "plan.read" => Some(tool),
        _ => None,
    });
    let Some(reading) = reading else {
        return Err(Problem::unfit("revision::no-words", "the plan was not made from a sentence")
            .hint("send the whole plan in `plan` or `file`"));
    };
    let mut changes = match reading.args.get("changes") {
        Some(Argument::Value(Value::Array(changes))) => changes.clone(),
        _ => Vec::new(),
    };
    changes.push(json!(words));
    reading.args.insert("changes".to_owned(), Argument::Value(Value::Array(changes)));
    Ok(plan)
}

/// Another life.
pub async fn fork(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Fork>,
) -> Result<Response, Problem> {
    let card = app.plan(&plan).await?;
    let id = fork_at(&app, &who, &card.id, said.at.unwrap_or(card.length)).await?;
    if said.start {
        super::steer::go_on(&app, &who, &id).await?;
    }
    Ok(created(&app.plan(id.as_str()).await?, StatusCode::CREATED))
}

/// Begins another life after an entry.
pub async fn fork_at(app: &App, who: &Who, plan: &PlanId, at: u64) -> Result<PlanId, Problem> {
    let length = app.plan(plan.as_str()).await?.length;
    if at == 0 || at > length {
        return Err(Problem::missing("record::no-entry", format!("plan `{plan}` has no entry {at}"))
            .hint(format!("its journal has entries 1 to {length}")));
    }
    let origin = Origin { by: who.name.clone(), ..app.engine().open(plan).await?.origin };
    Ok(app.engine().fork(plan, at, origin).await?)
}

/// Decides everything again, and compares.
pub async fn replay(
    State(app): State<App>,
    Named(plan): Named<String>,
    Said(said): Said<Imagine>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let read = |new: NewPlan| asked_for(&app, &new).map(|(plan, _)| plan);
    let policy = match said.policy {
        // With the smallest plan around it, a policy alone is read and checked like any other.
        Some(policy) => {
            let plan = json!({"title": "what if", "policy": policy, "tasks": [{"id": "nothing"}]});
            Some(read(NewPlan { plan: Some(plan), ..NewPlan::default() })?.policy)
        }
        None => None,
    };
    let revision = match (said.revision, said.file) {
        (None, None) => None,
        (Some(number), None) => Some(life_at(app.store(), &id, Some(Revision(number))).await?.plan()),
        (None, Some(file)) => Some(read(NewPlan { file: Some(file), ..NewPlan::default() })?),
        (Some(_), Some(_)) => return Err(Problem::unfit("replay::which", "say `revision` or `file`, not both")),
    };
    let what_if = policy.is_some() || revision.is_some();
    let replayed = gantry_engine::replay(app.store(), &id, WhatIf { policy, revision }).await?;
    let difference = replayed
        .difference
        .as_ref()
        .map(|one| json!({"seq": one.seq, "recorded": one.recorded, "decided": one.decided}));
    Ok(Told(json!({
        "plan": id, "what_if": what_if, "same": difference.is_none(), "turns": replayed.turns,
        "entries": replayed.entries, "given": replayed.given, "difference": difference,
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

/// All artifacts of a plan.
pub async fn artifacts(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let rows = gantry_store::all_artifacts(app.store(), &app.id(&plan).await?).await?;
    let items: Vec<Value> = folded(&rows).iter().map(Shown::to_json).collect();
    Ok(Told(json!({"items": items})))
}

/// Which version.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct OfVersion {
    /// Which version; the newest when it is left out.
    pub version: Option<u32>,
    /// Show it in a browser instead of saving it; only what is harmless is.
    pub inline: Option<bool>,
}

/// Media types that a browser may show: it does not run anything in them.
const HARMLESS: [&str; 8] = [
    "text/plain",
    "text/markdown",
    "text/csv",
    "application/json",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
];

/// An artifact, byte for byte.
pub async fn artifact(
    State(app): State<App>,
    Named((plan, task, name)): Named<(String, String, String)>,
    Asked(query): Asked<OfVersion>,
) -> Result<Response, Problem> {
    let id = app.id(&plan).await?;
    let missing = || {
        let (task, name) = (gantry_view::named(&task), gantry_view::named(&name));
        Problem::missing("record::no-artifact", format!("plan `{id}` has no artifact `{task}/{name}`"))
            .hint(format!("see them at /api/v1/plans/{id}/artifacts"))
    };
    let named = TaskId::new(&task).map_err(|_| missing())?;
    let row = app.store().artifact(&id, &named, &name, query.version).await?.ok_or_else(missing)?;
    let Some(bytes) = app.store().get_blob(row.artifact.hash).await? else {
        return Err(Problem::new(StatusCode::GONE, "record::dropped", "its time is over: only its hash is kept"));
    };
    let media = row.artifact.media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let inline = query.inline.unwrap_or(false);
    let shown = HARMLESS.contains(&media.as_str());
    let text = ["text/markdown", "text/csv", "application/json"].contains(&media.as_str()) && inline;
    let media = match (shown, text) {
        (true, true) => "text/plain; charset=utf-8".to_owned(),
        (true, false) => media,
        (false, _) => "application/octet-stream".to_owned(),
    };
    let kind = if inline && shown { "inline" } else { "attachment" };
    let plain_name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let disposition = format!("{kind}; filename=\"{plain_name}\"");
    let tag = format!("\"{}\"", row.artifact.hash);
    let headers = [
        (header::CONTENT_TYPE, media),
        (header::CONTENT_DISPOSITION, disposition),
        (header::ETAG, tag),
        // Whatever it is, it is alone: no script of it runs and it reaches nothing.
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox".to_owned()),
    ];
    Ok((headers, bytes).into_response())
}

/// All statements to be tested.
pub async fn hypotheses(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    Ok(Told(json!({"items": all_hypotheses(&app, &id).await?})))
}

/// All statements to be tested, each with its evidence and how sure one was after it.
pub async fn all_hypotheses(app: &App, id: &PlanId) -> Result<Vec<Value>, Problem> {
    let life = app.engine().open(id).await?.life;
    let entries = gantry_engine::entries(app.store(), id).await?;
    let mut statements: Vec<(String, Option<String>)> =
        life.header().hypotheses.iter().map(|one| (one.id.clone(), one.statement.clone())).collect();
    for entry in &entries {
        if let Event::HypothesisAdded { hypothesis } = &entry.event
            && !statements.iter().any(|(known, _)| *known == hypothesis.id)
        {
            statements.push((hypothesis.id.clone(), hypothesis.statement.clone()));
        }
    }
    let beliefs: std::collections::BTreeMap<&str, _> = life.beliefs().collect();
    let item = |(name, statement): &(String, Option<String>)| {
        let evidence = entries.iter().filter_map(|entry| match &entry.event {
            Event::EvidenceAdded { hypothesis, direction, evidence, by, confidence } if hypothesis == name => Some(
                json!({"at": entry.at, "seq": entry.seq, "direction": direction, "evidence": evidence, "by": by, "confidence": confidence}),
            ),
            _ => None,
        });
        let evidence: Vec<Value> = evidence.collect();
        json!({"id": name, "statement": statement, "confidence": beliefs.get(name.as_str()), "evidence": evidence})
    };
    Ok(statements.iter().map(item).collect())
}

/// Evidence for or against a statement.
pub async fn evidence(
    State(app): State<App>,
    who: Who,
    Named((plan, name)): Named<(String, String)>,
    Said(said): Said<NewEvidence>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let direction = serde_json::from_value(json!(said.direction)).map_err(|_| {
        Problem::unfit(
            "hypothesis::direction",
            "`direction` is supports, strongly_supports, neutral, refutes or strongly_refutes",
        )
    })?;
    let input = Input::Evidence { hypothesis: name, direction, evidence: said.evidence, by: who.name };
    say(&app, &id, input).await
}
