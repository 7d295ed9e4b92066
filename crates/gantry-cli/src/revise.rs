//! `gantry revise`: changes a plan that is under way into what a file says, as a new revision.

use std::io::IsTerminal;
use std::process::ExitCode;

use gantry_core::input::{Change, Input};
use gantry_core::plan::diff;
use gantry_engine::{Clock, EngineError, SystemClock};
use serde_json::{Map, json};

use crate::arguments::{By, ThePlan};
use crate::desk::{Desk, refusal};
use crate::diff::{drawn, written};
use crate::exit::{self, Fault};
use crate::file;
use crate::session::{self, Record};
use crate::talk;

/// Change a plan into what a file says, as a new revision, while it runs or after it ended
///
/// What is done and did not change stays done; what changed is done again. On a terminal the difference is shown and
/// confirmed first.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry export yaml 7 -o plan.yaml    (then edit it)\n  gantry revise 7 plan.yaml --rationale \"one more check\"\n  gantry revise 7 plan.yaml --rationale \"…\" --base 2 --yes"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// The plan file; `-` is standard input
    file: String,
    /// Why
    #[arg(long, visible_alias = "why")]
    rationale: String,
    /// The revision that the file was made from [default: the current one]
    #[arg(long, value_name = "N")]
    base: Option<u32>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let by = args.by.name()?;
    if args.rationale.trim().is_empty() {
        return Err(Fault::bad_input("a revision needs a reason").hint("say it with `--rationale`"));
    }
    let mut plan = file::load_sound_here(&args.file, args.record.json)?;
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let life = desk.life().await?;
        if let Some(id) = plan.id.as_ref().filter(|id| *id != life.id()) {
            return Err(Fault::bad_input(format!("the file is about plan `{id}`, not `{}`", life.id()))
                .hint("take the `id` out of the file if it is meant for this plan"));
        }
        let base = args.base.map_or(life.revision(), gantry_core::id::Revision);
        let current = life.plan();
        plan = life.with_own_growth(plan);
        plan.id.clone_from(&current.id);
        plan.sort_tree();
        let change = diff(&current, &plan);
        let input = Input::Revise {
            by: by.clone(),
            rationale: args.rationale.clone(),
            base,
            change: Change::To(Box::new(plan)),
        };
        // What would be refused is refused before anyone is asked.
        let verdict = life.decide(&input, SystemClock::new().now());
        drop(verdict.map_err(|refused| refusal(EngineError::Refused(refused), life.id()))?);
        if args.dry_run {
            let shown = if args.record.json {
                exit::json_text(&json!({"dry_run": true, "diff": written(&change)}))?
            } else {
                drawn(&change)
            };
            exit::print(&shown)?;
            return Ok(ExitCode::from(exit::DONE));
        }
        if !args.record.json {
            talk::part(format_args!("{}", drawn(&change)));
        }
        if !args.yes && args.file != "-" && std::io::stdin().is_terminal() && !talk::confirmed("change the plan?")? {
            return Err(Fault::refused("nothing was changed"));
        }
        let next = base.0 + 1;
        let more = Map::from_iter([("revision".to_owned(), json!(next)), ("diff".to_owned(), written(&change))]);
        desk.say_with(input, &format!("{by} made revision {next} of `{}`", desk.id()), more).await
    })
}
