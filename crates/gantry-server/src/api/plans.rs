//! Plans: list, create, look, forget.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_core::plan::Plan;
use gantry_engine::NewPlan as ToCreate;
use gantry_format::Loaded;
use gantry_planner::facts::{Asked as Request, Document};
use gantry_planner::intake;
use gantry_planner::template::{DEFAULT, Detail};
use gantry_store::{ListFilter, PlanCard};
use gantry_view::standing::{Standing, is_aside};
use serde_json::{Value, json};

use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Asked, Named, Raw, Told, from_json};
use crate::documented::{Described, Does};
use crate::live::pump;
use crate::problem::Problem;
use crate::shapes::{Anything, Created, ListQuery, NewPlan, PlanDetail, PlanPage};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/plans",
        Role::Viewer,
        list,
        Does::new("plans", "List plans, the newest first")
            .asked::<ListQuery>()
            .gives::<PlanPage>(200, "A page of plans."),
    )
    .post(
        "/api/v1/plans",
        Role::Operator,
        create,
        Does::new("plans", "Create a plan from a file, from JSON, or from an objective in words")
            .about(
                "A body that is no JSON is read as a plan file, such as `Content-Type: \
             application/yaml`. It begins at once unless `start` is false.",
            )
            .header("Idempotency-Key", "The same key with the same plan again gives the plan that it gave first.")
            .takes::<NewPlan>()
            .gives::<Created>(201, "It is created and waits for `start`.")
            .gives::<Created>(202, "It is created and has begun; watch it at `events`."),
    )
    .post(
        "/api/v1/plans/validate",
        Role::Viewer,
        validate,
        Does::new("plans", "Say everything that is wrong with a plan, and create nothing")
            .takes::<NewPlan>()
            .gives::<Anything>(200, "What was found, with file, line and column."),
    )
    .get(
        "/api/v1/plans/{plan}",
        Role::Viewer,
        detail,
        Does::new("plans", "Where a plan stands")
            .gives::<PlanDetail>(200, "The plan. Its ETag changes with everything that happens to it."),
    )
    .delete(
        "/api/v1/plans/{plan}",
        Role::Admin,
        forget,
        Does::new("plans", "Remove a plan that is over, with everything that belongs to it")
            .gives_nothing(204, "It is gone."),
    )
    .post(
        "/api/v1/plans/dry-run",
        Role::Operator,
        dry_run,
        Does::new("plans", "Say what each task of a plan would do, and touch nothing")
            .takes::<NewPlan>()
            .gives::<Anything>(200, "The tasks in the order in which they could be done, each with a preview."),
    )
}

/// How many plans a page has when nobody says.
const PAGE: u32 = 50;
/// How much text all documents of a request may have together.
const CONTEXT_BYTES_MAX: usize = 60_000;

/// Lists plans.
pub async fn list(State(app): State<App>, Asked(query): Asked<ListQuery>) -> Result<Told<Value>, Problem> {
    let (cards, next) = page(&app, &query).await?;
    let mut items = Vec::new();
    for card in &cards {
        items.push(pump::progress(card, app.is_driven(card).await?));
    }
    Ok(Told(json!({"items": items, "next": next})))
}

/// One page of plans.
pub async fn page(app: &App, query: &ListQuery) -> Result<(Vec<PlanCard>, Option<u64>), Problem> {
    let limit = query.limit.unwrap_or(PAGE);
    if !(1..=1_000).contains(&limit) {
        return Err(Problem::wrong("request::wrong-query", "`limit` is a number from 1 to 1000"));
    }
    let states = states(query.state.as_deref().unwrap_or_default())?;
    let text = query.text.clone().filter(|text| !text.trim().is_empty());
    let label = query.label.clone().filter(|label| !label.trim().is_empty());
    let owner = query.owner.clone().filter(|owner| !owner.trim().is_empty());
    let mut filter = ListFilter { states, label, owner, text, limit, cursor: query.cursor, ..ListFilter::default() };
    let mut found = Vec::new();
    loop {
        let page = app.store().list(filter.clone()).await?;
        let inside = query.inside.unwrap_or(false);
        found.extend(page.items.into_iter().filter(|plan| inside || !is_aside(plan)));
        filter.cursor = page.next;
        if found.len() >= limit as usize || filter.cursor.is_none() {
            return Ok((found, filter.cursor));
        }
        filter.limit = limit - u32::try_from(found.len()).unwrap_or(limit);
    }
}

