//! `agent`: a model works in a bounded loop.
//!
//! | Strategy | What it does |
//! | --- | --- |
//! | `react` | thinks, calls a tool, observes, until it is finished ([`react`]) |
//! | `tot` | makes several candidates, keeps the best, and makes it better ([`tree`]) |
//! | `reflexion` | works as `react`, has the result criticised, and works again with what was learned ([`reflexion`]) |
//!
//! Tools are capabilities of this program, behind the same guards as if the plan had called them ([`tools`]).
//!
//! Invariant: every loop has a limit, and every turn is a note in the life of the plan.
//! Invariant: an attempt that another process takes up repeats no call that was answered, and makes no call a second
//! time that may have happened and is not safe to repeat.

mod example; // in reading order
mod tools;
mod react;
mod tree;
mod reflexion;
mod broken_off;

pub(crate) use reflexion::{criticise, critique_of};

use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::plan::{Action, Agent, Strategy};
use gantry_core::policy::{Budget, FailureClass};
use gantry_llm::Answer;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::approval::Held;
use crate::model::{kept, outputs_of, shape_of, told};
use crate::models::{Asker, Models, Question};
use crate::policy::{for_a_person, wrong};
use crate::ports::Ports;
use crate::registry::Runners;
use crate::runner::{Ended, Preview, Runner};
use crate::text::shortened;
use crate::work::{Place, Work};
use tools::{Around, Tools};

/// How many turns an agent takes when nothing else is said.
const TURNS: u32 = 20;
/// More turns than this are never taken.
const TURNS_MAX: u32 = 200;
/// How many candidates there are at once when nothing else is said.
const WIDTH: u32 = 3;
/// More candidates than this are never made at once.
const WIDTH_MAX: u32 = 16;
/// How often candidates or attempts are made better when nothing else is said.
const DEPTH: u32 = 2;
/// They are never made better more often than this.
const DEPTH_MAX: u32 = 10;

/// Lets a model work in a bounded loop.
pub struct Agents {
    models: Arc<Models>,
    tools: Runners,
}

impl Agents {
    /// Lets these models work with these tools.
    pub fn new(models: Arc<Models>, tools: Runners) -> Self {
        Self { models, tools }
    }
}

/// One agent at work.
pub(crate) struct Job<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) asker: Asker<'a>,
    pub(crate) tools: Tools<'a>,
}

impl Job<'_> {
    /// Says something that is kept in the life of the plan.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        self.asker.ports.watch.alive(shortened(text.as_ref(), 500), Vec::new());
    }

    /// Makes the result of what was found: the fields that the task declares, or a text.
    pub(crate) async fn hand_over(&self, found: &str, answer: &Answer) -> Result<Outputs, Failure> {
        let Some(shape) = shape_of("result", &self.asker.work.brief.outputs) else {
            let text = ("text".to_owned(), json!(found));
            return Ok(Outputs::from([text, ("answered_by".to_owned(), json!(answer.model))]));
        };
        let mut inputs = told(self.asker.work, ("instruction", &self.agent.goal));
        inputs.insert("before".to_owned(), json!(found));
        let sample = self.asker.work.attempt.0.saturating_sub(1);
        let role = self.agent.role.clone();
        let question = Question { shape: Some(shape), role, sample, ..Question::of("task", inputs) };
        Ok(outputs_of(self.asker.ask(question).await?))
    }

    pub(crate) fn turns_max(&self) -> u32 {
        turns_max(self.agent)
    }

    /// How many candidates at once.
    pub(crate) fn width(&self) -> u32 {
        width(self.agent, &self.asker.work.may_spend)
    }

    pub(crate) fn depth(&self) -> u32 {
        depth(self.agent, &self.asker.work.may_spend)
    }
}

fn turns_max(agent: &Agent) -> u32 {
    agent.max_turns.unwrap_or(TURNS).clamp(1, TURNS_MAX)
}

/// How many candidates at once: no more than the budget has branches.
fn width(agent: &Agent, budget: &Budget) -> u32 {
    agent.width.unwrap_or(WIDTH).clamp(1, WIDTH_MAX).min(budget.branches.unwrap_or(u32::MAX).max(1))
}

