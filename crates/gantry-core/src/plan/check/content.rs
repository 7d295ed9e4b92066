//! Problems that one task, or the plan's own fields, have by themselves.

use std::collections::BTreeSet;

use super::Findings;
use super::actions::{
    check_alternates, check_commands, check_gate, check_inputs, check_point, check_undo, reserved_input,
};
use super::names::{check_expr, check_names, own_names};
use super::tools::check_arguments;
use crate::plan::action::Action;
use crate::plan::{Check, Idempotency, Input, Plan, Task};
use crate::policy::{Budget, Judge};
use crate::time::Duration;

/// More statements than anyone tests in one plan.
pub(crate) const HYPOTHESES_MAX: usize = 1_000;

pub(super) fn check(plan: &Plan, findings: &mut Findings) {
    if plan.tasks.is_empty() {
        findings
            .warning("plan::no-tasks", (None, "tasks"), "the plan has no tasks".to_owned())
            .hint("add at least one under `tasks`");
    }
    check_people(plan, findings);
    // The name of a first round means the newest one, also when there was no first.
    let rounds = plan.tasks.iter().filter_map(|task| task.round.as_ref()).map(|round| round.of.as_str());
    let names: BTreeSet<&str> = plan.tasks.iter().map(|task| task.id.as_str()).chain(rounds).collect();
    for (index, done) in plan.done_when.iter().enumerate() {
        check_names(done, (None, &format!("done_when.{index}")), &names, &BTreeSet::new(), findings);
    }
    let mut seen = BTreeSet::new();
    for (index, tool) in plan.capabilities.iter().enumerate() {
        let path = format!("capabilities.{index}");
        if !seen.insert(&tool.name) {
            findings.error("plan::duplicate-capability", (None, &path), format!("`{}` is listed twice", tool.name));
        }
        for (i, check) in tool.preconditions.iter().enumerate() {
            check_names(check, (None, &format!("{path}.preconditions.{i}")), &names, &BTreeSet::new(), findings);
        }
    }
    if plan.policy.parallel == Some(0) {
        findings.error(
            "plan::zero-limit",
            (None, "policy.parallel"),
            "with `parallel: 0` nothing can ever run".to_owned(),
        );
    }
    for (capability, limit) in &plan.policy.capabilities {
        if *limit == 0 {
            findings.error(
                "plan::zero-limit",
                (None, &format!("policy.capabilities.{capability}")),
                format!("no task that uses `{capability}` can ever run"),
            );
        }
    }
    for (index, task) in plan.tasks.iter().enumerate() {
        check_task(plan, index, task, &names, findings);
    }
}

/// Two people with one name would approve as one.
fn check_people(plan: &Plan, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (index, person) in plan.stakeholders.iter().enumerate() {
        if !seen.insert(&person.name) {
            findings.error(
                "plan::duplicate-stakeholder",
                (None, &format!("stakeholders.{index}")),
                format!("`{}` is listed twice", person.name),
            );
        }
    }
    if plan.hypotheses.len() > HYPOTHESES_MAX {
        findings.error(
            "plan::too-many-hypotheses",
            (None, "hypotheses"),
            format!("the plan has {} hypotheses, and at most {HYPOTHESES_MAX} are allowed", plan.hypotheses.len()),
        );
    }
    let mut seen = BTreeSet::new();
    for (index, hypothesis) in plan.hypotheses.iter().enumerate() {
        if !seen.insert(&hypothesis.id) {
            findings.error(
                "plan::duplicate-hypothesis",
                (None, &format!("hypotheses.{index}")),
                format!("`{}` is listed twice", hypothesis.id),
            );
        }
    }
}