/// Reads `blocked,paused`.
fn states(text: &str) -> Result<Vec<PlanState>, Problem> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words
        .map(|word| {
            serde_json::from_value(json!(word)).map_err(|_| {
                Problem::wrong("request::wrong-query", format!("`{}` is no state of a plan", gantry_view::named(word)))
                    .hint("states are pending, running, paused, blocked, completed, failed, abandoned")
            })
        })
        .collect()
}

/// The plan that a request asks for, and where it comes from.
pub fn asked_for(app: &App, new: &NewPlan) -> Result<(Plan, &'static str), Problem> {
    match (&new.plan, &new.file, &new.objective) {
        (Some(plan), None, None) => {
            let text = serde_json::to_vec(plan).unwrap_or_default();
            Ok((sound(app.house.read("plan.json", &text))?, "the API"))
        }
        (None, Some(file), None) => {
            let name = new.file_name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or("plan");
            Ok((sound(app.house.read(name, file.as_bytes()))?, "the API"))
        }
        (None, None, Some(objective)) => Ok((from_words(app, objective, new)?, "an objective")),
        _ => Err(Problem::unfit("plan::which", "say exactly one of `plan`, `file` and `objective`")),
    }
}

fn sound(loaded: Loaded) -> Result<Plan, Problem> {
    let errors = loaded.report.errors().count();
    let found = loaded.report.to_json();
    loaded.plan.ok_or_else(|| {
        Problem::unfit("plan::wrong", format!("the plan has {}", gantry_view::count(errors, "error")))
            .with_errors(found["errors"].clone())
            .hint("see `errors`: each has its place and mostly a fix")
    })
}

fn from_words(app: &App, objective: &str, new: &NewPlan) -> Result<Plan, Problem> {
    if objective.len() as u64 > intake::REQUEST_BYTES_MAX {
        return Err(Problem::unfit("plan::too-long", "the objective is too long")
            .hint("say the goal and what must hold; the rest can be given to the tasks later"));
    }
    let mut asked = Request::new(objective, app.house.today());
    asked.context = new.context.iter().map(|one| Document { name: one.name.clone(), text: one.text.clone() }).collect();
    let size: usize = asked.context.iter().map(|document| document.text.len()).sum();
    if size > CONTEXT_BYTES_MAX {
        let detail = format!("the documents have {size} bytes, and {CONTEXT_BYTES_MAX} can be taken into account");
        return Err(Problem::unfit("plan::too-much-context", detail).hint("give the parts that matter, or a summary"));
    }
    intake::check(&asked)?;
    let templates = app.house.templates()?;
    let name = new.template.as_deref().unwrap_or(DEFAULT);
    let template = templates.iter().find(|template| template.name == name).ok_or_else(|| {
        Problem::unfit("plan::no-template", format!("there is no template `{}`", gantry_view::named(name)))
            .hint("see them at /api/v1/templates")
    })?;
    Ok(intake::plan(template, &asked, detail_of(new.detail.as_deref())?, &new.sections)?)
}

/// How much is worked out, in our words and in those of others.
pub fn detail_of(text: Option<&str>) -> Result<Detail, Problem> {
    match text.map(str::to_ascii_lowercase).as_deref() {
        None | Some("") => Ok(Detail::default()),
        Some("fast" | "fast_but_skip_details") => Ok(Detail::Fast),
        Some("balanced" | "balanced_speed_and_detail") => Ok(Detail::Balanced),
        Some("full" | "all_details_but_slow") => Ok(Detail::Full),
        Some(_) => Err(Problem::unfit("plan::detail", "`detail` is fast, balanced or full")),
    }
}

