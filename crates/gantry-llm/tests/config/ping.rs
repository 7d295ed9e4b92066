//! One word from a model.

use std::time::Duration;

use async_trait::async_trait;
use gantry_llm::ping::ping;
use gantry_llm::{CallError, CallFault, Listener, Provider, Reply, Request, Target};
use tokio_util::sync::CancellationToken;

use crate::kit::World;

enum Fake {
    Answers,
    Refuses,
    Sleeps,
}

#[async_trait]
impl Provider for Fake {
    async fn call(
        &self,
        target: &Target,
        request: &Request,
        _: &dyn Listener,
        _: &CancellationToken,
    ) -> Result<Reply, CallError> {
        assert_eq!(request.messages.len(), 1);
        match self {
            Self::Answers => {
                Ok(Reply { text: "ready".to_owned(), model: "gpt-4o-2024".to_owned(), ..Reply::default() })
            }
            Self::Refuses => Err(CallError {
                fault: CallFault::Key,
                target: target.id(),
                message: "the key is wrong (401)".to_owned(),
                retry_after: None,
            }),
            Self::Sleeps => std::future::pending().await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_ping_says_who_answers_or_why_not() {
    let config = World::new().variable("OPENAI_API_KEY", "k").config();
    let target = &config.chain("planner", None).unwrap()[0];
    let long = Duration::from_mins(1);
    let drawn = |ping| serde_json::to_value(ping).unwrap();
    let answered = drawn(ping(&Fake::Answers, target, long).await);
    assert_eq!((&answered["target"], &answered["state"]), (&"openai:gpt-4o".into(), &"answers".into()));
    assert_eq!(answered["model"], "gpt-4o-2024");
    let refused = drawn(ping(&Fake::Refuses, target, long).await);
    assert_eq!((&refused["state"], &refused["why"]), (&"silent".into(), &"the key is wrong (401)".into()));
    let late = drawn(ping(&Fake::Sleeps, target, long).await);
    assert_eq!(late["why"], "no answer within 60 s");
}
