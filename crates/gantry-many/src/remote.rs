//! Makes the plan of a topic by asking a server over its chat.
//!
//! Servers differ in where they say which plan they made, and some say nothing, or say it too late. Before anything is asked a
//! second time, in this process or in the next one, the server's own list is looked at: what is there already is taken, so no
//! topic becomes two plans.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::message::{self, KEY, RUN, Template};
use crate::results::{BadTable, replace};
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
    /// The plans that were there when it was connected; none where the server has no list.
    listed: Option<BTreeMap<u64, Listed>>,
    /// The plans that were there before the run, and those that belong to a topic by now.
    taken: Mutex<BTreeSet<u64>>,
}

/// A plan as a server lists it.
#[derive(Clone, Debug)]
struct Listed {
    title: String,
    /// The run and the topic that it is of, where the server says so.
    run: Option<String>,
    key: Option<String>,
}

/// The plans that were there when a run began, as they are kept for whoever goes on with it.
#[derive(Debug, Serialize, Deserialize)]
struct Before {
    run: String,
    plans: BTreeSet<u64>,
}

/// Why nothing was got.
struct NotGot {
    why: String,
    /// It may be there the next time.
    may_pass: bool,
    after: Option<Duration>,
    status: Option<StatusCode>,
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
    /// Connects, and sees what is there.
    pub async fn connect(asking: Asking) -> Result<Self, String> {
        // The client wants to know its cryptography, even where nothing is encrypted.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().timeout(asking.timeout).build().map_err(|error| error.to_string())?;
        let mut remote = Self {
            client,
            base: asking.base_url.trim_end_matches('/').to_owned(),
            token: asking.api_key,
            template: asking.template,
            run: asking.run,
            retries_max: asking.retries_max,
            timeout: asking.timeout,
            backoff: asking.backoff,
            listed: None,
            taken: Mutex::default(),
        };
        remote.listed = match remote.plans(remote.retries_max).await {
            Ok(plans) => Some(plans),
            Err(NotGot { status: Some(StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED), .. }) => None,
            Err(not) => return Err(not.why),
        };
        Ok(remote)
    }

    /// Tells whether the server lists its plans. Where it does not, a plan is known only by what is answered.
    pub fn lists_plans(&self) -> bool {
        self.listed.is_some()
    }

    /// The run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Begins the run, or goes on with it: plans that were there before it are nobody's, and those of its table have their
    /// topics. What was there is kept in the first of these files as long as the run is not complete.
    pub fn begin(&self, files: &[PathBuf], of_topics: impl Iterator<Item = u64>) -> Result<(), BadTable> {
        let Some(listed) = &self.listed else { return Ok(()) };
        let kept = |file: &PathBuf| serde_json::from_slice::<Before>(&std::fs::read(file).ok()?).ok();
        let before = files.iter().filter_map(kept).find(|before| before.run == self.run);
        let before = before.unwrap_or_else(|| {
            let others = listed.iter().filter(|(_, plan)| plan.run.as_ref() != Some(&self.run));
            Before { run: self.run.clone(), plans: others.map(|(no, _)| *no).collect() }
        });
        if let Some(file) = files.first() {
            replace(file, &serde_json::to_string(&before).unwrap_or_default())?;
        }
        self.taken().extend(before.plans.into_iter().chain(of_topics));
        Ok(())
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
        // Whoever went before may have asked for it, and not lived to hear the answer.
        if let Some(plan) = self.listed.as_ref().and_then(|listed| self.take(listed, topic, key)) {
            return Answered { plan: Some(plan), ..Answered::default() };
        }
        let (mut may_be_done, mut last) = (false, Instant::now());
        loop {
            let template = if strict { &Template::strict() } else { &self.template };
            let body = message::body(template, topic, (&self.run, key), session);
            let after = match self.ask(&body, key, strict).await {
                Said::No(why) => return Answered { error: Some(why), retries, answer, ..Answered::default() },
                Said::Answer(said) => {
                    answer = said;
                    if let Some(plan) = self.plan_of(&answer, topic, key).await {
                        self.belongs(plan);
                        return Answered { plan: Some(plan), retries, answer, ..Answered::default() };
                    }
                    if strict {
                        let error = Some("the server answered and made no plan".to_owned());
                        return Answered { error, retries, answer, ..Answered::default() };
                    }
                    (strict, may_be_done) = (true, true); // once, in stronger words
                    None
                }
                Said::Again { why, after, may_be_done: may } => {
                    may_be_done |= may;
                    if may && let Some(plan) = self.found(topic, key).await {
                        return Answered { plan: Some(plan), retries, answer, ..Answered::default() };
                    }
                    if retries >= self.retries_max {
                        return Answered { error: Some(why), retries, answer, ..Answered::default() };
                    }
                    after
                }
            };
            sleep(after.unwrap_or_else(|| wait(self.backoff, retries, last.elapsed())).min(WAIT_MAX)).await;
            // A slow server may have made it meanwhile.
            if may_be_done && let Some(plan) = self.found(topic, key).await {
                return Answered { plan: Some(plan), retries, answer, ..Answered::default() };
            }
            (retries, last) = (retries + 1, Instant::now());
        }
    }

