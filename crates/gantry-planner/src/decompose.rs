//! Breaks tasks down into smaller ones, breadth first: whoever proposes is asked about one task at a time, and what it
//! proposes is taken in by rules that are the same for every model.
//!
//! - `depth` 1 is exactly one level of new tasks.
//! - `budget` counts the tasks that are made.
//! - A task about which nothing more is to be said ends its own branch, and no other.
//! - A task that has children already is not asked about; its children are, as far as the depth goes. So whoever asks
//!   once more goes on where it ended.
//! - Siblings name each other by keys of their own; what cannot be kept is told ([`Left`]), never dropped.
//! - There is always a reason why it ended, and a run in which nobody answered has failed.

mod settings; // in reading order
mod tree;
mod research;
mod runner;

use std::collections::{BTreeSet, VecDeque};
use std::ops::RangeInclusive;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use runner::{Decomposer, TOOL};
pub use settings::{BadSetting, Settings};
pub use tree::{Node, Tree};

/// How the offline model's names begin.
const OFFLINE: &str = "gantry-offline";

/// How many tasks are asked about at once.
const ASKED_AT_ONCE: usize = 8;

/// Proposes how a task is broken down.
#[async_trait]
pub trait Proposer: Sync {
    /// Proposes children. `again` counts how often the same was asked before.
    async fn propose(&self, asked: &Asked<'_>, again: u32) -> Result<Proposal, Failure>;
}

/// What is asked about one task.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Everything that there is.
    pub tree: &'a Tree,
    /// The task; none asks for the first tasks of an empty plan.
    pub target: Option<&'a str>,
    /// How many levels below it may still be made.
    pub levels: u32,
    /// How many tasks may still be made.
    pub budget: u32,
    /// How they are to be.
    pub settings: &'a Settings,
}

impl Asked<'_> {
    /// How few and how many children are asked for: no more than there is room for.
    pub fn children(&self) -> RangeInclusive<u32> {
        let most = self.settings.children_max.min(self.budget);
        self.settings.children_min.min(most)..=most
    }
}

/// What is proposed for one task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// It is not to be broken down.
    #[serde(default)]
    pub should_stop: bool,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// The smaller tasks, in order.
    #[serde(default)]
    pub children: Vec<Child>,
    /// What was looked up about the task before, by code and not by whoever proposes.
    #[serde(skip)]
    pub looked_up: Option<LookedUp>,
}

/// What came of looking something up about a task.
#[derive(Clone, Debug, PartialEq)]
pub enum LookedUp {
    /// What is known about it now, as a task keeps it.
    Found(Map<String, Value>),
    /// Why nothing was found.
    Not(String),
}

/// What was found out about a task before it was broken down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Researched {
    /// The task; empty for the plan itself.
    pub task: String,
    /// `combined`, `sections` and `meta`, as a task keeps what is known about it.
    pub context: Map<String, Value>,
}

/// A task that is proposed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Child {
    /// What its siblings call it.
    #[serde(default)]
    pub key: String,
    /// What people call it.
    pub name: String,
    /// What is to be done.
    #[serde(default)]
    pub instruction: String,
    /// What it waits for: keys of siblings, or ids of tasks that are there.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// It needs no breaking down.
    #[serde(default)]
    pub leaf: bool,
    /// What is known about it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decomposition {
    /// The plan.
    pub plan_id: String,
    /// The whole plan, or one task.
    pub mode: Mode,
    /// The task it began with; none for the whole plan.
    pub root_node_id: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it ended.
    pub stopped_reason: String,
    /// The tasks that were asked about.
    pub processed_nodes: Vec<String>,
    /// What was made.
    pub created_tasks: Vec<Node>,
    /// The tasks about which nobody answered.
    pub failed_nodes: Vec<Failed>,
    /// The tasks that are not to be broken down, and why.
    pub stopped_nodes: Vec<Stopped>,
    /// What was proposed and not kept, and why.
    pub left_out: Vec<Left>,
    /// What was found out about tasks before they were broken down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub researched: Vec<Researched>,
    /// The models that answered.
    #[serde(default)]
    pub answered_by: BTreeSet<String>,
    /// Why the offline model answered instead of another one, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// In numbers.
    pub stats: Stats,
}

impl Decomposition {
    /// Tells whether nothing came of it and no model was there to answer but the offline one.
    pub fn is_offline_and_empty(&self) -> bool {
        let offline = |model: &String| model.starts_with(OFFLINE);
        self.created_tasks.is_empty() && !self.answered_by.is_empty() && self.answered_by.iter().all(offline)
    }
}

