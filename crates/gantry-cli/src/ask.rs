//! `gantry ask`: sees what people are asked, and answers: questions of the plan, and calls that someone has to approve.

use std::process::ExitCode;

use gantry_core::input::{Approval, Input};
use gantry_core::plan::Choice;
use gantry_view::people::{Asked, asks};
use serde_json::json;

use crate::arguments::{By, PlanOrAll, ThePlan};
use crate::desk::{self, Desk};
use crate::exit::{self, Fault};
use crate::gate::waiting_plans;
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::show::next::weighed;
use crate::show::plain;
use crate::talk::talk;

/// See what people are asked, and answer
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry ask list\n  gantry ask answer 7 which-cloud eu-west\n  gantry ask answer 7 tidy approve\n  gantry ask answer 7 tidy refuse --why \"the files are needed\""
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// List the questions that wait for an answer, and the calls that wait for approval, of one plan or of all
    #[command(after_help = "Examples:\n  gantry ask list\n  gantry ask list 7 --json")]
    List {
        #[command(flatten)]
        plan: PlanOrAll,
    },
    /// Answer a question, or approve or refuse a call
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
        /// Why a call is refused: the agent that wanted to make it is told
        #[arg(long, value_name = "WHY")]
        why: Option<String>,
        #[command(flatten)]
        by: By,
    },
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        match &args.what {
            What::List { plan } => list(&args.record, plan.one()).await,
            What::Answer { plan, task, answer, why, by } => {
                let by = by.name()?;
                let answer = with_reason(answer, why.as_deref())?;
                let desk = Desk::open(&args.record, plan).await?;
                let (_, task) = desk.task(task).await?;
                let done = format!("{by} answered `{task}`: {answer}");
                desk.say(Input::Answer { task, by, answer }, &done).await
            }
        }
    })
}

/// A refusal with its reason.
fn with_reason(answer: &str, why: Option<&str>) -> Result<String, Fault> {
    let [_, refuse] = Approval::ANSWERS;
    match why.map(str::trim) {
        None | Some("") => Ok(answer.to_owned()),
        Some(why) if answer == refuse => Ok(format!("{refuse}: {why}")),
        Some(_) => Err(Fault::bad_input("only a refusal takes a reason").hint("leave out `--why`, or answer `refuse`")),
    }
}

/// How much of what would be done is shown.
const PREVIEW_LINES_MAX: usize = 60;

/// What would be done, set in.
fn shown(preview: &str) -> String {
    let mut lines: Vec<String> =
        preview.lines().map(|line| format!("    | {}", plain(line)).trim_end().to_owned() + "\n").collect();
    let more = lines.len().saturating_sub(PREVIEW_LINES_MAX);
    lines.truncate(PREVIEW_LINES_MAX);
    lines.extend((more > 0).then(|| format!("    | … {more} more lines; see them with --json\n")));
    lines.concat()
}

async fn list(record: &Record, plan: Option<&str>) -> Result<ExitCode, Fault> {
    let engine = desk::engine(record)?;
    let (mut lines, mut all) = (Vec::new(), Vec::new());
    for card in waiting_plans(&engine, plan).await? {
        let plan_life = engine.open(&card.id).await?.life;
        for (id, asked) in asks(&**engine.store(), &plan_life).await? {
            all.push(asked.to_json(&card, &plan_life, &id));
            let Asked { question, choices, default, until, preview } = asked;
            lines.push(format!("{} {} {id}: {}\n", card.no, card.id, plain(&question)));
            lines.extend(preview.as_deref().map(shown));
            let options: Vec<&str> = choices.iter().map(|choice| choice.name.as_str()).collect();
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
                lines.push(format!("    `{default}` is taken at {}\n", clock(until)));
            }
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
