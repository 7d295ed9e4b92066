//! Problems of expressions and of words that look like one: what they name, and whether they say anything.

use std::collections::BTreeSet;

use super::content::Spot;
use super::{Findings, Location};
use crate::expr::Expr;
use crate::plan::action::Action;
use crate::plan::{Check, Task};

/// Names that an expression in this task may use without a prefix.
pub(super) fn own_names(task: &Task) -> BTreeSet<&str> {
    let mut own: BTreeSet<&str> = task.inputs.keys().chain(task.outputs.keys()).map(String::as_str).collect();
    own.extend(task.artifacts.iter().map(|artifact| artifact.name.as_str()));
    match &task.action {
        Some(Action::Command(command)) => {
            own.extend(command.calls().into_iter().flatten().filter_map(|call| call.result.as_deref()));
        }
        Some(Action::Compute(compute)) => own.extend(compute.0.keys().map(String::as_str)),
        Some(Action::Run(_)) => own.extend(RUN_GIVES),
        Some(Action::Ask(_)) => own.extend(["answer"]),
        Some(Action::Model(model)) if task.outputs.is_empty() && model.schema.is_none() => {
            own.extend(["text", "answered_by"]);
        }
        Some(Action::Model(_)) => own.extend(["answered_by"]),
        Some(Action::Gate(_)) => own.extend(["approved_by"]),
        Some(Action::Map(_)) => own.extend(["results"]),
        Some(Action::Tool(tool)) => own.extend(tool_gives(&tool.name)),
        _ => {}
    }
    own
}

/// Stands among the names of a task whose tool gives what only its server knows: any name may be one of them.
const ANY: &str = "*";

/// What a command gives, whatever it is.
const RUN_GIVES: [&str; 7] = ["exit_code", "stdout", "stderr", "signal", "json", "left_behind", "sandbox"];

/// What a tool of this program gives.
fn tool_gives(tool: &str) -> &'static [&'static str] {
    match tool {
        "shell" => &RUN_GIVES,
        "files.read" => &["content", "lines", "bytes", "hash"],
        "files.write" | "files.edit" | "files.delete" | "files.move" => &["changed", "paths", "summary"],
        "http.get" | "http.request" => &["status", "headers", "body", "json", "url", "bytes"],
        "http.download" => &["changed", "path", "bytes", "hash", "sha256"],
        "git.status" => &["branch", "head", "clean", "files", "count"],
        "git.diff" => &["diff", "paths", "count"],
        "git.commit" => &["changed", "commit", "paths", "count"],
        "git.branch" | "git.switch" => &["changed", "branch", "commit"],
        "git.tag" => &["changed", "tag", "commit"],
        "sql.query" => &["rows", "columns", "count", "truncated"],
        "sql.execute" => &["changed", "statements", "rows"],
        _ => &[ANY],
    }
}

/// Roots that every expression may use.
const ROOTS: [&str; 13] = [
    "inputs",
    "outputs",
    "tasks",
    "artifacts",
    "memory",
    "env",
    "network",
    "disk",
    "plan",
    "failure",
    "attempt",
    "outcome",
    "item",
];

/// Roots below which there is only one fact about the world.
const FACTS: [(&str, &str); 2] = [("network", "network.online"), ("disk", "disk.free")];

pub(super) fn check_names(
    check: &Check,
    place: &Location,
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

pub(super) fn check_expr(
    expr: &Expr,
    place: &Location,
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
        } else if let Some((_, fact)) = FACTS.iter().find(|(of, _)| *of == root && !own.contains(root)) {
            let name = path.segments.join(".");
            if name != *fact && name != root {
                findings
                    .warning("plan::unknown-name", place, format!("`{name}` in `{}` is no fact", expr.source()))
                    .hint(format!("did you mean `{fact}`? Otherwise someone has to say what it is"));
            }
        } else if !ROOTS.contains(&root) && !own.contains(root) && !own.contains(ANY) && !tasks.contains(root) {
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

/// Tells whether an expression reads nothing and does not hold.
pub(super) fn is_never(expr: &Expr) -> bool {
    expr.paths().is_empty() && expr.test(&serde_json::Map::new()).is_ok_and(|finding| !finding.holds)
}

/// Checks an expression that is to decide something.
pub(super) fn check_condition(expr: &Expr, place: &Location, spot: &Spot<'_>, findings: &mut Findings) {
    if expr.paths().is_empty() {
        check_constant(expr, place, findings);
    } else {
        check_expr(expr, place, spot.names, &spot.own, findings);
    }
}

/// What reads nothing is always the same: that is hardly what anyone means by a test.
fn check_constant(expr: &Expr, place: &Location, findings: &mut Findings) {
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
    let looks = known && begins(".[(=<>!&|") || compares || calls || operates || of_a_name;
    if !(looks || name_alone) {
        return None;
    }
    match Expr::parse(words) {
        Ok(_) if name_alone => Some("a name alone counts as a word".to_owned()),
        Err(error) if looks => Some(error.located(words)),
        Ok(_) | Err(_) => None,
    }
}

/// Tells whether words may look like an expression that is none, whatever names there are.
pub(crate) fn might_be_meant_as_expression(words: &str) -> bool {
    let root: String = words.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    meant_as_expression(words, &BTreeSet::from([root.as_str()]), &BTreeSet::new()).is_some()
}
