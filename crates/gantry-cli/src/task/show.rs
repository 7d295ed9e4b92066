//! Everything that is known about one task.

use std::process::ExitCode;

use gantry_core::event::{Entry, Outputs};
use gantry_core::id::TaskId;
use gantry_core::life::{Life, State};
use gantry_core::plan::{Plan, Task};
use gantry_store::ArtifactRow;
use serde_json::{Value, json};

use crate::artifact;
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::file::count;
use crate::session::Record;
use crate::show::elapsed::clock;
use crate::show::table::columns;
use crate::show::words::said;
use crate::show::{bytes, first_line};

/// How much of a value is shown.
const VALUE_CHARS_MAX: usize = 200;

pub async fn show(record: &Record, plan: &str, name: &str) -> Result<ExitCode, Fault> {
    let desk = Desk::open(record, plan).await?;
    let (life, task) = desk.task(name).await?;
    let artifacts = artifact::all(desk.store(), desk.id()).await?;
    let artifacts: Vec<ArtifactRow> = artifacts.into_iter().filter(|row| row.artifact.task == task).collect();
    let history: Vec<Entry> = gantry_engine::entries(desk.store(), desk.id())
        .await?
        .into_iter()
        .filter(|entry| entry.event.task() == Some(&task))
        .collect();
    if record.json {
        let all = json!({
            "plan": life.id(), "task": task, "state": life.task_state(name), "definition": life.definition(name),
            "life": life.task_life(name), "held_by": life.held_by(name), "inputs": life.inputs_of(name),
            "outputs": life.outputs(name), "artifacts": artifacts, "history": history,
        });
        exit::print(&format!("{all:#}\n"))?;
    } else {
        exit::print(&describe(&life, &task, &artifacts, &history))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn describe(life: &Life, id: &TaskId, artifacts: &[ArtifactRow], history: &[Entry]) -> String {
    let name = id.as_str();
    let (Some(task), Some(known)) = (life.definition(name), life.task_life(name)) else { return String::new() };
    let mut rows = vec![
        vec!["task".to_owned(), format!("{id}: {}", task.name())],
        vec!["plan".to_owned(), format!("{} ({})", life.id(), life.state())],
        vec!["state".to_owned(), state(life, name, &known.state)],
    ];
    let mut row = |label: &str, text: String| rows.push(vec![label.to_owned(), text]);
    if let Some(failure) = &known.failure {
        row("failure", first_line(&failure.message, VALUE_CHARS_MAX));
    }
    if let Some(because) = &known.because {
        row("because", because.clone());
    }
    if known.attempt.0 > 0 {
        row("attempts", known.attempt.to_string());
    }
    if let Some(outcome) = &known.outcome {
        row("outcome", outcome.clone());
    }
    let mut text = columns(&rows);
    text += &section("definition", &definition(task));
    text += &section("inputs", &values(&life.inputs_of(name)));
    text += &section("outputs", &values(&known.outputs));
    let kept: Vec<Vec<String>> = artifacts
        .iter()
        .map(|row| {
            vec![
                format!("{}@{}", row.artifact.name, row.version),
                bytes(row.artifact.bytes),
                row.artifact.hash.to_string()[..12].to_owned(),
            ]
        })
        .collect();
    text += &section("artifacts", &columns(&kept));
    let lines: Vec<Vec<String>> =
        history.iter().map(|entry| vec![entry.seq.to_string(), clock(entry.at), said(&entry.event).text]).collect();
    text += &section("history", &columns(&lines));
    text
}

fn state(life: &Life, name: &str, state: &State) -> String {
    let word = life.task_state(name).map(|state| state.to_string()).unwrap_or_default();
    match state {
        State::Waiting(waiting) => format!("{word} for {waiting}"),
        State::Blocked { reason, .. } => format!("{word}: {reason}"),
        _ => {
            let held: Vec<String> = life.held_by(name).iter().map(|task| format!("`{task}`")).collect();
            if held.is_empty() || state.is_final() { word } else { format!("{word}, behind {}", held.join(", ")) }
        }
    }
}

/// The task as it stands in a plan file.
fn definition(task: &Task) -> String {
    let task = Task { parent: None, ..task.clone() };
    let yaml = gantry_format::to_yaml(&Plan { tasks: vec![task], ..Plan::default() });
    let body = yaml.split_once("tasks:\n").map_or("", |(_, body)| body);
    body.lines().map(|line| line.get(4..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn values(values: &Outputs) -> String {
    columns(&values.iter().map(|(name, value)| vec![name.clone(), plain(value)]).collect::<Vec<_>>())
}

/// A value in one line; texts without their quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let lines = text.lines().count();
            let more = if lines > 1 { format!(" ({})", count(lines, "line")) } else { String::new() };
            format!("{}{more}", first_line(text, VALUE_CHARS_MAX))
        }
        other => first_line(&other.to_string(), VALUE_CHARS_MAX),
    }
}

fn section(title: &str, body: &str) -> String {
    if body.trim().is_empty() {
        return String::new();
    }
    let lines: Vec<String> = body.lines().map(|line| format!("  {line}")).collect();
    format!("\n{title}\n{}\n", lines.join("\n"))
}
