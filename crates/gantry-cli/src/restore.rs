//! `gantry restore`: brings the working folder back to a checkpoint.

use std::process::ExitCode;

use gantry_engine::{EngineError, Point, Restored, Unrestored, point_meant, points};
use serde_json::{Value, json};

use crate::arguments::{By, ThePlan};
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::home::NewHome;
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::show::table::columns;
use crate::surroundings::Surroundings;
use crate::talk::talk;

/// Bring the working folder of a plan back to a checkpoint, byte for byte
///
/// The folder as it is now is kept first, under a hash that is printed: going back from going back is possible.
/// Ignored files stay. Without --to the checkpoints are listed. Secrets that the plan was given are taken from the
/// environment again: what is kept holds no secret, and comes back with it.
///
/// The plan stays where it is, and so does what its tasks did elsewhere; `gantry undo` takes it back task by task.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry restore 7\n  gantry restore 7 --to before-migration")]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// The checkpoint: its name (`after TASK` with `policy.checkpoint_each_task`), its task, TASK@VERSION, or a hash that a
    /// restore printed
    #[arg(long, value_name = "CHECKPOINT")]
    to: Option<String>,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    home: NewHome,
    #[command(flatten)]
    around: Surroundings,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let by = args.by.name()?;
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let points = points(desk.store(), &desk.life().await?).await?;
        let Some(to) = &args.to else {
            list(&args.record, &desk, &points)?;
            return Ok(ExitCode::from(exit::DONE));
        };
        let plan = desk.id().clone();
        let hash = point_meant(&points, to).ok_or_else(|| {
            Fault::bad_input(format!("plan `{plan}` has no checkpoint `{to}`"))
                .hint(format!("see which there are with `gantry restore {plan}`"))
        })?;
        let desk = desk.able_to_act(&args.home, &args.around).await?;
        let restored = desk.engine.restore(&plan, &hash, to, &by).await.map_err(|error| match error {
            Unrestored::Engine(error @ EngineError::Driven { .. }) => {
                Fault::from(error).hint(format!("pause it first with `gantry pause {plan}`"))
            }
            Unrestored::Engine(error) => error.into(),
            Unrestored::Files { ref safety, .. } => {
                let fault = Fault::internal(error.to_string());
                match safety {
                    Some(safety) => {
                        fault.hint(format!("what was there before is kept: `gantry restore {plan} --to {safety}`"))
                    }
                    None => fault,
                }
            }
        })?;
        let Restored { folder, written, removed, safety } = &restored;
        if args.record.json {
            exit::print_json(&json!({
                "plan": plan, "folder": folder, "to": to, "hash": hash, "written": written, "removed": removed,
                "safety": safety,
            }))?;
        } else {
            talk!("restored `{}` to checkpoint `{to}`: {written} written, {removed} removed", folder.display());
            talk!("as it was before is kept; go back with `gantry restore {plan} --to {safety}`");
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

fn list(record: &Record, desk: &Desk, points: &[Point]) -> Result<(), Fault> {
    if record.json {
        let all: Vec<Value> = points.iter().map(gantry_view::json::checkpoint).collect();
        return exit::print_json(&json!(all));
    }
    if points.is_empty() {
        talk!("`{}` has no checkpoint of its working folder", desk.id());
        return Ok(());
    }
    let mut rows = vec![["CHECKPOINT", "TASK", "MADE"].map(str::to_owned).to_vec()];
    rows.extend(points.iter().map(|Point { name, row }| {
        vec![name.clone(), format!("{}@{}", row.artifact.task, row.version), clock(row.artifact.at)]
    }));
    exit::print(&columns(&rows))
}
