//! Reads what is asked for: what, where, when, how long, how much, for whom. Nothing is made up, and no clock is read.

mod scan; // in reading order

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde_json::Value;

use super::words::{Words, parts};
use crate::request::Request;

/// How much of the inputs is read, in characters.
const READ_CHARS_MAX: usize = 20_000;

/// How long the name of what is asked for may be, in characters.
const WHAT_CHARS_MAX: usize = 80;

/// How long one detail may be, in characters.
const DETAIL_CHARS_MAX: usize = 60;

/// How many inputs are told.
const DETAILS_MAX: usize = 12;

/// Inputs that say what is asked for, the best first.
const WHAT: [&str; 20] = [
    "objective",
    "goal",
    "what",
    "title",
    "topic",
    "subject",
    "task",
    "question",
    "idea",
    "problem",
    "request",
    "project",
    "project_name",
    "name",
    "summary",
    "description",
    "text",
    "목표",
    "제목",
    "주제",
];
const WHERE: [&str; 9] = ["where", "location", "place", "city", "venue", "site", "region", "country", "장소"];
const WHEN: [&str; 8] = ["when", "deadline", "due", "date", "due_date", "start", "start_date", "기한"];
const WHO: [&str; 5] = ["who", "audience", "client", "customer", "대상"];
const OWNER: [&str; 7] = ["owner", "team", "worker", "person", "department_head", "department", "author"];
const MONEY: [&str; 4] = ["budget", "money", "cost", "예산"];
const SPAN: [&str; 4] = ["duration", "span", "weeks", "기간"];

/// What is known of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub what: String,
    pub place: Option<String>,
    pub when: Option<String>,
    pub span: Option<String>,
    pub money: Option<String>,
    /// For whom it is.
    pub who: Option<String>,
    /// Who does it.
    pub owner: Option<String>,
    /// The inputs: name and value.
    pub details: Vec<(String, String)>,
    /// The days that are named, in order of time.
    pub dates: Vec<Date>,
    /// The field that is spoken of.
    pub field: Option<String>,
    /// What its schema says that it is.
    pub about: Option<String>,
    /// The detail that is spoken of.
    pub detail: Option<String>,
}

impl Facts {
    /// Reads a request.
    pub fn read(request: &Request, words: &Words) -> Self {
        let inputs = &request.inputs;
        let mut all = String::new();
        for value in inputs.values() {
            gather(value, &mut all, 0);
        }
        let instruction = instruction(request);
        if all.trim().is_empty() {
            all.extend(instruction.chars().take(READ_CHARS_MAX));
        }
        let what = named(inputs, &WHAT)
            .or_else(|| inputs.values().find_map(short_text))
            .or_else(|| Some(instruction.to_owned()).filter(|text| !text.trim().is_empty()))
            .map(|text| subject(&text))
            .filter(|what| !what.is_empty())
            .unwrap_or_else(|| words.what.clone());
        let tell = |(name, value): (&String, &Value)| {
            let value = short(value).filter(|value| !value.is_empty() && subject(value) != what)?;
            let name = words.name(name).unwrap_or_else(|| name.clone());
            Some((name, value))
        };
        let place = named(inputs, &WHERE).map(|text| cut(&text, 40)).or_else(|| scan::place(&all));
        let who = named(inputs, &WHO).map(|text| cut(&text, 40)).or_else(|| scan::who(&all));
        Self {
            details: inputs.iter().filter_map(tell).take(DETAILS_MAX).collect(),
            what: core(what, place.as_deref(), who.as_deref()),
            place,
            when: named(inputs, &WHEN).map(|text| cut(&text, 30)).or_else(|| scan::when(&all)),
            span: named_number(inputs, &SPAN).or_else(|| scan::span(&all)),
            money: named_number(inputs, &MONEY).or_else(|| scan::money(&all)),
            who,
            owner: named(inputs, &OWNER).map(|text| cut(&text, 40)),
            dates: scan::dates(&all),
            field: None,
            about: None,
            detail: None,
        }
    }

