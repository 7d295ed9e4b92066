//! What a Gantry plan is and how it lives.
//!
//! Nothing here awaits, reads a clock, draws randomness or names a vendor. Time, ids and seeds are
//! arguments; everything that happens is an event; the same events always give the same state.
//!
//! ```
//! use gantry_core::{id::PlanId, input::Input, life, plan::{Plan, Task}, time::Timestamp};
//!
//! let task = Task::new(gantry_core::id::TaskId::new("build").unwrap());
//! let plan = Plan { title: "Build it".to_owned(), tasks: vec![task], ..Plan::default() };
//! let now = Timestamp::from_ms(0);
//! let mut journal = life::create(plan, PlanId::mint("Build it", 7), 7, now).unwrap();
//! let mut life = life::replay(&journal).unwrap();
//! let verdict = life.decide(&Input::Start, now).unwrap();
//! journal.extend(verdict.events.iter().cloned()); // durable first …
//! life.apply(&verdict.events); // … then visible, then the effects
//! assert_eq!(life, life::replay(&journal).unwrap());
//! ```

pub mod expr; // in reading order
pub mod suggest;
pub mod id;
pub mod time;
pub mod plan;
pub mod policy;
pub mod event;
pub mod effect;
pub mod input;
pub mod life;
