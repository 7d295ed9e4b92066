//! How a task runs: the actions, as they stand in files.
//!
//! Most actions read themselves. Those that contain tasks or plans are read here, so that what is
//! inside has the same form, and the same sugar, as at the top.

use std::collections::BTreeSet;

use gantry_core::plan::{Action, Map, Nested, Plan, Task, Undo};
use serde::Deserialize;

use super::{Fields, Reader, find, take};
use crate::de;
use crate::diagnostic::Diagnostic;
use crate::node::{Key, Node, Value};
use crate::suggest::nearest;

/// Actions that say enough by their name alone.
const MAY_BE_EMPTY: [&str; 3] = ["gate", "manual", "checkpoint"];

impl Reader<'_> {
    /// Reads the one action that a task has.
    pub(super) fn action(&mut self, id: &str, fields: &mut [(Key, Node)]) -> Option<Action> {
        let mut actions = fields.iter_mut().filter(|(key, _)| Action::KEYS.contains(&key.text.as_str()));
        let (key, node) = actions.next()?;
        for (second, _) in actions {
            self.findings.push(
                Diagnostic::error(
                    "plan::two-actions",
                    format!("task `{id}` has both `{}` and `{}`", key.text, second.text),
                )
                .at(second.span)
                .label("a second way to run")
                .other(key.span, "the first")
                .hint("make it two tasks, or put one of them under `alternates`"),
            );
        }
        self.one_action(id, key, node)
    }

    /// Reads an action from its name and its content. Tasks and plans inside it are taken out.
    fn one_action(&mut self, id: &str, key: &Key, node: &mut Node) -> Option<Action> {
        if node.value == Value::Null && MAY_BE_EMPTY.contains(&key.text.as_str()) {
            *node = Node::new(key.span, Value::Map(Vec::new()));
        }
        match key.text.as_str() {
            "map" => self.map(id, key, node).map(Action::Map),
            "plan" => self.nested(key, node).map(Action::Plan),
            _ => self.read(key, node, |node| de::from_variant(&key.text, key.span, node)),
        }
    }

    fn map(&mut self, id: &str, key: &Key, node: &mut Node) -> Option<Map> {
        let Value::Map(fields) = &mut node.value else {
            self.findings.push(wrong_type(key, node, "`map` needs at least `over`"));
            return None;
        };
        let each = take(fields, "each");
        let mut map: Map = self.read(key, node, |node| Deserialize::deserialize(node))?;
        if let Some((key, each)) = each {
            let span = each.span;
            let (task, inner) = self.apart(id, each)?;
            map.each = Some(Box::new(task));
            self.plans.extend(inner.plans.into_iter().map(|(path, places)| (format!("map.each.{path}"), places)));
            // Put back as it was read, so that its places are found.
            if let Value::Map(fields) = &mut node.value {
                fields.push((key, Node::new(span, Value::Map(inner.entries))));
            }
        }
        Some(map)
    }

    /// Reads a task that stands for itself, outside the list of tasks.
    fn apart(&mut self, id: &str, mut node: Node) -> Option<(Task, Fields)> {
        let span = node.span;
        if let Value::Map(entries) = &mut node.value
            && find(entries, "id").is_none()
        {
            entries.push((Key { text: "id".to_owned(), span }, Node::text(span, id)));
        }
        let mut inner = Reader::new(self.findings, BTreeSet::new());
        inner.task(node, None, 0);
        inner.resolve_families(&Plan::default());
        let count = inner.tasks.len();
        let task = inner.tasks.into_iter().next();
        if count > 1 {
            self.findings.push(
                Diagnostic::error("plan::map-of-many", "what each item becomes is one task, without tasks inside")
                    .at(span)
                    .hint("use `plan: {tasks: …}` for several"),
            );
        }
        task
    }

    fn nested(&mut self, key: &Key, node: &mut Node) -> Option<Nested> {
        if let Some(template) = node.as_str() {
            return Some(Nested { template: Some(template.to_owned()), ..Nested::default() });
        }
        let Value::Map(fields) = &mut node.value else {
            self.findings.push(wrong_type(key, node, "`plan` needs a plan, or the name of a template"));
            return None;
        };
        if !["plan", "template", "with"].iter().any(|name| find(fields, name).is_some()) {
            let inner = Node::new(node.span, Value::Map(std::mem::take(fields)));
            return Some(Nested { plan: self.inner_plan(inner), ..Nested::default() });
        }
        let plan = take(fields, "plan");
        let mut nested: Nested = self.read(key, node, |node| Deserialize::deserialize(node))?;
        nested.plan = plan.and_then(|(_, node)| self.inner_plan(node));
        Some(nested)
    }

    fn inner_plan(&mut self, node: Node) -> Option<Box<Plan>> {
        let reading = super::plan(node, self.findings)?;
        self.plans.push(("plan".to_owned(), reading.places));
        Some(Box::new(reading.plan))
    }

    /// Reads how a task is undone.
    pub(super) fn undo(&mut self, id: &str, key: &Key, node: &mut Node) -> Option<Undo> {
        if let Value::Map(entries) = &mut node.value
            && let [(name, content)] = entries.as_mut_slice()
        {
            if name.text == "action" {
                return self.wrapped_action(id, key, content).map(|action| Undo::Action(Box::new(action)));
            }
            if Action::KEYS.contains(&name.text.as_str()) {
                return self.one_action(id, name, content).map(|action| Undo::Action(Box::new(action)));
            }
        }
        if let Value::Map(entries) = &node.value {
            let name = entries.first().map(|(name, _)| name);
            let unknown = name.filter(|name| !Action::KEYS.contains(&name.text.as_str()));
            let message = match unknown {
                Some(name) => format!("`undo`: there is no action `{}`", name.text),
                None => "`undo` is one action, such as `run: …`, or one word".to_owned(),
            };
            let near = unknown.and_then(|name| nearest(&name.text, Action::KEYS));
            let hint = near.map_or_else(
                || "write `undo: {run: …}`, `undo: restore` or `undo: never`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let span = name.map_or(key.span, |name| name.span);
            self.findings.push(Diagnostic::error("plan::unknown-word", message).at(span).hint(hint));
            return None;
        }
        self.read(key, node, |node| Deserialize::deserialize(node))
    }

    /// Reads an action that is a map with the action's name as its only key.
    pub(super) fn wrapped_action(&mut self, id: &str, key: &Key, node: &mut Node) -> Option<Action> {
        if let Value::Map(entries) = &mut node.value
            && let [(name, content)] = entries.as_mut_slice()
            && Action::KEYS.contains(&name.text.as_str())
        {
            return self.one_action(id, name, content);
        }
        self.findings.push(wrong_type(key, node, "an action is a map with one key, such as `run: …`"));
        None
    }

    /// Reads a node and reports everything in it that does not fit.
    fn read<T>(&mut self, key: &Key, node: &Node, read: impl Fn(&Node) -> Result<T, de::Error>) -> Option<T> {
        let refused = |error| self.misfits(error, key, node, |rest| read(rest).map(|_| ()));
        read(node).map_err(refused).ok()
    }
}

fn wrong_type(key: &Key, node: &Node, message: &str) -> Diagnostic {
    let span = if node.span.start == node.span.end { key.span } else { node.span };
    Diagnostic::error("plan::wrong-type", format!("{message}; this is {}", node.describe())).at(span)
}
