//! What the environment and the command line say.

use std::ops::RangeInclusive;

use gantry_core::suggest::nearest;

use super::error::{ConfigError, ConfigFault};
use super::layer::{KOREAN_RETRIES, LOCALES, Layer, ProviderLayer, WORKERS};
use super::origin::{Origin, Sourced};
use super::roles::{ROLES, variable_of};
use super::section::{listed, short};
use super::surroundings::Surroundings;
use crate::target::Protocol;

/// Words for yes, in any case.
const TRUE: [&str; 4] = ["1", "true", "yes", "on"];
/// Words for no, in any case.
const FALSE: [&str; 4] = ["0", "false", "no", "off"];

/// The variables that name a model of a team's role, beside `GANTRY_MODEL_…`.
const TEAM_MODELS: [(&str, &str); 5] = [
    ("VDOS_PLANNER_PROJECT_MODEL", "team.project"),
    ("VDOS_PLANNER_DAILY_MODEL", "team.daily"),
    ("VDOS_PLANNER_HOURLY_MODEL", "team.hourly"),
    ("VDOS_PLANNER_DAILY_REPORT_MODEL", "team.daily_report"),
    ("VDOS_PLANNER_SIM_REPORT_MODEL", "team.report"),
];

/// The variable for the address of a server that is asked for breaking tasks down and for nothing else.
pub const OWN_SERVER: &str = "DECOMP_API_URL";
/// What such a server is called as a provider.
pub const OWN_PROVIDER: &str = "decomp";
/// The variable for its key.
const OWN_KEY: &str = "DECOMP_API_KEY";

/// Before the name of a role.
const MODEL_PREFIX: &str = "GANTRY_MODEL_";

/// Reads variables, and notes what is wrong with them.
struct Variables<'a> {
    around: &'a Surroundings,
    faults: ConfigError,
}

/// What the environment says. An empty variable says nothing.
pub(super) fn environment(around: &Surroundings, own_roles: &[String]) -> (Layer, Vec<ConfigFault>) {
    let mut variables = Variables { around, faults: ConfigError::default() };
    let mut layer = Layer {
        profile: variables.text("GANTRY_PROFILE"),
        strict: variables.flag("GANTRY_STRICT"),
        locale: variables.word("GANTRY_LOCALE", &LOCALES),
        agent_planning: variables.flag("GANTRY_AGENT_PLANNING"),
        local_servers: variables.flag("GANTRY_LOCAL_SERVERS"),
        prompts: variables.text("GANTRY_PROMPTS"),
        planning_workers: variables.number("VDOS_MAX_PLANNING_WORKERS", WORKERS),
        korean_retries: variables.number("VDOS_KOREAN_VALIDATION_RETRIES", KOREAN_RETRIES),
        template_prompts: variables.flag("VDOS_USE_TEMPLATE_PROMPTS"),
        ..Layer::default()
    };
    // Each is read, even where another one counts more: a mistake in it is a mistake.
    let fast = variables.flag("FAST_BUT_SKIP_DETAILS").filter(|fast| fast.value);
    let strict = variables.flag("VDOS_PLANNER_STRICT");
    let locale = variables.word("VDOS_LOCALE", &LOCALES);
    layer.profile = layer.profile.or_else(|| fast.map(|fast| Sourced::new("fast".to_owned(), fast.origin)));
    layer.strict = layer.strict.or(strict);
    layer.locale = layer.locale.or(locale);
    for (name, role) in TEAM_MODELS {
        if let Some(models) = variables.models(name) {
            layer.roles.insert(role.to_owned(), models);
        }
    }
    variables.models_by_role(own_roles, &mut layer);
    layer.providers.extend(variables.own_server().map(|provider| (OWN_PROVIDER.to_owned(), provider)));
    (layer, variables.faults.faults)
}

/// What the command line says.
pub(super) fn flags(around: &Surroundings, own_roles: &[String]) -> (Layer, Vec<ConfigFault>) {
    let flags = &around.flags;
    let mut faults = ConfigError::default();
    let flag = |name: &str| Origin::Flag(name.to_owned());
    let mut layer = Layer {
        profile: flags.profile.clone().map(|profile| Sourced::new(profile, flag("--profile"))),
        strict: flags.strict.then(|| Sourced::new(true, flag("--strict"))),
        locale: flags.locale.clone().map(|locale| Sourced::new(locale, flag("--locale"))),
        ..Layer::default()
    };
    if let Some(locale) = layer.locale.as_ref().filter(|locale| LOCALES.iter().all(|(known, _)| *known != locale.value))
    {
        let words: Vec<&str> = LOCALES.iter().map(|(word, _)| *word).collect();
        let fault = ConfigFault::new(format!("there are no prompts in `{}`", short(&locale.value)));
        faults.push(fault.at(&locale.origin).hint(format!("there are prompts in {}", listed(&words))));
    }
    for (role, models) in &flags.models {
        let origin = flag("--model");
        if is_role(role, own_roles) {
            layer.roles.insert(role.clone(), Sourced::new(split(models), origin));
        } else {
            faults.push(unknown_role(role, own_roles).at(&origin));
        }
    }
    (layer, faults.faults)
}

fn is_role(role: &str, own_roles: &[String]) -> bool {
    ROLES.contains(&role) || own_roles.iter().any(|own| own == role)
}

