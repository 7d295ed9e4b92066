//! Reads the value that a model was asked for out of what it said, and checks it.
//!
//! ```text
//! words ─ find ─ notation ─ judge (schema) ─ rules ─ Holds │ Cut │ Faulty ─ feedback ─ the model again
//! ```
//!
//! Models wrap values in fences and talk, and write Python or `JavaScript` for JSON. What can mean only one thing is
//! read as that, and noted; everything else is a fault that is said to the model.
//!
//! Invariant: a value that [`Reading::Holds`] fits the schema and the rules, and is what the model wrote; each repair is
//! listed. Two values that both fit are a fault, never a choice.
//! Invariant: no text makes reading panic, overflow the stack, or take more than time in proportion to its length.

mod notation; // in reading order
mod find;
mod judge;
mod faults;
mod strict;

use std::collections::BTreeSet;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::answer::{Finish, Repair};
use crate::request::Shape;
use find::{Fence, Said};
use judge::Verdict;
use notation::{Broken, Halt, Mend, Parsed};

pub(crate) use find::THOUGHTS;
pub use strict::strict;

/// How long an answer may be, in bytes: more than any model writes in one go.
pub const BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long the text about faults may be, in characters.
const FEEDBACK_CHARS_MAX: usize = 4_000;

/// How often a pattern of a schema may try another way before it is given up.
const BACKTRACKS_MAX: usize = 100_000;

/// How often a text may hold a text that holds the value.
const TEXTS_MAX: usize = 2;

/// Said of an answer that holds a value that fits beside one that does not read.
const ONE_IS_BROKEN: &str = "The answer holds several values, and one of them is broken.";

/// Rules beyond the schema: ids exist, counts, ranges, dates. Each fault is a sentence with the path.
pub type Rules<'a> = &'a (dyn Fn(&Value) -> Vec<String> + Send + Sync);

/// What came of reading an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// The value fits the schema and the rules.
    Holds {
        /// The value.
        value: Value,
        /// What was done to the words before they held.
        repairs: Vec<Repair>,
    },
    /// The answer ends in the middle.
    Cut {
        /// What was said so far; what comes next is to be put right behind it.
        so_far: String,
    },
    /// The answer cannot be used.
    Faulty {
        /// Why, each a sentence with the place.
        faults: Vec<String>,
    },
}

/// A schema that can be checked against, compiled once.
#[derive(Debug)]
pub struct Checker {
    name: String,
    schema: Value,
    validator: Validator,
}

