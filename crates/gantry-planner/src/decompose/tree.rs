//! The tasks of a plan as they are broken down: who contains whom, who waits for whom, and how new ones join.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gantry_core::id::TaskId;
use gantry_core::plan::{Plan, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Child, Decomposition, Due, Left, Researched, Settings};

/// Why a task that was proposed was not made.
pub(super) const NO_ROOM: &str = "the budget of tasks is used up";

/// How deep, how many and how long the tasks are that an outline shows.
const SHOWN_DEPTH: usize = 5;
const SHOWN_NODES: usize = 80;

/// How many words a name has that is made of what a task is called.
const ID_WORDS_MAX: usize = 6;

/// The tasks of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tree {
    /// What the plan is called.
    pub title: String,
    /// What it is to reach.
    pub goal: String,
    /// Its tasks, every one after the task that contains it.
    pub nodes: Vec<Node>,
}

/// One task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name in the plan.
    pub id: String,
    /// The task that contains it.
    #[serde(default)]
    pub parent: Option<String>,
    /// What people call it.
    pub name: String,
    /// What is to be done.
    #[serde(default)]
    pub instruction: String,
    /// The tasks that it waits for.
    #[serde(default)]
    pub dependencies: Vec<String>,
    /// What is known about it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
}

/// Where what is known about a task is kept.
pub(super) const CONTEXT: &str = "context";

impl From<&Plan> for Tree {
    fn from(plan: &Plan) -> Self {
        let node = |task: &Task| Node {
            id: task.id.to_string(),
            parent: task.parent.as_ref().map(ToString::to_string),
            name: task.name().to_owned(),
            instruction: task.description.clone().or_else(|| task.purpose.clone()).unwrap_or_default(),
            dependencies: task.depends_on.iter().map(ToString::to_string).collect(),
            context: task.metadata.get(CONTEXT).and_then(Value::as_object).cloned().unwrap_or_default(),
        };
        Self { title: plan.title.clone(), goal: plan.objective.clone(), nodes: plan.tasks.iter().map(node).collect() }
    }
}

impl Node {
    /// The task, as it stands in a plan.
    pub fn task(&self) -> Task {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let mut task = Task::new(TaskId::slugged(&self.id));
        task.title.clone_from(&self.name);
        task.description = text(&self.instruction);
        task.parent = self.parent.as_deref().map(TaskId::slugged);
        task.depends_on = self.dependencies.iter().map(|id| TaskId::slugged(id)).collect();
        if !self.context.is_empty() {
            task.metadata.insert(CONTEXT.to_owned(), Value::Object(self.context.clone()));
        }
        task
    }
}

impl Decomposition {
    /// Gives the tasks of a plan what was found out about them.
    pub fn learnt_by(&self, plan: &mut Plan) {
        for Researched { task, context } in &self.researched {
            for known in plan.tasks.iter_mut().filter(|known| known.id.as_str() == task) {
                match known.metadata.get_mut(CONTEXT).and_then(Value::as_object_mut) {
                    Some(before) => before.extend(context.clone()),
                    None => drop(known.metadata.insert(CONTEXT.to_owned(), Value::Object(context.clone()))),
                }
            }
        }
    }
}

impl Tree {
    /// What the plan is to reach; what it is called where that is not said.
    pub fn aim(&self) -> &str {
        if self.goal.is_empty() { &self.title } else { &self.goal }
    }

