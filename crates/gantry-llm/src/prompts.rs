//! Prompts are files: front matter that says what goes in and what comes out, and text.
//!
//! ```text
//! ---
//! name: greet
//! version: "1"
//! locale: en
//! role: writer
//! description: Greets somebody.
//! inputs:
//!   - {name: who, type: text, description: whom to greet, example: Ana}
//! ---
//! ## system
//! You greet people in one sentence.
//!
//! ## user
//! Greet {{ who }}.
//! ```
//!
//! The text is `MiniJinja`: `{{ value }}`, `{% if … %}`, `{# remark #}`. Everything else is literal, and that goes for
//! the braces of JSON, too, since no JSON outside of its texts has two of them beside each other at its beginning.
//! What would nevertheless be read as `MiniJinja` stands between `{% raw %}` and `{% endraw %}`. Values are never read
//! as `MiniJinja`, whatever is in them.
//!
//! The language is that of the words (`locale: en`), or `mul` for a prompt that serves all: it says itself in which
//! language to answer.
//!
//! Every prompt is checked when it is loaded, in every language and every variant: all parts are rendered with the
//! examples, with all inputs and with the required ones alone. What is undefined or unused is named with its place.
//!
//! Invariant: a prompt that was loaded renders with any inputs of the declared types, or says which input is wrong;
//! nothing falls back to something else silently.
//! Invariant: what holds for all calls comes first: the system part has no inputs unless it says `system_varies`, so
//! that caches of providers hit.

mod fault; // in reading order
mod file;
mod template;
mod shape;
mod variant;
mod check;
mod built_in;
mod folder;
mod family;
mod metrics;

use std::collections::BTreeMap;
use std::path::Path;

use gantry_core::suggest::nearest;
use serde::Serialize;
use serde_json::Value;

pub use family::Family;
pub use fault::PromptFault;
pub use file::{Input, InputType};
pub use metrics::{PromptMetrics, Score, VariantMetrics};
pub use variant::Choice;

use crate::config::Config;
use crate::request::{Message, PromptUse, Request, Shape};
use file::{Prompt, Who};

/// A rendered prompt that is longer is a mistake.
const RENDERED_BYTES_MAX: usize = 4 << 20;
/// The language of a prompt that serves all of them: its inputs say in which to answer.
const ALL_LANGUAGES: &str = "mul";

/// All prompts that there are, checked.
pub struct Prompts {
    prompts: BTreeMap<(String, String), Prompt>,
}

/// What a prompt is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// Its name.
    pub name: String,
    /// Its language.
    pub locale: String,
    /// Its version.
    pub version: String,
    /// The role that answers it.
    pub role: String,
    /// Where it stands.
    pub file: String,
    /// Its variants, without the one that has no name.
    pub variants: Vec<String>,
}

/// A prompt with its inputs filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// What is said.
    pub messages: Vec<Message>,
    /// What the answer has to look like; none means free text.
    pub shape: Option<Shape>,
    /// The role that answers it.
    pub role: String,
    /// Which prompt it is.
    pub prompt: PromptUse,
    /// What was filled in.
    pub inputs: BTreeMap<String, Value>,
}

impl Rendered {
    /// The question to ask.
    pub fn request(self) -> Request {
        Request {
            role: self.role,
            messages: self.messages,
            shape: self.shape,
            prompt: Some(self.prompt),
            inputs: self.inputs,
            ..Request::default()
        }
    }
}

impl Prompts {
    /// The prompts that are built in.
    pub fn built_in() -> Result<Self, Vec<PromptFault>> {
        Self::load(&[])
    }

    /// The prompts that are built in, and those of some folders. A file of the same name in a later folder counts
    /// more; a folder that is not there has none.
    pub fn load(folders: &[&Path]) -> Result<Self, Vec<PromptFault>> {
        let mut texts = built_in::texts();
        let mut faults = Vec::new();
        for folder in folders {
            faults.extend(folder::read(folder, &mut texts));
        }
        let mut prompts = BTreeMap::new();
        for text in texts.prompts.values() {
            match Prompt::read(text, &texts.schemas) {
                Ok(prompt) => {
                    faults.extend(check::check(&prompt));
                    prompts.insert((prompt.name.clone(), prompt.locale.clone()), prompt);
                }
                Err(wrong) => faults.extend(wrong),
            }
        }
        faults.extend(check::languages_agree(&prompts));
        if faults.is_empty() { Ok(Self { prompts }) } else { Err(faults) }
    }

    /// The prompts for a configuration: those that are built in, and those of its folder.
    pub fn of(config: &Config) -> Result<Self, Vec<PromptFault>> {
        let folder = config.prompts();
        if config.prompts_are_named() && !folder.is_dir() {
            let fault = PromptFault::new(folder.display().to_string(), "there is no such folder of prompts");
            return Err(vec![fault.hint("make it, or correct `prompts` in gantry.toml, or GANTRY_PROMPTS")]);
        }
        Self::load(&[folder])
    }

