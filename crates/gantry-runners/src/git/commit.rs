//! A commit: made beside everything first, so that its name is on record before anything points to it.
//!
//! What is to be committed is staged in an index of its own; the commit is written; then the branch moves from the one
//! commit to the other, if nobody else has moved it meanwhile; then the real index learns of it. So a commit has happened
//! or not, whenever this process ends, and doing it again commits nothing twice.

use std::io;
use std::path::Path;

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::policy::FailureClass;
use serde_json::{Value, json};

use super::look::{DIFF, writable};
use super::program::{Repository, Writes};
use super::refs::Record;
use crate::policy::wrong;
use crate::ports::Ports;
use crate::runner::Preview;
use crate::text::{shortened, visible};
use crate::work::Place;

/// How much of a diff is shown before it is committed.
const DIFF_BYTES_MAX: usize = 256 << 10;
/// How many changed files are named.
const NAMED_MAX: usize = 1_000;
/// Who commits where nobody has said who works here.
const NOBODY: (&str, &str) = ("Gantry", "gantry@localhost");

/// What is to be committed.
pub(super) struct Wanted<'a> {
    pub(super) message: &'a str,
    pub(super) paths: &'a [String],
    pub(super) author: Option<&'a str>,
}

/// What is staged in an index of its own.
struct Staged {
    /// The variables with which git uses that index.
    variables: Vec<(&'static str, String)>,
    /// The commit that it is based on; none before the first.
    before: Option<String>,
    /// The same, or nothing at all.
    base: String,
    changed: Vec<String>,
}

impl Staged {
    fn variables(&self) -> Vec<(&str, &str)> {
        self.variables.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }
}

/// Stages what is wanted, out of everyone's sight. With `objects` beside, nothing at all is written to the repository.
async fn stage(
    repository: &Repository<'_>,
    wanted: &Wanted<'_>,
    place: &Place,
    objects: Objects,
) -> Result<Staged, Failure> {
    let index = repository.private("index");
    let mut variables = vec![("GIT_INDEX_FILE", index.clone())];
    if objects == Objects::Beside {
        let beside = repository.private("objects");
        std::fs::create_dir_all(&beside)
            .map_err(|error| Failure::new(FailureClass::Transient, format!("no room for a preview: {error}")))?;
        let real = place.root.canonicalize().unwrap_or_else(|_| place.root.clone()).join(".git/objects");
        variables.push(("GIT_OBJECT_DIRECTORY", beside));
        variables.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES", real.display().to_string()));
    }
    copy_index(&place.root.join(".git/index"), Path::new(&index))
        .map_err(|error| wrong(format!("the index of the repository cannot be read: {error}")))?;
    let before = repository.commit_of("HEAD").await?;
    let base = repository.base().await?;
    let mut staged = Staged { variables, before, base, changed: Vec::new() };
    let writes = if objects == Objects::Beside { Writes::Nothing } else { Writes::Repository };
    let start: &[&str] = match &staged.before {
        Some(before) => &["read-tree", "-m", before.as_str()],
        None => &["read-tree", "--empty"],
    };
    repository.git_with(writes, start, &staged.variables()).await?;
    let mut add = vec!["add", "--all", "--"];
    add.extend(wanted.paths.iter().map(String::as_str));
    if wanted.paths.is_empty() {
        add.push(".");
    }
    repository.git_with(writes, &add, &staged.variables()).await?;
    let names = ["diff", "--cached", "--name-only", "--no-renames", "-z", staged.base.as_str(), "--"];
    let changed = repository.git_with(Writes::Nothing, &names, &staged.variables()).await?;
    let own = place.own_paths();
    let (own, changed): (Vec<_>, Vec<_>) = changed.parts().partition(|path| own.contains(path) || is_unfinished(path));
    if !own.is_empty() {
        let own = own.iter().map(String::as_str);
        let reset: Vec<&str> = ["reset", "--quiet", staged.base.as_str(), "--"].into_iter().chain(own).collect();
        repository.git_with(writes, &reset, &staged.variables()).await?;
    }
    staged.changed = changed;
    for path in &staged.changed {
        // What the plan may not change it may not commit.
        writable(place, path).map_err(|failure| Failure {
            message: format!("{}; say with `paths` what is to be committed", failure.message),
            ..failure
        })?;
    }
    Ok(staged)
}

/// With the real index as the beginning, files that did not change need not be read again. Its time goes with it: git reads
/// those files again that changed in the same second.
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    let changed = match std::fs::metadata(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?.modified()?,
    };
    std::fs::copy(from, to)?;
    std::fs::File::options().write(true).open(to)?.set_modified(changed)
}

/// Whether this is a file that another task is writing just now.
fn is_unfinished(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.strip_prefix(".gantry-").and_then(|rest| rest.rsplit_once('.'));
    ending.is_some_and(|(_, ending)| matches!(ending, "part" | "tmp"))
}

/// Where git writes contents to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Objects {
    Real,
    Beside,
}

