//! Where a plan that came from elsewhere works here: said once, by the person who goes on with it.

use std::path::PathBuf;

use gantry_core::id::PlanId;
use gantry_engine::Engine;
use gantry_store::Home;
use serde_json::{Value, json};

use crate::exit::Fault;
use crate::session;
use crate::surroundings::{self, Surroundings, secret_names};

/// The place of a plan that has none yet.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct NewHome {
    /// The folder that a plan works in which `gantry import` took in; needed once
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

impl NewHome {
    /// Sees to it that a plan has a place here, and returns the names of the secrets that it is given.
    ///
    /// The folder and the names in an imported journal are the choice of whoever made it: they count for nothing here.
    pub async fn settle(&self, engine: &Engine, plan: &PlanId, around: &Surroundings) -> Result<Vec<String>, Fault> {
        let opened = engine.open(plan).await?;
        let homeless = opened.check_home();
        let Some(workspace) = &self.workspace else {
            homeless?;
            return Ok(opened.origin.secrets);
        };
        let workspace = surroundings::workspace(workspace)?;
        if homeless.is_ok() {
            if workspace == opened.origin.workspace {
                return Ok(opened.origin.secrets);
            }
            let there = &opened.origin.workspace;
            return Err(Fault::bad_input(format!("plan `{plan}` works in `{there}`, and what it did is there"))
                .hint("leave out `--workspace`"));
        }
        let options = around.options(&[])?;
        let secrets = secret_names(&options.secrets);
        let given = around.given(&options)?;
        let unnamed: Vec<&str> = opened
            .secrets_elsewhere
            .iter()
            .map(String::as_str)
            .filter(|name| !secrets.iter().any(|s| s == name))
            .collect();
        if let Some(first) = unnamed.first() {
            let all: Vec<String> = unnamed.iter().map(|name| format!("--secret {name}")).collect();
            return Err(Fault::bad_input(format!(
                "plan `{plan}` was given the secret `{first}` elsewhere, and asks for it"
            ))
            .hint(format!("if you trust it with what is in your environment, add `{}`", all.join(" "))));
        }
        let given = if given.is_nothing() { Value::Null } else { json!(given) };
        let home = Home { workspace, secrets: secrets.clone(), given };
        engine.hold(plan).await?.settle(&session::operator(), home).await?;
        Ok(secrets)
    }
}
