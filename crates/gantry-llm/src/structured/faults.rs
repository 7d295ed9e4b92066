//! Says what is wrong with an answer, in sentences that a model can act on: where, what was expected, what was found.
//!
//! Invariant: however wrong an answer is, what is said about it is short.

use gantry_core::suggest::nearest;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// How many faults of one answer are told.
const FAULTS_MAX: usize = 12;

/// How long one fault is, in characters.
const FAULT_CHARS_MAX: usize = 400;

/// How much is shown of what was found, in characters.
const FOUND_CHARS_MAX: usize = 60;

/// How many allowed words are listed.
const OPTIONS_MAX: usize = 12;

/// How many faults are told of the nearest of several forms.
const NEAREST_MAX: usize = 3;

/// What a schema has against a value.
pub(super) fn of_schema(validator: &Validator, value: &Value) -> Vec<String> {
    let mut faults: Vec<String> = Vec::new();
    let mut more = 0_usize;
    // Beyond ten times the limit nobody counts.
    for error in validator.iter_errors(value).take(10 * FAULTS_MAX) {
        if faults.len() < FAULTS_MAX {
            let fault = sentence(&error, 0);
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        } else {
            more += 1;
        }
    }
    if more > 0 {
        faults.push(format!("There are at least {more} more faults."));
    }
    faults
}

/// Keeps the first faults, each within its length.
pub(super) fn bounded(mut faults: Vec<String>) -> Vec<String> {
    if faults.len() > FAULTS_MAX + 1 {
        let more = faults.len() - FAULTS_MAX;
        faults.truncate(FAULTS_MAX);
        faults.push(format!("There are {more} more faults."));
    }
    for fault in &mut faults {
        *fault = excerpt(fault, FAULT_CHARS_MAX);
    }
    faults
}

/// The beginning of a text on one line, without control characters.
pub(super) fn excerpt(text: &str, chars_max: usize) -> String {
    let mut short = String::new();
    let mut letters = text.trim_start().chars();
    for letter in letters.by_ref().take(chars_max) {
        match letter {
            letter if letter.is_whitespace() => {
                if !short.ends_with(' ') {
                    short.push(' ');
                }
            }
            letter if letter.is_control() => short.push('\u{fffd}'),
            letter => short.push(letter),
        }
    }
    if letters.next().is_some() {
        short.push('…');
    }
    short.trim_end().to_owned()
}

/// Names a place in the answer.
pub(super) fn place(pointer: &str) -> String {
    if pointer.is_empty() { "At the top".to_owned() } else { format!("At `{}`", excerpt(pointer, 120)) }
}

fn sentence(error: &ValidationError<'_>, depth: usize) -> String {
    let place = place(error.instance_path().as_str());
    excerpt(&format!("{place}: {}.", complaint(error, depth)), FAULT_CHARS_MAX)
}

fn complaint(error: &ValidationError<'_>, depth: usize) -> String {
    let found = found(error.instance());
    match error.kind() {
        Kind::Type { kind } => wrong_type(kind, error.instance(), &found),
        Kind::Required { property } => format!("the property {property} is missing"),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names: Vec<String> =
                unexpected.iter().take(OPTIONS_MAX).map(|name| format!("`{}`", excerpt(name, 40))).collect();
            let verb = if unexpected.len() == 1 { "is" } else { "are" };
            format!("{} {verb} not allowed here; leave out what the schema does not name", names.join(", "))
        }
        Kind::Enum { options } => one_of(options, error.instance(), &found),
        Kind::Constant { expected_value } => {
            format!("expected {}, found {found}", excerpt(&expected_value.to_string(), FOUND_CHARS_MAX))
        }
        Kind::Minimum { limit } => format!("expected at least {limit}, found {found}"),
        Kind::Maximum { limit } => format!("expected at most {limit}, found {found}"),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {limit}, found {found}"),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {limit}, found {found}"),
        Kind::MultipleOf { multiple_of } => format!("expected a multiple of {multiple_of}, found {found}"),
        Kind::MinLength { limit } => {
            format!("expected at least {limit} characters, found {}: {found}", length(error.instance()))
        }
        Kind::MaxLength { limit } => {
            format!("expected at most {limit} characters, found {}: {found}", length(error.instance()))
        }
        Kind::MinItems { limit } => format!("expected at least {limit} items, found {found}"),
        Kind::MaxItems { limit } => format!("expected at most {limit} items, found {found}"),
        Kind::AdditionalItems { limit } => format!("expected at most {limit} items, found {found}"),
        Kind::UnevaluatedItems { .. } => format!("there are more items than the schema knows, found {found}"),
        Kind::MinProperties { limit } => format!("expected at least {limit} properties, found {found}"),
        Kind::MaxProperties { limit } => format!("expected at most {limit} properties, found {found}"),
        Kind::UniqueItems => format!("two items are the same, and each may be there once; found {found}"),
        Kind::Contains => format!("no item is of the form that one must have; found {found}"),
        Kind::Pattern { pattern } => format!("expected a text that matches `{}`, found {found}", excerpt(pattern, 80)),
        Kind::Format { format } => format!("expected a text in the format `{format}`, found {found}"),
        Kind::ContentEncoding { content_encoding } => {
            format!("expected a text encoded as `{content_encoding}`, found {found}")
        }
        Kind::ContentMediaType { content_media_type } => format!("expected `{content_media_type}`, found {found}"),
        Kind::FromUtf8 { .. } => format!("the encoded text is not UTF-8, found {found}"),
        Kind::PropertyNames { error } => {
            format!("the key {} is not allowed: {}", self::found(error.instance()), complaint(error, depth + 1))
        }
        Kind::FalseSchema => "nothing may stand here; leave it out".to_owned(),
        Kind::Not { .. } => format!("this is just what the schema forbids: {found}"),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => none_of(context, &found, depth),
        Kind::OneOfMultipleValid { .. } => {
            format!("fits more than one of the allowed forms, and must fit exactly one; found {found}")
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            format!("the pattern could not be checked on {found}")
        }
        Kind::Custom { message, .. } => message.clone(),
        Kind::Referencing(error) => format!("the schema cannot be followed here: {error}"),
    }
}

