//! Nodes into a plan: field by field, so that a file shows all its faults at once.
//!
//! Reading goes in this order: fields get their canonical names ([`crate::spelling`]), the sugar
//! that concerns more than one field is undone (gates, families, nested and bare tasks), then each
//! field is read into the model's own type. The places of all fields are kept, so that
//! [`crate::check`] can point at what the finished plan has wrong with it.

mod action; // in reading order
mod family;
mod faults;
mod gates;
mod places;
mod state;
mod task;

use std::collections::BTreeSet;

use gantry_core::plan::{Action, Plan, Task};
use serde::de::DeserializeOwned;

pub(crate) use places::{Fields, Places, Unsure};

use crate::de;
use crate::diagnostic::{DIAGNOSTICS_MAX, Diagnostic, Findings};
use crate::node::{Key, Node, Span, Value};
use crate::read::family::Family;
use crate::read::gates::Gates;
use crate::spelling::{Level, respell};

/// How the machine-readable form of a plan begins to say what it is.
const EXPORTED: &str = "gantry-plan/";

/// A plan as read, with the places of its fields.
pub(crate) struct Reading {
    pub(crate) plan: Plan,
    pub(crate) places: Places,
    /// Whether the file was a single task, whose neighbours are elsewhere.
    pub(crate) single_task: bool,
}

/// Reads a plan. What is wrong goes to `findings`; the plan holds everything that could be read.
pub(crate) fn plan(node: Node, findings: &mut Findings) -> Option<Reading> {
    let span = node.span;
    let Value::Map(entries) = node.value else {
        findings.push(not_a_plan(&node));
        return None;
    };
    let nul = entries.iter().find_map(|(key, value)| nul_in_key(key).or_else(|| find_nul(value)));
    if let Some(span) = nul {
        findings.push(Diagnostic::error("file::control-character", "a text contains a NUL character").at(span));
        return None;
    }
    if let Some(source) = source_of(&entries) {
        return plan(source.clone(), findings);
    }
    if is_single_task(&entries) {
        return Some(single_task(entries, span, findings));
    }
    let mut ids = BTreeSet::new();
    for (_, value) in &entries {
        collect_ids(value, &mut ids);
    }
    let mut fields = respell(entries, Level::Plan, findings);
    let tasks = take(&mut fields, "tasks");
    let gates = take(&mut fields, "gates");
    if let Some((_, node)) = take(&mut fields, "status") {
        state::plan(&node, findings);
    }
    family::strip_artifact_sources(&mut fields);
    let head = fields.first().map_or(Span::at(span.start), |(key, _)| key.span);
    let mut reader = Reader::new(findings, ids);
    reader.gates = Gates::read(gates, reader.findings);
    if let Some((key, node)) = tasks {
        reader.tasks_list(node, None, key.span);
    }
    let mut shortened = Vec::new();
    let all: Vec<&(Key, Node)> = fields.iter().collect();
    let plan = reader.fields_into::<Plan>(&all, None, &mut shortened).unwrap_or_default();
    shorten(&mut fields, shortened);
    Some(reader.finish(plan, Fields { head, entries: fields, plans: Vec::new() }, false))
}

/// What was exported with everything that was computed about it holds the plan itself under `source`.
fn source_of(entries: &[(Key, Node)]) -> Option<&Node> {
    let field = |name: &str| entries.iter().find(|(key, _)| key.text == name).map(|(_, node)| node);
    let form = field("form")?;
    let exported = matches!(&form.value, Value::Str { text, .. } if text.starts_with(EXPORTED));
    field("source").filter(|source| exported && matches!(source.value, Value::Map(_)))
}

/// Reads a file that is one task as a plan with this task alone.
fn single_task(entries: Vec<(Key, Node)>, span: Span, findings: &mut Findings) -> Reading {
    let mut reader = Reader::new(findings, BTreeSet::new());
    reader.task(Node::new(span, Value::Map(entries)), None, 0);
    let title = reader.tasks.first().map(|(task, _)| task.name().to_owned());
    let plan = Plan { title: title.unwrap_or_default(), ..Plan::default() };
    let head = reader.tasks.first().map_or(Span::at(span.start), |(_, place)| place.head);
    reader.finish(plan, Fields { head, entries: Vec::new(), plans: Vec::new() }, true)
}

