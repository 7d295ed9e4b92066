//! `gantry model doctor`: what is configured, what is missing, and how to fix it.

use std::collections::BTreeSet;
use std::process::ExitCode;

use gantry_llm::config::{Config, KeyState, LocalServer, OFFLINE, ProviderSettings};
use gantry_llm::prompts::Prompts;

use super::options::ModelOptions;
use super::told;
use crate::doctor::{self, Finding};
use crate::exit::Fault;
use crate::session;

/// How many models of a server are named.
const MODELS_SHOWN: usize = 5;

pub fn run(options: &ModelOptions, json: bool) -> Result<ExitCode, Fault> {
    let findings = session::block_on(async {
        Ok(match options.load() {
            Ok(config) => {
                let local = config.find_local().await;
                findings(&config.with_local(local.clone()), &local)
            }
            Err(fault) => vec![wrong(&fault)],
        })
    })?;
    doctor::tell(&findings, json)
}

/// One finding on models, for whoever looks at everything.
pub async fn summary() -> Finding {
    let config = match ModelOptions::default().load() {
        Ok(config) => config,
        Err(fault) => return wrong(&fault),
    };
    let local = config.find_local().await;
    let config = config.with_local(local);
    match config.explain(gantry_llm::config::DEFAULT, None) {
        Err(error) => Finding::fail("models", error.to_string(), error.hint().unwrap_or_default()),
        Ok(chain) if chain.is_offline() => Finding::warn(
            "models",
            "no key is set and no server answers on this machine: the offline model answers",
            "see what can be set up with `gantry model doctor`",
        ),
        Ok(chain) => {
            let asked: Vec<String> = chain.targets.iter().map(gantry_llm::Target::id).collect();
            Finding::ok("models", format!("profile {}: {}", config.profile().value, asked.join(", then ")))
        }
    }
}

fn wrong(fault: &Fault) -> Finding {
    Finding::fail("models", fault.message(), fault.advice().unwrap_or("correct gantry.toml, or unset the variable"))
}

fn findings(config: &Config, local: &[LocalServer]) -> Vec<Finding> {
    let mut findings = vec![files(config)];
    findings.extend(
        config.warnings().iter().map(|warning| Finding::warn("configuration", warning.as_str(), "change the line")),
    );
    findings.push(keys(config));
    findings.extend(config.providers().values().filter_map(remote));
    if config.local_servers() {
        findings.extend(config.providers().values().filter(|one| one.is_local()).map(|one| server(one, local)));
    } else {
        let found = "servers on this machine are not looked for: `local_servers` is false";
        findings.push(Finding::unused("server", found, "see who said so with `gantry model list`"));
    }
    findings.push(roles(config));
    findings.extend(prices(config));
    findings.push(prompts(config));
    findings
}

fn files(config: &Config) -> Finding {
    let files: Vec<String> = config.files().iter().map(|file| file.display().to_string()).collect();
    if files.is_empty() {
        return Finding::ok("configuration", "no gantry.toml: what nobody says is built in");
    }
    Finding::ok("configuration", files.join(", "))
}

/// Whether anybody can be asked at all.
fn keys(config: &Config) -> Finding {
    let is_set = |provider: &&ProviderSettings| matches!(provider.key_state(), KeyState::Set { .. });
    let set: Vec<&str> = config.providers().values().filter(is_set).map(|one| one.name.as_str()).collect();
    if !set.is_empty() {
        return Finding::ok("keys", format!("set for {}", set.join(", ")));
    }
    Finding::warn(
        "keys",
        "none is set",
        "set one of OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY and OPENROUTER_API_KEY, or start a local server",
    )
}

/// A provider elsewhere: set up, not set up, or set up in a way that cannot work.
fn remote(provider: &ProviderSettings) -> Option<Finding> {
    if provider.is_local() || provider.name == OFFLINE {
        return None;
    }
    let found = format!("{}: {}", provider.name, provider.key_state());
    Some(match provider.key_state() {
        KeyState::Set { .. } | KeyState::NotNeeded => Finding::ok("provider", found),
        KeyState::Missing { variables } => {
            Finding::unused("provider", found, format!("export {}=…", variables.first().map_or("", String::as_str)))
        }
        KeyState::Withheld { base_url, .. } => Finding::warn(
            "provider",
            found,
            format!("if you trust it, add to your own gantry.toml: trusted = [\"{base_url}\"]"),
        ),
    })
}

