//! `gantry model test`: does it answer?

use std::collections::BTreeSet;
use std::process::ExitCode;

use gantry_llm::config::Config;
use gantry_llm::offline::Offline;
use gantry_llm::ping::{Ping, PingEnd, ping};
use gantry_llm::{Gateway, Target};
use serde_json::{Value, json};

use super::options::ModelOptions;
use crate::exit::{self, Fault};
use crate::session;
use crate::show::table::columns;
use crate::talk::talk;

pub fn run(options: &ModelOptions, what: Option<&str>, json: bool) -> Result<ExitCode, Fault> {
    let tell = |target: &Target| {
        if !json {
            talk!("asking {} …", crate::show::named(&target.id()));
        }
    };
    let pings = session::block_on(answers(options, what, tell))?;
    let silent = pings.iter().any(|ping| !ping.answers());
    if json {
        exit::print_json(&told(&pings))?;
    } else {
        exit::print(&columns(&pings.iter().map(row).collect::<Vec<_>>()))?;
    }
    Ok(ExitCode::from(if silent { exit::INTERNAL } else { exit::DONE }))
}

/// Asks each model that is meant for one word; each is told before it is asked.
pub async fn answers(
    options: &ModelOptions,
    what: Option<&str>,
    tell: impl Fn(&Target) + Send + Sync,
) -> Result<Vec<Ping>, Fault> {
    let config = options.load_with_local().await?;
    let targets = asked(&config, what)?;
    let gateway = Gateway::of(config, Offline::new()).map_err(Fault::internal)?;
    let mut pings = Vec::new();
    for target in &targets {
        tell(target);
        let Some(provider) = gateway.provider(target.protocol) else { continue };
        pings.push(ping(provider.as_ref(), target, target.limits.timeout).await);
    }
    Ok(pings)
}

/// Who answered, for programs.
pub fn told(pings: &[Ping]) -> Value {
    json!({"ok": pings.iter().all(Ping::answers), "models": pings})
}

/// The models that are meant, each once, in the order in which they are asked.
fn asked(config: &Config, what: Option<&str>) -> Result<Vec<Target>, Fault> {
    let roles = config.roles();
    let mut targets = match what {
        None => {
            let mut targets = Vec::new();
            for role in &roles {
                targets.extend(config.chain(role, None)?);
            }
            targets
        }
        Some(role) if roles.iter().any(|known| known == role) => config.chain(role, None)?,
        Some(model) => {
            // The model itself, and nobody in its place.
            let chain = config.explain(gantry_llm::config::DEFAULT, Some(model))?;
            if let Some(left_out) = chain.left_out.first() {
                return Err(Fault::bad_input(format!("{} cannot be asked: {}", left_out.model, left_out.why))
                    .hint("see how to set it up with `gantry model doctor`"));
            }
            chain.targets.into_iter().take(1).collect()
        }
    };
    let mut seen = BTreeSet::new();
    targets.retain(|target| seen.insert(target.id()));
    Ok(targets)
}

fn row(ping: &Ping) -> Vec<String> {
    let (grade, found) = match &ping.end {
        PingEnd::Answers { model, tokens } => {
            let tokens = tokens.map(|tokens| format!(", {} tokens", tokens.all())).unwrap_or_default();
            ("ok", format!("{model} answered in {} ms{tokens}", ping.duration_ms))
        }
        PingEnd::Silent { why } => ("fail", why.clone()),
    };
    vec![grade.to_owned(), ping.target.clone(), found]
}
