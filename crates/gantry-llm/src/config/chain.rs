//! Which models are asked for a role, one after the other.

use gantry_core::suggest::nearest;

use super::environment::unknown_role;
use super::error::{ConfigError, ConfigFault};
use super::origin::{Origin, Sourced};
use super::provider::{KeyState, ProviderSettings};
use super::roles::{ROLES, lineage};
use super::section::{listed, short};
use super::{Config, OFFLINE};
use crate::gateway::{Chains, Team};
use crate::target::{Protocol, Target};

/// The models that are asked for a role, and why others are not.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Whom to ask, in order.
    pub targets: Vec<Target>,
    /// Who was named and cannot be asked.
    pub left_out: Vec<LeftOut>,
    /// Who is to answer first by what somebody said, and cannot be asked.
    pub missing: Option<LeftOut>,
    /// Who said so.
    pub origin: Origin,
    /// The role whose models these are, when it is another one.
    pub like: Option<String>,
}

/// A model that was named and cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    /// The model, as `provider:model`.
    pub model: String,
    /// Why it cannot be asked.
    pub why: String,
}

impl Chain {
    /// Tells whether only the offline model is left to answer.
    pub fn is_offline(&self) -> bool {
        self.targets.iter().all(|target| target.protocol == Protocol::Offline)
    }
}

/// At most this many names are suggested.
const SUGGESTIONS_MAX: usize = 3;

impl Config {
    /// Whom to ask for a role, in order; one model by name stands for the chain of its role.
    ///
    /// The offline model is the last unless `strict` is set; as the first choice it is no fallback, and stays. A chain
    /// is never empty. A model that the request or the command line names, and that cannot be asked, is an error.
    pub fn chain(&self, role: &str, model: Option<&str>) -> Result<Vec<Target>, ConfigError> {
        let chain = self.explain(role, model)?;
        let named = matches!(chain.origin, Origin::Request | Origin::Flag(_));
        match &chain.missing {
            Some(missing) if named && chain.is_offline() => {
                let fault = ConfigFault::new(format!("{} cannot be asked: {}", missing.model, missing.why));
                let hint = "name another model, or see how to set it up with `gantry model doctor`";
                Err(fault.at(&chain.origin).hint(hint).into())
            }
            _ => Ok(chain.targets),
        }
    }

    /// Says who is asked for a role, who was left out, and why.
    pub fn explain(&self, role: &str, model: Option<&str>) -> Result<Chain, ConfigError> {
        let (names, like) = match model {
            Some(model) => (Sourced::new(vec![model.to_owned()], Origin::Request), None),
            None => self.names(role)?,
        };
        let (targets, left_out) = (Vec::new(), Vec::new());
        let mut chain = Chain { targets, left_out, missing: None, origin: names.origin, like };
        for (place, name) in names.value.iter().enumerate() {
            let target = self.target(name).map_err(|fault| fault.at(&chain.origin))?;
            let (id, provider) = (target.id(), &self.providers[&target.provider]);
            if self.strict() && place > 0 && target.protocol == Protocol::Offline {
                chain.left_out.push(LeftOut { model: id, why: "`strict` forbids falling back to it".to_owned() });
                continue;
            }
            match provider.key_state() {
                KeyState::Set { .. } | KeyState::NotNeeded => chain.add(target),
                KeyState::Missing { .. } | KeyState::Withheld { .. } => {
                    let left_out = LeftOut { model: id, why: provider.key_state().to_string() };
                    if place == 0 && chain.origin.is_said() {
                        chain.missing = Some(left_out.clone());
                    }
                    chain.left_out.push(left_out);
                }
            }
        }
        if chain.targets.is_empty() && !chain.origin.is_said() {
            self.add_local(&mut chain);
        }
        if !self.strict() {
            let offline = self.target(OFFLINE)?;
            chain.add(offline);
        }
        if chain.targets.is_empty() {
            return Err(nobody(role, &chain).into());
        }
        Ok(chain)
    }

    /// The names of the models of a role, and the role that they were taken over from.
    pub(super) fn names(&self, role: &str) -> Result<(Sourced<Vec<String>>, Option<String>), ConfigError> {
        let own_roles = self.own_roles();
        if !ROLES.contains(&role) && !own_roles.iter().any(|own| own == role) {
            return Err(unknown_role(role, &own_roles).into());
        }
        let profile = self.profiles.get(&self.profile().value);
        let said = |from: &str| {
            let own = profile.and_then(|roles| roles.get(from)).filter(|models| models.origin.is_said());
            self.roles.get(from).or(own)
        };
        let built_in = |from: &str| profile.and_then(|roles| roles.get(from));
        let line = lineage(role);
        let found = (line.iter().find_map(|from| said(from).map(|models| (models, *from))))
            .or_else(|| line.iter().find_map(|from| built_in(from).map(|models| (models, *from))));
        match found {
            Some((models, from)) => Ok((models.clone(), (from != role).then(|| from.to_owned()))),
            None => {
                let profile = self.profile();
                let fault = ConfigFault::new(format!(
                    "the profile `{}` names no models for the role `{}`",
                    short(&profile.value),
                    short(role)
                ));
                Err(fault.at(&profile.origin).hint("add a line `default = [\"…\"]` to it").into())
            }
        }
    }