/// Where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// At the roots.
    PlanBfs,
    /// At one task.
    SingleNode,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything was asked about, and answered.
    Finished,
    /// The budget ended first.
    Exhausted,
    /// About some tasks nobody answered.
    Incomplete,
    /// Nobody answered at all.
    Failed,
}

/// A task about which nobody answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The task; empty for the plan itself.
    pub id: String,
    /// Why not.
    pub why: String,
}

/// A task that is not to be broken down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The task; empty for the plan itself.
    pub id: String,
    /// Why not.
    pub reason: String,
}

/// Something that was proposed and not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// For which task it was proposed: one that was made, or the one that was asked about.
    pub task: String,
    /// What it is.
    pub what: String,
    /// Why it was not kept.
    pub why: String,
}

/// A breakdown in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// How many tasks could be made.
    pub node_budget: u32,
    /// How many were.
    pub consumed_budget: u32,
    /// How many tasks were not asked about any more.
    pub queue_remaining: u32,
    /// How often someone was asked.
    pub llm_calls: u32,
    /// How many tasks were given what was found out about them.
    pub enriched_nodes: u32,
}

/// Breaks a task down, or with none the whole plan, and gives the tree as it is then.
pub async fn decompose(
    plan: &str,
    mut tree: Tree,
    target: Option<&str>,
    settings: &Settings,
    proposer: &dyn Proposer,
) -> (Tree, Decomposition) {
    let mode = if target.is_some() { Mode::SingleNode } else { Mode::PlanBfs };
    let mut run = Run {
        queue: tree.beginning(target, settings),
        is_at_depth: false,
        made: Decomposition {
            plan_id: plan.to_owned(),
            mode,
            root_node_id: target.map(str::to_owned),
            outcome: Outcome::Finished,
            stopped_reason: String::new(),
            processed_nodes: Vec::new(),
            created_tasks: Vec::new(),
            failed_nodes: Vec::new(),
            stopped_nodes: Vec::new(),
            left_out: Vec::new(),
            researched: Vec::new(),
            answered_by: BTreeSet::new(),
            degraded: None,
            stats: Stats { node_budget: settings.budget, ..Stats::default() },
        },
    };
    while run.goes_on() {
        run.round(&mut tree, settings, proposer).await;
    }
    (tree, run.ended())
}

/// A task to ask about: its id (none is the plan itself), and how many levels may be made below it.
type Due = (Option<String>, u32);

struct Run {
    queue: VecDeque<Due>,
    /// A task was made that is as deep as any may be.
    is_at_depth: bool,
    made: Decomposition,
}

impl Run {
    fn left(&self) -> u32 {
        self.made.stats.node_budget - self.made.stats.consumed_budget
    }

    fn goes_on(&self) -> bool {
        !self.queue.is_empty() && self.left() > 0
    }

    /// Asks about the next tasks at once, no more of them than the budget may have room for, and takes in the answers
    /// in order.
    async fn round(&mut self, tree: &mut Tree, settings: &Settings, proposer: &dyn Proposer) {
        let room = self.left().div_ceil(settings.children_max.max(1)) as usize;
        let due: Vec<Due> = self.queue.drain(..self.queue.len().min(room).min(ASKED_AT_ONCE)).collect();
        let budget = self.left();
        let answers = futures_util::future::join_all(due.iter().map(|(id, levels)| {
            let asked = Asked { tree, target: id.as_deref(), levels: *levels, budget, settings };
            answer(asked, proposer)
        }))
        .await;
        for ((id, levels), (asked, answer)) in due.into_iter().zip(answers) {
            self.made.stats.llm_calls += asked;
            let name = id.clone().unwrap_or_default();
            match answer {
                Err(failure) => self.made.failed_nodes.push(Failed { id: name, why: failure.message }),
                Ok(proposal) => self.take(tree, (id, levels), proposal, settings),
            }
        }
    }

