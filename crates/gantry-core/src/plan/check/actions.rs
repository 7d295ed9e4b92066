//! Problems of what a task does and of how it is taken back.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use super::names::{check_names, own_names};
use crate::plan::action::Action;
use crate::plan::{Gate, Plan, Task, Undo};

/// Commands that could never run: that nothing is to be run, or outside the working folder, is seen beforehand.
pub(super) fn check_commands(task: &Task, at: Option<usize>, prefix: &str, findings: &mut Findings) {
    let undo = match &task.undo {
        Undo::Action(action) => Some(("undo".to_owned(), &**action)),
        Undo::None | Undo::Restore | Undo::Never => None,
    };
    let own = task.action.iter().map(|action| (action.key().to_owned(), action));
    let verify = task.verify.iter().map(|action| ("verify".to_owned(), &**action));
    let others = task.alternates.iter().enumerate().map(|(i, action)| (format!("alternates.{i}"), action));
    for (field, action) in own.chain(verify).chain(undo).chain(others) {
        let Action::Run(run) = action else { continue };
        if run.command.trim().is_empty() {
            findings
                .error(
                    "plan::empty-command",
                    (at, &format!("{prefix}{field}")),
                    format!("there is no command to run in task `{}`", task.id),
                )
                .hint("say what to run, or leave it out: then a person does the task");
        }
        if let Some(cwd) = run.cwd.as_deref().filter(|cwd| leads_out(cwd)) {
            findings
                .error(
                    "plan::outside-folder",
                    (at, &format!("{prefix}{field}.cwd")),
                    format!("the folder `{cwd}` is outside the working folder, where no command may run"),
                )
                .hint(
                    "name a folder inside, such as `cwd: src`; another working folder is chosen when the plan is run",
                );
        }
    }
}

/// Tells whether a path leads out of the folder that it starts in.
pub(super) fn leads_out(path: &str) -> bool {
    let mut depth = 0_i64;
    for part in path.split('/') {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        if depth < 0 {
            return true;
        }
    }
    path.starts_with('/')
}

/// Only a capability keeps what was there before, and so does a plan inside; what people did cannot be restored from
/// anything.
pub(super) fn check_undo(task: &Task, at: Option<usize>, prefix: &str, findings: &mut Findings) {
    if task.undo != Undo::Restore {
        return;
    }
    let why = match &task.action {
        Some(Action::Run(_) | Action::Tool(_) | Action::Agent(_) | Action::Plan(_)) => return,
        Some(Action::Command(command)) if command.calls().is_some() => return,
        Some(Action::Command(_) | Action::Manual(_)) | None => "no capability does it that could keep what was there",
        Some(
            Action::Model(_)
            | Action::Decide(_)
            | Action::Gate(_)
            | Action::Ask(_)
            | Action::Map(_)
            | Action::Adopt(_)
            | Action::Compute(_)
            | Action::Checkpoint(_)
            | Action::Wait(_)
            | Action::UndoTo(_),
        ) => "it changes no files itself",
    };
    findings
        .error(
            "plan::restore-needs-files",
            (at, &format!("{prefix}undo")),
            format!("task `{}` cannot be restored: {why}", task.id),
        )
        .hint("say how to take it back with `undo: {run: …}`, say `undo: never`, or leave `undo` out");
}

/// Runners find what an action takes beside the task's own inputs: one name cannot mean both.
pub(super) fn check_inputs(task: &Task, at: Option<usize>, prefix: &str, findings: &mut Findings) {
    let taken = match &task.action {
        Some(Action::Tool(tool)) if !tool.args.is_empty() => ("args", "the arguments of the tool"),
        Some(Action::Plan(nested)) if !nested.with.is_empty() => ("with", "what the nested plan is given"),
        Some(Action::Map(_)) => ("over", "the list that it maps over"),
        Some(Action::Adopt(_)) => ("from", "the plan that it adopts"),
        _ => return,
    };
    if task.inputs.contains_key(taken.0) {
        reserved_input(taken.0, taken.1, at, prefix, findings);
    }
}

