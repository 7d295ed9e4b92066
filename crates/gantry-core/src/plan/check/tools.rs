//! Arguments that the tools of this program cannot do without.

use super::Findings;
use super::content::Spot;
use crate::plan::action::Action;

/// What a tool must be given: one name of each group.
fn needed(tool: &str, has: impl Fn(&str) -> bool) -> &'static [&'static [&'static str]] {
    match tool {
        "files.read" | "files.delete" => &[&["path"]],
        "files.write" => &[&["path"], &["content", "base64"]],
        "files.edit" if has("diff") => &[],
        "files.edit" if has("edits") => &[&["path"]],
        "files.edit" => &[&["path"], &["search", "edits", "diff"], &["replace"]],
        "files.move" => &[&["from"], &["to"]],
        "shell" => &[&["command"]],
        "http.get" | "http.request" => &[&["url"]],
        "http.download" => &[&["url"], &["path"]],
        "git.commit" => &[&["message"]],
        "git.branch" | "git.switch" | "git.tag" => &[&["name"]],
        "sql.query" | "sql.execute" => &[&["path"], &["sql"]],
        _ => &[],
    }
}

/// Actions that have a form of their own, with more to say than arguments.
const NO_TOOLS: [&str; 3] = ["model", "decide", "agent"];

/// Says which actions are called as if they were tools: at run time it would be too late.
pub(super) fn check_called(spot: &Spot<'_>, findings: &mut Findings) {
    let (field, called): (&str, Vec<&str>) = match &spot.task.action {
        Some(Action::Tool(tool)) => ("tool", vec![&tool.name]),
        Some(Action::Command(command)) => {
            ("command", command.calls().unwrap_or_default().iter().map(|call| call.name.as_str()).collect())
        }
        Some(Action::Agent(agent)) => ("agent", agent.tools.iter().map(String::as_str).collect()),
        _ => return,
    };
    for name in called.into_iter().filter(|name| NO_TOOLS.contains(name)) {
        let problem = findings.error(
            "plan::not-a-tool",
            spot.at(field),
            format!("task `{}` calls `{name}`, which is no tool", spot.task.id),
        );
        problem.hint(format!("make a task of its own for it, with the action `{name}:`"));
    }
}

/// Says which arguments are missing: at run time it would be too late.
pub(super) fn check_arguments(spot: &Spot<'_>, findings: &mut Findings) {
    let task = spot.task;
    let Some(Action::Tool(tool)) = &task.action else { return };
    // Whoever binds the input `args` gives all arguments at once.
    if task.inputs.contains_key("args") {
        return;
    }
    let has = |name: &str| tool.args.contains_key(name);
    let missing: Vec<&[&str]> =
        needed(&tool.name, has).iter().copied().filter(|group| !group.iter().any(|name| has(name))).collect();
    if missing.is_empty() {
        return;
    }
    let words = |group: &[&str]| group.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
    let names = missing.iter().map(|group| words(group)).collect::<Vec<_>>().join(", and ");
    let problem = findings.error(
        "plan::missing-argument",
        spot.at("tool"),
        format!("task `{}` does not give `{}` its {names}", task.id, tool.name),
    );
    let misplaced = missing.iter().flat_map(|group| group.iter()).find(|name| task.inputs.contains_key(**name));
    problem.hint(match misplaced {
        Some(name) => format!(
            "`{name}` stands under `inputs`, which a tool does not see; write `tool: {{name: {}, args: {{{name}: …}}}}`",
            tool.name
        ),
        None => format!("write `tool: {{name: {}, args: {{{}: …}}}}`", tool.name, missing[0][0]),
    });
}
