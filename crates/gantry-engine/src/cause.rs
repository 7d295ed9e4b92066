//! What is kept beside the entries of a turn: why there was one.

use gantry_core::input::Input;
use gantry_core::life::Room;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why there was a turn. With it, the turn can be decided again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Someone created the plan.
    Created(Origin),
    /// It stands in the journal that this one continues, or came with an import, cut off in the middle of a turn.
    Given,
    /// These inputs were decided together.
    Decided {
        /// What reached the plan, in order.
        inputs: Vec<Input>,
        /// How many attempts there was room for.
        #[serde(default = "plenty", skip_serializing_if = "is_plenty")]
        room: Room,
    },
}

fn plenty() -> Room {
    Room::PLENTY
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_plenty(room: &Room) -> bool {
    *room == Room::PLENTY
}

impl Cause {
    /// Writes it as the store keeps it.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Reads what the store kept.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        Self::deserialize(value).map_err(|error| error.to_string())
    }
}

/// Where a plan comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The folder that its tasks work in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub workspace: String,
    /// The file that it was read from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Who created it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The names of the secrets that its tasks are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The plan and task that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(gantry_core::id::PlanId, gantry_core::id::TaskId)>,
}
