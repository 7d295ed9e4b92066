//! Turns tasks, dependencies, calendars, people and estimates into dates, money and risk that hold.
//!
//! Pure: no clock, no input or output, no hidden randomness. The same input and seed give the same bytes.

mod calendar; // in reading order
mod chance;
mod frame;
mod level;
mod model;
mod network;
mod problem;
pub mod project;
pub mod read;
mod schedule;

pub use frame::{Moment, Quantity};
pub use level::Levelling;
pub use problem::{Problem, ProblemKind};
pub use project::Project;
pub use schedule::{
    Assigned, Basis, Constraint, Fix, Infeasible, LoadStep, Options, Overload, ResourceRow, Schedule, TaskKind,
    TaskRow, Verdict, Warning, schedule,
};