    /// One task.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// The children of a task, or with none the roots, in order.
    pub fn children<'a>(&'a self, of: Option<&'a str>) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |node| node.parent.as_deref() == of)
    }

    /// The names of a task and those around it, the outermost first.
    pub fn path(&self, id: &str) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = self.node(id);
        while let Some(node) = at.filter(|_| path.len() <= self.nodes.len()) {
            path.push(node.name.as_str());
            at = node.parent.as_deref().and_then(|parent| self.node(parent));
        }
        path.reverse();
        path
    }

    /// The tasks to ask about first.
    pub(super) fn beginning(&self, target: Option<&str>, settings: &Settings) -> VecDeque<Due> {
        let mut due = VecDeque::new();
        let mut look: VecDeque<(Option<String>, u32)> = match target {
            Some(target) => VecDeque::from([(Some(target.to_owned()), settings.depth)]),
            None if self.nodes.is_empty() => return VecDeque::from([(None, settings.depth)]),
            None => self.children(None).map(|root| (Some(root.id.clone()), settings.depth)).collect(),
        };
        while let Some((id, levels)) = look.pop_front() {
            let children: Vec<&Node> = self.children(id.as_deref()).collect();
            if children.is_empty() || settings.allow_existing_children {
                due.push_back((id, levels));
            } else if levels > 1 {
                look.extend(children.iter().map(|child| (Some(child.id.clone()), levels - 1)));
            }
        }
        due
    }

    /// Takes in children of a task, at most so many. Gives those that were taken in, and whether each is small enough as
    /// it is; and whatever could not be kept.
    pub(super) fn grow(
        &mut self,
        parent: Option<&str>,
        children: Vec<Child>,
        room: usize,
    ) -> (Vec<(Node, bool)>, Vec<Left>) {
        let mut left = Vec::new();
        let mut taken: BTreeSet<String> = self.nodes.iter().map(|node| node.id.clone()).collect();
        let mut made: Vec<(Node, Child)> = Vec::new();
        for child in children {
            if made.len() == room {
                let task = parent.unwrap_or_default().to_owned();
                left.push(Left { task, what: format!("the task `{}`", child.name.trim()), why: NO_ROOM.to_owned() });
                continue;
            }
            let id = free(&child, &taken);
            taken.insert(id.clone());
            let node = Node {
                id,
                parent: parent.map(str::to_owned),
                name: child.name.trim().to_owned(),
                instruction: child.instruction.trim().to_owned(),
                dependencies: Vec::new(),
                context: child.context.clone(),
            };
            made.push((node, child));
        }
        let keys: BTreeMap<String, String> = made
            .iter()
            .map(|(node, child)| (child.key.clone(), node.id.clone()))
            .filter(|(key, _)| !key.is_empty())
            .collect();
        let first = self.nodes.len();
        self.nodes.extend(made.iter().map(|(node, _)| node.clone()));
        for (at, (node, child)) in (first..).zip(&made) {
            for wanted in &child.depends_on {
                let other = keys.get(wanted).cloned().or_else(|| self.node(wanted).map(|node| node.id.clone()));
                let why = match &other {
                    None => Some("there is no such task".to_owned()),
                    Some(other) if *other == node.id => Some("it is the task itself".to_owned()),
                    Some(other) => self.why_not(&node.id, other),
                };
                match (other, why) {
                    (_, Some(why)) => {
                        left.push(Left { task: node.id.clone(), what: format!("the dependency on `{wanted}`"), why });
                    }
                    (Some(other), None) if !self.nodes[at].dependencies.contains(&other) => {
                        self.nodes[at].dependencies.push(other);
                    }
                    (_, None) => {}
                }
            }
        }
        let kept = (first..).zip(made).map(|(at, (_, child))| (self.nodes[at].clone(), child.leaf)).collect();
        (kept, left)
    }

    /// Why a task cannot wait for another one, when it cannot.
    fn why_not(&self, id: &str, other: &str) -> Option<String> {
        let around = |of: &str| {
            std::iter::successors(self.node(of).and_then(|node| node.parent.as_deref()), |above| {
                self.node(above).and_then(|node| node.parent.as_deref())
            })
        };
        if around(id).any(|above| above == other) {
            return Some("it is a part of that task, which is over only after its parts".to_owned());
        }
        // Whoever waits for the other one waits for everything that the other one waits for.
        let (mut seen, mut look) = (BTreeSet::from([other]), vec![other]);
        while let Some(at) = look.pop() {
            if at == id {
                return Some("they would wait for each other".to_owned());
            }
            let waits = std::iter::once(at).chain(around(at)).filter_map(|at| self.node(at));
            let waits = waits.flat_map(|node| node.dependencies.iter().map(String::as_str));
            let parts = self.children(Some(at)).map(|part| part.id.as_str());
            look.extend(waits.chain(parts).filter(|next| seen.insert(next)));
        }
        None
    }

    /// The tasks as lines, as far as there is room, for whoever has to know what there is.
    pub fn outline(&self) -> String {
        let mut lines = Vec::new();
        self.draw(None, 0, &mut lines);
        let more = self.nodes.len().saturating_sub(lines.len());
        if more > 0 {
            lines.push(format!("… and {more} more"));
        }
        lines.join("\n")
    }

    fn draw(&self, of: Option<&str>, depth: usize, lines: &mut Vec<String>) {
        for node in self.children(of) {
            if lines.len() >= SHOWN_NODES || depth >= SHOWN_DEPTH {
                return;
            }
            lines.push(format!("{}- {} (`{}`)", "  ".repeat(depth), node.name, node.id));
            self.draw(Some(&node.id), depth + 1, lines);
        }
    }
}

/// A name for a new task that no other has: its key, or the first words of what it is called.
fn free(child: &Child, taken: &BTreeSet<String>) -> String {
    let words: Vec<&str> = child.name.split_whitespace().take(ID_WORDS_MAX).collect();
    let wanted = match child.key.trim() {
        "" => TaskId::slugged(&words.join(" ").to_lowercase()),
        key => TaskId::slugged(&key.to_lowercase()),
    };
    let mut numbers = 2..;
    let mut id = wanted.clone();
    while taken.contains(id.as_str()) {
        id = wanted.with_ending(&format!("-{}", numbers.next().unwrap_or(u32::MAX)));
    }
    id.to_string()
}
