//! Resource-constrained scheduling on whole periods: the shortest schedule that respects links and capacities.
//!
//! An [`Instance`] says what is to be done, [`solve`] looks for a short schedule within an [`Effort`], and [`check`]
//! says what is wrong with any schedule without knowing how it was made.
//!
//! How the search works: a schedule is made by placing tasks one after the other, each at the earliest period where it
//! fits (`serial`) or period by period (`parallel`). Every schedule gives an order in which to place the tasks from
//! the end of time backwards, and that schedule gives an order for the next one forwards: this is justification, and it
//! shortens schedules by itself. The search (`evolve`) keeps two populations, one of schedules made forwards and one
//! of schedules made backwards, and breeds each from the other, so that every schedule made is justified for free.

mod instance; // in reading order
mod fault;
mod check;
mod canon;
mod network;
mod supply;
mod plane;
mod dense;
mod sparse;
mod serial;
mod loose;
mod parallel;
mod rules;
mod bound;
mod work;
mod dice;
mod parent;
mod breed;
mod sample;
mod record;
mod judge;
mod evolve;
mod solve;

pub use check::{Violation, check};
pub use fault::Fault;
pub use instance::{Capacity, Demand, Instance, Link, Task};
pub(crate) use judge::{Judge, Judged};
pub use solve::{Best, Effort, solve};
pub(crate) use solve::{explore, placed};
