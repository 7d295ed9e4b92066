//! A provider with everything that was said about it.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use super::error::ConfigFault;
use super::layer::{ProviderLayer, protocol_word};
use super::origin::{Origin, Sourced, Whose};
use super::surroundings::Surroundings;
use crate::target::{Limits, Price, Protocol, Secret, Target};

/// A provider with everything that was said about it.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// What it is called.
    pub name: String,
    /// How it is spoken to.
    pub protocol: Sourced<Protocol>,
    /// Its address; empty for the offline model.
    pub base_url: Sourced<String>,
    /// How it may be used.
    pub limits: Limits,
    /// What its models cost unless they say otherwise.
    pub price: Option<Price>,
    /// Its models can be made to answer by a schema unless they say otherwise.
    pub schemas: bool,
    /// Its models can call tools unless they say otherwise.
    pub tools: bool,
    /// It keeps what is said, so that a talk goes on without being told again.
    pub keep: bool,
    key: Option<Secret>,
    key_state: KeyState,
}

/// Whether there is a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum KeyState {
    /// There is one.
    Set {
        /// Where it came from.
        origin: Origin,
    },
    /// There is none, and one is needed.
    Missing {
        /// The variables that could hold it.
        variables: Vec<String>,
    },
    /// It takes none.
    NotNeeded,
    /// There is one, but the address is the choice of somebody else.
    Withheld {
        /// The address.
        base_url: String,
        /// Who chose it.
        origin: Origin,
    },
}

impl fmt::Display for KeyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { origin: Origin::Variable(name) } => write!(f, "key set via {name}"),
            Self::Set { origin } => write!(f, "key set in {origin}"),
            Self::Missing { variables } => write!(f, "key missing: {} is not set", variables.join(" or ")),
            Self::NotNeeded => f.write_str("needs no key"),
            Self::Withheld { base_url, origin } => {
                write!(f, "key withheld: {origin} wants it sent to {base_url}, which you have not said you trust")
            }
        }
    }
}

impl ProviderSettings {
    /// Whether there is a key.
    pub fn key_state(&self) -> &KeyState {
        &self.key_state
    }

    pub(super) fn key(&self) -> Option<&Secret> {
        self.key.as_ref()
    }

    /// The word for its protocol.
    pub fn protocol_word(&self) -> &'static str {
        protocol_word(self.protocol.value)
    }

    /// Tells whether its address is on this machine.
    pub fn is_local(&self) -> bool {
        is_local(&self.base_url.value)
    }

    /// One of its models, with nothing known about it.
    pub(super) fn target(&self, model: &str) -> Target {
        Target {
            provider: self.name.clone(),
            protocol: self.protocol.value,
            base_url: self.base_url.value.clone(),
            key: self.key.clone(),
            model: model.to_owned(),
            price: self.price,
            limits: self.limits.clone(),
            context: None,
            schemas: self.schemas,
            tools: self.tools,
            keep: self.keep,
        }
    }

    /// Makes a provider of what was said; the texts are warnings.
    pub(super) fn new(
        name: &str,
        layer: ProviderLayer,
        trusted: &[String],
        around: &Surroundings,
    ) -> Result<(Self, Vec<String>), ConfigFault> {
        let said = layer.said.clone().unwrap_or(Origin::BuiltIn);
        let incomplete = |what: &str| ConfigFault::new(format!("the provider `{name}` has no `{what}`")).at(&said);
        let protocol = layer.protocol.ok_or_else(|| {
            incomplete("protocol").hint("add for example protocol = \"openai-chat\", which most local servers speak")
        })?;
        let base_url = match layer.base_url {
            Some(base_url) => base_url,
            None if protocol.value == Protocol::Offline => Sourced::built_in(String::new()),
            None => {
                return Err(incomplete("base_url").hint("add for example base_url = \"http://127.0.0.1:8081/v1/\""));
            }
        };
        let keep = layer.keep.filter(|keep| keep.value);
        if let Some(keep) = keep.as_ref().filter(|_| protocol.value != Protocol::OpenaiResponses) {
            let spoken = protocol_word(protocol.value);
            let fault = ConfigFault::new(format!("the provider `{name}` cannot keep answers: it speaks `{spoken}`"));
            return Err(fault.at(&keep.origin).hint("leave out `keep`; only `openai-responses` has it"));
        }
        let mut warnings = Vec::new();
        if let Some(key) = &layer.key {
            let variable = layer.key_env.as_ref().map_or("MY_KEY", |names| names.value[0].as_str());
            warnings.push(format!(
                "{}: a key in a file is read by whoever reads the file; put it into a variable, \
                 and name that with `key_env = \"{variable}\"`",
                key.origin
            ));
        }
        let (key, key_state) = key(layer.key_env.as_ref(), layer.key, &base_url, trusted, around)?;
        if key.is_some() && base_url.value.starts_with("http://") && !is_local(&base_url.value) {
            warnings.push(format!(
                "{}: the key and everything that is asked travels to {} unencrypted; use https://",
                base_url.origin, base_url.value
            ));
        }
        let usual = Limits::default();
        // A server on this machine costs nothing unless somebody says what it costs.
        let here = is_local(&base_url.value).then(Price::default);
        let price = layer.price.map(|price| price.value).or(here);
        let provider = Self {
            name: name.to_owned(),
            protocol,
            base_url,
            limits: Limits {
                requests_per_minute: layer.requests_per_minute.map(|number| number.value),
                tokens_per_minute: layer.tokens_per_minute.map(|number| number.value),
                concurrent_max: layer.concurrent.map_or(usual.concurrent_max, |number| number.value),
                timeout: layer.timeout.map_or(usual.timeout, |length: Sourced<Duration>| length.value),
                silence: layer.silence.map_or(usual.silence, |length| length.value),
                retries_max: layer.retries.map_or(usual.retries_max, |number| number.value),
            },
            price,
            schemas: layer.schemas.is_none_or(|can| can.value),
            tools: layer.tools.is_none_or(|can| can.value),
            keep: keep.is_some(),
            key,
            key_state,
        };
        Ok((provider, warnings))
    }
}

