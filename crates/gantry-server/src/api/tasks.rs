//! Tasks: look, do again, edit, hand in, help, judge.

use axum::extract::{FromRequest as _, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use gantry_core::effect::ArtifactRef;
use gantry_core::event::Outputs;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::{Input, Resolution, Success, Verdict};
use gantry_core::life::Life;
use gantry_core::policy::Usage;
use gantry_core::suggest::nearest;
use gantry_engine::Tell;
use gantry_view::changes::done_again;
use gantry_view::next::helpless;
use gantry_view::parts::{Shown, folded};
use gantry_view::standing::about;
use serde_json::{Value, json};

use super::plans;
use super::steer::{heard, say};
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told, check_match, from_json};
use crate::documented::{Described, Does};
use crate::form::{Fields, is_form};
use crate::live::channel::journal_value;
use crate::problem::Problem;
use crate::shapes::{Done, DoneForm, Edit, Edited, Items, Judge, JudgeVerdict, Note, Resolve, TaskDetail, Why};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/plans/{plan}/tasks",
        Role::Viewer,
        list,
        Does::new("tasks", "The tasks of a plan").gives::<Items>(200, "The tasks, parts below their whole."),
    )
    .get(
        "/api/v1/plans/{plan}/tasks/{task}",
        Role::Viewer,
        detail,
        Does::new("tasks", "Everything that is known about a task")
            .gives::<TaskDetail>(200, "The task. Its ETag changes with its outputs."),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/retry",
        Role::Operator,
        retry,
        Does::new("tasks", "Do a task again that has ended, and whatever that changes behind it")
            .may_take::<Why>()
            .heard(),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/edit",
        Role::Operator,
        edit,
        Does::new("tasks", "Change what a finished task gave; exactly what works on it is done again")
            .header("If-Match", "The ETag of the task that was looked at.")
            .takes::<Edit>()
            .gives::<Edited>(200, "What is done again."),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/done",
        Role::Operator,
        done,
        Does::new("tasks", "Say that a task for people is done, and hand in what came of it")
            .about(
                "As JSON, or as a form with files: each file in `evidence` is kept under its \
             name.",
            )
            .may_take_or_form::<Done, DoneForm>()
            .heard(),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/fail",
        Role::Operator,
        fail,
        Does::new("tasks", "Say that a task for people could not be done").takes::<Why>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/resolve",
        Role::Operator,
        resolve,
        Does::new("tasks", "Say what to do about a task that asks for help").takes::<Resolve>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/judge",
        Role::Approver,
        judge,
        Does::new("tasks", "Judge checks in words").takes::<Judge>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/tasks/{task}/notes",
        Role::Operator,
        note,
        Does::new("tasks", "Write something down about a task").takes::<Note>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/judge",
        Role::Approver,
        judge_plan,
        Does::new("tasks", "Judge the checks in words of a plan's definition of done").takes::<Judge>().heard(),
    )
    .post(
        "/api/v1/plans/{plan}/resolve",
        Role::Operator,
        resolve_all,
        Does::new("tasks", "Say what to do about every task of a plan that asks for help").takes::<Resolve>().heard(),
    )
}

/// How long the name of a proof may be.
const NAME_CHARS_MAX: usize = 255;

/// The task that is meant.
pub fn known(life: &Life, name: &str) -> Result<TaskId, Problem> {
    if let Some(task) = life.definition(name).or_else(|| life.numbered(name.parse().ok()?)) {
        return Ok(task.id.clone());
    }
    let shown = gantry_view::named(name);
    let problem = Problem::missing("life::unknown-task", format!("there is no task `{shown}` in plan `{}`", life.id()));
    Err(match nearest(name, life.task_ids().iter().map(TaskId::as_str)) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("see its tasks at /api/v1/plans/{}/tasks", life.id())),
    })
}

async fn found(app: &App, plan: &str, task: &str) -> Result<(PlanId, Life, TaskId), Problem> {
    let id = app.id(plan).await?;
    let life = app.engine().open(&id).await?.life;
    let task = known(&life, task)?;
    Ok((id, life, task))
}

/// Lists the tasks of a plan.
pub async fn list(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let standing = plans::standing(&app, &plan).await?;
    Ok(Told(json!({"items": gantry_view::json::standing(&standing)["task_list"]})))
}

/// The tag of a task: it changes with its attempts and outputs.
pub fn tag(life: &Life, task: &TaskId) -> String {
    let (known, outputs) = (life.task_life(task.as_str()), life.outputs(task.as_str()));
    let seen = json!([known.map(|known| known.attempt), life.task_state(task.as_str()), outputs]).to_string();
    format!("\"{}\"", &blake3::hash(seen.as_bytes()).to_hex()[..16])
}

