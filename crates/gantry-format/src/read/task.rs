//! One task, with everything that stands inside it.

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Command, Task};

use super::family::{self, Family};
use super::{Fields, Reader, find, shorten, state, take};
use crate::diagnostic::Diagnostic;
use crate::node::{Key, Node, Span, Value};
use crate::spelling::{Level, respell};

/// The fields that are read here; the model reads the others by itself.
const OWN: [&str; 4] = ["id", "verify", "undo", "alternates"];

/// Generated ids keep this many characters of the parent's id, so that they stay valid ids.
const PARENT_CHARS_MAX: usize = 90;

impl Reader<'_> {
    /// Reads a task and the tasks inside it, and adds them in tree order.
    pub(super) fn task(&mut self, node: Node, parent: Option<&Task>, position: usize) {
        let span = node.span;
        let entries = match node.value {
            Value::Map(entries) => entries,
            Value::Str { text, .. } => return self.prose(&text, span, parent, position),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Seq(_) => {
                self.findings.push(
                    Diagnostic::error(
                        "plan::wrong-type",
                        format!("a task is a map or a text, this is {}", node.describe()),
                    )
                    .at(span),
                );
                return;
            }
        };
        let mut fields = respell(entries, Level::Task, self.findings);
        let children = take(&mut fields, "tasks");
        let (id, head, is_family) = self.id(&mut fields, span, parent, position);
        self.parent(&mut fields, parent);
        family::strip_references(&mut fields);
        self.words(&mut fields);
        self.unwrap_action(&mut fields);
        self.gather_gate(id.as_str(), &mut fields);
        let mut task = self.contract(&id, head, &mut fields);
        self.plans.clear(); // only what the task itself does is looked into
        task.action = self.action(id.as_str(), &mut fields);
        let plans = std::mem::take(&mut self.plans);
        if let Some(parent) = parent {
            task.parent = Some(parent.id.clone());
        }
        let is_family = is_family && !matches!(task.action, Some(Action::Map(_)));
        if is_family {
            self.families.push(Family { position: self.tasks.len(), span: head });
            task = family::spread(task);
        }
        // What is inside needs only the id.
        let stub = Task::new(task.id.clone());
        self.tasks.push((task, Fields { head, entries: fields, plans }));
        if let Some((key, children)) = children {
            if is_family {
                self.findings.push(
                    Diagnostic::error("plan::family-with-tasks", "a family of tasks cannot have tasks inside")
                        .at(key.span),
                );
            }
            self.tasks_list(children, Some(&stub), key.span);
        }
    }

    /// Makes a task of a bare text.
    fn prose(&mut self, text: &str, span: Span, parent: Option<&Task>, position: usize) {
        let id = self.generated_id(parent, position);
        let mut task = Task::new(id);
        text.trim().clone_into(&mut task.title);
        task.action = Some(Action::Command(Command::new(text.trim())));
        task.parent = parent.map(|parent| parent.id.clone());
        self.tasks.push((task, Fields { head: span, entries: Vec::new(), plans: Vec::new() }));
    }

    /// Makes an id for a task that has none: `<parent>-1`, or the next number that is free.
    fn generated_id(&mut self, parent: Option<&Task>, position: usize) -> TaskId {
        let prefix: String =
            parent.map_or("task", |parent| parent.id.as_str()).chars().take(PARENT_CHARS_MAX).collect();
        let mut number = position + 1;
        loop {
            let id = TaskId::slugged(&format!("{prefix}-{number}"));
            if self.ids.insert(id.as_str().to_owned()) {
                return id;
            }
            number += 1;
        }
    }

    /// Reads the id, its place, and whether it names a family. A task without a usable id is
    /// reported and gets one, so that the rest of it can be read.
    fn id(
        &mut self,
        fields: &mut [(Key, Node)],
        span: Span,
        parent: Option<&Task>,
        position: usize,
    ) -> (TaskId, Span, bool) {
        let start = fields.first().map_or(Span::at(span.start), |(key, _)| key.span);
        let Some((_, node)) = fields.iter_mut().find(|(key, _)| key.text == "id") else {
            let title = find(fields, "title").and_then(|(_, node)| node.as_str());
            let proposal =
                title.map_or_else(|| "id".to_owned(), |title| TaskId::slugged(&title.to_lowercase()).to_string());
            self.findings.push(
                Diagnostic::error("plan::missing-field", "a task needs an `id`")
                    .at(start)
                    .label("this task has none")
                    .hint(format!("add for example `id: {proposal}`")),
            );
            self.unsure.any = true;
            return (self.generated_id(parent, position), start, false);
        };
        let head = node.span;
        let text = match &node.value {
            Value::Str { text, .. } | Value::Number(text) => text.clone(),
            Value::Null | Value::Bool(_) | Value::Seq(_) | Value::Map(_) => {
                let finding =
                    Diagnostic::error("plan::bad-id", format!("an id is a text, this is {}", node.describe()));
                self.findings
                    .push(finding.at(head).hint("give the task a name, in quotes if it is a word like `true`"));
                self.unsure.any = true;
                return (self.generated_id(parent, position), head, false);
            }
        };
        let stem = family::strip(&text);
        if stem == Some("") {
            self.findings.push(
                Diagnostic::error("plan::bad-id", "a family of tasks needs a name")
                    .at(head)
                    .hint("put the name before what stands for the rest, for example `dig-*`"),
            );
            self.unsure.any = true;
            return (self.generated_id(parent, position), head, false);
        }
        match TaskId::new(stem.unwrap_or(&text)) {
            Ok(id) => {
                *node = Node::text(head, id.as_str());
                (id, head, stem.is_some())
            }
            Err(bad) => {
                self.findings.push(
                    Diagnostic::error("plan::bad-id", bad.to_string())
                        .at(head)
                        .hint(format!("for example `{}`", TaskId::slugged(&text))),
                );
                self.unsure.take(&text);
                (self.generated_id(parent, position), head, false)
            }
        }
    }

    /// A task inside another one has its parent by its place; saying another one is a mistake.
    fn parent(&mut self, fields: &mut [(Key, Node)], parent: Option<&Task>) {
        let (Some(parent), Some((_, node))) = (parent, find(fields, "parent")) else { return };
        if node.as_str() != Some(parent.id.as_str()) {
            self.findings.push(
                Diagnostic::error("plan::two-parents", format!("this task stands inside `{}`", parent.id))
                    .at(node.span)
                    .label("but names another parent")
                    .hint("remove `parent`, or move the task"),
            );
        }
    }

    /// The model's own form `action: {run: …}` means `run: …`.
    fn unwrap_action(&mut self, fields: &mut Vec<(Key, Node)>) {
        let Some((key, node)) = take(fields, "action") else { return };
        match node.value {
            Value::Map(entries) if entries.len() == 1 && Action::KEYS.contains(&entries[0].0.text.as_str()) => {
                fields.extend(entries);
            }
            _ => self.findings.push(
                Diagnostic::error("plan::wrong-type", "`action` is a map with one action, such as `run: …`")
                    .at(key.span),
            ),
        }
    }

    /// Sees to the fields that hold one word of several.
    fn words(&mut self, fields: &mut [(Key, Node)]) {
        for (key, node) in fields {
            match key.text.as_str() {
                "kind" => state::choose_first(node, self.findings),
                "status" => state::task(node, self.findings),
                _ => {}
            }
        }
    }

    /// Reads every field but the action.
    fn contract(&mut self, id: &TaskId, head: Span, fields: &mut [(Key, Node)]) -> Task {
        let is_plain = |(key, node): &&(Key, Node)| {
            let name = key.text.as_str();
            !OWN.contains(&name) && !Action::KEYS.contains(&name) && node.value != Value::Null
        };
        let plain: Vec<&(Key, Node)> = fields.iter().filter(is_plain).collect();
        let always = (Key { text: "id".to_owned(), span: head }, Node::text(head, id.as_str()));
        let mut shortened = Vec::new();
        let mut task = self.fields_into(&plain, Some(&always), &mut shortened).unwrap_or_else(|| Task::new(id.clone()));
        shorten(fields, shortened);
        for (key, node) in fields {
            match key.text.as_str() {
                "undo" => task.undo = self.undo(id.as_str(), key, node).unwrap_or_default(),
                "verify" => task.verify = self.wrapped_action(id.as_str(), key, node).map(Box::new),
                "alternates" => task.alternates = self.alternates(id, key, node),
                _ => {}
            }
        }
        task
    }

    fn alternates(&mut self, id: &TaskId, key: &Key, node: &mut Node) -> Vec<Action> {
        let Value::Seq(items) = &mut node.value else {
            let found = node.describe();
            self.findings.push(
                Diagnostic::error("plan::wrong-type", format!("`alternates` is a list of actions, this is {found}"))
                    .at(node.span),
            );
            return Vec::new();
        };
        items.iter_mut().filter_map(|item| self.wrapped_action(id.as_str(), key, item)).collect()
    }
}
