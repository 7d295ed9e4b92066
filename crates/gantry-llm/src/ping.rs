//! Asks a model for one word, to see whether it answers.

use std::time::{Duration, Instant};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::answer::Tokens;
use crate::provider::{Provider, Unheard};
use crate::request::{Message, Request, Settings};
use crate::target::Target;

/// Room for the word, and for a few thoughts before it.
const TOKENS_MAX: u32 = 64;

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ping {
    /// Who was asked, as `provider:model`.
    pub target: String,
    /// The model that really answered, what it used, or why there is no answer.
    #[serde(flatten)]
    pub end: PingEnd,
    /// How long it took.
    pub duration_ms: u64,
}

/// How asking ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PingEnd {
    /// It answers.
    Answers {
        /// The model that really answered.
        model: String,
        /// What it used; none when the provider reports nothing.
        tokens: Option<Tokens>,
    },
    /// It does not.
    Silent {
        /// Why, without any key.
        why: String,
    },
}

impl Ping {
    /// Tells whether it answers.
    pub fn answers(&self) -> bool {
        matches!(self.end, PingEnd::Answers { .. })
    }
}

/// Asks one model for one word, once. Nothing else answers in its place.
pub async fn ping(provider: &dyn Provider, target: &Target, timeout: Duration) -> Ping {
    let request = Request {
        role: "default".to_owned(),
        messages: vec![Message::user("Answer with the single word: ready")],
        settings: Settings { tokens_max: Some(TOKENS_MAX), ..Settings::default() },
        ..Request::default()
    };
    let (started, stop) = (Instant::now(), CancellationToken::new());
    let asked = tokio::time::timeout(timeout, provider.call(target, &request, &Unheard, &stop)).await;
    let end = match asked {
        Ok(Ok(reply)) => PingEnd::Answers { model: reply.model, tokens: reply.tokens },
        Ok(Err(error)) => PingEnd::Silent { why: error.message },
        Err(_) => PingEnd::Silent { why: format!("no answer within {} s", timeout.as_secs()) },
    };
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ping { target: target.id(), end, duration_ms }
}
