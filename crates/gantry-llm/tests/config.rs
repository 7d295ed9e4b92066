//! Where the configuration comes from, what it says, and what prompts make of it.

#![allow(clippy::unwrap_used)] // a test may

#[path = "config/kit.rs"]
mod kit; // in reading order
#[path = "config/precedence.rs"]
mod precedence;
#[path = "config/variables.rs"]
mod variables;
#[path = "config/mistakes.rs"]
mod mistakes;
#[path = "config/chains.rs"]
mod chains;
#[path = "config/keys.rs"]
mod keys;
#[path = "config/servers.rs"]
mod servers;
#[path = "config/local.rs"]
mod local;
#[path = "config/ping.rs"]
mod ping;
#[path = "config/prompts.rs"]
mod prompts;
#[path = "config/prompt_faults.rs"]
mod prompt_faults;
#[path = "config/metrics.rs"]
mod metrics;
#[path = "config/documented.rs"]
mod documented;
