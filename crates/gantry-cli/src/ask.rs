//! `gantry ask`: sees what people are asked, and answers: questions of the plan, and calls that someone has to approve.

use std::process::ExitCode;

use gantry_core::input::{Approval, Input};
use gantry_core::life::{State, Waiting};
use gantry_core::plan::{Action, Choice, Task};
use gantry_core::time::Timestamp;
use gantry_runners::approval::PREVIEW;
use gantry_store::{Hash, Store};
use serde_json::json;

use crate::arguments::{By, PlanOrAll, ThePlan};
use crate::desk::{self, Desk};
use crate::exit::{self, Fault};
use crate::gate::waiting_plans;
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::show::json::{choices as choices_json, commands};
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

/// Something that someone is asked.
struct Asked {
    question: String,
    choices: Vec<Choice>,
    default: Option<String>,
    until: Option<Timestamp>,
    /// What would be done, when it has to be approved.
    preview: Option<String>,
}

/// What a task asks, if it asks something.
async fn question_of(store: &dyn Store, task: &Task, state: &State) -> Result<Option<Asked>, Fault> {
    let asked =
        |question: String, choices: Vec<Choice>| Asked { question, choices, default: None, until: None, preview: None };
    let named = |name: &str| Choice { name: name.to_owned(), ..Choice::default() };
    Ok(match state {
        State::Waiting(Waiting::Answer { until }) => Some(match &task.action {
            Some(Action::Ask(ask)) => {
                let choices = ask.options.clone();
                Asked { default: ask.default.clone(), until: *until, ..asked(ask.question.clone(), choices) }
            }
            Some(Action::Decide(decide)) => {
                let outcomes = decide.outcomes().into_iter().map(named).collect();
                Asked { until: *until, ..asked(task.name().to_owned(), outcomes) }
            }
            _ => Asked { until: *until, ..asked(task.name().to_owned(), Vec::new()) },
        }),
        State::Waiting(Waiting::Help { failure }) if failure.is_needs_approval() => {
            let kept = failure.evidence.iter().find(|kept| kept.name == PREVIEW);
            let preview = match kept.and_then(|kept| kept.hash.parse::<Hash>().ok()) {
                Some(hash) => store.get_blob(hash).await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                None => None,
            };
            Some(Asked { preview, ..asked(failure.message.clone(), Approval::ANSWERS.map(named).to_vec()) })
        }
        _ => None,
    })
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
        for id in plan_life.task_ids() {
            let known = plan_life.definition(id.as_str()).zip(plan_life.task_life(id.as_str()));
            let Some((task, life)) = known else { continue };
            let Some(asked) = question_of(&**engine.store(), task, &life.state).await? else { continue };
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
            let mut row = json!({
                "plan": card.id, "no": card.no, "task": id, "question": question, "options": options,
                "choices": choices_json(&choices), "default": default, "until": until,
                "commands": commands(&plan_life, &id),
            });
            if let Some(preview) = preview {
                row["preview"] = json!(preview);
            }
            all.push(row);
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
