//! What is kept beside the entries of a turn: why there was one.

use gantry_core::input::Input;
use gantry_core::life::Room;
use serde::{Deserialize, Serialize};

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
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what the store kept.
    pub fn from_json(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    /// Writes `Decided` without owning its inputs.
    pub(crate) fn decided_to_json(inputs: Vec<&Input>, room: Room) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "snake_case")]
        enum Borrowed<'a> {
            Decided {
                inputs: Vec<&'a Input>,
                #[serde(skip_serializing_if = "is_plenty")]
                room: Room,
            },
        }
        serde_json::to_string(&Borrowed::Decided { inputs, room }).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_are_borrowed_are_written_like_those_that_are_owned() {
        let inputs = vec![Input::Start, Input::Pause { by: "ann".to_owned(), why: "lunch".to_owned() }];
        for room in [Room::PLENTY, Room(3)] {
            let json = Cause::decided_to_json(inputs.iter().collect(), room);
            let cause = Cause::Decided { inputs: inputs.clone(), room };
            assert_eq!(json, cause.to_json());
            assert_eq!(Cause::from_json(&json), Ok(cause));
        }
    }
}
