//! Words of models and people, read for what they claim: numbers and dates that the plan gives are marked with what they
//! are, names of tasks, risks and demands become links, and what comes from nowhere is marked as that.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;

use super::pattern::flat;
use super::{Claim, Line, Span};

/// What a number in the words of a person is: theirs, whatever the schedule says.
pub(super) const OWN_WORDS: &str = "a person's own words";

/// What can be named in prose.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Numbers without what makes them easier to read, and what they are.
    numbers: BTreeMap<String, (String, Claim)>,
    /// Ids, and the titles of what they name.
    ids: BTreeMap<String, Option<String>>,
    titles: BTreeSet<String>,
    /// Texts that people wrote: what they say is given.
    people: BTreeSet<String>,
}

impl Index {
    /// Knows every number in a value under this name. What was known first counts more.
    pub(super) fn know_numbers(&mut self, of: &str, value: &Value, claim: Claim) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.know_numbers(&format!("{of}.{name}"), value, claim);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.know_numbers(of, item, claim)),
            Value::String(text) => {
                for figure in figures(text) {
                    self.know(plain(&text[figure]), of, claim);
                }
            }
            Value::Number(number) => {
                self.know(plain(&number.to_string()), of, claim);
                if let Some(share) = number.as_f64().filter(|share| (0.0..=1.0).contains(share)) {
                    self.know(plain(&format!("{}", (share * 100.0).round())), of, claim);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn know(&mut self, number: String, of: &str, claim: Claim) {
        self.numbers.entry(number).or_insert_with(|| (of.to_owned(), claim));
    }

    /// Knows the ids of a list of things; with a letter they are numbered with it: `C1`, `C2`, ….
    pub(super) fn know_ids(&mut self, things: &Value, letter: Option<&str>) {
        for (at, thing) in things.as_array().into_iter().flatten().enumerate() {
            let numbered = letter.map(|letter| format!("{letter}{}", at + 1));
            let Some(id) = numbered.as_deref().or(thing["id"].as_str()) else { continue };
            let title = ["title", "name", "text"].iter().find_map(|field| thing[*field].as_str());
            let known = self.ids.entry(id.to_owned()).or_default();
            if known.is_none() {
                *known = title.map(str::to_owned);
            }
            self.titles.extend(title.map(str::to_owned));
        }
    }

    /// Knows a text that a person wrote.
    pub(super) fn know_own_words(&mut self, text: &str) {
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.trim().to_owned());
        self.people.extend(paragraphs.chain([text.trim().to_owned()]));
    }

    pub(super) fn title(&self, id: &str) -> Option<&String> {
        self.ids.get(id)?.as_ref()
    }

    pub(super) fn is_title(&self, text: &str) -> bool {
        self.titles.contains(text)
    }

    /// A name that should be something in the report.
    pub(super) fn name(&self, id: &str) -> Span {
        if self.ids.contains_key(id) {
            Span::Ref { text: id.to_owned(), id: id.to_owned() }
        } else {
            Span::Dangling(id.to_owned())
        }
    }

    /// Marks what a text, or each text of a list, claims.
    pub(super) fn read_value(&self, value: &Value) -> Line {
        let Value::Array(items) = value else { return self.read(&flat(value)) };
        // One of them may be a person's and the next a model's.
        let texts: Vec<String> = items.iter().map(flat).collect();
        let between = joint(&texts);
        let mut line = Line::new();
        for text in &texts {
            if !line.is_empty() {
                line.push(Span::Text(between.to_owned()));
            }
            line.extend(self.read(text));
        }
        line
    }

    /// Marks what a text claims. Nothing that a person wrote comes from nowhere: it is what they say.
    pub(super) fn read(&self, text: &str) -> Line {
        let is_own = self.people.contains(text.trim());
        let mut marks: Vec<(Range<usize>, Span)> = Vec::new();
        for range in figures(text) {
            let written = &text[range.clone()];
            let span = match self.numbers.get(&plain(written)) {
                Some((of, claim)) => Span::Number { text: written.to_owned(), of: of.clone(), claim: *claim },
                None if is_own => {
                    Span::Number { text: written.to_owned(), of: OWN_WORDS.to_owned(), claim: Claim::Given }
                }
                None => Span::Stray(written.to_owned()),
            };
            marks.push((range, span));
        }
        for range in names(text) {
            let written = &text[range.clone()];
            let span = self.name(written);
            let is_known = matches!(span, Span::Ref { .. });
            if (is_known || is_numbered(written) && !is_own) && !marks.iter().any(|(other, _)| overlap(other, &range)) {
                marks.push((range, span));
            }
        }
        marks.sort_by_key(|(range, _)| range.start);
        let (mut line, mut end) = (Vec::new(), 0);
        for (range, span) in marks {
            if range.start > end {
                line.push(Span::Text(text[end..range.start].to_owned()));
            }
            end = range.end;
            line.push(span);
        }
        if end < text.len() {
            line.push(Span::Text(text[end..].to_owned()));
        }
        line
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// What stands between the texts of a list.
pub(super) fn joint(texts: &[String]) -> &'static str {
    let is_long = |text: &String| text.contains(',') || text.contains(' ');
    if texts.iter().any(is_long) { "; " } else { ", " }
}

/// Tells whether a text has anything that must come from somewhere: a number, or what looks like a name.
pub(super) fn claims_something(text: &str) -> bool {
    figures(text).next().is_some() || names(text).next().is_some()
}

/// Words that look like names of things: `connection-late`, `D1`.
fn names(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let rest = &text[at..];
            let skipped = rest.find(is_part).unwrap_or(rest.len());
            let start = at + skipped;
            let length = text[start..].find(|letter| !is_part(letter)).unwrap_or(text.len() - start);
            at = (start + length).max(at + 1);
            let word = &text[start..start + length];
            if word.contains(['-', '_']) || is_numbered(word) {
                return Some(start..start + length);
            }
        }
        None
    })
}

