//! What the processes and files of a plan meet here: secrets, variables, and what is closed off.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gantry_engine::{Confine, Given, Options};
use gantry_runners::Secrets;
use gantry_runners::work::{Sandbox, SandboxMode};

use crate::exit::Fault;
use crate::file::{self, why};
use crate::session;
use crate::show::{named, plain};

/// Options of every command that lets a plan act on its surroundings.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Surroundings {
    /// Give the environment variable NAME to processes and never show its value; may be repeated
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// Do the same with every `NAME=value` line of a file; may be repeated
    #[arg(long, value_name = "FILE")]
    secrets_file: Vec<PathBuf>,
    /// Let processes see a variable, with this value or the one that it has here; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// Run nothing that cannot be confined in full
    #[arg(long, conflicts_with = "no_sandbox")]
    require_sandbox: bool,
    /// Confine nothing
    #[arg(long)]
    no_sandbox: bool,
    /// Let processes write this folder outside the workspace, too; may be repeated
    #[arg(long, value_name = "DIR")]
    allow_write: Vec<PathBuf>,
    /// Let processes read this folder or file outside the workspace, too; may be repeated
    #[arg(long, value_name = "DIR")]
    allow_read: Vec<PathBuf>,
}

/// The names of all secrets that are given.
pub fn secret_names(secrets: &Secrets) -> Vec<String> {
    secrets.values().map(|(name, _)| name.to_owned()).collect()
}

impl Surroundings {
    /// What the engine is told. The names in `known` are secrets that the plan was given before.
    pub fn options(&self, known: &[String]) -> Result<Options, Fault> {
        let mut names = self.secret.clone();
        names.extend(known.iter().filter(|name| std::env::var_os(name).is_some()).cloned());
        for path in &self.secrets_file {
            file::check_kind(&path.to_string_lossy(), "name a file with lines `NAME=value`")?;
        }
        let secrets = Secrets::from_env_and_files(&names, &self.secrets_file)
            .map_err(|error| Fault::bad_input(error.to_string()))?;
        let given = secret_names(&secrets);
        if let Some(missing) = known.iter().find(|name| !given.contains(name)) {
            return Err(Fault::bad_input(format!("the plan was begun with the secret `{missing}`, which is not here"))
                .hint(format!("set the variable {missing}, or name a file that has it with `--secrets-file FILE`")));
        }
        Ok(Options {
            operator: session::operator(),
            sandbox: self.sandbox()?,
            secrets,
            environment: self.environment()?,
            ..Options::default()
        })
    }

    /// What is recorded with a new plan, so that going on with it gives its processes the same.
    pub fn given(&self, options: &Options) -> Result<Given, Fault> {
        if let Some(given) = self.env.iter().find(|given| options.secrets.redact(given) != **given) {
            let name = given.split_once('=').map_or(given.as_str(), |(name, _)| name);
            return Err(Fault::bad_input(format!("the value of `--env {name}` holds a secret, and would be recorded"))
                .hint(format!("set the variable {name} and give it with `--secret {name}` instead")));
        }
        Ok(Given {
            env: self.env.clone(),
            sandbox: match options.sandbox.mode {
                SandboxMode::Required => Some(Confine::Required),
                SandboxMode::BestEffort => None,
                SandboxMode::Off => Some(Confine::Off),
            },
            read_also: options.sandbox.read_also.clone(),
            write_also: options.sandbox.write_also.clone(),
            models: Vec::new(),
        })
    }

    fn sandbox(&self) -> Result<Sandbox, Fault> {
        let mode = match (self.require_sandbox, self.no_sandbox) {
            (true, _) => SandboxMode::Required,
            (false, true) => SandboxMode::Off,
            (false, false) => SandboxMode::BestEffort,
        };
        let real = |paths: &[PathBuf]| -> Result<Vec<PathBuf>, Fault> {
            paths.iter().map(|path| place(path).map(PathBuf::from)).collect()
        };
        Ok(Sandbox { mode, read_also: real(&self.allow_read)?, write_also: real(&self.allow_write)? })
    }

    fn environment(&self) -> Result<BTreeMap<String, String>, Fault> {
        let mut environment = BTreeMap::new();
        for given in &self.env {
            let (name, value) = match given.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => {
                    let value = std::env::var(given).map_err(|_| {
                        Fault::bad_input(format!("the variable `{given}` is not set here"))
                            .hint(format!("give it a value: `--env {given}=VALUE`"))
                    })?;
                    (given.as_str(), value)
                }
            };
            let fine = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !fine {
                return Err(Fault::bad_input(format!("`{name}` cannot be the name of a variable"))
                    .hint("use letters, digits and `_`"));
            }
            environment.insert(name.to_owned(), value);
        }
        Ok(environment)
    }
}

/// Says no when a variable that a plan was begun with has no value here.
pub fn check_given(given: &Given, options: &Options) -> Result<(), Fault> {
    let missing = |(name, value): &(&str, Option<String>)| value.is_none() && !options.environment.contains_key(*name);
    match given.variables().find(missing) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Fault::bad_input(format!("the plan was begun with the variable `{name}`, which is not set here"))
                .hint(format!("set it, or give it a value: `--env {name}=VALUE`")))
        }
    }
}

/// The options that stand for what a plan was given; none when that is nothing.
pub fn as_options(given: &Given) -> Option<String> {
    let confine = given.sandbox.map(|confine| match confine {
        Confine::Required => "--require-sandbox".to_owned(),
        Confine::Off => "--no-sandbox".to_owned(),
    });
    let mut words: Vec<String> = confine.into_iter().collect();
    words.extend(given.env.iter().map(|given| format!("--env {}", plain(given))));
    let path = |option: &str, path: &PathBuf| format!("{option} {}", plain(&path.to_string_lossy()));
    words.extend(given.read_also.iter().map(|read| path("--allow-read", read)));
    words.extend(given.write_also.iter().map(|write| path("--allow-write", write)));
    words.extend(given.models.iter().map(|said| plain(said)));
    (!words.is_empty()).then(|| words.join(" "))
}

/// A folder to work in, in full.
pub fn workspace(path: &Path) -> Result<String, Fault> {
    let real = place(path)?;
    if Path::new(&real).is_dir() { Ok(real) } else { Err(unusable(path, "it is no folder")) }
}

/// A folder or file that exists, in full, as it is recorded.
fn place(path: &Path) -> Result<String, Fault> {
    if path.as_os_str().is_empty() {
        return Err(Fault::bad_input("the name of a folder is empty").hint("write `.` for the current folder"));
    }
    let real = std::fs::canonicalize(path).map_err(|error| unusable(path, &why(&error, "folder")))?;
    let refuse = |what: &str| Err(unusable(path, what).hint("rename it, or choose another"));
    match real.into_os_string().into_string() {
        Ok(text) if !text.contains(char::is_control) => Ok(text),
        Ok(_) => refuse("its full name contains a control character, such as a line end"),
        Err(_) => refuse("its full name is not UTF-8, so it could not be found again"),
    }
}

fn unusable(path: &Path, what: &str) -> Fault {
    Fault::bad_input(format!("the folder `{}` cannot be used: {what}", named(&path.to_string_lossy())))
        .hint("name a folder that exists, such as `.`")
}
