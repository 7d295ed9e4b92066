//! The tasks of the plan, before anything connects them.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::id::TaskId;
use gantry_core::plan::Task;

use super::Notes;
use super::words::plain_text;
use crate::mermaid::chart::{FlowNode, Flowchart, Span, Subgraph};

/// How many characters of an id are kept, so that a number still fits behind them.
const ID_CHARS_KEPT: usize = 90;

/// The tasks so far. Positions in all lists are the same.
pub(super) struct Draft {
    pub(super) tasks: Vec<Task>,
    pub(super) parents: Vec<Option<usize>>,
    pub(super) spans: Vec<Span>,
    /// The node that a task was; none when it was a subgraph.
    pub(super) nodes: Vec<Option<usize>>,
    /// The task of each id in the chart.
    pub(super) by_chart_id: BTreeMap<String, usize>,
}

/// A node or a subgraph.
enum Part<'chart> {
    Node(usize, &'chart FlowNode),
    Subgraph(usize, &'chart Subgraph),
}

impl Part<'_> {
    fn span(&self) -> &Span {
        match self {
            Self::Node(_, node) => &node.span,
            Self::Subgraph(_, subgraph) => &subgraph.span,
        }
    }
}

impl Draft {
    /// Makes a task of each node and subgraph, in the order of the chart.
    pub(super) fn new(chart: &Flowchart, notes: &mut Notes) -> Self {
        let nodes = chart.nodes.iter().enumerate().map(|(position, node)| Part::Node(position, node));
        let subgraphs =
            chart.subgraphs.iter().enumerate().map(|(position, subgraph)| Part::Subgraph(position, subgraph));
        let mut parts: Vec<Part<'_>> = nodes.chain(subgraphs).collect();
        parts.sort_by_key(|part| part.span().start);

        let mut draft = Self {
            tasks: Vec::new(),
            parents: Vec::new(),
            spans: Vec::new(),
            nodes: Vec::new(),
            by_chart_id: BTreeMap::new(),
        };
        // An id that is fine as it is belongs to the node that has it, wherever it stands.
        let keep = chart.nodes.iter().filter_map(|node| TaskId::new(&node.id).ok()).collect();
        let mut ids = Ids { keep, ..Ids::default() };
        let mut of_subgraph = vec![0; chart.subgraphs.len()];
        for part in &parts {
            let position = draft.tasks.len();
            let (chart_id, label, id) = match part {
                Part::Node(_, node) => {
                    (&node.id, node.label.as_deref(), ids.unique(&node.id, node.label.as_deref().unwrap_or_default()))
                }
                Part::Subgraph(number, subgraph) => {
                    of_subgraph[*number] = position;
                    (&subgraph.id, Some(subgraph.title.as_str()), ids.unique(named_id(subgraph), &subgraph.title))
                }
            };
            if id.as_str() != chart_id && matches!(part, Part::Node(..)) {
                notes.add(part.span(), format!("`{chart_id}` is called `{id}` in the plan"));
            }
            let mut task = Task::new(id);
            task.title = title(chart_id, label, &task.id, part.span(), notes);
            draft.tasks.push(task);
            draft.spans.push(part.span().clone());
            draft.nodes.push(match part {
                Part::Node(number, _) => Some(*number),
                Part::Subgraph(..) => None,
            });
            draft.by_chart_id.entry(chart_id.clone()).or_insert(position);
        }
        draft.settle_parents(chart, &of_subgraph, notes);
        draft
    }

    fn settle_parents(&mut self, chart: &Flowchart, of_subgraph: &[usize], notes: &mut Notes) {
        self.parents = vec![None; self.tasks.len()];
        let mut has_parts = vec![false; chart.subgraphs.len()];
        for (number, subgraph) in chart.subgraphs.iter().enumerate() {
            if let Some(parent) = subgraph.parent {
                has_parts[parent] = true;
                self.parents[of_subgraph[number]] = Some(of_subgraph[parent]);
            }
            for node in &subgraph.nodes {
                if let Some(task) = self.by_chart_id.get(node) {
                    has_parts[number] = true;
                    self.parents[*task] = Some(of_subgraph[number]);
                }
            }
        }
        for (number, subgraph) in chart.subgraphs.iter().enumerate() {
            if !has_parts[number] {
                notes.add(
                    &subgraph.span,
                    format!("subgraph `{}` is empty, so it becomes a task of its own", subgraph.title),
                );
            }
        }
        for task in 0..self.tasks.len() {
            self.tasks[task].parent = self.parents[task].map(|parent| self.tasks[parent].id.clone());
        }
    }

    /// Tells whether one of the two contains the other.
    pub(super) fn are_kin(&self, one: usize, other: usize) -> bool {
        self.contains(one, other) || self.contains(other, one)
    }

    fn contains(&self, outer: usize, inner: usize) -> bool {
        std::iter::successors(self.parents[inner], |task| self.parents[*task]).any(|task| task == outer)
    }

    /// Returns where each task stands in the chart.
    pub(super) fn spans_by_id(&self) -> BTreeMap<TaskId, Span> {
        self.tasks.iter().map(|task| task.id.clone()).zip(self.spans.iter().cloned()).collect()
    }
}

/// Returns the id of a subgraph, or nothing when the reader had to invent it.
fn named_id(subgraph: &Subgraph) -> &str {
    let invented =
        subgraph.id.strip_prefix("subGraph").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    if invented && subgraph.title != subgraph.id { "" } else { &subgraph.id }
}

/// Returns the title, which is empty when the task's id already says it.
fn title(chart_id: &str, label: Option<&str>, id: &TaskId, span: &Span, notes: &mut Notes) -> String {
    let label = label.unwrap_or(chart_id);
    let text = plain_text(label);
    if text.lost_markup {
        notes.lost(span, format!("the formatting of the text of `{chart_id}` is left out"));
    }
    if text.text.is_empty() || text.text == id.as_str() { String::new() } else { text.text }
}

/// The ids that are taken.
#[derive(Default)]
struct Ids {
    taken: BTreeSet<TaskId>,
    /// Ids that are given out only to the part that has exactly this name.
    keep: BTreeSet<TaskId>,
    /// The next number to try behind an id.
    next: BTreeMap<String, u32>,
}

impl Ids {
    /// Makes an id of the first text that has letters or digits, and makes it unique.
    fn unique(&mut self, text: &str, otherwise: &str) -> TaskId {
        let has_letters = |text: &str| text.chars().any(|c| c.is_ascii_alphanumeric());
        let base = if has_letters(text) {
            text.to_owned()
        } else if has_letters(otherwise) {
            plain_text(otherwise).text.to_lowercase()
        } else {
            "task".to_owned()
        };
        let kept: String = base.chars().take(ID_CHARS_KEPT).collect();
        let mut id = TaskId::slugged(&kept);
        let next = self.next.entry(id.as_str().to_owned()).or_insert(2);
        let base = id.clone();
        while (id.as_str() != text && self.keep.contains(&id)) || !self.taken.insert(id.clone()) {
            id = TaskId::slugged(&format!("{base}-{next}"));
            *next += 1;
        }
        id
    }
}
