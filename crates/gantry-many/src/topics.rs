//! Reads lists of topics: one per line, tables, JSON. Every entry becomes a topic or a fault with its line; none is dropped.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How many faults are told.
const FAULTS_MAX: usize = 20;

/// What a plan is to be made about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// What people call it.
    pub title: String,
    /// What is to be reached; the title where nothing else is said.
    pub goal: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// Everything else that was said.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// A list that cannot be read, with every fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTopics {
    /// What is wrong, each with its line where it has one.
    pub faults: Vec<String>,
}

impl std::fmt::Display for BadTopics {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let told: Vec<&str> = self.faults.iter().take(FAULTS_MAX).map(String::as_str).collect();
        out.write_str(&told.join("\n"))?;
        match self.faults.len().saturating_sub(told.len()) {
            0 => Ok(()),
            more => write!(out, "\nand {more} more"),
        }
    }
}

/// Reads a list. The ending of the name says how: `.csv`, `.jsonl` or `.ndjson`, `.json`, and lines of text for all others.
pub fn read(name: &str, bytes: &[u8]) -> Result<Vec<Topic>, BadTopics> {
    let one = |fault: String| BadTopics { faults: vec![fault] };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        one(format!("{name}:{line}: this is no text in UTF-8"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let entries = match ending.as_str() {
        "csv" => table(name, text),
        "jsonl" | "ndjson" => lines_of_json(name, text),
        "json" => list(name, text).map_err(one)?,
        _ => lines(text).map(|(_, line)| Ok(titled(line))).collect(),
    };
    let (mut topics, mut faults) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Ok(topic) => topics.push(topic),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(BadTopics { faults });
    }
    if topics.is_empty() {
        return Err(one(format!("{name}: there is no topic in it")));
    }
    Ok(topics)
}

type Entry = Result<Topic, String>;

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).map(|(no, line)| (no, line.trim())).filter(|(_, line)| !line.is_empty())
}

fn titled(line: &str) -> Topic {
    Topic { title: line.to_owned(), goal: line.to_owned(), ..Topic::default() }
}

fn lines_of_json(name: &str, text: &str) -> Vec<Entry> {
    let read = |(no, line): (usize, &str)| {
        let value: Value = serde_json::from_str(line)
            .map_err(|error| format!("{name}:{no}:{}: this is no JSON: {}", error.column(), words(&error)))?;
        topic(value).map_err(|why| format!("{name}:{no}: {why}"))
    };
    lines(text).map(read).collect()
}

fn list(name: &str, text: &str) -> Result<Vec<Entry>, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("{name}:{}:{}: this is no JSON: {}", error.line(), error.column(), words(&error)))?;
    let list = match value {
        Value::Array(list) => list,
        Value::Object(mut object) => match object.remove("topics").or_else(|| object.remove("items")) {
            Some(Value::Array(list)) => list,
            _ => return Err(format!("{name}: the object has no list `topics` or `items`")),
        },
        _ => return Err(format!("{name}: write a list of topics, or an object with a list `topics`")),
    };
    let read = |(no, value)| topic(value).map_err(|why| format!("{name}: entry {no}: {why}"));
    Ok((1..).zip(list).map(read).collect())
}

/// What is wrong with JSON, without the place, which is told before.
fn words(error: &serde_json::Error) -> String {
    let told = error.to_string();
    told.rsplit_once(" at line ").map_or_else(|| told.clone(), |(words, _)| words.to_owned())
}

