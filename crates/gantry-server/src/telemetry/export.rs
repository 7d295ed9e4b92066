//! Sends spans to a collector.

use std::time::Duration;

use serde_json::{Value, json};

use super::span::any;
use super::{Sending, Span};

/// How many spans are sent at once, and how long one waits for others at most.
const AT_ONCE: usize = 256;
const EVERY: Duration = Duration::from_secs(1);
/// How long a collector may take.
const WITHIN: Duration = Duration::from_secs(10);

/// Where traces go.
#[derive(Clone, Debug)]
pub struct Traces {
    /// The address that spans are posted to, such as `http://localhost:4318/v1/traces`.
    pub url: String,
    /// Headers that the collector wants.
    pub headers: Vec<(String, String)>,
    /// What this server is called.
    pub service: String,
}

impl Traces {
    /// What the usual variables of a process say; none when they name no collector.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let said = |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let url = said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(|| {
            said("OTEL_EXPORTER_OTLP_ENDPOINT").map(|base| format!("{}/v1/traces", base.trim_end_matches('/')))
        })?;
        let headers = said("OTEL_EXPORTER_OTLP_TRACES_HEADERS").or_else(|| said("OTEL_EXPORTER_OTLP_HEADERS"));
        let headers = headers.unwrap_or_default();
        let pairs = headers.split(',').filter_map(|pair| pair.split_once('='));
        Some(Self {
            url,
            headers: pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect(),
            service: said("OTEL_SERVICE_NAME").unwrap_or_else(|| "gantry".to_owned()),
        })
    }
}

impl Sending {
    /// Sends spans until nobody hands in any more, and what is left then.
    pub async fn run(mut self) {
        // Whoever installed a provider before has installed the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let Ok(client) = reqwest::Client::builder().timeout(WITHIN).build() else { return };
        let mut told = false;
        let mut batch = Vec::new();
        while self.spans.recv_many(&mut batch, AT_ONCE).await > 0 {
            // Others that come within a moment go along.
            let until = tokio::time::Instant::now() + EVERY;
            while batch.len() < AT_ONCE {
                match tokio::time::timeout_at(until, self.spans.recv()).await {
                    Ok(Some(span)) => batch.push(span),
                    Ok(None) | Err(_) => break,
                }
            }
            let sent = post(&client, &self.to, &batch).await;
            if let Err(why) = sent
                && !told
            {
                told = true;
                eprintln!("warning: traces cannot be sent to {}: {why}", self.to.url);
            }
            batch.clear();
        }
    }
}

async fn post(client: &reqwest::Client, to: &Traces, spans: &[Span]) -> Result<(), String> {
    let mut request = client.post(&to.url).json(&body(&to.service, spans));
    for (name, value) in &to.headers {
        request = request.header(name, value);
    }
    let answer = request.send().await.map_err(|error| error.without_url().to_string())?;
    answer.error_for_status().map(drop).map_err(|error| error.without_url().to_string())
}

/// Spans as collectors read them.
fn body(service: &str, spans: &[Span]) -> Value {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": any(&json!(value))});
    json!({"resourceSpans": [{
        "resource": {"attributes": [
            attribute("service.name", service), attribute("service.version", env!("CARGO_PKG_VERSION")),
        ]},
        "scopeSpans": [{
            "scope": {"name": "gantry", "version": env!("CARGO_PKG_VERSION")},
            "spans": spans.iter().map(Span::to_json).collect::<Vec<_>>(),
        }],
    }]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_variables_say_where_traces_go() {
        let from = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            Traces::from_variables(|name| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
        };
        assert!(from(&[]).is_none() && from(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).is_none());
        let usual = from(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=1, x-team=a"),
        ])
        .unwrap();
        assert_eq!((usual.url.as_str(), usual.service.as_str()), ("http://c:4318/v1/traces", "gantry"));
        assert_eq!(usual.headers.len(), 2);
        let own = from(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c/t"), ("OTEL_SERVICE_NAME", "ours")]).unwrap();
        assert_eq!((own.url.as_str(), own.service.as_str()), ("http://c/t", "ours"));
    }
}
