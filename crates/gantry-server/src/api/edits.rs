//! Changes of single tasks: one comes, changes, moves or goes, and what a revision changed is taken back. Each is one
//! revision.

use axum::extract::State;
use axum::http::StatusCode;
use gantry_core::id::{PlanId, Revision};
use gantry_core::input::Input;
use gantry_core::plan::diff;
use gantry_many::edits::{self, Edit, Prepared, Unfit};
use gantry_view::revision::life_at;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::steer::say;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::{Anything, Items};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/plans/{plan}/tasks",
        Role::Operator,
        add,
        Does::new("tasks", "Add a task at a place, as a new revision")
            .takes::<Revising<edits::Add>>()
            .gives::<Anything>(201, "What changed, and the number of the revision."),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/change",
        Role::Operator,
        change,
        Does::new("tasks", "Describe a task otherwise, as a new revision")
            .takes::<Revising<edits::Change>>()
            .gives::<Anything>(200, "What changed, and the number of the revision."),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/move",
        Role::Operator,
        shift,
        Does::new("tasks", "Move a task with everything below it, as a new revision")
            .takes::<Revising<edits::Move>>()
            .gives::<Anything>(200, "What changed, and the number of the revision."),
    )
    .delete(
        "/api/v1/plans/{plan}/tasks/{task}",
        Role::Operator,
        delete,
        Does::new("tasks", "Delete a task with everything below it, as a new revision")
            .may_take::<Revising<edits::Delete>>()
            .gives::<Anything>(200, "What changed, and the number of the revision."),
    )
    .post(
        "/api/v1/plans/{plan}/revisions/undo",
        Role::Operator,
        undo,
        Does::new("revisions", "Take back what a revision changed, as a new revision")
            .may_take::<TakeBackEdit>()
            .gives::<Anything>(200, "What changed, and the number of the revision."),
    )
    .get(
        "/api/v1/plans/{plan}/snapshots",
        Role::Viewer,
        kept,
        Does::new("revisions", "The revisions that someone keeps in mind, with their notes")
            .gives::<Items>(200, "The snapshots, the newest last."),
    )
    .post(
        "/api/v1/plans/{plan}/snapshots",
        Role::Operator,
        keep,
        Does::new("revisions", "Keep the tree as it is now in mind, with a note")
            .takes::<NewSnapshot>()
            .gives::<Anything>(201, "Which revision it is."),
    )
}

impl From<Unfit> for Problem {
    fn from(unfit: Unfit) -> Self {
        let status = StatusCode::from_u16(unfit.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
        Self::new(status, unfit.code, unfit.message).maybe_hint(unfit.hint)
    }
}

/// A change of a task, and why. Tasks are named by id or by number.
#[derive(ToSchema)]
#[allow(dead_code)] // says how the body reads; it is read field by field, so that what nobody knows is told
pub struct Revising<E: ToSchema> {
    /// The change.
    #[serde(flatten)]
    pub edit: E,
    /// Why.
    pub why: Option<String>,
    /// The revision that was looked at; refused when there is a newer one.
    pub base: Option<u32>,
}

/// Which revision is taken back.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TakeBackEdit {
    /// The revision whose changes are taken back; the newest where nothing is said.
    pub revision: Option<u32>,
    /// Or make the plan what it was at this revision, whatever changed since.
    pub back_to: Option<u32>,
    /// Why.
    pub why: String,
}

/// What a snapshot is kept for.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewSnapshot {
    /// What it is kept for.
    pub note: String,
}

type Fields = Said<Map<String, Value>>;

/// Adds a task.
pub async fn add(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(fields): Fields,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let made = edit(&app, &who, &plan, fields, Edit::Add).await?;
    Ok((StatusCode::CREATED, made))
}

/// Describes a task otherwise.
pub async fn change(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(fields): Fields,
) -> Result<Told<Value>, Problem> {
    edit(&app, &who, &plan, of_task(fields, &task), Edit::Change).await
}

/// Moves a task.
pub async fn shift(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(fields): Fields,
) -> Result<Told<Value>, Problem> {
    edit(&app, &who, &plan, of_task(fields, &task), Edit::Move).await
}

/// Deletes a task.
pub async fn delete(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(fields): Fields,
) -> Result<Told<Value>, Problem> {
    edit(&app, &who, &plan, of_task(fields, &task), Edit::Delete).await
}

/// The task stands in the path.
fn of_task(mut fields: Map<String, Value>, task: &str) -> Map<String, Value> {
    fields.insert("task_id".to_owned(), json!(task));
    fields
}

