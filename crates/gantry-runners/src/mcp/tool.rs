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

/// Reads what a server offers. What is out of bounds is left out, each with a reason.
pub(super) fn offered(tools: Vec<rmcp::model::Tool>) -> (Vec<Offered>, Vec<String>) {
    let (mut offered, mut left_out) = (Vec::new(), Vec::new());
    for tool in tools {
        let parameters = Value::Object((*tool.input_schema).clone());
        let why = if !is_name(&tool.name) {
            "its name is longer than 128 letters, or has others than letters, digits and `_-./:`"
        } else if parameters.to_string().len() > SCHEMA_BYTES_MAX {
            "the schema of its arguments is larger than 32 KiB"
        } else if offered.len() == TOOLS_MAX {
            "there are more than 500"
        } else {
            let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
            let description: String = description.chars().filter(|c| !c.is_control() || *c == '\n').collect();
            let description = shortened(description.trim(), DESCRIPTION_CHARS_MAX);
            offered.push(Offered { name: tool.name.to_string(), description, parameters });
            continue;
        };
        let name: String = tool.name.chars().filter(|c| !c.is_control()).collect();
        left_out.push(format!("`{}`: {why}", shortened(&name, 40)));
    }
    (offered, left_out)
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.chars().all(letter)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn what_is_out_of_bounds_is_left_out_with_a_reason() {
        let tool = |name: &str, schema: Value| {
            rmcp::model::Tool::new(name.to_owned(), "It does.", Arc::new(schema.as_object().cloned().unwrap()))
        };
        let object = || json!({"type": "object"});
        let large = json!({"type": "object", "description": "x".repeat(SCHEMA_BYTES_MAX)});
        let (kept, left_out) =
            offered(vec![tool("fine", object()), tool("not a name", object()), tool("large", large)]);
        assert_eq!(kept.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["fine"]);
        assert_eq!(left_out.len(), 2);
        assert!(left_out[0].starts_with("`not a name`: its name") && left_out[1].starts_with("`large`: the schema"));
        let many = (0..=TOOLS_MAX).map(|n| tool(&format!("t{n}"), object())).collect();
        let (kept, left_out) = offered(many);
        assert_eq!((kept.len(), left_out), (TOOLS_MAX, vec!["`t500`: there are more than 500".to_owned()]));
    }
}
