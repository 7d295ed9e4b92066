//! The rules, read once from `data/screen.yaml`.

use crate::phrase::Phrase;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// All rules, ready for use.
pub(crate) struct Rules {
    pub harmless: Vec<Phrase>,
    pub breaks: Vec<Phrase>,
    pub wishers: BTreeSet<String>,
    pub frames: BTreeMap<String, Frame>,
    pub words: WordSets,
    pub limits: Limits,
    pub shapes: BTreeMap<String, Message>,
    pub refuse: Vec<Rule>,
    pub unusable: Vec<Rule>,
    pub care: Vec<Rule>,
}

/// One rule: what it looks for, and what it tells the user.
pub(crate) struct Rule {
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name rules by it"))]
    pub id: String,
    pub category: String,
    pub severity: u8,
    pub reason: String,
    pub hint: String,
    pub safeguards: Vec<String>,
    pub say: Vec<Phrase>,
    pub pair: Option<Pair>,
    pub korean: Option<Pair>,
    pub with: Vec<Phrase>,
    pub near: Near,
    pub unless: Vec<String>,
    pub but: Vec<Phrase>,
    pub words_max: Option<usize>,
}

/// A verb and what it is done to, with few words between.
pub(crate) struct Pair {
    pub first: Vec<Phrase>,
    pub second: Vec<Phrase>,
    pub gap: usize,
}

/// A frame in which alarming words are harmless.
pub(crate) struct Frame {
    pub at_verb: Vec<Phrase>,
    pub close: Vec<Phrase>,
    pub before: Vec<Phrase>,
    pub between: Vec<Phrase>,
    pub after: Vec<Phrase>,
    pub sentence: Vec<Phrase>,
    pub text: Option<Pair>,
}

/// How far from the match the words of `with` may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Near {
    #[default]
    Sentence,
    Text,
}

/// Sets of single words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordSets {
    pub stop: BTreeSet<String>,
    pub greeting: BTreeSet<String>,
    pub empty: BTreeSet<String>,
    pub own: BTreeSet<String>,
    pub placeholder: BTreeSet<String>,
    pub goal_label: BTreeSet<String>,
    pub request: BTreeSet<String>,
    pub keys: Vec<String>,
}

/// Limits that the checks of shape keep.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    pub details_min: usize,
    pub bytes_max: usize,
}

/// What the user is told about a shape of text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    pub severity: u8,
    pub reason: String,
    pub hint: String,
}

/// How many words may stand between the halves of a Korean pair.
const KOREAN_GAP: usize = 3;

/// How many words may stand between the halves of a pair that names no gap.
const GAP: usize = 4;

static RULES: LazyLock<Rules> =
    LazyLock::new(|| read(include_str!("../../data/screen.yaml")).expect("a test reads the embedded rules"));

