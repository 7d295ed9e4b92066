//! What a configuration is read from, in one place, so that nothing else looks at the outside.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a file of this name holds in a folder.
pub const FILE_NAME: &str = "gantry.toml";

/// A larger configuration is a mistake.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads a file; none when there is none.
pub type ReadFile = Arc<dyn Fn(&Path) -> io::Result<Option<String>> + Send + Sync>;

/// Everything outside that a configuration depends on.
#[derive(Clone)]
pub struct Surroundings {
    /// The variables of the environment.
    pub variables: BTreeMap<String, String>,
    /// Variables whose value is not text.
    pub unreadable: BTreeSet<String>,
    /// The configuration folder of the user, such as `~/.config`.
    pub user_folder: Option<PathBuf>,
    /// The folder that is worked in.
    pub working_folder: PathBuf,
    /// What was said on the command line.
    pub flags: Flags,
    /// How files are read.
    pub read_file: ReadFile,
}

/// What was said on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The profile.
    pub profile: Option<String>,
    /// No falling back to the offline model.
    pub strict: bool,
    /// The language of prompts.
    pub locale: Option<String>,
    /// Models by role; the role `default` stands for all that have no line of their own.
    pub models: BTreeMap<String, String>,
}

impl Surroundings {
    /// What is really there.
    pub fn of_this_process(flags: Flags) -> io::Result<Self> {
        let (mut variables, mut unreadable) = (BTreeMap::new(), BTreeSet::new());
        for (name, value) in std::env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => drop(variables.insert(name, value)),
                (Ok(name), Err(_)) => drop(unreadable.insert(name)),
                (Err(_), _) => {}
            }
        }
        let folder = |name: &str| variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user_folder = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
        Ok(Self {
            user_folder,
            variables,
            unreadable,
            working_folder: std::env::current_dir()?,
            flags,
            read_file: Arc::new(read_file),
        })
    }

    /// A place without variables, files or flags.
    pub fn bare(working_folder: impl Into<PathBuf>) -> Self {
        Self {
            variables: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            user_folder: None,
            working_folder: working_folder.into(),
            flags: Flags::default(),
            read_file: Arc::new(|_| Ok(None)),
        }
    }

    /// The file of the user.
    pub fn user_file(&self) -> Option<PathBuf> {
        self.user_folder.as_ref().map(|folder| folder.join("gantry").join(FILE_NAME))
    }
}

/// Reads a file of this machine.
fn read_file(path: &Path) -> io::Result<Option<String>> {
    let file = match std::fs::File::open(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        other => other?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(Some(text))
}
