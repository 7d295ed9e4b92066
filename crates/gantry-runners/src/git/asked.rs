//! What is asked of git, with its arguments checked.

use gantry_core::effect::Failure;

use crate::args::Args;
use crate::files::path;
use crate::policy::check_command;
use crate::work::{Place, Work};

/// Longer names of branches and revisions are refused by file systems.
const NAME_BYTES_MAX: usize = 200;
/// A longer message cannot be given to a program.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// How many paths can be given to a program.
const PATHS_MAX: usize = 1_000;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Status,
    Diff { paths: Vec<String>, staged: bool, from: Option<String>, to: Option<String> },
    Commit { message: String, paths: Vec<String>, author: Option<String> },
    Branch { name: String, at: String },
    Switch { name: String },
    Tag { name: String, at: String, message: Option<String> },
}

impl Asked {
    pub(super) fn of(work: &Work, place: &Place) -> Result<Self, Failure> {
        // It is a program, however it is called.
        place.policies().try_for_each(|policy| check_command("git", &policy.commands))?;
        let args = Args::of(work)?;
        let at = |args: &Args<'_>| Ok::<_, Failure>(revision(args, "at")?.unwrap_or_else(|| "HEAD".to_owned()));
        match args.tool() {
            "git.status" => args.only(&[]).map(|()| Self::Status),
            "git.diff" => {
                args.only(&["paths", "staged", "from", "to"])?;
                let (from, to) = (revision(&args, "from")?, revision(&args, "to")?);
                if to.is_some() && from.is_none() {
                    return Err(args.wrong("to", "it needs `from`, the revision to compare with"));
                }
                let staged = args.flag("staged")?;
                if staged && from.is_some() {
                    return Err(args.wrong("staged", "it is for what is to be committed; leave `from` out"));
                }
                Ok(Self::Diff { paths: paths(&args)?, staged, from, to })
            }
            "git.commit" => {
                args.only(&["message", "paths", "author"])?;
                let message = message(&args)?.unwrap_or_default();
                if message.is_empty() {
                    return Err(args.wrong("message", "say what the commit is about"));
                }
                Ok(Self::Commit { message, paths: paths(&args)?, author: author(&args)? })
            }
            "git.branch" => {
                args.only(&["name", "at"])?;
                Ok(Self::Branch { name: name(&args)?, at: at(&args)? })
            }
            "git.switch" => args.only(&["name"]).and_then(|()| Ok(Self::Switch { name: name(&args)? })),
            _ => {
                args.only(&["name", "at", "message"])?;
                Ok(Self::Tag { name: name(&args)?, at: at(&args)?, message: message(&args)? })
            }
        }
    }
}

/// The name of a branch or a tag. Git itself says later whether it is one.
fn name(args: &Args<'_>) -> Result<String, Failure> {
    let name = args.text("name")?;
    plain(args, "name", &name).map(|()| name)
}

fn revision(args: &Args<'_>, key: &str) -> Result<Option<String>, Failure> {
    let revision = args.text_if_given(key)?;
    revision.as_ref().map_or(Ok(()), |text| plain(args, key, text))?;
    Ok(revision)
}

/// Says no to what git could take for an option, or for more than one thing.
fn plain(args: &Args<'_>, key: &str, text: &str) -> Result<(), Failure> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || ":\\*?[".contains(c);
    if text.is_empty() || text.starts_with('-') || text.contains(odd) || text.contains("..") {
        return Err(args.wrong(key, "this is no name of a revision, a branch or a tag"));
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(args.wrong(key, &format!("it has {} bytes; {NAME_BYTES_MAX} are the most", text.len())));
    }
    Ok(())
}

fn paths(args: &Args<'_>) -> Result<Vec<String>, Failure> {
    let texts = args.texts("paths")?.unwrap_or_default();
    if texts.len() > PATHS_MAX {
        return Err(args.wrong("paths", &format!("there are {}; at most {PATHS_MAX} are taken", texts.len())));
    }
    // A folder stands for everything in it.
    let paths = texts.iter().map(|text| path::checked(text.strip_suffix('/').unwrap_or(text)));
    let refuse = |(class, why): (_, String)| Failure { class, ..args.wrong("paths", &why) };
    paths.collect::<Result<_, _>>().map_err(refuse)
}

fn message(args: &Args<'_>) -> Result<Option<String>, Failure> {
    let message = args.text_if_given("message")?.map(|text| text.trim().to_owned());
    match message.as_ref().map_or(0, String::len) {
        0..=MESSAGE_BYTES_MAX => Ok(message.filter(|text| !text.contains('\0'))),
        bytes => Err(args.wrong("message", &format!("it has {bytes} bytes; {MESSAGE_BYTES_MAX} are the most"))),
    }
}

/// `Ana <ana@example.org>`.
fn author(args: &Args<'_>) -> Result<Option<String>, Failure> {
    let Some(author) = args.text_if_given("author")? else { return Ok(None) };
    let is_one = author.split_once(" <").is_some_and(|(name, rest)| {
        let inner = rest.strip_suffix('>').unwrap_or_default();
        !name.trim().is_empty() && !inner.is_empty() && !author.contains(['\n', '\0']) && !inner.contains(['<', '>'])
    });
    if is_one { Ok(Some(author)) } else { Err(args.wrong("author", "write `Ana <ana@example.org>`")) }
}
