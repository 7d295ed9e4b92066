//! Patterns: texts with `{path}` and `{path|how}` for fields. A path beginning with `/` starts at the whole, another at
//! the row that is written. What a field gives is marked as a number, a name or words, whatever stands around it.

use serde_json::Value;

use super::prose::{Index, joint};
use super::{Claim, Line, Span};
use crate::thousands;

/// Finds a field.
pub(super) fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').filter(|part| !part.is_empty()).fold(value, |value, part| match value {
        Value::Array(items) => part.parse::<usize>().ok().and_then(|at| items.get(at)).unwrap_or(&Value::Null),
        other => &other[part],
    })
}

/// What a pattern is filled with.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub whole: &'a Value,
    pub row: &'a Value,
    pub index: &'a Index,
    /// Numbers and dates in words are the author's own.
    pub quoted: bool,
}

impl<'a> Scope<'a> {
    pub(super) fn find(&self, path: &str) -> &'a Value {
        match path.strip_prefix('/') {
            Some(path) => at(self.whole, path),
            None if path == "$" => self.row,
            None => at(self.row, path),
        }
    }

    /// Fills a pattern; nothing when a field is not there.
    pub(super) fn fill(&self, pattern: &str) -> Option<Line> {
        let mut line: Line = Vec::new();
        let mut rest = pattern;
        while let Some(open) = rest.find('{') {
            let close = rest[open..].find('}')? + open;
            push(&mut line, &rest[..open]);
            let (path, how) = rest[open + 1..close].split_once('|').unwrap_or((&rest[open + 1..close], ""));
            let value = self.find(path);
            if is_empty(value) {
                return None;
            }
            line.extend(self.written(path, value, how));
            rest = &rest[close + 1..];
        }
        push(&mut line, rest);
        Some(line)
    }

    fn written(&self, path: &str, value: &Value, how: &str) -> Line {
        let of = path.trim_start_matches('/').to_owned();
        let claim = claim_of(&of);
        let number = |text: String| vec![Span::Number { text, of: of.clone(), claim }];
        match how {
            "money" => number(money(value, at(self.whole, "q.currency").as_str().unwrap_or_default())),
            "date" => number(if at(self.whole, "q.by_the_hour") == true { minute(value) } else { day(value) }),
            "percent" => number(format!("{} %", plain_number(value, 100.0))),
            "points" => number(format!("{} %", plain_number(value, 1.0))),
            "number" => number(plain_number(value, 1.0)),
            "five" => number(format!("{} of 5", plain_number(value, 1.0))),
            "hours" => number(hours(value)),
            "words" => vec![Span::Text(value.as_str().unwrap_or_default().replace(['-', '_'], " "))],
            "ref" => self.refs(value),
            "title" => self.titled(value),
            "who" => self.people(value),
            "count" => number(plain_number(&value.as_array().map_or(0, Vec::len).into(), 1.0)),
            "yes" => vec![Span::Text(if value == true { "yes" } else { "no" }.to_owned())],
            "raw" => vec![Span::Text(flat(value))],
            _ => match value {
                Value::Number(_) => number(plain_number(value, 1.0)),
                other if self.quoted => vec![Span::Text(flat(other))],
                other => self.index.read_value(other),
            },
        }
    }

    /// Names of other things, each a link.
    fn refs(&self, value: &Value) -> Line {
        let names: Vec<&str> = match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            other => other.as_str().into_iter().collect(),
        };
        let mut line = Vec::new();
        for (at, name) in names.into_iter().enumerate() {
            if at > 0 {
                push(&mut line, ", ");
            }
            line.push(self.index.name(name));
        }
        line
    }

    /// Names of other things by their titles.
    fn titled(&self, value: &Value) -> Line {
        let mut line = self.refs(value);
        for span in &mut line {
            if let Span::Ref { text, id } = span
                && let Some(title) = self.index.title(id)
            {
                title.clone_into(text);
            }
        }
        // A title where an id is expected is a title.
        line.into_iter()
            .map(|span| match span {
                Span::Dangling(text) if self.index.is_title(&text) => Span::Text(text),
                other => other,
            })
            .collect()
    }

    /// Who does something: somebody may be named whom no list knows.
    fn people(&self, value: &Value) -> Line {
        let named = |span| match span {
            Span::Dangling(text) => Span::Text(text),
            other => other,
        };
        self.titled(value).into_iter().map(named).collect()
    }
}

/// Tells whether there is nothing to show.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// What a field rests on, by where it stands.
fn claim_of(path: &str) -> Claim {
    const GIVEN: [&str; 4] = ["q.budget", "q.deadline", "facts.", "overview.budget"];
    const JUDGED: [&str; 7] = ["hours", "estimate", "likelihood", "impact", "probability", "influence", "fit"];
    if GIVEN.iter().any(|given| path == *given || given.ends_with('.') && path.starts_with(given)) {
        return Claim::Given;
    }
    let last = path.rsplit('.').next().unwrap_or(path);
    if !path.starts_with("q.") && JUDGED.contains(&last) { Claim::Estimate } else { Claim::Computed }
}

fn push(line: &mut Line, text: &str) {
    if !text.is_empty() {
        line.push(Span::Text(text.to_owned()));
    }
}

/// A value in a line: lists with commas or semicolons.
pub(super) fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flat).collect();
            items.join(joint(&items))
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A number without places that say nothing.
pub(super) fn plain_number(value: &Value, times: f64) -> String {
    let number = match value {
        Value::String(text) => text.parse().unwrap_or_default(),
        other => other.as_f64().unwrap_or_default(),
    } * times;
    grouped(number, 2)
}

fn money(value: &Value, currency: &str) -> String {
    let amount: f64 = match value {
        Value::String(text) => text.parse().unwrap_or_default(),
        other => other.as_f64().unwrap_or_default(),
    };
    format!("{} {currency}", grouped(amount, 0)).trim().to_owned()
}

/// A number with commas between the thousands, and at most so many places.
fn grouped(number: f64, places: usize) -> String {
    let text = format!("{:.places$}", number.abs());
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = part.trim_end_matches('0');
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), thousands);
    let sign = if number < 0.0 && (whole != "0" || !part.is_empty()) { "-" } else { "" };
    if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

fn day(value: &Value) -> String {
    let text = flat(value);
    let is_date = text.len() > 10 && text.is_char_boundary(10) && text.as_bytes()[10] == b'T';
    if is_date { text[..10].to_owned() } else { text }
}

/// A moment to the minute, where days would say too little.
fn minute(value: &Value) -> String {
    let text = flat(value);
    match text.get(..16) {
        Some(short) if text.as_bytes()[10] == b'T' => short.replace('T', " "),
        _ => text,
    }
}

/// Hours as three numbers or one; less than an hour is told in minutes.
fn hours(value: &Value) -> String {
    let most = if value.is_object() { &value["high"] } else { value };
    let is_short = most.as_f64().is_some_and(|hours| hours > 0.0 && hours < 1.0);
    match value {
        Value::Object(_) if is_short => {
            let minutes = |part: &str| (value[part].as_f64().unwrap_or_default() * 60.0).round().max(1.0).to_string();
            format!("{} min", ["low", "likely", "high"].map(minutes).join(" / "))
        }
        _ if is_short => format!("{} min", (most.as_f64().unwrap_or_default() * 60.0).round().max(1.0)),
        Value::Object(_) => ["low", "likely", "high"].map(|part| plain_number(&value[part], 1.0)).join(" / "),
        other => plain_number(other, 1.0),
    }
}
