//! The variables that a process sees: a short list from outside, then what the plan gives.

use std::collections::BTreeMap;
use std::path::Path;

use gantry_core::effect::Failure;
use serde_json::Value;

use crate::work::{Place, Work};

/// What is taken over from the environment of this program, besides `LC_*`. Everything else stays outside.
pub const TAKEN_OVER: [&str; 8] = ["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TERM", "USER", "LOGNAME"];

/// A `PATH` for when there is none.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A longer variable is refused by the system. An input that is longer is only in the file that `GANTRY_INPUTS` names.
const VALUE_BYTES_MAX: usize = 100 << 10;

/// How much all variables of the operator, of the task and of secrets may be together. The system refuses more than
/// about two megabytes, arguments included.
const TOTAL_BYTES_MAX: usize = 1 << 20;

/// How much of the inputs a process is given as variables; the others are only in the file that `GANTRY_INPUTS` names.
const INPUTS_BYTES_MAX: usize = 512 << 10;

/// Says no to variables that no process can be given.
pub(super) fn check(work: &Work, place: &Place) -> Result<(), Failure> {
    let given = place.environment.iter().chain(&work.environment).map(|(name, value)| (name.as_str(), value.as_str()));
    let total: usize = given.chain(place.secrets.values()).map(|(name, value)| bytes(name, value)).sum();
    if total > TOTAL_BYTES_MAX {
        return Err(crate::policy::wrong(format!(
            "the variables for the process have {total} bytes together; at most {TOTAL_BYTES_MAX} can be given. Put large values into files"
        )));
    }
    for (name, value) in place.environment.iter().chain(&work.environment) {
        if !usable(name, value) {
            let name = crate::text::shortened(&name.escape_debug().to_string(), 60);
            let message = format!(
                "the variable `{name}` cannot be given to a process: names have no `=`, nothing has zero bytes, and a value has at most {VALUE_BYTES_MAX} bytes"
            );
            return Err(crate::policy::wrong(message));
        }
    }
    Ok(())
}

/// What the system counts for a variable: both texts, and what it needs around them.
fn bytes(name: &str, value: &str) -> usize {
    name.len() + value.len() + 16
}

fn usable(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0') && value.len() <= VALUE_BYTES_MAX
}

/// The variables that every process sees: those that are taken over, then the operator's.
pub(crate) fn usual(place: &Place) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]);
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
        if TAKEN_OVER.contains(&name) || name.starts_with("LC_") {
            all.insert(name.to_owned(), value.to_owned());
        }
    }
    all.extend(place.environment.clone());
    all.retain(|name, value| usable(name, value));
    all
}

/// All variables of a process. Later ones win: taken over, the operator's, the task's, secrets, Gantry's own.
pub fn environment(work: &Work, place: &Place, exchange: &Path) -> BTreeMap<String, String> {
    let mut all = usual(place);
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
    let mut room = INPUTS_BYTES_MAX;
    for (name, value) in &work.inputs {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let name = format!("GANTRY_INPUT_{}", variable(name));
        if usable(&name, &text)
            && let Some(left) = room.checked_sub(bytes(&name, &text))
        {
            room = left;
            all.insert(name, text);
        }
    }
    all.insert("TMPDIR".to_owned(), exchange.join("tmp").display().to_string());
    all.retain(|name, value| usable(name, value));
    all
}

/// The name of an input as part of a variable: upper case, `_` for everything that is no letter or digit.
fn variable(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}
