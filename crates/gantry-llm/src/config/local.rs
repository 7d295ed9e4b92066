//! Servers on this machine: found on their usual ports, and offered.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Config, ProviderSettings};
use crate::target::Protocol;

/// A server on this machine answers at once or is not there.
const CONNECT_MAX: Duration = Duration::from_millis(300);
/// A busy one may take a moment to list its models.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// A longer list is none of models.
const LIST_BYTES_MAX: usize = 1 << 20;
/// More models are not kept.
const MODELS_MAX: usize = 200;

/// A server that answers on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocalServer {
    /// Which provider it is.
    pub provider: String,
    /// Its address.
    pub base_url: String,
    /// The models that it has.
    pub models: Vec<String>,
}

impl LocalServer {
    /// Its first model that can talk.
    pub fn chat_model(&self) -> Option<&str> {
        let embeds = |model: &str| ["embed", "minilm", "rerank", "bge-"].iter().any(|word| model.contains(word));
        self.models.iter().map(String::as_str).find(|model| !embeds(&model.to_ascii_lowercase()))
    }

    /// Host and port.
    pub fn address(&self) -> String {
        let url = reqwest::Url::parse(&self.base_url).ok();
        let authority = url.map(|url| url.authority().to_owned());
        authority.unwrap_or_else(|| self.base_url.clone())
    }
}

/// What such servers answer to `GET models`.
#[derive(Deserialize)]
struct List {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
}

impl Config {
    /// Asks the usual places on this machine who is there. Nothing but this machine is asked.
    pub async fn find_local(&self) -> Vec<LocalServer> {
        if !self.local_servers() {
            return Vec::new();
        }
        let is_asked =
            |provider: &&ProviderSettings| provider.is_local() && provider.protocol.value == Protocol::OpenaiChat;
        let Some(client) = client() else { return Vec::new() };
        let mut asked = tokio::task::JoinSet::new();
        for (place, provider) in self.providers.values().filter(is_asked).enumerate() {
            let (client, name, base_url) = (client.clone(), provider.name.clone(), provider.base_url.value.clone());
            asked.spawn(async move { (place, ask(&client, name, base_url).await) });
        }
        let mut answers = asked.join_all().await;
        answers.sort_by_key(|(place, _)| *place);
        answers.into_iter().filter_map(|(_, server)| server).collect()
    }
}

fn client() -> Option<reqwest::Client> {
    // The client wants to know its cryptography, even though nothing here is encrypted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    builder.connect_timeout(CONNECT_MAX).timeout(ANSWER_MAX).build().ok()
}

async fn ask(client: &reqwest::Client, provider: String, base_url: String) -> Option<LocalServer> {
    let mut response = client.get(format!("{base_url}models")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        body.extend_from_slice(&piece);
        if body.len() > LIST_BYTES_MAX {
            return None;
        }
    }
    let list: List = serde_json::from_slice(&body).ok()?;
    let sane = |id: &String| !id.is_empty() && id.len() <= 200 && !id.contains(char::is_control);
    let models = list.data.into_iter().map(|item| item.id).filter(sane).take(MODELS_MAX).collect();
    Some(LocalServer { provider, base_url, models })
}
