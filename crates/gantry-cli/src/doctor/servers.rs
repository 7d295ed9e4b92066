//! Do the MCP servers answer, and with which tools?

use std::sync::Arc;

use gantry_core::policy::{NetworkScope, Policy};
use gantry_core::suggest::nearest;
use gantry_llm::config::{McpServer, McpWay};
use gantry_runners::Place;
use gantry_runners::mcp::{Found, Servers};
use tokio_util::sync::CancellationToken;

use super::Finding;
use crate::exit::Fault;
use crate::model::options::ModelOptions;
use crate::session;
use crate::show::{first_line, plain};

/// What such a finding is called.
const WHAT: &str = "mcp";
/// How many characters of the tools of a server are shown.
const TOOLS_CHARS_MAX: usize = 2_000;

/// One finding for each server. A program that the file of a project names is started only when someone asks for it.
pub async fn findings(ask: &[String]) -> Result<Vec<Finding>, Fault> {
    let runners = session::runners(ModelOptions::default())?;
    let Some(mcp) = runners.mcp() else { return Ok(Vec::new()) };
    let Ok(servers) = mcp.servers() else { return Ok(Vec::new()) }; // the finding on models says what is wrong
    known(ask, servers)?;
    let folder = std::env::current_dir()
        .map_err(|error| Fault::internal(format!("the current folder cannot be told: {error}")))?;
    let network = NetworkScope { allow: vec!["*".to_owned()] };
    let place = Place { policy: Arc::new(Policy { network, ..Policy::default() }), ..Place::at(folder) };
    let mut findings = Vec::new();
    for server in servers.values() {
        let shown = format!("{}: {}", server.name, plain(&first_line(&server.way.to_string(), 60)));
        let is_program = matches!(server.way, McpWay::Command(_));
        if is_program && server.is_of_project() && !ask.contains(&server.name) {
            let found = format!("{shown}: not started, since {} names it", server.origin);
            let how = format!("start it with `gantry doctor --ask {}`", server.name);
            findings.push(Finding::unused(WHAT, found, how));
            continue;
        }
        findings.push(match mcp.ask(server, &place, &CancellationToken::new()).await {
            Ok(found) => {
                let words = plain(&first_line(&in_words(&found), TOOLS_CHARS_MAX));
                if found.tools.is_empty() || !found.left_out.is_empty() {
                    Finding::warn(WHAT, format!("{shown}: {words}"), fix(server))
                } else {
                    Finding::ok(WHAT, format!("{shown}: {words}"))
                }
            }
            Err(failure) => Finding::warn(WHAT, format!("{shown}: {}", plain(&failure.message)), fix(server)),
        });
    }
    Ok(findings)
}

/// The tools that a server has, and those that are left out, with the reason.
fn in_words(found: &Found) -> String {
    let names: Vec<&str> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut words = if names.is_empty() { "it has no tools".to_owned() } else { names.join(", ") };
    if !found.not_chosen.is_empty() {
        words = format!("{words}; not among its `tools` in gantry.toml: {}", found.not_chosen.join(", "));
    }
    if !found.left_out.is_empty() {
        words = format!("{words}; left out: {}", found.left_out.join("; "));
    }
    words
}

fn fix(server: &McpServer) -> String {
    format!("correct [mcp.{}] ({}), or leave it out", server.name, server.origin)
}

/// Says no to servers that nobody knows.
fn known(ask: &[String], servers: &Servers) -> Result<(), Fault> {
    let Some(unknown) = ask.iter().find(|name| !servers.contains_key(*name)) else { return Ok(()) };
    let fault = Fault::bad_input(format!("there is no MCP server `{}`", plain(unknown)));
    Err(match nearest(unknown, servers.keys().map(String::as_str)) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault.hint("describe it in gantry.toml; see docs/models.md"),
    })
}
