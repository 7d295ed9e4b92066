//! Models that say what they are told, and a record of calls that outlives an attempt.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use gantry_core::plan::{Action, Money};
use gantry_core::policy::{Policy, Usage};
use gantry_llm::prompts::Prompts;
use gantry_llm::{
    CallError, CallFault, Chains, Gateway, Limits, Listener, Price, Protocol, Provider, Reply, Request, Target, Tokens,
    ToolCall,
};
use gantry_runners::{
    CallNo, Calls, Ended, KeepError, Models, Noted, Place, Ports, Recalled, Runners, SetUp, Talk, Work,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::world::{World, doing, guard};

/// Says what it is told, one after the other, and remembers what it was asked.
#[derive(Default)]
pub struct Puppet {
    script: Mutex<VecDeque<Reply>>,
    pub heard: Mutex<Vec<Request>>,
}

#[async_trait]
impl Provider for Puppet {
    async fn call(
        &self,
        target: &Target,
        request: &Request,
        _: &dyn Listener,
        _: &CancellationToken,
    ) -> Result<Reply, CallError> {
        self.heard.lock().unwrap().push(request.clone());
        let said = self.script.lock().unwrap().pop_front();
        said.ok_or_else(|| CallError {
            fault: CallFault::Key,
            target: target.id(),
            message: "nobody told me what to say".to_owned(),
            retry_after: None,
        })
    }
}

/// Calls that were written down; they stay when an attempt ends.
#[derive(Default)]
pub struct Diary {
    pub rows: Mutex<Vec<Row>>,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub kind: String,
    pub key: String,
    attempt: u32,
    pub request: Value,
    pub answer: Option<Value>,
    usage: Usage,
}

/// The diary as one attempt sees it.
struct Entry(Arc<Diary>, Work);

#[async_trait]
impl Calls for Entry {
    async fn recall(&self, kind: &str, key: &str) -> Result<Option<Recalled>, KeepError> {
        let rows = self.0.rows.lock().unwrap();
        let mut fitting: Vec<&Row> = rows.iter().filter(|row| row.kind == kind && row.key == key).collect();
        fitting.sort_by_key(|row| row.answer.is_some());
        let attempt = |row: &Row| gantry_core::id::AttemptNo(row.attempt);
        Ok(fitting.pop().map(|row| Recalled {
            task: self.1.task.clone(),
            attempt: attempt(row),
            answer: row.answer.clone(),
        }))
    }
    async fn begin(&self, kind: &str, key: &str, request: Value) -> Result<CallNo, KeepError> {
        let mut rows = self.0.rows.lock().unwrap();
        let (kind, key, attempt) = (kind.to_owned(), key.to_owned(), self.1.attempt.0);
        rows.push(Row { kind, key, attempt, request, answer: None, usage: Usage::default() });
        Ok(CallNo(u32::try_from(rows.len()).unwrap() - 1))
    }
    fn answered(&self, call: CallNo, answer: Value) {
        self.0.rows.lock().unwrap()[call.0 as usize].answer = Some(answer);
    }
    async fn end(&self, call: CallNo, answer: Value, usage: Usage) -> Result<(), KeepError> {
        let row = &mut self.0.rows.lock().unwrap()[call.0 as usize];
        (row.answer, row.usage) = (Some(answer), usage);
        Ok(())
    }
    async fn note(&self, call: Noted) -> Result<(), KeepError> {
        let number = self.begin(call.kind, &call.key, call.request).await?;
        self.end(number, call.answer, call.usage).await
    }
    async fn used(&self) -> Result<Usage, KeepError> {
        let rows = self.0.rows.lock().unwrap();
        let own = rows.iter().filter(|row| row.attempt == self.1.attempt.0);
        Ok(own.fold(Usage::default(), |sum, row| sum.plus(row.usage)))
    }
}

/// One model for every role.
struct One(bool);

impl Chains for One {
    fn chain(&self, _: &str, _: Option<&str>) -> Result<Vec<Target>, String> {
        Ok(vec![Target {
            provider: "acme".to_owned(),
            protocol: Protocol::OpenaiChat,
            base_url: "http://nowhere/".to_owned(),
            key: None,
            model: "m".to_owned(),
            price: Some(Price { input: Money(1_000_000), cached: None, output: Money(1_000_000) }),
            limits: Limits { retries_max: 0, ..Limits::default() },
            context: None,
            schemas: true,
            tools: self.0,
            keep: false,
        }])
    }
}

struct Scripted {
    puppet: Arc<Puppet>,
    calls_tools: bool,
}

#[async_trait]
impl SetUp for Scripted {
    fn talk(&self) -> Result<Talk, String> {
        let prompts = Prompts::built_in().map_err(|faults| format!("{faults:?}"))?;
        Ok(Talk { prompts, locale: "en".to_owned(), agent_planning: false, template_prompts: false })
    }
    async fn gateway(&self) -> Result<Gateway, String> {
        Ok(Gateway::new(Arc::new(One(self.calls_tools))).with(Protocol::OpenaiChat, self.puppet.clone()))
    }
}

/// Nobody but the offline model answers.
struct NobodyElse;

impl Chains for NobodyElse {
    fn chain(&self, _: &str, _: Option<&str>) -> Result<Vec<Target>, String> {
        Ok(vec![Target::offline()])
    }
}

#[async_trait]
impl SetUp for NobodyElse {
    fn talk(&self) -> Result<Talk, String> {
        let prompts = Prompts::built_in().map_err(|faults| format!("{faults:?}"))?;
        Ok(Talk { prompts, locale: "en".to_owned(), agent_planning: false, template_prompts: false })
    }
    async fn gateway(&self) -> Result<Gateway, String> {
        Ok(Gateway::new(Arc::new(NobodyElse)).with(Protocol::Offline, Arc::new(gantry_llm::offline::Offline::new())))
    }
}

/// Models among which only the offline one answers.
pub fn offline() -> Models {
    Models::new(NobodyElse)
}

/// A folder with models to ask.
pub struct Minds {
    pub world: World,
    pub puppet: Arc<Puppet>,
    pub diary: Arc<Diary>,
}

impl Minds {
    /// The model answers with a step object.
    pub fn new() -> Self {
        Self::that(false)
    }

    /// The model calls tools by itself.
    pub fn calling_tools() -> Self {
        Self::that(true)
    }

    /// The model answers with a step object, and may use these tools.
    pub fn with(tools: Runners) -> Self {
        Self::those(false, tools)
    }

    fn that(calls_tools: bool) -> Self {
        Self::those(calls_tools, Runners::standard(guard()))
    }

    pub fn those(calls_tools: bool, tools: Runners) -> Self {
        let puppet: Arc<Puppet> = Arc::default();
        let models = Models::new(Scripted { puppet: puppet.clone(), calls_tools });
        Self::asking(models, puppet, tools)
    }

    /// Somebody else answers than the puppet.
    pub fn of(models: Models) -> Self {
        Self::asking(models, Arc::default(), Runners::standard(guard()))
    }

    fn asking(models: Models, puppet: Arc<Puppet>, tools: Runners) -> Self {
        let mut world = World::new();
        world.runners = tools.with_models(Arc::new(models));
        world.place = Place { policy: Arc::new(Policy { agent_planning: true, ..Policy::default() }), ..world.place };
        Self { world, puppet, diary: Arc::default() }
    }

    /// Another process goes on with the same folder and the same record.
    pub fn restart(&mut self, models: Models) {
        self.world.runners = Runners::standard(guard()).with_models(Arc::new(models));
    }

    /// What the model says next.
    pub fn says(&self, text: &str) {
        self.says_for(text, 10);
    }

    /// The same, and it takes so many tokens to read what was asked.
    pub fn says_for(&self, text: &str, input: u64) {
        let tokens = Some(Tokens { input, output: 5, ..Tokens::default() });
        let reply = Reply { text: text.to_owned(), tokens, model: "m-of-today".to_owned(), ..Reply::default() };
        self.puppet.script.lock().unwrap().push_back(reply);
    }

    /// A tool that it calls by itself next.
    pub fn calls(&self, tool: &str, args: Value) {
        self.calls_all(&[(tool, args)]);
    }

    /// Tools that it calls by itself next, all in one answer.
    pub fn calls_all(&self, tools: &[(&str, Value)]) {
        let first = self.puppet.script.lock().unwrap().len();
        let call = |(number, (tool, args)): (usize, &(&str, Value))| {
            let id = if number == 0 { format!("call-{first}") } else { format!("call-{first}-{number}") };
            ToolCall { id, name: (*tool).to_owned(), args: args.clone() }
        };
        let calls = tools.iter().enumerate().map(call).collect();
        let reply = Reply { calls, model: "m-of-today".to_owned(), ..Reply::default() };
        self.puppet.script.lock().unwrap().push_back(reply);
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.puppet.heard.lock().unwrap().len()
    }

    /// Everything that it was told in the last request.
    pub fn heard_last(&self) -> String {
        let heard = self.puppet.heard.lock().unwrap();
        heard.last().unwrap().messages.iter().map(gantry_llm::Message::text).collect::<Vec<_>>().join("\n")
    }

    pub fn ports(&self, work: &Work) -> Ports {
        Ports { calls: Arc::new(Entry(self.diary.clone(), work.clone())), ..self.world.ports() }
    }

    /// One attempt.
    pub async fn run(&self, work: &Work) -> Ended {
        let ports = self.ports(work);
        let ended = self.world.runners.attempt(work, &self.world.place, &ports, &self.world.stop).await;
        ports.sessions.close().await;
        ended
    }

    /// Lets the policy of the plan say this.
    pub fn under(&mut self, change: impl FnOnce(&mut Policy)) {
        let mut policy = (*self.world.place.policy).clone();
        change(&mut policy);
        self.world.place.policy = Arc::new(policy);
    }

    /// What was noted in the life of the plan.
    pub fn notes(&self) -> Vec<String> {
        self.world.memory.beats.lock().unwrap().iter().map(|(note, _)| note.clone()).collect()
    }
}

/// An agent with these tools.
pub fn agent(fields: Value) -> Work {
    doing(Action::Agent(serde_json::from_value(fields).unwrap()))
}

/// Inputs by name.
pub fn inputs(pairs: &[(&str, &str)]) -> BTreeMap<String, Value> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
}
