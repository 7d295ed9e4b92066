//! The project people describe: tasks, links, calendars, people, money and risks, before anything is computed.
//!
//! Everything is plain data that reads and writes itself as JSON. Nothing here is checked beyond its own shape;
//! [`check`](crate::problem) looks at the whole.

mod length; // in reading order
mod when;
mod money;
mod link;
mod estimate;
mod calendar;
mod resource;
mod cost;
mod task;
mod instance;
mod schema;
mod under_way;

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

pub use calendar::{Calendar, Days, Hours, Week};
pub use cost::{Correlation, Cost, CostKind, Due, Recurring, ReferenceClass, Risk};
pub use estimate::{Estimate, Shape, ThreePoint};
pub(crate) use length::decimal;
pub use length::{Length, Scale, Unit};
pub use link::{Link, LinkKind};
pub use money::{Money, places, to_coins};
pub use resource::{Amount, CapacityChange, Need, Resource, Who};
pub use task::{Baseline, Deadline, Progress, Task};
pub use when::When;

/// Everything that goes into a schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// What it is called.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// When it starts; none means that times are numbers of units from zero.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Option<When>,
    /// The unit in which it counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unit: Unit,
    /// The calendar of everything that names none; none means round the clock in UTC.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calendar: Option<String>,
    /// The currency of its totals, three letters.
    #[serde(default = "dollars")]
    pub currency: String,
    /// What one unit of another currency is worth in the project's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exchange: BTreeMap<String, Decimal>,
    /// When the whole must, or should, be done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadline: Option<Deadline>,
    /// What the whole may cost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub budget: Option<Money>,
    /// Up to when progress is known: nothing unfinished is planned before it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_date: Option<When>,
    /// Calendars.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calendars: Vec<Calendar>,
    /// People and equipment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: Vec<Resource>,
    /// Tasks, summaries and milestones, in any order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tasks: Vec<Task>,
    /// What may happen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub risks: Vec<Risk>,
    /// What goes well or badly together.
    #[serde(default, skip_serializing_if = "is_default")]
    pub correlations: Vec<Correlation>,
    /// Records of past work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub classes: Vec<ReferenceClass>,
    /// What is due again and again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recurring: Vec<Recurring>,
}

fn dollars() -> String {
    "USD".to_owned()
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Project {
    /// An empty project that counts in this unit from zero, round the clock.
    pub fn counting(unit: Unit) -> Self {
        Self { unit, currency: dollars(), ..Self::default() }
    }

    /// An empty project that starts at this point in time, on this calendar.
    pub fn starting(start: When, calendar: Calendar) -> Self {
        Self {
            start: Some(start),
            calendar: Some(calendar.id.clone()),
            calendars: vec![calendar],
            ..Self::counting(Unit::Day)
        }
    }

    /// The same project with one more task.
    #[must_use]
    pub fn with(mut self, task: Task) -> Self {
        self.tasks.push(task);
        self
    }

    /// The task with this id.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }
}
