//! What each statement of a plan rests on, one by one: given, a fact with its source, an assumption or an estimate.

use std::fmt::Display;

use gantry_core::plan::Plan;
use serde_json::{Map, Value, json};

/// Who says so when it stands in a plan that a person wrote.
const FILE: &str = "plan file";
/// Who says so when it was asked for.
const REQUEST: &str = "request";

/// Lists the claims of a plan and of what its planning made.
pub fn claims(plan: &Plan, parts: &Map<String, Value>) -> Vec<Value> {
    let part = |name: &str| parts.get(name).unwrap_or(&Value::Null);
    let mut all = given(part("facts"));
    for gap in list(&part("facts")["assumed"]) {
        let says = format!("{} {}", text(&gap["question"]), text(&gap["assumed"]));
        all.push(claim(text(&gap["about"]), "not said", says, "assumption", "taken because nobody said it"));
    }
    for assumption in list(&part("assumptions")["assumptions"]) {
        let by = by(part("assumptions"));
        all.push(claim(text(&assumption["id"]), "assumption", text(&assumption["assumption"]), "assumption", by));
    }
    for project in list(&part("related")["related"]) {
        let name = text(&project["name"]);
        all.push(claim(name, "comparable project", text(&project["lesson"]), "fact", text(&project["where"])));
    }
    let (work, risks) = (by(&part("breakdown")[0]), by(part("risks")));
    for (id, numbers) in &plan.schedule.tasks {
        if let Some(estimate) = &numbers.estimate {
            all.push(claim(id.as_str(), "hours", json_text(estimate), "estimate", work));
        }
        for cost in &numbers.costs {
            all.push(claim(id.as_str(), "cost", json_text(cost), "estimate", work));
        }
    }
    for task in plan.tasks.iter().filter(|task| !plan.schedule.tasks.contains_key(&task.id)) {
        if let Some(estimate) = &task.estimate {
            all.push(claim(task.id.as_str(), "hours", json_text(estimate), "estimate", work));
        }
    }
    for risk in &plan.schedule.risks {
        let says = format!(
            "{} of 1, impact {}",
            risk.probability,
            risk.impact.map_or_else(String::new, |one| one.to_string())
        );
        all.push(claim(&risk.id, "risk", says, "estimate", risks));
    }
    all
}

/// What the request and the documents beside it say.
fn given(facts: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for name in ["deadline", "place", "team_size", "client", "users"] {
        if !facts[name].is_null() {
            all.push(claim(name, "request", text(&facts[name]), "given", REQUEST));
        }
    }
    if !facts["budget"].is_null() {
        let says = format!("{} {}", facts["budget"]["amount"], text(&facts["budget"]["currency"]));
        all.push(claim("budget", "request", says, "given", REQUEST));
    }
    for demand in list(&facts["demands"]) {
        all.push(claim(text(&demand["id"]), "demand", text(&demand["text"]), "given", REQUEST));
    }
    for (at, success) in list(&facts["success"]).enumerate() {
        all.push(claim(format!("S{}", at + 1), "success", text(success), "given", REQUEST));
    }
    for document in list(&facts["context"]) {
        let name = text(&document["name"]);
        all.push(claim(&name, "document", "came with the request", "fact", &name));
    }
    all
}

fn claim(id: impl Display, about: &str, says: impl Display, claim: &str, source: impl Display) -> Value {
    json!({
        "id": id.to_string(), "about": about, "says": says.to_string(), "claim": claim, "source": source.to_string(),
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value as plan files write it.
fn json_text(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).map(|value| text(&value)).unwrap_or_default()
}

/// Who made a part.
fn by(part: &Value) -> &str {
    part["answered_by"].as_str().unwrap_or(FILE)
}

/// The claims in groups that rest on the same: what, which, on what, by whom.
pub(crate) fn grouped(claims: &Value) -> Value {
    let mut groups: Vec<Value> = Vec::new();
    for one in list(claims) {
        let same = |group: &&mut Value| ["claim", "about", "source"].iter().all(|field| group[*field] == one[*field]);
        match groups.iter_mut().find(same) {
            Some(group) => {
                if let Some(ids) = group["which"].as_array_mut()
                    && !ids.contains(&one["id"])
                {
                    ids.push(one["id"].clone());
                }
            }
            None => groups.push(json!({
                "claim": one["claim"], "about": one["about"], "source": one["source"], "which": [one["id"]],
            })),
        }
    }
    Value::Array(groups)
}

/// `1 estimate`, `2 estimates`.
fn number_of(number: usize, many: &str) -> String {
    let one = match many {
        "facts of others" => "fact of others",
        other => other.strip_suffix('s').unwrap_or(other),
    };
    format!("{number} {}", if number == 1 { one } else { many })
}

/// How many claims rest on what.
pub(crate) fn counted(claims: &Value) -> Value {
    let of = |claim: &str| list(claims).filter(|one| one["claim"] == claim).count();
    let sorts =
        [("given", "given"), ("fact", "facts of others"), ("assumption", "assumptions"), ("estimate", "estimates")];
    let said = sorts.map(|(sort, many)| (of(sort), many)).into_iter().filter(|(number, _)| *number > 0);
    let said: Vec<String> = said.map(|(number, many)| number_of(number, many)).collect();
    json!({
        "said": said.join(", "),
        "all": list(claims).count(), "given": of("given"), "fact": of("fact"), "assumption": of("assumption"),
        "estimate": of("estimate"),
    })
}
