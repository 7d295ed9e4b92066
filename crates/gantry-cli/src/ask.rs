//! `gantry ask`: sees what people are asked, and answers.

use std::process::ExitCode;

use gantry_core::input::Input;
use gantry_core::life::{State, Waiting};
use gantry_core::plan::Action;
use serde_json::json;

use crate::arguments::{By, PlanOrAll, ThePlan};
use crate::desk::{self, Desk};
use crate::exit::{self, Fault};
use crate::gate::waiting_plans;
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::talk::talk;

/// See what people are asked, and answer
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry ask list\n  gantry ask answer 7 which-cloud eu-west")]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// List the questions that wait for an answer, of one plan or of all
    List {
        #[command(flatten)]
        plan: PlanOrAll,
    },
    /// Answer a question
    Answer {
        #[command(flatten)]
        plan: ThePlan,
        /// The task that asks
        task: String,
        /// The answer: one of those offered, or any text when none are
        answer: String,
        #[command(flatten)]
        by: By,
    },
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        match &args.what {
            What::List { plan } => list(&args.record, plan.one()).await,
            What::Answer { plan, task, answer, by } => {
                let by = by.name()?;
                let desk = Desk::open(&args.record, plan).await?;
                let (_, task) = desk.task(task).await?;
                let done = format!("{by} answered `{task}`: {answer}");
                desk.say(Input::Answer { task, by, answer: answer.clone() }, &done).await
            }
        }
    })
}

async fn list(record: &Record, plan: Option<&str>) -> Result<ExitCode, Fault> {
    let engine = desk::engine(record)?;
    let (mut lines, mut all) = (Vec::new(), Vec::new());
    for card in waiting_plans(&engine, plan).await? {
        let life = engine.open(&card.id).await?.life;
        for id in life.task_ids() {
            let Some((task, life)) = life.definition(id.as_str()).zip(life.task_life(id.as_str())) else { continue };
            let State::Waiting(Waiting::Answer { until }) = &life.state else { continue };
            let (question, options, default) = match &task.action {
                Some(Action::Ask(ask)) => {
                    let names = ask.options.iter().map(|choice| choice.name.clone()).collect();
                    (ask.question.clone(), names, ask.default.clone())
                }
                Some(Action::Decide(decide)) => {
                    let outcomes = decide.outcomes().into_iter().map(str::to_owned).collect();
                    (task.name().to_owned(), outcomes, None)
                }
                _ => (task.name().to_owned(), Vec::<String>::new(), None),
            };
            lines.push(format!("{} {} {id}: {question}\n", card.no, card.id));
            if !options.is_empty() {
                lines.push(format!("    one of: {}\n", options.join(", ")));
            }
            if let (Some(default), Some(until)) = (&default, until) {
                lines.push(format!("    `{default}` is taken at {}\n", clock(*until)));
            }
            all.push(json!({
                "plan": card.id, "no": card.no, "task": id, "question": question, "options": options,
                "default": default, "until": until,
            }));
        }
    }
    if record.json {
        exit::print(&format!("{:#}\n", json!(all)))?;
    } else if lines.is_empty() {
        talk!("no question waits for an answer");
    } else {
        exit::print(&lines.concat())?;
    }
    Ok(ExitCode::from(exit::DONE))
}
