//! Everything that is known about one task.

use std::process::ExitCode;

use gantry_core::event::{Entry, Event, Outputs};
use gantry_core::id::TaskId;
use gantry_core::life::{Life, State};
use gantry_core::plan::{Plan, Task};
use gantry_store::{ArtifactRow, Store, all_effects};
use serde_json::{Value, json};

use super::calls;
use crate::artifact;
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::file::count;
use crate::session::Record;
use crate::show::elapsed::clock;
use crate::show::first_line;
use crate::show::parts::{Shown, folded};
use crate::show::table::columns;
use crate::show::words::said;

/// How much of a value is shown.
const VALUE_CHARS_MAX: usize = 200;

pub async fn show(record: &Record, plan: &str, name: &str, with_calls: bool) -> Result<ExitCode, Fault> {
    let desk = Desk::open(record, plan).await?;
    let (life, task) = desk.task(name).await?;
    let artifacts = artifact::all(desk.store(), desk.id()).await?;
    let artifacts: Vec<ArtifactRow> = artifacts.into_iter().filter(|row| row.artifact.task == task).collect();
    let history: Vec<Entry> = gantry_engine::entries(desk.store(), desk.id())
        .await?
        .into_iter()
        .filter(|entry| entry.event.task() == Some(&task))
        .collect();
    let calls = if with_calls { all_effects(desk.store(), desk.id(), Some(&task)).await? } else { Vec::new() };
    if record.json {
        let mut all = json!({
            "plan": life.id(), "task": task, "state": life.task_state(name), "definition": life.definition(name),
            "life": life.task_life(name), "held_by": life.held_by(name), "inputs": life.inputs_of(name),
            "outputs": life.outputs(name), "artifacts": folded(&artifacts).iter().map(Shown::to_json).collect::<Vec<_>>(), "history": history,
        });
        if with_calls {
            all["calls"] = calls.iter().map(calls::to_json).collect();
        }
        exit::print_json(&all)?;
    } else {
        let cut = cut(desk.store(), &life, &artifacts).await?;
        let mut text = describe(&life, &task, &artifacts, &cut, &history);
        if with_calls {
            let drawn: String = calls.iter().map(calls::drawn).collect();
            text += &section("calls", if drawn.is_empty() { "none is on record" } else { &drawn });
        }
        exit::print(&text)?;
    }
    Ok(ExitCode::from(exit::DONE))
}

/// Says where something of a task's output is missing: in its outputs, or even in what is kept.
async fn cut(store: &dyn Store, life: &Life, artifacts: &[ArtifactRow]) -> Result<Vec<String>, Fault> {
    let kept_max = gantry_runners::Limits::default().stream_bytes_max as u64;
    let mut lines = Vec::new();
    for (at, row) in artifacts.iter().enumerate() {
        let artifact = &row.artifact;
        let newest = !artifacts[at + 1..].iter().any(|later| later.artifact.name == artifact.name);
        if !newest || !["stdout", "stderr"].contains(&artifact.name.as_str()) {
            continue;
        }
        if artifact.bytes > kept_max {
            let body = store.get_blob(artifact.hash).await?.unwrap_or_default();
            lines.extend(left_out(&body).map(|note| format!("{}: {note}\n", artifact.name)));
        }
        let output = life.outputs(artifact.task.as_str()).and_then(|outputs| outputs.get(&artifact.name));
        let shown = output.and_then(Value::as_str).map_or(artifact.bytes, |text| text.len() as u64);
        if shown < artifact.bytes {
            let get = format!("gantry artifact get {} -o FILE", row.reference());
            lines.push(format!("{}: the output is only the end of it; get all with `{get}`\n", artifact.name));
        }
    }
    Ok(lines)
}

/// What the runner wrote in the place of what it left out.
fn left_out(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let (_, note) = text.split_once("\n[gantry: ")?;
    note.split_once(" are left out here]")
        .map(|(bytes, _)| format!("{bytes} in the middle were too much and are left out"))
}

fn describe(life: &Life, id: &TaskId, artifacts: &[ArtifactRow], cut: &[String], history: &[Entry]) -> String {
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
    let kept: Vec<Vec<String>> = folded(artifacts)
        .into_iter()
        .map(|shown| vec![shown.name(), shown.size(), shown.row.artifact.hash.to_string()[..12].to_owned()])
        .collect();
    text += &section("artifacts", &(columns(&kept) + &cut.join("")));
    let lines: Vec<Vec<String>> = history
        .iter()
        .filter(|entry| !is_sign_of_life(&entry.event))
        .map(|entry| vec![entry.seq.to_string(), clock(entry.at), said(&entry.event).text])
        .collect();
    text += &section("history", &columns(&lines));
    text
}

/// Says only that an attempt goes on; a long one has thousands of these.
fn is_sign_of_life(event: &Event) -> bool {
    match event {
        Event::LeaseExtended { .. } => true,
        Event::ProgressMade { note, .. } => note.is_empty(),
        _ => false,
    }
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
