//! How a plan is carried out: the options that `run` and `resume` share.

use gantry_engine::{Options, Until};

use crate::exit::Fault;
use crate::surroundings::Surroundings;

/// How a plan is carried out.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct How {
    /// Stay when the plan waits for a person, until it has ended
    #[arg(long)]
    pub wait: bool,
    /// How many attempts may run at once, of all plans together [default: as each plan says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    parallel: Option<u32>,
    #[command(flatten)]
    pub around: Surroundings,
}

impl How {
    /// Until when the plan is driven.
    pub fn until(&self) -> Until {
        if self.wait { Until::Ended } else { Until::Stuck }
    }

    /// What the engine is told. The names in `known` are secrets that the plan was given before.
    pub fn options(&self, known: &[String]) -> Result<Options, Fault> {
        let options = self.around.options(known)?;
        Ok(Options { attempts_max: self.parallel.unwrap_or(options.attempts_max), ..options })
    }
}
