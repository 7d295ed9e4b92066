//! How prompts fare: uses, tokens, time and success by variant, derived from the calls that were recorded.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::record::Call;

/// What of a score is success, few tokens, and speed.
const WEIGHTS: (f64, f64, f64) = (0.7, 0.2, 0.1);

/// The name of the text as it stands, where a name is needed.
const BASE: &str = "base";

/// How prompts fare.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PromptMetrics {
    /// By prompt, language and variant.
    pub prompts: BTreeMap<String, BTreeMap<String, BTreeMap<String, VariantMetrics>>>,
}

/// How one variant fares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VariantMetrics {
    /// How often it was used.
    pub uses: u64,
    /// How often an answer came that holds, and not from the offline model instead of the one that was asked.
    pub successes: u64,
    /// What all uses took.
    pub tokens: u64,
    /// How long all uses took.
    pub duration_ms: u64,
}

impl VariantMetrics {
    /// The share of uses that succeeded.
    pub fn success_rate(&self) -> f64 {
        ratio(self.successes, self.uses)
    }

    /// Tokens per use.
    pub fn tokens_mean(&self) -> f64 {
        ratio(self.tokens, self.uses)
    }

    /// Time per use.
    pub fn duration_ms_mean(&self) -> f64 {
        ratio(self.duration_ms, self.uses)
    }
}

/// How good a variant is, compared with the others of its prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The variant; `base` is the text as it stands.
    pub variant: String,
    /// From 0 to 1: 0.7 of success, 0.2 of few tokens and 0.1 of speed, the latter two compared with the best.
    pub score: f64,
    /// What it is made of.
    pub metrics: VariantMetrics,
}

impl PromptMetrics {
    /// How the prompts of these calls fare. A call that comes from no prompt is not counted.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Self {
        let mut metrics = Self::default();
        for call in calls {
            metrics.count(call);
        }
        metrics
    }

    /// Counts one more call.
    pub fn count(&mut self, call: &Call) {
        let Some(prompt) = &call.request.prompt else { return };
        let locales = self.prompts.entry(prompt.name.clone()).or_default();
        let variants = locales.entry(prompt.locale.clone()).or_default();
        let variant = variants.entry(prompt.variant.clone().unwrap_or_else(|| BASE.to_owned())).or_default();
        variant.uses += 1;
        if let Some(answer) = &call.answer {
            let stood_in = answer.fallback.is_some() && answer.is_offline();
            variant.successes += u64::from(!stood_in);
        }
        // What came to nothing was paid for as well.
        variant.tokens = variant.tokens.saturating_add(call.tokens.all());
        let taken = call.ended_at.as_ms().saturating_sub(call.started_at.as_ms());
        variant.duration_ms = variant.duration_ms.saturating_add(u64::try_from(taken).unwrap_or(0));
    }

    /// The variants of a prompt, best first; ties in the order of their names.
    pub fn scores(&self, name: &str, locale: &str) -> Vec<Score> {
        let Some(variants) = self.prompts.get(name).and_then(|locales| locales.get(locale)) else {
            return Vec::new();
        };
        // A variant that never succeeds is no measure for the others, however little it takes.
        let measures = || variants.values().filter(|metrics| metrics.successes > 0);
        let least = |mean: fn(&VariantMetrics) -> f64| measures().map(mean).fold(f64::INFINITY, f64::min);
        let (tokens, duration) = (least(VariantMetrics::tokens_mean), least(VariantMetrics::duration_ms_mean));
        // The best has 1, one that takes twice as much has 0.5.
        let compared = |best: f64, own: f64| if own > best { best / own } else { 1.0 };
        let mut scores: Vec<Score> = (variants.iter())
            .map(|(variant, metrics)| Score {
                variant: variant.clone(),
                score: rounded(
                    WEIGHTS.0 * metrics.success_rate()
                        + WEIGHTS.1 * compared(tokens, metrics.tokens_mean())
                        + WEIGHTS.2 * compared(duration, metrics.duration_ms_mean()),
                ),
                metrics: *metrics,
            })
            .collect();
        scores.sort_by(|left, right| right.score.total_cmp(&left.score));
        scores
    }

    /// The best variant of a prompt.
    pub fn best(&self, name: &str, locale: &str) -> Option<Score> {
        self.scores(name, locale).into_iter().next()
    }

    /// Everything, for programs.
    pub fn to_json(&self) -> serde_json::Value {
        let mut prompts = serde_json::Map::new();
        for (name, locales) in &self.prompts {
            let scores = locales.keys().map(|locale| (locale.clone(), serde_json::json!(self.scores(name, locale))));
            prompts.insert(name.clone(), serde_json::Value::Object(scores.collect()));
        }
        serde_json::json!({ "prompts": prompts })
    }
}

/// Four places: what lies beyond is noise.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

#[expect(clippy::cast_precision_loss, reason = "counts and sums of calls are far below 2^53")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
