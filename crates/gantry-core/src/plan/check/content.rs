//! Problems that one task, or the plan's own fields, have by themselves.

use std::collections::BTreeSet;

use super::names::{check_condition, check_names, own_names};
use super::tools::{check_arguments, check_called};
use super::{Findings, Location, actions, parts, people};
use crate::plan::{Action, Check, Idempotency, Plan, Task, folded};
use crate::policy::{Budget, Judge, Retry};
use crate::time::Duration;

/// A round with a higher number is none that a loop has made.
const ROUND_MAX: u32 = 1_000_000;

/// Whoever tries more often than this waits for something.
const RETRIES_MAX: u32 = 1_000;

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
        check_names(done, &Location::new(None, format!("done_when.{index}")), &names, &BTreeSet::new(), findings);
    }
    let mut seen = BTreeSet::new();
    for (index, tool) in plan.capabilities.iter().enumerate() {
        let path = format!("capabilities.{index}");
        if !seen.insert(&tool.name) {
            findings.error("plan::duplicate-capability", (None, &path), format!("`{}` is listed twice", tool.name));
        }
        for (i, check) in tool.preconditions.iter().enumerate() {
            let place = Location::new(None, format!("{path}.preconditions.{i}"));
            check_names(check, &place, &names, &BTreeSet::new(), findings);
        }
    }
    if plan.policy.parallel == Some(0) {
        findings.error(
            "plan::zero-limit",
            (None, "policy.parallel"),
            "with `parallel: 0` nothing can ever run".to_owned(),
        );
    }
    if plan.policy.budget.time == Some(Duration::default()) {
        findings.error(
            "plan::zero-duration",
            (None, "policy.budget.time"),
            "with a time budget of zero nothing can ever start".to_owned(),
        );
    }
    check_patience(plan.policy.escalate_after, &Location::new(None, "policy.escalate_after"), findings);
    for (capability, limit) in &plan.policy.capabilities {
        if *limit == 0 {
            findings.error(
                "plan::zero-limit",
                (None, &format!("policy.capabilities.{capability}")),
                format!("no task that uses `{capability}` can ever run"),
            );
        }
    }
    check_retries(plan.policy.retry, &Location::new(None, "policy.retry"), findings);
    let repairs = plan.policy.recovery.repairs_max;
    if repairs > RETRIES_MAX {
        findings
            .error(
                "plan::too-many-retries",
                (None, "policy.recovery.repairs_max"),
                format!("{repairs} repairs are asked for, and at most {RETRIES_MAX} are allowed"),
            )
            .hint("what is wrong so often is better shown to a person: `recovery: {logic: [repair, escalate]}`");
    }
    check_unused(plan, findings);
    for (index, task) in plan.tasks.iter().enumerate() {
        check_task(&Spot { plan, task, index, prefix: "", names: &names, own: own_names(task), item: None }, findings);
    }
}

/// Points out what is said about attempts where there are none, and about parts where there are none.
fn check_unused(plan: &Plan, findings: &mut Findings) {
    let parents: BTreeSet<&str> =
        plan.tasks.iter().filter_map(|task| task.parent.as_ref()).map(crate::id::TaskId::as_str).collect();
    for (index, task) in plan.tasks.iter().enumerate() {
        let composite = parents.contains(task.id.as_str());
        let grows = matches!(task.action, Some(Action::Map(_) | Action::Adopt(_)));
        let mut point_out = |field: &str, why: &str, hint: &str| {
            findings
                .warning(
                    "plan::unused-field",
                    (Some(index), field),
                    format!("`{field}` of task `{}` does nothing: {why}", task.id),
                )
                .hint(hint);
        };
        if !composite && !grows && task.timebox.is_some() {
            point_out("timebox", "it has no parts", "use `timeout` for how long an attempt may take");
        }
        if !composite || task.action.is_some() {
            continue;
        }
        let of_attempts = [
            ("retry", task.retry.is_some()),
            ("timeout", task.timeout.is_some()),
            ("heartbeat", task.heartbeat.is_some()),
            ("alternates", !task.alternates.is_empty()),
        ];
        for (field, _) in of_attempts.into_iter().filter(|(_, said)| *said) {
            let hint =
                if field == "timeout" { "use `timebox`, or give it to its parts" } else { "give it to its parts" };
            point_out(field, "its parts do the work, and it has no attempts of its own", hint);
        }
        for (i, mode) in task.failure_modes.iter().enumerate() {
            if let Some(recover) = mode.recover.as_deref().filter(|recover| !answers_for_parts(plan, recover)) {
                let why = format!("`{recover}` tries nothing again here: its parts do the work");
                let field = format!("failure_modes.{i}.recover");
                point_out(&field, &why, "name a task, or use `fallback`, `undo` or `abort`");
            }
        }
    }
}

