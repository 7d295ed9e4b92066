//! Answers the prompts of templates without a model: what is known about the kind of project, filled in with what the
//! request says. The answers are files of the template (`offline/*.yaml`), rendered with the inputs of the prompt,
//! `known` (the knowledge of the kind) and `outline` (the work by that knowledge).

use std::sync::{Arc, Mutex, PoisonError};

use gantry_llm::offline::{Asked, Generator, Offline, Written};
use serde_json::{Map, Value, json};

use crate::commands::Commands;
use crate::facts::Facts;
use crate::fill::{self, Words};
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
    known: Arc<Known>,
}

impl Generator for Answer {
    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn answer(&self, asked: &Asked<'_>) -> Result<Written, String> {
        let inputs = &asked.request.inputs;
        let mut values: Map<String, Value> = inputs.clone().into_iter().collect();
        if let Some(facts) = inputs.get("facts").filter(|facts| !facts.is_null()) {
            values.extend(self.known.about(facts)?.as_ref().clone());
        }
        let text = fill::render(&self.file, &self.text, &Value::Object(values))?;
        let read = serde_json::from_str(&text).or_else(|_| serde_saphyr::from_str(&text));
        read.map(Written::Value).map_err(|error| format!("`{}` gives no value: {error}", self.file))
    }
}

/// The facts of a project, and what is known about it.
type About = (Value, Arc<Map<String, Value>>);

/// What is known about the last project that was asked about: its steps ask one after the other.
#[derive(Default)]
struct Known {
    last: Mutex<Option<About>>,
}

impl Known {
    fn about(&self, facts: &Value) -> Result<Arc<Map<String, Value>>, String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = last.as_ref().filter(|(of, _)| of == facts) {
            return Ok(Arc::clone(known));
        }
        let read: Facts =
            serde_json::from_value(facts.clone()).map_err(|error| format!("`facts` cannot be read: {error}"))?;
        let knowledge = read.knowledge()?;
        let mut known = serde_json::to_value(knowledge).map_err(|error| error.to_string())?;
        Words::new(knowledge, &read.given()).fill_all(&mut known)?;
        let values = json!({"known": known, "outline": read.outline()?});
        let Value::Object(values) = values else { return Err("what is known is no object".to_owned()) };
        let values = Arc::new(values);
        *last = Some((facts.clone(), Arc::clone(&values)));
        Ok(values)
    }
}
