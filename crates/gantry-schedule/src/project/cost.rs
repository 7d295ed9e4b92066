//! What things cost beside people's time, and what may go wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::estimate::{Estimate, ThreePoint};
use super::is_default;
use super::length::Unit;
use super::money::Money;
use super::when::When;

/// Money that a task costs beside its people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// What it is for.
    pub name: String,
    /// What sort of cost it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: CostKind,
    /// How much: one amount or three.
    pub amount: ThreePoint<Money>,
    /// When it is due.
    #[serde(default, skip_serializing_if = "is_default")]
    pub due: Due,
}

/// Sorts of cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CostKind {
    /// People's and equipment's time.
    Labour,
    /// Things that are used up.
    Material,
    /// Paid once.
    #[default]
    Fixed,
    /// Paid again and again.
    Recurring,
}

/// When a cost is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Due {
    /// When the task starts.
    #[default]
    Start,
    /// When the task finishes.
    Finish,
    /// Evenly while it is worked on.
    Spread,
}

/// Money that is due again and again while the project runs, or between two points in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recurring {
    /// What it is for, unique among recurring costs.
    pub id: String,
    /// How much each time.
    pub amount: Money,
    /// How often.
    pub every: Unit,
    /// First due; none means at the project's start.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<When>,
    /// Never due at or after this; none means the project's finish.
    #[serde(default, skip_serializing_if = "is_default")]
    pub to: Option<When>,
}

/// Something that may happen, and what it would do to time and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScheduleRisk")] // tasks have risks too
pub struct Risk {
    /// Its name, unique among risks.
    pub id: String,
    /// What people call it; the id when empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub title: String,
    /// How likely it is, 0 to 1.
    pub probability: f64,
    /// How bad it would be, 1 to 5, where somebody has said so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub impact: Option<u8>,
    /// What it would mean, in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub effect: String,
    /// What is done about it, in words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mitigation: String,
    /// Who watches it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub owner: String,
    /// The tasks it would delay.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tasks: Vec<String>,
    /// How much longer each of them would take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: Option<Estimate>,
    /// What it would cost, once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cost: Option<ThreePoint<Money>>,
}

/// Tasks and risks that go well or badly together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Correlation {
    /// Its name, unique among correlations.
    pub id: String,
    /// Ids of tasks and risks.
    pub members: Vec<String>,
    /// The correlation between any two of them, 0 to 1.
    pub strength: f64,
}

/// Past work of one kind: what it really took, divided by what was estimated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceClass {
    /// Its name, unique among classes.
    pub id: String,
    /// Actual divided by estimate, one for each past case.
    pub ratios: Vec<f64>,
}

impl ReferenceClass {
    /// The mean ratio.
    pub fn mean(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "there are fewer past cases than 2^52")]
        let count = self.ratios.len().max(1) as f64;
        self.ratios.iter().sum::<f64>() / count
    }
}