/// Finds the key of a provider: the environment counts more than a file.
///
/// The file of a project may have been written by anybody. It may name any address, but a key of the user goes there
/// only if the user trusts the address; a key that stands in the same file may go wherever the file says.
pub(super) fn key(
    key_env: Option<&Sourced<Vec<String>>>,
    literal: Option<Sourced<Secret>>,
    base_url: &Sourced<String>,
    trusted: &[String],
    around: &Surroundings,
) -> Result<(Option<Secret>, KeyState), ConfigFault> {
    let variables = key_env.map(|names| names.value.clone()).unwrap_or_default();
    let mut found = None;
    for name in &variables {
        let origin = Origin::Variable(name.clone());
        let value = around.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
        let odd = value.is_some_and(|value| !value.bytes().all(|byte| byte.is_ascii_graphic()));
        if odd || around.unreadable.contains(name) {
            let fault = ConfigFault::new("this cannot be a key: it holds blanks, line ends or letters beyond ASCII");
            return Err(fault.at(&origin).hint(format!("set {name} to the key alone, or unset it")));
        }
        if let Some(value) = value {
            found = Some(Sourced::new(Secret::new(value), origin));
            break;
        }
    }
    let of_project = |origin: &Origin| matches!(origin, Origin::File { whose: Whose::Project, .. });
    let Some(key) = found.or(literal) else {
        let state = if variables.is_empty() { KeyState::NotNeeded } else { KeyState::Missing { variables } };
        return Ok((None, state));
    };
    let is_trusted = !of_project(&base_url.origin)
        || of_project(&key.origin)
        || is_local(&base_url.value)
        || trusted.iter().any(|address| covers(address, &base_url.value));
    if !is_trusted {
        let state = KeyState::Withheld { base_url: base_url.value.clone(), origin: base_url.origin.clone() };
        return Ok((None, state));
    }
    Ok((Some(key.value), KeyState::Set { origin: key.origin }))
}

/// Tells whether an address lies at or below a trusted one.
fn covers(trusted: &str, address: &str) -> bool {
    match (reqwest::Url::parse(trusted), reqwest::Url::parse(address)) {
        (Ok(trusted), Ok(address)) => {
            let folder = trusted.path().trim_end_matches('/');
            let below = address.path().strip_prefix(folder);
            trusted.origin() == address.origin() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
        _ => false,
    }
}

/// Tells whether an address is on this machine.
pub(super) fn is_local(address: &str) -> bool {
    let url = reqwest::Url::parse(address);
    url.is_ok_and(|url| {
        let host = url.host_str().unwrap_or_default();
        let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    })
}
