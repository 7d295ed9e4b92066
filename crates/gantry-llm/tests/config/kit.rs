//! A world without files and variables, and verbs that put some there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gantry_llm::config::{Chain, Config, ConfigError, Surroundings};

/// What a key looks like; it must be seen nowhere.
pub const SECRET: &str = "sk-proj-do-not-show-me";

pub struct World {
    files: BTreeMap<PathBuf, String>,
    around: Surroundings,
}

impl World {
    /// `/home/ana/work/app` is worked in, and `/home/ana/.config` is the configuration folder.
    pub fn new() -> Self {
        let mut around = Surroundings::bare("/home/ana/work/app");
        around.user_folder = Some("/home/ana/.config".into());
        Self { files: BTreeMap::new(), around }
    }

    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.into(), text.to_owned());
        self
    }

    /// The `gantry.toml` of the project.
    pub fn project(self, text: &str) -> Self {
        self.file("/home/ana/work/app/gantry.toml", text)
    }

    /// The `gantry.toml` of the user.
    pub fn user(self, text: &str) -> Self {
        self.file("/home/ana/.config/gantry/gantry.toml", text)
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.around.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn around(mut self, change: impl FnOnce(&mut Surroundings)) -> Self {
        change(&mut self.around);
        self
    }

    pub fn load(self) -> Result<Config, ConfigError> {
        let mut around = self.around;
        let files = self.files;
        around.read_file = Arc::new(move |path: &Path| Ok(files.get(path).cloned()));
        Config::load(&around)
    }

    pub fn config(self) -> Config {
        self.load().unwrap_or_else(|error| panic!("{error}"))
    }

    /// What is wrong, one fault per line, hints below them.
    pub fn mistakes(self) -> String {
        let Err(error) = self.load() else { panic!("nothing is wrong") };
        let lines = error.faults.iter().flat_map(|fault| {
            std::iter::once(fault.to_string()).chain(fault.hint.iter().map(|hint| format!("  hint: {hint}")))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A chain in one line: who is asked, and who said so.
pub fn drawn(chain: &Chain) -> String {
    let asked: Vec<String> = chain.targets.iter().map(gantry_llm::Target::id).collect();
    let like = chain.like.as_ref().map(|role| format!(", like {role}")).unwrap_or_default();
    format!("{} ({}{like})", asked.join(" > "), chain.origin)
}

/// The chain of a role in one line.
pub fn chain(config: &Config, role: &str) -> String {
    drawn(&config.explain(role, None).unwrap_or_else(|error| panic!("{error}")))
}

/// One value, and where it came from.
pub fn setting(config: &Config, name: &str) -> String {
    let settings = config.effective().settings;
    let setting = settings.iter().find(|setting| setting.name == name).unwrap();
    format!("{} ({})", setting.value, setting.origin)
}