/// `D1`, `R12`: one of the letters that number demands, risks and assumptions, and digits.
fn is_numbered(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next().is_some_and(|letter| matches!(letter, 'D' | 'R' | 'C'));
    first && (2..=4).contains(&word.len()) && letters.all(|letter| letter.is_ascii_digit())
}

/// A number without what only makes it easier to read.
pub fn plain(figure: &str) -> String {
    let digits: String = figure.chars().filter(|letter| !matches!(letter, ',' | ' ' | '\u{a0}' | '\'')).collect();
    let digits = digits.trim_end_matches('.');
    match digits.split_once('.') {
        Some((whole, rest)) if rest.chars().all(|digit| digit == '0') => whole.to_owned(),
        _ => digits.to_owned(),
    }
}

/// The numbers in a text that claim something: amounts, shares, dates and lengths of time, not the count of a list, the
/// name of a risk or a part of a word.
pub fn figures(text: &str) -> impl Iterator<Item = Range<usize>> {
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

/// A number after capitals is the name of a law or a standard: `ISO 9001`, `(EU) 2016`. Three capitals may be a currency.
fn is_named(before: &str) -> bool {
    const CURRENCIES: [&str; 22] = [
        "EUR", "USD", "DKK", "GBP", "CHF", "SEK", "NOK", "JPY", "KRW", "CNY", "INR", "AUD", "CAD", "NZD", "PLN", "CZK",
        "HUF", "BRL", "MXN", "ZAR", "TRY", "SGD",
    ];
    let word = before.trim_end().rsplit(' ').next().unwrap_or_default();
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    word.len() > 1 && !CURRENCIES.contains(&word) && word.bytes().all(|letter| letter.is_ascii_uppercase())
}

fn is_unit(rest: &str) -> bool {
    const UNITS: [&str; 13] =
        ["%", "percent", "hour", "day", "week", "month", "year", "million", "billion", "thousand", "EUR", "USD", "DKK"];
    UNITS.iter().any(|unit| rest.starts_with(unit))
}
