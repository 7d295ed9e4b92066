//! Sets up models from the configuration, when a plan needs them first.

use async_trait::async_trait;
use gantry_llm::Gateway;
use gantry_runners::mcp::Servers;
use gantry_runners::{SetUp, Talk};

use super::options::ModelOptions;
use crate::exit::Fault;
use crate::template;

/// Models as they are configured.
pub struct Configured(pub ModelOptions);

fn in_words(fault: &Fault) -> String {
    match fault.advice() {
        Some(advice) => format!("{}; {advice}", fault.message()),
        None => fault.message().to_owned(),
    }
}

/// The MCP servers as they are configured.
pub fn servers(options: &ModelOptions) -> Result<Servers, String> {
    options.load().map(|config| config.mcp().clone()).map_err(|fault| in_words(&fault))
}

#[async_trait]
impl SetUp for Configured {
    fn talk(&self) -> Result<Talk, String> {
        let config = self.0.load().map_err(|fault| in_words(&fault))?;
        let prompts = template::prompts(&config).map_err(|fault| in_words(&fault))?;
        Ok(Talk {
            prompts,
            locale: config.locale().to_owned(),
            agent_planning: config.agent_planning(),
            template_prompts: config.template_prompts(),
        })
    }

    async fn gateway(&self) -> Result<Gateway, String> {
        let config = self.0.load_with_local().await.map_err(|fault| in_words(&fault))?;
        let templates = template::of(&config)?;
        Gateway::of(config, gantry_planner::offline::offline(&templates))
    }
}
