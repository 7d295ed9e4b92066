//! What is done about plans and models beyond steering: prompts and models as they fared, ways back, the kill switch.

use axum::extract::State;
use gantry_core::input::{Change, Input, TakeBack};
use gantry_view::standing::{is_new_fork, unfinished};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::steer::say;
use crate::access::Who;
use crate::app::App;
use crate::body::{Asked, Named, Said, Told};
use crate::problem::Problem;
use crate::shapes::{TakeWay, TryModels, Why};

/// Why, when nobody says why.
const NO_REASON: &str = "everything was stopped";

/// In which words.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct InWords {
    /// The language; the one that is configured when it is left out.
    pub locale: Option<String>,
    /// One of its variants.
    pub variant: Option<String>,
}

/// A prompt with its examples filled in.
pub async fn prompt(
    State(app): State<App>,
    Named(name): Named<String>,
    Asked(words): Asked<InWords>,
) -> Result<Told<Value>, Problem> {
    let shown = app.house.prompt(&name, words.locale.as_deref(), words.variant.as_deref());
    let missing = |trouble: crate::house::Trouble| {
        Problem::missing("prompt::unknown", trouble.message).hint("see them at /api/v1/prompts")
    };
    Ok(Told(shown.map_err(missing)?))
}

/// Of which prompt.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct OfPrompt {
    /// Only this prompt.
    pub name: Option<String>,
}

/// How prompts fare.
pub async fn prompt_uses(State(app): State<App>, Asked(of): Asked<OfPrompt>) -> Result<Told<Value>, Problem> {
    Ok(Told(app.house.prompt_uses(of.name.as_deref()).await?))
}

/// Of which plan.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct OfPlan {
    /// Only what this plan asked.
    pub plan: Option<String>,
}

/// What was asked of models.
pub async fn model_uses(State(app): State<App>, Asked(of): Asked<OfPlan>) -> Result<Told<Value>, Problem> {
    let plan = match &of.plan {
        Some(plan) => Some(app.id(plan).await?),
        None => None,
    };
    Ok(Told(app.house.model_uses(plan.as_ref().map(gantry_core::id::PlanId::as_str)).await?))
}

/// Whether models answer.
pub async fn try_models(State(app): State<App>, Said(said): Said<TryModels>) -> Result<Told<Value>, Problem> {
    Ok(Told(app.house.try_models(said.what.as_deref()).await?))
}

/// Whether a template holds together.
pub async fn check_template(State(app): State<App>, Named(name): Named<String>) -> Result<Told<Value>, Problem> {
    let all = app.house.templates()?;
    let Some(found) = all.into_iter().find(|one| one.name == name) else {
        let detail = format!("there is no template `{}`", gantry_view::named(&name));
        return Err(Problem::missing("template::unknown", detail).hint("see them at /api/v1/templates"));
    };
    let faults = tokio::task::spawn_blocking(move || app.house.faults_of(&found)).await;
    let faults = faults.map_err(|error| Problem::broken("server::panicked", error.to_string()))?;
    Ok(Told(json!({"name": name, "ok": faults.is_empty(), "faults": faults})))
}

/// What would bring a plan back.
pub async fn ways(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    Ok(Told(app.house.ways_back(&id).await?))
}

/// Takes one of the ways.
pub async fn take_way(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<TakeWay>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let _turn = app.foreman.turn(&id).await;
    let base = app.engine().open(&id).await?.life.revision();
    let (plan, what) = app.house.way_taken(&id, said.take).await?;
    let rationale = Some(said.why).filter(|why| !why.trim().is_empty()).unwrap_or(what);
    say(&app, &id, Input::Revise { by: who.name, rationale, base, change: Change::To(Box::new(plan)) }).await
}

/// Gives up every plan that is under way.
pub async fn cancel_all(State(app): State<App>, who: Who, Said(said): Said<Why>) -> Result<Told<Value>, Problem> {
    let why = Some(said.why).filter(|why| !why.trim().is_empty()).unwrap_or_else(|| NO_REASON.to_owned());
    let mut items = Vec::new();
    // A plan inside another ends with that one.
    for card in
        unfinished(app.store()).await?.into_iter().filter(|card| card.card.parent.is_none() && !is_new_fork(card))
    {
        let input = Input::Cancel { by: who.name.clone(), why: why.clone(), undo: TakeBack::Nothing };
        let told = app.foreman.tell(&card.id, input).await;
        items.push(
            json!({"plan": card.id, "cancelled": told.is_ok(), "problem": told.err().map(|problem| problem.detail)}),
        );
    }
    Ok(Told(json!({"items": items})))
}
