//! `gantry model stats`: what was asked of models, from the calls on record.

use std::collections::BTreeMap;
use std::process::ExitCode;

use gantry_llm::{Call, Counters};
use gantry_store::{ListFilter, Store, all_effects, all_plans};
use serde_json::{Value, json};

use crate::exit::{self, Fault};
use crate::file::count;
use crate::session::{self, RecordFile};
use crate::show::plain;
use crate::show::table::columns;
use crate::talk::talk;

/// The calls of one method by one model.
type Calls = BTreeMap<(String, String), Vec<Call>>;

pub fn run(record: &RecordFile, plan: Option<&str>, json: bool) -> Result<ExitCode, Fault> {
    let calls = session::block_on(async {
        let store = record.open()?;
        read(&store, plan).await
    })?;
    let all = Counters::of(calls.values().flatten());
    if json {
        exit::print_json(&all_of(&calls))?;
    } else if calls.is_empty() {
        talk!("no call of a model is on record");
    } else {
        let mut rows: Vec<Vec<String>> =
            calls.iter().map(|((method, used), calls)| row(method, used, &Counters::of(calls))).collect();
        rows.push(row("all", "", &all));
        exit::print(&columns(&rows))?;
        for cause in causes(calls.values().flatten()) {
            talk!("fallback: {}", plain(&cause));
        }
    }
    Ok(ExitCode::from(exit::DONE))
}

/// What was asked of models, for programs.
pub async fn counted(store: &dyn Store, plan: Option<&str>) -> Result<Value, Fault> {
    Ok(all_of(&read(store, plan).await?))
}

fn all_of(calls: &Calls) -> Value {
    let methods: Vec<Value> = calls.iter().map(to_json).collect();
    json!({"all": Counters::of(calls.values().flatten()), "methods": methods})
}

async fn read(store: &dyn Store, plan: Option<&str>) -> Result<Calls, Fault> {
    let plans = match plan {
        Some(plan) => vec![store.plan(plan).await?],
        None => all_plans(store, &ListFilter::default()).await?,
    };
    let mut calls = Calls::new();
    for plan in plans {
        for row in all_effects(store, &plan.id, None).await? {
            let call =
                row.answer.filter(|_| row.kind == "model").and_then(|answer| serde_json::from_value(answer).ok());
            let Some(call): Option<Call> = call else { continue };
            let used = call.used().unwrap_or("nobody").to_owned();
            calls.entry((call.method.clone(), used)).or_default().push(call);
        }
    }
    Ok(calls)
}

fn row(method: &str, used: &str, sum: &Counters) -> Vec<String> {
    let number = |many: u64| usize::try_from(many).unwrap_or(usize::MAX);
    vec![
        plain(method),
        plain(used),
        count(number(sum.requests), "request"),
        count(number(sum.calls), "call"),
        count(number(sum.failures), "failure"),
        count(number(sum.fallbacks), "fallback"),
        count(number(sum.tokens.all()), "token") + if sum.tokens_guessed { " (partly a guess)" } else { "" },
        format!("${}", sum.cost_usd),
        sum.duration.to_string(),
    ]
}

/// Why another than the model asked first has answered, each reason once.
fn causes<'a>(calls: impl Iterator<Item = &'a Call>) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    for call in calls {
        let Some(why) = call.fallback() else { continue };
        let cause = format!("{} answered instead of {}: {why}", call.used().unwrap_or_default(), call.asked);
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    causes
}

fn to_json(((method, used), calls): (&(String, String), &Vec<Call>)) -> Value {
    json!({"method": method, "model": used, "counters": Counters::of(calls), "fallbacks": causes(calls.iter())})
}
