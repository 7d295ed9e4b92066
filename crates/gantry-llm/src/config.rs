//! One typed configuration: who answers for which role, and where each value came from.
//!
//! In the order of growing force:
//!
//! 1. what is built in (`data/models.toml`, `data/prices.toml`),
//! 2. the `gantry.toml` of the project: the nearest one, from the working folder upwards,
//! 3. the `gantry.toml` of the user: `gantry/gantry.toml` in the user's configuration folder,
//! 4. the environment,
//! 5. the command line.
//!
//! The user's file counts more than the project's, since the latter comes with a folder that somebody else may have
//! made: what a person has settled on this machine is not undone by what was downloaded.
//!
//! Invariant: a name that nobody knows (a key, a role, a profile, a model) is an error with its place and the nearest
//! known name; nothing is replaced silently.
//! Invariant: a key is in no message and in nothing that is shown.

mod origin; // in reading order
mod error;
mod surroundings;
mod section;
mod layer;
mod roles;
mod environment;
mod provider;
mod mcp;
mod chain;
mod local;
mod effective;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gantry_core::suggest::nearest;

pub use chain::{Chain, LeftOut};
pub use effective::{Effective, Link, RoleView, Setting};
pub use environment::{OWN_PROVIDER, OWN_SERVER};
pub use error::{ConfigError, ConfigFault};
pub use local::LocalServer;
pub use mcp::{McpServer, McpVariable, McpWay};
pub use origin::{Origin, Sourced, Whose};
pub use provider::{KeyState, ProviderSettings};
pub use roles::{DEFAULT, ROLES, variable_of};
pub use surroundings::{FILE_NAME, Flags, ReadFile, Surroundings};

use crate::target::{Price, Secret};
use layer::{Layer, ModelLayer, Roles};
use section::{listed, short};

/// The name of the offline model.
pub const OFFLINE: &str = "offline";

const MODELS: &str = include_str!("../data/models.toml");
const PRICES: &str = include_str!("../data/prices.toml");

/// How many questions in roles of teams are under way at once when nobody says.
const PLANNING_WORKERS: u32 = 4;

/// Everything that was said, laid together.
#[derive(Clone)]
pub struct Config {
    profile: Sourced<String>,
    strict: Sourced<bool>,
    locale: Sourced<String>,
    agent_planning: Sourced<bool>,
    local_servers: Sourced<bool>,
    prompts: Sourced<PathBuf>,
    planning_workers: Sourced<u32>,
    korean_retries: Sourced<u32>,
    template_prompts: Sourced<bool>,
    providers: BTreeMap<String, ProviderSettings>,
    models: BTreeMap<String, Model>,
    profiles: BTreeMap<String, Roles>,
    /// Models by role, whatever the profile.
    roles: Roles,
    mcp: BTreeMap<String, McpServer>,
    /// Servers that answered on this machine.
    local: Vec<LocalServer>,
    prices_as_of: String,
    files: Vec<PathBuf>,
    warnings: Vec<String>,
    /// Where paths are shown from.
    working_folder: PathBuf,
}

/// What is known about a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Who has it.
    pub provider: String,
    /// What its provider calls it.
    pub model: String,
    /// What it costs, where that is known.
    pub price: Option<Price>,
    /// It can be made to answer by a schema; none means like others of its provider.
    pub schemas: Option<bool>,
    /// It can call tools; none means like others of its provider.
    pub tools: Option<bool>,
    /// How many tokens it takes in.
    pub context: Option<u32>,
    /// Who named it.
    pub origin: Origin,
}

