//! Asks models for an attempt: a prompt and its inputs become a request, and every call is written down.
//!
//! Invariant: what was answered once is not paid for again. The key of a call is everything that its answer depends on,
//! so that an attempt which another process takes up asks the same things and gets the answers that there are.
//! Invariant: inputs are fields that are named, and stand in prompts as data, never as instructions.

mod notes; // in reading order
mod hearing;
mod outlook;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::plan::Model;
use gantry_core::policy::FailureClass;
use gantry_llm::gateway::{Asking, Gateway};
use gantry_llm::prompts::{Choice, Prompts};
use gantry_llm::structured::Rules;
use gantry_llm::{Answer, Finish, Message, Request, Settings, Shape, ToolSpec};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::ports::Ports;
use crate::secrets::Secrets;
use crate::text::shortened;
use crate::work::{Place, Work};

pub use notes::Notes;
pub use outlook::Outlook;

use hearing::Hearing;

/// The kind under which calls of models are recorded.
pub const MODEL: &str = "model";

/// Everything that it takes to ask models. It is made when it is needed first: most plans need none of it.
pub struct Models {
    set_up: Box<dyn SetUp>,
    talk: OnceLock<Result<Talk, String>>,
    gateway: OnceCell<Gateway>,
}

/// Makes what it takes to ask models, from a configuration for instance. Errors say what to do.
#[async_trait]
pub trait SetUp: Send + Sync {
    /// What to say, without asking anyone.
    fn talk(&self) -> Result<Talk, String>;
    /// Whom to ask.
    async fn gateway(&self) -> Result<Gateway, String>;
}

/// What to say, and how.
pub struct Talk {
    /// The prompts.
    pub prompts: Prompts,
    /// The language.
    pub locale: String,
    /// Agents may work by themselves even where a plan does not say so.
    pub agent_planning: bool,
    /// What is asked in a role of a team, and names no prompt, is asked by the prompt that is named like the role.
    pub template_prompts: bool,
}

impl Talk {
    /// The prompt that a model task is asked by, when it is not the one for tasks.
    pub(crate) fn prompt_of(&self, model: &Model) -> Option<String> {
        let of_team = model.role.as_deref().filter(|role| self.template_prompts && role.starts_with("team."));
        model.prompt.clone().or_else(|| of_team.map(|role| role.replace(['.', '_'], "-")))
    }
}

impl Models {
    /// Models that are set up when they are needed.
    pub fn new(set_up: impl SetUp + 'static) -> Self {
        Self { set_up: Box::new(set_up), talk: OnceLock::new(), gateway: OnceCell::new() }
    }

    /// What to say.
    pub(crate) fn talk(&self) -> Result<&Talk, Failure> {
        let talk = self.talk.get_or_init(|| self.set_up.talk());
        talk.as_ref().map_err(|why| Failure::new(FailureClass::Policy, why.clone()))
    }

    /// A name for what a prompt says now; none when there is no such prompt.
    pub fn fingerprint(&self, prompt: &str) -> Option<String> {
        let talk = self.talk().ok()?;
        talk.prompts.fingerprint(prompt, &talk.locale).ok().map(str::to_owned)
    }

    /// Whom to ask. One that could not be made is tried again the next time.
    pub(crate) async fn gateway(&self) -> Result<&Gateway, Failure> {
        let made = self.gateway.get_or_try_init(|| self.set_up.gateway()).await;
        made.map_err(|why| Failure::new(FailureClass::Policy, why))
    }
}

/// What is asked.
pub struct Question<'a> {
    /// The prompt.
    pub prompt: Cow<'a, str>,
    /// What goes into it.
    pub inputs: BTreeMap<String, Value>,
    /// What was said after it.
    pub talk: &'a [Message],
    /// The tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// What the answer has to look like, instead of what the prompt says.
    pub shape: Option<Shape>,
    /// What holds beyond that.
    pub rules: Option<Rules<'a>>,
    /// What the model is to be, instead of what the prompt says.
    pub role: Option<String>,
    /// One model by name.
    pub model: Option<String>,
    /// How it answers.
    pub settings: Settings,
    /// Which of several answers to the same question.
    pub sample: u32,
}

impl<'a> Question<'a> {
    /// A question by prompt and inputs alone.
    pub fn of(prompt: impl Into<Cow<'a, str>>, inputs: BTreeMap<String, Value>) -> Self {
        Self {
            prompt: prompt.into(),
            inputs,
            talk: &[],
            tools: Vec::new(),
            shape: None,
            rules: None,
            role: None,
            model: None,
            settings: Settings::default(),
            sample: 0,
        }
    }