fn depth(agent: &Agent, budget: &Budget) -> u32 {
    agent.depth.unwrap_or(DEPTH).clamp(1, DEPTH_MAX).min(budget.depth.unwrap_or(u32::MAX).max(1))
}

/// A question like those that an agent asks, and how many it asks at most.
pub(crate) fn first_question(agent: &Agent, work: &Work) -> (Question<'static>, u32) {
    let (turns, width, depth) = (turns_max(agent), width(agent, &work.may_spend), depth(agent, &work.may_spend));
    // What was found is put into the fields that the task declares.
    let handing_over = u32::from(!work.brief.outputs.is_empty());
    let questions_max = match agent.strategy {
        Strategy::React => turns + handing_over,
        // Each level makes candidates and has them scored.
        Strategy::Tot => depth * (width + 1),
        // Each round works, is criticised and learns.
        Strategy::Reflexion => (depth + 1) * (turns + handing_over + 2),
    };
    let role = Some(agent.role.clone().unwrap_or_else(|| "agent".to_owned()));
    (Question { role, ..Question::of("task", told(work, ("instruction", &agent.goal))) }, questions_max)
}

fn agent_of(work: &Work) -> Result<&Agent, Failure> {
    match &work.action {
        Action::Agent(agent) => Ok(agent),
        other => Err(wrong(format!("an agent does not do `{}`", other.key()))),
    }
}

#[async_trait]
impl Runner for Agents {
    fn names(&self) -> &'static [&'static str] {
        &["agent"]
    }

    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        let agent = agent_of(work)?;
        let allowed = place.policies().all(|policy| policy.agent_planning);
        if !allowed && !self.models.talk()?.agent_planning {
            let message = "agents may not work by themselves here; allow it with `policy: {agent_planning: true}` in the \
                           plan, or `agent_planning = true` in gantry.toml";
            return Err(Failure::new(FailureClass::Policy, message));
        }
        if agent.strategy == Strategy::Tot && !agent.tools.is_empty() {
            return Err(wrong(
                "`strategy: tot` makes candidates out of words and calls no tools; leave out `tools`, or use \
                 `strategy: react`",
            ));
        }
        let callable = agent.tools.iter().try_for_each(|name| self.tools.get(name)?.callable(name));
        callable.map_err(for_a_person)
    }

    async fn preview(&self, work: &Work, _place: &Place) -> Result<Preview, Failure> {
        let agent = agent_of(work)?;
        let tools = if agent.tools.is_empty() { "no tools".to_owned() } else { agent.tools.join(", ") };
        let turns = agent.max_turns.unwrap_or(TURNS);
        let text =
            format!("would let a model work for up to {turns} turns with {tools}: {}", shortened(&agent.goal, 200));
        Ok(Preview { text, diff: None })
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        let end = async {
            let agent = agent_of(work)?;
            let held = Held::before(work, ports).await?;
            let around = Around { runners: &self.tools, work, place, ports, stop, held: held.as_ref() };
            // Whoever was held says again what was said before, and so gets the answers that there are.
            let taken_up = match held.as_ref().and_then(|held| held.taken_up(work)) {
                Some(begun) => Some(begun),
                None => broken_off::taken_up(work, ports).await?,
            };
            let begun = taken_up.as_ref().unwrap_or(work);
            let tools = Tools::of(agent, around, begun).await?;
            let asker = Asker::new(&self.models, begun, (place, ports, stop));
            let job = Job { agent, asker, tools };
            let ended = match agent.strategy {
                Strategy::React => react::run(&job, &[]).await,
                Strategy::Tot => tree::run(&job).await,
                Strategy::Reflexion => reflexion::run(&job).await,
            };
            if let Err(failure) = &ended
                && !job.asker.is_settled()
            {
                broken_off::note(failure, work, begun, ports).await?;
            }
            let outputs: Outputs = ended?;
            let artifacts = kept(&job.asker, &outputs).await?;
            Ok(Success { outputs, artifacts, shortfall: job.asker.shortfall(), ..Success::default() })
        };
        let end = end.await;
        Ended { usage: ports.calls.used().await.unwrap_or_default(), ..Ended::with(end) }
    }

    async fn undo(&self, work: &Work, place: &Place, ports: &Ports, record: &Value) -> Result<String, String> {
        self.tools.undo(work, place, ports, record).await
    }
}
