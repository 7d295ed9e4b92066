//! The prompts that are part of this program.

use std::collections::BTreeMap;

use serde_json::Value;

use super::file::PromptText;

/// All files, by the name under which a stronger one takes their place.
#[derive(Default)]
pub(super) struct Texts {
    /// By name and language.
    pub(super) prompts: BTreeMap<(String, String), PromptText>,
    pub(super) schemas: BTreeMap<String, Value>,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../../prompts/", $name)))),*] };
}

const PROMPTS: [(&str, &str); 19] = files![
    "agent-reflect.en.md",
    "agent-reflect.ko.md",
    "agent-score.en.md",
    "agent-score.ko.md",
    "agent-step.en.md",
    "agent-step.ko.md",
    "agent-tools.en.md",
    "agent-tools.ko.md",
    "chat.mul.md",
    "critic.en.md",
    "critic.ko.md",
    "decide.en.md",
    "decide.ko.md",
    "judge.en.md",
    "judge.ko.md",
    "plan-judge.en.md",
    "plan-judge.ko.md",
    "task.en.md",
    "task.ko.md",
];

const SCHEMAS: [(&str, &str); 8] = files![
    "schemas/agent-reflect.json",
    "schemas/agent-score.json",
    "schemas/agent-step.json",
    "schemas/chat.json",
    "schemas/critic.json",
    "schemas/decide.json",
    "schemas/judge.json",
    "schemas/plan-judge.json",
];

/// What is built in.
pub(super) fn texts() -> Texts {
    let mut texts = Texts::default();
    for (file, text) in PROMPTS {
        if let Some((name, locale)) = parse_name(file) {
            texts.prompts.insert(
                (name.to_owned(), locale.to_owned()),
                PromptText {
                    file: file.to_owned(),
                    name: name.to_owned(),
                    locale: locale.to_owned(),
                    text: text.to_owned(),
                },
            );
        }
    }
    for (file, text) in SCHEMAS {
        // One that cannot be read is missing, and the prompt that names it says so.
        if let Ok(schema) = serde_json::from_str(text) {
            texts.schemas.insert(file.to_owned(), schema);
        }
    }
    texts
}

/// Name and language of `judge.en.md`.
pub(super) fn parse_name(file: &str) -> Option<(&str, &str)> {
    let (name, locale) = file.strip_suffix(".md")?.split_once('.')?;
    let is_locale = (2..=3).contains(&locale.len()) && locale.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_locale && !name.is_empty()).then_some((name, locale))
}
