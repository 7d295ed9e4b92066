//! Turns tasks, dependencies, calendars, people and estimates into dates, money and risk that hold.
//!
//! Pure: no clock, no input or output, no hidden randomness. The same input and seed give the same bytes.

mod calendar; // in reading order
mod chance;
mod cost;
mod earned_value;
mod frame;
mod health;
mod level;
mod model;
mod monte_carlo;
mod network;
mod problem;
pub mod project;
pub mod rcpsp;
pub mod read;
mod schedule;
pub mod what_if;
pub mod write;

pub use cost::{CashFlow, CostReport, KindTotal, Month, ResourceTotal};
pub use earned_value::EarnedValue;
pub use frame::{Moment, Quantity};
pub use health::{Bound, Check, health};
pub use level::Levelling;
pub use monte_carlo::{Bin, Driver, DriverKind, MonteCarlo, Percentiles, SCurvePoint};
pub use problem::{Problem, ProblemKind};
pub use project::Project;
pub use schedule::{
    Assigned, Basis, Constraint, Fix, Hours, Infeasible, LoadStep, Optimiser, Options, Overload, ResourceRow, Schedule,
    TaskKind, TaskRow, USUAL_DRAWS, Verdict, Warning, schedule, schedule_until,
};
pub use what_if::{WhatIf, what_if, what_if_by};
