//! Answers the prompts of templates without a model: what is known about the kind of project, filled in with what the
//! request says. The answers are files of the template (`offline/*.yaml`), rendered with the inputs of the prompt,
//! `known` (the knowledge of the kind) and `outline` (the work by that knowledge).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gantry_llm::offline::{Asked, Generator, Offline, Written};
use minijinja::value::Serde;
use serde_json::Value;

use crate::commands::Commands;
use crate::facts::Facts;
use crate::fill::{File, Words};
use crate::template::Template;

/// The offline model, with the answers of these templates.
pub fn offline(templates: &[Template]) -> Offline {
    let known = Arc::new(Known::default());
    let mut offline = Offline::new().with(Arc::new(Commands));
    for template in templates {
        for (path, text) in template.files() {
            let Some(step) = path.strip_prefix("offline/").and_then(|path| path.strip_suffix(".yaml")) else {
                continue;
            };
            offline = offline.with(Arc::new(Answer {
                prompt: format!("{}/{step}", template.name),
                file: format!("{}/{path}", template.name),
                text: text.to_owned(),
                read: OnceLock::new(),
                known: Arc::clone(&known),
            }));
        }
    }
    offline
}

/// Answers one prompt.
struct Answer {
    prompt: String,
    file: String,
    text: String,
    /// The file as it was read, when it was needed first.
    read: OnceLock<Result<File, String>>,
    known: Arc<Known>,
}

impl Generator for Answer {
    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn answer(&self, asked: &Asked<'_>) -> Result<Written, String> {
        let file = self.read.get_or_init(|| File::new(&self.file, &self.text)).as_ref().map_err(Clone::clone)?;
        let inputs = &asked.request.inputs;
        let mut values: BTreeMap<&str, minijinja::Value> =
            inputs.iter().map(|(name, value)| (name.as_str(), minijinja::Value::from(Serde(value)))).collect();
        if let Some(facts) = inputs.get("facts").filter(|facts| !facts.is_null()) {
            let wanted = BY_KIND.into_iter().filter(|name| file.reads(name));
            for name in wanted {
                values.insert(name, self.known.about(facts, name)?);
            }
        }
        let text = file.fill(minijinja::Value::from(Serde(&values)))?;
        let read = serde_json::from_str(&text).or_else(|_| serde_saphyr::from_str(&text));
        read.map(Written::Value).map_err(|error| format!("`{}` gives no value: {error}", self.file))
    }
}

/// What files may read beside what they are given: the knowledge of the kind, and the work by it.
const BY_KIND: [&str; 2] = ["known", "outline"];

/// A name of these, the facts of a project, and what is known about it.
type About = (&'static str, Value, minijinja::Value);

/// How much is remembered of projects that are asked about at once.
const KNOWN_MAX: usize = 32;

/// What is known about the last projects that were asked about: the steps of each ask one after the other.
#[derive(Default)]
struct Known {
    last: Mutex<VecDeque<About>>,
}

impl Known {
    fn about(&self, facts: &Value, name: &'static str) -> Result<minijinja::Value, String> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, known)) = last().iter().rev().find(|(own, of, _)| *own == name && of == facts) {
            return Ok(known.clone());
        }
        let read: Facts =
            serde_json::from_value(facts.clone()).map_err(|error| format!("`facts` cannot be read: {error}"))?;
        let found = if name == "outline" {
            let outline = serde_json::to_value(read.outline()?).map_err(|error| error.to_string())?;
            minijinja::Value::from(Serde(outline))
        } else {
            let knowledge = read.knowledge()?;
            let mut known = serde_json::to_value(knowledge).map_err(|error| error.to_string())?;
            Words::new(knowledge, &read.given()).fill_all(&mut known)?;
            minijinja::Value::from(Serde(known))
        };
        let mut last = last();
        if last.len() >= KNOWN_MAX {
            last.pop_front();
        }
        last.push_back((name, facts.clone(), found.clone()));
        Ok(found)
    }
}
