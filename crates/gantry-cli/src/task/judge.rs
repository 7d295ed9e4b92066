//! A person judges checks in words.

use std::process::ExitCode;

use gantry_core::input::{Input, Verdict};
use gantry_core::life::{Life, State, Waiting};
use gantry_core::policy::Usage;
use serde_json::json;

use crate::arguments::{By, ThePlan};
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::session::Record;
use crate::talk::talk;

#[derive(clap::Args)]
pub struct Judge {
    #[command(flatten)]
    plan: ThePlan,
    /// The task [default: the plan itself, whose definition of done is judged]
    task: Option<String>,
    /// A check that holds, by its text or its number, and why; without any, the checks are listed
    #[arg(long, value_name = "CHECK[=WHY]")]
    holds: Vec<String>,
    /// A check that does not hold, and why
    #[arg(long, value_name = "CHECK=WHY")]
    fails: Vec<String>,
    #[command(flatten)]
    by: By,
}

pub async fn judge(record: &Record, wanted: &Judge) -> Result<ExitCode, Fault> {
    let by = wanted.by.name()?;
    let desk = Desk::open(record, &wanted.plan).await?;
    let life = desk.life().await?;
    let task = wanted.task.as_ref().map(|task| crate::desk::known_task(&life, task)).transpose()?;
    let checks = asked(&life, task.as_ref().map(gantry_core::id::TaskId::as_str));
    let about = task.as_ref().map_or_else(|| format!("`{}`", desk.id()), |task| format!("`{task}`"));
    if wanted.holds.is_empty() && wanted.fails.is_empty() {
        if record.json {
            exit::print_json(&json!(checks))?;
        } else if checks.is_empty() {
            talk!("nobody is asked to judge {about}");
        }
        for (no, check) in (1..).zip(checks.iter().filter(|_| !record.json)) {
            exit::print(&format!("{no}. {check}\n"))?;
        }
        return Ok(ExitCode::from(exit::DONE));
    }
    let mut verdicts = Vec::new();
    for (holds, texts) in [(true, &wanted.holds), (false, &wanted.fails)] {
        for text in texts {
            let (check, because) = read(text, &checks)?;
            if !holds && because.is_empty() {
                return Err(
                    Fault::bad_input(format!("say why `{check}` does not hold")).hint("write `--fails CHECK=WHY`")
                );
            }
            verdicts.push(Verdict { check, holds, because, another_way: false });
        }
    }
    let done = format!("{by} judged {about}");
    desk.say(Input::Judged { task, by, verdicts, usage: Usage::default(), attempt: None, asked: None }, &done).await
}

/// The checks that a judge is asked about.
fn asked(life: &Life, task: Option<&str>) -> Vec<String> {
    match task {
        None => life.judging().to_vec(),
        Some(task) => match life.task_life(task).map(|task| &task.state) {
            Some(State::Waiting(Waiting::Judge { checks, .. })) => checks.clone(),
            _ => Vec::new(),
        },
    }
}

/// Finds the check that is meant, by its text or its number, and the reason behind the `=`.
fn read(text: &str, checks: &[String]) -> Result<(String, String), Fault> {
    for check in checks {
        if let Some(rest) = text.strip_prefix(check.as_str())
            && (rest.is_empty() || rest.starts_with('='))
        {
            return Ok((check.clone(), rest.trim_start_matches('=').to_owned()));
        }
    }
    let (name, why) = text.split_once('=').unwrap_or((text, ""));
    let by_number = name.trim().parse::<usize>().ok().and_then(|no| checks.get(no.checked_sub(1)?));
    if let Some(check) = by_number {
        return Ok((check.clone(), why.to_owned()));
    }
    let fault = Fault::bad_input(format!("`{name}` is none of the checks that are to be judged"));
    Err(if checks.is_empty() {
        fault.hint("nobody is asked to judge it right now")
    } else {
        fault.hint(format!(
            "they are: {}",
            (1..).zip(checks).map(|(no, check)| format!("{no}. {check}")).collect::<Vec<_>>().join("; ")
        ))
    })
}
