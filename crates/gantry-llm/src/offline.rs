//! The offline model: it answers without a model, without a network, and for nothing.
//!
//! It is a provider like any other. A request whose prompt has a [`Generator`] is answered by that; any other by a frame
//! that makes a value for the schema of the request out of its inputs, or a short text about them.
//!
//! It judges nothing: whether something holds, which way to go, what is wrong with a result and what to learn from that
//! cannot be told by filling in a form, and others act on it. Whoever asks that finds out that nobody can say, and asks a person.
//!
//! Invariant: the same request has the same answer. No clock, no chance, nothing from outside.
//! Invariant: everything it makes is marked: by the name of the model, and a text by its last line.

mod draw; // in reading order
mod facts;
mod words;
mod place;
mod demand;
mod pattern;
mod number;
mod text;
mod frame;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::answer::{Finish, Reply, Tokens};
use crate::error::{CallError, CallFault};
use crate::provider::{Delta, Listener, Provider};
use crate::request::{Request, Shape};
use crate::structured::Checker;
use crate::target::Target;
use draw::Draw;
use facts::Facts;
use words::Words;

/// The built-in prompts that ask for a judgement.
const JUDGING: [&str; 6] = ["agent-reflect", "agent-score", "critic", "decide", "judge", "plan-judge"];

/// The offline model.
#[derive(Clone, Default)]
pub struct Offline {
    generators: BTreeMap<String, Arc<dyn Generator>>,
}

/// Answers the requests of one prompt without a model.
pub trait Generator: Send + Sync {
    /// The name of the prompt.
    fn prompt(&self) -> &str;
    /// The answer, or why there is none.
    fn answer(&self, asked: &Asked<'_>) -> Result<Written, String>;
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// A value, for a request with a shape.
    Value(Value),
    /// A text, for a request without one.
    Text(String),
}

/// What the offline model is asked.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The request as it came.
    pub request: &'a Request,
    /// The language of the answer: `en` or `ko`.
    pub locale: &'static str,
    facts: Facts,
    words: &'static Words,
    key: [u8; 32],
}

impl<'a> Asked<'a> {
    /// Reads a request.
    pub fn new(request: &'a Request) -> Self {
        let locale = locale(request);
        let words = words::of(locale);
        let prompt = request.prompt.as_ref().map(|prompt| prompt.name.as_str());
        // The inputs are what is asked; only without them the words are.
        let instruction = if request.inputs.is_empty() { facts::instruction(request) } else { "" };
        let asked = serde_json::json!([prompt, request.inputs, instruction, request.sample]);
        let key = *blake3::hash(asked.to_string().as_bytes()).as_bytes();
        Self { request, locale, facts: Facts::read(request, words), words, key }
    }

    /// What is asked for, in a few words.
    pub fn what(&self) -> &str {
        &self.facts.what
    }

    /// What was said last by whoever asks.
    pub fn instruction(&self) -> &str {
        facts::instruction(self.request)
    }

    /// Makes a value for a schema, specific to what is asked; says where and why that cannot be.
    pub fn fill(&self, shape: &Shape) -> Result<Value, String> {
        frame::make(self, shape).map_err(|refusal| {
            let path = if refusal.path.is_empty() { "at the top".to_owned() } else { facts::cut(&refusal.path, 80) };
            format!("no value for the schema `{}` ({path}): {}", shape.name, refusal.why)
        })
    }

    /// A short text about what is asked, and the line that says who wrote it.
    pub fn text(&self) -> String {
        let draw = self.draw("text");
        let mut lines = vec![self.words.fill("free", &self.facts, draw, 0)];
        let known = self.words.all("free_facts", &self.facts).join(" ");
        lines.extend(Some(known).filter(|known| !known.is_empty()));
        lines.extend(self.facts.details.iter().map(|(name, value)| format!("- {name}: {value}")));
        lines.push(self.words.fill("free_end", &self.facts, draw.again(1), 0));
        self.marked(&lines.join("\n"))
    }

    /// A text with the line that says who wrote it.
    pub fn marked(&self, text: &str) -> String {
        format!("{}\n\n{}", text.trim_end(), self.words.mark)
    }

    fn draw(&self, place: &str) -> Draw {
        Draw::of(&self.key, place)
    }
}

impl Offline {
    /// Knows no prompt yet; the frame answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a generator answer its prompt, instead of any that did before.
    #[must_use]
    pub fn with(mut self, generator: Arc<dyn Generator>) -> Self {
        self.generators.insert(generator.prompt().to_owned(), generator);
        self
    }

