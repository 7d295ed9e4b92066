//! `plan.decompose`: breaks tasks down by asking models, as a step of plans or for a plan that is there.
//!
//! It ends well even when nobody answered, with `result.outcome` saying `failed`: whoever calls it says in a criterion
//! whether that will do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_core::plan::Plan;
use gantry_core::policy::FailureClass;
use gantry_runners::ports::Ports;
use gantry_runners::work::{Place, Work};
use gantry_runners::{Asker, Ended, Models, Preview, Question, Runner, Runners};
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::research::Search;
use super::{Asked, BadSetting, Decomposition, LookedUp, Node, Proposal, Proposer, Settings, Tree, decompose, faults};
use crate::facts::{self, Facts};

/// The name of the tool.
pub const TOOL: &str = "plan.decompose";

/// What a model is asked.
const PROMPT: &str = "outline/decompose";

/// Breaks tasks down by asking models.
pub struct Decomposer {
    models: Arc<Models>,
    settings: Result<Settings, BadSetting>,
    tools: Runners,
}

/// What is to be broken down, and how.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The tasks that there are; none begins with nothing.
    #[serde(default)]
    tree: Tree,
    /// The task; none means the whole plan.
    #[serde(default)]
    target: Option<String>,
    /// What is certain about what is wanted, where that is known.
    #[serde(default)]
    facts: Value,
    /// The day that tasks are read on; none knows nothing about them but what `facts` says.
    #[serde(default)]
    today: Option<Date>,
    /// How; what is not said is as this program was told.
    #[serde(default)]
    settings: Map<String, Value>,
}

impl Decomposer {
    /// Asks these models, and may look things up with these tools; what a call does not say is as these settings say. Where
    /// they cannot be read, every call is told so.
    pub fn new(models: Arc<Models>, settings: Result<Settings, BadSetting>, tools: Runners) -> Self {
        Self { models, settings, tools }
    }

    fn wanted(&self, work: &Work) -> Result<(Wanted, Settings), Failure> {
        let wrong =
            |why: String| Failure::new(FailureClass::Logic, format!("`{TOOL}` cannot be called like this: {why}"));
        let args: Map<String, Value> = work.args().into_iter().filter(|(_, value)| !value.is_null()).collect();
        let mut wanted: Wanted =
            serde_json::from_value(Value::Object(args)).map_err(|error| wrong(error.to_string()))?;
        if let Some(target) = wanted.target.as_deref().filter(|target| wanted.tree.node(target).is_none()) {
            return Err(wrong(format!("there is no task `{target}` in its `tree`")));
        }
        let fact = |name: &str| wanted.facts[name].as_str().unwrap_or_default().to_owned();
        if wanted.tree == Tree::default() {
            wanted.tree = Tree { title: fact("title"), goal: fact("request"), nodes: Vec::new() };
        }
        if let Some(today) = wanted.today.filter(|_| wanted.facts.is_null()) {
            wanted.facts = facts_of(wanted.tree.aim().to_owned(), today);
        }
        let settings = self.settings.as_ref().map_err(|bad| wrong(bad.to_string()))?;
        let settings = settings.with(&wanted.settings).map_err(wrong)?;
        Ok((wanted, settings))
    }
}

#[async_trait]
impl Runner for Decomposer {
    fn names(&self) -> &'static [&'static str] {
        &[TOOL]
    }

    fn asks_models(&self) -> bool {
        true
    }

    fn guard(&self, work: &Work, _place: &Place) -> Result<(), Failure> {
        self.wanted(work).map(drop)
    }

    async fn preview(&self, work: &Work, _place: &Place) -> Result<Preview, Failure> {
        let (wanted, Settings { depth, budget, .. }) = self.wanted(work)?;
        let what = wanted.target.map_or_else(|| "the plan".to_owned(), |target| format!("`{target}`"));
        Ok(Preview {
            text: format!("would break {what} down, {depth} levels deep, into at most {budget} tasks"),
            diff: None,
        })
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        let asker = Asker::new(&self.models, work, (place, ports, stop));
        let end = async {
            let (Wanted { tree, target, facts, today, .. }, settings) = self.wanted(work)?;
            let tool = settings.search.as_deref();
            let search =
                tool.map(|tool| Search { asker: &asker, tools: &self.tools, tool, at: (work, place, ports, stop) });
            let (looked_up, answered_by) = (Mutex::default(), Mutex::default());
            let own = own_facts(&tree, today);
            let proposer = ByModel { asker: &asker, facts, own, search, looked_up, answered_by };
            let (tree, made) = decompose(work.plan.as_str(), tree, target.as_deref(), &settings, &proposer).await;
            let answered_by = proposer.answered_by.into_inner();
            outputs(&tree, &Decomposition { answered_by, degraded: asker.shortfall(), ..made })
        };
        let end = end.await.map(|success: Success| Success { shortfall: asker.shortfall(), ..success });
        Ended { usage: ports.calls.used().await.unwrap_or_default(), ..Ended::with(end) }
    }
}

