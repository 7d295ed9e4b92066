//! Models and prompts: who answers, what is asked, how they fared, what was spent.

use std::collections::BTreeMap;

use axum::extract::State;
use gantry_core::plan::Money;
use gantry_store::{ListFilter, all_effects, all_plans};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::access::Role;
use crate::app::App;
use crate::body::{Asked, Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::{Anything, TryModels};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/prompts/{name}",
        Role::Viewer,
        prompt,
        Does::new("house", "What a prompt takes, and what it says with its examples filled in")
            .asked::<InWords>()
            .gives::<Anything>(200, "The prompt."),
    )
    .get(
        "/api/v1/usage/prompts",
        Role::Viewer,
        prompt_uses,
        Does::new("house", "How often prompts were used, what that took, and which variant is best")
            .asked::<OfPrompt>()
            .gives::<Anything>(200, "The counts."),
    )
    .get(
        "/api/v1/usage/models",
        Role::Viewer,
        model_uses,
        Does::new("house", "What was asked of models: calls, failures, fallbacks, tokens, money and time")
            .asked::<OfPlan>()
            .gives::<Anything>(200, "The sums."),
    )
    .post(
        "/api/v1/models/test",
        Role::Operator,
        try_models,
        Does::new("house", "Ask models for one word, to see whether they answer")
            .may_take::<TryModels>()
            .gives::<Anything>(200, "Who answered."),
    )
    .get(
        "/api/v1/prompts",
        Role::Viewer,
        prompts,
        Does::new("house", "All prompts").gives::<Anything>(200, "The prompts."),
    )
    .get(
        "/api/v1/models",
        Role::Viewer,
        models,
        Does::new("house", "Which models answer for which role, and at what price")
            .gives::<Anything>(200, "The models."),
    )
    .get(
        "/api/v1/cost",
        Role::Viewer,
        cost,
        Does::new("house", "What was spent, by day, by model and by plan").gives::<Anything>(200, "The sums."),
    )
}

/// All prompts.
pub async fn prompts(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(app.house.prompts()?))
}

/// All models.
pub async fn models(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(app.house.models().await?))
}

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

/// How many plans with calls are looked into for the sums by day and model.
const COUNTED_MAX: usize = 500;

/// What was spent.
pub async fn cost(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(spent(&app).await?))
}

/// What was spent, by day, by model and by plan.
pub async fn spent(app: &App) -> Result<Value, Problem> {
    let (mut days, mut models) = (BTreeMap::<String, Money>::new(), BTreeMap::<String, (Money, u64, u64)>::new());
    let (mut plans, mut total) = (Vec::new(), Money::default());
    let mut counted = 0;
    for card in all_plans(app.store(), &ListFilter::default()).await? {
        let used = card.card.used;
        total = Money(total.0.saturating_add(used.cost_usd.0));
        if used.model_calls == 0 && used.cost_usd == Money::default() {
            continue;
        }
        plans.push(json!({
            "plan": card.id, "no": card.no, "title": card.card.title, "cost_usd": used.cost_usd,
            "model_calls": used.model_calls, "tokens": used.tokens,
        }));
        counted += 1;
        if counted > COUNTED_MAX {
            continue;
        }
        for effect in all_effects(app.store(), &card.id, None).await?.iter().filter(|effect| effect.kind == "model") {
            let day = effect.started_at.to_string().chars().take(10).collect::<String>();
            let sum = days.entry(day).or_default();
            *sum = Money(sum.0.saturating_add(effect.usage.cost_usd.0));
            let answer = effect.answer.as_ref();
            let model = answer.and_then(|answer| answer.pointer("/answer/model")).and_then(Value::as_str);
            let model = model.or_else(|| effect.request.pointer("/model").and_then(Value::as_str)).unwrap_or("unknown");
            let (money, calls, tokens) = models.entry(model.to_owned()).or_default();
            *money = Money(money.0.saturating_add(effect.usage.cost_usd.0));
            (*calls, *tokens) = (*calls + 1, *tokens + effect.usage.tokens);
        }
    }
    let days: Vec<Value> = days.into_iter().map(|(day, sum)| json!({"day": day, "cost_usd": sum})).collect();
    let models: Vec<Value> = models
        .into_iter()
        .map(|(model, (sum, calls, tokens))| json!({"model": model, "cost_usd": sum, "calls": calls, "tokens": tokens}))
        .collect();
    let partial = counted > COUNTED_MAX;
    Ok(json!({"total_usd": total, "by_day": days, "by_model": models, "by_plan": plans, "partial": partial}))
}
