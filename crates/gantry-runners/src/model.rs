//! `model` and `decide`: a model is asked once.
//!
//! The outputs are the fields of the answer when it has a shape (the task's `schema`, or what its `outputs` declare),
//! otherwise the one output `text`. An output that is declared with a path is the part of the answer that it leads to.
//! `answered_by` names the model that really answered. What the task declares as an artifact is kept as one, too.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::plan::{Action, Decide, Model, Output};
use gantry_llm::{Answer, Settings, Shape};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::models::{Asker, Models, Question, Talk};
use crate::policy::{for_a_person, wrong};
use crate::ports::Ports;
use crate::runner::{Ended, Preview, Runner};
use crate::text::shortened;
use crate::work::{Brief, Place, Work};

/// What the shape of an answer is called.
const ANSWER: &str = "answer";

/// Asks a model once.
pub struct OneAnswer {
    models: Arc<Models>,
}

impl OneAnswer {
    /// Asks these models.
    pub fn new(models: Arc<Models>) -> Self {
        Self { models }
    }

    /// Says what is wrong with a question before anyone is asked.
    fn check(&self, work: &Work) -> Result<(), Failure> {
        match &work.action {
            Action::Model(model) => {
                let talk = self.models.talk()?;
                if let Some(prompt) = talk.prompt_of(model) {
                    let shaped = talk.prompts.has_shape(&prompt, &talk.locale);
                    let shaped = shaped.map_err(|fault| wrong(fault.in_words()))?;
                    if let Some((name, path)) = parts(&work.brief).next().filter(|_| !shaped && model.schema.is_none())
                    {
                        return Err(wrong(format!(
                            "output `{name}` is to come from `{path}`, but the prompt `{prompt}` asks for a text, which has no \
                             parts; give the prompt an `output`, or the task a `schema`"
                        )));
                    }
                }
                settings(&model.settings).map(drop)
            }
            Action::Decide(_) => Ok(()),
            other => Err(wrong(format!("a model is not asked by `{}`", other.key()))),
        }
    }
}

#[async_trait]
impl Runner for OneAnswer {
    fn names(&self) -> &'static [&'static str] {
        &["model", "decide"]
    }

    fn guard(&self, work: &Work, _place: &Place) -> Result<(), Failure> {
        self.check(work).map_err(for_a_person)
    }

    async fn preview(&self, work: &Work, _place: &Place) -> Result<Preview, Failure> {
        let what = match &work.action {
            Action::Model(model) => {
                let prompt = || model.prompt.as_ref().map(|prompt| format!("with the prompt `{prompt}`"));
                model.instruction.clone().or_else(prompt).unwrap_or_else(|| work.brief.title.clone())
            }
            Action::Decide(decide) => decide.question.clone(),
            _ => String::new(),
        };
        Ok(Preview { text: format!("would ask a model: {}", shortened(&what, 200)), diff: None })
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        let asker = Asker::new(&self.models, work, (place, ports, stop));
        let end = match &work.action {
            Action::Model(model) => answer(&asker, model).await,
            Action::Decide(decide) => choose(&asker, decide).await,
            other => Err(wrong(format!("a model is not asked by `{}`", other.key()))),
        };
        let end = end.map(|success| Success { shortfall: asker.shortfall(), ..success });
        Ended { usage: ports.calls.used().await.unwrap_or_default(), ..Ended::with(end) }
    }
}

/// Asks for the result of a task.
async fn answer(asker: &Asker<'_>, model: &Model) -> Result<Success, Failure> {
    let brief = &asker.work.brief;
    let rules = |value: &Value| missing(brief, value);
    let question = Question { rules: Some(&rules), ..question(asker.work, model, asker.models.talk()?)? };
    let answer = asker.ask_only(question).await?;
    let taken = taken(brief, answer.value.as_ref());
    let mut outputs = outputs_of(answer);
    outputs.extend(taken);
    let artifacts = kept(asker, &outputs).await?;
    Ok(Success { outputs, artifacts, ..Success::default() })
}

