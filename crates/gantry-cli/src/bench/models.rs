//! `gantry bench models`: what asking models costs beyond the models themselves.
//!
//! Everything is asked over real sockets of a server that a process of its own plays, so that the memory and the time
//! that are told belong to the one who asks.

mod server; // in reading order
mod line;
mod calls;
mod recall;
mod plans;
mod figures;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{in_rounds, machine, median, sub};
use crate::exit::{self, Fault};
use crate::talk::talk;
use figures::Figures;
use line::Line;

pub use server::serve;

/// Measure what asking models takes beyond the time that the models take
///
/// A server on this machine answers at once, so what is left is the work of this program. `calls` asks 2,000 times, one
/// after the other, beside the same bytes over a bare socket; `together` asks 1,000 times at once, which the server
/// answers only when all have come, and tells the memory that this takes; `recall` records 10,000 calls durably and
/// finds them again with the network off; `replay` decides a plan of 1,000 calls again from its record; `pipeline` is a
/// plan of 61 calls with answers after 50 ms, as a ratio to its longest path, the median of five rounds.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry bench models\n  gantry bench models --json\n  gantry bench models --only recall --dir /mnt/fast"
)]
pub struct Args {
    /// The folder for the records that are made; its disk is part of what is measured [default: the system's temporary
    /// folder]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Measure only this; may be given several times
    #[arg(long, value_name = "WHAT")]
    only: Vec<What>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    Calls,
    Together,
    Recall,
    Replay,
    Pipeline,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    machine::many_files();
    let folder = super::folder_in(args.dir.as_deref())?;
    let figures = measure(folder.path(), &args.only)?;
    exit::print(&if args.json { exit::json_text(&figures.to_json())? } else { figures.to_text() })?;
    Ok(ExitCode::from(exit::DONE))
}

fn measure(folder: &Path, only: &[What]) -> Result<Figures, Fault> {
    let wanted = |what: What, text: &str| {
        let wanted = only.is_empty() || only.contains(&what);
        if wanted {
            talk!("measuring {text} …");
        }
        wanted
    };
    let line = Line::open()?;
    let mut figures = Figures::default();
    if wanted(What::Calls, "2,000 calls one after the other") {
        figures.calls = Some(calls::one_by_one(&line)?);
    }
    if wanted(What::Together, "1,000 calls at once") {
        figures.together = Some(calls::together(&line)?);
    }
    if wanted(What::Recall, "10,000 calls that are recorded and recalled") {
        figures.recall = Some(recall::measure(&line, &sub(folder, "recall")?)?);
    }
    if wanted(What::Replay, "a plan of 1,000 calls that is decided again") {
        figures.replay = Some(plans::replay(&line, &sub(folder, "replay")?)?);
    }
    if wanted(What::Pipeline, "a pipeline of 61 calls of 50 ms") {
        let folder = sub(folder, "pipeline")?;
        let times = in_rounds(5, |round| plans::pipeline(&line, &sub(&folder, &round)?))?;
        figures.pipeline_ms = Some(median(times));
    }
    Ok(figures)
}
