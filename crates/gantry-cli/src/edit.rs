//! `gantry edit`: changes what a finished task gave, and has exactly what depends on it done again.

use std::process::ExitCode;

use gantry_core::id::TaskId;
use gantry_core::input::Input;
use gantry_core::life::Life;
use gantry_engine::{Clock, EngineError, SystemClock};
use gantry_view::changes::done_again;
use serde_json::{Map, Value, json};

use crate::arguments::{ByAndWhy, ThePlan};
use crate::desk::{self, Desk};
use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::talk::talk;

/// Change what a finished task gave; exactly what works on it is done again
#[derive(clap::Args)]
#[command(
    after_help = "Outputs that are not named stay as they are.\n\nExamples:\n  gantry edit 7 research --output summary=\"shorter\" --why \"too long\"\n  gantry edit 7 research --output limit=10 --dry-run"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// The task
    task: String,
    /// A new value; JSON, or else text
    #[arg(long = "output", value_name = "NAME=VALUE", value_parser = desk::pair)]
    outputs: Vec<(String, Value)>,
    /// An output to take away
    #[arg(long, value_name = "NAME")]
    remove: Vec<String>,
    /// Only say what would be done again
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    by: ByAndWhy,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let (by, why) = args.by.said()?;
    if args.outputs.is_empty() && args.remove.is_empty() {
        return Err(Fault::bad_input("nothing is to be changed").hint("name an output with `--output NAME=VALUE`"));
    }
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let (life, task) = desk.task(&args.task).await?;
        let mut outputs = life.outputs(task.as_str()).cloned().unwrap_or_default();
        for name in &args.remove {
            if outputs.remove(name).is_none() {
                return Err(Fault::bad_input(format!("task `{task}` has no output `{name}`")));
            }
        }
        outputs.extend(args.outputs.iter().cloned());
        let input = Input::EditOutput { task: task.clone(), by, why, outputs };
        let (again, perhaps) = preview(&life, &input)?;
        let mut text = format!("edited the output of `{task}`; {}", said(&again, &perhaps));
        let more = Map::from_iter([
            ("again".to_owned(), json!(again)),
            ("perhaps".to_owned(), json!(perhaps)),
            ("dry_run".to_owned(), json!(args.dry_run)),
        ]);
        if args.dry_run {
            if args.record.json {
                exit::print_json(&Value::Object(more))?;
            } else {
                text = format!("would edit the output of `{task}`; {}", said(&again, &perhaps));
                talk!("{text}");
            }
            return Ok(ExitCode::from(exit::DONE));
        }
        desk.say_with(input, &text, more).await
    })
}

/// What would be done again for sure, and what perhaps, if those give something else.
fn preview(life: &Life, input: &Input) -> Result<(Vec<TaskId>, Vec<TaskId>), Fault> {
    done_again(life, input, SystemClock::new().now())
        .map_err(|refused| desk::refusal(EngineError::Refused(refused), life.id()))
}

fn said(again: &[TaskId], perhaps: &[TaskId]) -> String {
    let list = |tasks: &[TaskId]| tasks.iter().map(|task| format!("`{task}`")).collect::<Vec<_>>().join(", ");
    match (again.is_empty(), perhaps.is_empty()) {
        (true, _) => "nothing has to be done again".to_owned(),
        (false, true) => format!("done again: {}", list(again)),
        (false, false) => format!("done again: {}; and, if these give something else: {}", list(again), list(perhaps)),
    }
}