/// Everything that is known about a task.
pub async fn value(app: &App, id: &PlanId, life: &Life, task: &TaskId) -> Result<Value, Problem> {
    let name = task.as_str();
    let artifacts = gantry_store::all_artifacts(app.store(), id).await?;
    let artifacts: Vec<_> = artifacts.into_iter().filter(|row| row.artifact.task == *task).collect();
    let entries = gantry_engine::entries(app.store(), id).await?;
    let history = entries.iter().filter(|entry| entry.event.task() == Some(task));
    Ok(json!({
        "plan": id, "task": task, "state": life.task_state(name), "about": about(life, task),
        "definition": life.definition(name), "life": life.task_life(name), "held_by": life.held_by(name),
        "inputs": life.inputs_of(name), "outputs": life.outputs(name),
        "artifacts": folded(&artifacts).iter().map(Shown::to_json).collect::<Vec<_>>(),
        "history": history.map(|entry| journal_value(id, entry)).collect::<Vec<_>>(),
    }))
}

/// Shows a task.
pub async fn detail(State(app): State<App>, Named((plan, task)): Named<(String, String)>) -> Result<Response, Problem> {
    let (id, life, task) = found(&app, &plan, &task).await?;
    let body = value(&app, &id, &life, &task).await?;
    Ok(([(header::ETAG, tag(&life, &task))], Told(body)).into_response())
}

/// Does a task again.
pub async fn retry(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<Why>,
) -> Result<Told<Value>, Problem> {
    let (id, _, task) = found(&app, &plan, &task).await?;
    say(&app, &id, Input::Retry { task, by: who.name, why: said.why }).await
}

/// Changes what a finished task gave.
pub async fn edit(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    headers: HeaderMap,
    Said(said): Said<Edit>,
) -> Result<Told<Value>, Problem> {
    if said.outputs.is_empty() && said.remove.is_empty() {
        return Err(
            Problem::unfit("task::nothing-changes", "nothing is to be changed").hint("name an output in `outputs`")
        );
    }
    // Nobody else changes the plan between looking and changing.
    let _turn = app.foreman.turn(&app.id(&plan).await?).await;
    let (id, life, task) = found(&app, &plan, &task).await?;
    check_match(&headers, &[tag(&life, &task)])?;
    let mut outputs: Outputs = life.outputs(task.as_str()).cloned().unwrap_or_default();
    for name in &said.remove {
        if outputs.remove(name).is_none() {
            let detail = format!("task `{task}` has no output `{}`", gantry_view::named(name));
            return Err(Problem::unfit("task::no-output", detail));
        }
    }
    outputs.extend(said.outputs);
    let input = Input::EditOutput { task, by: who.name, why: said.why, outputs };
    let (again, perhaps) = done_again(&life, &input, App::now())?;
    if !said.dry_run {
        app.foreman.tell(&id, input).await?;
    }
    Ok(Told(json!({"again": again, "perhaps": perhaps, "dry_run": said.dry_run})))
}

/// A person did a task: said as JSON, or as a form with files.
pub async fn done(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    request: Request,
) -> Result<Told<Value>, Problem> {
    let (outputs, artifacts) = if is_form(&request) {
        let fields = Fields::from_request(request, &app).await?;
        if let Some((odd, _)) = fields.values().find(|(name, _)| *name != "outputs") {
            let detail = format!("the form has no field `{}`", gantry_view::named(odd));
            return Err(Problem::wrong("request::wrong-fields", detail).hint("send `outputs` and files in `evidence`"));
        }
        let id = app.id(&plan).await?;
        drop(known(&app.engine().open(&id).await?.life, &task)?);
        (from_json(fields.get("outputs").as_bytes())?, evidence(&app, &fields).await?)
    } else {
        let Said(said) = Said::<Done>::from_request(request, &app).await?;
        drop(found(&app, &plan, &task).await?);
        let mut artifacts = Vec::new();
        for (name, text) in said.evidence {
            artifacts.push(keep(&app, &name, text.into_bytes()).await?);
        }
        (said.outputs, artifacts)
    };
    let (id, _, task) = found(&app, &plan, &task).await?;
    let success = Success { outputs, artifacts, ..Success::default() };
    say(&app, &id, Input::Report { task, by: who.name, end: Ok(success) }).await
}