/// Nobody has heard of this role.
pub(super) fn unknown_role(role: &str, own_roles: &[String]) -> ConfigFault {
    let known: Vec<&str> = ROLES.into_iter().chain(own_roles.iter().map(String::as_str)).collect();
    let fault = ConfigFault::new(format!("there is no role `{}`", short(role)));
    fault.hint(match nearest(role, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("roles are {}", listed(&known)),
    })
}

fn split(models: &str) -> Vec<String> {
    models.split(',').map(str::trim).filter(|model| !model.is_empty()).map(str::to_owned).collect()
}

impl Variables<'_> {
    fn text(&mut self, name: &str) -> Option<Sourced<String>> {
        let origin = Origin::Variable(name.to_owned());
        if self.around.unreadable.contains(name) {
            self.faults.push(ConfigFault::new("the value of the variable is not text").at(&origin));
            return None;
        }
        let value = self.around.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())?;
        Some(Sourced::new(value.to_owned(), origin))
    }

    fn wrong<T>(&mut self, text: &Sourced<String>, what: &str) -> Option<T> {
        let fault = ConfigFault::new(format!("the value `{}` must {what}", short(&text.value))).at(&text.origin);
        self.faults.push(fault.hint(format!("set {} to such a value, or unset it", text.origin)));
        None
    }

    fn flag(&mut self, name: &str) -> Option<Sourced<bool>> {
        let text = self.text(name)?;
        let word = text.value.to_ascii_lowercase();
        match (TRUE.contains(&word.as_str()), FALSE.contains(&word.as_str())) {
            (true, _) => Some(Sourced::new(true, text.origin)),
            (_, true) => Some(Sourced::new(false, text.origin)),
            _ => self.wrong(&text, &format!("be one of {}, or {}", TRUE.join(", "), FALSE.join(", "))),
        }
    }

    fn number(&mut self, name: &str, range: RangeInclusive<u32>) -> Option<Sourced<u32>> {
        let text = self.text(name)?;
        match text.value.parse::<u32>().ok().filter(|number| range.contains(number)) {
            Some(number) => Some(Sourced::new(number, text.origin)),
            None => self.wrong(&text, &format!("be a whole number from {} to {}", range.start(), range.end())),
        }
    }

    fn word(&mut self, name: &str, words: &[(&str, &str)]) -> Option<Sourced<String>> {
        let text = self.text(name)?;
        match words.iter().find(|(word, _)| *word == text.value) {
            Some((word, _)) => Some(Sourced::new((*word).to_owned(), text.origin)),
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                self.wrong(&text, &format!("be one of {}", known.join(", ")))
            }
        }
    }

    /// One model, or several with commas between them.
    fn models(&mut self, name: &str) -> Option<Sourced<Vec<String>>> {
        let text = self.text(name)?;
        match split(&text.value) {
            models if models.is_empty() => self.wrong(&text, "name a model"),
            models => Some(Sourced::new(models, text.origin)),
        }
    }

    /// The server that is asked for breaking tasks down, where that is another one.
    fn own_server(&mut self) -> Option<ProviderLayer> {
        let key = self.text(OWN_KEY);
        let Some(mut url) = self.text(OWN_SERVER) else {
            if let Some(key) = key {
                let fault = ConfigFault::new("nothing says whose key this is").at(&key.origin);
                let hint =
                    format!("set {OWN_SERVER} to the address of its server, or the variable of the provider instead");
                self.faults.push(fault.hint(hint));
            }
            return None;
        };
        // The whole address of the call says where the server is, too.
        let base = url.value.trim_end_matches('/').trim_end_matches("/chat/completions");
        url.value = format!("{base}/");
        let protocol = match self.text("DECOMP_PROVIDER").map(|provider| provider.value.to_ascii_lowercase()).as_deref()
        {
            Some("anthropic") => Protocol::Anthropic,
            Some("gemini" | "google") => Protocol::Gemini,
            _ => Protocol::OpenaiChat,
        };
        let origin = url.origin.clone();
        Some(ProviderLayer {
            said: Some(origin.clone()),
            protocol: Some(Sourced::new(protocol, origin.clone())),
            base_url: Some(url),
            key_env: key.map(|_| Sourced::new(vec![OWN_KEY.to_owned()], origin)),
            ..ProviderLayer::default()
        })
    }

    /// `GANTRY_MODEL_PLANNER`, `GANTRY_MODEL_TEAM_DAILY`, and so on.
    fn models_by_role(&mut self, own_roles: &[String], layer: &mut Layer) {
        let roles: Vec<&str> = ROLES.into_iter().chain(own_roles.iter().map(String::as_str)).collect();
        let around = self.around;
        for name in around.variables.keys().chain(&around.unreadable).filter(|name| name.starts_with(MODEL_PREFIX)) {
            if let Some(role) = roles.iter().find(|role| variable_of(role) == *name) {
                if let Some(models) = self.models(name) {
                    layer.roles.insert((*role).to_owned(), models);
                }
                continue;
            }
            let known: Vec<String> = roles.iter().map(|role| variable_of(role)).collect();
            let fault = ConfigFault::new("no role has this name").at(&Origin::Variable(name.clone()));
            self.faults.push(fault.hint(match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("roles are {}", listed(&roles)),
            }));
        }
    }
}