    /// The request that asks it for some work.
    fn request(&self, talk: &Talk, work: &Work, secrets: &Secrets) -> Result<Request, Failure> {
        let inputs: BTreeMap<String, Value> =
            self.inputs.iter().map(|(name, value)| (name.clone(), secrets.redact_value(value))).collect();
        let rendered = talk.prompts.render(&self.prompt, &talk.locale, Choice::Seeded(&work.key), &inputs);
        let rendered = rendered.map_err(|fault| Failure::new(FailureClass::Policy, fault.in_words()))?;
        let mut settings = self.settings.clone();
        settings.seed = settings.seed.or_else(|| Some(seed(&work.key, self.sample)));
        let mut request = rendered.request();
        request.role = self.role.clone().unwrap_or(request.role);
        request.shape = self.shape.clone().or(request.shape).filter(|_| self.tools.is_empty());
        request.messages.extend_from_slice(self.talk);
        Ok(Request { model: self.model.clone(), tools: self.tools.clone(), settings, sample: self.sample, ..request })
    }
}

/// Asks for one attempt.
pub struct Asker<'a> {
    pub(crate) models: &'a Models,
    pub(crate) work: &'a Work,
    pub(crate) place: &'a Place,
    pub(crate) ports: &'a Ports,
    pub(crate) stop: &'a CancellationToken,
    /// Why what came is less than what was asked for, if ever.
    shortfall: OnceLock<String>,
    /// A question came to nothing by what models said, which is on record.
    settled: OnceLock<()>,
}

impl<'a> Asker<'a> {
    /// Asks these models, for this attempt.
    pub fn new(
        models: &'a Models,
        work: &'a Work,
        (place, ports, stop): (&'a Place, &'a Ports, &'a CancellationToken),
    ) -> Self {
        Self { models, work, place, ports, stop, shortfall: OnceLock::new(), settled: OnceLock::new() }
    }

    /// Tells whether whoever asks the same again meets the same end: models have answered, and it did not hold.
    pub(crate) fn is_settled(&self) -> bool {
        self.settled.get().is_some()
    }

    /// Why what came so far is less than what was asked for, when it is.
    pub fn shortfall(&self) -> Option<String> {
        self.shortfall.get().cloned()
    }

    /// Asks, and gives an answer that holds.
    pub async fn ask(&self, question: Question<'_>) -> Result<Answer, Failure> {
        self.ask_and_note(question, Notes::for_attempt(&*self.ports.calls, &*self.ports.watch, self.work)).await
    }

    /// Asks the only question of an attempt, which ends with it.
    pub(crate) async fn ask_only(&self, question: Question<'_>) -> Result<Answer, Failure> {
        let notes = Notes::for_attempt(&*self.ports.calls, &*self.ports.watch, self.work);
        self.ask_and_note(question, notes.for_only_question()).await
    }

    async fn ask_and_note(&self, question: Question<'_>, notes: Notes<'_>) -> Result<Answer, Failure> {
        let request = question.request(self.models.talk()?, self.work, &self.place.secrets)?;
        let hearing = Hearing::new(self.work, self.place, self.ports);
        let asking = Asking {
            plan: self.work.plan.as_str(),
            rules: question.rules.unwrap_or(&|_| Vec::new()),
            listener: &hearing,
            record: &notes,
            allowance: &self.work.purse,
            strict: self.place.policies().any(|policy| policy.strict),
            stop: self.stop.clone(),
            context: BTreeMap::from([("task".to_owned(), self.work.task.to_string())]),
            ..Asking::new(request)
        };
        let answer = hearing.during(Box::pin(self.models.gateway().await?.ask(asking))).await;
        let answer = answer.inspect_err(|error| {
            if error.is_settled() {
                self.settled.get_or_init(|| ());
            }
        })?;
        if answer.finish == Finish::Length {
            let note = format!("the answer of {} ends in the middle: there was no room for more", answer.model);
            self.ports.watch.alive(note, Vec::new());
        }
        if let Some(why) = &answer.fallback {
            let note = format!("answered by {} instead of {}: {why}", answer.model, answer.asked);
            self.ports.watch.alive(note, Vec::new());
            if answer.is_offline() {
                // The first reason is enough; all are in the notes.
                self.shortfall.get_or_init(|| {
                    format!("{} answered instead of {}: {}", answer.model, answer.asked, shortened(why, 300))
                });
            }
        }
        Ok(answer)
    }
}

/// The seed of a call: the same for the same work, another one for another sample.
fn seed(key: &str, sample: u32) -> u64 {
    let hash = blake3::hash(format!("{key} {sample}").as_bytes());
    let first: [u8; 8] = std::array::from_fn(|at| hash.as_bytes()[at]);
    u64::from_le_bytes(first) >> 12 // providers take fewer bits, and JSON keeps 53
}
