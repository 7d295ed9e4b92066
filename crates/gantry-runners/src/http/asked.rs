//! What is asked of a server, with its arguments checked.

use gantry_core::effect::Failure;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use serde_json::{Map, Value, json};

use super::address;
use crate::args::Args;
use crate::policy::{forbidden, wrong};
use crate::work::{Place, Work};

/// More headers are a mistake.
const HEADERS_MAX: usize = 100;

/// Headers that say how a request is sent, which is not for the plan to say.
const OWN: [&str; 8] =
    ["host", "content-length", "transfer-encoding", "connection", "range", "if-range", "te", "upgrade"];

/// What is shown instead of a header that may hold a secret.
const HIDDEN: &str = "[hidden]";

/// What is asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: Vec<Header>,
    pub(super) body: Option<Vec<u8>>,
    /// The statuses that are a success; none means all from 200 to 299.
    expect: Vec<u16>,
    pub(super) file: Option<Target>,
}

/// A header as the plan writes it.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) name: HeaderName,
    /// With `${NAME}` where a secret or a variable goes.
    text: String,
}

/// Where a download goes.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) path: String,
    /// The checksum that it must have, in small letters.
    pub(super) sha256: Option<String>,
}

impl Asked {
    /// Reads the arguments, and asks the policy about the address and the file.
    pub(super) fn of(work: &Work, place: &Place) -> Result<Self, Failure> {
        let args = Args::of(work)?;
        let known: &[&str] = match args.tool() {
            "http.get" => &["url", "headers", "expect"],
            "http.request" => &["method", "url", "headers", "json", "body", "expect"],
            _ => &["url", "path", "headers", "sha256"],
        };
        args.only(known)?;
        let method = match args.text_if_given("method")? {
            None if args.tool() == "http.request" => Method::POST,
            None => Method::GET,
            Some(name) => method(&name).ok_or_else(|| {
                args.wrong("method", "write `GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`")
            })?,
        };
        let mut headers = headers(&args)?;
        let body = body(&args, &mut headers)?;
        if body.is_some() && matches!(method, Method::GET | Method::HEAD) {
            return Err(wrong(format!("a {method} request has no body; use another `method`, or leave the body out")));
        }
        let max = place.limits.file_bytes_max;
        if let Some(bytes) = body.as_ref().map(|body| body.len() as u64).filter(|bytes| *bytes > max) {
            return Err(wrong(format!("the body has {bytes} bytes; at most {max} are sent")));
        }
        let file = if args.tool() == "http.download" { Some(target(&args, place)?) } else { None };
        let url = address::checked(&args.text("url")?, place)?;
        let asked = Self { method, url, headers, body, expect: expect(&args)?, file };
        asked.headers.iter().try_for_each(|header| header.value(place).map(drop))?;
        Ok(asked)
    }

    /// Whether asking twice does no more than asking once.
    pub(super) fn repeatable(&self) -> bool {
        !matches!(self.method, Method::POST | Method::PATCH)
    }

    /// Whether it may change something at the server.
    pub(super) fn mutates(&self) -> bool {
        !matches!(self.method, Method::GET | Method::HEAD | Method::OPTIONS)
    }

    pub(super) fn expects(&self, status: StatusCode) -> bool {
        if self.expect.is_empty() { status.is_success() } else { self.expect.contains(&status.as_u16()) }
    }

    /// The headers as they are sent. What may hold a secret goes to the host that the plan names, and to no other.
    pub(super) fn sent_headers(&self, to: &Url, place: &Place) -> Result<HeaderMap, Failure> {
        let mut sent = HeaderMap::new();
        let same = to.origin() == self.url.origin();
        for header in self.headers.iter().filter(|header| same || !header.is_secret()) {
            sent.append(header.name.clone(), header.value(place)?);
        }
        if !sent.contains_key(ACCEPT) {
            sent.insert(ACCEPT, HeaderValue::from_static("*/*"));
        }
        Ok(sent)
    }

    /// What goes into the record: everything but what may be a secret, and the body by its hash.
    pub(super) fn recorded(&self) -> Value {
        let mut headers = Map::new();
        for header in &self.headers {
            headers.insert(header.name.to_string(), json!(header.shown()));
        }
        let body = self.body.as_ref().map(|body| {
            let hash = blake3::hash(body).to_hex();
            json!({"bytes": body.len(), "hash": hash.as_str()})
        });
        json!({
            "method": self.method.as_str(), "url": self.url.as_str(), "headers": headers, "body": body,
            "path": self.file.as_ref().map(|file| &file.path),
        })
    }

    /// What tells a server that this request is the same as another one: the same work, asking for the same. One attempt
    /// may send several that differ.
    pub(super) fn key(&self, work: &Work) -> String {
        let whole = json!([work.key, self.recorded()]).to_string();
        blake3::hash(whole.as_bytes()).to_hex()[..32].to_owned()
    }

