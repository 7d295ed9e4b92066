//! How a plan is carried out: the options that `run` and `resume` share.

use gantry_engine::{Options, Until};

use crate::exit::Fault;
use crate::model::options::ModelOptions;
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
    /// How many attempts may use a capability at once, of all plans together, such as `shell=2`; may be repeated
    #[arg(long, value_name = "CAPABILITY=N", value_parser = limit)]
    limit: Vec<(String, u32)>,
    #[command(flatten)]
    pub models: ModelOptions,
    #[command(flatten)]
    pub around: Surroundings,
}

/// Reads `shell=2`.
fn limit(text: &str) -> Result<(String, u32), String> {
    let (name, max) = text.split_once('=').ok_or("write CAPABILITY=N, such as `shell=2`")?;
    let max = max.parse().ok().filter(|max| (1..=10_000).contains(max)).ok_or("N is a number from 1 to 10000")?;
    match name {
        "" => Err("the name of the capability is missing before the `=`".to_owned()),
        "plan" => Err("a plan inside a task takes no room itself; limit what its tasks use".to_owned()),
        name => Ok((name.to_owned(), max)),
    }
}

impl How {
    /// As usual, with these models.
    pub fn asking(models: ModelOptions) -> Self {
        Self { models, ..Self::default() }
    }

    /// Until when the plan is driven.
    pub fn until(&self) -> Until {
        if self.wait { Until::Ended } else { Until::Stuck }
    }

    /// What the engine is told. The names in `known` are secrets that the plan was given before.
    pub fn options(&self, known: &[String]) -> Result<Options, Fault> {
        let options = self.around.options(known)?;
        let attempts_max = self.parallel.unwrap_or(options.attempts_max).min(attempts_that_fit());
        // A key may come back in an answer, or out of a file that an agent reads.
        let secrets = options.secrets.also_hiding(self.models.keys());
        Ok(Options { attempts_max, capabilities: self.limit.iter().cloned().collect(), secrets, ..options })
    }
}

/// How many files this program has open whatever it does, and how many for each attempt at most.
const FILES_ALWAYS: u64 = 24;
const FILES_EACH: u64 = 6;

/// How many attempts can run at once before the system refuses to open one more file. Fewer at once is slower; more
/// would fail.
fn attempts_that_fit() -> u32 {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    u32::try_from(files.saturating_sub(FILES_ALWAYS) / FILES_EACH).unwrap_or(u32::MAX).max(1)
}