    /// The model that a name stands for: one of the table, or `provider:model`.
    pub(super) fn target(&self, name: &str) -> Result<Target, ConfigFault> {
        if let Some(model) = self.models.get(name) {
            let provider = self.providers.get(&model.provider).ok_or_else(|| self.unknown_model(name))?;
            let mut target = provider.target(&model.model);
            target.price = model.price.or(target.price);
            target.context = model.context;
            target.schemas = model.schemas.unwrap_or(target.schemas);
            target.tools = model.tools.unwrap_or(target.tools);
            return Ok(target);
        }
        let provider_and_model = name.split_once(':').filter(|(_, model)| is_model_name(model));
        if let Some((provider, model)) = provider_and_model.and_then(|(provider, model)| {
            self.providers.get(provider).map(|provider: &ProviderSettings| (provider, model))
        }) {
            // What is known of a model holds under its long name, too.
            return match self.models.get(model).filter(|known| known.provider == provider.name) {
                Some(_) => self.target(model),
                None => Ok(provider.target(model)),
            };
        }
        Err(self.unknown_model(name))
    }

    fn unknown_model(&self, name: &str) -> ConfigFault {
        let fault = ConfigFault::new(format!("there is no model `{}`", short(name)));
        let near = self.nearest_models(name);
        let near: Vec<&str> = near.iter().map(String::as_str).collect();
        fault.hint(if near.is_empty() {
            let providers: Vec<&str> = self.providers.keys().map(String::as_str).collect();
            format!("name any model as `provider:model`, with one of the providers {}", listed(&providers))
        } else {
            format!("did you mean {}? Any other model can be named as `provider:model`", listed_or(&near))
        })
    }

    /// Names that are likely meant: slips first, then those that begin alike.
    fn nearest_models(&self, name: &str) -> Vec<String> {
        if let Some((provider, model)) = name.split_once(':').filter(|(_, model)| !model.is_empty())
            && let Some(near) = nearest(provider, self.providers.keys().map(String::as_str))
        {
            return vec![format!("{near}:{}", short(model))];
        }
        let mut known: Vec<&str> = self.models.keys().map(String::as_str).collect();
        let mut near: Vec<String> = Vec::new();
        while near.len() < SUGGESTIONS_MAX {
            let Some(next) = nearest(name, known.iter().copied()) else { break };
            near.push(next.to_owned());
            known.retain(|other| *other != next);
        }
        let alike = |other: &&str| !name.is_empty() && (other.starts_with(name) || name.starts_with(*other));
        near.extend(known.into_iter().filter(alike).map(str::to_owned));
        near.truncate(SUGGESTIONS_MAX);
        near
    }

    /// Servers that answer on this machine stand in where nobody has set a key.
    fn add_local(&self, chain: &mut Chain) {
        for server in &self.local {
            let (Some(model), Some(provider)) = (server.chat_model(), self.providers.get(&server.provider)) else {
                continue;
            };
            let known = self.models.get(model).filter(|known| known.provider == provider.name);
            chain.add(known.and_then(|_| self.target(model).ok()).unwrap_or_else(|| provider.target(model)));
            chain.origin = Origin::Found(server.address());
        }
    }
}

impl Chain {
    fn add(&mut self, target: Target) {
        if !self.targets.iter().any(|other| other.id() == target.id()) {
            self.targets.push(target);
        }
    }
}

/// Names of models are of one line, and not endless.
fn is_model_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 200 && !name.contains(|letter: char| letter.is_control() || letter == ' ')
}

fn nobody(role: &str, chain: &Chain) -> ConfigFault {
    let why = chain.left_out.iter().map(|left_out| format!("; {}: {}", left_out.model, left_out.why));
    let message = format!("no model can answer for the role `{}`{}", short(role), why.collect::<String>());
    ConfigFault::new(message).hint(
        "set a key, start a local server, or leave out `strict` to let the offline model answer; \
         see `gantry model doctor`",
    )
}

fn listed_or(names: &[&str]) -> String {
    listed(names).replace("` and `", "` or `")
}

impl Chains for Config {
    fn chain(&self, role: &str, model: Option<&str>) -> Result<Vec<Target>, String> {
        Config::chain(self, role, model).map_err(|error| match error.hint() {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        })
    }

    fn missing(&self, role: &str, model: Option<&str>) -> Option<LeftOut> {
        self.explain(role, model).ok()?.missing
    }

    fn near(&self, model: &str) -> Vec<String> {
        let (provider, model) = model.split_once(':').unwrap_or(("", model));
        let own = |name: &String| {
            let known = self.models.get(name).filter(|known| provider.is_empty() || known.provider == provider);
            known.is_some_and(|known| known.model != model)
        };
        self.nearest_models(model).into_iter().filter(own).map(|name| format!("`{name}`")).collect()
    }

    fn strict(&self) -> bool {
        Config::strict(self)
    }

    fn team(&self) -> Team {
        Team { workers_max: Some(self.planning_workers()), korean_retries: self.korean_retries() }
    }
}
