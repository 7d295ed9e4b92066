//! Names of tools, as providers allow them.
//!
//! Providers take letters, digits, `_` and `-`, at most 64 of them, and ours have dots; some names mean tools of the
//! provider's own to genai. So each name goes out changed where it must be, and comes back as it was.

use std::collections::BTreeMap;

use crate::request::{Message, Request};

/// The longest name that every provider takes.
const LENGTH_MAX: usize = 64;

/// Names that genai takes for tools of the provider's own.
const TAKEN: [&str; 6] =
    ["web_search", "googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "googleMaps"];

/// The names of one request, there and back.
#[derive(Debug, Default)]
pub struct Names {
    there: BTreeMap<String, String>,
    back: BTreeMap<String, String>,
}

impl Names {
    /// Collects the names of the tools that are offered and of those that were called.
    pub fn of(request: &Request) -> Self {
        let called = request.messages.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => calls.iter().map(|call| call.name.as_str()).collect(),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => Vec::new(),
        });
        let mut names = Self::default();
        for name in request.tools.iter().map(|tool| tool.name.as_str()).chain(called) {
            names.add(name);
        }
        names
    }

    fn add(&mut self, name: &str) {
        if self.there.contains_key(name) {
            return;
        }
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .take(LENGTH_MAX)
            .collect();
        let mut outside = plain.clone();
        let mut number = 2;
        while outside.is_empty() || TAKEN.contains(&outside.as_str()) || self.back.contains_key(&outside) {
            let ending = format!("_{number}");
            outside = plain.chars().take(LENGTH_MAX - ending.len()).collect::<String>() + &ending;
            number += 1;
        }
        self.there.insert(name.to_owned(), outside.clone());
        self.back.insert(outside, name.to_owned());
    }

    /// The name that the provider sees.
    pub fn outside<'a>(&'a self, name: &'a str) -> &'a str {
        self.there.get(name).map_or(name, String::as_str)
    }

    /// Our name; a name that was never sent stays as it is.
    pub fn inside<'a>(&'a self, name: &'a str) -> &'a str {
        self.back.get(name).map_or(name, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::request::ToolSpec;

    fn names(tools: &[&str]) -> Names {
        let spec = |name: &&str| ToolSpec { name: (*name).into(), description: String::new(), parameters: json!({}) };
        Names::of(&Request { tools: tools.iter().map(spec).collect(), ..Request::default() })
    }

    #[test]
    fn a_name_goes_out_as_providers_allow_it_and_comes_back_as_it_was() {
        let long = "x".repeat(80);
        let tools = ["files.edit", "files_edit", "files-edit", "web_search", "é", long.as_str(), &long[..70]];
        let names = names(&tools);
        let mut seen = std::collections::BTreeSet::new();
        for tool in tools {
            let outside = names.outside(tool);
            assert!(outside.len() <= 64 && !outside.is_empty());
            assert!(outside.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{outside}");
            assert!(!TAKEN.contains(&outside));
            assert!(seen.insert(outside.to_owned()), "{outside} twice");
            assert_eq!(names.inside(outside), tool);
        }
        assert_eq!(names.outside("files.edit"), "files_edit");
        assert_eq!(names.inside("made_up"), "made_up");
    }
}