impl Config {
    /// Reads everything that was said, and says everything that is wrong with it.
    pub fn load(around: &Surroundings) -> Result<Self, ConfigError> {
        let mut loading = Loading::default();
        let (built_in, prices_as_of) = loading.built_in();
        let project = project_file(around);
        let of_project = loading.file(project.as_deref(), Whose::Project, around);
        let user = around.user_file().filter(|file| Some(file) != project.as_ref());
        let of_user = loading.file(user.as_deref(), Whose::User, around);
        let mut all = built_in.under(of_project).under(of_user);
        let own_roles = own_roles(&all.profiles);
        for (layer, faults) in [environment::environment(around, &own_roles), environment::flags(around, &own_roles)] {
            all = all.under(layer);
            loading.note(faults);
        }
        let config = loading.assemble(all, prices_as_of, project.as_deref(), around);
        loading.check(&config);
        let Loading { error, files, warnings } = loading;
        if error.faults.is_empty() { Ok(Self { files, warnings, ..config }) } else { Err(error) }
    }

    /// The same with servers that answer on this machine. They stand in where no key is set.
    #[must_use]
    pub fn with_local(mut self, servers: Vec<LocalServer>) -> Self {
        self.local = if self.local_servers.value { servers } else { Vec::new() };
        self
    }

    /// The profile.
    pub fn profile(&self) -> &Sourced<String> {
        &self.profile
    }

    /// Tells whether falling back to the offline model is forbidden.
    pub fn strict(&self) -> bool {
        self.strict.value
    }

    /// The language of prompts.
    pub fn locale(&self) -> &str {
        &self.locale.value
    }

    /// Tells whether agents may direct themselves where the plan does not say.
    pub fn agent_planning(&self) -> bool {
        self.agent_planning.value
    }

    /// Tells whether servers on this machine may stand in where no key is set.
    pub fn local_servers(&self) -> bool {
        self.local_servers.value
    }

    /// The folder whose prompts count more than those that are built in.
    pub fn prompts(&self) -> &Path {
        &self.prompts.value
    }

    /// Tells whether somebody named the folder of prompts, so that it has to be there.
    pub fn prompts_are_named(&self) -> bool {
        self.prompts.origin.is_said()
    }

    /// How many questions in roles of teams are under way at once.
    pub fn planning_workers(&self) -> u32 {
        self.planning_workers.value
    }

    /// How often an answer that should be Korean is asked for again; none accepts mixed text.
    pub fn korean_retries(&self) -> u32 {
        self.korean_retries.value
    }

    /// Tells whether tasks in a role of a team are asked by the prompt that is named like the role.
    pub fn template_prompts(&self) -> bool {
        self.template_prompts.value
    }

    /// All providers by name.
    pub fn providers(&self) -> &BTreeMap<String, ProviderSettings> {
        &self.providers
    }

    /// All models of the table by name.
    pub fn models(&self) -> &BTreeMap<String, Model> {
        &self.models
    }

    /// Every key that is known, by a name to call it by: whatever is shown or kept must not have them in it.
    pub fn keys(&self) -> Vec<(String, Secret)> {
        let providers = self.providers.values().map(|provider| (&provider.name, provider.key()));
        let servers = self.mcp.values().map(|server| (&server.name, server.key.as_ref()));
        let named = |name: &str| {
            let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
            format!("{}_KEY", name.chars().map(letter).collect::<String>())
        };
        providers.chain(servers).filter_map(|(name, key)| Some((named(name), key?.clone()))).collect()
    }

    /// All MCP servers by name.
    pub fn mcp(&self) -> &BTreeMap<String, McpServer> {
        &self.mcp
    }

    /// The day that the built-in prices are from.
    pub fn prices_as_of(&self) -> &str {
        &self.prices_as_of
    }

    /// The files that were read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What works and should nevertheless be changed.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The names of all profiles.
    pub fn profiles(&self) -> Vec<&str> {
        self.profiles.keys().map(String::as_str).collect()
    }

    /// All roles: the built-in ones in their order, then those of profiles.
    pub fn roles(&self) -> Vec<String> {
        ROLES.into_iter().map(str::to_owned).chain(self.own_roles()).collect()
    }

    fn own_roles(&self) -> Vec<String> {
        own_roles(&self.profiles)
    }
}

/// Roles that only profiles name.
fn own_roles(profiles: &BTreeMap<String, Roles>) -> Vec<String> {
    let named: BTreeSet<&String> = profiles.values().flat_map(BTreeMap::keys).collect();
    named.into_iter().filter(|role| !ROLES.contains(&role.as_str())).cloned().collect()
}

