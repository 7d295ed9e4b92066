//! Reads TOML into values that know their place, and finds everything that nobody asked for.
//!
//! A [`Section`] is one table. Each question names a key, and a key that no question named is unknown: what is read
//! and what is accepted can never be two different lists. Faults name file, line and column, and never a value of a
//! key: even a broken line may hold a secret.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;
use std::time::Duration;

use gantry_core::plan::Money;
use gantry_core::suggest::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ConfigFault};
use super::origin::{Origin, Sourced, Whose};
use crate::target::Price;

/// The text of one file.
pub(super) struct Source<'a> {
    /// What it is called in messages.
    name: &'a str,
    text: &'a str,
    /// None for what is part of this program.
    whose: Option<Whose>,
    faults: RefCell<ConfigError>,
}

impl<'a> Source<'a> {
    pub(super) fn new(name: &'a str, text: &'a str, whose: Option<Whose>) -> Self {
        Self { name, text: text.strip_prefix('\u{feff}').unwrap_or(text), whose, faults: RefCell::default() }
    }

    /// Parses the text and hands the outermost table to `read`.
    pub(super) fn read<T: Default>(self, read: impl FnOnce(&mut Section<'_>) -> T) -> (T, Vec<ConfigFault>) {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            let place = self.origin(error.span().unwrap_or(0..0));
            self.fault(ConfigFault::new(format!("this is not TOML: {}", error.message())).at(&place));
        }
        let mut value = T::default();
        if errors.is_empty() {
            let mut section = Section::new(&self, String::new(), table.get_ref());
            value = read(&mut section);
            section.end();
        }
        let mut faults = self.faults.into_inner().faults;
        faults.sort_by_key(|fault| fault.order);
        (value, faults)
    }

    /// The place of some bytes of the text.
    fn origin(&self, span: Range<usize>) -> Origin {
        let Some(whose) = self.whose else { return Origin::BuiltIn };
        let start = self.text.floor_char_boundary(span.start.min(self.text.len()));
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Origin::File {
            whose,
            file: self.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    fn fault(&self, mut fault: ConfigFault) {
        if fault.place.is_none() {
            fault.place = Some(self.name.to_owned());
        }
        self.faults.borrow_mut().push(fault);
    }
}

/// One table.
pub(super) struct Section<'a> {
    source: &'a Source<'a>,
    /// Its name with dots, empty for the outermost.
    path: String,
    table: &'a DeTable<'a>,
    asked: Vec<&'static str>,
}

/// One entry of a table.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    pub(super) key: String,
    /// Its name with dots.
    pub(super) path: String,
    pub(super) origin: Origin,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Section<'a> {
    fn new(source: &'a Source<'a>, path: String, table: &'a DeTable<'a>) -> Self {
        Self { source, path, table, asked: Vec::new() }
    }

    /// All entries, in the order of the file, for a table whose keys are names.
    pub(super) fn entries(&self) -> Vec<Entry<'a>> {
        let mut entries: Vec<(usize, Entry<'a>)> = (self.table.iter())
            .map(|(key, value)| {
                let path = self.path_of(key.get_ref());
                let origin = self.source.origin(key.span());
                (key.span().start, Entry { key: key.get_ref().to_string(), path, origin, value })
            })
            .collect();
        entries.sort_by_key(|(start, _)| *start);
        entries.into_iter().map(|(_, entry)| entry).collect()
    }

    fn path_of(&self, key: &str) -> String {
        let bare = key.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
        let key = if bare { key.to_owned() } else { format!("\"{}\"", key.escape_debug()) };
        if self.path.is_empty() { key } else { format!("{}.{key}", self.path) }
    }

