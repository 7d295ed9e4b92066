//! `gantry prompt stats`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use gantry_llm::Call;
use gantry_llm::prompts::{PromptMetrics, Score};
use gantry_store::{ListFilter, Store, all_effects, all_plans};
use serde_json::{Value, json};

use crate::exit::{self, Fault};
use crate::file::count;
use crate::session::{self, Record};
use crate::show::table::columns;
use crate::talk::talk;

/// How the variants of one version of a prompt fare, in one language, best first.
struct Report {
    prompt: String,
    version: String,
    locale: String,
    scores: Vec<Score>,
}

pub fn run(record: &Record, name: Option<&str>) -> Result<ExitCode, Fault> {
    let versions = session::block_on(async {
        let store = record.open()?;
        read(&store, name).await
    })?;
    if record.json {
        exit::print_json(&all_of(&versions))?;
    } else if versions.is_empty() {
        talk!("no use of {} is on record", name.map_or_else(|| "a prompt".to_owned(), |name| format!("`{name}`")));
    } else {
        exit::print(&columns(&versions.iter().flat_map(rows).collect::<Vec<_>>()))?;
        for version in versions.iter().filter(|version| version.scores.len() > 1) {
            let (name, best) = (&version.prompt, &version.scores[0].variant);
            talk!("best variant of {name}, version {} ({}): {best}", version.version, version.locale);
        }
    }
    Ok(ExitCode::from(exit::DONE))
}

/// How prompts fare, for programs.
pub async fn counted(store: &dyn Store, name: Option<&str>) -> Result<Value, Fault> {
    Ok(all_of(&read(store, name).await?))
}

fn all_of(versions: &[Report]) -> Value {
    json!({"prompts": versions.iter().map(to_json).collect::<Vec<_>>()})
}

/// Adds up all calls on record, by version.
async fn read(store: &dyn Store, name: Option<&str>) -> Result<Vec<Report>, Fault> {
    let mut metrics: BTreeMap<(String, String), PromptMetrics> = BTreeMap::new();
    for plan in all_plans(store, &ListFilter::default()).await? {
        for row in all_effects(store, &plan.id, None).await? {
            let call =
                row.answer.filter(|_| row.kind == "model").and_then(|answer| serde_json::from_value(answer).ok());
            let Some(call): Option<Call> = call else { continue };
            let Some(prompt) = &call.request.prompt else { continue };
            if name.is_none_or(|name| name == prompt.name) {
                let key = (prompt.name.clone(), prompt.version.clone());
                metrics.entry(key).or_default().count(&call);
            }
        }
    }
    let mut versions = Vec::new();
    for ((prompt, version), metrics) in metrics {
        for locale in metrics.prompts.get(&prompt).into_iter().flat_map(BTreeMap::keys) {
            let (scores, locale) = (metrics.scores(&prompt, locale), locale.clone());
            versions.push(Report { prompt: prompt.clone(), version: version.clone(), locale, scores });
        }
    }
    Ok(versions)
}

fn rows(version: &Report) -> Vec<Vec<String>> {
    let row = |score: &Score| {
        let metrics = score.metrics;
        vec![
            version.prompt.clone(),
            format!("version {}", version.version),
            version.locale.clone(),
            score.variant.clone(),
            count(usize::try_from(metrics.uses).unwrap_or(usize::MAX), "use"),
            format!("{:.0} % succeed", metrics.success_rate() * 100.0),
            format!("{:.0} tokens", metrics.tokens_mean()),
            format!("{:.0} ms", metrics.duration_ms_mean()),
            format!("score {:.2}", score.score),
        ]
    };
    version.scores.iter().map(row).collect()
}

fn to_json(version: &Report) -> Value {
    json!({
        "prompt": version.prompt, "version": version.version, "locale": version.locale,
        "best": version.scores.first().map(|score| &score.variant), "variants": version.scores,
    })
}
