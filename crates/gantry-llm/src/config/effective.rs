//! The effective configuration, for people and programs: every value, and where it came from.

use serde::Serialize;

use super::chain::LeftOut;
use super::origin::Origin;
use super::provider::KeyState;
use super::{Config, LocalServer};
use crate::target::{Price, Target};

/// Everything that holds.
#[derive(Clone, Debug, Serialize)]
pub struct Effective {
    /// Single values.
    pub settings: Vec<Setting>,
    /// Who answers for which role.
    pub roles: Vec<RoleView>,
    /// Who can be asked.
    pub providers: Vec<ProviderView>,
    /// Servers that answer on this machine.
    pub local_servers: Vec<LocalServer>,
    /// The files that were read.
    pub files: Vec<String>,
    /// The day that the built-in prices are from.
    pub prices_as_of: String,
    /// What works and should nevertheless be changed.
    pub warnings: Vec<String>,
}

/// One value.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// What it is called in `gantry.toml`.
    pub name: &'static str,
    /// What it is.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
}

/// Who answers for a role.
#[derive(Clone, Debug, Serialize)]
pub struct RoleView {
    /// The role.
    pub role: String,
    /// Who is asked, in order.
    pub chain: Vec<Link>,
    /// Who was named and cannot be asked.
    pub left_out: Vec<LeftOut>,
    /// Who said so.
    pub origin: Origin,
    /// The role whose models these are, when it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// Why nobody can be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One model of a chain.
#[derive(Clone, Debug, Serialize)]
pub struct Link {
    /// Its provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// What a million tokens cost; none when nobody knows, and then no budget of money holds.
    pub price_usd: Option<Price>,
    /// Whether there is a key.
    pub key: KeyState,
    /// It can be made to answer by a schema.
    pub schemas: bool,
    /// It can call tools.
    pub tools: bool,
    /// Its provider keeps what is said.
    pub keep: bool,
}

/// Who can be asked.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderView {
    /// Its name.
    pub name: String,
    /// How it is spoken to.
    pub protocol: &'static str,
    /// Its address.
    pub base_url: String,
    /// Who said so.
    pub origin: Origin,
    /// Whether there is a key.
    pub key: KeyState,
}

impl Config {
    /// Everything that holds, without any key.
    pub fn effective(&self) -> Effective {
        Effective {
            settings: self.settings(),
            roles: self.roles().into_iter().map(|role| self.role_view(role)).collect(),
            providers: self
                .providers
                .values()
                .map(|provider| ProviderView {
                    name: provider.name.clone(),
                    protocol: provider.protocol_word(),
                    base_url: provider.base_url.value.clone(),
                    origin: provider.base_url.origin.clone(),
                    key: provider.key_state().clone(),
                })
                .collect(),
            local_servers: self.local.clone(),
            files: self.files.iter().map(|file| file.display().to_string()).collect(),
            prices_as_of: self.prices_as_of.clone(),
            warnings: self.warnings.clone(),
        }
    }

    fn settings(&self) -> Vec<Setting> {
        let setting = |name, value: String, origin: &Origin| Setting { name, value, origin: origin.clone() };
        let prompts = &self.prompts.value;
        let prompts = prompts.strip_prefix(&self.working_folder).unwrap_or(prompts).display().to_string();
        vec![
            setting("profile", self.profile.value.clone(), &self.profile.origin),
            setting("strict", self.strict.value.to_string(), &self.strict.origin),
            setting("locale", self.locale.value.clone(), &self.locale.origin),
            setting("agent_planning", self.agent_planning.value.to_string(), &self.agent_planning.origin),
            setting("local_servers", self.local_servers.value.to_string(), &self.local_servers.origin),
            setting("prompts", prompts, &self.prompts.origin),
            setting("team.planning_workers", self.planning_workers.value.to_string(), &self.planning_workers.origin),
            setting("team.korean_retries", self.korean_retries.value.to_string(), &self.korean_retries.origin),
            setting("team.template_prompts", self.template_prompts.value.to_string(), &self.template_prompts.origin),
        ]
    }

    fn role_view(&self, role: String) -> RoleView {
        match self.explain(&role, None) {
            Ok(chain) => RoleView {
                chain: chain.targets.iter().map(|target| self.link(target)).collect(),
                left_out: chain.left_out,
                origin: chain.origin,
                like: chain.like,
                error: None,
                role,
            },
            Err(error) => RoleView {
                role,
                chain: Vec::new(),
                left_out: Vec::new(),
                origin: Origin::BuiltIn,
                like: None,
                error: Some(error.to_string()),
            },
        }
    }

    fn link(&self, target: &Target) -> Link {
        let provider = self.providers.get(&target.provider);
        Link {
            provider: target.provider.clone(),
            model: target.model.clone(),
            price_usd: target.price,
            key: provider.map_or(KeyState::NotNeeded, |provider| provider.key_state().clone()),
            schemas: target.schemas,
            tools: target.tools,
            keep: target.keep,
        }
    }
}

impl Link {
    /// What it costs, in words.
    pub fn price_words(&self) -> String {
        match self.price_usd {
            None => "price unknown".to_owned(),
            Some(price) if price == Price::default() => "free".to_owned(),
            Some(price) => format!("${} in, ${} out", price.input, price.output),
        }
    }

    /// Tells whether it is the offline model.
    pub fn is_offline(&self) -> bool {
        self.provider == super::OFFLINE
    }
}

impl Setting {
    /// Tells whether somebody said so.
    pub fn is_said(&self) -> bool {
        self.origin.is_said()
    }
}