    fn entry(&mut self, key: &'static str) -> Option<Entry<'a>> {
        self.asked.push(key);
        self.entries().into_iter().find(|entry| entry.key == key)
    }

    /// A table in this one.
    pub(super) fn section(&mut self, key: &'static str) -> Option<Section<'a>> {
        self.entry(key).and_then(|entry| self.as_section(&entry))
    }

    /// An entry that is a table.
    pub(super) fn as_section(&self, entry: &Entry<'a>) -> Option<Section<'a>> {
        match entry.value.get_ref() {
            DeValue::Table(table) => Some(Section::new(self.source, entry.path.clone(), table)),
            _ => self.wrong(entry, &format!("be a table: write `[{}]` and the lines below it", entry.path)),
        }
    }

    /// Tells whether an entry is a table.
    pub(super) fn is_section(entry: &Entry<'a>) -> bool {
        matches!(entry.value.get_ref(), DeValue::Table(_))
    }

    /// A text.
    pub(super) fn text(&mut self, key: &'static str) -> Option<Sourced<String>> {
        let entry = self.entry(key)?;
        match entry.value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => {
                Some(Sourced::new(text.trim().to_owned(), entry.origin))
            }
            _ => self.wrong(&entry, "be a text, such as \"…\""),
        }
    }

    /// A text that is one of some words.
    pub(super) fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<Sourced<T>> {
        let text = self.text(key)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(Sourced::new(*value, text.origin));
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let path = self.path_of(key);
        let fault = ConfigFault::new(format!("`{path}` cannot be `{}`", short(&text.value))).at(&text.origin);
        self.fault(fault.hint(match nearest(&text.value, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it is one of {}", listed(&names)),
        }));
        None
    }

    /// A list of texts; one alone is a list, too.
    pub(super) fn texts(&mut self, key: &'static str) -> Option<Sourced<Vec<String>>> {
        let entry = self.entry(key)?;
        self.as_texts(&entry)
    }

    /// An entry that is a list of texts, or one.
    pub(super) fn as_texts(&self, entry: &Entry<'a>) -> Option<Sourced<Vec<String>>> {
        let of = |value: &DeValue<'_>| match value {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => None,
        };
        let texts: Option<Vec<String>> = match entry.value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| of(item.get_ref())).collect(),
            other => of(other).map(|text| vec![text]),
        };
        match texts {
            Some(texts) if !texts.is_empty() => Some(Sourced::new(texts, entry.origin.clone())),
            _ => self.wrong(entry, "be a text, or a list of texts such as [\"…\", \"…\"]"),
        }
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, key: &'static str) -> Option<Sourced<bool>> {
        let entry = self.entry(key)?;
        match entry.value.get_ref() {
            DeValue::Boolean(value) => Some(Sourced::new(*value, entry.origin)),
            _ => self.wrong(&entry, "be true or false"),
        }
    }

    /// A whole number in a range.
    pub(super) fn number(&mut self, key: &'static str, range: RangeInclusive<u32>) -> Option<Sourced<u32>> {
        let entry = self.entry(key)?;
        let number = match entry.value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        match number.and_then(|number| u32::try_from(number).ok()).filter(|number| range.contains(number)) {
            Some(number) => Some(Sourced::new(number, entry.origin)),
            None => self.wrong(&entry, &format!("be a whole number from {} to {}", range.start(), range.end())),
        }
    }

    /// A length of time, such as `90s`.
    pub(super) fn duration(&mut self, key: &'static str, range: RangeInclusive<Duration>) -> Option<Sourced<Duration>> {
        let entry = self.entry(key)?;
        let length = match entry.value.get_ref() {
            DeValue::String(text) => gantry_core::time::Duration::parse(text).ok(),
            _ => None,
        };
        let length = length.map(|length| Duration::from_millis(length.as_ms()));
        match length.filter(|length| range.contains(length)) {
            Some(length) => Some(Sourced::new(length, entry.origin)),
            None => self.wrong(
                &entry,
                &format!(
                    "be a length of time from {}s to {}s, such as \"90s\" or \"5m\"",
                    range.start().as_secs(),
                    range.end().as_secs()
                ),
            ),
        }
    }

    /// A price: `{ input = 0.15, cached = 0.075, output = 0.60 }`.
    pub(super) fn price(&mut self, key: &'static str) -> Option<Sourced<Price>> {
        let entry = self.entry(key)?;
        self.as_price(&entry)
    }

    /// An entry that is a price.
    pub(super) fn as_price(&self, entry: &Entry<'a>) -> Option<Sourced<Price>> {
        let mut section = match entry.value.get_ref() {
            DeValue::Table(table) => Section::new(self.source, entry.path.clone(), table),
            _ => {
                return self.wrong(entry, "be dollars for a million tokens, such as { input = 0.15, output = 0.60 }");
            }
        };
        let (input, cached, output) = (section.money("input"), section.money("cached"), section.money("output"));
        let is_whole = ["input", "output"].iter().all(|key| section.table.contains_key(*key));
        section.end();
        match (input, output) {
            (Some(input), Some(output)) => Some(Sourced::new(Price { input, cached, output }, entry.origin.clone())),
            _ if is_whole => None, // what is wrong with it has been said
            _ => self.wrong(entry, "say what `input` and `output` cost"),
        }
    }

    fn money(&mut self, key: &'static str) -> Option<Money> {
        let entry = self.entry(key)?;
        let dollars = match entry.value.get_ref() {
            DeValue::Integer(number) => f64::from_str(number.as_str()).ok(),
            DeValue::Float(number) => f64::from_str(number.as_str()).ok(),
            _ => None,
        };
        let money = dollars.and_then(|dollars| serde_json::from_value(serde_json::json!(dollars)).ok());
        money.or_else(|| self.wrong(&entry, "be an amount of dollars, such as 0.15"))
    }

    fn wrong<T>(&self, entry: &Entry<'a>, what: &str) -> Option<T> {
        self.fault(ConfigFault::new(format!("`{}` must {what}", entry.path)).at(&entry.origin));
        None
    }

    /// Notes a fault.
    pub(super) fn fault(&self, fault: ConfigFault) {
        self.source.fault(fault);
    }

    /// Says which keys nobody asked for.
    pub(super) fn end(self) {
        for entry in self.entries() {
            if self.asked.contains(&entry.key.as_str()) {
                continue;
            }
            let fault = ConfigFault::new(format!("unknown key `{}`", short(&entry.path))).at(&entry.origin);
            self.fault(fault.hint(match nearest(&entry.key, self.asked.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", listed(&self.asked)),
            }));
        }
    }
}

/// Texts of others are cut to this many characters in messages.
const QUOTE_CHARS_MAX: usize = 80;

/// A text of somebody else, cut to what a message can show.
pub(super) fn short(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars().take(QUOTE_CHARS_MAX) {
        if letter.is_control() {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    if text.chars().nth(QUOTE_CHARS_MAX).is_some() { format!("{shown}…") } else { shown }
}

/// `a`, `b` and `c`, in order.
pub(super) fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