pub(super) fn reserved_input(name: &str, meaning: &str, at: Option<usize>, prefix: &str, findings: &mut Findings) {
    findings
        .error(
            "plan::reserved-input",
            (at, &format!("{prefix}inputs.{name}")),
            format!("an input cannot be called `{name}` here: that is {meaning}"),
        )
        .hint("choose another name");
}

/// What is taken back to should be there; people may mark points while the plan runs, so it may yet come.
pub(super) fn check_point(plan: &Plan, index: usize, to: &str, findings: &mut Findings) {
    let marks = plan.tasks.iter().filter_map(|task| match &task.action {
        Some(Action::Checkpoint(mark)) => Some(mark.name.as_str()),
        _ => None,
    });
    let known: BTreeSet<&str> = plan.tasks.iter().map(|task| task.id.as_str()).chain(marks).collect();
    let made_by_policy =
        plan.policy.checkpoint_each_task && to.strip_prefix("after ").is_some_and(|id| known.contains(id));
    if known.contains(to) || made_by_policy {
        return;
    }
    let hint = findings.suggest(to, known.iter().copied());
    findings
        .warning(
            "plan::unknown-point",
            (Some(index), "undo_to"),
            format!("there is no task or checkpoint `{to}` to go back to, unless someone marks it meanwhile"),
        )
        .hint = hint;
}

/// Another way to do a task must be something that a runner does.
pub(super) fn check_alternates(task: &Task, at: Option<usize>, prefix: &str, findings: &mut Findings) {
    for (i, other) in task.alternates.iter().enumerate() {
        let runs = matches!(
            other,
            Action::Model(_) | Action::Run(_) | Action::Command(_) | Action::Tool(_) | Action::Agent(_)
        );
        if !runs {
            findings
                .error(
                    "plan::bad-alternate",
                    (at, &format!("{prefix}alternates.{i}")),
                    format!("`{}` cannot be another way to do task `{}`", other.key(), task.id),
                )
                .hint("an alternate is a `run`, `command`, `tool`, `model` or `agent`");
        }
    }
}

pub(super) fn check_gate(
    plan: &Plan,
    index: usize,
    task: &Task,
    gate: &Gate,
    names: &BTreeSet<&str>,
    findings: &mut Findings,
) {
    let at = Some(index);
    let needed = gate.approvals_needed();
    for (i, check) in gate.checks.iter().enumerate() {
        check_names(check, (at, &format!("gate.checks.{i}")), names, &own_names(task), findings);
    }
    if needed == 0 && gate.checks.is_empty() {
        findings.warning("plan::open-gate", (at, "gate"), format!("gate `{}` checks nothing and asks nobody", task.id));
    }
    let distinct: BTreeSet<&String> = gate.approvers.iter().collect();
    if !gate.approvers.is_empty() && u32::try_from(distinct.len()).is_ok_and(|people| people < needed) {
        findings
            .error(
                "plan::gate-nobody-can-pass",
                (at, "gate"),
                format!("gate `{}` needs {needed} approvals, but only {} may approve", task.id, distinct.len()),
            )
            .hint("lower `approvals` or list more `approvers`");
    }
    let mut roles: BTreeMap<&str, u32> = BTreeMap::new();
    for person in &plan.stakeholders {
        if let Some(role) = &person.role {
            *roles.entry(role).or_default() += 1;
        }
    }
    if let Some(role) = &gate.role
        && !roles.is_empty()
        && gate.approvers.is_empty()
    {
        let people = roles.get(role.as_str()).copied().unwrap_or(0);
        if people < needed {
            findings
                .error(
                    "plan::gate-nobody-can-pass",
                    (at, "gate"),
                    format!(
                        "gate `{}` needs {needed} approvals by a {role}, but {people} of the stakeholders have that role",
                        task.id
                    ),
                )
                .hint(format!("give stakeholders the role `{role}`, or change the gate's role"));
        }
    }
}