/// Tells whether the failure of parts can be answered like this.
fn answers_for_parts(plan: &Plan, recover: &str) -> bool {
    matches!(recover, "fallback" | "undo" | "abort") || plan.tasks.iter().any(|task| task.id.as_str() == recover)
}

/// Two people with one name would approve as one.
fn check_people(plan: &Plan, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (index, person) in plan.stakeholders.iter().enumerate() {
        if !seen.insert(folded(&person.name)) {
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

/// A task that is looked at, where it stands, and what it may speak of.
pub(super) struct Spot<'a> {
    pub(super) plan: &'a Plan,
    pub(super) task: &'a Task,
    /// The index in [`Plan::tasks`] of the task, or of the map that makes it.
    pub(super) index: usize,
    /// What stands before the names of its fields: `map.each.` for what a map makes.
    pub(super) prefix: &'a str,
    /// The ids of the plan's tasks.
    pub(super) names: &'a BTreeSet<&'a str>,
    /// Names that its expressions may use without a prefix.
    pub(super) own: BTreeSet<&'a str>,
    /// The name of the input that holds the item, when a map makes it.
    pub(super) item: Option<&'a str>,
}

impl Spot<'_> {
    /// The place of one of its fields.
    pub(super) fn at(&self, field: impl AsRef<str>) -> Location {
        Location::new(Some(self.index), format!("{}{}", self.prefix, field.as_ref()))
    }
}

/// Says what is wrong with one task by itself, wherever it stands.
pub(super) fn check_task(spot: &Spot<'_>, findings: &mut Findings) {
    let (plan, task) = (spot.plan, spot.task);
    check_called(spot, findings);
    check_arguments(spot, findings);
    parts::check(spot, findings);
    for (field, duration) in [
        ("timeout", task.timeout),
        ("heartbeat", task.heartbeat),
        ("timebox", task.timebox),
        ("budget.time", task.budget.time),
    ] {
        if duration == Some(Duration::default()) {
            findings.error(
                "plan::zero-duration",
                spot.at(field),
                format!("`{field}` of task `{}` is zero, so it can never succeed", task.id),
            );
        }
    }
    if let Some(escalation) = &task.escalation {
        check_patience(Some(escalation.after), &spot.at("escalation.after"), findings);
        if escalation.levels == 0 {
            findings.error(
                "plan::zero-limit",
                spot.at("escalation.levels"),
                format!("with `levels: 0` nobody is ever told about task `{}`", task.id),
            );
        }
    }
    if let Some(estimate) = &task.estimate
        && !(estimate.low <= estimate.likely && estimate.likely <= estimate.high)
    {
        findings
            .error(
                "plan::bad-estimate",
                spot.at("estimate"),
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
                spot.at(format!("budget.{field}")),
                format!("task `{}` may spend more than the whole plan, so it could never start", task.id),
            )
            .hint("raise `policy.budget` or lower the task's budget");
    } else {
        check_budget_within(spot, findings);
    }
    for (field, checks) in [
        ("preconditions", &task.preconditions),
        ("postconditions", &task.postconditions),
        ("success_criteria", &task.success_criteria),
    ] {
        for (i, check) in checks.iter().enumerate() {
            if check.text().trim().is_empty() {
                people::empty(&spot.at(format!("{field}.{i}")), "the check says nothing", findings);
            }
            check_names(check, &spot.at(format!("{field}.{i}")), spot.names, &spot.own, findings);
        }
    }
    for (i, mode) in task.failure_modes.iter().enumerate() {
        let Some(detect) = &mode.detect else { continue };
        let place = spot.at(format!("failure_modes.{i}.detect"));
        check_names(detect, &place, spot.names, &spot.own, findings);
        if let (Check::Words(words), Judge::Nobody) = (detect, plan.policy.judge) {
            findings
                .warning("plan::detect-in-words", place, format!("`{words}` is never tested: nobody judges words here"))
                .hint("write an expression, set `policy.judge`, or have the runner report the mode by its name");
        }
    }
    for (i, route) in task.next.iter().enumerate() {
        check_growth(route.max, plan.policy.rounds_max, spot.at(format!("next.{i}.max")), findings);
        if let Some(when) = &route.when {
            check_condition(when, &spot.at(format!("next.{i}.when")), spot, findings);
        }
    }
    check_retry(spot, findings);
    if let Some(round) = task.round.as_ref().filter(|round| !(2..=ROUND_MAX).contains(&round.number)) {
        findings
            .error(
                "plan::bad-round",
                spot.at("round.number"),
                format!("task `{}` is in round {}, but rounds go from 2 to {ROUND_MAX}", task.id, round.number),
            )
            .hint("`round` says what a loop has repeated; leave it out of what you write yourself");
    }
    actions::check(spot, findings);
}

/// The policy has the last word on how much a plan may grow.
pub(super) fn check_growth(asked: Option<u32>, allowed: Option<u32>, place: Location, findings: &mut Findings) {
    if let (Some(asked), Some(allowed)) = (asked, allowed)
        && asked > allowed
    {
        findings
            .warning("plan::over-policy", place, format!("{asked} are asked for, but the policy allows {allowed}"))
            .hint("ask for less, or raise `policy.map_max` or `policy.rounds_max`");
    }
}

/// Whoever is waited for needs some time.
pub(super) fn check_patience(wait: Option<Duration>, place: &Location, findings: &mut Findings) {
    if wait == Some(Duration::default()) {
        let field = place.path.split('.').next_back().unwrap_or_default();
        findings
            .error("plan::zero-duration", place, format!("`{field}` is zero: nobody has time to do anything"))
            .hint("say how long to wait, such as `2h`, or leave it out");
    }
}

/// Trying again has an end.
fn check_retries(retry: Option<Retry>, place: &Location, findings: &mut Findings) {
    let Some(retry) = retry else { return };
    if retry.max > RETRIES_MAX {
        findings
            .error(
                "plan::too-many-retries",
                Location::new(place.task, format!("{}.max", place.path)),
                format!("{} retries are asked for, and at most {RETRIES_MAX} are allowed", retry.max),
            )
            .hint("to wait for something, use a longer `backoff` or a task that waits");
    }
    if retry.backoff_max < retry.backoff {
        findings
            .warning(
                "plan::backoff-max",
                Location::new(place.task, format!("{}.backoff_max", place.path)),
                format!(
                    "`backoff_max` ({}) is less than `backoff` ({}), so it is what is waited",
                    retry.backoff_max, retry.backoff
                ),
            )
            .hint("lower `backoff`, or raise `backoff_max`");
    }
}

/// Retries after a timeout need a word about whether half a run can be repeated.
fn check_retry(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
    check_retries(task.retry, &spot.at("retry"), findings);
    let retries = task.retry.is_some_and(|retry| retry.max > 0) && task.timeout.is_some();
    let unsaid = task.idempotency.is_none() && task.verify.is_none();
    if retries && unsaid && task.repeatable() == Idempotency::Unsafe {
        findings
            .warning(
                "plan::retry-after-timeout",
                spot.at("retry"),
                format!("after a timeout task `{}` is not tried again: it may have done half of its work", task.id),
            )
            .hint("say `idempotency: safe` if it can be repeated, `unsafe` if not, or how to find out with `verify`");
    }
}

/// A part draws on the budgets of everything around it.
fn check_budget_within(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
    if !task.budget.limits_spending() {
        return;
    }
    // What contains itself is told elsewhere.
    let above = |task: &&Task| task.parent.as_ref().and_then(|parent| spot.plan.task(parent.as_str()));
    let around = std::iter::successors(above(&task), above).take(spot.plan.tasks.len());
    for above in around {
        // Parts of a map are made when it runs, and what does not fit then is told then.
        if matches!(above.action, Some(Action::Map(_))) {
            return;
        }
        if let Some(field) = over_plan(&task.budget, &above.budget) {
            findings
                .error(
                    "plan::budget-too-large",
                    spot.at(format!("budget.{field}")),
                    format!("task `{}` may spend more than `{}` around it, so it could never start", task.id, above.id),
                )
                .hint(format!("raise the budget of `{}` or lower that of `{}`", above.id, task.id));
            return;
        }
    }
}

/// Returns the first dimension in which a task's budget is above the one around it.
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
