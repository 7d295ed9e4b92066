//! Drawing a plan as a flowchart.
//!
//! Tasks become nodes with a shape for their action, composites become subgraphs, dependencies
//! become arrows, and routes become arrows with the ending that they follow. A route back is
//! dotted and says how often it may be taken.
//!
//! Invariant: the same plan gives the same text, byte for byte, and any plan gives a text that
//! reads as a flowchart, even one that does not pass its own check.

mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, On, Plan, Route, Task};

use names::{escaped, is_plain, node_names};

/// The brackets around a node, by the key of its task's action.
const BRACKETS: &[(&str, (&str, &str))] = &[
    ("gate", ("{{", "}}")),
    ("decide", ("{", "}")),
    ("ask", ("([", "])")),
    ("manual", ("([", "])")),
    ("map", ("[[", "]]")),
    ("plan", ("[[", "]]")),
    ("checkpoint", ("[(", ")]")),
    ("wait", ("((", "))")),
];

/// The brackets around every other node.
const OTHER_BRACKETS: (&str, &str) = ("[", "]");

/// How many levels are indented; deeper ones stand below each other, or the text would grow with
/// the square of the depth.
const INDENT_MAX: usize = 64;

/// What a route says that follows a decision whatever its outcome is.
///
/// `success` on an arrow out of a decision would look like one of its outcomes.
pub(super) const ANY_OUTCOME: &str = "any outcome";

/// Draws the plan.
pub fn export(plan: &Plan) -> String {
    let drawing = Drawing::new(plan);
    let mut out = String::from("flowchart LR\n");
    drawing.write_tree(&mut out);
    for (task, needs) in plan.waits().iter().enumerate() {
        drawing.write_needs(task, needs, &mut out);
        drawing.write_routes(task, &mut out);
    }
    out
}

/// A plan with what is needed to draw it.
struct Drawing<'plan> {
    plan: &'plan Plan,
    /// The name of each task's node.
    names: Vec<String>,
    positions: BTreeMap<&'plan TaskId, usize>,
    children: Vec<Vec<usize>>,
    /// The tasks that nothing contains, and those whose parents do not make a tree.
    roots: Vec<usize>,
    /// Forward routes, as source and target: they stand for a dependency between the two.
    routed: BTreeSet<(usize, usize)>,
}

/// One step of writing the tree.
enum Step {
    Task(usize, usize),
    End(usize),
}

impl<'plan> Drawing<'plan> {
    fn new(plan: &'plan Plan) -> Self {
        let mut positions = BTreeMap::new();
        for (position, task) in plan.tasks.iter().enumerate() {
            positions.entry(&task.id).or_insert(position);
        }
        let mut children = vec![Vec::new(); plan.tasks.len()];
        let mut roots = Vec::new();
        for (position, task) in plan.tasks.iter().enumerate() {
            match task.parent.as_ref().and_then(|parent| positions.get(parent)) {
                Some(parent) => children[*parent].push(position),
                None => roots.push(position),
            }
        }
        let routed = plan
            .tasks
            .iter()
            .enumerate()
            .flat_map(|(from, task)| task.next.iter().map(move |route| (from, route)))
            .filter(|(_, route)| route.max.is_none())
            .filter_map(|(from, route)| Some((from, *positions.get(&route.to)?)))
            .collect();
        let names = node_names(plan);
        Self { plan, names, positions, children, roots, routed }
    }

    /// Writes all tasks, each composite around its children.
    fn write_tree(&self, out: &mut String) {
        let mut written = vec![false; self.plan.tasks.len()];
        self.write_trees(&self.roots, &mut written, out);
        // What is left has parents in a circle.
        let left: Vec<usize> = (0..written.len()).filter(|task| !written[*task]).collect();
        self.write_trees(&left, &mut written, out);
    }