/// Returns the rules of this build.
pub(crate) fn rules() -> &'static Rules {
    &RULES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lists: BTreeMap<String, Vec<String>>,
    harmless: Vec<String>,
    breaks: Vec<String>,
    wishers: BTreeSet<String>,
    frames: BTreeMap<String, FrameText>,
    words: WordSets,
    limits: Limits,
    shapes: BTreeMap<String, Message>,
    unusable: Vec<RuleText>,
    refuse: Vec<RuleText>,
    care: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    id: String,
    category: Option<String>,
    severity: u8,
    reason: String,
    #[serde(default)]
    hint: String,
    #[serde(default)]
    safeguards: Vec<String>,
    #[serde(default)]
    say: Vec<String>,
    #[serde(default)]
    verb: Vec<String>,
    #[serde(default)]
    target: Vec<String>,
    gap: Option<usize>,
    korean: Option<PairText>,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    near: Near,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    but: Vec<String>,
    words_max: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairText {
    verb: Vec<String>,
    target: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrameText {
    #[serde(default)]
    at_verb: Vec<String>,
    #[serde(default)]
    close: Vec<String>,
    #[serde(default)]
    before: Vec<String>,
    #[serde(default)]
    between: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
    #[serde(default)]
    sentence: Vec<String>,
    #[serde(default)]
    korean: Vec<String>,
    text: Option<PairText>,
}

/// Reads rules; the error says what is wrong with them.
pub(crate) fn read(yaml: &str) -> Result<Rules, String> {
    let file: File = serde_saphyr::from_str(yaml).map_err(|error| error.to_string())?;
    let lists = Lists(file.lists);
    let mut frames = BTreeMap::new();
    for (name, frame) in file.frames {
        frames.insert(name, frame.ready(&lists)?);
    }
    let ready =
        |rules: Vec<RuleText>| rules.into_iter().map(|rule| rule.ready(&lists, &frames)).collect::<Result<_, _>>();
    Ok(Rules {
        harmless: lists.phrases(&file.harmless)?,
        breaks: lists.phrases(&file.breaks)?,
        wishers: file.wishers,
        words: file.words,
        limits: file.limits,
        shapes: file.shapes,
        refuse: ready(file.refuse)?,
        unusable: ready(file.unusable)?,
        care: ready(file.care)?,
        frames,
    })
}

/// The named lists, which may name each other.
struct Lists(BTreeMap<String, Vec<String>>);

impl Lists {
    fn phrases(&self, texts: &[String]) -> Result<Vec<Phrase>, String> {
        let mut all = Vec::new();
        for text in texts {
            match text.strip_prefix('$') {
                Some(name) => {
                    let list = self.0.get(name).ok_or_else(|| format!("no list is called `{name}`"))?;
                    all.extend(self.phrases(list)?);
                }
                None => all.push(Phrase::new(text)),
            }
        }
        Ok(all)
    }
}

impl FrameText {
    fn ready(self, lists: &Lists) -> Result<Frame, String> {
        let mut sentence = lists.phrases(&self.sentence)?;
        sentence.extend(lists.phrases(&self.korean)?);
        let text = match self.text {
            Some(pair) => {
                Some(Pair { first: lists.phrases(&pair.verb)?, second: lists.phrases(&pair.target)?, gap: GAP })
            }
            None => None,
        };
        Ok(Frame {
            at_verb: lists.phrases(&self.at_verb)?,
            close: lists.phrases(&self.close)?,
            before: lists.phrases(&self.before)?,
            between: lists.phrases(&self.between)?,
            after: lists.phrases(&self.after)?,
            sentence,
            text,
        })
    }
}

impl RuleText {
    fn ready(self, lists: &Lists, frames: &BTreeMap<String, Frame>) -> Result<Rule, String> {
        if let Some(unknown) = self.unless.iter().find(|name| !frames.contains_key(*name)) {
            return Err(format!("rule `{}` names the frame `{unknown}`, which does not exist", self.id));
        }
        if self.verb.is_empty() != self.target.is_empty() {
            return Err(format!("rule `{}` has a verb without a target or the other way round", self.id));
        }
        let halves = Pair {
            first: lists.phrases(&self.verb)?,
            second: lists.phrases(&self.target)?,
            gap: self.gap.unwrap_or(GAP),
        };
        let pair = (!self.verb.is_empty()).then_some(halves);
        let korean = match self.korean {
            Some(pair) => {
                Some(Pair { first: lists.phrases(&pair.target)?, second: lists.phrases(&pair.verb)?, gap: KOREAN_GAP })
            }
            None => None,
        };
        Ok(Rule {
            category: self.category.unwrap_or_else(|| self.id.clone()),
            id: self.id,
            severity: self.severity,
            reason: self.reason,
            hint: self.hint,
            safeguards: self.safeguards,
            say: lists.phrases(&self.say)?,
            pair,
            korean,
            with: lists.phrases(&self.with)?,
            near: self.near,
            unless: self.unless,
            but: lists.phrases(&self.but)?,
            words_max: self.words_max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_rules_are_sound() {
        let rules = read(include_str!("../../data/screen.yaml")).expect("the rules can be read");
        let mut ids = BTreeSet::new();
        for rule in rules.refuse.iter().chain(&rules.unusable).chain(&rules.care) {
            assert!(ids.insert(&rule.id), "`{}` occurs twice", rule.id);
            assert!((1..=5).contains(&rule.severity), "`{}` has severity {}", rule.id, rule.severity);
            assert!(rule.reason.ends_with('.') && !rule.reason.contains(". "), "`{}` needs one sentence", rule.id);
            assert!(!rule.say.is_empty() || rule.pair.is_some(), "`{}` can never fire", rule.id);
            assert!(rule.korean.is_none() || rule.with.is_empty(), "`{}` would need Korean words in `with`", rule.id);
        }
        for rule in rules.refuse.iter().chain(&rules.unusable) {
            assert!(rule.hint.ends_with('.') && rule.safeguards.is_empty(), "`{}` needs a hint", rule.id);
        }
        for rule in &rules.care {
            assert!(rule.safeguards.len() >= 2 && rule.hint.is_empty(), "`{}` needs safeguards", rule.id);
            assert!(rule.severity <= 3, "`{}` is too severe to be allowed", rule.id);
        }
        for name in [
            "greeting",
            "empty",
            "too_long",
            "symbols",
            "noise",
            "repeated",
            "placeholder",
            "code",
            "payload",
            "form",
            "thin",
        ] {
            assert!(rules.shapes.contains_key(name), "no message for the shape `{name}`");
        }
    }

    #[test]
    fn a_rule_that_names_what_does_not_exist_is_an_error() {
        let yaml = include_str!("../../data/screen.yaml");
        let error = |from: &str, to: &str| read(&yaml.replacen(from, to, 1)).err().unwrap_or_default();
        assert!(error("\"$groups\"]", "\"$nobody\"]").contains("no list is called `nobody`"));
        assert!(error("unless: [protective, fiction]", "unless: [magic]").contains("names the frame `magic`"));
    }
}
