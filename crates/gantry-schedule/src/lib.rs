//! Turns tasks, dependencies, calendars, people and estimates into dates, money and risk that hold.
//!
//! Pure: no clock, no input or output, no hidden randomness. The same input and seed give the same bytes.
//!
//! A [`Project`] says what is to be done, [`schedule`](fn@schedule) computes everything, [`what_if`](fn@what_if) tells
//! what a change would change, [`read`] and [`write`](mod@write) know the files of other tools, and [`rcpsp`] is the
//! optimiser by itself.
//!
//! ```
//! use gantry_schedule::project::{Calendar, Money, Need, Project, Resource, Task};
//! use gantry_schedule::{Options, schedule, what_if};
//!
//! // Ana welds and is away on a Wednesday; whoever paints is found by role.
//! let mut project = Project::starting("2026-03-02".parse()?, Calendar::office("office", "Europe/Vienna"));
//! project.currency = "EUR".to_owned();
//! project.resources = vec![
//!     Resource { absences: vec!["2026-03-04..2026-03-04".parse()?], rate: Some(Money::of(80)), ..Resource::new("ana") },
//!     Resource { roles: vec!["painter".to_owned()], rate: Some(Money::of(50)), ..Resource::new("ben") },
//! ];
//! let mut frame = Task::milestone("frame").needs(Need::named("ana"));
//! frame.estimate = Some("2d / 3d / 4d".parse()?); // at best, most likely, at worst
//! let paint = Task::new("paint", "2d".parse()?).after("frame FS+4eh").needs(Need::role("painter"));
//! project.tasks = vec![frame, paint, Task::milestone("done").after("paint")];
//! project.deadline = Some("2026-03-13 hard".parse()?);
//!
//! let options = Options { draws: 1_000, ..Options::usual(&project) };
//! let planned = schedule(&project, &options).map_err(|problems| problems[0].to_string())?;
//! assert!(planned.feasible);
//! assert_eq!(planned.critical_path, ["frame", "paint", "done"]);
//! assert_eq!(planned.tasks[1].resources[0].id, "ben");
//! assert_eq!(planned.finish.to_string(), "2026-03-09T17:00:00+01:00");
//! assert_eq!(planned.cost.total.to_string(), "2720.00");
//! let futures = planned.monte_carlo.expect("some were drawn");
//! assert!(futures.finish.p50 <= futures.finish.p80);
//!
//! // And if Ana stayed?
//! let changed = what_if(&project, &["resource.ana.absences=[]"], &options).map_err(|problems| problems[0].to_string())?;
//! assert!(changed.schedule.finish < planned.finish);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
