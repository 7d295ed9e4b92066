//! One file: front matter, then parts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_saphyr::Spanned;

use super::fault::PromptFault;
use super::template::{Template, Wrong};

/// The line around the front matter.
const FENCE: &str = "---";

/// The text of a file, and where it is from.
#[derive(Clone)]
pub(super) struct PromptText {
    /// What messages call it.
    pub(super) file: String,
    /// The name that its file name promises.
    pub(super) name: String,
    /// The language that its file name promises.
    pub(super) locale: String,
    pub(super) text: String,
}

/// A prompt.
pub(super) struct Prompt {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) locale: String,
    pub(super) role: String,
    pub(super) inputs: Vec<Input>,
    pub(super) output: Option<Value>,
    /// A hash of everything that the file says, and of its schema.
    pub(super) fingerprint: String,
    pub(super) system_varies: bool,
    /// How often it is chosen as it stands, compared with its variants.
    pub(super) weight: u32,
    pub(super) variants: BTreeMap<String, Variant>,
    parts: Vec<Part>,
}

/// What goes into a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: InputType,
    /// It has to be given.
    pub required: bool,
    /// What it is for.
    pub description: String,
    /// What it may look like.
    pub example: Value,
    /// The line that declares it.
    #[serde(skip)]
    pub line: usize,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputType {
    /// A text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list of values.
    List,
    /// Values by name.
    Object,
    /// Any of them.
    Any,
}

impl InputType {
    /// Tells whether a value is of this type.
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
            Self::Any => !value.is_null(),
        }
    }

    /// What it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::List => "a list",
            Self::Object => "an object",
            Self::Any => "a value",
        }
    }
}

/// Who says a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    System,
    User,
    Assistant,
}

/// One part of the text.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) who: Who,
    /// The line of the file on which its text begins.
    pub(super) line: usize,
    pub(super) template: Template,
}

/// Another way to say it.
pub(super) struct Variant {
    pub(super) weight: u32,
    pub(super) system: Option<Part>,
    pub(super) user: Option<Part>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    name: String,
    version: String,
    locale: String,
    role: String,
    description: String,
    #[serde(default)]
    inputs: Vec<FrontInput>,
    output: Option<Value>,
    #[serde(default)]
    system_varies: bool,
    weight: Option<u32>,
    #[serde(default)]
    variants: BTreeMap<String, FrontVariant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontInput {
    name: Spanned<String>,
    #[serde(rename = "type")]
    kind: InputType,
    #[serde(default = "yes")]
    required: bool,
    description: String,
    example: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontVariant {
    weight: Option<u32>,
    system: Option<Spanned<String>>,
    user: Option<Spanned<String>>,
}

fn yes() -> bool {
    true
}

impl Prompt {
    /// Reads a file; `schemas` are the files that `output: {schema: …}` may name.
    pub(super) fn read(from: &PromptText, schemas: &BTreeMap<String, Value>) -> Result<Self, Vec<PromptFault>> {
        let fault = |what: &str| PromptFault::new(&from.file, what);
        let text = from.text.strip_prefix('\u{feff}').unwrap_or(&from.text).replace("\r\n", "\n");
        let Some((front, body, body_line)) = divide(&text) else {
            return Err(vec![
                fault("there is no front matter")
                    .at(1)
                    .hint("begin the file with a line `---`, and end it with another"),
            ]);
        };
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        let front: Front = serde_saphyr::from_str_with_options(front, options).map_err(|error| {
            let line = error.location().map_or(0, |place| usize::try_from(place.line()).unwrap_or(0));
            vec![fault(&format!("the front matter cannot be read: {}", first_line(&error))).at(line + 1)]
        })?;
        let mut faults = Vec::new();
        for (what, said, promised) in [("name", &front.name, &from.name), ("locale", &front.locale, &from.locale)] {
            if said != promised {
                faults.push(fault(&format!("its {what} is `{said}`, but its file name says `{promised}`")));
            }
        }
        for (what, said) in [("version", &front.version), ("role", &front.role), ("description", &front.description)] {
            if said.trim().is_empty() {
                faults.push(fault(&format!("its `{what}` is empty")));
            }
        }
        let inputs: Vec<Input> =
            front.inputs.into_iter().filter_map(|input| self::input(input, from, &mut faults)).collect();
        let output = front.output.map(|output| schema(output, schemas)).transpose();
        let output = output.unwrap_or_else(|what| {
            faults.push(fault(&what));
            None
        });
        let parts = parts(&body, body_line, from, &mut faults);
        let variants = front.variants.into_iter().map(|(name, variant)| {
            let part = |who, text: Option<Spanned<String>>| text.map(|text| of_front(who, &text));
            let (system, user) = (part(Who::System, variant.system), part(Who::User, variant.user));
            (name, Variant { weight: variant.weight.unwrap_or(1), system, user })
        });
        let all = serde_json::json!([from.text, output]);
        let prompt = Self {
            fingerprint: blake3::hash(all.to_string().as_bytes()).to_hex().as_str()[..32].to_owned(),
            file: from.file.clone(),
            name: front.name,
            version: front.version,
            locale: front.locale,
            role: front.role,
            inputs,
            output,
            system_varies: front.system_varies,
            weight: front.weight.unwrap_or(1),
            variants: variants.collect(),
            parts,
        };
        if faults.is_empty() { Ok(prompt) } else { Err(faults) }
    }

    /// The parts in the order in which they are said, as a variant has them.
    pub(super) fn parts(&self, variant: Option<&str>) -> Vec<Part> {
        let mut parts = self.parts.clone();
        let Some(variant) = variant.and_then(|name| self.variants.get(name)) else { return parts };
        if let Some(system) = &variant.system {
            match parts.iter().position(|part| part.who == Who::System) {
                Some(place) => parts[place] = system.clone(),
                None => parts.insert(0, system.clone()),
            }
        }
        if let (Some(user), Some(last)) = (&variant.user, parts.last_mut()) {
            *last = user.clone();
        }
        parts
    }

    /// What is wrong in a part, with its place in the file.
    pub(super) fn fault_in(&self, part: &Part, wrong: Wrong) -> PromptFault {
        let fault = PromptFault { hint: wrong.hint, ..PromptFault::new(&self.file, wrong.message) };
        fault.at(part.line + wrong.line.saturating_sub(1))
    }
}

/// What is wrong, without the place: that counts from the front matter, not from the file.
fn first_line(error: &serde_saphyr::Error) -> String {
    let said = error.to_string();
    let line = said.lines().next().unwrap_or_default();
    line.split_once(" at line ").map_or(line, |(what, _)| what).to_owned()
}

/// Front matter, body, and the line on which the body begins.
fn divide(text: &str) -> Option<(&str, String, usize)> {
    let rest = text.strip_prefix(FENCE)?.strip_prefix('\n')?;
    let mut start = 0;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        if line.trim_end() == FENCE {
            return Some((&rest[..start], rest[start + line.len()..].to_owned(), number + 3));
        }
        start += line.len();
    }
    None
}

fn input(front: FrontInput, from: &PromptText, faults: &mut Vec<PromptFault>) -> Option<Input> {
    let line = usize::try_from(front.name.referenced.line()).unwrap_or(0) + 1;
    let name = front.name.value;
    let mut fault = |what: String| {
        faults.push(PromptFault::new(&from.file, what).at(line));
        None
    };
    let first = |letter: char| letter.is_ascii_lowercase();
    let fine =
        name.starts_with(first) && name.chars().all(|letter| first(letter) || letter.is_ascii_digit() || letter == '_');
    if !fine {
        return fault(format!("`{name}` cannot be the name of an input: use small letters, digits and `_`"));
    }
    let Some(example) = front.example else {
        return fault(format!("the input `{name}` has no example, so nobody can check the prompt"));
    };
    if !front.kind.fits(&example) {
        return fault(format!("the example of the input `{name}` must be {}", front.kind.words()));
    }
    Some(Input { name, kind: front.kind, required: front.required, description: front.description, example, line })
}

/// A schema that stands in the front matter, or in a file beside the prompt.
fn schema(output: Value, schemas: &BTreeMap<String, Value>) -> Result<Value, String> {
    let file = output.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.get("schema"));
    match file.and_then(Value::as_str) {
        None => Ok(output),
        Some(file) => schemas.get(file).cloned().ok_or_else(|| format!("there is no schema `{file}` beside it")),
    }
}

