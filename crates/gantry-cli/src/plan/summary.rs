//! What came of planning: on one screen, or as one object.

use std::fmt::Write as _;

use gantry_core::life::Life;
use serde_json::{Value, json};

/// How many risks are named.
const RISKS_MAX: usize = 3;

fn outputs(life: &Life, task: &str) -> Value {
    life.outputs(task).map_or(Value::Null, |outputs| json!(outputs))
}

/// One object for programs.
pub fn value(life: &Life) -> Value {
    let (draft, forecast) = (outputs(life, "draft"), outputs(life, "forecast"));
    json!({
        "plan_id": life.id(),
        "state": life.state().to_string(),
        "made_by": draft["made_by"],
        "kind": draft["kind"],
        "kind_was_told": draft["kind_was_told"],
        "size": draft["size"],
        "finish_p50": forecast["finish_p50"],
        "finish_p80": forecast["finish_p80"],
        "cost": {"total": forecast["cost"], "p80": forecast["cost_p80"], "currency": forecast["currency"], "budget": forecast["budget"]},
        "deadline": forecast["deadline"],
        "feasible": forecast["feasible"],
        "infeasible": forecast["infeasible"],
        "over_budget": forecast["over_budget"],
        "tasks": draft["tasks"],
        "risks": draft["risks"],
        "assumed": draft["assumed"],
        "demands": draft["demands"],
        "critical_path": forecast["critical_path"],
        "critical_path_length": forecast["critical_path_length"],
    })
}

/// A page for people.
pub fn page(life: &Life) -> String {
    let (draft, forecast, id) = (outputs(life, "draft"), outputs(life, "forecast"), life.id());
    let mut page = String::new();
    if forecast.is_null() || forecast["finish"].is_null() {
        let _ = writeln!(page, "{}: there is no plan yet\nnext:\n  gantry status {id}  # see why", life.header().title);
        return page;
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let day = |value: &Value| text(value).chars().take(10).collect::<String>();
    let money = |value: &Value| whole(&text(value));
    let currency = text(&forecast["currency"]);
    let _ = writeln!(page, "{} ({id})", life.header().title);
    let _ = writeln!(
        page,
        "  {} project, {}{}: {} tasks, made by {}",
        text(&draft["size"]),
        text(&draft["kind"]),
        if draft["kind_was_told"] == true { "" } else { " (assumed: no words of the request tell its kind)" },
        draft["tasks"],
        text(&draft["made_by"])
    );
    let _ = writeln!(
        page,
        "  finish     {} (P50), {} (P80){}",
        day(&forecast["finish_p50"]),
        day(&forecast["finish_p80"]),
        if forecast["deadline"].is_null() {
            String::new()
        } else {
            format!(", deadline {}", text(&forecast["deadline"]["at"]))
        },
    );
    let budget = match &forecast["budget"] {
        Value::Null => String::new(),
        budget => format!(", budget {} {currency}", money(budget)),
    };
    // What one person does has no price here.
    if draft["size"] == "household" {
        let _ = writeln!(page, "  cost       not estimated{budget}");
    } else {
        let (cost, p80) = (money(&forecast["cost"]), money(&forecast["cost_p80"]));
        let _ = writeln!(page, "  cost       {cost} {currency}, {p80} {currency} (P80){budget}");
    }
    if let Some(over) = forecast["over_budget"].as_str() {
        let _ = writeln!(page, "  does not fit: it costs {} {currency} more than the budget", whole(over));
    }
    for gap in forecast["infeasible"].as_array().into_iter().flatten() {
        let _ = writeln!(page, "  does not fit: {}", text(&gap["what"]));
    }
    let path = forecast["critical_path"].as_array().map_or(&[][..], Vec::as_slice);
    let more = forecast["critical_path_length"].as_u64().unwrap_or_default().saturating_sub(path.len() as u64);
    let more = (more > 0).then(|| format!("… and {more} more"));
    list(&mut page, "critical path", path.iter().map(text).chain(more));
    let mut risks: Vec<&Value> = draft["risks"].as_array().into_iter().flatten().collect();
    let likely = |risk: &Value| risk["probability"].as_f64().unwrap_or_default();
    risks.sort_by(|one, other| likely(other).total_cmp(&likely(one)));
    list(
        &mut page,
        "most likely risks",
        risks
            .into_iter()
            .take(RISKS_MAX)
            .map(|risk| format!("{}: {}", text(&risk["title"]), text(&risk["mitigation"]))),
    );
    list(
        &mut page,
        "assumed, because it was not said",
        draft["assumed"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|gap| format!("{} {}", text(&gap["question"]), text(&gap["assumed"]))),
    );
    let said = draft["demands"].as_array().into_iter().flatten().filter(|demand| demand["checked"] != true);
    list(
        &mut page,
        "said, and not checked by the plan",
        said.map(|demand| format!("{}: {}", text(&demand["id"]), text(&demand["text"]))),
    );
    list(&mut page, "with care", draft["safeguards"].as_array().into_iter().flatten().map(text));
    let _ = writeln!(page, "next:");
    let _ = writeln!(
        page,
        "  gantry gate approve {id} accept --why \"…\"  # accept it; then `gantry resume {id}` begins the work"
    );
    let _ = writeln!(page, "  gantry status {id}");
    page
}

fn list(page: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        let _ = writeln!(page, "{title}:");
        for line in lines {
            let _ = writeln!(page, "  {line}");
        }
    }
}

/// An amount without cents.
fn whole(amount: &str) -> String {
    let digits = amount.split('.').next().unwrap_or(amount);
    digits.parse().map_or_else(|_| amount.to_owned(), gantry_report::thousands)
}
