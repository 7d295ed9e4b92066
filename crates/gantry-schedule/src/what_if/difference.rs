//! What is different between two schedules.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::schedule::Schedule;

/// Curves and bars follow from what is told anyway, and would drown it.
const FOLLOWS: [&str; 3] = ["histogram", "s_curve", "load"];

/// The fields by which parts of a list are told apart.
const KEYS: [&str; 5] = ["id", "kind", "month", "task", "resource"];

/// One value that is different.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// Which, as a path such as `tasks.build.finish`.
    pub path: String,
    /// What it was; nothing when it is new.
    pub before: Value,
    /// What it is; nothing when it is gone.
    pub after: Value,
}

/// Everything that is different, in the order of the schedule.
pub fn difference(before: &Schedule, after: &Schedule) -> Vec<Changed> {
    let json = |schedule: &Schedule| serde_json::to_value(schedule).unwrap_or(Value::Null);
    let mut changes = Vec::new();
    compare("", &json(before), &json(after), &mut changes);
    changes
}

fn compare(path: &str, before: &Value, after: &Value, changes: &mut Vec<Changed>) {
    let within = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (before, after) {
        _ if before == after => {}
        (Value::Object(old), Value::Object(new)) => {
            let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
            for name in names.filter(|name| !FOLLOWS.contains(&name.as_str())) {
                let nothing = &Value::Null;
                compare(&within(name), old.get(name).unwrap_or(nothing), new.get(name).unwrap_or(nothing), changes);
            }
        }
        (Value::Array(old), Value::Array(new)) if keyed(old) && keyed(new) => {
            let (known, found) = (by_key(old), by_key(new));
            for item in old {
                let key = key_of(item).unwrap_or_default();
                compare(&within(&key), item, found.get(&key).copied().unwrap_or(&Value::Null), changes);
            }
            for item in new {
                let key = key_of(item).unwrap_or_default();
                if !known.contains_key(&key) {
                    compare(&within(&key), &Value::Null, item, changes);
                }
            }
        }
        _ => changes.push(Changed { path: path.to_owned(), before: before.clone(), after: after.clone() }),
    }
}

fn by_key(list: &[Value]) -> BTreeMap<String, &Value> {
    list.iter().map(|item| (key_of(item).unwrap_or_default(), item)).collect()
}

/// Whether every part of a list has a key of its own.
fn keyed(list: &[Value]) -> bool {
    let mut keys: Vec<Option<String>> = list.iter().map(key_of).collect();
    let count = keys.len();
    keys.sort();
    keys.dedup();
    keys.len() == count && keys.iter().all(Option::is_some)
}

fn key_of(item: &Value) -> Option<String> {
    let key = KEYS.iter().find_map(|key| item.get(key))?;
    match key {
        Value::String(key) => Some(key.clone()),
        Value::Null => Some("project".to_owned()),
        _ => None,
    }
}
