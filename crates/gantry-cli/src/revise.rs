//! `gantry revise`: changes a plan that is under way into what a file says, or in words, as a new revision.

use std::io::IsTerminal;
use std::process::ExitCode;

use gantry_core::input::{Change, Input};
use gantry_core::plan::Input::Value;
use gantry_core::plan::{Action, Plan, diff};
use gantry_engine::{Clock, EngineError, SystemClock};
use gantry_planner::screen::{Verdict, screen};
use gantry_view::compare::{diff_lines, written};
use serde_json::{Map, json};

use crate::arguments::{By, ThePlan};
use crate::desk::{Desk, refusal};
use crate::exit::{self, Fault};
use crate::file;
use crate::session::{self, Record};
use crate::show::text_of;
use crate::talk;

/// Change a plan into what a file says, or in words, as a new revision, while it runs or after it ended
///
/// What is done and did not change stays done; what changed is done again. On a terminal the difference is shown and
/// confirmed first. A plan that was made from a sentence takes a sentence, too: it is planned anew with that change, as
/// far as it depends on it, and waits to be accepted again.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry export 7 -o plan.yaml    (then edit it)\n  gantry revise 7 plan.yaml --rationale \"one more check\"\n  gantry revise 7 plan.yaml --rationale \"…\" --base 2 --yes\n  gantry revise @last \"make it half the budget\" && gantry resume @last"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// The plan file (`-` is standard input), or what is to be different, in words
    #[arg(value_name = "FILE|WORDS")]
    file: String,
    /// Why; words are their own reason
    #[arg(long, visible_alias = "why")]
    rationale: Option<String>,
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
    let words = in_words(&args.file);
    let rationale = match (&args.rationale, words) {
        (Some(rationale), _) if !rationale.trim().is_empty() => rationale.clone(),
        (None, Some(words)) => words.to_owned(),
        _ => return Err(Fault::bad_input("a revision needs a reason").hint("say it with `--rationale`")),
    };
    let mut read = match words {
        Some(_) => None,
        None => Some(file::load_sound_here(&args.file, args.record.json)?),
    };
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let life = desk.life().await?;
        let mut plan = match (read.take(), words) {
            (None, Some(words)) => changed(life.plan(), words)?,
            (read, _) => read.ok_or_else(|| Fault::internal("nothing was read"))?,
        };
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
        let input =
            Input::Revise { by: by.clone(), rationale: rationale.clone(), base, change: Change::To(Box::new(plan)) };
        // What would be refused is refused before anyone is asked.
        let verdict = life.decide(&input, SystemClock::new().now());
        drop(verdict.map_err(|refused| refusal(EngineError::Refused(refused), life.id()))?);
        if args.dry_run {
            let shown = if args.record.json {
                exit::json_text(&json!({"dry_run": true, "diff": written(&change)}))?
            } else {
                text_of(diff_lines(&change))
            };
            exit::print(&shown)?;
            return Ok(ExitCode::from(exit::DONE));
        }
        if !args.record.json {
            talk::part(format_args!("{}", text_of(diff_lines(&change))));
        }
        if !args.yes
            && words.is_none()
            && args.file != "-"
            && std::io::stdin().is_terminal()
            && !talk::confirmed("change the plan?")?
        {
            return Err(Fault::refused("nothing was changed"));
        }
        let next = base.0 + 1;
        let more = Map::from_iter([("revision".to_owned(), json!(next)), ("diff".to_owned(), written(&change))]);
        desk.say_with(input, &format!("{by} made revision {next} of `{}`", desk.id()), more).await
    })
}

/// How plan files end.
const ENDINGS: [&str; 6] = ["yaml", "yml", "json", "gantry", "mmd", "mermaid"];

/// What is no file and has blanks in it is a sentence.
fn in_words(text: &str) -> Option<&str> {
    let path = std::path::Path::new(text);
    let is_file = path.exists()
        || text.contains('/')
        || path.extension().is_some_and(|end| ENDINGS.iter().any(|known| end == *known));
    let sentence = text.trim().contains(' ') && !is_file;
    sentence.then(|| text.trim())
}

/// The plan with one more change to what was asked for.
fn changed(mut plan: Plan, words: &str) -> Result<Plan, Fault> {
    let screening = screen(words);
    if matches!(screening.verdict, Verdict::Refuse) || screening.category == "injection" {
        return Err(Fault::refused(screening.reason).hint(screening.hint));
    }
    let reading = plan.tasks.iter_mut().find_map(|task| match &mut task.action {
        Some(Action::Tool(tool)) if tool.name == "plan.read" => Some(tool),
        _ => None,
    });
    let Some(reading) = reading else {
        return Err(Fault::bad_input(format!("there is no file `{words}`, and the plan was not made from a sentence"))
            .hint("write the plan to a file with `gantry export PLAN -o plan.yaml`, edit it, and name that"));
    };
    let mut changes = match reading.args.get("changes") {
        Some(Value(serde_json::Value::Array(changes))) => changes.clone(),
        _ => Vec::new(),
    };
    changes.push(json!(words));
    reading.args.insert("changes".to_owned(), Value(serde_json::Value::Array(changes)));
    Ok(plan)
}
