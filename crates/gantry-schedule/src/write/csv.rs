//! Writes the tasks of a schedule as a table. Read again, tasks start when they were scheduled, for it has no links.

use crate::project::{Amount, Unit};
use crate::schedule::{Assigned, Schedule, TaskRow};

const HEADING: [&str; 12] = [
    "id",
    "title",
    "parent",
    "start",
    "finish",
    "duration",
    "float",
    "unit",
    "critical",
    "resources",
    "cost",
    "percent",
];

/// The tasks, one on each line, under a heading.
pub fn write(schedule: &Schedule) -> String {
    let mut table = record(HEADING.map(str::to_owned));
    for task in &schedule.tasks {
        table += &record(fields(task, schedule.unit).map(unlike_a_formula));
    }
    table
}

fn fields(task: &TaskRow, unit: Unit) -> [String; 12] {
    let whom = |one: &Assigned| {
        if one.amount == Amount::default() { one.id.clone() } else { format!("{} {}", one.id, one.amount) }
    };
    let who: Vec<String> = task.resources.iter().map(whom).collect();
    let unit = serde_json::to_value(unit).ok();
    [
        task.id.clone(),
        task.title.clone(),
        task.parent.clone().unwrap_or_default(),
        task.start.to_string(),
        task.finish.to_string(),
        task.duration.to_string(),
        task.float.to_string(),
        unit.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned(),
        task.critical.to_string(),
        who.join("; "),
        task.cost.to_string(),
        task.percent.to_string(),
    ]
}

fn record(fields: [String; 12]) -> String {
    fields.map(quoted).join(",") + "\n"
}

fn quoted(text: String) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// What a spreadsheet would take for a formula is kept from being one.
fn unlike_a_formula(text: String) -> String {
    let number = text.parse::<f64>().is_ok();
    if !number && text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_formula_or_break_a_line_is_kept_from_it() {
        assert_eq!(unlike_a_formula("=1+1".to_owned()), "'=1+1");
        assert_eq!(unlike_a_formula("-3.5".to_owned()), "-3.5");
        assert_eq!(quoted("say \"a\", then b".to_owned()), "\"say \"\"a\"\", then b\"");
        assert_eq!(quoted("plain".to_owned()), "plain");
    }
}