fn check_task(plan: &Plan, index: usize, task: &Task, names: &BTreeSet<&str>, findings: &mut Findings) {
    let at = Some(index);
    check_arguments(index, task, findings);
    for (field, duration) in [
        ("timeout", task.timeout),
        ("heartbeat", task.heartbeat),
        ("timebox", task.timebox),
        ("budget.time", task.budget.time),
    ] {
        if duration == Some(Duration::default()) {
            findings.error(
                "plan::zero-duration",
                (at, field),
                format!("`{field}` of task `{}` is zero, so it can never succeed", task.id),
            );
        }
    }
    if let Some(estimate) = &task.estimate
        && !(estimate.low <= estimate.likely && estimate.likely <= estimate.high)
    {
        findings
            .error(
                "plan::bad-estimate",
                (at, "estimate"),
                format!(
                    "the estimate of task `{}` is not in order: low {}, likely {}, high {}",
                    task.id, estimate.low, estimate.likely, estimate.high
                ),
            )
            .hint("low must be at most likely, and likely at most high");
    }
    if let Some(field) = over_plan(&task.budget, &plan.policy.budget) {
        findings
            .error(
                "plan::budget-too-large",
                (at, &format!("budget.{field}")),
                format!("task `{}` may spend more than the whole plan, so it could never start", task.id),
            )
            .hint("raise `policy.budget` or lower the task's budget");
    }
    let own = own_names(task);
    for (field, checks) in [
        ("preconditions", &task.preconditions),
        ("postconditions", &task.postconditions),
        ("success_criteria", &task.success_criteria),
    ] {
        for (i, check) in checks.iter().enumerate() {
            check_names(check, (at, &format!("{field}.{i}")), names, &own, findings);
        }
    }
    for (i, mode) in task.failure_modes.iter().enumerate() {
        let path = format!("failure_modes.{i}.detect");
        match &mode.detect {
            Some(detect @ Check::Expr(_)) => check_names(detect, (at, &path), names, &own, findings),
            Some(detect @ Check::Words(words)) => {
                check_names(detect, (at, &path), names, &own, findings);
                if plan.policy.judge == Judge::Nobody {
                    findings
                        .warning(
                            "plan::detect-in-words",
                            (at, &path),
                            format!("`{words}` is never tested: nobody judges words here"),
                        )
                        .hint(
                            "write an expression, set `policy.judge`, or have the runner report the mode by its name",
                        );
                }
            }
            None => {}
        }
    }
    for (i, route) in task.next.iter().enumerate() {
        if let Some(when) = &route.when {
            check_expr(when, (at, &format!("next.{i}.when")), names, &own, findings);
        }
    }
    check_alternates(task, at, "", findings);
    check_inputs(task, at, "", findings);
    check_undo(task, at, "", findings);
    check_commands(task, at, "", findings);
    check_retry(task, at, findings);
    match &task.action {
        Some(Action::Gate(gate)) => check_gate(plan, index, task, gate, names, findings),
        Some(Action::Ask(ask)) => {
            if let Some(default) = &ask.default
                && !ask.options.is_empty()
                && !ask.options.iter().any(|choice| choice.name == *default)
            {
                findings.error(
                    "plan::unknown-choice",
                    (at, "ask.default"),
                    format!("the default answer `{default}` is not one of the options"),
                );
            }
            if ask.answer_within.is_some() && ask.default.is_none() {
                findings.warning(
                    "plan::no-default",
                    (at, "ask"),
                    format!("task `{}` has `answer_within` but no `default` to take then", task.id),
                );
            }
        }
        Some(Action::Map(map)) => {
            if map.max == Some(0) {
                findings.error(
                    "plan::zero-limit",
                    (at, "map.max"),
                    format!("with `max: 0` task `{}` can become nothing", task.id),
                );
            }
            if let Some(each) = &map.each {
                check_alternates(each, at, "map.each.", findings);
                check_inputs(each, at, "map.each.", findings);
                check_undo(each, at, "map.each.", findings);
                check_commands(each, at, "map.each.", findings);
                if each.inputs.contains_key(&map.r#as) {
                    reserved_input(&map.r#as, "the item of the list", at, "map.each.", findings);
                }
            }
            if let Some(field) = map.each.as_ref().and_then(|each| over_plan(&each.budget, &plan.policy.budget)) {
                findings
                    .error(
                        "plan::budget-too-large",
                        (at, &format!("map.each.budget.{field}")),
                        format!(
                            "each part of `{}` may spend more than the whole plan, so it could never start",
                            task.id
                        ),
                    )
                    .hint("raise `policy.budget` or lower the budget of `each`");
            }
            if let Input::Value(value) = &map.over
                && !value.is_array()
            {
                findings.error(
                    "plan::not-a-list",
                    (at, "map.over"),
                    format!("task `{}` maps over something that is not a list", task.id),
                );
            }
        }
        Some(Action::Decide(decide)) => {
            if decide.options.is_empty() && decide.question.is_empty() {
                findings
                    .error(
                        "plan::nothing-to-decide",
                        (at, "decide"),
                        format!("task `{}` has neither options nor a question", task.id),
                    )
                    .hint("list the outcomes under `decide.options`");
            }
            for (i, branch) in decide.options.iter().enumerate() {
                if let Some(when) = &branch.when {
                    check_expr(when, (at, &format!("decide.options.{i}.when")), names, &own, findings);
                }
            }
            if decide.is_computed()
                && decide.otherwise.is_none()
                && decide.options.iter().all(|branch| branch.when.is_some())
            {
                findings
                    .warning(
                        "plan::no-otherwise",
                        (at, "decide"),
                        format!("task `{}` fails when none of its conditions holds", task.id),
                    )
                    .hint("say what happens then with `otherwise`");
            }
        }
        Some(Action::Compute(compute)) => {
            for (name, expr) in &compute.0 {
                check_expr(expr, (at, &format!("compute.{name}")), names, &own, findings);
            }
            if let Err(circle) = compute.in_order() {
                findings
                    .error(
                        "plan::compute-cycle",
                        (at, "compute"),
                        format!("these entries of task `{}` need each other: {}", task.id, circle.join(", ")),
                    )
                    .hint("compute one of them without the others");
            }
        }
        Some(Action::UndoTo(undo)) => check_point(plan, index, &undo.0, findings),
        Some(Action::Plan(nested)) => match (&nested.plan, &nested.template) {
            (None, None) => {
                findings.error(
                    "plan::empty-nested",
                    (at, "plan"),
                    format!("task `{}` names neither a plan nor a template", task.id),
                );
            }
            (Some(_), Some(_)) => {
                findings
                    .error(
                        "plan::empty-nested",
                        (at, "plan"),
                        format!("task `{}` names both a plan and a template", task.id),
                    )
                    .hint("keep one");
            }
            (Some(inner), None) => {
                for problem in inner.check() {
                    let inside = problem
                        .place
                        .task
                        .and_then(|i| inner.tasks.get(i))
                        .map_or(String::new(), |t| format!(" (in its task `{}`)", t.id));
                    let found = findings.add(
                        problem.severity,
                        problem.code,
                        (at, "plan"),
                        format!("{}{inside}", problem.message),
                    );
                    found.hint = problem.hint;
                }
            }
            (None, Some(_)) => {}
        },
        _ => {}
    }
}

/// Retries after a timeout need a word about whether half a run can be repeated.
fn check_retry(task: &Task, at: Option<usize>, findings: &mut Findings) {
    let retries = task.retry.is_some_and(|retry| retry.max > 0) && task.timeout.is_some();
    let unsaid = task.idempotency.is_none() && task.verify.is_none();
    if retries && unsaid && task.repeatable() == Idempotency::Unsafe {
        findings
            .warning(
                "plan::retry-after-timeout",
                (at, "retry"),
                format!("after a timeout task `{}` is not tried again: it may have done half of its work", task.id),
            )
            .hint("say `idempotency: safe` if it can be repeated, `unsafe` if not, or how to find out with `verify`");
    }
}

/// Returns the first dimension in which a task's budget is above the plan's.
fn over_plan(task: &Budget, plan: &Budget) -> Option<&'static str> {
    let over = |task: Option<u64>, plan: Option<u64>| matches!((task, plan), (Some(task), Some(plan)) if task > plan);
    if over(task.cost_usd.map(|m| m.0), plan.cost_usd.map(|m| m.0)) {
        Some("cost_usd")
    } else if over(task.model_calls, plan.model_calls) {
        Some("model_calls")
    } else if over(task.tokens, plan.tokens) {
        Some("tokens")
    } else {
        None
    }
}
