//! Problems of what a task does and of how it is taken back.

use std::collections::BTreeSet;

use serde_json::Value;

use super::content::Spot;
use super::names::{check_condition, check_expr};
use super::{Findings, Location, each, people};
use crate::plan::action::{Action, Agent, Compute, Decide, Model, Nested};
use crate::plan::{Call, Input, Reference, Undo};

/// Says what is wrong with what a task does.
pub(super) fn check(spot: &Spot<'_>, findings: &mut Findings) {
    check_alternates(spot, findings);
    check_pipelines(spot, findings);
    check_inputs(spot, findings);
    check_texts(spot, findings);
    check_undo(spot, findings);
    check_commands(spot, findings);
    match &spot.task.action {
        Some(Action::Gate(gate)) => people::check_gate(spot, gate, findings),
        Some(Action::Ask(ask)) => people::check_ask(spot, ask, findings),
        Some(Action::Map(map)) => each::check(spot, map, findings),
        Some(Action::Decide(decide)) => check_decide(spot, decide, findings),
        Some(Action::Compute(compute)) => check_compute(spot, compute, findings),
        Some(Action::UndoTo(undo)) => check_point(spot, &undo.0, findings),
        Some(Action::Plan(nested)) => check_nested(spot, nested, findings),
        Some(Action::Agent(agent)) => check_agent(spot, agent, findings),
        Some(Action::Model(model)) => check_model(spot, model, findings),
        Some(
            Action::Run(_)
            | Action::Command(_)
            | Action::Tool(_)
            | Action::Manual(_)
            | Action::Adopt(_)
            | Action::Checkpoint(_)
            | Action::Wait(_),
        )
        | None => {}
    }
}

/// A model is asked something: by a prompt, by an instruction, or else by what the task is called.
fn check_model(spot: &Spot<'_>, model: &Model, findings: &mut Findings) {
    let task = spot.task;
    // The models of a team have prompts of their own.
    let of_team = model.role.as_ref().is_some_and(|role| role.starts_with("team."));
    let is_told = model.prompt.is_some() || of_team || !model.told_by(task).trim().is_empty();
    if !is_told {
        findings
            .error(
                "plan::nothing-to-ask",
                spot.at("model"),
                format!("task `{}` does not say what the model is asked", task.id),
            )
            .hint("write an `instruction`, name a `prompt`, or give the task a title or a description");
    }
}

fn check_agent(spot: &Spot<'_>, agent: &Agent, findings: &mut Findings) {
    if agent.goal.trim().is_empty() {
        people::empty(&spot.at("agent.goal"), "the agent has no goal", findings);
    }
    if agent.max_turns == Some(0) {
        findings.error(
            "plan::zero-limit",
            spot.at("agent.max_turns"),
            format!("with `max_turns: 0` the agent of task `{}` can do nothing", spot.task.id),
        );
    }
}

fn check_decide(spot: &Spot<'_>, decide: &Decide, findings: &mut Findings) {
    let task = spot.task;
    if decide.options.is_empty() && decide.question.is_empty() {
        findings
            .error(
                "plan::nothing-to-decide",
                spot.at("decide"),
                format!("task `{}` has neither options nor a question", task.id),
            )
            .hint("list the outcomes under `decide.options`");
    }
    for (i, branch) in decide.options.iter().enumerate() {
        if let Some(when) = &branch.when {
            check_condition(when, &spot.at(format!("decide.options.{i}.when")), spot, findings);
        }
    }
    // When no condition holds, one outcome is taken: `otherwise`, or else the first without a condition.
    let taken_before = usize::from(decide.otherwise.is_none());
    let without = decide.options.iter().enumerate().filter(|(_, branch)| branch.when.is_none());
    for (i, branch) in without.skip(taken_before).filter(|_| decide.is_computed()) {
        if decide.otherwise.as_ref() == Some(&branch.outcome) {
            continue;
        }
        findings
            .warning(
                "plan::never-chosen",
                spot.at(format!("decide.options.{i}")),
                format!("task `{}` never decides for `{}`: it has no condition", task.id, branch.outcome),
            )
            .hint("give it a `when`, or make it `otherwise`");
    }
    if decide.is_computed() && decide.otherwise.is_none() && decide.options.iter().all(|branch| branch.when.is_some()) {
        findings
            .warning(
                "plan::no-otherwise",
                spot.at("decide"),
                format!("task `{}` fails when none of its conditions holds", task.id),
            )
            .hint("say what happens then with `otherwise`");
    }
}

