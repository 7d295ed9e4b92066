//! What one source says: a file, the environment, the command line, or this program itself.
//!
//! Layers are laid over each other in the order of growing force. A value of a stronger one replaces that of a weaker
//! one, value by value: whoever sets a timeout of a provider keeps its address.

use std::collections::BTreeMap;
use std::time::Duration;

use super::error::ConfigFault;
use super::origin::{Origin, Sourced, Whose};
use super::section::{Entry, Section, Source};
use crate::target::{Price, Protocol, Secret};

/// What one source says.
#[derive(Clone, Default)]
pub(super) struct Layer {
    pub(super) profile: Option<Sourced<String>>,
    pub(super) strict: Option<Sourced<bool>>,
    pub(super) locale: Option<Sourced<String>>,
    pub(super) agent_planning: Option<Sourced<bool>>,
    pub(super) local_servers: Option<Sourced<bool>>,
    pub(super) prompts: Option<Sourced<String>>,
    pub(super) trusted: Option<Sourced<Vec<String>>>,
    pub(super) planning_workers: Option<Sourced<u32>>,
    pub(super) korean_retries: Option<Sourced<u32>>,
    pub(super) template_prompts: Option<Sourced<bool>>,
    pub(super) providers: BTreeMap<String, ProviderLayer>,
    pub(super) models: BTreeMap<String, ModelLayer>,
    pub(super) profiles: BTreeMap<String, Roles>,
    /// Models by role, whatever the profile.
    pub(super) roles: Roles,
    pub(super) mcp: BTreeMap<String, McpLayer>,
}

/// Models by role.
pub(super) type Roles = BTreeMap<String, Sourced<Vec<String>>>;

/// What one source says about a provider.
#[derive(Clone, Default)]
pub(super) struct ProviderLayer {
    pub(super) said: Option<Origin>,
    pub(super) protocol: Option<Sourced<Protocol>>,
    pub(super) base_url: Option<Sourced<String>>,
    pub(super) key_env: Option<Sourced<Vec<String>>>,
    pub(super) key: Option<Sourced<Secret>>,
    pub(super) requests_per_minute: Option<Sourced<u32>>,
    pub(super) tokens_per_minute: Option<Sourced<u32>>,
    pub(super) concurrent: Option<Sourced<u32>>,
    pub(super) timeout: Option<Sourced<Duration>>,
    pub(super) silence: Option<Sourced<Duration>>,
    pub(super) retries: Option<Sourced<u32>>,
    pub(super) price: Option<Sourced<Price>>,
    pub(super) schemas: Option<Sourced<bool>>,
    pub(super) tools: Option<Sourced<bool>>,
    pub(super) keep: Option<Sourced<bool>>,
}

/// What one source says about a model.
#[derive(Clone, Default)]
pub(super) struct ModelLayer {
    pub(super) said: Option<Origin>,
    pub(super) provider: Option<Sourced<String>>,
    pub(super) model: Option<Sourced<String>>,
    pub(super) price: Option<Sourced<Price>>,
    pub(super) schemas: Option<Sourced<bool>>,
    pub(super) tools: Option<Sourced<bool>>,
    pub(super) context: Option<Sourced<u32>>,
}

/// What one source says about an MCP server.
#[derive(Clone, Default)]
pub(super) struct McpLayer {
    pub(super) said: Option<Origin>,
    pub(super) command: Option<Sourced<Vec<String>>>,
    pub(super) url: Option<Sourced<String>>,
    pub(super) env: Option<Sourced<Vec<String>>>,
    pub(super) key_env: Option<Sourced<Vec<String>>>,
    pub(super) tools: Option<Sourced<Vec<String>>>,
    pub(super) safe: Option<Sourced<Vec<String>>>,
    pub(super) timeout: Option<Sourced<Duration>>,
}

/// Takes each named value of the stronger layer where it says something.
macro_rules! lay_over {
    ($weaker:ident, $stronger:ident, $($field:ident),*) => {
        $($weaker.$field = $stronger.$field.or($weaker.$field.take());)*
    };
}

impl Layer {
    /// Lays a stronger layer over this one.
    #[must_use]
    pub(super) fn under(mut self, stronger: Layer) -> Layer {
        lay_over!(self, stronger, profile, strict, locale, agent_planning, local_servers, prompts, trusted);
        lay_over!(self, stronger, planning_workers, korean_retries, template_prompts);
        for (name, over) in stronger.providers {
            let under = self.providers.entry(name).or_default();
            lay_over!(under, over, said, protocol, base_url, key_env, key, requests_per_minute, tokens_per_minute);
            lay_over!(under, over, concurrent, timeout, silence, retries, price, schemas, tools, keep);
        }
        for (name, over) in stronger.models {
            let under = self.models.entry(name).or_default();
            lay_over!(under, over, said, provider, model, price, schemas, tools, context);
        }
        for (name, roles) in stronger.profiles {
            self.profiles.entry(name).or_default().extend(roles);
        }
        self.roles.extend(stronger.roles);
        for (name, over) in stronger.mcp {
            let under = self.mcp.entry(name).or_default();
            if over.command.is_some() || over.url.is_some() {
                // Another server: what was said about the first one does not hold for it.
                *under = McpLayer::default();
            }
            lay_over!(under, over, said, command, url, env, key_env, tools, safe, timeout);
        }
        self
    }
}

