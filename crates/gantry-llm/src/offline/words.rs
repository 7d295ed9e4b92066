//! What the offline model says, as data: `data/offline/`, one file for each language.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::draw::Draw;
use super::facts::Facts;

static ENGLISH: LazyLock<Words> = LazyLock::new(|| read(include_str!("../../data/offline/en.toml")));
static KOREAN: LazyLock<Words> = LazyLock::new(|| read(include_str!("../../data/offline/ko.toml")));

/// Everything that is said in one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    /// The last line of a text, which says who wrote it.
    pub mark: String,
    /// What is said of a request that says nothing.
    pub what: String,
    /// What is said of a place that nobody named.
    pub nowhere: String,
    /// People that every undertaking has.
    pub people: Vec<String>,
    /// Names of fields in this language; none means that they are said as they are.
    #[serde(default)]
    names: BTreeMap<String, String>,
    sorts: BTreeMap<Sort, Vec<String>>,
    patterns: BTreeMap<String, Vec<String>>,
    choices: Choices,
    #[serde(default)]
    numbers: Vec<Likely>,
}

#[derive(Debug, Deserialize)]
struct Choices {
    sensible: Vec<String>,
    avoided: Vec<String>,
    no: Vec<String>,
    pointing: Vec<String>,
    ending: Vec<String>,
}

/// Numbers that are likely for a field.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Likely {
    names: Vec<String>,
    pub from: f64,
    pub to: f64,
    pub step: f64,
}

/// Which sort of text a field wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sort {
    Risk,
    Reason,
    Merit,
    Question,
    Criterion,
    Answer,
    Step,
    Person,
    Place,
    Title,
    Passage,
    /// None of the others.
    Plain,
}

impl Sort {
    fn patterns(self, in_list: bool) -> &'static str {
        match self {
            Self::Title if in_list => "title_in_list",
            Self::Title => "title",
            Self::Step => "step",
            Self::Risk => "risk",
            Self::Reason => "reason",
            Self::Merit => "merit",
            Self::Question => "question",
            Self::Criterion => "criterion",
            Self::Answer => "answer",
            Self::Passage => "passage",
            Self::Person | Self::Place | Self::Plain => "plain",
        }
    }
}

/// The words of a language; English for a language that has none of its own.
pub(super) fn of(locale: &str) -> &'static Words {
    if locale.to_ascii_lowercase().starts_with("ko") { &KOREAN } else { &ENGLISH }
}

fn read(text: &str) -> Words {
    toml::from_str(text).expect("the words of the offline model are read by its tests")
}

impl Words {
    /// The sort of text that a field wants, by its name or by the name of what it is in.
    pub fn sort(&self, name: &str, list: Option<&str>) -> Sort {
        let by_name = |name: &str| self.sorts.iter().find(|(_, words)| means(name, words)).map(|(sort, _)| *sort);
        let by_list = || list.and_then(by_name);
        match by_name(name) {
            // A title in a list of risks names a risk.
            Some(Sort::Title) => by_list()
                .filter(|sort| matches!(sort, Sort::Risk | Sort::Step | Sort::Question | Sort::Merit))
                .unwrap_or(Sort::Title),
            Some(sort) => sort,
            None => Sort::Plain,
        }
    }

    /// The name of a field as it is said; none when this language has no word for it.
    pub fn name(&self, name: &str) -> Option<String> {
        let parts = parts(name);
        if parts.is_empty() {
            return None;
        }
        if self.names.is_empty() {
            return name.is_ascii().then(|| parts.join(" "));
        }
        if !name.is_ascii() {
            return Some(name.to_owned());
        }
        parts.iter().rev().find_map(|part| self.names.get(part)).cloned()
    }

    /// Tells whether a text is in this language, as far as its letters show.
    pub fn speaks(&self, text: &str) -> bool {
        self.names.is_empty() || text.chars().any(|letter| ('가'..='힣').contains(&letter))
    }

    /// One pattern of this sort, filled; the next of them for the next item of a list.
    pub fn say(&self, sort: Sort, in_list: bool, facts: &Facts, draw: Draw, turn: usize) -> String {
        self.fill(sort.patterns(in_list), facts, draw, turn)
    }

    /// One pattern of a group, filled with what is known.
    pub fn fill(&self, group: &str, facts: &Facts, draw: Draw, turn: usize) -> String {
        let patterns = self.patterns.get(group).map_or(&[][..], Vec::as_slice);
        let filled: Vec<String> = patterns.iter().filter_map(|pattern| facts.fill(pattern)).collect();
        if filled.is_empty() {
            return facts.what.clone();
        }
        let at = draw.below(filled.len()) + turn;
        let round = turn / filled.len();
        let said = &filled[at % filled.len()];
        // When a list is longer than there are patterns, its items are numbered.
        if round == 0 { said.clone() } else { format!("{said} ({})", round + 1) }
    }

    /// Every pattern of a group that can be filled, in order.
    pub fn all(&self, group: &str, facts: &Facts) -> Vec<String> {
        self.patterns.get(group).into_iter().flatten().filter_map(|pattern| facts.fill(pattern)).collect()
    }

    /// The most sensible of several words.
    pub fn sensible(&self, options: &[&str]) -> usize {
        let lower: Vec<String> = options.iter().map(|option| option.to_lowercase().replace([' ', '-'], "_")).collect();
        let best = self.choices.sensible.iter().find_map(|word| lower.iter().position(|option| option == word));
        best.or_else(|| lower.iter().position(|option| !self.choices.avoided.contains(option))).unwrap_or(0)
    }

    /// Tells whether a field asks for something that is not so yet.
    pub fn not_yet(&self, name: &str) -> bool {
        means(name, &self.choices.no)
    }

    /// Tells whether a list points at other things.
    pub fn points(&self, name: &str) -> bool {
        means(name, &self.choices.pointing)
    }

    /// Tells whether a word names a step that ends the work.
    pub fn ends(&self, word: &str) -> bool {
        means(word, &self.choices.ending)
    }

    /// The numbers that are likely for a field of this name.
    pub fn likely(name: &str) -> Option<&'static Likely> {
        ENGLISH.numbers.iter().find(|likely| means(name, &likely.names))
    }
}

/// Tells whether a name has one of these words in it, be it one or many.
fn means(name: &str, words: &[String]) -> bool {
    let knows = |part: &str| words.iter().any(|word| word == part);
    parts(name).iter().any(|part| {
        knows(part) || part.strip_suffix('s').is_some_and(knows) || part.strip_suffix("es").is_some_and(knows)
    })
}

/// The words of a name: `dueDate`, `due_date` and `due-date` are `due` and `date`.
pub(super) fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    let mut before_lower = false;
    for letter in name.chars().take(200) {
        let breaks = !letter.is_alphanumeric() || (letter.is_uppercase() && before_lower);
        if breaks && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if letter.is_alphanumeric() {
            part.extend(letter.to_lowercase());
        }
        before_lower = letter.is_lowercase() || letter.is_numeric();
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}
