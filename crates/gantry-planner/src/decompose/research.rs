//! Looks something up before a task is broken down: a model says whether that would help and what to search for, a tool
//! searches, and what it gives goes into the question as data.
//!
//! A search that fails holds nothing up: it is told, and the task is broken down without it. What was found once is not
//! searched for again by whoever takes the work up.

use std::collections::BTreeMap;

use gantry_core::effect::Failure;
use gantry_core::policy::{FailureClass, Usage};
use gantry_runners::ports::Ports;
use gantry_runners::work::{Place, Work};
use gantry_runners::{Asker, Question, Runners};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::LookedUp;

/// What a model is asked.
const PROMPT: &str = "outline/search";
/// The kind under which calls of tools are recorded.
const CALL: &str = "tool";
/// The title of the section that a task keeps what was found in.
const SECTION: &str = "web_search";
/// How long a query is at most.
const QUERY_CHARS_MAX: usize = 120;
/// How many results are kept, and how much of each.
const RESULTS_MAX: usize = 5;
const RESULT_CHARS_MAX: usize = 1_000;
/// Where tools that give structured data have their results.
const LISTS: [&str; 6] = ["results", "items", "organic", "organic_results", "data", "web"];

/// Everything that a search needs.
pub(super) struct Search<'a> {
    pub asker: &'a Asker<'a>,
    pub tools: &'a Runners,
    /// The tool that searches.
    pub tool: &'a str,
    pub at: (&'a Work, &'a Place, &'a Ports, &'a CancellationToken),
}

/// What a model says about searching.
#[derive(Debug, Deserialize)]
struct Wish {
    use_search: bool,
    #[serde(default)]
    query: String,
}

impl Search<'_> {
    /// What can be found about what these inputs ask about; none where nothing is to be looked up.
    pub async fn look_up(&self, inputs: BTreeMap<String, Value>, model: Option<String>) -> Option<LookedUp> {
        match self.found(inputs, model).await {
            Ok(found) => found.map(LookedUp::Found),
            Err(failure) => Some(LookedUp::Not(failure.message)),
        }
    }

    async fn found(
        &self,
        inputs: BTreeMap<String, Value>,
        model: Option<String>,
    ) -> Result<Option<Map<String, Value>>, Failure> {
        let answer = self.asker.ask(Question { model, ..Question::of(PROMPT, inputs) }).await?;
        let wish: Option<Wish> = answer.value.and_then(|value| serde_json::from_value(value).ok());
        let query: String = wish.filter(|wish| wish.use_search).map(|wish| wish.query).unwrap_or_default();
        let query: String = query.trim().chars().take(QUERY_CHARS_MAX).collect();
        if query.is_empty() {
            return Ok(None);
        }
        let results = results(&self.search(&query).await?);
        let content = results.join("\n\n");
        let context = json!({
            "combined": content, "sections": [{"title": SECTION, "content": content}],
            "meta": {"query": query, "provider": self.tool, "results_count": results.len()},
        });
        Ok(context.as_object().cloned())
    }

    /// What the tool gives, now or when it was asked before.
    async fn search(&self, query: &str) -> Result<Value, Failure> {
        let (work, place, ports, stop) = self.at;
        let request = json!({"tool": self.tool, "args": {"query": query}, "task": work.task});
        let recalled = ports.recall(CALL, &request).await?;
        if let Some(outputs) = recalled.and_then(|call| call.answer?.get("outputs").cloned()) {
            return Ok(outputs);
        }
        let args = Map::from_iter([("query".to_owned(), json!(query))]);
        let part = work.calling(self.tool, args);
        self.tools.guard(&part, place)?;
        if place.policies().any(|policy| policy.tools.needs_approval(self.tool)) {
            let why =
                format!("each call of `{}` has to be approved by someone, and nobody can be asked here", self.tool);
            return Err(Failure::new(FailureClass::Policy, why));
        }
        let call = ports.begin(CALL, request).await?;
        let ended = Box::pin(self.tools.run(&part, place, ports, stop)).await;
        let (answer, end) = match ended.end {
            Ok(success) => (json!({"outputs": success.outputs}), Ok(json!(success.outputs))),
            Err(failure) => (json!({"failed": failure.message}), Err(failure)),
        };
        ports.calls.end(call, answer, Usage::default()).await?;
        end
    }
}

/// What was found, each as a text: the entries of structured data, or parts of a text with blank lines between them.
fn results(outputs: &Value) -> Vec<String> {
    let list = outputs["json"].as_array().or_else(|| LISTS.iter().find_map(|name| outputs["json"][*name].as_array()));
    let texts: Vec<String> = match list {
        Some(list) => list.iter().map(entry).collect(),
        None => outputs["text"].as_str().unwrap_or_default().split("\n\n").map(str::to_owned).collect(),
    };
    let texts = texts.iter().map(|text| text.trim().chars().take(RESULT_CHARS_MAX).collect::<String>());
    texts.filter(|text| !text.is_empty()).take(RESULTS_MAX).collect()
}

/// One entry: its texts and numbers, each on a line.
fn entry(entry: &Value) -> String {
    match entry {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| value.is_string() || value.is_number());
            let line = |(name, value): (&String, &Value)| {
                format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            };
            fields.map(line).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_entries_of_a_list_or_parts_of_a_text_and_at_most_five() {
        let five = |outputs: Value| results(&outputs);
        let entries: Vec<Value> =
            (1..=7).map(|n| json!({"title": format!("T{n}"), "rank": n, "more": {"x": 1}})).collect();
        assert_eq!(five(json!({"json": {"results": entries}, "text": "ignored"})).len(), 5);
        assert_eq!(five(json!({"json": [{"title": "T", "rank": 1}, "two"]})), ["title: T\nrank: 1", "two"]);
        assert_eq!(five(json!({"text": "one\n\n\n\ntwo\nlines\n\n"})), ["one", "two\nlines"]);
        assert_eq!(five(json!({"text": "x".repeat(5_000)}))[0].len(), RESULT_CHARS_MAX);
        assert_eq!(five(json!({})), Vec::<String>::new());
    }
}
