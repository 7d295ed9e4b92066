//! Reads and applies one change.

use std::fmt;

use serde_json::{Map, Value};

use crate::problem::nearest;
use crate::project::Project;

/// What can be changed by id: the word in a change, and the list in a project.
const LISTS: [(&str, &str); 7] = [
    ("task", "tasks"),
    ("resource", "resources"),
    ("calendar", "calendars"),
    ("risk", "risks"),
    ("correlation", "correlations"),
    ("class", "classes"),
    ("recurring", "recurring"),
];

/// A change that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongChange {
    /// The change as written.
    pub change: String,
    /// Why it cannot be made.
    pub what: String,
    /// What to write instead.
    pub fix: String,
}

impl fmt::Display for WrongChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}; {}", self.change, self.what, self.fix)
    }
}

impl std::error::Error for WrongChange {}

/// The project with one change, such as `task.x.estimate=5d`, `resource.ana.capacity=50%`, `project.deadline=none` or
/// `task.x=none`, which removes it.
pub fn apply(project: &Project, change: &str) -> Result<Project, WrongChange> {
    let wrong = |what: String, fix: &str| WrongChange { change: change.to_owned(), what, fix: fix.to_owned() };
    let (path, value) = change
        .split_once('=')
        .ok_or_else(|| wrong("it has no `=`".to_owned(), "write for example `task.x.estimate=5d`"))?;
    let (sort, rest) = path.trim().split_once('.').unwrap_or((path.trim(), ""));
    let mut whole = serde_json::to_value(project).map_err(|e| wrong(e.to_string(), "report this as a fault"))?;
    let value = read(value.trim());
    if sort == "project" {
        let fields: Vec<&str> = rest.split('.').collect();
        set(&mut whole, &fields, value).map_err(|what| wrong(what, "name a field, such as `project.deadline`"))?;
    } else {
        let known: Vec<&str> = LISTS.iter().map(|list| list.0).chain(["project"]).collect();
        let Some((_, list)) = LISTS.iter().find(|list| list.0 == sort) else {
            let near = nearest(sort, &known).map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let fix = format!("{near}a change starts with one of {}", known.join(", "));
            return Err(wrong(format!("there is no `{sort}` to change"), &fix));
        };
        change_item(&mut whole, sort, list, rest, value).map_err(|(what, fix)| wrong(what, &fix))?;
    }
    serde_json::from_value(whole)
        .map_err(|e| wrong(e.to_string(), "see the fields of a project, and how each is written"))
}

/// A value as JSON, or else as text; `none` is nothing.
fn read(text: &str) -> Value {
    if text.is_empty() || text == "none" {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn change_item(whole: &mut Value, sort: &str, list: &str, rest: &str, value: Value) -> Result<(), (String, String)> {
    let items = whole.as_object_mut().map(|whole| whole.entry(list).or_insert_with(|| Value::Array(Vec::new())));
    let Some(Value::Array(items)) = items else {
        return Err((format!("the project has no {list}"), "add some first".to_owned()));
    };
    let id_of = |item: &Value| item.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let ids: Vec<String> = items.iter().map(id_of).collect();
    // Ids may contain dots: the longest one that fits is meant.
    let named =
        |id: &&String| rest == id.as_str() || rest.strip_prefix(id.as_str()).is_some_and(|more| more.starts_with('.'));
    let Some(id) = ids.iter().filter(named).max_by_key(|id| id.len()) else {
        if let Value::Object(mut fields) = value
            && !rest.is_empty()
            && !rest.contains('.')
        {
            fields.insert("id".to_owned(), Value::String(rest.to_owned()));
            items.push(Value::Object(fields));
            return Ok(());
        }
        let id = rest.split('.').next().unwrap_or_default();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let fix = nearest(id, &ids).map_or_else(
            || format!("name one that is there, or add it: `{sort}.{id}={{…}}`"),
            |near| format!("did you mean `{near}`?"),
        );
        return Err((format!("there is no {sort} `{id}`"), fix));
    };
    let at = ids.iter().position(|other| other == id).unwrap_or_default();
    let fields = rest[id.len()..].trim_start_matches('.');
    if fields.is_empty() {
        return match value {
            Value::Null => {
                items.remove(at);
                Ok(())
            }
            _ => Err((format!("it does not say what of `{id}` to change"), format!("write `{sort}.{id}.field=value`"))),
        };
    }
    let fields: Vec<&str> = fields.split('.').collect();
    set(&mut items[at], &fields, value).map_err(|what| (what, format!("name a field of the {sort}")))
}

/// Sets a field inside fields; nothing removes it.
fn set(target: &mut Value, fields: &[&str], value: Value) -> Result<(), String> {
    let (Some((first, rest)), Value::Object(object)) = (fields.split_first(), target) else {
        return Err(format!("`{}` has no fields", fields.first().copied().unwrap_or_default()));
    };
    if first.is_empty() {
        return Err("it names no field".to_owned());
    }
    if !rest.is_empty() {
        return set(object.entry(*first).or_insert_with(|| Value::Object(Map::new())), rest, value);
    }
    match value {
        Value::Null => {
            object.remove(*first);
        }
        value => {
            object.insert((*first).to_owned(), value);
        }
    }
    Ok(())
}
