//! The result as a page to read, and what is doubtful about it.
//!
//! Every number in prose has to come from the request or from the schedule. One that comes from neither is told, and
//! does not stand in the page.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::fill;

/// What stands where a number is from nowhere.
const UNKNOWN: &str = "[not computed]";
/// What is written instead of texts: names, choices and numbers of answers are no prose.
const NO_PROSE: [&str; 11] =
    ["id", "owner", "role", "phase", "lever", "assumption", "about", "answered_by", "when", "hours", "costs"];
/// Whole sections of which numbers come from elsewhere: real projects have years, standards have numbers.
const NO_SECTION: [&str; 4] = ["facts", "overview", "related", "plan"];
/// Lists with names of laws and standards.
const NAMED: [&str; 5] = ["permits", "standards", "bodies", "actions", "done_when"];

/// A page and what is doubtful.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The page, in Markdown.
    pub markdown: String,
    /// What is doubtful: in which section, which text, and why.
    pub findings: Vec<Value>,
    /// What that means for the whole: `go`, `go_with_care` or `not_yet`.
    pub verdict: &'static str,
}

/// Checks the parts of a plan against each other and renders them.
pub fn report(file: &str, text: &str, parts: &Map<String, Value>) -> Result<Report, String> {
    let (facts, overview) = (parts.get("facts").unwrap_or(&Value::Null), parts.get("overview").unwrap_or(&Value::Null));
    let mut known = BTreeSet::new();
    collect(facts, &mut known);
    collect(&without_words(overview), &mut known);
    // Names of real projects may have numbers in them.
    let related = parts.get("related").and_then(|related| related["related"].as_array());
    related.into_iter().flatten().for_each(|project| collect(&project["name"], &mut known));
    let mut findings = Vec::new();
    let mut values = parts.clone();
    for (section, value) in values.iter_mut().filter(|(section, _)| !NO_SECTION.contains(&section.as_str())) {
        scrub(section, value, &known, &mut findings);
    }
    findings.extend(put_right(parts));
    let verdict = verdict(overview, parts);
    values.insert("made_by".to_owned(), json!(made_by(parts)));
    let mut phases = plan_phases(parts.get("plan").unwrap_or(&Value::Null));
    let mut again = Vec::new(); // the same words were told where they were answered
    scrub("work", &mut phases, &known, &mut again);
    values.insert("plan_phases".to_owned(), phases);
    values.insert("check".to_owned(), json!({"verdict": verdict, "findings": findings}));
    let page = fill::render(file, text, &Value::Object(values))?;
    Ok(Report { markdown: tidy(&page), findings, verdict })
}