impl Checker {
    /// Compiles a schema; says what is wrong with it if it is none. Nothing is fetched from anywhere.
    pub fn new(shape: &Shape) -> Result<Self, String> {
        let validator = jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS_MAX))
            .build(&shape.schema)
            .map_err(|error| {
                let place = faults::place(judge::pointer(error.instance_path()));
                faults::excerpt(&format!("the schema `{}` is not valid. {place}: {error}", shape.name), 400)
            })?;
        Ok(Self { name: shape.name.clone(), schema: shape.schema.clone(), validator })
    }

    /// The schema, compiled.
    pub(crate) fn validator(&self) -> &Validator {
        &self.validator
    }

    /// Tells whether a value fits the schema as it is.
    pub fn fits(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// What the schema has against a value, each a sentence with the place; nothing when it fits.
    pub fn faults(&self, value: &Value) -> Vec<String> {
        faults::bounded(faults::of_schema(&self.validator, value))
    }

    /// Reads an answer.
    pub fn read(&self, text: &str, finish: &Finish, rules: Rules<'_>) -> Reading {
        if text.len() > BYTES_MAX {
            let faults = vec![format!("The answer is {} bytes long; at most {BYTES_MAX} are read.", text.len())];
            return Reading::Faulty { faults };
        }
        match self.look(text, finish) {
            Ok((value, repairs)) => {
                let faults = rules(&value);
                if faults.is_empty() {
                    Reading::Holds { value, repairs }
                } else {
                    Reading::Faulty { faults: faults::bounded(faults) }
                }
            }
            Err(Miss::Cut) => Reading::Cut { so_far: text.to_owned() },
            Err(Miss::Faults(faults)) => Reading::Faulty { faults: faults::bounded(faults) },
        }
    }

    /// Looks for the one value that fits: the whole answer, else one in a fence, else one among words.
    fn look(&self, text: &str, finish: &Finish) -> Result<Held, Miss> {
        let (text, mut around) = bare(text);
        match notation::whole(text) {
            Ok(parsed) => return self.weigh(parsed, &around).map_err(Miss::Faults),
            Err(Broken { halt: Halt::Limit(limit), .. }) => return Err(Miss::Faults(vec![limit])),
            Err(_) => {}
        }
        let text = match find::without_thoughts(text) {
            Said::Everything => text,
            Said::OnlyThoughts if *finish == Finish::Length => return Err(Miss::Cut),
            Said::OnlyThoughts => {
                return Err(Miss::one("The answer ends within its thoughts; there is no value after them."));
            }
            Said::After(rest) => {
                around.push(Repair::Prose);
                match notation::whole(rest) {
                    Ok(parsed) => return self.weigh(parsed, &around).map_err(Miss::Faults),
                    Err(_) => rest,
                }
            }
        };
        let fenced = self.in_fences(text, &around);
        if let Some(decided) = fenced {
            return decided;
        }
        self.among_words(text, finish, &around)
    }

    /// Looks into fences. None means that the answer is to be looked for elsewhere.
    fn in_fences(&self, text: &str, around: &[Repair]) -> Option<Result<Held, Miss>> {
        let (fences, words) = find::fences(text);
        let mut held: Vec<Held> = Vec::new();
        if fences.len() > find::PLACES_MAX {
            return Some(Err(Miss::one(find::TOO_MANY)));
        }
        let mut broken: Option<String> = None;
        let mut around = around.to_vec();
        around.push(Repair::Fence);
        if (!words.trim().is_empty() || fences.len() > 1) && !around.contains(&Repair::Prose) {
            around.push(Repair::Prose);
        }
        for Fence { content, closed } in fences {
            match notation::whole(content) {
                Ok(parsed) => held.extend(self.weigh(parsed, &around)),
                Err(Broken { halt: Halt::End, begun: true, .. }) if !closed && !content.trim().is_empty() => {
                    return Some(Err(Miss::Cut));
                }
                Err(fault) if fault.begun && content.trim_start().starts_with(['{', '[']) => {
                    broken.get_or_insert_with(|| fault.sentence(content));
                }
                Err(_) => {}
            }
        }
        if held.is_empty() {
            return None;
        }
        // A value among the words that fits as well may be the one that was meant, and so may one that is broken.
        held.extend(find::among_words(&words).values.into_iter().filter_map(|parsed| self.weigh(parsed, &around).ok()));
        match broken {
            Some(sentence) => Some(Err(Miss::Faults(vec![ONE_IS_BROKEN.to_owned(), sentence]))),
            None => the_one(held),
        }
    }

    fn among_words(&self, text: &str, finish: &Finish, around: &[Repair]) -> Result<Held, Miss> {
        let found = find::among_words(text);
        if let Some(limit) = found.limit {
            return Err(Miss::Faults(vec![limit]));
        }
        if found.cut {
            return Err(Miss::Cut);
        }
        let mut around = around.to_vec();
        if !around.contains(&Repair::Prose) {
            around.push(Repair::Prose);
        }
        let values = found.values.len();
        let mut held = Vec::new();
        // The longest value is most likely the answer, so its faults are told.
        let mut fails: Option<(usize, Vec<String>)> = None;
        for parsed in found.values {
            let length = parsed.value.to_string().len();
            match self.weigh(parsed, &around) {
                Ok(fits) => held.push(fits),
                Err(faults) if fails.as_ref().is_none_or(|(longest, _)| length > *longest) => {
                    fails = Some((length, faults));
                }
                Err(_) => {}
            }
        }
        // A broken value beside one that fits may be the one that was meant.
        if let (Some(broken), false) = (found.broken.first(), held.is_empty()) {
            let faults = vec![ONE_IS_BROKEN.to_owned(), broken.sentence(text)];
            return Err(Miss::Faults(faults));
        }
        if let Some(decided) = the_one(held) {
            return decided;
        }
        if values == 0
            && let Some(held) = self.escaped(text, &around)
        {
            return held.map_err(Miss::Faults);
        }
        if let Some(broken) = found.broken.first() {
            return Err(Miss::Faults(vec![broken.sentence(text)]));
        }
        match fails {
            Some((_, faults)) if values == 1 => Err(Miss::Faults(faults)),
            Some((_, faults)) => {
                let several = format!(
                    "The answer holds {values} values, and none fits. If they belong together, give one value that holds them all. The longest has these faults:"
                );
                Err(Miss::Faults(std::iter::once(several).chain(faults).collect()))
            }
            None if *finish == Finish::Length => Err(Miss::Cut),
            None => Err(Miss::one(&broken_off(text).unwrap_or_else(|| no_value(text, finish)))),
        }
    }

    /// Reads a text that was escaped as if it stood in quotes.
    fn escaped(&self, text: &str, around: &[Repair]) -> Option<Result<Held, Vec<String>>> {
        let text = text.trim();
        if !text.starts_with(['{', '[']) || !text.contains("\\\"") {
            return None;
        }
        let unescaped = notation::whole(&format!("\"{text}\"")).ok()?;
        let mut parsed = notation::whole(unescaped.value.as_str()?).ok()?;
        parsed.mends.insert(Mend::EscapedText);
        let around: Vec<Repair> = around.iter().filter(|repair| **repair != Repair::Prose).cloned().collect();
        Some(self.weigh(parsed, &around))
    }

    /// Holds a value against the schema, out of the wrapping that it may be in.
    fn weigh(&self, parsed: Parsed, around: &[Repair]) -> Result<Held, Vec<String>> {
        let Parsed { mut value, mut mends, .. } = parsed;
        if value == self.schema
            && ["type", "properties", "$ref", "anyOf", "oneOf"].iter().any(|word| value.get(word).is_some())
        {
            return Err(vec!["The answer repeats the schema; give a value that fits it.".to_owned()]);
        }
        let mut faults = match self.judged(value.clone(), &mends, around, None) {
            Ok(held) => return Ok(held),
            Err(faults) => faults,
        };
        for _ in 0..TEXTS_MAX {
            let Some(inner) = value.as_str().filter(|text| text.trim_start().starts_with(['{', '[', '"'])) else {
                break;
            };
            let Ok(inner) = notation::whole(inner) else {
                break;
            };
            mends.extend(inner.mends);
            mends.insert(Mend::InText);
            value = inner.value;
            match self.judged(value.clone(), &mends, around, None) {
                Ok(held) => return Ok(held),
                Err(of_inner) => faults = of_inner,
            }
        }
        if let Some((inner, wrapping)) = self.unwrapped(&value)
            && let Ok(held) = self.judged(inner, &mends, around, Some(wrapping))
        {
            return Ok(held);
        }
        Err(faults)
    }

    fn judged(
        &self,
        value: Value,
        mends: &BTreeSet<Mend>,
        around: &[Repair],
        wrapping: Option<String>,
    ) -> Result<Held, Vec<String>> {
        match judge::judge(&self.validator, value) {
            Verdict::Fits(value, by_schema) => {
                let mut repairs = around.to_vec();
                repairs.extend(mends.iter().map(|mend| Repair::Notation(mend.words().to_owned())));
                repairs.extend(wrapping.map(Repair::Notation));
                repairs.extend(by_schema);
                Ok((value, repairs))
            }
            Verdict::Fails(faults) => Err(faults),
        }
    }

    /// Takes a value out of an object that only names the schema: `{"plan": {…}}`, or a call of a tool named `plan`.
    fn unwrapped(&self, value: &Value) -> Option<(Value, String)> {
        let object = value.as_object()?;
        if object.len() == 1
            && let Some(inner) = object.get(&self.name)
        {
            return Some((inner.clone(), format!("the value stood under the name of its schema, `{}`", self.name)));
        }
        if object.len() == 2 && object.get("name")?.as_str()? == self.name {
            let inner = ["arguments", "parameters", "input"].iter().find_map(|key| object.get(*key))?;
            let inner = match inner {
                Value::String(text) => notation::whole(text).ok().filter(|parsed| parsed.mends.is_empty())?.value,
                other => other.clone(),
            };
            return Some((inner, format!("the value stood in a call of a tool named `{}`", self.name)));
        }
        None
    }
}