/// Keeps the files that came with a form in the field `evidence`.
pub async fn evidence(app: &App, fields: &Fields) -> Result<Vec<ArtifactRef>, Problem> {
    let mut kept: Vec<ArtifactRef> = Vec::new();
    for file in fields.files("evidence") {
        // Browsers give the name alone; other programs may give a path.
        let name = file.name.rsplit(['/', '\\']).next().unwrap_or_default();
        if kept.iter().any(|one| one.name == name) {
            let detail = format!("two files are called `{}`", gantry_view::named(name));
            return Err(Problem::unfit("task::evidence-name", detail).hint("rename one of them"));
        }
        kept.push(keep(app, name, file.bytes.clone()).await?);
    }
    Ok(kept)
}

async fn keep(app: &App, name: &str, content: Vec<u8>) -> Result<ArtifactRef, Problem> {
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.contains(char::is_control) {
        return Err(Problem::unfit("task::evidence-name", "the name of a proof is one line of 1 to 255 characters"));
    }
    let bytes = content.len() as u64;
    let hash = app.store().put_blob(content, App::now()).await?;
    Ok(ArtifactRef { name: name.to_owned(), hash: hash.to_string(), bytes })
}

/// A person could not do a task.
pub async fn fail(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<Why>,
) -> Result<Told<Value>, Problem> {
    if said.why.trim().is_empty() {
        return Err(Problem::unfit("task::no-reason", "say why it could not be done, in `why`"));
    }
    let (id, _, task) = found(&app, &plan, &task).await?;
    say(&app, &id, Input::Report { task, by: who.name, end: Err(said.why) }).await
}

/// A person says what to do about a failure.
pub async fn resolve(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<Resolve>,
) -> Result<Told<Value>, Problem> {
    let (id, _, task) = found(&app, &plan, &task).await?;
    resolved(&app, &who, &id, vec![task], said).await
}

/// A person says what to do about every failure.
pub async fn resolve_all(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Resolve>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let tasks = helpless(&app.engine().open(&id).await?.life);
    if tasks.is_empty() {
        return Err(Problem::conflict("life::not-waiting", format!("no task of plan `{id}` asks for help"))
            .hint("look where the plan stands"));
    }
    resolved(&app, &who, &id, tasks, said).await
}

/// Says the same about all of these tasks.
pub async fn resolved(
    app: &App,
    who: &Who,
    id: &PlanId,
    tasks: Vec<TaskId>,
    said: Resolve,
) -> Result<Told<Value>, Problem> {
    let resolution = match said.how.as_str() {
        "retry" => Resolution::Retry { guidance: said.guidance },
        "complete" => Resolution::Complete { outputs: said.outputs },
        "skip" => Resolution::Skip,
        "fail" => Resolution::Fail,
        _ => return Err(Problem::unfit("task::how", "`how` is retry, complete, skip or fail")),
    };
    let mut told = Tell::Recorded;
    for task in tasks {
        let (by, why, resolution) = (who.name.clone(), said.why.clone(), resolution.clone());
        told = app.foreman.tell(id, Input::Resolve { task, by, resolution, why }).await?;
    }
    heard(app, id, told).await
}

/// A person judges checks of a task.
pub async fn judge(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<Judge>,
) -> Result<Told<Value>, Problem> {
    let (id, _, task) = found(&app, &plan, &task).await?;
    judged(&app, &who, &id, Some(task), said).await
}

/// A person judges the definition of done.
pub async fn judge_plan(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Judge>,
) -> Result<Told<Value>, Problem> {
    judged(&app, &who, &app.id(&plan).await?, None, said).await
}

/// Says what a person found about checks of a task, or of the plan.
pub async fn judged(
    app: &App,
    who: &Who,
    id: &PlanId,
    task: Option<TaskId>,
    said: Judge,
) -> Result<Told<Value>, Problem> {
    let one = |said: JudgeVerdict| Verdict {
        check: said.check,
        holds: said.holds,
        because: said.because,
        another_way: false, // a person who wants another way resolves the task
    };
    let (by, verdicts) = (who.name.clone(), said.verdicts.into_iter().map(one).collect());
    say(app, id, Input::Judged { task, by, verdicts, usage: Usage::default(), attempt: None, asked: None }).await
}

/// Something is written down about a task.
pub async fn note(
    State(app): State<App>,
    who: Who,
    Named((plan, task)): Named<(String, String)>,
    Said(said): Said<Note>,
) -> Result<Told<Value>, Problem> {
    let (id, _, task) = found(&app, &plan, &task).await?;
    say(&app, &id, Input::Note { task: Some(task), by: who.name, text: said.text }).await
}