/// What a task asks a model.
pub(crate) fn question(work: &Work, model: &Model, talk: &Talk) -> Result<Question<'static>, Failure> {
    let prompt = talk.prompt_of(model);
    // The name says nothing of the task, so that tasks which ask the same are one call.
    let shape = match &model.schema {
        Some(schema) => Some(Shape { name: ANSWER.to_owned(), schema: schema.clone() }),
        None if prompt.is_none() => shape_of(ANSWER, &demanded(&work.brief)),
        None => None,
    };
    let (prompt, inputs) = match prompt {
        Some(prompt) => {
            let mut inputs: BTreeMap<String, Value> = work.inputs.clone().into_iter().collect();
            // The prompt of a role has to be told what is wanted; one that the plan names says so itself.
            if let (None, Some(instruction)) = (&model.prompt, &model.instruction) {
                inputs.insert("instruction".to_owned(), json!(instruction));
            }
            (Cow::from(prompt), inputs)
        }
        None => (Cow::from("task"), told(work, ("instruction", &instruction(model, &work.brief)))),
    };
    Ok(Question {
        shape,
        role: model.role.clone(),
        model: model.model.clone(),
        settings: settings(&model.settings)?,
        sample: work.attempt.0.saturating_sub(1),
        ..Question::of(prompt, inputs)
    })
}

/// The outputs that are parts of the answer, and the paths that lead to them.
fn parts(brief: &Brief) -> impl Iterator<Item = (&String, &str)> {
    brief.outputs.iter().filter_map(|(name, output)| Some((name, output.part()?)))
}

/// The part of a value that a path leads to: names of fields and places in lists, with dots between them.
fn part<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    })
}

/// Which of the parts that become outputs an answer does not have.
fn missing(brief: &Brief, value: &Value) -> Vec<String> {
    let missing = parts(brief).filter(|(_, path)| part(value, path).is_none());
    missing.map(|(name, path)| format!("`{path}` is missing: the result `{name}` is taken from there.")).collect()
}

/// The outputs that are parts of the answer.
fn taken(brief: &Brief, value: Option<&Value>) -> Outputs {
    let taken = |(name, path): (&String, &str)| Some((name.clone(), part(value?, path)?.clone()));
    parts(brief).filter_map(taken).collect()
}

/// What a model has to hand over: what the task declares, artifacts included. One artifact alone is the text itself.
fn demanded(brief: &Brief) -> BTreeMap<String, Output> {
    let mut demanded = brief.outputs.clone();
    let alone = demanded.is_empty() && brief.artifacts.len() == 1;
    for name in brief.artifacts.iter().filter(|_| !alone) {
        if !field_of(brief, name).is_some_and(|field| demanded.contains_key(&field)) {
            demanded.insert(name.clone(), Output::default());
        }
    }
    demanded
}

/// The output that an artifact is made of, as far as the task says.
fn field_of(brief: &Brief, artifact: &str) -> Option<String> {
    let from = format!("artifacts.{artifact}");
    let named = brief.outputs.iter().find(|(_, output)| output.from == from).map(|(name, _)| name.clone());
    named.or_else(|| brief.outputs.contains_key(artifact).then(|| artifact.to_owned()))
}

/// Keeps the artifacts that a task declares: texts as they are, everything else as JSON.
pub(crate) async fn kept(asker: &Asker<'_>, outputs: &Outputs) -> Result<Vec<ArtifactRef>, Failure> {
    let brief = &asker.work.brief;
    let from = brief.outputs.values().filter_map(|output| output.from.strip_prefix("artifacts."));
    let names: BTreeSet<&str> = from.chain(brief.artifacts.iter().map(String::as_str)).collect();
    let mut artifacts = Vec::new();
    for name in names {
        let field = field_of(brief, name).unwrap_or_else(|| name.to_owned());
        // Without fields, the text is what there is.
        let value = outputs.get(&field).or_else(|| outputs.get("text").filter(|_| brief.artifacts.len() == 1));
        let bytes = match value {
            Some(Value::String(text)) => text.clone().into_bytes(),
            Some(value) => serde_json::to_vec_pretty(value).unwrap_or_default(),
            None => continue,
        };
        artifacts.push(asker.ports.keep_as(name, bytes).await?);
    }
    Ok(artifacts)
}

fn instruction(model: &Model, brief: &Brief) -> String {
    let own = model.instruction.clone().filter(|text| !text.trim().is_empty());
    own.unwrap_or_else(|| if brief.description.is_empty() { brief.title.clone() } else { brief.description.clone() })
}

/// What the prompts for work are told.
pub(crate) fn told(work: &Work, wish: (&str, &str)) -> BTreeMap<String, Value> {
    let mut inputs = BTreeMap::from([
        (wish.0.to_owned(), json!(wish.1)),
        ("objective".to_owned(), json!(work.brief.objective)),
        ("constraints".to_owned(), json!(work.brief.constraints)),
        ("criteria".to_owned(), json!(work.brief.criteria)),
        ("data".to_owned(), json!(work.inputs)),
    ]);
    if let Some(feedback) = &work.feedback {
        inputs.insert("feedback".to_owned(), json!(feedback));
    }
    inputs
}

