//! What holds for the roles of teams alone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use gantry_llm::{
    Asking, CallError, Gateway, Listener, Message, PromptUse, Protocol, Provider, Repair, Reply, Request, Target, Team,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::kit::question;
use crate::world::{OneChain, Puppet, model, says};

/// Takes a second for every answer, and remembers when it was asked.
#[derive(Default)]
struct Slow(Mutex<Vec<Instant>>);

#[async_trait]
impl Provider for Slow {
    async fn call(&self, _: &Target, _: &Request, _: &dyn Listener, _: &CancellationToken) -> Result<Reply, CallError> {
        self.0.lock().unwrap().push(Instant::now());
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(Reply { text: "ok".into(), ..Reply::default() })
    }
}

fn gateway(team: Team, provider: Arc<dyn Provider>) -> Gateway {
    let chain = OneChain { chain: vec![model("m")], strict: true, team, ..OneChain::default() };
    Gateway::new(Arc::new(chain)).with(Protocol::OpenaiChat, provider)
}

#[tokio::test(start_paused = true)]
async fn no_more_questions_of_a_team_are_under_way_than_it_has_workers() {
    for (role, seconds) in [("team.hourly", [0, 0, 1, 1, 2]), ("writer", [0, 0, 0, 0, 0])] {
        let slow = Arc::new(Slow::default());
        let gateway = gateway(Team { workers_max: Some(2), ..Team::default() }, slow.clone());
        let began = Instant::now();
        let ask = |number: u32| {
            let request = Request { role: role.to_owned(), ..question(&format!("question {number}")) };
            gateway.ask(Asking::new(request))
        };
        for answer in futures_util::future::join_all((0..5).map(ask)).await {
            answer.unwrap();
        }
        let at: Vec<u64> = slow.0.lock().unwrap().iter().map(|at| at.duration_since(began).as_secs()).collect();
        assert_eq!(at, seconds, "{role}");
    }
}

/// A question in Korean.
fn korean(role: &str) -> Request {
    let prompt = PromptUse { name: "task".into(), version: "1".into(), locale: "ko".into(), variant: None };
    Request { role: role.to_owned(), prompt: Some(prompt), ..question("오늘 할 일을 말하세요.") }
}

const ENGLISH: &str = "Please review the plan.";
const KOREAN: &str = "계획을 검토하세요.";

#[tokio::test]
async fn english_goes_back_to_the_models_of_a_team_that_speaks_korean_as_often_as_it_says() {
    for (role, retries, said, calls, last) in [
        ("team.daily", 1, [ENGLISH, KOREAN], 2, KOREAN),
        ("team.daily", 3, [ENGLISH, KOREAN], 2, KOREAN),
        // After the last try it is taken as it is.
        ("team.daily", 1, [ENGLISH, ENGLISH], 2, ENGLISH),
        ("team.daily", 0, [ENGLISH, KOREAN], 1, ENGLISH),
        ("writer", 1, [ENGLISH, KOREAN], 1, ENGLISH),
    ] {
        let puppet = Arc::new(Puppet::default());
        puppet.script(said.map(says));
        let gateway = gateway(Team { korean_retries: retries, ..Team::default() }, puppet.clone());
        let answer = gateway.ask(Asking::new(korean(role))).await.unwrap();
        assert_eq!((answer.calls_made, answer.text.as_str()), (calls, last), "{role}, {retries} retries");
        assert_eq!(answer.tokens.all(), calls * 15, "all are paid for");
        if calls > 1 {
            let Repair::FedBack(faults) = &answer.repairs[0] else { panic!("{:?}", answer.repairs) };
            assert!(faults[1].contains("“review”"), "{faults:?}");
            let asked = puppet.requests();
            let words: Vec<&str> = asked[1].messages.iter().map(Message::text).collect();
            assert_eq!(words[..2], ["오늘 할 일을 말하세요.", ENGLISH], "nothing of what was asked is lost");
            assert!(words[2].contains("한국어로만"), "{words:?}");
        }
    }
}
