//! A server that makes the plans, as it is named on the command line.

use std::path::PathBuf;
use std::time::Duration;

use gantry_many::message::Template;
use gantry_many::remote::{Asking, Remote};

use crate::exit::Fault;
use crate::file;

/// Who is asked.
#[derive(clap::Args)]
pub struct Server {
    /// Ask this server over its chat, such as `http://localhost:9000`
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The token that the server wants [env: `GANTRY_BULK_API_KEY`]
    #[arg(long, value_name = "TOKEN", env = "GANTRY_BULK_API_KEY", hide_env = true, requires = "base_url")]
    api_key: Option<String>,
    /// What the server is asked: a text with {title}, {goal} and {description} in it
    #[arg(long, value_name = "FILE")]
    prompt_template: Option<PathBuf>,
    /// How long an answer of the server may take
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = super::seconds)]
    timeout: Duration,
    /// How long to wait before the second try; then twice as long each time
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = super::seconds)]
    backoff: Duration,
}

impl Server {
    /// Tells whether there is one.
    pub fn is_named(&self) -> bool {
        self.base_url.is_some()
    }

    /// How a topic is put into words.
    pub fn words(&self) -> Result<Template, Fault> {
        let Some(path) = &self.prompt_template else { return Ok(Template::default()) };
        let name = path.display().to_string();
        let text =
            String::from_utf8(file::all_bytes(&name, "name a text with {title}, {goal} or {description} in it")?)
                .map_err(|_| Fault::bad_input(format!("`{name}` is no text in UTF-8")))?;
        if !["{title}", "{goal}", "{description}"].iter().any(|part| text.contains(part)) {
            return Err(Fault::bad_input(format!("`{name}` says nothing about the topic"))
                .hint("write {title}, {goal} or {description} where it is to stand"));
        }
        Ok(Template::new(text))
    }

    /// How it is asked; none without one.
    pub fn asking(&self, template: Template, run: &str, retries_max: u32) -> Result<Option<Asking>, Fault> {
        let Some(base_url) = self.base_url.clone() else { return Ok(None) };
        if !["http://", "https://"].iter().any(|scheme| base_url.starts_with(scheme)) {
            return Err(Fault::bad_input(format!("`{base_url}` is no address of a server"))
                .hint("write it in full, such as `http://localhost:9000`"));
        }
        let (api_key, timeout, backoff) = (self.api_key.clone(), self.timeout, self.backoff);
        Ok(Some(Asking { base_url, api_key, template, run: run.to_owned(), retries_max, timeout, backoff }))
    }
}

/// Connects to a server.
pub async fn connected(asking: Asking) -> Result<Remote, Fault> {
    let address = asking.base_url.clone();
    Remote::connect(asking).await.map_err(|why| {
        Fault::internal(format!("`{address}` does not answer as a server of plans: {why}"))
            .hint("see whether it runs and what its address is; nothing was asked of it yet")
    })
}
