//! `gantry status`: where a plan stands, on one screen.

use std::process::ExitCode;

use gantry_store::Store;
use serde_json::{Value, json};

use crate::arguments::PlanOrLast;
use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::{json, page, plain, table, text_of};

/// Show where a plan stands, what it waits for, and what to type next
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry status\n  gantry status 7\n  gantry status 7 --json | jq '.tasks'\n\nA plan that is running while nobody works on it was interrupted; `gantry resume` goes on with it."
)]
pub struct Args {
    #[command(flatten)]
    plan: PlanOrLast,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let store = args.record.open()?;
        let standing = session::standing(&store, &args.plan).await?.foreseen();
        let unheard: Vec<Value> = store.inbox(&standing.card.id).await?.into_iter().map(|(_, input)| input).collect();
        if args.record.json {
            let mut all = json::standing(&standing);
            all["unheard"] = json!(unheard);
            exit::print_json(&all)?;
        } else {
            let below = drawn(&unheard, standing.driven);
            let height = table::height().map(|rows| rows.saturating_sub(below.lines().count()));
            exit::print(&(page::draw(&standing, table::width(), height) + &below))?;
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// What someone said that does not count yet, because whoever worked on the plan had not heard it.
fn drawn(unheard: &[Value], driven: bool) -> String {
    let text = |input: &Value, key: &str| plain(input[key].as_str().unwrap_or("someone"));
    let line = |input: &Value| format!("  {}: {}", text(input, "by"), text(input, "input"));
    let lines: Vec<String> = unheard.iter().map(line).collect();
    let when = if driven { "as soon as it is heard" } else { "when the plan goes on" };
    if lines.is_empty() { String::new() } else { format!("\nsaid, and counts {when}:\n{}", text_of(lines)) }
}
