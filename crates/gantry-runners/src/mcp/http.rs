//! A server at an address.

use std::net::IpAddr;
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use gantry_llm::config::McpServer;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::answer::MESSAGE_BYTES_MAX;

/// How long a connection may take to come about.
const CONNECT_MAX: Duration = Duration::from_secs(20);

/// The way to an address.
pub(super) fn way_to(server: &McpServer, url: &str) -> Result<StreamableHttpClientTransport<reqwest::Client>, Failure> {
    gantry_llm::wire::install_tls();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("gantry/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_MAX)
        .pool_max_idle_per_host(0)
        // The list of hosts was asked about this address and no other.
        .redirect(reqwest::redirect::Policy::none());
    let client = if is_local(url) { builder.no_proxy() } else { builder }.build();
    let client = client
        .map_err(|error| Failure::new(FailureClass::Transient, format!("no HTTP client can be made: {error}")))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.auth_header = server.key.as_ref().map(|key| key.reveal().to_owned());
    config.max_sse_event_size = MESSAGE_BYTES_MAX;
    // A call whose session is gone may have been made: it is not sent again by itself.
    config.reinit_on_expired_session = false;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn is_local(url: &str) -> bool {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    host == "localhost" || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
