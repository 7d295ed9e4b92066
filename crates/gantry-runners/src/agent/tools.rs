//! The tools of an agent: capabilities of this program, each call guarded, written down before it is made, and
//! remembered.

use gantry_core::effect::Failure;
use gantry_core::plan::Agent;
use gantry_core::policy::{FailureClass, Usage};
use gantry_llm::structured::Checker;
use gantry_llm::{Shape, ToolSpec};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::example;
use crate::policy::wrong;
use crate::ports::Ports;
use crate::registry::Runners;
use crate::runner::Description;
use crate::text::middle_cut;
use crate::work::{Place, Work};

/// The kind under which calls of tools are recorded.
const TOOL: &str = "tool";
/// The tool by which an agent says that it is finished.
pub(crate) const FINISH: &str = "finish";
/// How much of what a tool gives is shown to the model.
const OBSERVED_CHARS_MAX: usize = 4_000;

/// The tools that one agent may call.
pub(crate) struct Tools<'a> {
    runners: &'a Runners,
    named: Vec<(String, Description)>,
    finish: Value,
    work: &'a Work,
    place: &'a Place,
    ports: &'a Ports,
    stop: &'a CancellationToken,
}

/// What an agent knows of a tool by this name.
pub(crate) fn known(runners: &Runners, name: &str) -> Result<Description, Failure> {
    let runner = runners.get(name)?;
    runner.description(name).ok_or_else(|| wrong(format!("`{name}` is nothing that an agent can call")))
}

impl<'a> Tools<'a> {
    pub(crate) fn of(
        runners: &'a Runners,
        agent: &Agent,
        work: &'a Work,
        place: &'a Place,
        ports: &'a Ports,
        stop: &'a CancellationToken,
    ) -> Result<Self, Failure> {
        let named = agent.tools.iter().map(|name| Ok((name.clone(), known(runners, name)?)));
        let named = named.collect::<Result<Vec<_>, Failure>>()?;
        let finish = match crate::model::shape_of(FINISH, &work.brief.outputs) {
            Some(shape) => shape.schema,
            None => json!({
                "type": "object",
                "properties": {"text": {"type": "string", "minLength": 1, "description": "The result, in full."}},
                "required": ["text"],
                "additionalProperties": false,
            }),
        };
        Ok(Self { runners, named, finish, work, place, ports, stop })
    }

    /// What a model is told that answers with a step, without the one to finish with: an example of the arguments
    /// instead of their schema, which small models take for the arguments themselves.
    pub(crate) fn shown(&self) -> Value {
        let tool = |(name, description): &(String, Description)| {
            let (example, more) = example::of_args(&description.parameters);
            json!({"name": name, "description": description.text, "example": example, "more": more})
        };
        self.named.iter().map(tool).collect()
    }

    /// What a model that calls tools by itself is told of them.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let spec = |(name, description): &(String, Description)| ToolSpec {
            name: name.clone(),
            description: description.text.to_owned(),
            parameters: description.parameters.clone(),
        };
        let finish = ToolSpec {
            name: FINISH.to_owned(),
            description: "Hands in the result, when the goal is reached.".to_owned(),
            parameters: self.finish.clone(),
        };
        self.named.iter().map(spec).chain(std::iter::once(finish)).collect()
    }

    /// What is wrong with a call, in sentences.
    pub(crate) fn faults(&self, name: &str, args: &Value) -> Vec<String> {
        let parameters = match self.named.iter().find(|(known, _)| known == name) {
            Some((_, description)) => &description.parameters,
            None if name == FINISH => &self.finish,
            None => return vec![format!("there is no tool `{name}`; there are {}", self.names().join(", "))],
        };
        match Checker::new(&Shape { name: name.to_owned(), schema: parameters.clone() }) {
            Ok(checker) => checker.faults(args).into_iter().map(|fault| format!("args of `{name}`: {fault}")).collect(),
            Err(error) => vec![error],
        }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.named.iter().map(|(name, _)| name.as_str()).chain(std::iter::once(FINISH)).collect()
    }

    /// Makes a call, or remembers it; gives what the model is shown. `after` tells what was said before.
    pub(crate) async fn call(&self, after: &str, name: &str, args: &Map<String, Value>) -> Result<String, Failure> {
        let request = json!({"tool": name, "args": args, "task": self.work.task});
        let key = blake3::hash(format!("{after} {request}").as_bytes()).to_hex().to_string();
        let recalled = self.ports.calls.recall(TOOL, &key).await?;
        if let Some(answer) = recalled.as_ref().and_then(|call| call.answer.as_ref()) {
            return Ok(shown(answer));
        }
        let repeatable = self.named.iter().any(|(known, description)| known == name && description.repeatable);
        let begun_here = recalled.is_some_and(|call| call.task == self.work.task && call.attempt == self.work.attempt);
        if begun_here && !repeatable {
            let message = format!("the agent had called `{name}` when its process went away; it may have happened");
            return Err(Failure::new(FailureClass::Lost, message));
        }
        let part = self.work.calling(name, args.clone());
        let call = self.ports.calls.begin(TOOL, &key, request).await?;
        let answer = if let Err(refused) = self.runners.guard(&part, self.place) {
            json!({"refused": refused.message})
        } else {
            let ended = Box::pin(self.runners.run(&part, self.place, self.ports, self.stop)).await;
            match ended.end {
                Ok(success) => json!({"outputs": success.outputs}),
                // Nobody knows what was done: the agent must not go on as if it did.
                Err(failure) if matches!(failure.class, FailureClass::Lost | FailureClass::Cancelled) => {
                    return Err(failure);
                }
                Err(failure) => json!({"failed": failure.message}),
            }
        };
        self.ports.calls.end(call, answer.clone(), Usage::default()).await?;
        Ok(shown(&answer))
    }
}

/// What a model is shown of an answer.
fn shown(answer: &Value) -> String {
    let text = match (&answer["outputs"], answer["failed"].as_str(), answer["refused"].as_str()) {
        (_, Some(why), _) => format!("failed: {why}"),
        (_, _, Some(why)) => format!("refused: {why}"),
        (Value::Object(outputs), _, _) => {
            let fields = outputs.iter().map(|(name, value)| match value {
                Value::String(text) => format!("{name}: {text}"),
                other => format!("{name}: {other}"),
            });
            fields.collect::<Vec<_>>().join("\n")
        }
        (other, _, _) => other.to_string(),
    };
    middle_cut(&text, OBSERVED_CHARS_MAX)
}
