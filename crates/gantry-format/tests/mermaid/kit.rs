//! Drawing charts as plain lines, and finding the charts to read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gantry_core::plan::{Action, Plan, Severity, Task};
use gantry_format::mermaid::{self, Flowchart, Imported};

#[path = "../shared.rs"]
mod shared;
pub use shared::shared;

/// Draws a chart as plain lines.
pub fn drawn(text: &str) -> String {
    match mermaid::parse(text) {
        Ok(chart) => draw(&chart, text),
        Err(problems) => {
            let mut out = String::new();
            for problem in problems {
                let found = text.get(problem.span.clone()).expect("a span inside the text");
                let _ = writeln!(out, "{found:?}: {}\n  hint: {}", problem.message, problem.hint);
            }
            out
        }
    }
}

pub fn draw(chart: &Flowchart, text: &str) -> String {
    let mut out = String::new();
    for node in &chart.nodes {
        let label = node.label.as_deref().unwrap_or_default();
        let _ = writeln!(out, "{} {:?} {label:?}", node.id, node.shape);
    }
    for edge in &chart.edges {
        let head = match (edge.arrow, edge.both_ways) {
            (true, true) => "<->",
            (true, false) => "->",
            (false, _) => "-",
        };
        let label = edge.label.as_ref().map(|label| format!(" {label:?}"));
        let _ = writeln!(out, "{} {head} {} {:?}{}", edge.from, edge.to, edge.style, label.unwrap_or_default());
    }
    for subgraph in &chart.subgraphs {
        let parent = subgraph.parent.map(|parent| &chart.subgraphs[parent].id);
        let parent = parent.map(|parent| format!(" in {parent}"));
        let _ = writeln!(
            out,
            "subgraph {} {:?}{}: [{}]",
            subgraph.id,
            subgraph.title,
            parent.unwrap_or_default(),
            subgraph.nodes.join(", ")
        );
    }
    for ignored in &chart.ignored {
        let _ = writeln!(out, "ignored {}: {:?}", ignored.kind.describe(), &text[ignored.span.clone()]);
    }
    out
}

/// Returns the folder of real charts, if this machine has it.
pub fn data() -> Option<PathBuf> {
    shared("data/mermaid")
}

/// Returns the names and texts of the real charts, in order.
pub fn flowcharts(data: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(data.join("flowcharts"))
        .expect("the folder of flowcharts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mmd"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), std::fs::read_to_string(path).expect("a readable file"))
        })
        .collect()
}

/// Draws an imported plan: its tasks with what they wait for and where they go, then the notes.
pub fn imported(text: &str) -> String {
    let chart = mermaid::parse(text).expect("a chart");
    let Imported { plan, notes } = mermaid::import(&chart);
    let mut out = draw_plan(&plan);
    for note in notes {
        let found = text.get(note.span.clone()).expect("a span inside the text");
        let _ = writeln!(out, "note {found:?}: {}", note.text);
    }
    out
}

/// Draws a plan as one line per task.
pub fn draw_plan(plan: &Plan) -> String {
    let mut out = String::new();
    for task in &plan.tasks {
        let _ = writeln!(out, "{}", draw_task(task));
    }
    out
}

fn draw_task(task: &Task) -> String {
    let mut out = format!("{} {:?}", task.id, task.title);
    match &task.action {
        Some(Action::Decide(decide)) => {
            let outcomes: Vec<_> = decide.options.iter().map(|branch| branch.outcome.as_str()).collect();
            let _ = write!(out, " decide [{}]", outcomes.join(", "));
        }
        Some(action) => {
            let _ = write!(out, " {}", action.key());
        }
        None => {}
    }
    if let Some(parent) = &task.parent {
        let _ = write!(out, " in {parent}");
    }
    if !task.depends_on.is_empty() {
        let ids: Vec<_> = task.depends_on.iter().map(ToString::to_string).collect();
        let _ = write!(out, " after {}", ids.join(", "));
    }
    for route in &task.next {
        let max = route.max.map(|max| format!(" max {max}")).unwrap_or_default();
        let _ = write!(out, "; {} to {}{max}", route.on, route.to);
    }
    out
}

/// Returns the errors of a plan's own check.
pub fn errors(plan: &Plan) -> Vec<String> {
    let errors = plan.check().into_iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| problem.message).collect()
}