fn wrong_type(kind: &TypeKind, value: &Value, found: &str) -> String {
    let (types, numeric) = match kind {
        TypeKind::Single(kind) => (article(kind.as_str()), matches!(kind.as_str(), "number" | "integer")),
        TypeKind::Multiple(kinds) => {
            let names: Vec<&str> = kinds.iter().map(jsonschema::types::JsonType::as_str).collect();
            let numeric = names.iter().any(|name| matches!(*name, "number" | "integer"));
            (names.iter().map(|name| article(name)).collect::<Vec<_>>().join(" or "), numeric)
        }
    };
    let hint = match value {
        Value::String(text) if numeric && text.trim().parse::<f64>().is_ok() => "; write the number without quotes",
        Value::Null => "; if it is optional, leave it out",
        _ => "",
    };
    format!("expected {types}, found {found}{hint}")
}

fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "string" => "a text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "array" | "object" => format!("an {kind}"),
        other => other.to_owned(),
    }
}

fn one_of(options: &Value, value: &Value, found: &str) -> String {
    let all: &[Value] = options.as_array().map_or(&[], Vec::as_slice);
    let mut listed: Vec<String> = all.iter().take(OPTIONS_MAX).map(|option| excerpt(&option.to_string(), 40)).collect();
    if all.len() > OPTIONS_MAX {
        listed.push(format!("… ({} in all)", all.len()));
    }
    let near = value.as_str().and_then(|text| nearest(text, all.iter().filter_map(Value::as_str)));
    let near = near.map(|near| format!("; the nearest is {}", Value::from(near))).unwrap_or_default();
    format!("expected one of {}, found {found}{near}", listed.join(", "))
}

/// Of several forms, only the nearest is explained: it is most likely what was meant.
fn none_of(context: &[Vec<ValidationError<'static>>], found: &str, depth: usize) -> String {
    let forms = context.len();
    // A wrong discriminator or a wrong type says that another form was meant.
    let distance = |errors: &Vec<ValidationError<'static>>| {
        let meant = |error: &&ValidationError<'_>| {
            matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
                || (matches!(error.kind(), Kind::Type { .. }) && error.schema_path().segments().count() <= 3)
        };
        (errors.iter().filter(meant).count(), errors.len())
    };
    let nearest =
        context.iter().enumerate().filter(|(_, errors)| !errors.is_empty()).min_by_key(|(_, errors)| distance(errors));
    let Some((form, errors)) = nearest.filter(|_| depth < 3) else {
        return format!("fits none of the {forms} allowed forms, found {found}");
    };
    let faults: Vec<String> = errors
        .iter()
        .take(NEAREST_MAX)
        .map(|error| sentence(error, depth + 1).trim_end_matches('.').to_owned())
        .collect();
    format!("fits none of the {forms} allowed forms; of form {}: {}", form + 1, faults.join("; "))
}

/// Shows what was found.
fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => excerpt(&value.to_string(), FOUND_CHARS_MAX),
        Value::String(text) => format!("the text \"{}\"", excerpt(text, FOUND_CHARS_MAX)),
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(object) if object.is_empty() => "an empty object".to_owned(),
        Value::Object(object) => {
            let keys: Vec<String> = object.keys().take(6).map(|key| format!("`{}`", excerpt(key, 20))).collect();
            let more = if object.len() > 6 { ", …" } else { "" };
            format!("an object with {}{more}", keys.join(", "))
        }
    }
}

fn length(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.chars().count())
}