    /// Answers a request, at once.
    pub fn answer(&self, request: &Request) -> Result<Reply, CallError> {
        let model = model(request);
        let error = |fault: CallFault, message: String| CallError {
            fault,
            target: format!("offline:{model}"),
            message,
            retry_after: None,
        };
        let prompt = request.prompt.as_ref().map_or("", |prompt| prompt.name.as_str());
        if JUDGING.contains(&prompt) && !self.generators.contains_key(prompt) {
            let message = "the offline model does not judge; see which others can be asked with `gantry model doctor`";
            return Err(error(CallFault::Unable, message.to_owned()));
        }
        let text = self.write(request).map_err(|message| error(CallFault::Answer, message))?;
        Ok(Reply { text, tokens: Some(Tokens::default()), finish: Finish::Done, model, ..Reply::default() })
    }

    fn write(&self, request: &Request) -> Result<String, String> {
        let asked = Asked::new(request);
        let generator = request.prompt.as_ref().and_then(|prompt| self.generators.get(&prompt.name));
        let written = match (generator, &request.shape) {
            (Some(generator), _) => generator.answer(&asked)?,
            (None, Some(shape)) => Written::Value(asked.fill(shape)?),
            (None, None) => Written::Text(asked.text()),
        };
        match (written, &request.shape) {
            (Written::Value(value), Some(shape)) => {
                let faults = Checker::new(shape)?.faults(&value);
                if faults.is_empty() {
                    return Ok(value.to_string());
                }
                Err(format!("what was written does not fit the schema `{}`: {}", shape.name, faults.join(" ")))
            }
            (Written::Value(value), None) => Ok(asked.marked(&value.to_string())),
            (Written::Text(_), Some(shape)) => {
                Err(format!("a text was written where the schema `{}` wants a value", shape.name))
            }
            (Written::Text(text), None) if text.trim_end().ends_with(&asked.words.mark) => Ok(text),
            (Written::Text(text), None) => Ok(asked.marked(&text)),
        }
    }
}

#[async_trait]
impl Provider for Offline {
    async fn call(
        &self,
        target: &Target,
        request: &Request,
        listener: &dyn Listener,
        stop: &CancellationToken,
    ) -> Result<Reply, CallError> {
        if stop.is_cancelled() {
            let message = "stopped".to_owned();
            return Err(CallError { fault: CallFault::Cancelled, target: target.id(), message, retry_after: None });
        }
        let reply = self.answer(request).map_err(|error| CallError { target: target.id(), ..error })?;
        listener.hear(Delta::Text(reply.text.clone()));
        Ok(reply)
    }
}

impl fmt::Debug for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offline").field("prompts", &self.generators.keys().collect::<Vec<_>>()).finish()
    }
}

/// The name under which a request is answered. On the surfaces of teams it is the one that their users look for.
pub fn model(request: &Request) -> String {
    if let Some(part) = request.role.strip_prefix("team.") {
        let part = match part {
            "project" | "daily" | "hourly" => part,
            "hourly_summary" => "hourly-summary",
            "daily_report" => "daily-report",
            "report" => "simulation",
            _ => "generic",
        };
        return format!("vdos-stub-{part}");
    }
    let prompt = request.prompt.as_ref().and_then(|prompt| prompt.name.rsplit('/').next());
    format!("gantry-offline-{}", prompt.filter(|name| !name.is_empty()).unwrap_or("generic"))
}

/// The language of the answer: of the prompt, as the inputs say, or that of most letters.
fn locale(request: &Request) -> &'static str {
    let said = |name: &str| request.inputs.get(name).and_then(Value::as_str);
    let named = request.prompt.as_ref().map(|prompt| prompt.locale.as_str());
    let named = named.filter(|locale| !matches!(*locale, "" | "mul"));
    if let Some(named) = named.or_else(|| said("locale")).or_else(|| said("language")) {
        let named = named.to_lowercase();
        return if named.starts_with("ko") || named == "한국어" { "ko" } else { "en" };
    }
    let inputs = request.inputs.values().filter_map(Value::as_str);
    let (mut korean, mut others) = (0_usize, 0_usize);
    for letter in inputs
        .chain([facts::instruction(request)])
        .flat_map(str::chars)
        .take(5_000)
        .filter(|letter| letter.is_alphabetic())
    {
        if ('가'..='힣').contains(&letter) {
            korean += 1;
        } else {
            others += 1;
        }
    }
    // A syllable of Korean says as much as two or three letters of others.
    if korean * 2 > others && korean > 0 { "ko" } else { "en" }
}
