//! Revisions: the plan as a file, what was changed and why, and new ones.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gantry_core::event::Event;
use gantry_core::id::{PlanId, Revision};
use gantry_core::input::{Change, Input};
use gantry_core::life::Life;
use gantry_core::plan::{Action, Input as Argument, Plan, diff as difference};
use gantry_planner::screen::{Verdict, screen};
use gantry_view::compare::Compared;
use gantry_view::revision::{life_at, split};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::plans::asked_for;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Asked, Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::{Anything, Items, NewPlan, NewRevision, Revised};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/plans/{plan}/revisions",
        Role::Operator,
        revise,
        Does::new("revisions", "Change a plan while it runs, as a new revision")
            .header("If-Match", "The revision that it was made from, such as `\"r2\"`.")
            .takes::<NewRevision>()
            .gives::<Revised>(200, "What changed."),
    )
    .get(
        "/api/v1/plans/{plan}/definition",
        Role::Viewer,
        definition,
        Does::new("revisions", "The plan itself, as a plan file").asked::<OfRevision>().gives_media(
            200,
            &["application/yaml", "application/json", "text/vnd.mermaid"],
            "The plan; its ETag is its revision.",
        ),
    )
    .get(
        "/api/v1/plans/{plan}/revisions",
        Role::Viewer,
        revisions,
        Does::new("revisions", "All revisions, and why each was made").gives::<Items>(200, "The revisions."),
    )
    .get(
        "/api/v1/plans/{plan}/diff",
        Role::Viewer,
        diff,
        Does::new("revisions", "What changed between two revisions")
            .asked::<Between>()
            .gives::<Anything>(200, "What changed."),
    )
    .get(
        "/api/v1/diff",
        Role::Viewer,
        compare,
        Does::new("revisions", "Two plans beside each other: dates, cost, risks and scope, then task by task")
            .about("Of a plan that plans itself first, what there is to do is compared, accepted or not.")
            .asked::<Both>()
            .gives::<Anything>(200, "What changed, as `diff` and in `lines`; what both come to in `figures`."),
    )
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
    Ok(Told(json!({"items": all(&app, &id).await?})))
}

/// All revisions, for programs, the newest last.
pub async fn all(app: &App, id: &PlanId) -> Result<Vec<Value>, Problem> {
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

/// Which two plans.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Both {
    /// The plan before, perhaps with `@rN` for its revision N.
    pub before: String,
    /// The plan after, perhaps with `@rN` for its revision N.
    pub after: String,
}

/// Two plans beside each other.
pub async fn compare(State(app): State<App>, Asked(both): Asked<Both>) -> Result<Told<Value>, Problem> {
    let (before, after) = (seen(&app, &both.before).await?, seen(&app, &both.after).await?);
    let which = |life: &Life| json!({"plan": life.id(), "revision": life.revision(), "title": life.header().title});
    let (from, to) = (which(&before), which(&after));
    let compared = compared(before.proposed(), after.proposed()).await?;
    let mut told = compared.to_json();
    (told["before"], told["after"]) = (from, to);
    told["lines"] = json!([compared.figure_lines(), compared.lines()].concat());
    Ok(Told(told))
}

/// Compares, away from the threads that answer.
pub async fn compared(before: Plan, after: Plan) -> Result<Compared, Problem> {
    let compared = tokio::task::spawn_blocking(move || Compared::of(&before, &after, App::now())).await;
    compared.map_err(|error| Problem::broken("server::panicked", error.to_string()))
}

/// The life of `PLAN` or `PLAN@rN`.
pub async fn seen(app: &App, text: &str) -> Result<Life, Problem> {
    let (plan, revision) = split(text);
    if plan.trim().is_empty() {
        return Err(Problem::wrong("request::wrong-query", "`before` and `after` each name a plan"));
    }
    let id = app.id(plan).await?;
    Ok(match revision {
        Some(_) => life_at(app.store(), &id, revision).await?,
        None => app.engine().open(&id).await?.life,
    })
}