/// The words for protocols.
const PROTOCOLS: [(&str, Protocol); 5] = [
    ("openai-responses", Protocol::OpenaiResponses),
    ("openai-chat", Protocol::OpenaiChat),
    ("anthropic", Protocol::Anthropic),
    ("gemini", Protocol::Gemini),
    ("offline", Protocol::Offline),
];

/// The word for a protocol.
pub(super) fn protocol_word(protocol: Protocol) -> &'static str {
    PROTOCOLS.iter().find(|(_, known)| *known == protocol).map_or("", |(word, _)| word)
}

/// The languages that prompts are written in.
pub(super) const LOCALES: [(&str, &str); 2] = [("en", "en"), ("ko", "ko")];
/// How many plans of a team are asked for at once.
pub(super) const WORKERS: std::ops::RangeInclusive<u32> = 1..=64;
/// How often an answer that should be Korean is asked for again.
pub(super) const KOREAN_RETRIES: std::ops::RangeInclusive<u32> = 0..=3;

const MINUTE_MAX: u32 = 1_000_000_000;
const CONCURRENT_MAX: u32 = 4_096;
const RETRIES_MAX: u32 = 10;
const CONTEXT_TOKENS_MAX: u32 = 100_000_000;
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
const TIMEOUT_MAX: Duration = Duration::from_hours(1);

/// Reads a file of this form.
pub(super) fn read(name: &str, text: &str, whose: Option<Whose>) -> (Layer, Vec<ConfigFault>) {
    Source::new(name, text, whose).read(|file| layer(file, whose))
}

/// Reads prices by model; the day that they are from comes first.
pub(super) fn read_prices(name: &str, text: &str) -> ((String, Layer), Vec<ConfigFault>) {
    Source::new(name, text, None).read(|file| {
        let as_of = file.text("as_of").map(|day| day.value).unwrap_or_default();
        let mut layer = Layer::default();
        for (section, entry) in named(file, "prices") {
            let price = section.as_price(&entry);
            layer.models.insert(entry.key, ModelLayer { price, ..ModelLayer::default() });
        }
        (as_of, layer)
    })
}

fn layer(file: &mut Section<'_>, whose: Option<Whose>) -> Layer {
    let mut layer = Layer {
        profile: file.text("profile"),
        strict: file.flag("strict"),
        locale: file.word("locale", &LOCALES).map(|word| Sourced::new(word.value.to_owned(), word.origin)),
        agent_planning: file.flag("agent_planning"),
        local_servers: file.flag("local_servers"),
        prompts: file.text("prompts"),
        trusted: file.texts("trusted"),
        ..Layer::default()
    };
    if let Some(trusted) = layer.trusted.as_ref().filter(|_| whose == Some(Whose::Project)) {
        let fault = ConfigFault::new("the file of a project cannot say whom you trust").at(&trusted.origin);
        file.fault(fault.hint("move the line `trusted = […]` to your own gantry.toml"));
    }
    if let Some(mut team) = file.section("team") {
        layer.planning_workers = team.number("planning_workers", WORKERS);
        layer.korean_retries = team.number("korean_retries", KOREAN_RETRIES);
        layer.template_prompts = team.flag("template_prompts");
        team.end();
    }
    for (section, entry) in named(file, "providers") {
        if let Some(mut provider) = section.as_section(&entry) {
            layer.providers.insert(entry.key.clone(), self::provider(&mut provider, &entry));
            provider.end();
        }
    }
    for (section, entry) in named(file, "models") {
        if let Some(mut model) = section.as_section(&entry) {
            layer.models.insert(entry.key.clone(), self::model(&mut model, &entry));
            model.end();
        }
    }
    for (section, entry) in named(file, "profiles") {
        if let Some(profile) = section.as_section(&entry) {
            let mut roles = Roles::new();
            collect_roles(&profile, "", &mut roles);
            layer.profiles.insert(entry.key, roles);
        }
    }
    for (section, entry) in named(file, "mcp") {
        if let Some(mut server) = section.as_section(&entry) {
            layer.mcp.insert(entry.key.clone(), self::mcp(&mut server, &entry));
            server.end();
        }
    }
    layer
}

