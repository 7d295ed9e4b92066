//! Makes the plan of a topic by asking a server over its chat.
//!
//! Servers differ in where they say which plan they made, and some say nothing, or say it too late. Before anything is asked a
//! second time, the server's own list is looked at: what is there already is taken, so no topic becomes two plans.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::message::{self, Template};
use crate::topics::Topic;

/// How long it is waited between two looks at a plan that is being made.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long it is waited at most before something is asked again.
const WAIT_MAX: Duration = Duration::from_mins(1);
/// How many bytes of an answer are read.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// A server that makes plans.
#[derive(Debug)]
pub struct Remote {
    client: Client,
    base: String,
    token: Option<String>,
    template: Template,
    run: String,
    retries_max: u32,
    timeout: Duration,
    backoff: Duration,
    /// The plans that were there before, and those that belong to a topic by now.
    taken: Mutex<BTreeSet<u64>>,
}

/// How a server is asked.
#[derive(Clone, Debug)]
pub struct Asking {
    /// Where it is, as in `http://localhost:9000`.
    pub base_url: String,
    /// The token that it wants.
    pub api_key: Option<String>,
    /// How a topic is put into words.
    pub template: Template,
    /// The run: the same run and topic is the same request.
    pub run: String,
    /// How often what may pass is tried again.
    pub retries_max: u32,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How long it is waited before the second try; then twice as long each time.
    pub backoff: Duration,
}

/// What came of asking.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    /// The number of the plan.
    pub plan: Option<u64>,
    /// Why there is none.
    pub error: Option<String>,
    /// How often it was asked again.
    pub retries: u32,
    /// What the server said last.
    pub answer: Value,
}

/// What one request came to.
enum Said {
    /// An answer.
    Answer(Value),
    /// It may pass: too many requests, or trouble of the server. It may have been done all the same.
    Again { why: String, after: Option<Duration>, may_be_done: bool },
    /// It will not pass.
    No(String),
}

impl Remote {
    /// Connects: the plans that are there now are not taken for new ones.
    pub async fn connect(asking: Asking) -> Result<Self, String> {
        // The client wants to know its cryptography, even where nothing is encrypted.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().timeout(asking.timeout).build().map_err(|error| error.to_string())?;
        let remote = Self {
            client,
            base: asking.base_url.trim_end_matches('/').to_owned(),
            token: asking.api_key,
            template: asking.template,
            run: asking.run,
            retries_max: asking.retries_max,
            timeout: asking.timeout,
            backoff: asking.backoff,
            taken: Mutex::default(),
        };
        let before = remote.plans().await?.into_keys();
        remote.taken().extend(before);
        Ok(remote)
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.taken.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Says that a plan of the server belongs to a topic already.
    pub fn belongs(&self, plan: u64) {
        self.taken().insert(plan);
    }

    /// Has the plan of a topic made.
    pub async fn make(&self, topic: &Topic, key: &str, session: &str) -> Answered {
        let (mut retries, mut strict, mut answer) = (0, false, Value::Null);
        let mut last = Instant::now();
        loop {
            let template = if strict { &Template::strict() } else { &self.template };
            let body = message::body(template, topic, &self.run, session);
            let (why, after) = match self.ask(&body, key, strict).await {
                Said::No(why) => return Answered { error: Some(why), retries, answer, ..Answered::default() },
                Said::Answer(said) => {
                    answer = said;
                    match self.plan_of(&answer, topic).await {
                        Some(plan) => {
                            self.belongs(plan);
                            return Answered { plan: Some(plan), retries, answer, ..Answered::default() };
                        }
                        None if !strict => {
                            strict = true; // once, in stronger words
                            retries += 1;
                            continue;
                        }
                        None => {
                            let error = Some("the server answered and made no plan".to_owned());
                            return Answered { error, retries, answer, ..Answered::default() };
                        }
                    }
                }
                Said::Again { why, after, may_be_done } => {
                    if may_be_done && let Some(plan) = self.found(topic).await {
                        return Answered { plan: Some(plan), retries, answer, ..Answered::default() };
                    }
                    (why, after)
                }
            };
            if retries >= self.retries_max {
                return Answered { error: Some(why), retries, answer, ..Answered::default() };
            }
            sleep(after.unwrap_or_else(|| wait(self.backoff, retries, last.elapsed())).min(WAIT_MAX)).await;
            (retries, last) = (retries + 1, Instant::now());
        }
    }

    async fn ask(&self, body: &Value, key: &str, strict: bool) -> Said {
        let once = format!("bulk {} {key}{}", self.run, if strict { " strict" } else { "" });
        let request = self.client.post(format!("{}/chat/message", self.base)).json(body);
        match self.send(request.header("Idempotency-Key", once)).await {
            Err(why) => Said::Again { why, after: None, may_be_done: true },
            Ok((status, after, answer)) => match status {
                _ if status.is_success() && answer.pointer("/metadata/error") == Some(&json!(true)) => {
                    Said::Again { why: told(&answer, "the server says that it failed"), after: None, may_be_done: true }
                }
                _ if status.is_success() => Said::Answer(answer),
                StatusCode::TOO_MANY_REQUESTS => {
                    let why = told(&answer, "the server has too many requests (429)");
                    Said::Again { why, after, may_be_done: false }
                }
                _ if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
                    let why = told(&answer, &format!("the server is in trouble ({})", status.as_u16()));
                    Said::Again { why, after, may_be_done: true }
                }
                _ => Said::No(told(&answer, &format!("the server says no ({})", status.as_u16()))),
            },
        }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<(StatusCode, Option<Duration>, Value), String> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let mut response = request.send().await.map_err(|error| why(&error))?;
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| why(&error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(format!("the answer is longer than {ANSWER_BYTES_MAX} bytes"));
            }
        }
        let answer = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).chars().take(500).collect()));
        Ok((status, after.map(Duration::from_secs), answer))
    }

    /// Which plan an answer is about: by what it says, by what it says later, or by what is new in the list.
    async fn plan_of(&self, answer: &Value, topic: &Topic) -> Option<u64> {
        if let Some(plan) = plan_in(answer) {
            return Some(plan);
        }
        let pending = answer.pointer("/metadata/status").and_then(Value::as_str) == Some("pending");
        let since = Instant::now();
        loop {
            if let Some(plan) = self.found(topic).await {
                return Some(plan);
            }
            if !pending || since.elapsed() >= self.timeout {
                return None;
            }
            sleep(LOOK_AGAIN.min(self.timeout)).await;
        }
    }

    /// The first plan of this title that is new and nobody else's.
    async fn found(&self, topic: &Topic) -> Option<u64> {
        let plans = self.plans().await.ok()?;
        let mut taken = self.taken();
        let new = plans.into_iter().find(|(plan, title)| *title == topic.title && !taken.contains(plan))?;
        taken.insert(new.0);
        Some(new.0)
    }

    /// The plans of the server: number and title.
    async fn plans(&self) -> Result<BTreeMap<u64, String>, String> {
        let (mut plans, mut path) = (BTreeMap::new(), "/plans".to_owned());
        loop {
            let (status, _, answer) = self.send(self.client.get(format!("{}{path}", self.base))).await?;
            if !status.is_success() {
                return Err(told(&answer, &format!("the server does not list its plans ({})", status.as_u16())));
            }
            let list = answer.as_array().or_else(|| answer.get("items")?.as_array());
            let list = list.or_else(|| answer.get("plans")?.as_array()).ok_or("the list of plans is no list")?;
            for plan in list {
                let no = plan.get("no").and_then(number).or_else(|| plan.get("id").and_then(number));
                if let (Some(no), Some(title)) = (no, plan.get("title").and_then(Value::as_str)) {
                    plans.insert(no, title.to_owned());
                }
            }
            match answer.get("next").filter(|next| !next.is_null()) {
                Some(next) => {
                    let next = next.as_str().map_or_else(|| next.to_string(), str::to_owned);
                    path = format!("/plans?cursor={next}");
                }
                None => return Ok(plans),
            }
        }
    }

    /// The tree of a plan; none where the server has none.
    pub async fn tree(&self, plan: u64) -> Result<Value, String> {
        self.get(&format!("/plans/{plan}/tree")).await
    }

    /// How far a plan is.
    pub async fn summary(&self, plan: u64) -> Result<Value, String> {
        self.get(&format!("/plans/{plan}/execution/summary")).await
    }

    async fn get(&self, path: &str) -> Result<Value, String> {
        let (status, _, answer) = self.send(self.client.get(format!("{}{path}", self.base))).await?;
        if status.is_success() { Ok(answer) } else { Err(told(&answer, &format!("{}", status.as_u16()))) }
    }
}

