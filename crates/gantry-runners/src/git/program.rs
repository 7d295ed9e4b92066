//! The program git: run as any other process of a plan, and kept from doing what nobody asked for.
//!
//! Hooks, signing, watchers, pagers and editors are off, and nothing above the working folder is looked at. Filters that the
//! person's own settings name (such as those for large files) stay on: without them a commit would hold something else than
//! the person's would. They run confined as everything else does. What is set for git is read and never changed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::policy::wrong;
use crate::ports::Stream;
use crate::process::{Confinement, GuardProgram, Happening, Order, Running, StandardInput, StartError};
use crate::shell;
use crate::text::{shortened, tail};
use crate::work::Place;

/// How much git may say.
const OUT_BYTES_MAX: usize = 32 << 20;
const ERROR_BYTES_MAX: usize = 8 << 10;
/// How much of what git says is wrong goes into a message.
const MESSAGE_CHARS_MAX: usize = 400;

/// Settings that hold for every call.
const SETTINGS: [&str; 12] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=false",
    "core.editor=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "diff.external=",
    "submodule.recurse=false",
    "advice.detachedHead=false",
];

/// What a call may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    Nothing,
    /// What git keeps in `.git`.
    Repository,
    /// That, and the files of the working folder.
    Files,
}

/// A repository in the working folder, for one call of a capability.
pub(super) struct Repository<'a> {
    guard: &'a GuardProgram,
    place: &'a Place,
    stop: &'a CancellationToken,
    folder: PathBuf,
    private: TempDir,
    confinement: Option<Confinement>,
}

/// What git said.
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) out: Vec<u8>,
    error: String,
}

impl Said {
    /// What it said, as text, without the line end.
    pub(super) fn line(&self) -> String {
        String::from_utf8_lossy(&self.out).trim_end().to_owned()
    }

    /// The parts of what it said, each of which ends with a zero byte.
    pub(super) fn parts(&self) -> impl Iterator<Item = String> {
        let parts = self.out.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        parts.map(|part| String::from_utf8_lossy(part).into_owned())
    }

    /// What is wrong, in git's words.
    pub(super) fn complaint(&self) -> String {
        let lines = self.error.lines().map(str::trim).filter(|line| !line.starts_with("hint:"));
        // What comes behind an empty line is advice, broken into lines for a terminal.
        let lines = lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
        let lines: Vec<&str> = lines.map(|line| line.strip_prefix("fatal: ").unwrap_or(line)).collect();
        let mut said =
            lines.iter().map(|line| line.strip_prefix("error: ").unwrap_or(line)).collect::<Vec<_>>().join("; ");
        if said.contains(".lock': File exists") {
            said += " If no git works there any more, one that was killed has left it: remove that file";
        }
        if said.is_empty() { format!("exit code {}", self.code) } else { shortened(&said, MESSAGE_CHARS_MAX) }
    }
}

impl<'a> Repository<'a> {
    /// Opens the repository of the working folder.
    pub(super) fn open(
        guard: &'a GuardProgram,
        place: &'a Place,
        stop: &'a CancellationToken,
    ) -> Result<Self, Failure> {
        let (private, mut confinement, folder) = shell::bare_shelter(place)?;
        match std::fs::symlink_metadata(folder.join(".git")) {
            Ok(meta) if meta.is_dir() => {}
            // A file or a link leads to a repository somewhere else.
            Ok(_) => {
                return Err(wrong(
                    "the repository of the working folder is elsewhere; only one that is whole in it is used",
                ));
            }
            Err(_) => {
                return Err(wrong(
                    "the working folder is no git repository; run the plan at its top, or make one with `git init`",
                ));
            }
        }
        if let Some(confinement) = &mut confinement {
            // What is asked is held against the policy path by path.
            confinement.read.push(folder.clone());
        }
        Ok(Self { guard, place, stop, folder, private, confinement })
    }

    /// A folder for what nobody is to see.
    pub(super) fn private(&self, name: &str) -> String {
        self.private.path().join(name).display().to_string()
    }

    /// Runs git, which must succeed.
    pub(super) async fn git(&self, writes: Writes, args: &[&str]) -> Result<Said, Failure> {
        self.git_with(writes, args, &[]).await
    }

