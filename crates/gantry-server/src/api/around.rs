//! What is around plans: templates, prompts, models, money, the record as a whole, the machine.

use std::collections::BTreeMap;

use axum::extract::State;
use gantry_core::plan::Money;
use gantry_store::{ListFilter, all_effects, all_plans};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::app::App;
use crate::body::{Asked, Named, Told};
use crate::problem::Problem;

/// How many plans with calls are looked into for the sums by day and model.
const COUNTED_MAX: usize = 500;

/// All templates.
pub async fn templates(State(app): State<App>) -> Result<Told<Value>, Problem> {
    let all = app.house.templates()?;
    let items: Vec<Value> = all
        .iter()
        .map(|one| {
            let sections = one.sections().unwrap_or_default();
            json!({"name": one.name, "from": one.from, "about": one.about(), "sections": sections})
        })
        .collect();
    Ok(Told(json!({"items": items})))
}

/// One template.
pub async fn template(State(app): State<App>, Named(name): Named<String>) -> Result<Told<Value>, Problem> {
    let all = app.house.templates()?;
    let found = all.iter().find(|one| one.name == name).ok_or_else(|| {
        Problem::missing("template::unknown", format!("there is no template `{}`", gantry_view::named(&name)))
            .hint("see them at /api/v1/templates")
    })?;
    let files: BTreeMap<&str, &str> = found.files().collect();
    Ok(Told(json!({
        "name": found.name, "from": found.from, "about": found.about(), "files": files,
        "sections": found.sections().unwrap_or_default(),
    })))
}

/// All prompts.
pub async fn prompts(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(app.house.prompts()?))
}

/// All models.
pub async fn models(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(app.house.models().await?))
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

/// The machine.
pub async fn doctor(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(app.house.doctor().await?))
}

/// The JSON Schema of plan files.
pub async fn schema() -> Told<Value> {
    Told(json!(gantry_format::schema()))
}

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
