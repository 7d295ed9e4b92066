//! `gantry restore`: brings the working folder back to a checkpoint.

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::ArtifactRef;
use gantry_core::life::Life;
use gantry_core::plan::Action;
use gantry_engine::{Clock, EngineError, SystemClock};
use gantry_runners::checkpoint::{self, Manifest};
use gantry_runners::{Chunk, Forgetful, Intents, Keep, KeepError, Ports, Watch};
use gantry_store::{ArtifactRow, Hash, Store};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arguments::{By, ThePlan};
use crate::artifact;
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
        let opened = desk.engine.open(desk.id()).await?;
        let points = points(&desk, &opened.life).await?;
        let Some(to) = &args.to else {
            list(&args.record, &desk, &points)?;
            return Ok(ExitCode::from(exit::DONE));
        };
        let hash = find(&points, to, desk.id().as_str())?;
        let desk = desk.able_to_act(&args.home, &args.around).await?;
        // While files are brought back, nobody else may work on the plan.
        let mut held = desk.engine.hold(desk.id()).await.map_err(|error| match error {
            EngineError::Driven { .. } => {
                Fault::from(error).hint(format!("pause it first with `gantry pause {}`", desk.id()))
            }
            error => error.into(),
        })?;
        let place = desk.engine.place(held.opened());
        let ports = ports(Arc::clone(desk.engine.store()));
        let failed =
            |why: String| Fault::internal(format!("the folder `{}` was not restored: {why}", place.root.display()));
        let manifest = Manifest::fetch(&hash, &ports).await.map_err(failed)?;
        let prepared =
            checkpoint::prepare(&manifest, &place, &ports, &CancellationToken::new()).await.map_err(failed)?;
        let safety = prepared.safety().hash.clone();
        // On record before anything is touched: whatever happens now, the way back is known.
        let text = format!("brings the working folder back to checkpoint `{to}`; as it was before: {safety}");
        held.note(&by, &text).await?;
        let restored = match prepared.restore().await {
            Ok(restored) => restored,
            Err(why) => {
                held.note(&by, &format!("the working folder was not brought back to `{to}`: {why}")).await?;
                let hint = format!("what was there before is kept: `gantry restore {} --to {safety}`", desk.id());
                return Err(failed(why).hint(hint));
            }
        };
        if args.record.json {
            let all = json!({
                "plan": desk.id(), "folder": place.root, "to": to, "hash": hash, "written": restored.written,
                "removed": restored.removed, "safety": safety,
            });
            exit::print_json(&all)?;
        } else {
            talk!(
                "restored `{}` to checkpoint `{to}`: {} written, {} removed",
                place.root.display(),
                restored.written,
                restored.removed
            );
            talk!("as it was before is kept; go back with `gantry restore {} --to {safety}`", desk.id());
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// A checkpoint that one can come back to.
struct Point {
    name: String,
    row: ArtifactRow,
}

async fn points(desk: &Desk, life: &Life) -> Result<Vec<Point>, Fault> {
    let rows = artifact::all(desk.store(), desk.id()).await?;
    let points = rows.into_iter().filter(|row| row.artifact.name == checkpoint::MANIFEST).filter_map(|row| {
        let name = match &life.definition(row.artifact.task.as_str())?.action {
            Some(Action::Checkpoint(checkpoint)) => checkpoint.name.clone(),
            _ => format!("after {}", row.artifact.task),
        };
        Some(Point { name, row })
    });
    Ok(points.collect())
}

fn list(record: &Record, desk: &Desk, points: &[Point]) -> Result<(), Fault> {
    if record.json {
        let all: Vec<Value> = points
            .iter()
            .map(|Point { name, row }| {
                json!({
                    "name": name, "task": row.artifact.task, "version": row.version, "at": row.artifact.at,
                    "hash": row.artifact.hash,
                })
            })
            .collect();
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

/// The hash of the manifest that is meant; of several with one name the newest.
fn find(points: &[Point], to: &str, plan: &str) -> Result<String, Fault> {
    let fits = |point: &&Point| {
        let task = point.row.artifact.task.as_str();
        point.name == to || task == to || format!("{task}@{}", point.row.version) == to
    };
    if let Some(point) = points.iter().rev().find(fits) {
        return Ok(point.row.artifact.hash.to_string());
    }
    if to.parse::<Hash>().is_ok() {
        return Ok(to.to_owned());
    }
    Err(Fault::bad_input(format!("plan `{plan}` has no checkpoint `{to}`"))
        .hint(format!("see which there are with `gantry restore {plan}`")))
}

/// What restoring needs of the store: nothing is watched, and nothing has to be taken back later.
struct Shelf(Arc<dyn Store>);

fn ports(store: Arc<dyn Store>) -> Ports {
    let shelf = Arc::new(Shelf(store));
    Ports {
        keep: Arc::clone(&shelf) as _,
        watch: Arc::clone(&shelf) as _,
        intents: shelf,
        calls: Arc::new(Forgetful),
        sessions: Default::default(),
    }
}

#[async_trait]
impl Keep for Shelf {
    async fn put(&self, bytes: Vec<u8>) -> Result<String, KeepError> {
        let kept = self.0.put_blob(bytes, SystemClock::new().now()).await;
        kept.map(|hash| hash.to_string()).map_err(|error| KeepError::Store { why: error.to_string() })
    }

    async fn get(&self, hash: &str) -> Result<Vec<u8>, KeepError> {
        let unknown = || KeepError::Unknown { hash: hash.to_owned() };
        let parsed: Hash = hash.parse().map_err(|_| unknown())?;
        let found = self.0.get_blob(parsed).await.map_err(|error| KeepError::Store { why: error.to_string() })?;
        found.ok_or_else(unknown)
    }
}

impl Watch for Shelf {
    fn output(&self, _: Chunk) {}
    fn alive(&self, _: String, _: Vec<ArtifactRef>) {}
}

#[async_trait]
impl Intents for Shelf {
    async fn intend(&self, _: Value) -> Result<(), KeepError> {
        Ok(())
    }
    async fn intend_instead(&self, _: Value) -> Result<(), KeepError> {
        Ok(())
    }
}