/// A provider on this machine: there, or not.
fn server(provider: &ProviderSettings, local: &[LocalServer]) -> Finding {
    let place = provider.base_url.value.trim_end_matches("v1/").trim_end_matches('/').to_owned();
    match local.iter().find(|server| server.provider == provider.name) {
        None => {
            Finding::unused("server", format!("{}: nothing answers at {place}", provider.name), start(&provider.name))
        }
        Some(server) if server.models.is_empty() => Finding::warn(
            "server",
            format!("{} answers at {place} and has no models", provider.name),
            "load a model in it",
        ),
        Some(server) => {
            let shown = server.models.iter().take(MODELS_SHOWN).cloned().collect::<Vec<_>>().join(", ");
            let more = server.models.len().saturating_sub(MODELS_SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let model = server.chat_model().unwrap_or(&server.models[0]);
            let found = format!("{} answers at {place} with {shown}{more}", provider.name);
            Finding::ok("server", found)
                .with_fix(format!("use it for everything: export GANTRY_MODEL_DEFAULT={}:{model}", provider.name))
        }
    }
}

fn start(provider: &str) -> String {
    match provider {
        "ollama" => "start it with `ollama serve`, and get a model with `ollama pull llama3.2`".to_owned(),
        "llama.cpp" => "start it with `llama-server -m MODEL.gguf`".to_owned(),
        "lm-studio" => "start its server with `lms server start`".to_owned(),
        "vllm" => "start it with `vllm serve MODEL`".to_owned(),
        other => format!("start it, or correct base_url of [providers.{other}]"),
    }
}

/// Which roles have a real model.
fn roles(config: &Config) -> Finding {
    let (mut offline, mut nobody) = (Vec::new(), Vec::new());
    for role in config.roles() {
        match config.explain(&role, None) {
            Err(_) => nobody.push(role),
            Ok(chain) if chain.is_offline() => offline.push(role),
            Ok(_) => {}
        }
    }
    let profile = &config.profile().value;
    if !nobody.is_empty() {
        let found = format!("profile {profile}: with `strict`, nobody can answer for {}", nobody.join(", "));
        return Finding::fail("roles", found, "set a key, start a local server, or leave out `strict`");
    }
    if !offline.is_empty() {
        let found = format!("profile {profile}: only the offline model answers for {}", offline.join(", "));
        return Finding::warn(
            "roles",
            found,
            "set a key or start a local server; `gantry model list` says who is left out",
        );
    }
    Finding::ok("roles", format!("profile {profile}: every role has a model"))
}

/// Models that nobody knows the price of.
fn prices(config: &Config) -> Option<Finding> {
    let roles = config.roles();
    let chains = roles.iter().filter_map(|role| config.chain(role, None).ok()).flatten();
    let unknown: BTreeSet<String> = chains.filter(|target| target.price.is_none()).map(|target| target.id()).collect();
    let first = unknown.first()?.clone();
    let all: Vec<String> = unknown.into_iter().collect();
    let (provider, model) = first.split_once(':').unwrap_or_default();
    Some(Finding::warn(
        "prices",
        format!("unknown for {}: a budget of money cannot be held with them", all.join(", ")),
        format!(
            "add to gantry.toml: models.\"{model}\" = {{ provider = \"{provider}\", price = {{ input = …, output = … }} }}"
        ),
    ))
}

fn prompts(config: &Config) -> Finding {
    match Prompts::of(config) {
        Ok(prompts) => {
            Finding::ok("prompts", format!("{} are sound: {}", prompts.names().len(), prompts.names().join(", ")))
        }
        Err(faults) => {
            let hint = faults.iter().find_map(|fault| fault.hint.clone());
            Finding::fail("prompts", told(&faults), hint.unwrap_or_else(|| "correct the file".to_owned()))
        }
    }
}