/// What was computed, without what models wrote.
fn without_words(value: &Value) -> Value {
    const WRITTEN: [&str; 6] = ["title", "effect", "mitigation", "owner", "name", "role"];
    match value {
        Value::Object(fields) => {
            let computed = fields.iter().filter(|(name, _)| !WRITTEN.contains(&name.as_str()));
            Value::Object(computed.map(|(name, value)| (name.clone(), without_words(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_words).collect()),
        other => other.clone(),
    }
}

/// Who answered, each once.
pub fn made_by(parts: &Map<String, Value>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parts.values() {
        let mut one = |value: &Value| {
            if let Some(name) = value["answered_by"].as_str() {
                let name = if name.starts_with("gantry-offline") { "gantry-offline" } else { name };
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        };
        one(part);
        part.as_array().into_iter().flatten().for_each(&mut one);
    }
    names
}

fn put_right(parts: &Map<String, Value>) -> Vec<Value> {
    let repairs = parts.get("repairs").and_then(Value::as_array).into_iter().flatten();
    repairs
        .map(|repair| json!({"section": "work", "text": repair, "why": "put right when the parts were put together"}))
        .collect()
}

fn verdict(overview: &Value, parts: &Map<String, Value>) -> &'static str {
    let high = parts.get("audit").and_then(|audit| audit["items"].as_array()).into_iter().flatten();
    let high = high.filter(|item| item["level"] == "high").count();
    let broken = overview["demands"].as_array().into_iter().flatten().any(|demand| demand["status"] == "broken");
    let beyond = |likely: &Value, limit: &Value| match (
        likely.as_f64().zip(limit.as_f64()),
        likely.as_str().zip(limit.as_str()),
    ) {
        (Some((likely, limit)), _) => likely > limit,
        (_, Some((likely, limit))) => likely > limit,
        _ => false,
    };
    let doubtful =
        beyond(&overview["cost_p50"], &overview["budget"]) || beyond(&overview["finish_p50"], &overview["deadline"]);
    match (overview["feasible"] == true && !broken, high) {
        (false, _) => "not_yet",
        (true, 0) if !doubtful => "go",
        (true, _) => "go_with_care",
    }
}

/// The numbers of a value, as they may be written.
fn collect(value: &Value, known: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => known.extend(figures(text).map(|figure| plain(&text[figure]))),
        Value::Number(number) => {
            known.insert(plain(&number.to_string()));
            if let Some(share) = number.as_f64().filter(|share| (0.0..=1.0).contains(share)) {
                known.insert(plain(&format!("{}", (share * 100.0).round())));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, known)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, known)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Takes numbers out of prose that come from nowhere.
fn scrub(section: &str, value: &mut Value, known: &BTreeSet<String>, findings: &mut Vec<Value>) {
    match value {
        Value::String(text) => {
            let unknown: Vec<std::ops::Range<usize>> =
                figures(text).filter(|figure| !known.contains(&plain(&text[figure.clone()]))).collect();
            if unknown.is_empty() {
                return;
            }
            let was = text.clone();
            for figure in unknown.into_iter().rev() {
                text.replace_range(figure, UNKNOWN);
            }
            findings.push(json!({"section": section, "text": was, "why": "a number that neither the request nor the schedule gives"}));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| scrub(section, item, known, findings)),
        Value::Object(fields) => {
            let prose = fields
                .iter_mut()
                .filter(|(name, _)| !NO_PROSE.contains(&name.as_str()) && !NAMED.contains(&name.as_str()));
            prose.for_each(|(_, field)| scrub(section, field, known, findings));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A number without what only makes it easier to read.
fn plain(figure: &str) -> String {
    let digits: String = figure.chars().filter(|letter| !matches!(letter, ',' | ' ' | '\u{a0}' | '\'')).collect();
    let digits = digits.trim_end_matches('.');
    match digits.split_once('.') {
        Some((whole, rest)) if rest.chars().all(|digit| digit == '0') => whole.to_owned(),
        _ => digits.to_owned(),
    }
}

/// The numbers in a text that claim something: amounts, shares, dates and lengths of time, not the count of a list, the
/// name of a risk or a part of a word.
fn figures(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && (bytes[at].is_ascii_digit() || is_inside(bytes, at)) {
            at += 1;
        }
        let is_word = |letter: char| letter.is_alphabetic() || matches!(letter, '_' | '#' | '/');
        let before = text[..start].chars().next_back();
        let glued = before.is_some_and(|letter| is_word(letter) || letter == '-')
            || text[at..].starts_with('/')
            || is_named(&text[..start]);
        let count = text[start..at].bytes().filter(u8::is_ascii_digit).count();
        let unit = text[at..].trim_start_matches(['-', ' ']);
        let claims = count > 1 || is_unit(unit) || before.is_some_and(|letter| "$€£¥₩".contains(letter));
        if claims && !glued {
            found.push(start..at);
        }
    }
    found.into_iter()
}

/// A comma, point or dash between digits.
fn is_inside(bytes: &[u8], at: usize) -> bool {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    matches!(bytes[at], b',' | b'.' | b'-') && at > 0 && digit(at - 1) && digit(at + 1)
}

/// A number after capitals is the name of a law or a standard: `ISO 9001`, `(EU) 2016`.
fn is_named(before: &str) -> bool {
    let word = before.trim_end().rsplit(' ').next().unwrap_or_default();
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let currency = word.len() == 3 && crate::facts::per_eur(word).is_some();
    word.len() > 1 && !currency && word.bytes().all(|letter| letter.is_ascii_uppercase())
}

fn is_unit(rest: &str) -> bool {
    const UNITS: [&str; 13] =
        ["%", "percent", "hour", "day", "week", "month", "year", "million", "billion", "thousand", "EUR", "USD", "DKK"];
    UNITS.iter().any(|unit| rest.starts_with(unit))
}

/// The phases of the plan with their tasks, as the page shows them.
fn plan_phases(plan: &Value) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let phases = list(&plan["tasks"]).into_iter().map(|phase| {
        let (gates, tasks): (Vec<Value>, Vec<Value>) = list(&phase["tasks"]).into_iter().partition(|task| !task["gate"].is_null());
        let tasks: Vec<Value> = tasks
            .iter()
            .map(|task| {
                let id = task["id"].as_str().unwrap_or_default();
                let numbers = &plan["schedule"]["tasks"][id];
                json!({
                    "id": id, "title": task["title"], "detail": task["description"], "owner": task["owner"],
                    "hours": numbers["estimate"], "after": task["depends_on"], "output": task["outputs"]["result"]["description"],
                    "done_when": task["success_criteria"][0]["words"], "risks": task["risks"], "costs": numbers["costs"],
                })
            })
            .collect();
        let gate = gates.first();
        json!({
            "id": phase["id"], "title": phase["title"], "purpose": phase["purpose"],
            "deliverable": gate.map(|gate| gate["success_criteria"][0]["words"].clone()),
            "milestone": gate.map(|gate| gate["title"].clone()), "decision": gate.map(|gate| gate["description"].clone()),
            "tasks": tasks,
        })
    });
    Value::Array(phases.collect())
}

/// At most one empty line in a row.
fn tidy(page: &str) -> String {
    let mut tidy = String::new();
    let mut empty = 0;
    for line in page.trim().lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy
}
