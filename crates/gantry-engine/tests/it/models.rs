//! What it takes of the record to have a model do a task.

use std::sync::Arc;

use async_trait::async_trait;
use gantry_llm::prompts::Prompts;
use gantry_llm::{CallError, Chains, Gateway, Listener, Protocol, Provider, Reply, Request, Target};
use gantry_runners::{Models, Runners, SetUp, Talk};
use tokio_util::sync::CancellationToken;

use crate::kit::{World, completed};

/// One model that always says the same.
struct Parrot;

#[async_trait]
impl Provider for Parrot {
    async fn call(&self, _: &Target, _: &Request, _: &dyn Listener, _: &CancellationToken) -> Result<Reply, CallError> {
        Ok(Reply { text: "As you wish.".to_owned(), model: "parrot".to_owned(), ..Reply::default() })
    }
}

impl Chains for Parrot {
    fn chain(&self, _: &str, _: Option<&str>) -> Result<Vec<Target>, String> {
        Ok(vec![Target { protocol: Protocol::OpenaiChat, ..Target::offline() }])
    }
}

#[async_trait]
impl SetUp for Parrot {
    fn talk(&self) -> Result<Talk, String> {
        let prompts = Prompts::built_in().map_err(|faults| format!("{faults:?}"))?;
        Ok(Talk { prompts, locale: "en".to_owned(), agent_planning: false, template_prompts: false })
    }
    async fn gateway(&self) -> Result<Gateway, String> {
        Ok(Gateway::new(Arc::new(Parrot)).with(Protocol::OpenaiChat, Arc::new(Parrot)))
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_task_is_three_commits_and_two_reads() {
    let mut counted = Vec::new();
    for tasks in [1, 2] {
        let mut world = World::new();
        world.engine = world.engine.having(Runners::none().with_models(Arc::new(Models::new(Parrot))));
        let task = |n: u32| {
            format!(
                "  - {{id: t{n}, depends_on: [{}], model: {{instruction: Say {n}.}}}}\n",
                if n == 0 { String::new() } else { format!("t{}", n - 1) }
            )
        };
        let tasks: String = (0..tasks).map(task).collect();
        let plan = world.create(&format!("title: Ask\ntasks:\n{tasks}")).await;
        world.store.asked();
        assert_eq!(world.run(&plan).await, completed());
        counted.push(world.store.asked());
    }
    let more = |what: &str| {
        let count = |at: usize| counted[at].get(what).copied().unwrap_or_default();
        count(1) - count(0)
    };
    // That it is asked, while it is; the reply, before anything else; the turn that ends it and begins the next.
    assert_eq!((more("record_effects"), more("append")), (2, 1), "{counted:?}");
    // Whether it was asked before in this plan, and what this attempt did before.
    assert_eq!((more("recall"), more("effects")), (1, 1), "{counted:?}");
    assert_eq!(more("load") + more("turns") + more("get_blob") + more("put_blob"), 0, "{counted:?}");
}
