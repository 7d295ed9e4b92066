//! `gantry run` and `gantry resume`: carries a plan out.

use std::process::ExitCode;

use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_engine::{Ending, Engine, Happening, NewPlan, Options, Origin, Stop, Until};
use tokio::sync::broadcast::error::RecvError;

use crate::exit::{self, Fault};
use crate::file;
use crate::session::{self, Record};

/// Carry out a plan file, durably
///
/// The plan is recorded first and every step after it, so that whatever interrupts it, `gantry resume` goes on where
/// it was. Ctrl-C lets what runs finish and pauses the plan; a second Ctrl-C stops at once.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry run plan.yaml\n  gantry run plan.yaml --workspace ~/project")]
pub struct Args {
    /// The plan file; `-` is standard input
    file: String,
    /// The folder that its tasks work in [default: the current folder]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<String>,
    /// Run the same request only once: again with the same key it goes on with the plan that it made first
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Stay when the plan waits for a person, until it has ended
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    record: Record,
}

/// Go on with a plan from wherever it stands
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry resume @last\n  gantry resume 7")]
pub struct ResumeArgs {
    /// The plan: its id, its number, the beginning of its id, or @last
    plan: String,
    /// Stay when the plan waits for a person, until it has ended
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let plan = file::load_sound(&args.file)?;
    let folder = args.workspace.as_deref().unwrap_or(".");
    let workspace = std::fs::canonicalize(folder)
        .map_err(|error| Fault::bad_input(format!("the folder `{folder}` cannot be used: {error}")))?;
    let origin = Origin {
        workspace: workspace.to_string_lossy().into_owned(),
        file: file::name(&args.file).to_owned(),
        by: session::operator(),
        ..Origin::default()
    };
    session::block_on(async {
        let engine = engine(&args.record)?;
        let plan = engine.create(NewPlan { plan, origin, once: args.key.clone() }).await?;
        drive(&engine, &plan, until(args.wait)).await
    })
}

pub fn resume(args: &ResumeArgs) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let engine = engine(&args.record)?;
        let plan = session::find(&engine, &args.plan).await?.id;
        drive(&engine, &plan, until(args.wait)).await
    })
}

fn until(wait: bool) -> Until {
    if wait { Until::Ended } else { Until::Stuck }
}

fn engine(record: &Record) -> Result<Engine, Fault> {
    record.engine(Options { operator: session::operator(), ..Options::default() })
}

async fn drive(engine: &Engine, plan: &PlanId, until: Until) -> Result<ExitCode, Fault> {
    let mut happenings = engine.watch();
    let first = match engine.open(plan).await?.life.state() {
        PlanState::Pending => vec![Input::Start],
        PlanState::Paused => vec![Input::Resume { by: session::operator() }],
        _ => Vec::new(),
    };
    let driving = engine.drive(plan, until, first).await?;
    let stop = driving.stopper();
    tokio::spawn(async move {
        for how in [Stop::Park, Stop::Now] {
            if tokio::signal::ctrl_c().await.is_ok() {
                stop(how);
            }
        }
    });
    let ended = driving.ended();
    tokio::pin!(ended);
    let ending = loop {
        tokio::select! {
            biased;
            happening = happenings.recv() => match happening {
                Ok(happening) => show(&happening),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break ended.await?,
            },
            ending = &mut ended => break ending?,
        }
    };
    while let Ok(happening) = happenings.try_recv() {
        show(&happening);
    }
    Ok(ExitCode::from(match ending {
        Ending::Ended { state: PlanState::Completed, .. } => {
            anstream::eprintln!("{plan} completed");
            exit::DONE
        }
        Ending::Ended { state, causes } => {
            anstream::eprintln!("{plan} {state}: {}", causes.join("; "));
            exit::FAILED
        }
        Ending::Waiting(waits) => {
            for wait in waits {
                anstream::eprintln!(
                    "waits: {} for {}",
                    wait.task.map(|task| task.to_string()).unwrap_or_default(),
                    wait.what
                );
            }
            exit::WAITING
        }
        Ending::Parked | Ending::Stopped => {
            anstream::eprintln!("{plan} is paused; go on with `gantry resume {plan}`");
            exit::WAITING
        }
    }))
}

fn show(happening: &Happening) {
    match happening {
        Happening::Events { entries, .. } => {
            for entry in entries.iter() {
                anstream::eprintln!("{} {}", entry.seq, serde_json::to_string(&entry.event).unwrap_or_default());
            }
        }
        Happening::Output { chunk, .. } => anstream::eprint!("{}", chunk.text),
        Happening::Notice { text, .. } => anstream::eprintln!("notice: {text}"),
        Happening::StoreTrouble { error, .. } => anstream::eprintln!("warning: {error}; trying again"),
    }
}
