//! A tool as its server describes it, kept within bounds.

use gantry_core::effect::Failure;
use gantry_core::suggest::nearest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy::wrong;
use crate::text::shortened;

/// More tools than this are a mistake.
const TOOLS_MAX: usize = 500;
/// Longer descriptions are cut: models read them all, in every turn.
const DESCRIPTION_CHARS_MAX: usize = 1_000;
/// A larger schema is left out, and with it its tool.
const SCHEMA_BYTES_MAX: usize = 32 << 10;
/// Longer names are not names.
const NAME_CHARS_MAX: usize = 128;
/// How many names are listed in a message.
const LISTED_MAX: usize = 20;

/// A tool that a server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    /// What the server calls it.
    pub name: String,
    /// What it does, in the words of the server.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// Reads what a server offers. What is out of bounds is left out.
pub(super) fn offered(tools: Vec<rmcp::model::Tool>) -> Vec<Offered> {
    let sane = |name: &str| {
        let letter = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
        !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.chars().all(letter)
    };
    let tools = tools.into_iter().filter(|tool| sane(&tool.name)).map(|tool| {
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let description: String = description.chars().filter(|c| !c.is_control() || *c == '\n').collect();
        Offered {
            name: tool.name.to_string(),
            description: shortened(description.trim(), DESCRIPTION_CHARS_MAX),
            parameters: Value::Object((*tool.input_schema).clone()),
        }
    });
    tools.filter(|tool| tool.parameters.to_string().len() <= SCHEMA_BYTES_MAX).take(TOOLS_MAX).collect()
}

/// The server has no such tool.
pub(super) fn unknown(server: &str, tool: &str, offered: &[Offered]) -> Failure {
    if offered.is_empty() {
        return wrong(format!("the MCP server `{server}` has no tools"));
    }
    let names = || offered.iter().map(|tool| tool.name.as_str());
    let hint = match nearest(tool, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let more = if offered.len() > LISTED_MAX { ", …" } else { "" };
            format!("it has {}{more}", names().take(LISTED_MAX).collect::<Vec<_>>().join(", "))
        }
    };
    wrong(format!("the MCP server `{server}` has no tool `{tool}`; {hint}"))
}
