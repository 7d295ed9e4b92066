//! Options of every command that asks models.

use std::collections::BTreeMap;

use gantry_llm::config::{Config, ConfigError, Flags, Surroundings};

use crate::exit::Fault;
use crate::talk::talk;

/// Options of every command that asks models. They count more than the environment and files.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ModelOptions {
    /// Which models answer: fast, balanced, quality, or a profile of your own
    #[arg(long, value_name = "NAME", global = true)]
    profile: Option<String>,
    /// Fail rather than let the offline model answer in the place of another
    #[arg(long, global = true)]
    strict: bool,
    /// Let these models answer for a role, or for all; with commas, one after the other; may be repeated
    #[arg(long, value_name = "[ROLE=]MODEL", global = true)]
    model: Vec<String>,
}

impl ModelOptions {
    /// Lets nobody but the offline model answer.
    pub fn only_offline(&mut self) {
        self.model = vec![gantry_llm::config::OFFLINE.to_owned()];
    }

    /// These options in words, as they are recorded with a plan.
    pub fn words(&self) -> Vec<String> {
        let profile = self.profile.iter().map(|profile| format!("--profile={profile}"));
        let strict = self.strict.then(|| "--strict".to_owned());
        let model = self.model.iter().map(|model| format!("--model={model}"));
        profile.chain(strict).chain(model).collect()
    }

    /// These options over those that a plan was begun with: what is said now counts more.
    #[must_use]
    pub fn over(&self, begun_with: &[String]) -> Self {
        let said = |option: &'static str| {
            begun_with.iter().filter_map(move |word| word.strip_prefix(option)).map(str::to_owned)
        };
        Self {
            profile: self.profile.clone().or_else(|| said("--profile=").next()),
            strict: self.strict || begun_with.iter().any(|word| word == "--strict"),
            model: said("--model=").chain(self.model.iter().cloned()).collect(),
        }
    }

    /// The configuration, with these options in it.
    pub fn load(&self) -> Result<Config, Fault> {
        let around = Surroundings::of_this_process(self.flags())
            .map_err(|error| Fault::internal(format!("the current folder cannot be told: {error}")))?;
        Ok(Config::load(&around)?)
    }

    /// The configuration, with servers of this machine in it, and its warnings told.
    pub async fn load_with_local(&self) -> Result<Config, Fault> {
        let config = self.load()?;
        for warning in config.warnings() {
            talk!("warning: {}", crate::show::plain(warning));
        }
        let found = config.find_local().await;
        Ok(config.with_local(found))
    }

    /// Every key that is configured, so that nothing shows or keeps it. A configuration that is wrong is told by whoever
    /// needs it.
    pub fn keys(&self) -> Vec<(String, String)> {
        let keys = self.load().map(|config| config.keys()).unwrap_or_default();
        keys.into_iter().map(|(name, key)| (name, key.reveal().to_owned())).collect()
    }

    fn flags(&self) -> Flags {
        let mut models = BTreeMap::new();
        for given in &self.model {
            let (role, model) = given.split_once('=').unwrap_or((gantry_llm::config::DEFAULT, given));
            models.insert(role.trim().to_owned(), model.trim().to_owned());
        }
        Flags { profile: self.profile.clone(), strict: self.strict, locale: None, models }
    }
}

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        // One has its hint where hints stand; of several, each has its own below it.
        if let [one] = error.faults.as_slice() {
            let fault = Fault::bad_input(one.to_string());
            return match &one.hint {
                Some(hint) => fault.hint(hint),
                None => fault,
            };
        }
        let lines = error.faults.iter().flat_map(|fault| {
            std::iter::once(fault.to_string()).chain(fault.hint.iter().map(|hint| format!("  hint: {hint}")))
        });
        let lines: Vec<String> = lines.collect();
        Fault::bad_input(format!("the configuration has {} faults\n{}", error.faults.len(), lines.join("\n")))
    }
}