    /// Fills a pattern; none when it wants something that is not known.
    pub fn fill(&self, pattern: &str) -> Option<String> {
        let mut filled = String::new();
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}')?;
            filled.push_str(before);
            let known = match name {
                "what" => Some(&self.what),
                "where" => self.place.as_ref(),
                "when" => self.when.as_ref(),
                "span" => self.span.as_ref(),
                "money" => self.money.as_ref(),
                "who" => self.who.as_ref(),
                "field" => self.field.as_ref(),
                "about" => self.about.as_ref(),
                "detail" => self.detail.as_ref(),
                _ => None,
            };
            filled.push_str(known?);
            rest = after;
        }
        filled.push_str(rest);
        let mut letters = filled.chars();
        let first = letters.next()?;
        Some(first.to_uppercase().chain(letters).collect())
    }
}

/// What was said last by whoever asks.
pub(super) fn instruction(request: &Request) -> &str {
    let said = request.messages.iter().rev().find(|message| matches!(message, crate::request::Message::User { .. }));
    said.map(crate::request::Message::text).unwrap_or_default()
}

/// The first input that has one of these names and is a text, or holds one under such a name.
fn named(inputs: &BTreeMap<String, Value>, names: &[&str]) -> Option<String> {
    let of_name = |name: &&str| {
        let same = |key: &str| key == *name || parts(key).join("_") == *name;
        inputs.iter().find(|(key, _)| same(key)).and_then(|(_, value)| match value {
            Value::Object(inner) => WHAT.iter().find_map(|name| inner.get(*name)).and_then(short_text),
            other => short_text(other),
        })
    };
    names.iter().find_map(of_name)
}

/// The same for an amount, which may be a number.
fn named_number(inputs: &BTreeMap<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match inputs.get(*name)? {
        Value::Number(number) if *name == "weeks" => Some(format!("{number} weeks")),
        Value::Number(number) => Some(number.to_string()),
        other => short_text(other).map(|text| cut(&text, 30)),
    })
}

fn short_text(value: &Value) -> Option<String> {
    value
        .as_str()
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(|text| text.chars().take(READ_CHARS_MAX).collect())
}

/// A value in a few words.
fn short(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(cut(text, DETAIL_CHARS_MAX)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(short).take(4).collect();
            Some(cut(&items.join(", "), DETAIL_CHARS_MAX))
        }
        Value::Object(object) => {
            let name = WHAT
                .iter()
                .find_map(|name| object.get(*name))
                .or_else(|| object.values().find(|value| value.is_string()));
            name.and_then(short)
        }
    }
}

fn gather(value: &Value, all: &mut String, depth: usize) {
    if depth > 8 || all.len() > READ_CHARS_MAX {
        return;
    }
    match value {
        Value::String(text) => {
            all.extend(text.chars().take(READ_CHARS_MAX));
            all.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, all, depth + 1)),
        Value::Object(object) => object.values().for_each(|value| gather(value, all, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What is asked for without the place and the people, which are told apart from it.
fn core(what: String, place: Option<&str>, who: Option<&str>) -> String {
    let mut core = what.clone();
    if let Some(place) = place {
        core = core
            .replace(&format!(" in {place}"), "")
            .replace(&format!(" at {place}"), "")
            .replace(&format!("{place}에서 "), "");
    }
    if let Some(who) = who {
        core = core.replace(&format!(" for {who}"), "");
    }
    let core = core.trim().to_owned();
    if core.is_empty() { what } else { core }
}

/// The first sentence of a text, as a name for it.
pub(super) fn subject(text: &str) -> String {
    let text = text.trim();
    let end = text.find(['\n', '!', '?', '。']).into_iter().chain(text.find(". ")).min().unwrap_or(text.len());
    cut(text[..end].trim_end_matches(['.', ' ', ',', ':', ';']), WHAT_CHARS_MAX)
}

/// The beginning of a text on one line, cut between words.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()).filter(|word| !word.is_empty())
    {
        let length = line.chars().count() + word.chars().count() + 1;
        if length > chars_max {
            if line.is_empty() {
                line = word.chars().take(chars_max).collect();
            }
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
