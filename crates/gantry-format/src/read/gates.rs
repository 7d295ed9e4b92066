//! Gates: the list `gates` of a plan, `checks` beside a gate, and `kind: gate` alone.

use std::collections::BTreeMap;

use gantry_core::plan::Task;

use super::{Fields, Reader, action_fields, find, take};
use crate::diagnostic::{Diagnostic, Findings};
use crate::node::{Key, Node, Span, Value};
use crate::spelling::{Level, respell_inside, twice};
use crate::suggest::{nearest, shorten};

/// What the plan's list of gates says, until its task is met.
#[derive(Default)]
pub(super) struct Gates {
    waiting: BTreeMap<String, GateEntry>,
}

struct GateEntry {
    id_span: Span,
    node: Node,
}

impl Gates {
    /// Reads the plan's list of gates.
    pub(super) fn read(field: Option<(Key, Node)>, findings: &mut Findings) -> Self {
        let mut gates = Self::default();
        let Some((_, node)) = field else { return gates };
        let span = node.span;
        let Value::Seq(items) = node.value else {
            findings.push(Diagnostic::error("plan::wrong-type", "`gates` is a list of gates").at(span));
            return gates;
        };
        for mut item in items {
            let id = match &mut item.value {
                Value::Map(entries) => take(entries, "id"),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Seq(_) => None,
            };
            let Some((id, id_span)) = id.and_then(|(_, node)| Some((node.as_str()?.to_owned(), node.span))) else {
                findings.push(
                    Diagnostic::error("plan::missing-field", "a gate in `gates` needs the `id` of its task")
                        .at(item.span),
                );
                continue;
            };
            respell_inside(&mut item, Level::Gate, findings);
            if let Some(first) = gates.waiting.get(&id) {
                findings.push(
                    Diagnostic::error("plan::gate-twice", format!("gate `{}` is described twice", shorten(&id)))
                        .at(id_span)
                        .label("described again here")
                        .other(first.id_span, "first described here"),
                );
                continue;
            }
            gates.waiting.insert(id, GateEntry { id_span, node: item });
        }
        gates
    }

    /// Reports gates whose task does not exist.
    pub(super) fn report_unused(&self, tasks: &[(Task, Fields)], findings: &mut Findings) {
        for (id, entry) in &self.waiting {
            findings.push_with(|| {
                let ids = tasks.iter().map(|(task, _)| task.id.as_str());
                let hint = match nearest(id, ids) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("add a task `{}` with `kind: gate`", shorten(id)),
                };
                Diagnostic::error("plan::unknown-gate", format!("gate `{}` belongs to no task", shorten(id)))
                    .at(entry.id_span)
                    .label("no task has this id")
                    .hint(hint)
            });
        }
    }
}

impl Reader<'_> {
    /// Brings everything that is said about a task's gate together in its field `gate`.
    pub(super) fn gather_gate(&mut self, id: &str, fields: &mut Vec<(Key, Node)>) {
        let listed = self.gates.waiting.remove(id);
        let kind = find(fields, "kind").filter(|(_, node)| node.as_str() == Some("gate")).map(|(key, _)| key.span);
        let other = action_fields(fields).find(|(key, _)| key.text != "gate").map(|(key, _)| key.clone());
        if let Some(other) = other {
            self.refuse_second_action(id, &other, kind, listed.as_ref());
        } else if find(fields, "gate").is_none()
            && let Some(span) = kind.or(listed.as_ref().map(|entry| entry.id_span))
        {
            fields.push((Key { text: "gate".to_owned(), span }, Node::new(span, Value::Map(Vec::new()))));
        }
        let Some(position) = fields.iter().position(|(key, _)| key.text == "gate") else {
            self.checks_are_criteria(fields);
            return;
        };
        if fields[position].1.value == Value::Null {
            fields[position].1 = Node::new(fields[position].0.span, Value::Map(Vec::new()));
        }
        let mut more: Vec<(Key, Node)> = take(fields, "checks").into_iter().collect();
        if let Some(GateEntry { node: Node { value: Value::Map(entries), .. }, .. }) = listed {
            more.extend(entries);
        }
        if let Some((_, gate)) = fields.iter_mut().find(|(key, _)| key.text == "gate") {
            for (key, node) in more {
                add_to_gate(gate, key, node, self.findings);
            }
        }
    }

    fn refuse_second_action(&mut self, id: &str, other: &Key, kind: Option<Span>, listed: Option<&GateEntry>) {
        let Some(span) = kind.or(listed.map(|entry| entry.id_span)) else { return };
        let (id, action) = (shorten(id), &other.text);
        self.findings.push(
            Diagnostic::error("plan::gate-with-action", format!("task `{id}` is a gate and has `{action}` as well"))
                .at(span)
                .label("a gate")
                .other(other.span, "and something to run")
                .hint("a gate's work is a decision; put the rest into a task before it"),
        );
    }

    /// Outside gates, `checks` are what makes the result good enough.
    fn checks_are_criteria(&mut self, fields: &mut Vec<(Key, Node)>) {
        let Some((mut key, node)) = take(fields, "checks") else { return };
        if let Some((first, _)) = find(fields, "success_criteria") {
            self.findings.push(twice("success_criteria", first.span, &key));
            return;
        }
        "success_criteria".clone_into(&mut key.text);
        fields.push((key, node));
    }
}

/// Adds a field to a gate; checks from several places are put together.
fn add_to_gate(gate: &mut Node, key: Key, node: Node, findings: &mut Findings) {
    let Value::Map(entries) = &mut gate.value else { return };
    match entries.iter_mut().find(|(name, _)| name.text == key.text) {
        None => entries.push((key, node)),
        Some((_, Node { value: Value::Seq(checks), .. })) if key.text == "checks" => match node.value {
            Value::Seq(more) => checks.extend(more),
            _ => checks.push(node),
        },
        Some((first, _)) => findings.push(
            Diagnostic::error("plan::field-twice", format!("`{}` of this gate is given twice", key.text))
                .at(key.span)
                .label("given again here")
                .other(first.span, "first given here"),
        ),
    }
}