/// The shape of what a task has to hand over; none when it declares nothing.
pub(crate) fn shape_of(name: &str, outputs: &BTreeMap<String, Output>) -> Option<Shape> {
    if outputs.is_empty() {
        return None;
    }
    let properties: Map<String, Value> =
        outputs.iter().map(|(name, output)| (name.clone(), schema_of(output))).collect();
    let required: Vec<&String> = outputs.keys().collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    Some(Shape { name: name.to_owned(), schema })
}

/// What a declared type means; a type that nobody knows is a text.
fn schema_of(output: &Output) -> Value {
    let declared = output.r#type.as_deref().unwrap_or("text").trim().to_lowercase();
    let mut schema = match declared.as_str() {
        "number" | "float" => json!({"type": "number"}),
        "integer" | "int" | "count" => json!({"type": "integer"}),
        "boolean" | "bool" => json!({"type": "boolean"}),
        "object" | "json" | "map" => json!({"type": "object"}),
        list if list.starts_with("list") || list.starts_with("array") || list.ends_with("[]") => {
            let number = list.contains("number") || list.contains("int");
            json!({"type": "array", "items": {"type": if number { "number" } else { "string" }}})
        }
        _ => json!({"type": "string", "minLength": 1}),
    };
    if let Some(description) = &output.description {
        schema["description"] = json!(description);
    }
    schema
}

/// The outputs of an answer.
pub(crate) fn outputs_of(answer: Answer) -> Outputs {
    let mut outputs = Outputs::new();
    outputs.insert("answered_by".to_owned(), json!(answer.model));
    match answer.value {
        Some(Value::Object(fields)) => outputs.extend(fields),
        Some(value) => drop(outputs.insert("value".to_owned(), value)),
        None => drop(outputs.insert("text".to_owned(), json!(answer.text))),
    }
    outputs
}

/// Asks which outcome it is to be.
async fn choose(asker: &Asker<'_>, decide: &Decide) -> Result<Success, Failure> {
    let answer = asker.ask_only(decision(asker.work, decide)).await?;
    let outcome = answer.value.as_ref().and_then(|value| value["outcome"].as_str()).map(str::to_owned);
    let outputs = outputs_of(answer);
    let artifacts = kept(asker, &outputs).await?;
    Ok(Success { outputs, outcome, artifacts, ..Success::default() })
}

/// What a decision asks a model.
pub(crate) fn decision(work: &Work, decide: &Decide) -> Question<'static> {
    let inputs = BTreeMap::from([
        ("question".to_owned(), json!(decide.question)),
        ("outcomes".to_owned(), json!(decide.outcomes())),
        ("data".to_owned(), json!(work.inputs)),
    ]);
    Question { sample: work.attempt.0.saturating_sub(1), ..Question::of("decide", inputs) }
}

/// The settings that a plan gives, in its own words or in those of providers.
fn settings(given: &BTreeMap<String, Value>) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for (name, value) in given {
        let known = match name.as_str() {
            "temperature" => {
                let value = value.as_f64().filter(|value| (0.0..=2.0).contains(value));
                value.map(|value| settings.temperature = Some(value)).ok_or("a number from 0 to 2")
            }
            "top_p" => {
                let value = value.as_f64().filter(|value| (0.0..=1.0).contains(value));
                value.map(|value| settings.top_p = Some(value)).ok_or("a number from 0 to 1")
            }
            "tokens_max" | "max_tokens" | "max_output_tokens" => {
                let tokens = value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0);
                tokens.map(|tokens| settings.tokens_max = Some(tokens)).ok_or("a whole number from 1 on")
            }
            "seed" => value.as_u64().map(|seed| settings.seed = Some(seed)).ok_or("a whole number from 0 on"),
            "effort" | "reasoning_effort" => {
                let effort = value.as_str().filter(|effort| gantry_llm::is_effort(effort));
                effort.map(|effort| settings.effort = Some(effort.to_owned())).ok_or("minimal, low, medium or high")
            }
            "stop" => {
                let one = || value.as_str().map(|stop| vec![stop.to_owned()]);
                let stop = one().or_else(|| serde_json::from_value(value.clone()).ok());
                stop.map(|stop| settings.stop = stop).ok_or("a text, or a list of texts")
            }
            _ => {
                let known = ["temperature", "top_p", "tokens_max", "seed", "effort", "stop"];
                let near = gantry_core::suggest::nearest(name, known);
                let hint = near.map_or_else(
                    || format!("there are {}", known.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(wrong(format!("models have no setting `{name}`; {hint}")));
            }
        };
        known
            .map_err(|may_be| wrong(format!("the setting `{name}` of a model cannot be `{value}`; it is {may_be}")))?;
    }
    Ok(settings)
}