    fn take(&mut self, tree: &mut Tree, (id, levels): Due, proposal: Proposal, settings: &Settings) {
        let name = id.clone().unwrap_or_default();
        self.made.processed_nodes.push(name.clone());
        match proposal.looked_up {
            Some(LookedUp::Found(context)) => self.research(tree, &name, context),
            Some(LookedUp::Not(why)) => {
                self.made.left_out.push(Left { task: name.clone(), what: "what was to be looked up".to_owned(), why });
            }
            None => {}
        }
        if proposal.should_stop || proposal.children.is_empty() {
            let own = proposal.reason.trim();
            let reason = match (own.is_empty(), proposal.should_stop) {
                (false, _) => own,
                (true, true) => "llm_requested_stop",
                (true, false) => "empty_children",
            };
            return self.made.stopped_nodes.push(Stopped { id: name, reason: reason.to_owned() });
        }
        let room = (self.left() as usize).min(settings.children_max as usize);
        let (kept, left) = tree.grow(id.as_deref(), proposal.children, room);
        self.made.left_out.extend(left);
        for (node, leaf) in kept {
            self.made.stats.consumed_budget += 1;
            self.is_at_depth |= levels == 1;
            if levels > 1 && !leaf {
                self.queue.push_back((Some(node.id.clone()), levels - 1));
            }
            self.made.created_tasks.push(node);
        }
    }

    /// Keeps what was found out about a task, also with the task itself, if it is a new one.
    fn research(&mut self, tree: &mut Tree, task: &str, context: Map<String, Value>) {
        let new = self.made.created_tasks.iter_mut().chain(&mut tree.nodes);
        new.filter(|node| node.id == task).for_each(|node| node.context.extend(context.clone()));
        self.made.researched.push(Researched { task: task.to_owned(), context });
    }

    fn ended(mut self) -> Decomposition {
        let made = &mut self.made;
        let enriched = made.researched.iter().map(|one| one.task.as_str());
        let enriched = enriched
            .chain(made.created_tasks.iter().filter(|node| !node.context.is_empty()).map(|node| node.id.as_str()));
        made.stats.enriched_nodes = u32::try_from(enriched.collect::<BTreeSet<_>>().len()).unwrap_or(u32::MAX);
        made.stats.queue_remaining = u32::try_from(self.queue.len()).unwrap_or(u32::MAX);
        let answered = !made.processed_nodes.is_empty();
        (made.outcome, made.stopped_reason) = if !answered && made.failed_nodes.is_empty() {
            (Outcome::Finished, "nothing_to_break_down".to_owned())
        } else if !answered {
            (Outcome::Failed, format!("nobody answered: {}", made.failed_nodes[0].why))
        } else if !made.failed_nodes.is_empty() {
            (Outcome::Incomplete, "some_nodes_failed".to_owned())
        } else if made.stats.queue_remaining > 0 || made.left_out.iter().any(|left| left.why == tree::NO_ROOM) {
            (Outcome::Exhausted, "node_budget_exhausted".to_owned())
        } else if let Some(first) = made.stopped_nodes.first().filter(|_| made.created_tasks.is_empty()) {
            (Outcome::Finished, first.reason.clone())
        } else if self.is_at_depth {
            (Outcome::Finished, "depth_reached".to_owned())
        } else {
            (Outcome::Finished, "all_leaves".to_owned())
        };
        self.made
    }
}

/// Asks, and again as often as the settings say; gives how often, and what came.
async fn answer(asked: Asked<'_>, proposer: &dyn Proposer) -> (u32, Result<Proposal, Failure>) {
    let mut again = 0;
    loop {
        match proposer.propose(&asked, again).await {
            Err(_) if again < asked.settings.retries => again += 1,
            answer => return (again + 1, answer),
        }
    }
}

/// What is wrong with a proposal, in words for whoever proposed it. Whoever proposes more than there is room for has done
/// nothing wrong: what is over is told ([`Left`]).
pub fn faults(proposal: &Proposal, asked: &Asked<'_>) -> Vec<String> {
    let (count, settings) = (proposal.children.len(), asked.settings);
    let mut faults = Vec::new();
    if proposal.should_stop || (count == 0 && settings.stop_on_empty) {
        return faults;
    }
    let there_are = if count == 1 { "there is 1 child".to_owned() } else { format!("there are {count} children") };
    let least = *asked.children().start();
    if count < least as usize {
        faults.push(format!("{there_are}; propose at least {least}, or say `should_stop` and why"));
    }
    if count > settings.children_max as usize {
        faults.push(format!("{there_are}; propose at most {}", settings.children_max));
    }
    let mut keys = BTreeSet::new();
    for child in &proposal.children {
        if child.name.trim().is_empty() {
            faults.push("a child has no name".to_owned());
        }
        if !child.key.is_empty() && !keys.insert(&child.key) {
            faults.push(format!("two children have the key `{}`", child.key));
        }
    }
    faults
}
