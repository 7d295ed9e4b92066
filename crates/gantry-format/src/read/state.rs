//! States that files carry, and texts that list alternatives instead of choosing one.
//!
//! What happened in a run is in its journal, never in the file: a state that belongs to a run is
//! read as "still to be done" and reported.

use crate::diagnostic::{Diagnostic, Findings};
use crate::node::{Node, Value};
use crate::suggest::{nearest, shorten};

/// The states that a plan can have.
const PLAN_STATES: [&str; 8] = ["draft", "pending", "running", "paused", "blocked", "completed", "failed", "abandoned"];

/// The states that a task can have.
const TASK_STATES: [&str; 9] =
    ["pending", "ready", "running", "waiting", "blocked", "completed", "failed", "skipped", "abandoned"];

/// Checks the state of a plan, which is not kept.
pub(super) fn plan(node: &Node, findings: &mut Findings) {
    let mut node = node.clone();
    choose_first(&mut node, findings);
    let Some(state) = known(&node, &PLAN_STATES, findings) else { return };
    if !["draft", "pending"].contains(&state) {
        findings.push(not_kept(&node, state, "the plan is read as one that has not begun"));
    }
}

/// Translates the state of a task into one that a file may bring along.
pub(super) fn task(node: &mut Node, findings: &mut Findings) {
    choose_first(node, findings);
    let Some(state) = known(node, &TASK_STATES, findings) else {
        node.value = Value::Null;
        return;
    };
    let kept = match state {
        "pending" | "completed" | "skipped" => return,
        "abandoned" => "skipped",
        _ => "pending",
    };
    findings.push(not_kept(node, state, &format!("the task is read as `{kept}`")));
    node.value = Value::Str { text: kept.to_owned(), plain: true };
}

/// Takes the first of several alternatives: `pending|running|…` describes a field, it fills none.
pub(super) fn choose_first(node: &mut Node, findings: &mut Findings) {
    let Some((first, _)) = node.as_str().and_then(|text| text.split_once('|')) else {
        return;
    };
    let first = first.trim().to_owned();
    findings.push(
        Diagnostic::warning("plan::placeholder", format!("this lists alternatives; `{}` is taken", shorten(&first)))
            .at(node.span)
            .label("several words")
            .hint("write the one that is meant"),
    );
    node.value = Value::Str { text: first, plain: true };
}

fn known(node: &Node, states: &[&'static str], findings: &mut Findings) -> Option<&'static str> {
    let written = node.as_str().unwrap_or_default();
    let state = states.iter().copied().find(|state| *state == written);
    if state.is_none() {
        let hint = match nearest(written, states.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", crate::de::list(states)),
        };
        findings.push(
            Diagnostic::error("plan::unknown-word", format!("{} is not a state", node.describe()))
                .at(node.span)
                .hint(hint),
        );
    }
    state
}

fn not_kept(node: &Node, state: &str, instead: &str) -> Diagnostic {
    Diagnostic::warning("plan::state-not-kept", format!("`{state}` is the state of a run and is not kept; {instead}"))
        .at(node.span)
        .hint("what happened in a run is in its journal")
}
