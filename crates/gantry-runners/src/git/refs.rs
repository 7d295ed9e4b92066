//! Branches and tags, and the way back from everything that moves them.

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::commit::count;
use super::look::{DIFF, writable};
use super::program::{Repository, Writes};
use crate::policy::wrong;
use crate::ports::Ports;
use crate::runner::Preview;
use crate::text::visible;
use crate::work::Place;

/// How much of a diff is shown before files change.
const DIFF_BYTES_MAX: usize = 256 << 10;

/// What is written down before something is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    /// A branch moves on to a new commit.
    Commit {
        /// The branch; none when no branch is worked on.
        branch: Option<String>,
        /// Where it was; none before the first commit.
        before: Option<String>,
        /// Where it is then.
        after: String,
        /// What was staged before, as a tree.
        index: Option<String>,
    },
    /// A branch or a tag is made.
    Made {
        /// As `refs/heads/…` or `refs/tags/…`.
        name: String,
        /// The commit that it stands for.
        commit: String,
    },
    /// Another branch is worked on.
    Switched {
        /// The branch, or the commit, before.
        from: String,
        /// Whether that is a branch.
        on_branch: bool,
        /// The branch then.
        to: String,
    },
}

/// A branch or a tag that is to be made.
pub(super) struct New<'a> {
    pub(super) kind: Kind,
    pub(super) name: &'a str,
    pub(super) at: &'a str,
    pub(super) message: Option<&'a str>,
}

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Branch,
    Tag,
}

impl New<'_> {
    fn word(&self) -> &'static str {
        match self.kind {
            Kind::Branch => "branch",
            Kind::Tag => "tag",
        }
    }

    fn full(&self) -> String {
        match self.kind {
            Kind::Branch => format!("refs/heads/{}", self.name),
            Kind::Tag => format!("refs/tags/{}", self.name),
        }
    }

    /// The commit that it is to stand for, and whether it does so already.
    async fn look(&self, repository: &Repository<'_>) -> Result<(String, bool), Failure> {
        let (word, name) = (self.word(), self.name);
        let full = self.full();
        if repository.ask(Writes::Nothing, &["check-ref-format", &full], &[]).await?.code != 0 {
            return Err(wrong(format!("`{name}` is no name of a {word}")));
        }
        let commit = repository.commit_of(self.at).await?;
        let commit = commit.ok_or_else(|| wrong(format!("there is no commit `{}` to make a {word} at", self.at)))?;
        match repository.commit_of(&full).await? {
            Some(there) if there == commit => Ok((commit, true)),
            Some(there) => {
                let (there, wanted) = (short(&there), short(&commit));
                Err(wrong(format!("there is a {word} `{name}` already, at {there} and not at {wanted}")))
            }
            None => Ok((commit, false)),
        }
    }

    pub(super) async fn preview(&self, repository: &Repository<'_>) -> Result<Preview, Failure> {
        let (commit, there) = self.look(repository).await?;
        let text = if there {
            "nothing would change".to_owned()
        } else {
            format!("make the {} `{}` at {}", self.word(), self.name, short(&commit))
        };
        Ok(Preview { text, diff: None })
    }

    pub(super) async fn make(
        &self,
        repository: &Repository<'_>,
        request: Value,
        ports: &Ports,
        undo: &mut Option<Value>,
    ) -> Result<Success, Failure> {
        let (commit, there) = self.look(repository).await?;
        if !there {
            let (full, name) = (self.full(), self.name);
            let record = json!(Record::Made { name: full.clone(), commit: commit.clone() });
            let (call, ()) = tokio::try_join!(ports.begin(super::GIT, request), ports.intend(record.clone()))?;
            *undo = Some(record);
            let identity = super::commit::identity(repository, None).await?;
            let identity: Vec<(&str, &str)> = identity.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let made = match self.message {
                Some(message) => {
                    let args = ["tag", "--annotate", "--message", message, "--end-of-options", name, &commit];
                    repository.git_with(Writes::Repository, &args, &identity).await
                }
                // Empty: there must be none yet.
                None => repository.git(Writes::Repository, &["update-ref", &full, &commit, ""]).await,
            };
            ports.calls.answered(call, json!({"made": made.is_ok()}));
            made?;
        }
        let outputs = [("changed", json!(!there)), (self.word(), json!(self.name)), ("commit", json!(commit))];
        let outputs: Outputs = outputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Success { outputs, ..Success::default() })
    }
}

/// The first letters of the name of a commit.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// From where to where a switch leads.
struct Way {
    from: String,
    on_branch: bool,
    to: String,
    /// The files that change by it.
    changed: Vec<String>,
}