/// Tells whether a file is one task: it has an id and something only tasks have, and no tasks.
fn is_single_task(entries: &[(Key, Node)]) -> bool {
    let has = |name: &str| entries.iter().any(|(key, _)| Level::Plan.canonical(&key.text) == Some(name));
    let task_only = |(key, _): &(Key, Node)| {
        Level::Plan.canonical(&key.text).is_none() && Level::Task.canonical(&key.text).is_some()
    };
    has("id") && !has("tasks") && entries.iter().any(task_only)
}

fn not_a_plan(node: &Node) -> Diagnostic {
    let finding = match node.value {
        Value::Null => Diagnostic::error("file::empty", "the file is empty"),
        Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Seq(_) | Value::Map(_) => {
            Diagnostic::error("plan::wrong-type", format!("a plan is a map, this is {}", node.describe())).at(node.span)
        }
    };
    finding.hint("a plan has at least a `title` and `tasks`")
}

/// Finds a text with a NUL in it, which neither processes nor databases can take.
fn find_nul(node: &Node) -> Option<Span> {
    match &node.value {
        Value::Str { text, .. } => text.contains('\0').then_some(node.span),
        Value::Seq(items) => items.iter().find_map(find_nul),
        Value::Map(entries) => entries.iter().find_map(|(key, value)| nul_in_key(key).or_else(|| find_nul(value))),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn nul_in_key(key: &Key) -> Option<Span> {
    key.text.contains('\0').then_some(key.span)
}

/// Finds every id that a task might have, so that no generated id repeats one.
fn collect_ids(node: &Node, ids: &mut BTreeSet<String>) {
    match &node.value {
        Value::Seq(items) => items.iter().for_each(|item| collect_ids(item, ids)),
        Value::Map(entries) => {
            for (key, value) in entries {
                if let (true, Value::Str { text, .. } | Value::Number(text)) = (key.text == "id", &value.value) {
                    ids.insert(text.clone());
                }
                collect_ids(value, ids);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } => {}
    }
}

/// Takes a field out of a list.
fn take(fields: &mut Vec<(Key, Node)>, name: &str) -> Option<(Key, Node)> {
    let position = fields.iter().position(|(key, _)| key.text == name)?;
    Some(fields.remove(position))
}

/// Finds a field in a list.
fn find<'a>(fields: &'a [(Key, Node)], name: &str) -> Option<&'a (Key, Node)> {
    fields.iter().find(|(key, _)| key.text == name)
}

/// What is known while a plan is read.
struct Reader<'f> {
    findings: &'f mut Findings,
    /// The tasks in tree order, each with its places.
    tasks: Vec<(Task, Fields)>,
    /// Ids that are taken, so that generated ones do not clash.
    ids: BTreeSet<String>,
    gates: Gates,
    families: Vec<Family>,
    /// The places of the plans inside the task that is being read, each with the path of the field that holds it.
    plans: Vec<(String, Places)>,
    unsure: Unsure,
}

impl<'f> Reader<'f> {
    fn new(findings: &'f mut Findings, ids: BTreeSet<String>) -> Self {
        Self {
            findings,
            tasks: Vec::new(),
            ids,
            gates: Gates::default(),
            families: Vec::new(),
            plans: Vec::new(),
            unsure: Unsure::default(),
        }
    }

    /// Reads a list of tasks and everything inside them.
    fn tasks_list(&mut self, node: Node, parent: Option<&Task>, key: Span) {
        let describe = node.describe();
        let Value::Seq(items) = node.value else {
            self.findings.push(
                Diagnostic::error("plan::wrong-type", format!("tasks stand in a list, this is {describe}"))
                    .at(if node.span.start == node.span.end { key } else { node.span })
                    .hint("start each task with `- id: …`"),
            );
            return;
        };
        for (position, item) in items.into_iter().enumerate() {
            self.task(item, parent, position);
        }
    }