fn check_compute(spot: &Spot<'_>, compute: &Compute, findings: &mut Findings) {
    if compute.0.is_empty() {
        people::empty(&spot.at("compute"), "there is nothing to compute", findings);
    }
    for (name, expr) in &compute.0 {
        check_expr(expr, &spot.at(format!("compute.{name}")), spot.names, &spot.own, findings);
    }
    if let Err(circle) = compute.in_order() {
        findings
            .error(
                "plan::compute-cycle",
                spot.at("compute"),
                format!("these entries of task `{}` need each other: {}", spot.task.id, circle.join(", ")),
            )
            .hint("compute one of them without the others");
    }
}

/// A plan inside is a plan like any other: what is wrong with it is said at its place in there.
fn check_nested(spot: &Spot<'_>, nested: &Nested, findings: &mut Findings) {
    let task = spot.task;
    match (&nested.plan, &nested.template) {
        (None, None) => {
            findings.error(
                "plan::empty-nested",
                spot.at("plan"),
                format!("task `{}` names neither a plan nor a template", task.id),
            );
        }
        (Some(_), Some(_)) => {
            findings
                .error(
                    "plan::empty-nested",
                    spot.at("plan"),
                    format!("task `{}` names both a plan and a template", task.id),
                )
                .hint("keep one");
        }
        (Some(inner), None) => {
            for problem in inner.check() {
                let place = Location { inside: Some(Box::new(problem.place)), ..spot.at("plan") };
                findings.add(problem.severity, problem.code, place, problem.message).hint = problem.hint;
            }
        }
        (None, Some(_)) => {}
    }
}

/// Commands that could never run: that nothing is to be run, or outside the working folder, is seen beforehand.
fn check_commands(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
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
                    spot.at(&field),
                    format!("there is no command to run in task `{}`", task.id),
                )
                .hint("say what to run, or leave it out: then a person does the task");
        }
        if let Some(cwd) = run.cwd.as_deref().filter(|cwd| leads_out(cwd)) {
            findings
                .error(
                    "plan::outside-folder",
                    spot.at(format!("{field}.cwd")),
                    format!("the folder `{cwd}` is outside the working folder, where no command may run"),
                )
                .hint(
                    "name a folder inside, such as `cwd: src`; another working folder is chosen when the plan is run",
                );
        }
    }
}

/// Tells whether a path leads out of the folder that it starts in.
fn leads_out(path: &str) -> bool {
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
fn check_undo(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
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
        .error("plan::restore-needs-files", spot.at("undo"), format!("task `{}` cannot be restored: {why}", task.id))
        .hint("say how to take it back with `undo: {run: …}`, say `undo: never`, or leave `undo` out");
}

/// A reference stands for itself: inside a list or an object it is a text.
fn check_texts(spot: &Spot<'_>, findings: &mut Findings) {
    let names_a_task = |text: &str| match Reference::parse(text) {
        Some(Reference::Task { task, .. }) => spot.names.contains(task.as_str()),
        Some(Reference::Artifact { .. } | Reference::Memory { .. }) | None => false,
    };
    for (name, input) in &spot.task.inputs {
        if let Input::Value(Value::String(text)) = input
            && let Some(what) = almost_names(spot, text)
        {
            findings
                .warning(
                    "plan::almost-reference",
                    spot.at(format!("inputs.{name}")),
                    format!("`{text}` looks like a reference to {what}, but is a plain text: nothing is read from there"),
                )
                .hint("names in a reference are made of letters, digits, `-` and `_`; if a text is meant, write `{value: …}`");
        }
        let Input::Value(value @ (Value::Array(_) | Value::Object(_))) = input else { continue };
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            match value {
                Value::Array(items) => stack.extend(items),
                Value::Object(fields) => stack.extend(fields.values()),
                Value::String(text) if names_a_task(text) => {
                    findings
                        .warning(
                            "plan::reference-in-value",
                            spot.at(format!("inputs.{name}")),
                            format!(
                                "`{text}` is a plain text inside a list or an object, and nothing is read from there"
                            ),
                        )
                        .hint("give it an input of its own");
                }
                _ => {}
            }
        }
    }
}

