//! What the processes and files of a plan meet here: secrets, variables, and what is closed off.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gantry_engine::Options;
use gantry_runners::Secrets;
use gantry_runners::work::{Sandbox, SandboxMode};

use crate::exit::Fault;
use crate::session;

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

    fn sandbox(&self) -> Result<Sandbox, Fault> {
        let mode = match (self.require_sandbox, self.no_sandbox) {
            (true, _) => SandboxMode::Required,
            (false, true) => SandboxMode::Off,
            (false, false) => SandboxMode::BestEffort,
        };
        let real = |paths: &[PathBuf]| paths.iter().map(|path| folder(path)).collect::<Result<Vec<_>, _>>();
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

/// A folder that exists, in full.
pub fn folder(path: &Path) -> Result<PathBuf, Fault> {
    std::fs::canonicalize(path).map_err(|error| {
        let what = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such folder".to_owned(),
            std::io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
            _ => error.to_string(),
        };
        Fault::bad_input(format!("the folder `{}` cannot be used: {what}", path.display()))
    })
}
