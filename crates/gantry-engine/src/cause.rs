//! What is kept beside the entries of a turn: why there was one.

use std::path::PathBuf;

use gantry_core::input::Input;
use gantry_core::life::{Room, Scarce};
use gantry_runners::work::{Sandbox, SandboxMode};
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
        /// How many attempts there was room for that use a capability, where that was too few.
        #[serde(default, skip_serializing_if = "Scarce::is_empty")]
        scarce: Scarce,
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
    pub(crate) fn decided_to_json(inputs: Vec<&Input>, room: Room, scarce: &Scarce) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "snake_case")]
        enum Borrowed<'a> {
            Decided {
                inputs: Vec<&'a Input>,
                #[serde(skip_serializing_if = "is_plenty")]
                room: Room,
                #[serde(skip_serializing_if = "Scarce::is_empty")]
                scarce: &'a Scarce,
            },
        }
        serde_json::to_string(&Borrowed::Decided { inputs, room, scarce }).unwrap_or_default()
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
    /// What its processes were given beyond the usual.
    #[serde(default, skip_serializing_if = "Given::is_nothing")]
    pub given: Given,
    /// The plan and task that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(gantry_core::id::PlanId, gantry_core::id::TaskId)>,
}

/// What the processes of a plan were given beyond the usual when it was begun, so that whoever goes on with it gives the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Variables: `NAME=VALUE`, or `NAME` with the value that it has wherever the plan is driven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// How much confinement matters, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Confine>,
    /// Folders and files outside the workspace that they may read and run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_also: Vec<PathBuf>,
    /// Folders outside the workspace that they may write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_also: Vec<PathBuf>,
    /// What was said about models, as options: `--strict`, `--profile=fast`, `--model=writer=gpt-4o`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
}

/// A choice about confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confine {
    /// In full, or nothing runs.
    Required,
    /// Not at all.
    Off,
}

impl Given {
    /// Tells whether nothing was given.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The variables by name, for whoever drives the plan here; a name without a value is one that is not set here.
    pub fn variables(&self) -> impl Iterator<Item = (&str, Option<String>)> {
        self.env.iter().map(|given| match given.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (given.as_str(), std::env::var(given).ok()),
        })
    }

    /// The confinement that was asked for, with what is asked for now on top of it.
    pub fn sandbox(&self, now: &Sandbox) -> Sandbox {
        let mode = match (now.mode, self.sandbox) {
            (SandboxMode::BestEffort, Some(Confine::Required)) => SandboxMode::Required,
            (SandboxMode::BestEffort, Some(Confine::Off)) => SandboxMode::Off,
            (mode, _) => mode,
        };
        let also = |given: &[PathBuf], now: &[PathBuf]| given.iter().chain(now).cloned().collect();
        Sandbox {
            mode,
            read_also: also(&self.read_also, &now.read_also),
            write_also: also(&self.write_also, &now.write_also),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_are_borrowed_are_written_like_those_that_are_owned() {
        let inputs = vec![Input::Start, Input::Pause { by: "ann".to_owned(), why: "lunch".to_owned() }];
        for (room, scarce) in [(Room::PLENTY, Scarce::new()), (Room(3), Scarce::from([("shell".to_owned(), 2)]))] {
            let json = Cause::decided_to_json(inputs.iter().collect(), room, &scarce);
            let cause = Cause::Decided { inputs: inputs.clone(), room, scarce };
            assert_eq!(json, cause.to_json());
            assert_eq!(Cause::from_json(&json), Ok(cause));
        }
    }

    #[test]
    fn what_is_asked_for_now_comes_on_top_of_what_was_given() {
        let mode = |given, now| {
            Given { sandbox: given, ..Given::default() }.sandbox(&Sandbox { mode: now, ..Sandbox::default() }).mode
        };
        assert_eq!(mode(None, SandboxMode::BestEffort), SandboxMode::BestEffort);
        assert_eq!(mode(Some(Confine::Off), SandboxMode::BestEffort), SandboxMode::Off);
        assert_eq!(mode(Some(Confine::Required), SandboxMode::BestEffort), SandboxMode::Required);
        assert_eq!(mode(Some(Confine::Off), SandboxMode::Required), SandboxMode::Required);
        assert_eq!(mode(Some(Confine::Required), SandboxMode::Off), SandboxMode::Off);
        let given = Given { read_also: vec!["/a".into()], ..Given::default() };
        let now = Sandbox { read_also: vec!["/b".into()], ..Sandbox::default() };
        assert_eq!(given.sandbox(&now).read_also, [PathBuf::from("/a"), PathBuf::from("/b")]);
    }

    #[test]
    fn a_plan_from_before_anything_was_given_is_read() {
        let origin: Origin = serde_json::from_str(r#"{"workspace": "/w"}"#).unwrap();
        assert!(origin.given.is_nothing());
        assert_eq!(serde_json::to_string(&origin).unwrap(), r#"{"workspace":"/w"}"#, "and written as it was");
    }
}
