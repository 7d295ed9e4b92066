//! Prompts that come together, such as those of a template.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Prompts;
use super::built_in::parse_name;
use super::check;
use super::fault::PromptFault;
use super::file::{Prompt, PromptText};

/// Prompts and their schemas that come together. Each prompt is called `FAMILY/PROMPT`, so that two families can have
/// prompts of the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// What all of their names begin with.
    pub name: String,
    /// Path and text of each file: `risks.mul.md`, `schemas/risks.json`.
    pub files: Vec<(String, String)>,
}

impl Prompts {
    /// Adds a family, or says everything that is wrong with it and adds nothing.
    pub fn add(&mut self, family: &Family) -> Result<(), Vec<PromptFault>> {
        let mut faults = Vec::new();
        let shown = |path: &str| format!("{}/{path}", family.name);
        let mut schemas: BTreeMap<String, Value> = BTreeMap::new();
        for (path, text) in family.files.iter().filter(|(path, _)| ends(path, "json")) {
            match serde_json::from_str(text) {
                Ok(schema) => drop(schemas.insert(path.clone(), schema)),
                Err(error) => faults.push(PromptFault::new(shown(path), format!("it cannot be read: {error}"))),
            }
        }
        for (path, text) in family.files.iter().filter(|(path, _)| ends(path, "md")) {
            let Some((name, locale)) = parse_name(path) else {
                let fault = PromptFault::new(shown(path), "its name does not say in which language it is");
                faults.push(fault.hint("call it `NAME.en.md`, or `NAME.mul.md` when it serves all languages"));
                continue;
            };
            let text =
                PromptText { file: shown(path), name: name.to_owned(), locale: locale.to_owned(), text: text.clone() };
            match Prompt::read(&text, &schemas) {
                Ok(mut prompt) => {
                    faults.extend(check::check(&prompt));
                    prompt.name = format!("{}/{name}", family.name);
                    self.prompts.insert((prompt.name.clone(), prompt.locale.clone()), prompt);
                }
                Err(wrong) => faults.extend(wrong),
            }
        }
        faults.extend(check::languages_agree(&self.prompts));
        if faults.is_empty() {
            return Ok(());
        }
        let own = format!("{}/", family.name);
        self.prompts.retain(|(name, _), _| !name.starts_with(&own));
        Err(faults)
    }
}

fn ends(path: &str, ending: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|found| found == ending)
}