    async fn ask(&self, body: &Value, key: &str, strict: bool) -> Said {
        let once = format!("bulk {} {key}{}", self.run, if strict { " strict" } else { "" });
        let request = self.client.post(format!("{}/chat/message", self.base)).json(body);
        match self.send(request.header("Idempotency-Key", once)).await {
            Err(NotGot { why, .. }) => Said::Again { why, after: None, may_be_done: true },
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

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<(StatusCode, Option<Duration>, Value), NotGot> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let mut response = request.send().await.map_err(|error| NotGot::of(&error))?;
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| NotGot::of(&error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(NotGot::for_good(format!("the answer is longer than {ANSWER_BYTES_MAX} bytes")));
            }
        }
        let answer = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).chars().take(500).collect()));
        Ok((status, after.map(Duration::from_secs), answer))
    }

    /// Which plan an answer is about: by what it says, by what it says later, or by what is new in the list.
    async fn plan_of(&self, answer: &Value, topic: &Topic, key: &str) -> Option<u64> {
        if let Some(plan) = plan_in(answer) {
            return Some(plan);
        }
        let pending = answer.pointer("/metadata/status").and_then(Value::as_str) == Some("pending");
        let since = Instant::now();
        loop {
            if let Some(plan) = self.found(topic, key).await {
                return Some(plan);
            }
            if !pending || self.listed.is_none() || since.elapsed() >= self.timeout {
                return None;
            }
            sleep(LOOK_AGAIN.min(self.timeout)).await;
        }
    }

    /// The plan of a topic, as far as the server lists it now.
    async fn found(&self, topic: &Topic, key: &str) -> Option<u64> {
        self.listed.as_ref()?; // a server without a list was told of
        let listed = self.plans(0).await.ok()?;
        self.take(&listed, topic, key)
    }

    /// The first plan that is of this topic, or has its title where that is not said, and is nobody else's.
    fn take(&self, listed: &BTreeMap<u64, Listed>, topic: &Topic, key: &str) -> Option<u64> {
        let title = message::title(topic);
        let is_it = |plan: &Listed| match (&plan.run, &plan.key) {
            (Some(run), _) if *run != self.run => false,
            (Some(_), Some(of)) => of == key,
            _ => plan.title == title,
        };
        let mut taken = self.taken();
        let (plan, _) = listed.iter().find(|(no, plan)| !taken.contains(no) && is_it(plan))?;
        taken.insert(*plan);
        Some(*plan)
    }

    /// The plans of the server by number; what may pass is tried again so often.
    async fn plans(&self, retries_max: u32) -> Result<BTreeMap<u64, Listed>, NotGot> {
        let (mut plans, mut path) = (BTreeMap::new(), "/plans".to_owned());
        loop {
            let answer = self.get(&path, "the server does not list its plans", retries_max).await?;
            let list = answer.as_array().or_else(|| answer.get("items")?.as_array());
            let list = list.or_else(|| answer.get("plans")?.as_array());
            let list = list.ok_or_else(|| NotGot::for_good("the list of plans is no list".to_owned()))?;
            for plan in list {
                let no = plan.get("no").and_then(number).or_else(|| plan.get("id").and_then(number));
                if let (Some(no), Some(title)) = (no, plan.get("title").and_then(Value::as_str)) {
                    let of = |name: &str| plan.get("metadata")?.get(name)?.as_str().map(str::to_owned);
                    plans.insert(no, Listed { title: title.to_owned(), run: of(RUN), key: of(KEY) });
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
        self.look(&format!("/plans/{plan}/tree")).await
    }

    /// How far a plan is.
    pub async fn summary(&self, plan: u64) -> Result<Value, String> {
        self.look(&format!("/plans/{plan}/execution/summary")).await
    }

    async fn look(&self, path: &str) -> Result<Value, String> {
        self.get(path, "", self.retries_max).await.map_err(|not| not.why)
    }

    /// Gets something; what may pass is tried again so often. Where the server says no, that stands behind `no`.
    async fn get(&self, path: &str, no: &str, retries_max: u32) -> Result<Value, NotGot> {
        let mut retries = 0;
        loop {
            let since = Instant::now();
            let not = match self.send(self.client.get(format!("{}{path}", self.base))).await {
                Ok((status, _, answer)) if status.is_success() => return Ok(answer),
                Ok((status, after, answer)) => {
                    let code = status.as_u16();
                    let why = told(&answer, &if no.is_empty() { code.to_string() } else { format!("{no} ({code})") });
                    let may_pass = status.is_server_error()
                        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
                    NotGot { why, may_pass, after, status: Some(status) }
                }
                Err(not) => not,
            };
            if !not.may_pass || retries >= retries_max {
                return Err(not);
            }
            sleep(not.after.unwrap_or_else(|| wait(self.backoff, retries, since.elapsed())).min(WAIT_MAX)).await;
            retries += 1;
        }
    }
}

impl NotGot {
    /// Nothing came back.
    fn of(error: &reqwest::Error) -> Self {
        // Where nobody listens, nobody will in a moment.
        Self { why: why(error), may_pass: !error.is_connect(), after: None, status: None }
    }

    fn for_good(why: String) -> Self {
        Self { why, may_pass: false, after: None, status: None }
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
