//! Where a request goes, and the headers that let it in.
//!
//! genai would build both from a model's name and insists on a key; a server on this machine has none, so both are given.

use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use reqwest::Url;
use reqwest::header::HeaderValue;

use crate::error::CallFault;
use crate::target::{Protocol, Target};

/// The version of Anthropic's protocol that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Where requests for a target go.
pub fn of(target: &Target) -> Result<ServiceTarget, (CallFault, String)> {
    let wrong = |message: String| (CallFault::Request, message);
    let (kind, path) = match target.protocol {
        Protocol::OpenaiResponses => (AdapterKind::OpenAIResp, "responses".to_owned()),
        Protocol::OpenaiChat => (AdapterKind::OpenAI, "chat/completions".to_owned()),
        Protocol::Anthropic => (AdapterKind::Anthropic, "messages".to_owned()),
        Protocol::Gemini => (AdapterKind::Gemini, format!("models/{}:streamGenerateContent", target.model)),
        Protocol::Offline => return Err(wrong("the offline model has no address".into())),
    };
    let url = url(&target.base_url, &path, target.protocol == Protocol::Gemini).map_err(wrong)?;
    let headers = headers(target).map_err(|message| (CallFault::Key, message))?;
    Ok(ServiceTarget {
        endpoint: Endpoint::from_owned(target.base_url.clone()),
        auth: AuthData::RequestOverride { url: url.into(), headers },
        model: ModelIden::new(kind, shielded(&target.model)),
    })
}

/// The address with the path behind it; a query of the address, such as a version, is kept.
fn url(base: &str, path: &str, as_events: bool) -> Result<Url, String> {
    let mut url = Url::parse(base).map_err(|error| format!("`{base}` is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{base}` is no address: it must begin with http:// or https://"));
    }
    let whole = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&whole);
    if as_events {
        url.query_pairs_mut().append_pair("alt", "sse");
    }
    Ok(url)
}

fn headers(target: &Target) -> Result<Headers, String> {
    let mut headers = Vec::new();
    if target.protocol == Protocol::Anthropic {
        headers.push(("anthropic-version".to_owned(), ANTHROPIC_VERSION.to_owned()));
    }
    if let Some(key) = &target.key {
        let key = key.reveal();
        if HeaderValue::from_str(key).is_err() {
            return Err("its key has characters that no key has, perhaps the end of a line".into());
        }
        headers.push(match target.protocol {
            Protocol::Anthropic => ("x-api-key".to_owned(), key.to_owned()),
            Protocol::Gemini => ("x-goog-api-key".to_owned(), key.to_owned()),
            Protocol::OpenaiResponses | Protocol::OpenaiChat | Protocol::Offline => {
                ("authorization".to_owned(), format!("Bearer {key}"))
            }
        });
    }
    Ok(Headers::from(headers))
}

/// The name that genai sees. It reads endings such as `-high` as an effort and takes them off; a name that ends
/// otherwise is left alone. What is sent is the real name ([`super::ask::options`]).
fn shielded(model: &str) -> String {
    let (effort, _) = genai::chat::ReasoningEffort::from_model_name(model);
    if effort.is_some() { format!("{model}-") } else { model.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_goes_behind_the_address_with_or_without_a_slash_and_a_query_stays() {
        for (base, whole) in [
            ("http://a/v1/", "http://a/v1/responses"),
            ("http://a/v1", "http://a/v1/responses"),
            ("http://a", "http://a/responses"),
            ("http://a/v1/?api-version=7", "http://a/v1/responses?api-version=7"),
        ] {
            assert_eq!(url(base, "responses", false).unwrap().as_str(), whole);
        }
        assert_eq!(url("http://a/v1/", "m:s", true).unwrap().as_str(), "http://a/v1/m:s?alt=sse");
        assert!(url("file:///etc", "responses", false).is_err());
        assert!(url("a/v1", "responses", false).is_err());
    }
}