/// The nearest file, from the working folder upwards.
///
/// One that is there and cannot be read is the nearest, too: to go on as if it were not there would hide it.
fn project_file(around: &Surroundings) -> Option<PathBuf> {
    let files = around.working_folder.ancestors().map(|folder| folder.join(FILE_NAME));
    files.into_iter().find(|path| !matches!((around.read_file)(path), Ok(None)))
}

/// A configuration while it is read.
#[derive(Default)]
struct Loading {
    error: ConfigError,
    files: Vec<PathBuf>,
    warnings: Vec<String>,
}

impl Loading {
    fn note(&mut self, faults: Vec<ConfigFault>) {
        for fault in faults {
            self.error.push(fault);
        }
    }

    fn built_in(&mut self) -> (Layer, String) {
        let (models, faults) = layer::read("models.toml", MODELS, None);
        self.note(faults);
        let ((as_of, prices), faults) = layer::read_prices("prices.toml", PRICES);
        self.note(faults);
        (models.under(prices), as_of)
    }

    fn file(&mut self, path: Option<&Path>, whose: Whose, around: &Surroundings) -> Layer {
        let Some(path) = path else { return Layer::default() };
        let name = path.strip_prefix(&around.working_folder).unwrap_or(path).display().to_string();
        match (around.read_file)(path) {
            Ok(None) => Layer::default(),
            Ok(Some(text)) => {
                self.files.push(path.to_owned());
                let (layer, faults) = layer::read(&name, &text, Some(whose));
                self.note(faults);
                layer
            }
            Err(error) => {
                self.error.push(ConfigFault::new(format!("{name}: the file cannot be read: {error}")));
                Layer::default()
            }
        }
    }

    fn assemble(&mut self, all: Layer, prices_as_of: String, project: Option<&Path>, around: &Surroundings) -> Config {
        let or = |value: Option<Sourced<bool>>, usual: bool| value.unwrap_or(Sourced::built_in(usual));
        let project_folder = project.and_then(Path::parent).unwrap_or(&around.working_folder);
        let prompts = match all.prompts {
            Some(prompts) => Sourced::new(place_of(&prompts, project_folder, around), prompts.origin),
            None => Sourced::built_in(project_folder.join("prompts")),
        };
        let trusted = all.trusted.map(|trusted| trusted.value).unwrap_or_default();
        let mut providers = BTreeMap::new();
        let named: BTreeSet<String> = all.providers.keys().cloned().collect();
        for (name, layer) in all.providers {
            match ProviderSettings::new(&name, layer, &trusted, around) {
                Ok((provider, warnings)) => {
                    self.warnings.extend(warnings);
                    providers.insert(name, provider);
                }
                Err(fault) => self.error.push(fault),
            }
        }
        let mut mcp = BTreeMap::new();
        for (name, layer) in all.mcp {
            match McpServer::new(&name, layer, &trusted, around) {
                Ok(server) => drop(mcp.insert(name, server)),
                Err(fault) => self.error.push(fault),
            }
        }
        let mut models = BTreeMap::new();
        for (name, layer) in all.models {
            if let Some(model) = self.model(&name, layer, &named) {
                models.insert(name, model);
            }
        }
        Config {
            profile: all.profile.unwrap_or_else(|| Sourced::built_in("balanced".to_owned())),
            strict: or(all.strict, false),
            locale: all.locale.unwrap_or_else(|| Sourced::built_in("en".to_owned())),
            agent_planning: or(all.agent_planning, false),
            local_servers: or(all.local_servers, true),
            prompts,
            planning_workers: all.planning_workers.unwrap_or(Sourced::built_in(PLANNING_WORKERS)),
            korean_retries: all.korean_retries.unwrap_or(Sourced::built_in(0)),
            template_prompts: or(all.template_prompts, false),
            providers,
            models,
            profiles: all.profiles,
            roles: all.roles,
            mcp,
            local: Vec::new(),
            prices_as_of,
            files: Vec::new(),
            warnings: Vec::new(),
            working_folder: around.working_folder.clone(),
        }
    }