/// The result in full, and what was made as a plan that others can take in.
fn outputs(tree: &Tree, made: &Decomposition) -> Result<Success, Failure> {
    let broken = |error: serde_json::Error| Failure::new(FailureClass::Logic, error.to_string());
    let plan = Plan {
        title: tree.title.clone(),
        objective: tree.goal.clone(),
        tasks: made.created_tasks.iter().map(Node::task).collect(),
        ..Plan::default()
    };
    let outputs = BTreeMap::from([
        ("result".to_owned(), serde_json::to_value(made).map_err(broken)?),
        ("plan".to_owned(), serde_json::to_value(plan).map_err(broken)?),
    ]);
    Ok(Success { outputs: outputs.into_iter().collect(), ..Success::default() })
}

/// What is certain about what words ask for; nothing where they cannot be planned.
fn facts_of(words: String, today: Date) -> Value {
    let facts = Facts::of(&facts::Asked::new(words, today)).ok();
    facts.and_then(|facts| serde_json::to_value(facts).ok()).unwrap_or_default()
}

/// What is certain about each task that is there, by its own words.
fn own_facts(tree: &Tree, today: Option<Date>) -> BTreeMap<String, Value> {
    let Some(today) = today else { return BTreeMap::new() };
    let own = |node: &Node| (node.id.clone(), facts_of(format!("{}. {}", node.name, node.instruction), today));
    tree.nodes.iter().map(own).collect()
}

/// Asks a model what it proposes.
struct ByModel<'a> {
    asker: &'a Asker<'a>,
    facts: Value,
    /// What is certain about tasks that were there before.
    own: BTreeMap<String, Value>,
    /// What looks things up, where something is to.
    search: Option<Search<'a>>,
    /// What was looked up already.
    looked_up: Mutex<BTreeMap<String, Option<LookedUp>>>,
    /// The models that answered.
    answered_by: Mutex<BTreeSet<String>>,
}

impl ByModel<'_> {
    /// What can be looked up about a task; whoever asks again is told the same.
    async fn look_up(&self, asked: &Asked<'_>) -> Option<LookedUp> {
        let search = self.search.as_ref()?;
        let id = asked.target.unwrap_or_default().to_owned();
        if let Some(known) = self.looked_up.lock().await.get(&id) {
            return known.clone();
        }
        let mut inputs = inputs(asked, self.facts_of(asked));
        for other in ["limits", "facts"] {
            inputs.remove(other);
        }
        let found = search.look_up(inputs, asked.settings.model.clone()).await;
        self.looked_up.lock().await.insert(id, found.clone());
        found
    }

    /// What is certain about a task: what its own words say, or those of the nearest around it that was there before.
    fn facts_of(&self, asked: &Asked<'_>) -> &Value {
        let around = |id: &&str| asked.tree.node(id).and_then(|node| node.parent.as_deref());
        let mut ids = std::iter::successors(asked.target, around);
        ids.find_map(|id| self.own.get(id)).unwrap_or(&self.facts)
    }
}

#[async_trait]
impl Proposer for ByModel<'_> {
    async fn propose(&self, asked: &Asked<'_>, again: u32) -> Result<Proposal, Failure> {
        let settings = asked.settings;
        let rules = |value: &Value| match serde_json::from_value::<Proposal>(value.clone()) {
            Ok(proposal) => faults(&proposal, asked),
            Err(error) => vec![error.to_string()],
        };
        let looked_up = self.look_up(asked).await;
        let mut inputs = inputs(asked, self.facts_of(asked));
        if let Some(LookedUp::Found(context)) = &looked_up {
            inputs.insert("research".to_owned(), context.get("combined").cloned().unwrap_or_default());
        }
        let question = Question {
            rules: Some(&rules),
            model: settings.model.clone(),
            sample: again,
            ..Question::of(PROMPT, inputs)
        };
        let answer = self.asker.ask(question).await?;
        self.answered_by.lock().await.insert(answer.model);
        let proposal: Proposal = serde_json::from_value(answer.value.unwrap_or_default())
            .map_err(|error| Failure::new(FailureClass::Logic, format!("what was proposed cannot be read: {error}")))?;
        Ok(Proposal { looked_up, ..proposal })
    }
}

/// What goes into the question.
fn inputs(asked: &Asked<'_>, facts: &Value) -> BTreeMap<String, Value> {
    let Asked { tree, target, levels, .. } = asked;
    let node = target.and_then(|target| tree.node(target));
    let children: Vec<&str> =
        tree.children(*target).filter(|_| node.is_some()).map(|child| child.name.as_str()).collect();
    let target = match node {
        Some(node) => json!({
            "id": node.id, "name": node.name, "instruction": node.instruction, "path": tree.path(&node.id), "children": children,
        }),
        None => json!({"id": "", "name": tree.title, "instruction": tree.goal, "path": [], "children": []}),
    };
    let children_asked = asked.children();
    let limits = json!({
        "children_min": children_asked.start(), "children_max": children_asked.end(), "levels": levels,
        "depth": node.map_or(0, |node| tree.path(&node.id).len()),
    });
    BTreeMap::from([
        ("goal".to_owned(), json!(tree.aim())),
        ("tasks".to_owned(), json!(tree.outline())),
        ("target".to_owned(), target),
        ("limits".to_owned(), limits),
        ("facts".to_owned(), facts.clone()),
    ])
}
