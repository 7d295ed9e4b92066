//! Where the outputs of what models do come from.

use serde_json::Value;

use super::content::Spot;
use super::{Findings, Location};
use crate::plan::action::Action;

/// Words that say what an output is, and not where it comes from.
const TYPES: [&str; 10] = ["text", "string", "number", "integer", "boolean", "bool", "object", "json", "list", "array"];

/// Says which outputs could never come: a model writes no files, and an answer has only the parts of its schema.
pub(super) fn check(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
    let schema = match &task.action {
        Some(Action::Model(model)) if model.schema.is_some() => model.schema.as_ref(),
        // What a prompt asks for is known where the prompts are.
        Some(Action::Model(model)) if model.prompt.is_some() => return,
        Some(Action::Model(_) | Action::Agent(_)) => None,
        _ => return,
    };
    for (name, path) in task.outputs.iter().filter_map(|(name, output)| Some((name, output.part()?))) {
        let place = spot.at(format!("outputs.{name}"));
        match schema {
            Some(schema) => check_part((name, path), schema, &place, spot, findings),
            None => {
                let what = format!("output `{name}` of task `{}` is to come from `{path}`", task.id);
                let message = format!("{what}, but a model hands over fields and no files");
                findings.error("plan::no-such-part", place, message).hint(hint(name, path));
            }
        }
    }
}

fn hint(name: &str, path: &str) -> String {
    if TYPES.contains(&path) {
        return format!("write `{name}: {{type: {path}}}` to say what it is");
    }
    format!(
        "write `{name}: {{}}` to ask for a field, `{name}: artifacts.{name}` to keep it as an artifact, or give the model \
         a `schema` and name a part of it"
    )
}

/// Follows a path as far as the schema says what there is.
fn check_part((name, path): (&str, &str), schema: &Value, place: &Location, spot: &Spot<'_>, findings: &mut Findings) {
    let mut here = schema;
    for part in path.split('.') {
        if let Some(items) = here.get("items").filter(|_| part.parse::<usize>().is_ok()) {
            here = items;
            continue;
        }
        let Some(known) = here.get("properties").and_then(Value::as_object) else { return };
        let Some(inside) = known.get(part) else {
            if here.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false)) {
                return;
            }
            let hint = findings.suggest(part, known.keys().map(String::as_str));
            let what = format!("output `{name}` of task `{}` is to come from `{path}`", spot.task.id);
            let message = format!("{what}, but the schema of its answer has no `{part}` there");
            findings.error("plan::no-such-part", place.clone(), message).hint = hint;
            return;
        };
        here = inside;
    }
}
