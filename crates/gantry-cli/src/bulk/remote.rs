//! A server that makes the plans, as it is named on the command line.

use std::path::PathBuf;
use std::time::Duration;

use gantry_many::message::Template;
use gantry_many::remote::{Asking, Remote};

use crate::exit::Fault;
use crate::file;
use crate::talk::talk;

/// Who is asked.
#[derive(clap::Args)]
pub struct Server {
    /// Ask this server over its chat, such as `http://localhost:9000`
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The token that the server wants [env: `GANTRY_BULK_API_KEY`]
    #[arg(long, value_name = "TOKEN", requires = "base_url")]
    api_key: Option<String>,
    /// What the server is asked: a text with {title}, {goal} and {description} in it
    #[arg(long, value_name = "FILE", requires = "base_url")]
    prompt_template: Option<PathBuf>,
    /// How long an answer of the server may take [default: 60s]
    #[arg(long, value_name = "TIME", requires = "base_url", value_parser = super::seconds)]
    timeout: Option<Duration>,
    /// How long to wait before the second try; then twice as long each time [default: 1s]
    #[arg(long, value_name = "TIME", requires = "base_url", value_parser = super::seconds)]
    backoff: Option<Duration>,
}

/// The variable with the token. It may be set where no server is asked.
const API_KEY_VARIABLE: &str = "GANTRY_BULK_API_KEY";
/// How long an answer may take where nothing is said.
const TIMEOUT: Duration = Duration::from_mins(1);
/// How long it is waited before the second try where nothing is said.
const BACKOFF: Duration = Duration::from_secs(1);

impl Server {
    /// Tells whether there is one.
    pub fn is_named(&self) -> bool {
        self.base_url.is_some()
    }

    /// Refuses what only a server could use where none is asked. Options that exclude each other are not held against what
    /// they need, so that is done here.
    pub fn check(&self, offline: bool) -> Result<(), Fault> {
        let said = [
            ("--api-key", self.api_key.is_some()),
            ("--prompt-template", self.prompt_template.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--backoff", self.backoff.is_some()),
        ];
        match said.iter().find(|(_, said)| *said && !self.is_named()) {
            Some((option, _)) => Err(Fault::bad_input(format!(
                "`{option}` says how a server is asked, and none is named"
            ))
            .hint(if offline {
                "leave it away: with `--offline` nobody is asked"
            } else {
                "name the server with `--base-url`"
            })),
            None => Ok(()),
        }
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
        let (timeout, backoff) = (self.timeout.unwrap_or(TIMEOUT), self.backoff.unwrap_or(BACKOFF));
        let api_key = self.api_key.clone().or_else(|| std::env::var(API_KEY_VARIABLE).ok());
        let api_key = api_key.filter(|key| !key.is_empty());
        Ok(Some(Asking { base_url, api_key, template, run: run.to_owned(), retries_max, timeout, backoff }))
    }
}

/// Connects to a server.
pub async fn connected(asking: Asking) -> Result<Remote, Fault> {
    let address = asking.base_url.clone();
    let remote = Remote::connect(asking).await.map_err(|why| {
        Fault::internal(format!("`{address}` does not answer as a server of plans: {why}"))
            .hint("see whether it runs and what its address is; nothing was asked of it yet")
    })?;
    if !remote.lists_plans() {
        talk!("the server has no list of plans: which plan it made is known only where it says so");
    }
    Ok(remote)
}