/// Reads what is to be created: JSON that describes it, or a plan file as it is.
pub fn read_new(raw: &Raw) -> Result<NewPlan, Problem> {
    let is_json = raw.media.is_empty() || raw.media == "application/json" || raw.media.ends_with("+json");
    if is_json {
        return from_json(&raw.bytes);
    }
    let file = String::from_utf8(raw.bytes.to_vec())
        .map_err(|_| Problem::wrong("request::not-text", "the body is no text in UTF-8"))?;
    let name = match raw.media.as_str() {
        "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => "plan.yaml",
        "text/vnd.mermaid" => "plan.mmd",
        "text/plain" => "plan",
        other => return Err(crate::body::not_json(other)),
    };
    Ok(NewPlan { file: Some(file), file_name: Some(name.to_owned()), ..NewPlan::default() })
}

/// Creates a plan.
pub async fn create(State(app): State<App>, who: Who, headers: HeaderMap, raw: Raw) -> Result<Response, Problem> {
    let new = read_new(&raw)?;
    let once = once(&headers)?;
    let card = make(&app, &who, &new, once).await?;
    Ok(created(&card, if new.start.unwrap_or(true) { StatusCode::ACCEPTED } else { StatusCode::CREATED }))
}

/// The key of a request that is carried out once, however often it is sent.
pub fn once(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    match headers.get("idempotency-key").map(|key| key.to_str()) {
        None => Ok(None),
        Some(Ok(key)) if !key.trim().is_empty() && key.len() <= 255 => Ok(Some(key.trim().to_owned())),
        Some(_) => Err(Problem::wrong("request::key", "`Idempotency-Key` is a text of 1 to 255 characters")),
    }
}

/// What a request says about models, as a plan keeps it.
pub async fn models_of(app: &App, new: &NewPlan) -> Result<Vec<String>, Problem> {
    let said = |text: &Option<String>| text.clone().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut models = Vec::new();
    if let Some(profile) = said(&new.profile) {
        let (known, _) = app.house.profiles()?;
        if !known.contains(&profile) {
            let detail = format!("there is no profile `{}`", gantry_view::named(&profile));
            return Err(Problem::unfit("plan::profile", detail).hint(format!("profiles are {}", known.join(", "))));
        }
        models.push(format!("--profile={profile}"));
    }
    if let Some(model) = said(&new.model) {
        if !app.house.models().await?.to_string().contains(&format!("\"model\":{}", json!(model))) {
            let detail = format!("the model `{}` is not one of those that answer here", gantry_view::named(&model));
            return Err(Problem::unfit("plan::model", detail).hint("see them at /api/v1/models, or leave it out"));
        }
        models.push(format!("--model={model}"));
    }
    if new.offline {
        models.push(format!("--model={}", gantry_llm::config::OFFLINE));
    }
    Ok(models)
}

/// Creates a plan, and begins it unless it is to wait.
pub async fn make(app: &App, who: &Who, new: &NewPlan, once: Option<String>) -> Result<PlanCard, Problem> {
    let (plan, file) = asked_for(app, new)?;
    let mut origin = app.house.origin(&who.name)?;
    origin.given.models.extend(models_of(app, new).await?);
    file.clone_into(&mut origin.file);
    // A key is of whoever sends it: nobody is given the plan of someone else.
    let once = once.map(|key| format!("http:{}:{key}", who.name));
    let id = app.engine().create(ToCreate { plan, origin, once }).await?;
    let card = app.plan(id.as_str()).await?;
    if new.start.unwrap_or(true)
        && card.card.state == PlanState::Pending
        && let Err(problem) = app.foreman.drive(&id, vec![Input::Start]).await
    {
        // The same request with the same key may come twice at once: then the other one has begun it.
        let card = app.plan(id.as_str()).await?;
        return if card.card.state == PlanState::Pending { Err(problem) } else { Ok(card) };
    }
    app.plan(id.as_str()).await
}