/// A topic out of one value: a text, or an object.
fn topic(value: Value) -> Entry {
    let mut object = match value {
        Value::String(text) if !text.trim().is_empty() => return Ok(titled(text.trim())),
        Value::Object(object) => object,
        Value::String(_) => return Err("the text is empty".to_owned()),
        other => return Err(format!("a topic is a text or an object, and this is {}", kind(&other))),
    };
    let mut text = |names: &[&str]| -> Result<String, String> {
        for name in names {
            match object.remove(*name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) if text.trim().is_empty() => {}
                Some(Value::String(text)) => return Ok(text.trim().to_owned()),
                Some(other) => return Err(format!("`{name}` is to be a text, and is {}", kind(&other))),
            }
        }
        Ok(String::new())
    };
    let (title, goal) = (text(&["title", "topic", "name"])?, text(&["goal", "objective"])?);
    let (description, owner) = (text(&["description"])?, text(&["owner"])?);
    let mut metadata = match object.remove("metadata") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(metadata)) => metadata,
        Some(Value::String(text)) if text.trim().is_empty() => Map::new(),
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(metadata)) => metadata,
            _ => return Err("`metadata` is to be an object of JSON".to_owned()),
        },
        Some(other) => return Err(format!("`metadata` is to be an object, and is {}", kind(&other))),
    };
    for (name, value) in object {
        metadata.entry(name).or_insert(value);
    }
    if title.is_empty() && goal.is_empty() {
        return Err("it has neither `title` nor `goal`".to_owned());
    }
    let or = |first: &str, second: &str| if first.is_empty() { second.to_owned() } else { first.to_owned() };
    Ok(Topic { title: or(&title, &goal), goal: or(&goal, &title), description, owner, metadata })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn table(name: &str, text: &str) -> Vec<Entry> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(text.as_bytes());
    let head: Vec<String> = match reader.headers() {
        Ok(head) => head.iter().map(|name| name.trim().to_lowercase()).collect(),
        Err(error) => return vec![Err(format!("{name}: the first line is no head of a table: {error}"))],
    };
    if !head.iter().any(|name| ["title", "topic", "name", "goal", "objective"].contains(&name.as_str())) {
        let found = head.join(", ");
        return vec![Err(format!(
            "{name}:1: the table needs a column `title` or `goal`; its first line has: {found} (a list without a head is `.txt`)"
        ))];
    }
    if let Some(line) = unclosed(text) {
        return vec![Err(format!("{name}:{line}: a quote begins a cell here and nothing ends it"))];
    }
    let read = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| format!("{name}: {error}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = head.iter().cloned().zip(record.iter()).filter(|(_, cell)| !cell.trim().is_empty());
        let cells: BTreeMap<String, Value> = cells.map(|(name, cell)| (name, Value::from(cell))).collect();
        topic(Value::Object(cells.into_iter().collect())).map_err(|why| format!("{name}:{line}: {why}"))
    };
    reader.records().map(read).collect()
}

/// The line of a cell whose quote is never closed: everything behind it would be one topic.
fn unclosed(text: &str) -> Option<usize> {
    let (mut opened, mut begins, mut line) = (None, true, 1);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        line += usize::from(letter == '\n');
        match (opened, letter) {
            (Some(_), '"') if letters.next_if_eq(&'"').is_none() => opened = None,
            (None, '"') if begins => opened = Some(line),
            _ => {}
        }
        begins = opened.is_none() && matches!(letter, ',' | '\n' | '\r');
    }
    opened
}

impl Topic {
    /// What it is to be told by: what asks for the same plan gives the same text, wherever it stands in a list and whatever
    /// else is said about it.
    pub fn fingerprint(&self) -> String {
        let (title, goal, description) = (self.title.clone(), self.goal.clone(), self.description.clone());
        let asked = Self { title, goal, description, ..Self::default() };
        let text = serde_json::to_string(&asked).unwrap_or_default();
        blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
    }

    /// What is asked for in words.
    pub fn request(&self) -> String {
        request(&self.title, &self.goal, &self.description)
    }
}

/// What is asked for, in words: the goal, after its title where that says something else, and then what was said beside it.
///
/// Sentences, because lines of label and value read as a form that has no field for its goal.
pub fn request(title: &str, goal: &str, description: &str) -> String {
    let said_once = goal.to_lowercase().contains(&title.to_lowercase());
    let mut text = if said_once {
        goal.to_owned()
    } else {
        let end = if title.ends_with(['.', '!', '?']) { "" } else { "." };
        format!("{}{end} {goal}", title.replace(": ", " – "))
    };
    if !description.is_empty() && description != goal {
        text = format!("{text}\n\n{description}");
    }
    text
}