    fn write_trees(&self, roots: &[usize], written: &mut [bool], out: &mut String) {
        let mut steps: Vec<Step> = roots.iter().rev().map(|root| Step::Task(*root, 1)).collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::End(depth) => line(out, depth, "end"),
                Step::Task(task, _) if std::mem::replace(&mut written[task], true) => {}
                Step::Task(task, depth) => {
                    let label = escaped(self.plan.tasks[task].name());
                    let name = &self.names[task];
                    let children = &self.children[task];
                    if children.is_empty() {
                        let (open, close) = brackets(&self.plan.tasks[task]);
                        line(out, depth, &format!("{name}{open}\"{label}\"{close}"));
                    } else {
                        line(out, depth, &format!("subgraph {name}[\"{label}\"]"));
                        steps.push(Step::End(depth));
                        steps.extend(children.iter().rev().map(|child| Step::Task(*child, depth + 1)));
                    }
                }
            }
        }
    }

    /// Writes an arrow from each task that this one waits for.
    fn write_needs(&self, task: usize, needs: &[TaskId], out: &mut String) {
        let name = &self.names[task];
        let mut drawn = BTreeSet::new();
        // A wrong plan is drawn as it is: waiting for itself, too.
        let found = &self.plan.tasks[task];
        let itself = found.depends_on.iter().filter(|need| **need == found.id);
        for need in itself.chain(needs) {
            match self.positions.get(need) {
                Some(from) if self.routed.contains(&(*from, task)) || !drawn.insert(from) => {}
                Some(from) => line(out, 1, &format!("{} --> {name}", self.names[*from])),
                None => line(out, 1, &format!("%% {name} needs {need}, which does not exist")),
            }
        }
    }

    /// Writes the routes out of this task, and where a gate sends work back to.
    fn write_routes(&self, task: usize, out: &mut String) {
        let name = &self.names[task];
        let found = &self.plan.tasks[task];
        for route in &found.next {
            match self.positions.get(&route.to) {
                Some(to) => line(out, 1, &format!("{name} {} {}", arrow(found, route), self.names[*to])),
                None => line(out, 1, &format!("%% {name} goes to {}, which does not exist", route.to)),
            }
        }
        if let Some(Action::Gate(gate)) = &found.action
            && let Some(to) = gate.back_to.as_ref().and_then(|back_to| self.positions.get(back_to))
        {
            let text = with_rounds("needs changes".to_owned(), gate.rounds_max);
            line(out, 1, &format!("{name} {} {}", dotted(&text), self.names[*to]));
        }
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{:indent$}{text}", "", indent = 2 * depth.min(INDENT_MAX));
}

fn brackets(task: &Task) -> (&'static str, &'static str) {
    let key = task.action.as_ref().map(Action::key);
    let known = BRACKETS.iter().find(|(action, _)| Some(*action) == key);
    known.map_or(OTHER_BRACKETS, |(_, brackets)| *brackets)
}

/// Draws a route: `-->|success|`, or `-. needs changes (max 3) .->` for a way back.
fn arrow(task: &Task, route: &Route) -> String {
    let ending = match &route.on {
        On::Success if matches!(task.action, Some(Action::Decide(_))) => ANY_OUTCOME.to_owned(),
        On::Outcome(outcome) if outcome == "needs_changes" => "needs changes".to_owned(),
        on => on.to_string(),
    };
    let text = match &route.when {
        Some(when) => format!("{ending} when {}", when.source()),
        None => ending,
    };
    if route.max.is_some() {
        dotted(&with_rounds(text, route.max))
    } else if is_plain(&text) {
        format!("-->|{text}|")
    } else {
        format!("-->|\"{}\"|", escaped(&text))
    }
}

fn with_rounds(text: String, rounds_max: Option<u32>) -> String {
    match rounds_max {
        Some(rounds_max) => format!("{text} (max {rounds_max})"),
        None => text,
    }
}

fn dotted(text: &str) -> String {
    let without_parentheses = text.replace(['(', ')'], "");
    if is_plain(&without_parentheses) { format!("-. {text} .->") } else { format!("-. \"{}\" .->", escaped(text)) }
}