    /// The names of all prompts.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.prompts.keys().map(|(name, _)| name.as_str()).collect();
        names.dedup();
        names
    }

    /// What there is to say about each prompt in each language.
    pub fn about(&self) -> Vec<About> {
        let about = |prompt: &Prompt| About {
            name: prompt.name.clone(),
            locale: prompt.locale.clone(),
            version: prompt.version.clone(),
            role: prompt.role.clone(),
            file: prompt.file.clone(),
            variants: prompt.variants.keys().cloned().collect(),
        };
        self.prompts.values().map(about).collect()
    }

    /// The languages of a prompt.
    pub fn locales(&self, name: &str) -> Vec<&str> {
        self.prompts.keys().filter(|(other, _)| other == name).map(|(_, locale)| locale.as_str()).collect()
    }

    /// The variants of a prompt, without the one that has no name.
    pub fn variants(&self, name: &str, locale: &str) -> Result<Vec<&str>, PromptFault> {
        Ok(self.find(name, locale)?.variants.keys().map(String::as_str).collect())
    }

    /// The inputs of a prompt.
    pub fn inputs(&self, name: &str, locale: &str) -> Result<&[Input], PromptFault> {
        Ok(&self.find(name, locale)?.inputs)
    }

    /// Tells whether a prompt asks for fields, and not for a text.
    pub fn has_shape(&self, name: &str, locale: &str) -> Result<bool, PromptFault> {
        Ok(self.find(name, locale)?.output.is_some())
    }

    /// A name for everything that a prompt says, which changes when any of it does.
    pub fn fingerprint(&self, name: &str, locale: &str) -> Result<&str, PromptFault> {
        Ok(&self.find(name, locale)?.fingerprint)
    }

    /// Puts a text between marks that do not occur in it, and labels it as data, as prompts do.
    pub fn fence(&self, locale: &str, label: &str, text: &str) -> String {
        template::fence(locale, label, text)
    }

    /// Fills in the inputs of a prompt.
    pub fn render(
        &self,
        name: &str,
        locale: &str,
        choice: Choice<'_>,
        inputs: &BTreeMap<String, Value>,
    ) -> Result<Rendered, PromptFault> {
        let prompt = self.find(name, locale)?;
        let variant = prompt.choose(choice)?;
        prompt.check_inputs(inputs)?;
        prompt.render(variant, inputs)
    }

    fn find(&self, name: &str, locale: &str) -> Result<&Prompt, PromptFault> {
        let written = |locale: &str| self.prompts.get(&(name.to_owned(), locale.to_owned()));
        if let Some(prompt) = written(locale).or_else(|| written(ALL_LANGUAGES)) {
            return Ok(prompt);
        }
        let locales = self.locales(name);
        let fault = PromptFault::new(format!("{name}.{locale}.md"), "there is no such prompt");
        Err(match (locales.is_empty(), nearest(name, self.names())) {
            (false, _) => fault.hint(format!("`{name}` is written in {} alone", locales.join(" and "))),
            (true, Some(near)) => fault.hint(format!("did you mean `{near}`?")),
            (true, None) => fault.hint(format!("prompts are {}", self.names().join(", "))),
        })
    }
}

impl Prompt {
    /// Every declared input is there and of its type, and nothing else is.
    fn check_inputs(&self, given: &BTreeMap<String, Value>) -> Result<(), PromptFault> {
        for input in &self.inputs {
            match given.get(&input.name) {
                None | Some(Value::Null) if input.required => {
                    let what = format!("the input `{}` is missing: {}", input.name, input.description);
                    return Err(PromptFault::new(&self.file, what));
                }
                None | Some(Value::Null) => {}
                Some(value) if input.kind.fits(value) => {}
                Some(_) => {
                    let what = format!("the input `{}` must be {}", input.name, input.kind.words());
                    return Err(PromptFault::new(&self.file, what));
                }
            }
        }
        let declared = || self.inputs.iter().map(|input| input.name.as_str());
        match given.keys().find(|name| !declared().any(|known| known == *name)) {
            None => Ok(()),
            Some(odd) => {
                let fault = PromptFault::new(&self.file, format!("there is no input `{odd}`"));
                Err(fault.hint(match nearest(odd, declared()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("inputs are {}", declared().collect::<Vec<_>>().join(", ")),
                }))
            }
        }
    }

    /// Renders all parts. The inputs were checked.
    fn render(&self, variant: Option<&str>, inputs: &BTreeMap<String, Value>) -> Result<Rendered, PromptFault> {
        let values = self
            .inputs
            .iter()
            .map(|input| (input.name.clone(), inputs.get(&input.name).cloned().unwrap_or(Value::Null)));
        let values: BTreeMap<String, Value> = values.collect();
        let (mut messages, mut bytes) = (Vec::new(), 0);
        for part in self.parts(variant) {
            let text = part.template.render(&self.locale, &values).map_err(|wrong| self.fault_in(&part, wrong))?;
            bytes += text.len();
            if bytes > RENDERED_BYTES_MAX {
                let what = format!("with these inputs it has more than {RENDERED_BYTES_MAX} bytes");
                return Err(PromptFault::new(&self.file, what).hint("give it less, or a summary"));
            }
            messages.push(match part.who {
                Who::System => Message::system(text),
                Who::User => Message::user(text),
                Who::Assistant => Message::assistant(text),
            });
        }
        let shape = match &self.output {
            Some(output) => Some(Shape {
                name: self.name.replace(['-', '/'], "_"),
                schema: shape::filled(output, &values).map_err(|what| PromptFault::new(&self.file, what))?,
            }),
            None => None,
        };
        Ok(Rendered {
            messages,
            shape,
            role: self.role.clone(),
            prompt: PromptUse {
                name: self.name.clone(),
                version: self.version.clone(),
                locale: self.locale.clone(),
                variant: variant.map(str::to_owned),
            },
            inputs: inputs.clone(),
        })
    }
}