/// The answer to a plan that was created.
pub fn created(card: &PlanCard, status: StatusCode) -> Response {
    let url = format!("/api/v1/plans/{}", card.id);
    let body = json!({
        "plan": card.id, "no": card.no, "state": card.card.state, "url": url, "events": format!("{url}/events?after=0"),
    });
    (status, [(header::LOCATION, url)], Told(body)).into_response()
}

/// Says everything that is wrong with a plan.
pub async fn validate(State(app): State<App>, raw: Raw) -> Result<Told<Value>, Problem> {
    let new = read_new(&raw)?;
    if new.objective.is_some() {
        let checked = asked_for(&app, &new);
        return Ok(Told(match checked {
            Ok((plan, _)) => json!({"ok": true, "title": plan.title, "tasks": plan.tasks.len(), "errors": []}),
            Err(problem) => json!({"ok": false, "errors": [{"message": problem.detail, "hint": problem.hint}]}),
        }));
    }
    let (name, bytes) = match (&new.plan, &new.file) {
        (Some(plan), None) => ("plan.json", serde_json::to_vec(plan).unwrap_or_default()),
        (None, Some(file)) => (new.file_name.as_deref().unwrap_or("plan"), file.clone().into_bytes()),
        _ => return Err(Problem::unfit("plan::which", "say exactly one of `plan`, `file` and `objective`")),
    };
    let loaded = app.house.read(name, &bytes);
    let mut found = loaded.report.to_json();
    found["ok"] = json!(loaded.plan.is_some());
    if let Some(plan) = &loaded.plan {
        found["title"] = json!(plan.title);
        found["tasks"] = json!(plan.tasks.len());
    }
    Ok(Told(found))
}

/// Says what each task of a plan would do.
pub async fn dry_run(State(app): State<App>, raw: Raw) -> Result<Told<Value>, Problem> {
    let new = read_new(&raw)?;
    let (plan, _) = asked_for(&app, &new)?;
    let models = models_of(&app, &new).await?;
    Ok(Told(app.house.dry_run(plan, &models).await?))
}

/// Where a plan stands.
pub async fn standing(app: &App, reference: &str) -> Result<Standing, Problem> {
    let mut standing = Standing::read(app.store(), reference).await?;
    standing.driven = app.is_driven(&standing.card).await?;
    Ok(standing.foreseen())
}

/// The tag of a plan: it changes with everything that happens.
pub fn tag(card: &PlanCard) -> String {
    format!("\"{}\"", card.length)
}

/// A plan with everything about where it stands.
pub fn value(app: &App, standing: &Standing) -> Value {
    let mut value = gantry_view::json::standing(standing);
    value["percent"] = json!(pump::percent(&standing.card));
    value["objective"] = json!(standing.life.header().objective);
    value["trouble"] = json!(app.foreman.trouble(&standing.card.id));
    value
}

/// Shows a plan.
pub async fn detail(
    State(app): State<App>,
    Named(plan): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let standing = standing(&app, &plan).await?;
    let tag = tag(&standing.card);
    if headers.get(header::IF_NONE_MATCH).is_some_and(|seen| seen == tag.as_str()) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    Ok(([(header::ETAG, tag)], Told(value(&app, &standing))).into_response())
}

/// Removes a plan.
pub async fn forget(State(app): State<App>, Named(plan): Named<String>) -> Result<StatusCode, Problem> {
    let card = app.plan(&plan).await?;
    if app.is_driven(&card).await? {
        return Err(
            Problem::conflict("plan::driven", format!("plan `{}` is being worked on", card.id)).hint("cancel it first")
        );
    }
    if !card.card.state.is_over() && card.card.state != PlanState::Pending {
        return Err(
            Problem::conflict("plan::not-over", format!("plan `{}` is not over", card.id)).hint("cancel it first")
        );
    }
    app.store().forget(&card.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
