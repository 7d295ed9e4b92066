//! What a schedule knows of a plan beyond its tasks: calendars, people, money, chance, and more about single tasks.
//!
//! Nothing here changes how a plan runs. It is read by whoever computes dates and costs; [`Plan::project`] puts it
//! together with the tasks.

mod project;

use std::collections::BTreeMap;

use gantry_schedule::project::{
    Baseline, Calendar, Correlation, Cost, Deadline, Estimate, Link, Money, Need, Recurring, ReferenceClass, Resource,
    Risk, Unit, When,
};
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use project::own_part;

use super::{Plan, Task, is_default};
use crate::id::TaskId;
use crate::time::Timestamp;

/// What a schedule knows of a plan beyond its tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduling {
    /// When the work starts; none means when the plan begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Option<When>,
    /// The unit in which lengths without a unit count, and in which results are told.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unit: Unit,
    /// The calendar of everything that names none; none means round the clock in UTC.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calendar: Option<String>,
    /// Calendars.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calendars: Vec<Calendar>,
    /// The currency of totals, three letters; none means USD.
    #[serde(default, skip_serializing_if = "is_default")]
    pub currency: Option<String>,
    /// What one unit of another currency is worth in this one.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "BTreeMap<String, Money>")]
    pub exchange: BTreeMap<String, Decimal>,
    /// When the whole must, or should, be done; takes the place of the plan's own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadline: Option<Deadline>,
    /// What the whole may cost; takes the place of what the policy allows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub budget: Option<Money>,
    /// People and equipment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: Vec<Resource>,
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
    /// What it adds to single tasks, by their ids.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tasks: BTreeMap<TaskId, TaskScheduling>,
}

/// What a schedule adds to one task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskScheduling {
    /// What it waits for in the schedule, such as `design SS+2d`; a link to a task that it also depends on takes the
    /// place of waiting for that task's end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after: Vec<Link>,
    /// How long it takes in working time; takes the place of the task's own estimate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub estimate: Option<Estimate>,
    /// The class of past work whose record corrects the estimate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub class: Option<String>,
    /// When it is worked on; none means when its people work, or as the schedule says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calendar: Option<String>,
    /// Not before this.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_no_earlier: Option<When>,
    /// When it must, or should, be done; takes the place of the task's own deadline.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadline: Option<Deadline>,
    /// The people and equipment it occupies, beside the task's own resources.
    #[serde(default, skip_serializing_if = "is_default")]
    pub needs: Vec<Need>,
    /// What it costs beside its people.
    #[serde(default, skip_serializing_if = "is_default")]
    pub costs: Vec<Cost>,
    /// What was once agreed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub baseline: Option<Baseline>,
    /// How much of it is done, 0 to 100.
    #[serde(default, skip_serializing_if = "is_default")]
    pub percent: Option<u8>,
    /// What it has cost so far, with everything that was bought for it; none means rates times the time it took.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spent: Option<Money>,
}

impl Scheduling {
    /// Tells whether the plan says nothing of a schedule.
    pub fn is_empty(&self) -> bool {
        is_default(self)
    }

    /// What it adds to a task; a task that repeats another has what that one has.
    pub fn of(&self, task: &Task) -> Option<&TaskScheduling> {
        self.tasks.get(&task.id).or_else(|| self.tasks.get(&task.round.as_ref()?.of))
    }
}

/// A point in time as schedules have it.
pub fn when(time: Timestamp) -> When {
    jiff::Timestamp::from_millisecond(time.as_ms()).map_or(When::After(Default::default()), When::At)
}