    /// The same with variables.
    pub(super) async fn git_with(
        &self,
        writes: Writes,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Said, Failure> {
        let said = self.ask(writes, args, variables).await?;
        if said.code == 0 {
            return Ok(said);
        }
        let what = args.first().copied().unwrap_or_default();
        let locked = said.error.contains(".lock");
        let class = if locked { FailureClass::Transient } else { FailureClass::Logic };
        Err(Failure::new(class, format!("git {what}: {}", said.complaint())))
    }

    /// Runs git, whatever comes of it.
    pub(super) async fn ask(&self, writes: Writes, args: &[&str], variables: &[(&str, &str)]) -> Result<Said, Failure> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let order = Order {
            program: "git".to_owned(),
            args: ["--no-pager"].into_iter().chain(settings).chain(args.iter().copied()).map(str::to_owned).collect(),
            environment: self.environment(variables),
            folder: self.folder.clone(),
            confinement: self.confinement_for(writes),
            grace_ms: u64::try_from(self.place.limits.grace.as_millis()).unwrap_or(u64::MAX),
            input: StandardInput::Closed,
        };
        let mut running = Running::start(self.guard, order).await.map_err(|error| not_started(&error))?;
        let (mut out, mut error, mut stopping, mut too_much) = (Vec::new(), Vec::new(), false, false);
        let exit = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    running.stop_within(self.place.limits.cancel_grace).await;
                }
                happening = running.next() => match happening {
                    Happening::Output(Stream::Stdout, piece) if out.len() + piece.len() > OUT_BYTES_MAX => {
                        too_much = true;
                        running.stop().await;
                    }
                    Happening::Output(Stream::Stdout, piece) => out.extend_from_slice(&piece),
                    Happening::Output(_, piece) => {
                        error.extend_from_slice(&piece);
                        let more = error.len().saturating_sub(ERROR_BYTES_MAX);
                        error.drain(..more);
                    }
                    Happening::Ended(exit) => break exit,
                    Happening::Lost => {
                        return Err(Failure::new(FailureClass::Lost, "the guard of git was killed; what git did is not known"));
                    }
                },
            }
        };
        if too_much {
            return Err(wrong(format!("git says more than {OUT_BYTES_MAX} bytes; ask for less, with `paths`")));
        }
        if stopping {
            return Err(Failure::new(FailureClass::Cancelled, "it was stopped"));
        }
        let Some(code) = exit.code else {
            return Err(Failure::new(FailureClass::Lost, "git was killed; what it did is not known"));
        };
        Ok(Said { code, out, error: tail(&error, ERROR_BYTES_MAX) })
    }

    fn environment(&self, variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        let mut all = shell::environment::usual(self.place);
        // Whoever sets these speaks of other repositories.
        all.retain(|name, _| !name.starts_with("GIT_") || is_identity(name));
        let above = self.folder.parent().map(|above| above.display().to_string()).unwrap_or_default();
        let folder = self.folder.display().to_string();
        let own = [
            ("GIT_CEILING_DIRECTORIES", above.as_str()),
            // Whatever the repository is set up for, its files are those of this folder.
            ("GIT_WORK_TREE", folder.as_str()),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("LC_ALL", "C.UTF-8"),
        ];
        for (name, value) in own.iter().chain(variables) {
            all.insert((*name).to_owned(), (*value).to_owned());
        }
        all.insert("TMPDIR".to_owned(), self.private("tmp"));
        all
    }

    fn confinement_for(&self, writes: Writes) -> Option<Confinement> {
        let mut confinement = self.confinement.clone()?;
        match writes {
            Writes::Nothing => {}
            Writes::Repository => confinement.write.push(self.folder.join(".git")),
            Writes::Files => confinement.write.push(self.folder.clone()),
        }
        Some(confinement)
    }
}

/// Who writes a commit, and when, is for the operator to say.
fn is_identity(name: &str) -> bool {
    name.starts_with("GIT_AUTHOR_") || name.starts_with("GIT_COMMITTER_")
}

fn not_started(error: &StartError) -> Failure {
    let class = match error {
        StartError::NotFound { .. } => return Failure::missing_capability("git is not installed here; install it"),
        StartError::Sandbox { .. } => FailureClass::Policy,
        StartError::System { .. } | StartError::Unknown => FailureClass::Transient,
    };
    Failure::new(class, error.to_string())
}
