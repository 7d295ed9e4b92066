//! The variables that a process sees: a short list from outside, then what the plan gives.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::work::{Place, Work};

/// What is taken over from the environment of this program, besides `LC_*`. Everything else stays outside.
pub const TAKEN_OVER: [&str; 8] = ["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TERM", "USER", "LOGNAME"];

/// A `PATH` for when there is none.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A variable longer than this is left out, because the system refuses it; `GANTRY_INPUTS` has everything.
const VALUE_BYTES_MAX: usize = 100 << 10;

/// All variables of a process. Later ones win: taken over, the operator's, the task's, secrets, Gantry's own.
pub fn environment(work: &Work, place: &Place, exchange: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]);
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
        if TAKEN_OVER.contains(&name) || name.starts_with("LC_") {
            all.insert(name.to_owned(), value.to_owned());
        }
    }
    all.extend(place.environment.clone());
    all.extend(work.environment.clone());
    all.extend(place.secrets.values().map(|(name, value)| (name.to_owned(), value.to_owned())));
    let own = [
        ("PLAN", work.plan.to_string()),
        ("TASK", work.task.to_string()),
        ("ATTEMPT", work.attempt.0.to_string()),
        ("KEY", work.key.clone()),
        ("FEEDBACK", work.feedback.clone().unwrap_or_default()),
        ("INPUTS", exchange.join("inputs.json").display().to_string()),
        ("OUTPUTS", exchange.join("outputs").display().to_string()),
    ];
    all.extend(own.map(|(name, value)| (format!("GANTRY_{name}"), value)));
    for (name, value) in &work.inputs {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        all.insert(format!("GANTRY_INPUT_{}", variable(name)), text);
    }
    all.insert("TMPDIR".to_owned(), exchange.join("tmp").display().to_string());
    all.retain(|name, value| {
        let usable = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        usable && value.len() <= VALUE_BYTES_MAX
    });
    all
}

/// The name of an input as part of a variable: upper case, `_` for everything that is no letter or digit.
fn variable(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}
