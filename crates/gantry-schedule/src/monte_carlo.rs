//! Monte Carlo: many futures of one project, and what they have in common.
//!
//! Each source of chance (a task, a risk, a class of past work) has its own stream of random numbers, named by its id.
//! So the same seed gives the same futures whatever the order of tasks or the number of threads, and changing one task
//! leaves the luck of all others as it was. Futures are computed 64 at a time: one bit per future then says whether a
//! task is critical.

mod source; // in reading order
mod falls;
mod setup;
mod run;
mod tally;
mod result;

use rayon::prelude::*;

pub(crate) use result::Outcome;
pub use result::{Bin, Driver, DriverKind, MonteCarlo, Percentiles, SCurvePoint};

use crate::cost::Line;
use crate::schedule::{Computed, Options};
use run::Scratch;
use setup::Simulation;

/// How many futures are computed at a time: one bit each.
pub(crate) const LANES: usize = 64;

/// Draws futures of a schedule whose planned costs are these lines.
pub(crate) fn simulate(computed: &Computed<'_>, options: &Options, lines: &[Line]) -> Outcome {
    let simulation = Simulation::new(computed, options, lines);
    let blocks = (options.draws as usize).div_ceil(LANES);
    let fresh = || Scratch::new(&simulation);
    let blocks: Vec<run::Block> =
        (0..blocks).into_par_iter().map_init(fresh, |scratch, block| simulation.run(block, scratch)).collect();
    result::outcome(computed, options, &simulation, &blocks)
}