    fn model(&mut self, name: &str, layer: ModelLayer, providers: &BTreeSet<String>) -> Option<Model> {
        let origin = layer.said.unwrap_or(Origin::BuiltIn);
        let Some(provider) = layer.provider else {
            let fault = ConfigFault::new(format!("the model `{}` has no `provider`", short(name))).at(&origin);
            let names: Vec<&str> = providers.iter().map(String::as_str).collect();
            self.error.push(fault.hint(format!("add for example provider = \"openai\"; known are {}", listed(&names))));
            return None;
        };
        if !providers.contains(&provider.value) {
            let fault = ConfigFault::new(format!("there is no provider `{}`", short(&provider.value)));
            self.error.push(fault.at(&provider.origin).hint(
                match nearest(&provider.value, providers.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("describe it: [providers.{}]", short(&provider.value)),
                },
            ));
            return None;
        }
        Some(Model {
            provider: provider.value,
            model: layer.model.map_or_else(|| name.to_owned(), |model| model.value),
            price: layer.price.map(|price| price.value),
            schemas: layer.schemas.map(|can| can.value),
            tools: layer.tools.map(|can| can.value),
            context: layer.context.map(|tokens| tokens.value),
            origin,
        })
    }

    /// Everything that is named exists, in every profile.
    fn check(&mut self, config: &Config) {
        let profile = &config.profile;
        if !config.profiles.contains_key(&profile.value) {
            let names: Vec<&str> = config.profiles.keys().map(String::as_str).collect();
            let fault = ConfigFault::new(format!("there is no profile `{}`", short(&profile.value)));
            self.error.push(fault.at(&profile.origin).hint(match nearest(&profile.value, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("profiles are {}", listed(&names)),
            }));
            return;
        }
        if !self.error.faults.is_empty() {
            return; // what is missing may be missing because of these
        }
        self.likely_slips(&config.profiles);
        for models in config.profiles.values().flat_map(BTreeMap::values).chain(config.roles.values()) {
            for name in &models.value {
                if let Err(fault) = config.target(name) {
                    self.error.push(fault.at(&models.origin));
                }
            }
        }
        // A profile of one's own may have forgotten a role.
        if let Some(error) = ROLES.iter().find_map(|role| config.names(role).err()) {
            self.note(error.faults);
        }
    }
}

impl Loading {
    /// Profiles and roles may have any name, but one that is nearly a known one is likely a slip.
    fn likely_slips(&mut self, profiles: &BTreeMap<String, Roles>) {
        let is_built_in = |roles: &Roles| roles.values().any(|models| !models.origin.is_said());
        let known: Vec<&str> =
            profiles.iter().filter(|(_, roles)| is_built_in(roles)).map(|(name, _)| name.as_str()).collect();
        for (name, roles) in profiles {
            let Some(first) = roles.values().next() else { continue };
            if let Some(near) = nearest(name, known.iter().copied()).filter(|_| !is_built_in(roles)) {
                let name = short(name);
                self.warnings.push(format!("{}: `{name}` is a new profile; did you mean `{near}`?", first.origin));
            }
            for (role, models) in roles.iter().filter(|(role, _)| !ROLES.contains(&role.as_str())) {
                if let Some(near) = nearest(role, ROLES) {
                    let role = short(role);
                    self.warnings.push(format!("{}: `{role}` is a new role; did you mean `{near}`?", models.origin));
                }
            }
        }
    }
}

/// A folder is named from where the name stands: a file from its folder, the rest from the working folder.
fn place_of(prompts: &Sourced<String>, project_folder: &Path, around: &Surroundings) -> PathBuf {
    match &prompts.origin {
        Origin::File { whose: Whose::Project, .. } => project_folder.join(&prompts.value),
        Origin::File { whose: Whose::User, .. } => match around.user_file() {
            Some(file) => file.with_file_name(&prompts.value),
            None => PathBuf::from(&prompts.value),
        },
        _ => around.working_folder.join(&prompts.value),
    }
}
