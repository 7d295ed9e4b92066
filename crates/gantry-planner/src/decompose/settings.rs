//! How tasks are broken down, from the environment and from whoever asks.

use gantry_llm::config::{OWN_PROVIDER, OWN_SERVER};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How tasks are broken down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How many levels are made.
    pub depth: u32,
    /// How many tasks are made.
    pub budget: u32,
    /// How many children a task gets at least, unless it is not to be broken down.
    pub children_min: u32,
    /// How many it gets at most.
    pub children_max: u32,
    /// An answer without children says that there is nothing to break down; otherwise it is a fault.
    pub stop_on_empty: bool,
    /// How often someone who gave no answer that holds is asked again.
    pub retries: u32,
    /// Tasks that have children get more.
    pub allow_existing_children: bool,
    /// Who is asked, by name; none means as models are configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tool that looks something up before a task is broken down, such as `mcp.web.search`; none means that nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            depth: 2,
            budget: 50,
            children_min: 2,
            children_max: 5,
            stop_on_empty: true,
            retries: 1,
            allow_existing_children: false,
            model: None,
            search: None,
        }
    }
}

/// Asks for a search before each task is broken down, and by which tool.
const SEARCH: &str = "DECOMP_ENABLE_WEB_SEARCH";
const SEARCH_TOOL: &str = "DECOMP_SEARCH_TOOL";
/// Who is asked.
const MODEL: &str = "DECOMP_MODEL";
const PROVIDER: &str = "DECOMP_PROVIDER";
/// Says whether a plan that is made in a talk is broken down at once.
const AUTO: &str = "DECOMP_AUTO_ON_CREATE";

/// A setting that cannot be read, or not be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSetting {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub value: String,
    /// What it should say.
    pub expected: &'static str,
}

impl std::fmt::Display for BadSetting {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}` is `{}`, which is not {}", self.name, self.value, self.expected)
    }
}

impl Settings {
    /// The settings that the variables `DECOMP_*` give. A value that cannot be read is told, not passed over.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, BadSetting> {
        let usual = Self::default();
        let number = |name: &'static str, usual: u32, least: u32| match get(name) {
            None => Ok(usual),
            Some(value) => match value.trim().parse() {
                Ok(number) if number >= least => Ok(number),
                _ if least == 0 => Err(BadSetting { name, value, expected: "a whole number" }),
                _ => Err(BadSetting { name, value, expected: "a whole number from 1 on" }),
            },
        };
        let truth = |name, usual| truth(&get, name, usual);
        let word = |name| get(name).map(|word| word.trim().to_owned()).filter(|word| !word.is_empty());
        let model = match (word(MODEL), word(PROVIDER), word(OWN_SERVER)) {
            (Some(model), _, Some(_)) => Some(format!("{OWN_PROVIDER}:{model}")),
            (Some(model), Some(provider), None) => Some(format!("{provider}:{model}")),
            (model, None, None) => model,
            (None, Some(value), _) => {
                return Err(BadSetting {
                    name: PROVIDER,
                    value,
                    expected: "enough: `DECOMP_MODEL` says which of its models",
                });
            }
            (None, None, Some(value)) => {
                let expected = "enough: `DECOMP_MODEL` says which model is asked there";
                return Err(BadSetting { name: OWN_SERVER, value, expected });
            }
        };
        let search = match (truth(SEARCH, false)?, word(SEARCH_TOOL)) {
            (true, None) => {
                let expected = "enough: `DECOMP_SEARCH_TOOL` says what searches, such as `mcp.web.search` for the tool `search` of [mcp.web] in gantry.toml";
                return Err(BadSetting { name: SEARCH, value: get(SEARCH).unwrap_or_default(), expected });
            }
            (true, tool) => tool,
            (false, _) => None,
        };
        let settings = Self {
            depth: number("DECOMP_MAX_DEPTH", usual.depth, 1)?,
            budget: number("DECOMP_TOTAL_NODE_BUDGET", usual.budget, 1)?,
            children_min: number("DECOMP_MIN_CHILDREN", usual.children_min, 0)?,
            children_max: number("DECOMP_MAX_CHILDREN", usual.children_max, 1)?,
            stop_on_empty: truth("DECOMP_STOP_ON_EMPTY", usual.stop_on_empty)?,
            retries: number("DECOMP_RETRY_LIMIT", usual.retries, 0)?,
            allow_existing_children: truth("DECOMP_ALLOW_EXISTING_CHILDREN", usual.allow_existing_children)?,
            model,
            search,
        };
        settings.sound()
    }

    /// Says whether a plan that is made in a talk is broken down at once, which is usual.
    pub fn breaks_down_at_once(get: impl Fn(&str) -> Option<String>) -> Result<bool, BadSetting> {
        truth(&get, AUTO, true)
    }

    /// These, with what someone says otherwise.
    pub fn with(&self, changes: &Map<String, Value>) -> Result<Self, String> {
        let mut all = serde_json::to_value(self).map_err(|error| error.to_string())?;
        all.as_object_mut().into_iter().for_each(|all| all.extend(changes.clone()));
        let settings: Self = serde_json::from_value(all).map_err(|error| format!("`settings`: {error}"))?;
        settings.sound().map_err(|bad| bad.to_string())
    }

    fn sound(self) -> Result<Self, BadSetting> {
        let bad = |name, value: u32, expected| Err(BadSetting { name, value: value.to_string(), expected });
        if self.depth == 0 {
            return bad("depth", 0, "a whole number from 1 on");
        }
        if self.budget == 0 {
            return bad("budget", 0, "a whole number from 1 on");
        }
        if self.children_max == 0 || self.children_min > self.children_max {
            return bad("children_min", self.children_min, "at most `children_max`");
        }
        Ok(self)
    }
}

/// Reads a word for yes or no.
fn truth(get: &impl Fn(&str) -> Option<String>, name: &'static str, usual: bool) -> Result<bool, BadSetting> {
    match get(name) {
        None => Ok(usual),
        Some(value) => match value.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(true),
            "0" | "false" | "no" | "off" | "" => Ok(false),
            _ => Err(BadSetting { name, value, expected: "one of 1, true, yes, on, 0, false, no, off" }),
        },
    }
}
