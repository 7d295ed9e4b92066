//! Looking: what is where, and what differs.

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use serde_json::{Value, json};

use super::program::{Repository, Writes};
use crate::policy::Scopes;
use crate::ports::Ports;
use crate::text::visible;
use crate::work::Place;

/// How many files are named; more are counted.
const FILES_MAX: usize = 1_000;
/// How much of a diff is handed on as an output; all of a longer one is the artifact `diff`.
const DIFF_BYTES_MAX: usize = 256 << 10;
/// What every diff is made with.
pub(super) const DIFF: [&str; 5] = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--src-prefix=a/"];

impl Repository<'_> {
    /// The commit that something names; none when there is none yet.
    pub(super) async fn commit_of(&self, revision: &str) -> Result<Option<String>, Failure> {
        let wanted = format!("{revision}^{{commit}}");
        let said =
            self.ask(Writes::Nothing, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted], &[]).await?;
        Ok((said.code == 0).then(|| said.line()))
    }

    /// The branch that is worked on, as `refs/heads/…`; none when it is a commit.
    pub(super) async fn branch(&self) -> Result<Option<String>, Failure> {
        let said = self.ask(Writes::Nothing, &["symbolic-ref", "--quiet", "HEAD"], &[]).await?;
        Ok((said.code == 0).then(|| said.line()))
    }

    /// What a comparison starts from before there is any commit.
    pub(super) async fn empty_tree(&self) -> Result<String, Failure> {
        Ok(self.git(Writes::Nothing, &["hash-object", "-t", "tree", "/dev/null"]).await?.line())
    }

    /// The commit that is worked on, or nothing at all.
    pub(super) async fn base(&self) -> Result<String, Failure> {
        match self.commit_of("HEAD").await? {
            Some(commit) => Ok(commit),
            None => self.empty_tree().await,
        }
    }
}

/// Whether every policy lets a file be read.
fn readable(place: &Place, path: &str) -> Result<bool, Failure> {
    for policy in place.policies() {
        if Scopes::of(policy)?.may_read(path).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Says no to a file that may not be written.
pub(super) fn writable(place: &Place, path: &str) -> Result<(), Failure> {
    place.may_write(path)
}

/// What a letter of git stands for.
fn state(code: char) -> &'static str {
    match code {
        'A' => "added",
        'M' => "modified",
        'D' => "deleted",
        'T' => "changed in kind",
        'U' => "in conflict",
        '?' => "untracked",
        _ => "changed",
    }
}

pub(super) async fn status(repository: &Repository<'_>, place: &Place) -> Result<Success, Failure> {
    let args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
    let said = repository.git(Writes::Nothing, &args).await?;
    let (mut files, mut count, mut hidden) = (Vec::new(), 0_usize, 0_usize);
    for entry in said.parts() {
        let (Some((codes, path)), mut letters) = (entry.split_at_checked(3), entry.chars()) else { continue };
        let (staged, unstaged) = (letters.next().unwrap_or(' '), letters.next().unwrap_or(' '));
        if !readable(place, path)? {
            hidden += 1;
            continue;
        }
        count += 1;
        let conflict = codes.contains('U') || matches!(&codes[..2], "AA" | "DD");
        let code = if conflict {
            'U'
        } else if unstaged == ' ' {
            staged
        } else {
            unstaged
        };
        if files.len() < FILES_MAX {
            files
                .push(json!({"path": path, "state": state(code), "staged": !conflict && !matches!(staged, ' ' | '?')}));
        }
    }
    let branch = repository.branch().await?;
    let branch = branch.as_deref().map(|branch| branch.strip_prefix("refs/heads/").unwrap_or(branch));
    let mut outputs = Outputs::new();
    outputs.insert("branch".to_owned(), json!(branch));
    outputs.insert("head".to_owned(), json!(repository.commit_of("HEAD").await?));
    outputs.insert("clean".to_owned(), json!(count + hidden == 0));
    outputs.insert("count".to_owned(), json!(count));
    if files.len() < count {
        outputs.insert("truncated".to_owned(), json!(true));
    }
    outputs.insert("files".to_owned(), Value::Array(files));
    if hidden > 0 {
        outputs.insert("left_out".to_owned(), json!(hidden));
    }
    Ok(Success { outputs, ..Success::default() })
}

/// The two sides of a comparison.
pub(super) struct Sides<'a> {
    pub(super) paths: &'a [String],
    pub(super) staged: bool,
    pub(super) from: Option<&'a str>,
    pub(super) to: Option<&'a str>,
}

pub(super) async fn diff(
    repository: &Repository<'_>,
    sides: Sides<'_>,
    place: &Place,
    ports: &Ports,
) -> Result<Success, Failure> {
    let from = match sides.from {
        Some(from) => from.to_owned(),
        None => repository.base().await?,
    };
    let mut what = vec!["diff"];
    what.extend(DIFF);
    what.extend(sides.staged.then_some("--cached"));
    let mut revisions = vec!["--end-of-options", from.as_str()];
    revisions.extend(sides.to);
    revisions.push("--");
    revisions.extend(sides.paths.iter().map(String::as_str));
    let names = [&what[..], &["--name-only", "-z"], &revisions].concat();
    let all: Vec<String> = repository.git(Writes::Nothing, &names).await?.parts().collect();
    let mut shown = Vec::new();
    for path in &all {
        if readable(place, path)? {
            shown.push(path.as_str());
        }
    }
    let hidden = all.len() - shown.len();
    let text = if shown.is_empty() {
        String::new()
    } else if hidden == 0 {
        visible(&repository.git(Writes::Nothing, &[&what[..], &revisions].concat()).await?.out)
    } else {
        let end = revisions.iter().position(|word| *word == "--").map_or(revisions.len(), |at| at + 1);
        visible(&repository.git(Writes::Nothing, &[&what[..], &revisions[..end], &shown].concat()).await?.out)
    };
    let (mut outputs, mut artifacts) = (Outputs::new(), Vec::new());
    outputs.insert("count".to_owned(), json!(shown.len()));
    outputs.insert("paths".to_owned(), json!(shown.iter().take(FILES_MAX).collect::<Vec<_>>()));
    if hidden > 0 {
        outputs.insert("left_out".to_owned(), json!(hidden));
    }
    let cut = text.floor_char_boundary(DIFF_BYTES_MAX);
    outputs.insert("diff".to_owned(), json!(&text[..cut]));
    if cut < text.len() {
        outputs.insert("truncated".to_owned(), json!(true));
        artifacts.push(ports.keep_as("diff", text.into_bytes()).await?);
    }
    Ok(Success { outputs, artifacts, ..Success::default() })
}
