//! `gantry ask`: sees what people are asked, and answers.

use std::process::ExitCode;

use gantry_core::input::Input;
use gantry_core::life::{State, Waiting};
use gantry_core::plan::{Action, Choice};
use serde_json::json;

use crate::arguments::{By, PlanOrAll, ThePlan};
use crate::desk::{self, Desk};
use crate::exit::{self, Fault};
use crate::gate::waiting_plans;
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::show::json::{choices as choices_json, commands};
use crate::show::next::weighed;
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
    #[command(after_help = "Examples:\n  gantry ask list\n  gantry ask list 7 --json")]
    List {
        #[command(flatten)]
        plan: PlanOrAll,
    },
    /// Answer a question
    #[command(
        after_help = "Examples:\n  gantry ask answer 7 which-cloud eu-west\n  gantry ask answer 7 how-many \"as many as it takes\" --by ana"
    )]
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
        let plan_life = engine.open(&card.id).await?.life;
        for id in plan_life.task_ids() {
            let known = plan_life.definition(id.as_str()).zip(plan_life.task_life(id.as_str()));
            let Some((task, life)) = known else { continue };
            let State::Waiting(Waiting::Answer { until }) = &life.state else { continue };
            let (question, choices, default): (_, Vec<Choice>, _) = match &task.action {
                Some(Action::Ask(ask)) => (ask.question.clone(), ask.options.clone(), ask.default.clone()),
                Some(Action::Decide(decide)) => {
                    let outcomes = decide.outcomes().into_iter();
                    let choice = |name: &str| Choice { name: name.to_owned(), ..Choice::default() };
                    (task.name().to_owned(), outcomes.map(choice).collect(), None)
                }
                _ => (task.name().to_owned(), Vec::new(), None),
            };
            let options: Vec<&str> = choices.iter().map(|choice| choice.name.as_str()).collect();
            lines.push(format!("{} {} {id}: {question}\n", card.no, card.id));
            if choices.iter().any(|choice| !weighed(choice).is_empty()) {
                let line = |choice: &Choice| match weighed(choice) {
                    none if none.is_empty() => format!("    {}\n", choice.name),
                    weighed => format!("    {}: {weighed}\n", choice.name),
                };
                lines.extend(choices.iter().map(line));
            } else if !options.is_empty() {
                lines.push(format!("    one of: {}\n", options.join(", ")));
            }
            if let (Some(default), Some(until)) = (&default, until) {
                lines.push(format!("    `{default}` is taken at {}\n", clock(*until)));
            }
            all.push(json!({
                "plan": card.id, "no": card.no, "task": id, "question": question, "options": options,
                "choices": choices_json(&choices), "default": default, "until": until,
                "commands": commands(&plan_life, &id),
            }));
        }
    }
    if record.json {
        exit::print_json(&json!(all))?;
    } else if lines.is_empty() {
        talk!("no question waits for an answer");
    } else {
        exit::print(&lines.concat())?;
    }
    Ok(ExitCode::from(exit::DONE))
}
