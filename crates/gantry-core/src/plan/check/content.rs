//! Problems that one task, or the plan's own fields, have by themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use crate::expr::Expr;
use crate::plan::action::Action;
use crate::plan::{Check, Gate, Idempotency, Input, Plan, Task, Undo};
use crate::policy::Budget;
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
    let names: BTreeSet<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
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
                findings
                    .warning(
                        "plan::detect-in-words",
                        (at, &path),
                        format!("`{words}` is never tested: nobody judges failure modes"),
                    )
                    .hint("write an expression, or have the runner report the mode by its name");
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

/// Commands that could never run: that nothing is to be run, or outside the working folder, is seen beforehand.
fn check_commands(task: &Task, at: Option<usize>, prefix: &str, findings: &mut Findings) {
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
fn check_undo(task: &Task, at: Option<usize>, prefix: &str, findings: &mut Findings) {
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
fn check_inputs(task: &Task, at: Option<usize>, prefix: &str, findings: &mut Findings) {
    let taken = match &task.action {
        Some(Action::Tool(tool)) if !tool.args.is_empty() => ("args", "the arguments of the tool"),
        Some(Action::Plan(nested)) if !nested.with.is_empty() => ("with", "what the nested plan is given"),
        Some(Action::Map(_)) => ("over", "the list that it maps over"),
        _ => return,
    };
    if task.inputs.contains_key(taken.0) {
        reserved_input(taken.0, taken.1, at, prefix, findings);
    }
}

fn reserved_input(name: &str, meaning: &str, at: Option<usize>, prefix: &str, findings: &mut Findings) {
    findings
        .error(
            "plan::reserved-input",
            (at, &format!("{prefix}inputs.{name}")),
            format!("an input cannot be called `{name}` here: that is {meaning}"),
        )
        .hint("choose another name");
}

/// What is taken back to should be there; people may mark points while the plan runs, so it may yet come.
fn check_point(plan: &Plan, index: usize, to: &str, findings: &mut Findings) {
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
fn check_alternates(task: &Task, at: Option<usize>, prefix: &str, findings: &mut Findings) {
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

fn check_gate(plan: &Plan, index: usize, task: &Task, gate: &Gate, names: &BTreeSet<&str>, findings: &mut Findings) {
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

/// Names that an expression in this task may use without a prefix.
fn own_names(task: &Task) -> BTreeSet<&str> {
    let mut own: BTreeSet<&str> = task.inputs.keys().chain(task.outputs.keys()).map(String::as_str).collect();
    own.extend(task.artifacts.iter().map(|artifact| artifact.name.as_str()));
    match &task.action {
        Some(Action::Command(command)) => {
            own.extend(command.calls().into_iter().flatten().filter_map(|call| call.result.as_deref()));
        }
        Some(Action::Compute(compute)) => own.extend(compute.0.keys().map(String::as_str)),
        Some(Action::Run(_)) => own.extend(["exit_code", "stdout", "stderr"]),
        Some(Action::Ask(_)) => own.extend(["answer"]),
        _ => {}
    }
    own
}

/// Roots that every expression may use.
const ROOTS: [&str; 12] = [
    "inputs",
    "outputs",
    "tasks",
    "artifacts",
    "memory",
    "env",
    "network",
    "plan",
    "failure",
    "attempt",
    "outcome",
    "item",
];

fn check_names(
    check: &Check,
    place: (Option<usize>, &str),
    tasks: &BTreeSet<&str>,
    own: &BTreeSet<&str>,
    findings: &mut Findings,
) {
    match check {
        Check::Expr(expr) if expr.paths().is_empty() => check_constant(expr, place, findings),
        Check::Expr(expr) => check_expr(expr, place, tasks, own, findings),
        Check::Words(words) => {
            if let Some(reason) = meant_as_expression(words, tasks, own) {
                findings
                    .warning(
                        "plan::words-like-expression",
                        place,
                        format!("`{words}` is taken as words for a judge, because it is no expression: {reason}"),
                    )
                    .hint("mend the expression, or say with `expr: …` or `words: …` which is meant");
            }
        }
    }
}

fn check_expr(
    expr: &Expr,
    place: (Option<usize>, &str),
    tasks: &BTreeSet<&str>,
    own: &BTreeSet<&str>,
    findings: &mut Findings,
) {
    for path in expr.paths() {
        let Some(root) = path.segments.first().map(String::as_str) else { continue };
        if root == "tasks" {
            if let Some(task) = path.segments.get(1)
                && !tasks.contains(task.as_str())
            {
                let hint = findings.suggest(task, tasks.iter().copied());
                findings
                    .error(
                        "plan::unknown-task",
                        place,
                        format!("`{}` reads task `{task}`, which does not exist", expr.source()),
                    )
                    .hint = hint;
            }
        } else if !ROOTS.contains(&root) && !own.contains(root) && !tasks.contains(root) {
            let known = ROOTS.iter().copied().chain(own.iter().copied()).chain(tasks.iter().copied());
            let hint = findings.suggest(root, known).unwrap_or_else(|| {
                "use one of the task's inputs or outputs, a task id, or `inputs`, `outputs`, `tasks`, `artifacts`, `memory`, `env`".to_owned()
            });
            findings
                .warning("plan::unknown-name", place, format!("`{root}` in `{}` is not a known name", expr.source()))
                .hint(hint);
        }
    }
}

/// What reads nothing is always the same: that is hardly what anyone means by a test.
fn check_constant(expr: &Expr, place: (Option<usize>, &str), findings: &mut Findings) {
    let nothing = serde_json::Map::new();
    match expr.test(&nothing) {
        Ok(finding) => {
            findings
                .warning(
                    "plan::constant-check",
                    place,
                    format!("`{}` is always {}: it reads nothing", expr.source(), finding.holds),
                )
                .hint("name what it is about, such as `exit_code` or `tasks.<id>.<output>`");
        }
        Err(error) => {
            findings
                .error("plan::bad-check", place, format!("`{}` can never hold: {error}", expr.source()))
                .hint("write a comparison, or `words: …` to say that words are meant");
        }
    }
}

/// Operators that nobody writes in words.
const OPERATORS: [&str; 6] = ["==", "!=", "<=", ">=", "&&", "||"];

/// Says why words that look like an expression are none: `tests.exit_code = 0`, `foo(1) == 2`.
fn meant_as_expression(words: &str, tasks: &BTreeSet<&str>, own: &BTreeSet<&str>) -> Option<String> {
    let root: String = words.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let path: String = words.chars().take_while(|c| c.is_alphanumeric() || "_.[]\"".contains(*c)).collect();
    let known = ROOTS.contains(&root.as_str()) || own.contains(root.as_str()) || tasks.contains(root.as_str());
    let begins = |with: &str| words[root.len()..].starts_with(|c| with.contains(c));
    let goes_on = |with: &str| words[root.len()..].starts_with(with);
    let compares = words[path.len()..].trim_start().starts_with(['=', '<', '>']) && !path.is_empty();
    // `file(s)` is how people write, `len(stdout)` is not.
    let calls = !root.is_empty() && goes_on("(") && !goes_on("(s)") && !goes_on("(es)");
    // A name that is known, and a value: `stdout contains "bye"`, `exit_code is 0`.
    let last = words.split_whitespace().next_back().unwrap_or_default();
    let value = words.matches('"').count() >= 2
        || words.matches('\'').count() >= 2
        || last.parse::<f64>().is_ok()
        || matches!(last, "true" | "false" | "null");
    let of_a_name = (own.contains(root.as_str()) || tasks.contains(root.as_str())) && value;
    let name_alone = own.contains(words.trim());
    // Words that begin with one mean a number of things: `>= 5 sources`.
    let operates = OPERATORS.iter().any(|operator| words.trim_start().find(operator).is_some_and(|at| at > 0));
    if !(known && begins(".[(=<>!&|") || compares || calls || operates || of_a_name || name_alone) {
        return None;
    }
    match Expr::parse(words) {
        Ok(_) if name_alone => Some("a name alone counts as a word".to_owned()),
        Ok(_) => None,
        Err(error) => Some(error.located(words)),
    }
}