/// The entries of a table whose keys are names, each with that table.
fn named<'a>(file: &mut Section<'a>, key: &'static str) -> Vec<(std::rc::Rc<Section<'a>>, Entry<'a>)> {
    let Some(section) = file.section(key).map(std::rc::Rc::new) else { return Vec::new() };
    section.entries().into_iter().map(|entry| (section.clone(), entry)).collect()
}

/// Both `"team.daily" = …` and `team.daily = …` name the role `team.daily`.
fn collect_roles(section: &Section<'_>, before: &str, roles: &mut Roles) {
    for entry in section.entries() {
        let role = format!("{before}{}", entry.key);
        if Section::is_section(&entry) {
            if let Some(inner) = section.as_section(&entry) {
                collect_roles(&inner, &format!("{role}."), roles);
            }
        } else if let Some(models) = section.as_texts(&entry) {
            roles.insert(role, models);
        }
    }
}

fn provider(section: &mut Section<'_>, entry: &Entry<'_>) -> ProviderLayer {
    let layer = ProviderLayer {
        said: Some(entry.origin.clone()),
        protocol: section.word("protocol", &PROTOCOLS),
        base_url: section.text("base_url"),
        key_env: section.texts("key_env"),
        key: section.text("key").map(|key| Sourced::new(Secret::new(key.value), key.origin)),
        requests_per_minute: section.number("requests_per_minute", 1..=MINUTE_MAX),
        tokens_per_minute: section.number("tokens_per_minute", 1..=MINUTE_MAX),
        concurrent: section.number("concurrent", 1..=CONCURRENT_MAX),
        timeout: section.duration("timeout", TIMEOUT_MIN..=TIMEOUT_MAX),
        silence: section.duration("silence", TIMEOUT_MIN..=TIMEOUT_MAX),
        retries: section.number("retries", 0..=RETRIES_MAX),
        price: section.price("price"),
        schemas: section.flag("schemas"),
        tools: section.flag("tools"),
        keep: section.flag("keep"),
    };
    let checked_url = layer.base_url.and_then(|url| match base_url(&entry.path, &url.value) {
        Ok(value) => Some(Sourced::new(value, url.origin)),
        Err(fault) => {
            section.fault(fault.at(&url.origin));
            None
        }
    });
    let key_env = layer.key_env.filter(|names| {
        let fine = names.value.iter().all(|name| is_variable(name));
        if !fine {
            // Not shown: it may be the key itself.
            let fault = ConfigFault::new(format!("`{}.key_env` must be the name of a variable", entry.path));
            section.fault(fault.at(&names.origin).hint("write for example key_env = \"OPENAI_API_KEY\""));
        }
        fine
    });
    ProviderLayer { base_url: checked_url, key_env, ..layer }
}

fn model(section: &mut Section<'_>, entry: &Entry<'_>) -> ModelLayer {
    ModelLayer {
        said: Some(entry.origin.clone()),
        provider: section.text("provider"),
        model: section.text("model"),
        price: section.price("price"),
        schemas: section.flag("schemas"),
        tools: section.flag("tools"),
        context: section.number("context", 1..=CONTEXT_TOKENS_MAX),
    }
}

fn mcp(section: &mut Section<'_>, entry: &Entry<'_>) -> McpLayer {
    McpLayer {
        said: Some(entry.origin.clone()),
        command: section.texts("command"),
        url: section.text("url"),
        env: section.texts("env"),
        key_env: section.texts("key_env"),
        tools: section.texts("tools"),
        safe: section.texts("safe"),
        timeout: section.duration("timeout", TIMEOUT_MIN..=TIMEOUT_MAX),
    }
}

/// Variables of keys are written in capitals, which keys are not: a key in the wrong line is found.
pub(super) fn is_variable(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    name.len() <= 64
        && name.bytes().next().is_some_and(letter)
        && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// An address with a slash at its end.
fn base_url(path: &str, text: &str) -> Result<String, ConfigFault> {
    let text = address_of(&format!("{path}.base_url"), text)?;
    Ok(if text.ends_with('/') { text } else { format!("{text}/") })
}

/// An address. Keys do not belong into it, so it is not shown when it is wrong.
pub(super) fn address_of(path: &str, text: &str) -> Result<String, ConfigFault> {
    let wrong = |what: &str| Err(ConfigFault::new(format!("`{path}` {what}")));
    let Ok(url) = reqwest::Url::parse(text) else {
        return wrong("must be an address, such as \"http://127.0.0.1:8081/v1/\"");
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return wrong("must begin with http:// or https:// and name a host");
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return wrong("must not hold a name, a password or parameters; name the variable of a key with `key_env`");
    }
    Ok(url.to_string())
}
