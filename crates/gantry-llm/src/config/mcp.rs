//! MCP servers: programs and addresses whose tools plans may call.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::error::ConfigFault;
use super::layer::{McpLayer, address_of, is_variable};
use super::origin::{Origin, Sourced, Whose};
use super::provider::{KeyState, key};
use super::section::{listed, short};
use super::surroundings::Surroundings;
use crate::target::Secret;

/// How long a server may take to start, and to answer a call, when nobody says.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Longer names make names of capabilities that nobody can read.
const NAME_CHARS_MAX: usize = 40;

/// An MCP server with everything that was said about it.
#[derive(Clone, Debug)]
pub struct McpServer {
    /// What it is called: its tools are `mcp.NAME.TOOL`.
    pub name: String,
    /// How it is reached.
    pub way: McpWay,
    /// Variables that its process is given, by name.
    pub env: Vec<McpVariable>,
    /// What shows who asks, for an address.
    pub key: Option<Secret>,
    /// Whether there is a key.
    pub key_state: KeyState,
    /// The tools that may be called; none means all.
    pub tools: Option<Vec<String>>,
    /// The tools of which a second call with the same arguments does no harm.
    pub safe: Vec<String>,
    /// How long it may take to start, and to answer a call.
    pub timeout: Duration,
    /// Who said how it is reached.
    pub origin: Origin,
}

/// How an MCP server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpWay {
    /// It is a program that is started, with its arguments.
    Command(Vec<String>),
    /// It listens at an address.
    Url(String),
}

/// A variable that the process of a server is given.
#[derive(Clone, Debug)]
pub struct McpVariable {
    /// Its name.
    pub name: String,
    /// Its value in the environment of this program; none where it is not set, or where the file of a project names
    /// the command: then the plan has to be given it.
    pub value: Option<Secret>,
}

impl fmt::Display for McpWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(words) => f.write_str(&words.join(" ")),
            Self::Url(url) => f.write_str(url),
        }
    }
}

impl McpServer {
    /// Tells whether the file of a project says how it is reached: somebody else may have written it.
    pub fn is_of_project(&self) -> bool {
        matches!(self.origin, Origin::File { whose: Whose::Project, .. })
    }

    /// Tells whether this tool may be called.
    pub fn allows(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|allowed| allowed == tool))
    }

    /// Tells whether a second call of this tool with the same arguments does no harm.
    pub fn is_safe(&self, tool: &str) -> bool {
        self.safe.iter().any(|safe| safe == tool)
    }

    /// Makes a server of what was said.
    pub(super) fn new(
        name: &str,
        layer: McpLayer,
        trusted: &[String],
        around: &Surroundings,
    ) -> Result<Self, ConfigFault> {
        let said = layer.said.clone().unwrap_or(Origin::BuiltIn);
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(plain) {
            let fault = ConfigFault::new(format!("`{}` cannot be the name of an MCP server", short(name)));
            return Err(fault
                .at(&said)
                .hint(format!("use up to {NAME_CHARS_MAX} letters a to z, digits, `-` and `_`")));
        }
        let fault = |what: String| ConfigFault::new(format!("the MCP server `{name}` {what}")).at(&said);
        let (way, origin) = match (layer.command, layer.url) {
            (Some(command), None) => (McpWay::Command(command.value), command.origin),
            (None, Some(url)) => {
                let value =
                    address_of(&format!("mcp.{name}.url"), &url.value).map_err(|fault| fault.at(&url.origin))?;
                (McpWay::Url(value), url.origin)
            }
            (Some(_), Some(_)) => {
                return Err(fault("has both a `command` and a `url`".to_owned()).hint("leave out one of them"));
            }
            (None, None) => {
                let hint = "add for example command = [\"uvx\", \"mcp-server-git\"] or url = \"https://…\"";
                return Err(fault("has neither a `command` nor a `url`".to_owned()).hint(hint));
            }
        };
        let odd = match (&way, &layer.env, &layer.key_env) {
            (McpWay::Command(_), _, Some(key)) => Some(("key_env", "env", &key.origin)),
            (McpWay::Url(_), Some(env), _) => Some(("env", "key_env", &env.origin)),
            _ => None,
        };
        if let Some((has, instead, at)) = odd {
            let what = fault(format!("has `{has}`, which does nothing here")).at(at);
            return Err(what.hint(format!("use `{instead}`: a command is given variables, an address a key")));
        }
        let tools = layer.tools.map(|tools| tools.value);
        let safe = layer.safe;
        if let (Some(tools), Some(safe)) = (&tools, &safe)
            && let Some(unknown) = safe.value.iter().find(|safe| !tools.contains(safe))
        {
            let names: BTreeSet<&str> = tools.iter().map(String::as_str).collect();
            let what = fault(format!("says that `{}` is safe, which is not among its `tools`", short(unknown)));
            return Err(what
                .at(&safe.origin)
                .hint(format!("its tools are {}", listed(&names.into_iter().collect::<Vec<_>>()))));
        }
        let of_project = matches!(origin, Origin::File { whose: Whose::Project, .. });
        let (key, key_state) = match &way {
            McpWay::Url(url) => {
                let address = Sourced::new(url.clone(), origin.clone());
                key(layer.key_env.as_ref(), None, &address, trusted, around)?
            }
            McpWay::Command(_) => (None, KeyState::NotNeeded),
        };
        let mut env = Vec::new();
        for variable in layer.env.iter().flat_map(|names| &names.value) {
            if !is_variable(variable) {
                // Not shown: it may be the value itself.
                let what = fault("names a variable in `env` that is none".to_owned());
                return Err(what.at(&said).hint("write for example env = [\"GITHUB_TOKEN\"]"));
            }
            let value = around.variables.get(variable).filter(|value| !of_project && !value.is_empty());
            env.push(McpVariable { name: variable.clone(), value: value.map(|value| Secret::new(value.clone())) });
        }
        Ok(Self {
            name: name.to_owned(),
            way,
            env,
            key,
            key_state,
            tools,
            safe: safe.map(|safe| safe.value).unwrap_or_default(),
            timeout: layer.timeout.map_or(TIMEOUT, |timeout| timeout.value),
            origin,
        })
    }
}
