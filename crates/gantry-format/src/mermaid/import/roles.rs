//! Which nodes are decisions and which are gates.

use super::Notes;
use super::arrows::Arrow;
use super::draft::Draft;
use super::words::{is_only_a_ruling, is_yes_or_no, names_a_gate, ruling};
use crate::mermaid::chart::{FlowNode, Flowchart, Shape};

/// What a node is in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Ordinary work, or a composite.
    Task,
    /// It chooses one of several outcomes.
    Decision,
    /// People or checks let it pass.
    Gate,
}

/// Gives each task its role, by its shape, its text and the texts on the arrows out of it.
pub(super) fn assign(chart: &Flowchart, draft: &Draft, arrows: &[Arrow], notes: &mut Notes) -> Vec<Role> {
    let mut labels: Vec<Vec<&str>> = vec![Vec::new(); draft.tasks.len()];
    for arrow in arrows {
        labels[arrow.from].extend(arrow.label.as_deref());
    }
    let mut roles = vec![Role::Task; draft.tasks.len()];
    for (task, labels) in labels.iter().enumerate() {
        if let Some(node) = draft.nodes[task] {
            roles[task] = role(&chart.nodes[node], labels, notes);
        }
    }
    roles
}

fn role(node: &FlowNode, labels: &[&str], notes: &mut Notes) -> Role {
    let text = node.label.as_deref().unwrap_or(&node.id);
    let unknown = labels.iter().find(|label| ruling(label).is_none());
    let has_rulings = labels.iter().any(|label| is_only_a_ruling(label));
    match node.shape {
        Shape::Diamond if names_a_gate(text) => match unknown {
            None => Role::Gate,
            Some(label) => {
                notes.add(&node.span, format!("`{text}` becomes a decision, because a gate cannot end with `{label}`"));
                Role::Decision
            }
        },
        Shape::Diamond => Role::Decision,
        // As plans are drawn: a gate is a hexagon.
        Shape::Hexagon if unknown.is_none() => Role::Gate,
        _ if unknown.is_none() && has_rulings => {
            notes.add(&node.span, format!("`{text}` becomes a gate, because of the texts on the links out of it"));
            Role::Gate
        }
        _ if labels.iter().any(|label| is_yes_or_no(label)) => {
            notes.add(&node.span, format!("`{text}` becomes a decision, because of the texts on the links out of it"));
            Role::Decision
        }
        _ => Role::Task,
    }
}
