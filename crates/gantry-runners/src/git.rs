//! `git.status`, `git.diff`, `git.commit`, `git.branch`, `git.switch`, `git.tag`: the git repository of the working folder.
//!
//! | Capability | Arguments |
//! | --- | --- |
//! | `git.status` | |
//! | `git.diff` | `paths`, `staged`; or `from`, and `to`: revisions |
//! | `git.commit` | `message`; `paths` (else all that changed), `author` |
//! | `git.branch` | `name`; `at` |
//! | `git.switch` | `name` |
//! | `git.tag` | `name`; `at`, `message` |
//!
//! The repository is whole in the working folder, and what it is set up for is never changed. Files outside of
//! `policy.files` are neither shown nor committed nor changed. Doing the same again changes nothing, and everything is taken
//! back only while nothing has come after it.

mod asked; // in reading order
mod program;
mod look;
mod commit;
mod refs;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_core::policy::FailureClass;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use asked::Asked;
use commit::Wanted;
use look::Sides;
use program::Repository;
use refs::{Kind, New, Record};

use crate::args::Args;
use crate::ports::Ports;
use crate::process::GuardProgram;
use crate::runner::{Description, Ended, Preview, Runner};
use crate::work::{Place, Work};

/// The kind under which changes of repositories are recorded.
const GIT: &str = "git";

/// Works on the repository of the working folder.
#[derive(Clone, Debug)]
pub struct Git {
    guard: GuardProgram,
}

impl Git {
    /// Makes one whose processes run under this guard.
    pub fn new(guard: GuardProgram) -> Self {
        Self { guard }
    }

    async fn do_it(
        &self,
        work: &Work,
        place: &Place,
        ports: &Ports,
        stop: &CancellationToken,
        undo: &mut Option<Value>,
    ) -> Result<Success, Failure> {
        let asked = Asked::of(work, place)?;
        let repository = Repository::open(&self.guard, place, stop)?;
        let request = json!({"tool": Args::of(work)?.tool(), "args": work.args()});
        match &asked {
            Asked::Status => look::status(&repository, place).await,
            Asked::Diff { paths, staged, from, to } => {
                let sides = Sides { paths, staged: *staged, from: from.as_deref(), to: to.as_deref() };
                look::diff(&repository, sides, place, ports).await
            }
            Asked::Commit { message, paths, author } => {
                let wanted = Wanted { message, paths, author: author.as_deref() };
                commit::commit(&repository, wanted, request, place, ports, undo).await
            }
            Asked::Switch { name } => refs::switch(&repository, name, request, place, ports, undo).await,
            Asked::Branch { .. } | Asked::Tag { .. } => match asked.new_ref() {
                Some(new) => new.make(&repository, request, ports, undo).await,
                None => Ok(Success::default()),
            },
        }
    }
}

impl Asked {
    /// The branch or the tag that is to be made, if one is.
    fn new_ref(&self) -> Option<New<'_>> {
        match self {
            Self::Branch { name, at } => Some(New { kind: Kind::Branch, name, at, message: None }),
            Self::Tag { name, at, message } => Some(New { kind: Kind::Tag, name, at, message: message.as_deref() }),
            Self::Status | Self::Diff { .. } | Self::Commit { .. } | Self::Switch { .. } => None,
        }
    }
}

#[async_trait]
impl Runner for Git {
    fn names(&self) -> &'static [&'static str] {
        &["git.status", "git.diff", "git.commit", "git.branch", "git.switch", "git.tag"]
    }

    fn description(&self, name: &str) -> Option<Description> {
        let text = |meaning: &str| json!({"type": "string", "description": meaning});
        let paths =
            json!({"type": "array", "items": {"type": "string"}, "description": "Files and folders; all without it."});
        let at = text("The revision that it stands for; the last commit without it.");
        let (text, properties, required) = match name {
            "git.status" => ("Tells the branch, the last commit, and which files changed since.", json!({}), json!([])),
            "git.diff" => (
                "Shows what changed since the last commit, or between two revisions.",
                json!({
                    "paths": paths,
                    "staged": {"type": "boolean", "description": "Only what is staged."},
                    "from": text("A revision to compare with."),
                    "to": text("Another revision; the files as they are without it."),
                }),
                json!([]),
            ),
            "git.commit" => (
                "Commits what changed, new files included.",
                json!({"message": text("What it is about."), "paths": paths}),
                json!(["message"]),
            ),
            "git.branch" => ("Makes a branch.", json!({"name": text("Its name."), "at": at}), json!(["name"])),
            "git.switch" => ("Switches to a branch.", json!({"name": text("Its name.")}), json!(["name"])),
            "git.tag" => (
                "Makes a tag.",
                json!({"name": text("Its name."), "at": at, "message": text("What it is about.")}),
                json!(["name"]),
            ),
            _ => return None,
        };
        let parameters =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        Some(Description { text: text.into(), parameters, foreign: false, repeatable: true })
    }

    fn parameters(&self, name: &str) -> &'static [&'static str] {
        match name {
            "git.status" => &[],
            "git.diff" => &["from", "to"],
            "git.commit" => &["message", "paths"],
            "git.switch" => &["name"],
            _ => &["name", "at"],
        }
    }

    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        Asked::of(work, place).map(drop)
    }

    async fn preview(&self, work: &Work, place: &Place) -> Result<Preview, Failure> {
        let asked = Asked::of(work, place)?;
        let stop = CancellationToken::new();
        let repository = Repository::open(&self.guard, place, &stop)?;
        let says = |text: &str| Ok(Preview { text: text.to_owned(), diff: None });
        match &asked {
            Asked::Status => says("would tell which files changed since the last commit"),
            Asked::Diff { .. } => says("would show what changed"),
            Asked::Commit { message, paths, author } => {
                let wanted = Wanted { message, paths, author: author.as_deref() };
                commit::preview(&repository, &wanted, place).await
            }
            Asked::Switch { name } => refs::preview_switch(&repository, name, place).await,
            Asked::Branch { .. } | Asked::Tag { .. } => match asked.new_ref() {
                Some(new) => new.preview(&repository).await,
                None => says("nothing would change"),
            },
        }
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        if stop.is_cancelled() {
            return Ended::with(Err(Failure::new(FailureClass::Cancelled, "it was stopped before it began")));
        }
        let mut undo = None;
        // Several processes after one another: large, and rare.
        let doing = Box::pin(self.do_it(work, place, ports, stop, &mut undo));
        let end = ports.beating(work.heartbeat, doing).await;
        Ended { end, usage: Default::default(), undo }
    }

    async fn undo(&self, _work: &Work, place: &Place, _ports: &Ports, record: &Value) -> Result<String, String> {
        let record: Record = serde_json::from_value(record.clone())
            .map_err(|error| format!("the record of what was there before cannot be read: {error}"))?;
        let stop = CancellationToken::new(); // taking back is not stopped half way
        let taken_back = async {
            let repository = Repository::open(&self.guard, place, &stop)?;
            refs::take_back(&repository, record).await
        };
        Box::pin(taken_back).await.map_err(|failure| failure.message)
    }
}