    /// What is taken as a success, in words.
    pub(super) fn expected(&self) -> String {
        let statuses: Vec<String> = self.expect.iter().map(u16::to_string).collect();
        if statuses.is_empty() { "200 to 299".to_owned() } else { statuses.join(" or ") }
    }
}

impl Header {
    /// What is sent, with secrets and variables in their places.
    fn value(&self, place: &Place) -> Result<HeaderValue, Failure> {
        let mut value = HeaderValue::from_str(&self.filled(place)?)
            .map_err(|_| wrong(format!("the header `{}` holds what no header can: a line end, say", self.name)))?;
        value.set_sensitive(self.is_secret());
        Ok(value)
    }

    fn filled(&self, place: &Place) -> Result<String, Failure> {
        let (mut filled, mut rest) = (String::new(), self.text.as_str());
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, tail)) = after.split_once('}') else { break };
            let secret = place.secrets.values().find(|(known, _)| *known == name).map(|(_, value)| value);
            let value = secret.or_else(|| place.environment.get(name).map(String::as_str)).ok_or_else(|| {
                forbidden(format!(
                    "the header `{}` needs `{name}`, which nobody has given; give it to the plan with `--secret {name}`",
                    self.name
                ))
            })?;
            filled += before;
            filled += value;
            rest = tail;
        }
        Ok(filled + rest)
    }

    /// Whether it may hold a secret, by its name or because one is named in it.
    pub(super) fn is_secret(&self) -> bool {
        let name = self.name.as_str();
        let words = ["auth", "cookie", "token", "secret", "password", "api-key", "apikey", "signature"];
        self.text.contains("${") || words.iter().any(|word| name.contains(word))
    }

    /// What people see of it.
    pub(super) fn shown(&self) -> &str {
        // The name of a secret is not the secret.
        if self.is_secret() && !self.text.contains("${") { HIDDEN } else { &self.text }
    }
}

fn method(name: &str) -> Option<Method> {
    let name = name.to_ascii_uppercase();
    let known = matches!(name.as_str(), "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS");
    Method::from_bytes(name.as_bytes()).ok().filter(|_| known)
}

fn headers(args: &Args<'_>) -> Result<Vec<Header>, Failure> {
    let given = match args.get("headers") {
        None => return Ok(Vec::new()),
        Some(Value::Object(given)) if given.len() <= HEADERS_MAX => given,
        Some(Value::Object(given)) => {
            return Err(args.wrong("headers", &format!("there are {}; at most {HEADERS_MAX} are sent", given.len())));
        }
        Some(_) => return Err(args.wrong("headers", "names with values are needed: `{accept: text/html}`")),
    };
    let mut headers = Vec::new();
    for (name, value) in given {
        let refuse = |why: &str| args.wrong(&format!("headers.{}", name.escape_debug()), why);
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return Err(refuse("a text is needed")),
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse("this is no name of a header"))?;
        if OWN.contains(&name.as_str()) {
            return Err(refuse("it is set by whoever sends the request; leave it out"));
        }
        headers.push(Header { name, text });
    }
    Ok(headers)
}

/// The body; says with a header what it is, unless the plan does.
fn body(args: &Args<'_>, headers: &mut Vec<Header>) -> Result<Option<Vec<u8>>, Failure> {
    let (body, kind) = match (args.get("json"), args.text_if_given("body")?) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err(wrong(format!("`{}` takes `json` or `body`, not both", args.tool()))),
        (Some(value), None) => (value.to_string().into_bytes(), "application/json"),
        (None, Some(text)) => (text.into_bytes(), "text/plain; charset=utf-8"),
    };
    if headers.iter().all(|header| header.name != CONTENT_TYPE) {
        headers.push(Header { name: CONTENT_TYPE, text: kind.to_owned() });
    }
    Ok(Some(body))
}

fn expect(args: &Args<'_>) -> Result<Vec<u16>, Failure> {
    let status = |value: &Value| value.as_u64().and_then(|n| u16::try_from(n).ok()).filter(|n| (100..600).contains(n));
    let statuses = match args.get("expect") {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(status).collect::<Option<Vec<u16>>>(),
        Some(value) => status(value).map(|status| vec![status]),
    };
    statuses.ok_or_else(|| args.wrong("expect", "a status such as `201` is needed, or a list of these"))
}

fn target(args: &Args<'_>, place: &Place) -> Result<Target, Failure> {
    let path = args.path("path")?;
    place.may_write(&path)?;
    let sha256 = args.text_if_given("sha256")?.map(|text| text.trim().to_ascii_lowercase());
    if sha256.as_ref().is_some_and(|sum| sum.len() != 64 || !sum.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return Err(args.wrong("sha256", "a checksum of 64 letters and digits is needed, as `sha256sum` prints it"));
    }
    Ok(Target { path, sha256 })
}
