//! Holds a value against its schema, and mends the two things that a schema itself explains: the case of a word, and a
//! null in place of a property that may be left out.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::Location;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::faults;
use crate::answer::Repair;

/// How often a value is mended: each round may uncover what lies deeper.
const ROUNDS_MAX: usize = 6;

/// How many faults of a value are looked at for mending.
const MENDS_MAX: usize = 2_000;

/// How deep the alternatives of a schema are looked into.
const ALTERNATIVES_DEPTH_MAX: usize = 6;

/// What a schema says of a value.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It fits, after these repairs.
    Fits(Value, Vec<Repair>),
    /// It does not; what is wrong.
    Fails(Vec<String>),
}

/// One change that would make a value fit better.
#[derive(Debug, Clone, PartialEq)]
enum Change {
    /// The word that was meant.
    Word { path: String, meant: String },
    /// The property is left out.
    Without { path: String },
}

/// Holds a value against a schema.
pub(super) fn judge(validator: &Validator, mut value: Value) -> Verdict {
    if validator.is_valid(&value) {
        return Verdict::Fits(value, Vec::new());
    }
    let faults = faults::of_schema(validator, &value);
    let mut repairs = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let changes: Vec<Change> =
            validator.iter_errors(&value).take(MENDS_MAX).filter_map(|error| changes(&error, 0)).flatten().collect();
        let mut changed = false;
        for change in changes {
            if let Some(repair) = apply(&mut value, &change) {
                changed = true;
                repairs.push(repair);
            }
        }
        if !changed {
            break;
        }
        if validator.is_valid(&value) {
            return Verdict::Fits(value, repairs);
        }
    }
    Verdict::Fails(faults)
}

/// The changes that answer one fault; none when nothing that is ours to do answers it.
fn changes(error: &ValidationError<'_>, depth: usize) -> Option<Vec<Change>> {
    let path = error.instance_path().as_str().to_owned();
    if error.instance().is_null() && declared(error) {
        return Some(vec![Change::Without { path }]);
    }
    match error.kind() {
        Kind::Enum { options } => word(error.instance(), options.as_array()?.iter(), path),
        Kind::Constant { expected_value } => word(error.instance(), std::iter::once(&**expected_value), path),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } if depth < ALTERNATIVES_DEPTH_MAX => {
            let mut ways = context.iter().filter_map(|errors| {
                let found: Option<Vec<_>> = errors.iter().map(|error| changes(error, depth + 1)).collect();
                found.map(|changes| changes.concat()).filter(|changes| !changes.is_empty())
            });
            // Two alternatives that both could be meant are not ours to choose from.
            let way = ways.next()?;
            ways.all(|other| other == way).then_some(way)
        }
        _ => None,
    }
}

/// Tells whether the fault is about a property that the schema names, and not about an entry of a map.
fn declared(error: &ValidationError<'_>) -> bool {
    let key = error.instance_path().as_str().rsplit_once('/').map(|(_, key)| format!("/properties/{key}"));
    key.is_some_and(|key| {
        let schema = error.evaluation_path().as_str();
        schema.ends_with(&key) || schema.contains(&format!("{key}/"))
    })
}

/// The one option that is this word but for its case.
fn word<'a>(found: &Value, options: impl Iterator<Item = &'a Value>, path: String) -> Option<Vec<Change>> {
    let found = found.as_str()?.to_lowercase();
    let mut same = options.filter_map(Value::as_str).filter(|option| option.to_lowercase() == found);
    let meant = same.next()?.to_owned();
    same.next().is_none().then(|| vec![Change::Word { path, meant }])
}

fn apply(value: &mut Value, change: &Change) -> Option<Repair> {
    match change {
        Change::Word { path, meant } => {
            let place = value.pointer_mut(path)?;
            let said = place.as_str()?.to_owned();
            if said == *meant {
                return None;
            }
            *place = Value::String(meant.clone());
            Some(Repair::Case(format!("{}: `{}` is `{meant}`", faults::place(path), faults::excerpt(&said, 40))))
        }
        Change::Without { path } => {
            let (parent, key) = path.rsplit_once('/')?;
            let object = value.pointer_mut(parent)?.as_object_mut()?;
            let key = key.replace("~1", "/").replace("~0", "~");
            if !object.get(&key)?.is_null() {
                return None;
            }
            object.shift_remove(&key);
            Some(Repair::Notation(format!("{}: null for a property that may be left out", faults::place(path))))
        }
    }
}

/// The JSON pointer of a fault.
pub(super) fn pointer(location: &Location) -> &str {
    location.as_str()
}
