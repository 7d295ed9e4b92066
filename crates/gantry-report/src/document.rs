//! The machine-readable plan: every task with who, when, how long, how sure and what may go wrong, as one JSON object.
//!
//! What is computed stands beside what it was computed from: `source` is the plan itself in the form of a plan file, and
//! readers of plan files take it from there.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::id::TaskId;
use gantry_core::plan::{Plan, Task};
use gantry_schedule::{Project, Schedule, TaskRow, health};
use serde_json::{Map, Value, json};

use crate::claims::claims;

/// What the object calls itself.
pub const FORM: &str = "gantry-plan/1";

/// Its JSON Schema.
pub const SCHEMA: &str = include_str!("../../../schema/export.schema.json");

/// What is written down.
pub struct Subject<'a> {
    /// Which plan it is, where it is kept, and how it stands; nothing for a file.
    pub kept: Map<String, Value>,
    /// The work.
    pub plan: &'a Plan,
    /// How a task stands, where that is known.
    pub state_of: &'a dyn Fn(&TaskId) -> Option<String>,
    /// The project that was scheduled, and its schedule; or why there is none.
    pub scheduled: Result<(&'a Project, &'a Schedule), &'a [String]>,
    /// The whole plan in the form of a plan file.
    pub source: Value,
    /// What the steps of planning made; nothing for plans that people wrote.
    pub parts: &'a Map<String, Value>,
}

/// Writes it down.
pub fn document(subject: &Subject<'_>) -> Value {
    let plan = subject.plan;
    let mut whole = Map::new();
    whole.insert("form".to_owned(), json!(FORM));
    whole.extend(subject.kept.clone());
    whole.insert("title".to_owned(), json!(plan.title));
    whole.insert("objective".to_owned(), json!(plan.objective));
    let rows: BTreeMap<&str, &TaskRow> = match subject.scheduled {
        Ok((_, schedule)) => schedule.tasks.iter().map(|row| (row.id.as_str(), row)).collect(),
        Err(_) => BTreeMap::new(),
    };
    let tasks = plan.tasks.iter().map(|one| task(one, rows.get(one.id.as_str()).copied(), subject));
    whole.insert("tasks".to_owned(), tasks.collect());
    whole.insert("risks".to_owned(), Value::Array(risks(plan)));
    match subject.scheduled {
        Ok((project, schedule)) => {
            let mut computed = serde_json::to_value(schedule).unwrap_or_default();
            let cost = computed["cost"].take();
            let futures = computed["monte_carlo"]["cost"].clone();
            if let Value::Object(fields) = &mut computed {
                fields.shift_remove("tasks");
                fields.shift_remove("cost");
            }
            whole.insert("schedule".to_owned(), computed);
            whole.insert("cost".to_owned(), with_percentiles(cost, futures));
            whole.insert("health".to_owned(), json!(health(project, schedule)));
        }
        Err(problems) => {
            whole.insert("schedule".to_owned(), json!({"problems": problems}));
            whole.insert("cost".to_owned(), Value::Null);
        }
    }
    whole.insert("claims".to_owned(), Value::Array(claims(plan, subject.parts)));
    whole.insert("source".to_owned(), subject.source.clone());
    Value::Object(whole)
}

fn with_percentiles(cost: Value, futures: Value) -> Value {
    match cost {
        Value::Object(mut fields) if !futures.is_null() => {
            fields.insert("percentiles".to_owned(), futures);
            Value::Object(fields)
        }
        other => other,
    }
}

fn task(task: &Task, row: Option<&TaskRow>, subject: &Subject<'_>) -> Value {
    let resources: Vec<&str> = match task.resources.as_slice() {
        [] => row.into_iter().flat_map(|row| row.resources.iter().map(|one| one.id.as_str())).collect(),
        named => named.iter().map(|one| one.name.as_str()).collect(),
    };
    let outputs: Vec<Value> = task
        .outputs
        .iter()
        .map(|(name, output)| json!({"name": name, "type": output.r#type, "description": output.description}))
        .collect();
    let mut written = json!({
        "id": task.id,
        "parent": task.parent,
        "title": task.name(),
        "description": task.description,
        "action": task.action.as_ref().map(gantry_core::plan::Action::key),
        "depends_on": task.depends_on,
        "owner": task.owner,
        "estimate": row.and_then(|row| row.hours),
        "resources": resources,
        "success_criteria": task.success_criteria.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "outputs": outputs,
        "risks": task.risks.iter().map(|risk| &risk.name).collect::<Vec<_>>(),
        "state": (subject.state_of)(&task.id),
    });
    if let (Some(row), Value::Object(fields)) = (row, &mut written) {
        fields.insert("start".to_owned(), json!(row.start));
        fields.insert("finish".to_owned(), json!(row.finish));
        fields.insert("float".to_owned(), json!(row.float));
        fields.insert("critical".to_owned(), json!(row.critical));
        fields.insert("percent".to_owned(), json!(row.percent));
        fields.insert("cost".to_owned(), json!(row.cost));
    }
    written
}

/// The register: what the schedule knows, then what only tasks name.
fn risks(plan: &Plan) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    let mut hit: BTreeMap<&str, Vec<&TaskId>> = BTreeMap::new();
    for task in &plan.tasks {
        for risk in &task.risks {
            hit.entry(risk.name.as_str()).or_default().push(&task.id);
        }
    }
    let named_by = |name: &str| hit.get(name).cloned().unwrap_or_default();
    let mut listed: BTreeSet<&str> = plan.schedule.risks.iter().map(|risk| risk.id.as_str()).collect();
    for risk in &plan.schedule.risks {
        let impact = risk.impact.map_or_else(|| json!(risk.effect), |impact| json!(impact));
        all.push(json!({
            "id": risk.id, "title": if risk.title.is_empty() { &risk.id } else { &risk.title }, "likelihood": risk.probability,
            "impact": impact, "effect": risk.effect, "mitigation": risk.mitigation, "owner": risk.owner,
            "delay": risk.delay, "cost": risk.cost, "tasks": named_by(&risk.id),
        }));
    }
    for risk in plan.tasks.iter().flat_map(|task| &task.risks) {
        if !listed.insert(risk.name.as_str()) {
            continue;
        }
        all.push(json!({
            "id": risk.name, "title": risk.name, "likelihood": risk.likelihood, "impact": risk.impact,
            "mitigation": risk.mitigation, "tasks": named_by(&risk.name),
        }));
    }
    all
}