    /// Reads fields into a type: all at once if that works, else one by one to find every fault.
    ///
    /// `always` is a field without which the type cannot be read at all. Of a list with faults in it, the sound items are
    /// read, so that what is wrong with them is told as well; those lists are added to `shortened`.
    fn fields_into<T: DeserializeOwned>(
        &mut self,
        fields: &[&(Key, Node)],
        always: Option<&(Key, Node)>,
        shortened: &mut Vec<(Key, Node)>,
    ) -> Option<T> {
        if let Ok(value) = de::from_fields(always.into_iter().chain(fields.iter().copied())) {
            return Some(value);
        }
        let mut sound = Vec::with_capacity(fields.len());
        let first_shortened = shortened.len();
        for &field in fields {
            match de::from_fields::<T>(always.into_iter().chain([field])) {
                Ok(_) => sound.push(field),
                Err(error) => {
                    let read = |node: &Node| {
                        let rest = (field.0.clone(), node.clone());
                        de::from_fields::<T>(always.into_iter().chain([&rest])).map(|_| ())
                    };
                    self.misfits(error, &field.0, &field.1, read);
                    shortened.extend(sound_items(&field.1, read).map(|rest| (field.0.clone(), rest)));
                }
            }
        }
        de::from_fields(always.into_iter().chain(sound).chain(&shortened[first_shortened..])).ok()
    }

    /// Reports everything in a field that does not fit the model, beginning with the first error.
    fn misfits(&mut self, first: de::Error, key: &Key, node: &Node, read: impl Fn(&Node) -> Result<(), de::Error>) {
        if self.findings.kept.len() >= DIAGNOSTICS_MAX {
            return self.misfit(first, key, node);
        }
        for error in faults::every_fault(node, first, read) {
            self.misfit(error, key, node);
        }
    }

    /// Reports one thing in a field that does not fit the model.
    fn misfit(&mut self, error: de::Error, key: &Key, node: &Node) {
        let whole = error.span.is_none_or(|span| span == node.span);
        let place = if node.span.start == node.span.end { key.span } else { node.span };
        let mut finding = error.into_diagnostic(place);
        if finding.span == Some(node.span) {
            finding.span = Some(place);
        }
        if whole {
            finding.message = format!("`{}`: {}", key.text, finding.message);
        }
        self.findings.push(finding);
    }

    fn finish(mut self, mut plan: Plan, fields: Fields, single_task: bool) -> Reading {
        self.resolve_families(&plan);
        let Self { findings, tasks, gates, unsure, .. } = self;
        gates.report_unused(&tasks, findings);
        let (tasks, places) = places::in_tree_order(tasks);
        plan.tasks = tasks;
        Reading { plan, places: Places { plan: fields, tasks: places, unsure }, single_task }
    }
}

/// Puts shortened lists in place of the whole ones: places are found by the number of an item.
fn shorten(fields: &mut [(Key, Node)], shortened: Vec<(Key, Node)>) {
    for (key, rest) in shortened {
        if let Some((_, node)) = fields.iter_mut().find(|(other, _)| other.span == key.span) {
            *node = rest;
        }
    }
}

/// The items of a list that can be read, if it is a list and there are some.
fn sound_items(list: &Node, read: impl Fn(&Node) -> Result<(), de::Error>) -> Option<Node> {
    let Value::Seq(items) = &list.value else { return None };
    let alone = |item: &&Node| read(&Node::new(list.span, Value::Seq(vec![(*item).clone()]))).is_ok();
    let sound: Vec<Node> = items.iter().filter(alone).cloned().collect();
    let rest = Node::new(list.span, Value::Seq(sound));
    (rest.value != Value::Seq(Vec::new()) && read(&rest).is_ok()).then_some(rest)
}

/// Finds the fields that say how a task runs.
fn action_fields(fields: &[(Key, Node)]) -> impl Iterator<Item = &(Key, Node)> {
    fields.iter().filter(|(key, _)| Action::KEYS.contains(&key.text.as_str()))
}