pub(super) async fn preview(
    repository: &Repository<'_>,
    wanted: &Wanted<'_>,
    place: &Place,
) -> Result<Preview, Failure> {
    let staged = stage(repository, wanted, place, Objects::Beside).await?;
    let title = shortened(wanted.message.lines().next().unwrap_or_default(), 100);
    // Git sees the files as they are; what would be changed by then is not among them.
    let foreseen = place.foreseen.has_changes();
    if staged.changed.is_empty() {
        let text = if foreseen {
            format!("commit what the tasks before it change as \"{title}\"")
        } else {
            "nothing would change".to_owned()
        };
        return Ok(Preview { text, diff: None });
    }
    let args = [&["diff", "--cached"], &DIFF[..], &[staged.base.as_str(), "--"]].concat();
    let mut diff = visible(&repository.git_with(Writes::Nothing, &args, &staged.variables()).await?.out);
    if diff.len() > DIFF_BYTES_MAX {
        diff.truncate(diff.floor_char_boundary(DIFF_BYTES_MAX));
        diff += "\n[gantry: the rest of the diff is left out]\n";
    }
    let more = if foreseen { ", and what the tasks before it change," } else { "" };
    let text = format!("commit {}{more} as \"{title}\"", count(staged.changed.len()));
    Ok(Preview { text, diff: Some(diff) })
}

pub(super) fn count(files: usize) -> String {
    if files == 1 { "one file".to_owned() } else { format!("{files} files") }
}

pub(super) async fn commit(
    repository: &Repository<'_>,
    wanted: Wanted<'_>,
    request: Value,
    place: &Place,
    ports: &Ports,
    undo: &mut Option<Value>,
) -> Result<Success, Failure> {
    let staged = stage(repository, &wanted, place, Objects::Real).await?;
    if staged.changed.is_empty() {
        // Cut off after the branch had moved, an attempt leaves an index that does not know of it yet.
        let key = blake3::hash(request.to_string().as_bytes()).to_hex().to_string();
        if ports.calls.recall(super::GIT, &key).await?.is_some_and(|call| call.answer.is_none()) {
            bring_index_up(repository, &wanted).await?;
        }
        return Ok(done(false, &json!(staged.before), &[]));
    }
    let tree = repository.git_with(Writes::Repository, &["write-tree"], &staged.variables()).await?.line();
    let identity = identity(repository, wanted.author).await?;
    let identity: Vec<(&str, &str)> = identity.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut args = vec!["commit-tree", tree.as_str(), "-m", wanted.message];
    if let Some(before) = &staged.before {
        args.extend(["-p", before.as_str()]);
    }
    let commit = repository.git_with(Writes::Repository, &args, &identity).await?.line();
    let branch = repository.branch().await?;
    let index = repository.ask(Writes::Repository, &["write-tree"], &[]).await?;
    let record = json!(Record::Commit {
        branch,
        before: staged.before.clone(),
        after: commit.clone(),
        // An index with conflicts is no tree; then it stays as the commit leaves it.
        index: (index.code == 0).then(|| index.line()),
    });
    let (call, ()) = tokio::try_join!(ports.begin(super::GIT, request), ports.intend(record.clone()))?;
    *undo = Some(record);
    let note = format!("commit: {}", shortened(wanted.message.lines().next().unwrap_or_default(), 100));
    // Empty: there must be none yet.
    let before = staged.before.as_deref().unwrap_or_default();
    let moved = repository.git(Writes::Repository, &["update-ref", "-m", &note, "HEAD", &commit, before]).await;
    if let Err(failure) = moved {
        ports.calls.answered(call, json!({"failed": failure.message}));
        return Err(failure);
    }
    let learned = bring_index_up(repository, &wanted).await;
    ports.calls.answered(call, json!({"commit": commit}));
    let mut success = done(true, &json!(commit), &staged.changed);
    // The commit is there; that the index does not know of it is told, and no reason to do it again.
    success.shortfall =
        learned.err().map(|failure| format!("the index could not be brought up to date: {}", failure.message));
    Ok(success)
}

/// Lets the real index know what is committed. What else is staged stays so.
async fn bring_index_up(repository: &Repository<'_>, wanted: &Wanted<'_>) -> Result<(), Failure> {
    let mut reset = vec!["reset", "--quiet", "--"];
    reset.extend(wanted.paths.iter().map(String::as_str));
    repository.git(Writes::Repository, &reset).await.map(drop)
}

fn done(changed: bool, commit: &Value, files: &[String]) -> Success {
    let mut outputs = Outputs::new();
    outputs.insert("changed".to_owned(), json!(changed));
    outputs.insert("commit".to_owned(), commit.clone());
    outputs.insert("count".to_owned(), json!(files.len()));
    outputs.insert("paths".to_owned(), json!(files.iter().take(NAMED_MAX).collect::<Vec<_>>()));
    Success { outputs, ..Success::default() }
}

/// Who commits: whoever the plan names, else whoever works here, else nobody in particular.
pub(super) async fn identity(
    repository: &Repository<'_>,
    author: Option<&str>,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut all = Vec::new();
    let known =
        repository.ask(Writes::Nothing, &["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"], &[]).await?;
    if known.code != 0 {
        let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"];
        let mails = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        all.extend(names.map(|name| (name, NOBODY.0.to_owned())));
        all.extend(mails.map(|name| (name, NOBODY.1.to_owned())));
    }
    if let Some((name, mail)) = author.and_then(|author| author.strip_suffix('>')?.split_once(" <")) {
        all.push(("GIT_AUTHOR_NAME", name.trim().to_owned()));
        all.push(("GIT_AUTHOR_EMAIL", mail.to_owned()));
    }
    Ok(all)
}