/// How long to wait before the next try: twice as long each time, and not all topics equally long.
fn wait(backoff: Duration, retries: u32, took: Duration) -> Duration {
    let doubled = backoff.saturating_mul(1 << retries.min(16));
    // What the clock says below a microsecond is chance enough to spread requests.
    doubled.saturating_add(backoff.mul_f64(f64::from(took.subsec_nanos() % 1_000) / 1_000.0))
}

/// Where servers say which plan they made, the surest first.
fn plan_in(answer: &Value) -> Option<u64> {
    let said = |path: &str| answer.pointer(path).and_then(number);
    let actions = answer.get("raw_actions").or_else(|| answer.get("actions"));
    let in_actions = || {
        let places = ["/plan_id", "/result/plan_id", "/details/plan_id", "/parameters/plan_id"];
        let actions = actions?.as_array()?;
        actions.iter().find_map(|action| places.iter().find_map(|place| action.pointer(place).and_then(number)))
    };
    said("/metadata/plan_id").or_else(|| said("/details/plan_id")).or_else(in_actions)
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// What the server says about it, or else these words.
fn told(answer: &Value, otherwise: &str) -> String {
    let places = ["/detail", "/error/message", "/error", "/message", "/title", "/response"];
    let said = places.iter().find_map(|place| answer.pointer(place)?.as_str()).filter(|said| !said.trim().is_empty());
    said.map_or_else(|| otherwise.to_owned(), |said| format!("{otherwise}: {}", said.trim()))
}

/// Why nothing came back, down to the first cause.
fn why(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the server did not answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    format!("the server cannot be reached: {cause}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_twice_as_long_and_spread_by_chance() {
        let second = Duration::from_secs(1);
        let waits = |nanos: u32| [0, 1, 2, 3].map(|retries| wait(second, retries, Duration::new(0, nanos)).as_millis());
        assert_eq!(waits(0), [1_000, 2_000, 4_000, 8_000]);
        assert_eq!(waits(5_250), [1_250, 2_250, 4_250, 8_250]);
        assert_eq!(waits(999), [1_999, 2_999, 4_999, 8_999]);
        assert!(wait(second, u32::MAX, Duration::ZERO) > WAIT_MAX, "which is as long as it is waited");
        assert_eq!(wait(Duration::from_millis(u64::MAX), 40, Duration::new(0, 1)), Duration::MAX);
    }
}