async fn edit<T: DeserializeOwned>(
    app: &App,
    who: &Who,
    plan: &str,
    mut fields: Map<String, Value>,
    kind: fn(T) -> Edit,
) -> Result<Told<Value>, Problem> {
    let why = match fields.remove("why") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(why)) => why,
        Some(_) => return Err(Problem::wrong("request::wrong-fields", "`why` is a text")),
    };
    let base = match fields.remove("base") {
        None | Some(Value::Null) => None,
        Some(base) => Some(
            base.as_u64()
                .and_then(|base| u32::try_from(base).ok())
                .ok_or_else(|| Problem::wrong("request::wrong-fields", "`base` is the number of a revision"))?,
        ),
    };
    let edit = kind(edits::read(fields)?);
    let id = app.id(plan).await?;
    let (told, prepared) = Box::pin(carried_out(app, who, &id, &edit, &why, base.map(Revision))).await?;
    let Value::Object(mut told) = told else { return Ok(Told(told)) };
    told.extend(prepared.more);
    told.extend([("task".to_owned(), json!(prepared.task)), ("words".to_owned(), json!(prepared.words))]);
    Ok(Told(Value::Object(told)))
}

/// Changes a plan: nobody else in this process changes it between the look and the change.
pub async fn carried_out(
    app: &App,
    who: &Who,
    id: &PlanId,
    edit: &Edit,
    why: &str,
    base: Option<Revision>,
) -> Result<(Value, Prepared), Problem> {
    let _turn = app.foreman.turn(id).await;
    let life = app.engine().open(id).await?.life;
    let prepared = edits::prepare(&life, edit, &who.name, why)?;
    let mut input = prepared.input.clone();
    if let (Input::Revise { base, .. }, Some(seen)) = (&mut input, base) {
        *base = seen;
    }
    Ok((heard(app, id, input).await?, prepared))
}

async fn heard(app: &App, id: &PlanId, input: Input) -> Result<Value, Problem> {
    let before = app.engine().open(id).await?.life.plan();
    let Told(mut told) = say(app, id, input).await?;
    let life = app.engine().open(id).await?.life;
    told["revision"] = json!(life.revision());
    told["lines"] = json!(diff(&before, &life.plan()).to_string().lines().map(gantry_view::plain).collect::<Vec<_>>());
    Ok(told)
}

/// Takes back what a revision changed.
pub async fn undo(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<TakeBackEdit>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    Ok(Told(Box::pin(taken_back(&app, &who, &id, said)).await?))
}

/// Takes back what a revision changed, or everything since one.
pub async fn taken_back(app: &App, who: &Who, id: &PlanId, said: TakeBackEdit) -> Result<Value, Problem> {
    let _turn = app.foreman.turn(id).await;
    let life = app.engine().open(id).await?.life;
    let at = async |revision| life_at(app.store(), id, Some(Revision(revision))).await.map(|life| life.plan());
    let input = match (said.revision, said.back_to) {
        (Some(_), Some(_)) => {
            return Err(Problem::unfit("request::which-revision", "say `revision` or `back_to`, not both"));
        }
        (None, Some(revision)) => {
            let why = if said.why.trim().is_empty() { format!("back to revision {revision}") } else { said.why };
            edits::undo(&life, life.revision(), (&at(revision).await?, &life.plan()), &who.name, &why)
        }
        (revision, None) => {
            let revision = revision.unwrap_or(life.revision().0);
            if revision == 1 {
                return Err(Problem::unfit("request::which-revision", "the first revision changed nothing")
                    .hint("see what was changed at `revisions`"));
            }
            let (before, after) = (at(revision.saturating_sub(1)).await?, at(revision).await?);
            edits::undo(&life, Revision(revision), (&before, &after), &who.name, &said.why)
        }
    };
    heard(app, id, input).await
}

/// Keeps the tree as it is now in mind.
pub async fn keep(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<NewSnapshot>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let id = app.id(&plan).await?;
    let life = app.engine().open(&id).await?.life;
    app.foreman.tell(&id, edits::snapshot(&life, &who.name, &said.note)?).await?;
    Ok((StatusCode::CREATED, Told(json!({"plan": id, "revision": life.revision(), "note": said.note.trim()}))))
}

/// The snapshots that there are.
pub async fn kept(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let entries = gantry_engine::entries(app.store(), &id).await?;
    Ok(Told(json!({"items": edits::snapshots(&entries)})))
}