/// A value that fits, and what was done for it.
type Held = (Value, Vec<Repair>);

/// Why no value was found.
enum Miss {
    Cut,
    Faults(Vec<String>),
}

impl Miss {
    fn one(fault: &str) -> Self {
        Self::Faults(vec![fault.to_owned()])
    }
}

/// Decides between values that fit: the same one twice is one, and two are one too many.
fn the_one(mut held: Vec<Held>) -> Option<Result<Held, Miss>> {
    let first = if held.is_empty() { return None } else { held.swap_remove(0) };
    if held.iter().any(|(value, _)| *value != first.0) {
        let fault = format!("The answer holds {} different values that fit; give exactly one.", held.len() + 1);
        return Some(Err(Miss::Faults(vec![fault])));
    }
    Some(Ok(first))
}

/// An answer without its byte order mark.
fn bare(text: &str) -> (&str, Vec<Repair>) {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => (rest, vec![Repair::Notation("a byte order mark".to_owned())]),
        None => (text, Vec::new()),
    }
}

/// What is wrong with an answer that is a value by its first bracket, and breaks right after it.
fn broken_off(text: &str) -> Option<String> {
    let (fences, _) = find::fences(text);
    let texts = std::iter::once(text).chain(fences.iter().map(|fence| fence.content));
    let text = texts.into_iter().find(|text| text.trim_start().starts_with(['{', '[']))?;
    notation::whole(text).err().map(|broken| broken.sentence(text))
}

fn no_value(text: &str, finish: &Finish) -> String {
    let begins = faults::excerpt(text, 80);
    match (finish, begins.is_empty()) {
        (Finish::Refused, true) => "The model refused to answer.".to_owned(),
        (Finish::Refused, false) => format!("The model refused to answer: \"{begins}\"."),
        (_, true) => "The answer is empty.".to_owned(),
        (_, false) => format!("There is no JSON value in the answer, which begins with \"{begins}\"."),
    }
}

/// What is said to the model about its faults.
pub fn feedback(faults: &[String]) -> String {
    const ASKING: &str =
        "Give the whole answer again: one JSON value that fits the schema, with nothing before or after it.";
    let mut text = "Your answer cannot be used:\n".to_owned();
    let mut told = 0;
    for fault in faults {
        let line = format!("- {}\n", faults::excerpt(fault, 400));
        if text.chars().count() + line.chars().count() > FEEDBACK_CHARS_MAX - ASKING.len() - 40 {
            break;
        }
        text.push_str(&line);
        told += 1;
    }
    if told < faults.len() {
        text = format!("{text}- and {} more\n", faults.len() - told);
    }
    text.push_str(ASKING);
    text
}
