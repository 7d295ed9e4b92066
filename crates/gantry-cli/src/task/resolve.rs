//! A person says what to do about tasks that ask for help: one, several, or all of them.

use std::process::ExitCode;

use clap::ValueEnum;
use gantry_core::event::Outputs;
use gantry_core::id::TaskId;
use gantry_core::input::{Input, Resolution};
use gantry_core::life::Life;
use serde_json::{Map, Value, json};

use crate::arguments::{ByAndWhy, ThePlan};
use crate::desk::{self, Desk, known_task};
use crate::exit::{self, Fault};
use crate::file::count;
use crate::session::Record;
use crate::show::next::helpless;

#[derive(clap::Args)]
#[command(
    override_usage = "gantry task resolve [OPTIONS] <PLAN> <TASK>... <HOW>\n       gantry task resolve [OPTIONS] <PLAN> --all <HOW>"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// The tasks, and at last what to do: retry (try again), complete (it happened, or was done by hand), skip (leave
    /// it out) or fail (let it fail)
    #[arg(required = true, value_name = "TASK… HOW")]
    words: Vec<String>,
    /// All tasks of the plan that ask for help
    #[arg(long)]
    all: bool,
    /// What the next attempt is told (with `retry`)
    #[arg(long)]
    guidance: Option<String>,
    /// An output (with `complete`); the value is JSON, or else text
    #[arg(long = "output", value_name = "NAME=VALUE", value_parser = desk::pair)]
    outputs: Vec<(String, Value)>,
    #[command(flatten)]
    by: ByAndWhy,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    Retry,
    Complete,
    Skip,
    Fail,
}

pub async fn resolve(record: &Record, wanted: &Args) -> Result<ExitCode, Fault> {
    let (by, why) = wanted.by.said()?;
    let (names, how) = read(&wanted.words, wanted.all)?;
    let resolution = resolution(how, wanted)?;
    let desk = Desk::open(record, &wanted.plan).await?;
    let before = desk.life().await?;
    let tasks = meant(&before, names, wanted.all)?;
    let mut told = None;
    for (at, task) in tasks.iter().enumerate() {
        let (task, by, why) = (task.clone(), by.clone(), why.clone());
        let heard = desk.hear(Input::Resolve { task, by, resolution: resolution.clone(), why }).await;
        told = Some(heard.map_err(|fault| match at {
            0 => fault,
            _ => {
                let heard = format!("{} before it heard it", count(at, "task"));
                fault.hint(format!("{heard}; see what is left with `gantry status {}`", desk.id()))
            }
        })?);
    }
    let done = if before.taking_back().is_some() { undone(how, &tasks) } else { done(how, &tasks) };
    if let Some(told) = told {
        desk.tell(told, &done, Map::from_iter([("tasks".to_owned(), json!(tasks))])).await?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn list(tasks: &[TaskId]) -> String {
    tasks.iter().map(|task| format!("`{task}`")).collect::<Vec<_>>().join(", ")
}

/// What became of tasks that could not be taken back.
fn undone(how: How, tasks: &[TaskId]) -> String {
    let all = list(tasks);
    match how {
        How::Retry => format!("taking back {all} is tried again"),
        How::Complete => format!("{all} counts as taken back"),
        How::Skip => format!("{all} stays as it is"),
        How::Fail => format!("{all} and what is left stay as they are"),
    }
}

/// What became of tasks that failed.
fn done(how: How, tasks: &[TaskId]) -> String {
    let all = list(tasks);
    match (how, tasks.len() > 1) {
        (How::Retry, false) => format!("{all} is tried again"),
        (How::Retry, true) => format!("{all} are tried again"),
        (How::Complete, false) => format!("{all} counts as done"),
        (How::Complete, true) => format!("{all} count as done"),
        (How::Skip, false) => format!("{all} is left out"),
        (How::Skip, true) => format!("{all} are left out"),
        (How::Fail, false) => format!("{all} has failed"),
        (How::Fail, true) => format!("{all} have failed"),
    }
}

/// Takes the words apart: which tasks, and what to do.
fn read(words: &[String], all: bool) -> Result<(&[String], How), Fault> {
    let usage = "write `gantry task resolve PLAN TASK… retry`, or `--all` for every task that asks for help";
    let Some((last, names)) = words.split_last() else { return Err(Fault::bad_input("what to do is missing")) };
    let Ok(how) = How::from_str(last, true) else {
        let fault = Fault::bad_input(format!("`{last}` is nothing that can be done about a task"));
        return Err(fault.hint("the last word is one of: retry, complete, skip, fail"));
    };
    match (names.is_empty(), all) {
        (true, false) => Err(Fault::bad_input("no task is named").hint(usage)),
        (false, true) => Err(Fault::bad_input("tasks are named, and `--all` is said as well").hint(usage)),
        _ => Ok((names, how)),
    }
}

/// The tasks that are meant, each once.
fn meant(life: &Life, names: &[String], all: bool) -> Result<Vec<TaskId>, Fault> {
    if !all {
        let mut tasks = Vec::new();
        for name in names {
            let task = known_task(life, name)?;
            if !tasks.contains(&task) {
                tasks.push(task);
            }
        }
        return Ok(tasks);
    }
    let tasks = helpless(life);
    if tasks.is_empty() {
        return Err(Fault::refused(format!("no task of `{}` asks for help", life.id()))
            .hint(format!("see where it stands with `gantry status {}`", life.id())));
    }
    Ok(tasks)
}

fn resolution(how: How, wanted: &Args) -> Result<Resolution, Fault> {
    if wanted.guidance.is_some() && how != How::Retry {
        return Err(Fault::bad_input("`--guidance` is for the next attempt: it goes with `retry`"));
    }
    if !wanted.outputs.is_empty() && how != How::Complete {
        return Err(Fault::bad_input("`--output` is the result: it goes with `complete`"));
    }
    Ok(match how {
        How::Retry => Resolution::Retry { guidance: wanted.guidance.clone() },
        How::Complete => Resolution::Complete { outputs: wanted.outputs.iter().cloned().collect::<Outputs>() },
        How::Skip => Resolution::Skip,
        How::Fail => Resolution::Fail,
    })
}