/// Divides a body at its headings.
fn parts(body: &str, body_line: usize, from: &PromptText, faults: &mut Vec<PromptFault>) -> Vec<Part> {
    let mut found: Vec<(Who, usize, String)> = Vec::new();
    for (number, line) in body.split_inclusive('\n').enumerate() {
        let at = body_line + number;
        let who = match line.trim_end() {
            "## system" => Some(Who::System),
            "## user" => Some(Who::User),
            "## assistant" => Some(Who::Assistant),
            _ => None,
        };
        match (who, found.last_mut()) {
            (Some(who), _) => found.push((who, at + 1, String::new())),
            (None, Some((_, _, text))) => text.push_str(line),
            (None, None) if line.trim().is_empty() => {}
            (None, None) => {
                let fault = PromptFault::new(&from.file, "this text belongs to no part").at(at);
                faults.push(fault.hint("write `## system` or `## user` on a line above it"));
                return Vec::new();
            }
        }
    }
    let mut wrong = |what: &str, line: usize| faults.push(PromptFault::new(&from.file, what).at(line));
    for (place, (who, line, text)) in found.iter().enumerate() {
        if text.trim().is_empty() {
            wrong("this part is empty", *line - 1);
        }
        if *who == Who::System && place > 0 {
            wrong("the system part must be the first, and the only one", *line - 1);
        }
    }
    if found.last().is_none_or(|(who, ..)| *who != Who::User) {
        wrong("the last part must be `## user`: that is what gets answered", found.last().map_or(1, |part| part.1 - 1));
    }
    found.into_iter().map(|(who, line, text)| part(who, line, &text)).collect()
}

/// A part without the blank lines around it.
fn part(who: Who, line: usize, text: &str) -> Part {
    let blank = text.lines().take_while(|line| line.trim().is_empty()).count();
    let kept: Vec<&str> = text.lines().skip(blank).collect();
    Part { who, line: line + blank, template: Template::new(kept.join("\n").trim_end()) }
}

/// A part that stands in the front matter.
fn of_front(who: Who, text: &Spanned<String>) -> Part {
    part(who, usize::try_from(text.referenced.line()).unwrap_or(0) + 1, &text.value)
}