/// What a text that is no reference would be one to, if its names were such that they can stand in one.
fn almost_names(spot: &Spot<'_>, text: &str) -> Option<String> {
    if Reference::parse(text).is_some() {
        return None;
    }
    if let Some(id) = text.strip_prefix("tasks.").and_then(|rest| rest.split('.').next()) {
        return spot.names.contains(id).then(|| format!("task `{id}`"));
    }
    let artifact = text.strip_prefix("artifacts.")?;
    let made = spot.plan.tasks.iter().flat_map(|task| task.artifacts.iter().map(|made| made.name.as_str()));
    let listed = spot.plan.artifacts.iter().map(|listed| listed.name.as_str());
    made.chain(listed).any(|name| name == artifact).then(|| format!("artifact `{artifact}`"))
}

/// Runners find what an action takes beside the task's own inputs: one name cannot mean both.
fn check_inputs(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
    let taken = match &task.action {
        Some(Action::Tool(tool)) if !tool.args.is_empty() => ("args", "the arguments of the tool"),
        Some(Action::Plan(nested)) if !nested.with.is_empty() => ("with", "what the nested plan is given"),
        Some(Action::Map(_)) => ("over", "the list that it maps over"),
        Some(Action::Adopt(_)) => ("from", "the plan that it adopts"),
        _ => return,
    };
    if task.inputs.contains_key(taken.0) {
        reserved_input(taken.0, taken.1, spot, findings);
    }
}

pub(super) fn reserved_input(name: &str, meaning: &str, spot: &Spot<'_>, findings: &mut Findings) {
    findings
        .error(
            "plan::reserved-input",
            spot.at(format!("inputs.{name}")),
            format!("an input cannot be called `{name}` here: that is {meaning}"),
        )
        .hint("choose another name");
}

/// What is taken back to should be there; people may mark points while the plan runs, so it may yet come.
fn check_point(spot: &Spot<'_>, to: &str, findings: &mut Findings) {
    if to.is_empty() {
        return people::empty(&spot.at("undo_to"), "it does not say what to go back to", findings);
    }
    let plan = spot.plan;
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
            spot.at("undo_to"),
            format!("there is no task or checkpoint `{to}` to go back to, unless someone marks it meanwhile"),
        )
        .hint = hint;
}

/// Tells whether an action is something that a runner does.
fn runs(action: &Action) -> bool {
    matches!(action, Action::Model(_) | Action::Run(_) | Action::Command(_) | Action::Tool(_) | Action::Agent(_))
}

/// Another way to do a task must be something that a runner does, and so must what takes it back or looks after it.
fn check_alternates(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
    for (i, other) in task.alternates.iter().enumerate() {
        if !runs(other) {
            findings
                .error(
                    "plan::bad-alternate",
                    spot.at(format!("alternates.{i}")),
                    format!("`{}` cannot be another way to do task `{}`", other.key(), task.id),
                )
                .hint("an alternate is a `run`, `command`, `tool`, `model` or `agent`");
        }
    }
    let undo = match &task.undo {
        Undo::Action(action) => Some(("undo", action)),
        Undo::None | Undo::Restore | Undo::Never => None,
    };
    for (field, action) in undo.into_iter().chain(task.verify.iter().map(|action| ("verify", action))) {
        if !runs(action) {
            findings
                .error(
                    "plan::not-run",
                    spot.at(field),
                    format!("`{}` cannot be the `{field}` of task `{}`: nothing runs it", action.key(), task.id),
                )
                .hint("use a `run`, `command`, `tool`, `model` or `agent`");
        }
    }
}

/// What a pipeline is given is a value, an input or an earlier result: a runner knows nothing else.
fn check_pipelines(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
    let own = task.action.iter().map(|action| (action.key().to_owned(), action));
    let others = task.alternates.iter().enumerate().map(|(i, action)| (format!("alternates.{i}"), action));
    for (field, action) in own.chain(others) {
        let Action::Command(command) = action else { continue };
        let mut known: BTreeSet<&str> = task.inputs.keys().map(String::as_str).chain(spot.item).collect();
        for call in command.calls().into_iter().flatten() {
            for arg in call.args.iter().map(|arg| Call::value_of(arg)) {
                let name = arg.split('.').next().unwrap_or_default();
                if Call::is_literal(arg) || known.contains(name) {
                    continue;
                }
                let reference = Reference::parse(arg).map(|_| "name it under `inputs`, and give that name".to_owned());
                let hint = reference.or_else(|| findings.suggest(name, known.iter().copied()));
                findings
                    .error(
                        "plan::unknown-argument",
                        spot.at(&field),
                        format!("`{arg}` in task `{}` is neither a value, an input nor an earlier result", task.id),
                    )
                    .hint(hint.unwrap_or_else(|| "write a text in quotes, or name it under `inputs`".to_owned()));
            }
            known.extend(call.result.as_deref());
        }
    }
}
