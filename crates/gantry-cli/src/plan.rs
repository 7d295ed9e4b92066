//! `gantry plan`: from a sentence to a plan that can be carried out.

mod ask; // in reading order
mod summary;

use std::io::Read as _;
use std::process::ExitCode;

use gantry_core::input::Input;
use gantry_core::plan::{Action, Input as PlanInput, Plan};
use gantry_engine::{NewPlan, Options, Origin, Until};
use gantry_planner::brief;
use gantry_planner::screen::{Verdict, screen};
use gantry_planner::tools::TEMPLATE;
use jiff::civil::Date;
use serde_json::json;

use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::surroundings;
use crate::talk::talk;

/// How long a request may be.
const REQUEST_MAX: u64 = 200_000;

/// Make a plan from a sentence
///
/// Says what is wanted, where, by when, for how much: `gantry plan "Open a café in Aarhus, 2 million DKK, before summer"`.
/// What is not said and matters is asked for on a terminal; elsewhere, and with --yes, it is assumed, and the assumption
/// is shown. The result is a plan with people, dates, costs and risks that waits to be accepted (`gantry gate approve`) and
/// is then carried out like any other.
///
/// No model is asked yet: the work is broken down by what is known about fourteen kinds of projects, and everything that
/// is made this way says so.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry plan \"Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer\"\n  gantry plan --yes --json \"Renovate our flat in Oslo before Christmas for 600 000 kr\"\n  gantry plan - < request.md"
)]
pub struct Args {
    /// What is to be planned, in your own words; `-` reads it from standard input
    #[arg(required = true, value_name = "REQUEST")]
    request: Vec<String>,
    /// Ask nothing: assume what is not said
    #[arg(long, short = 'y')]
    yes: bool,
    /// Ask no model (none is asked yet)
    #[arg(long)]
    offline: bool,
    /// The day to plan from [default: today]
    #[arg(long, value_name = "DATE")]
    today: Option<Date>,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let mut request = request(&args.request)?;
    refuse_what_must_not_be(&request)?;
    let today = args.today.unwrap_or_else(|| jiff::Zoned::now().date());
    if !args.yes && !args.record.json && ask::is_possible() {
        request = ask::completed(request, today)?;
        refuse_what_must_not_be(&request)?;
    }
    let plan = prepared(&request, today)?;
    let origin = Origin {
        workspace: surroundings::workspace(std::path::Path::new("."))?,
        file: "gantry plan".to_owned(),
        by: session::operator(),
        ..Origin::default()
    };
    session::block_on(async {
        let engine = args.record.engine(Options::default())?;
        let id = engine.create(NewPlan { plan, origin, once: None }).await?;
        if !args.record.json {
            talk!("planning {id} …");
        }
        let driving = engine.drive(&id, Until::Stuck, vec![Input::Start]).await?;
        driving.ended().await?;
        let opened = engine.open(&id).await?;
        if args.record.json {
            exit::print_json(&summary::value(&opened.life))?;
        } else {
            exit::print(&summary::page(&opened.life))?;
        }
        let made = opened.life.task_state("forecast") == Some(gantry_core::life::TaskState::Completed);
        Ok(ExitCode::from(if made { exit::DONE } else { exit::FAILED }))
    })
}

/// The request as it was given.
fn request(words: &[String]) -> Result<String, Fault> {
    let text = if words == ["-"] {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(REQUEST_MAX + 1).read_to_string(&mut text);
        read.map_err(|error| Fault::bad_input(format!("standard input is no request: {error}")))?;
        text
    } else {
        words.join(" ")
    };
    if text.len() as u64 > REQUEST_MAX {
        return Err(Fault::bad_input(format!("the request is longer than {REQUEST_MAX} bytes"))
            .hint("say the goal and what must hold; the rest can be given to the tasks later"));
    }
    Ok(text)
}

fn refuse_what_must_not_be(request: &str) -> Result<(), Fault> {
    let screening = screen(request);
    match screening.verdict {
        Verdict::Allow | Verdict::AllowWithCare => Ok(()),
        Verdict::Refuse => Err(Fault::refused(screening.reason).hint(screening.hint)),
        Verdict::Unusable => Err(Fault::bad_input(screening.reason).hint(screening.hint)),
    }
}

/// The plan that plans this request.
fn prepared(request: &str, today: Date) -> Result<Plan, Fault> {
    let broken = |what: &str| Fault::internal(format!("the template `execution-plan` is broken: {what}"));
    let loaded = gantry_format::load("execution-plan/plan.yaml", TEMPLATE.as_bytes());
    let mut plan = loaded.plan.ok_or_else(|| broken("it is no plan"))?;
    plan.title = brief::read(request, today).title.text;
    request.clone_into(&mut plan.objective);
    let draft = plan.tasks.iter_mut().find(|task| task.id.as_str() == "draft");
    let Some(Action::Tool(tool)) = draft.and_then(|task| task.action.as_mut()) else {
        return Err(broken("it has no task `draft` that calls a tool"));
    };
    tool.args.insert("request".to_owned(), PlanInput::Value(json!(request)));
    tool.args.insert("today".to_owned(), PlanInput::Value(json!(today.to_string())));
    Ok(plan)
}