async fn way(repository: &Repository<'_>, name: &str, place: &Place) -> Result<Option<Way>, Failure> {
    let to = format!("refs/heads/{name}");
    let Some(target) = repository.commit_of(&to).await? else {
        return Err(wrong(format!("there is no branch `{name}`; make it with `git.branch`")));
    };
    let branch = repository.branch().await?;
    if branch.as_ref() == Some(&to) {
        return Ok(None);
    }
    let on_branch = branch.is_some();
    let from = match branch {
        Some(branch) => branch,
        None => repository.base().await?,
    };
    let base = repository.base().await?;
    let names = ["diff", "--name-only", "--no-renames", "-z", "--end-of-options", &base, &target, "--"];
    let changed: Vec<String> = repository.git(Writes::Nothing, &names).await?.parts().collect();
    changed.iter().try_for_each(|path| writable(place, path))?;
    Ok(Some(Way { from, on_branch, to, changed }))
}

pub(super) async fn preview_switch(repository: &Repository<'_>, name: &str, place: &Place) -> Result<Preview, Failure> {
    let Some(way) = way(repository, name, place).await? else {
        return Ok(Preview { text: "nothing would change".to_owned(), diff: None });
    };
    let base = repository.base().await?;
    let args = [&["diff"], &DIFF[..], &["--end-of-options", base.as_str(), way.to.as_str(), "--"]].concat();
    let mut diff = visible(&repository.git(Writes::Nothing, &args).await?.out);
    if diff.len() > DIFF_BYTES_MAX {
        diff.truncate(diff.floor_char_boundary(DIFF_BYTES_MAX));
        diff += "\n[gantry: the rest of the diff is left out]\n";
    }
    let text = format!("switch to the branch `{name}`, which changes {}", count(way.changed.len()));
    Ok(Preview { text, diff: (!diff.is_empty()).then_some(diff) })
}

pub(super) async fn switch(
    repository: &Repository<'_>,
    name: &str,
    request: Value,
    place: &Place,
    ports: &Ports,
    undo: &mut Option<Value>,
) -> Result<Success, Failure> {
    let way = way(repository, name, place).await?;
    let changed = way.is_some();
    if let Some(Way { from, on_branch, to, .. }) = way {
        let record = json!(Record::Switched { from, on_branch, to });
        let (call, ()) = tokio::try_join!(ports.begin(super::GIT, request), ports.intend(record.clone()))?;
        *undo = Some(record);
        let switched = repository.git(Writes::Files, &["switch", "--no-guess", "--quiet", name]).await;
        ports.calls.answered(call, json!({"switched": switched.is_ok()}));
        switched?;
    }
    let commit = repository.commit_of("HEAD").await?;
    let outputs = [("changed", json!(changed)), ("branch", json!(name)), ("commit", json!(commit))];
    let outputs: Outputs = outputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(Success { outputs, ..Success::default() })
}

/// Takes back what one record is about, unless something has come after it.
pub(super) async fn take_back(repository: &Repository<'_>, record: Record) -> Result<String, Failure> {
    match record {
        Record::Commit { branch, before, after, index } => {
            let now = repository.commit_of("HEAD").await?;
            if now == before {
                return Ok("there was no commit to take back".to_owned());
            }
            if now.as_ref() != Some(&after) || repository.branch().await? != branch {
                return Err(wrong(format!(
                    "the commit {} is not the last one any more; taking it back would lose what came after it",
                    short(&after)
                )));
            }
            let note = "undo: back to the commit before";
            match &before {
                Some(before) => {
                    repository.git(Writes::Repository, &["update-ref", "-m", note, "HEAD", before, &after]).await?
                }
                None => repository.git(Writes::Repository, &["update-ref", "-d", "HEAD", &after]).await?,
            };
            if let Some(index) = index {
                repository.git(Writes::Repository, &["read-tree", "-m", &index]).await?;
            }
            Ok(format!("the commit {} is taken back; the files are as they are", short(&after)))
        }
        Record::Made { name, commit } => {
            let shown = name.trim_start_matches("refs/heads/").trim_start_matches("refs/tags/").to_owned();
            match repository.commit_of(&name).await? {
                None => Ok(format!("there is no `{shown}` any more")),
                Some(now) if now != commit => {
                    Err(wrong(format!("`{shown}` stands for another commit since; taking it back would lose that")))
                }
                Some(_) if repository.branch().await?.as_ref() == Some(&name) => {
                    Err(wrong(format!("the branch `{shown}` is the one that is worked on; switch to another first")))
                }
                Some(_) => {
                    let there = repository.git(Writes::Nothing, &["rev-parse", "--verify", &name]).await?.line();
                    repository.git(Writes::Repository, &["update-ref", "-d", &name, &there]).await?;
                    Ok(format!("`{shown}` is removed"))
                }
            }
        }
        Record::Switched { from, on_branch, to } => {
            let now = repository.branch().await?;
            let is_back = if on_branch { now.as_ref() == Some(&from) } else { now.is_none() };
            if is_back {
                return Ok("the branch is as before already".to_owned());
            }
            if now.as_ref() != Some(&to) {
                return Err(wrong("another branch is worked on since; nothing is changed"));
            }
            let name = from.strip_prefix("refs/heads/").unwrap_or(&from);
            let args: &[&str] = if on_branch { &["--no-guess", name] } else { &["--detach", name] };
            repository.git(Writes::Files, &[&["switch", "--quiet"], args].concat()).await?;
            Ok(format!("`{name}` is worked on as before"))
        }
    }
}
