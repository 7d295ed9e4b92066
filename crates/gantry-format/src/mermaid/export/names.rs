//! Names and texts that mermaid reads as they are meant.

use std::collections::BTreeSet;

use gantry_core::plan::Plan;

/// Words that mermaid reads as its own at the start of an id, even before a dash.
const KEYWORDS: &[&str] = &[
    "accDescr",
    "accTitle",
    "call",
    "class",
    "classDef",
    "click",
    "default",
    "direction",
    "end",
    "flowchart",
    "graph",
    "href",
    "interpolate",
    "linkStyle",
    "style",
    "subgraph",
    "_blank",
    "_parent",
    "_self",
    "_top",
];

/// Returns a name for each task's node: its id where mermaid can read that, and unique.
pub(super) fn node_names(plan: &Plan) -> Vec<String> {
    // An id that can stay as it is keeps its name before any other one gets it.
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let kept: Vec<bool> = plan
        .tasks
        .iter()
        .map(|task| safe(task.id.as_str()) == task.id.as_str() && taken.insert(task.id.as_str().to_owned()))
        .collect();
    let mut names = Vec::with_capacity(plan.tasks.len());
    for (task, kept) in plan.tasks.iter().zip(kept) {
        let base = safe(task.id.as_str());
        let mut name = base.clone();
        let mut number = 2_u32;
        while !kept && !taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

/// Makes an id readable: two dashes would be a link, a dash at the end would join one, and a
/// keyword is not a name.
fn safe(id: &str) -> String {
    let mut name = id.replace("--", "__");
    if name.ends_with('-') {
        name.pop();
        name.push('_');
    }
    let first_word = name.split('-').next().unwrap_or_default();
    if KEYWORDS.contains(&first_word) { format!("task_{name}") } else { name }
}

/// Returns whether a text on an arrow needs no quotes.
pub(super) fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | ',' | '?' | '!' | '\'');
    !text.is_empty() && text.trim() == text && text.chars().all(is_plain) && !text.contains("direction ")
}

/// Writes a text for between double quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '`' => out.push_str("#96;"),
            '%' => out.push_str("#37;"),
            '\n' => out.push_str("<br/>"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    // Mermaid takes every line with `direction LR` in it for that statement, even inside of quotes.
    out.replace("direction ", "direction#32;")
}
