//! What was measured, for people and for programs.

use serde_json::{Map, Value, json};

use super::super::figures::bound_ms;
use super::calls::{OneByOne, TOGETHER, Together};
use super::plans::Replayed;
use super::recall::Recalled;

/// What was measured; none where it was not asked for.
#[derive(Default)]
pub struct Figures {
    pub calls: Option<OneByOne>,
    pub together: Option<Together>,
    pub recall: Option<Recalled>,
    pub replay: Option<Replayed>,
    pub pipeline_ms: Option<f64>,
}

impl Figures {
    pub fn to_json(&self) -> Value {
        let rounded = |figure: f64| json!((figure * 100.0).round() / 100.0);
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| drop(object.insert(name.to_owned(), value));
        if let Some(calls) = &self.calls {
            put("call_p50_us", rounded(calls.call.p50));
            put("call_p99_us", rounded(calls.call.p99));
            put("bare_p50_us", rounded(calls.bare.p50));
            put("bare_p99_us", rounded(calls.bare.p99));
        }
        if let Some(together) = &self.together {
            put("together_calls", json!(TOGETHER));
            put("together_calls_per_s", rounded(together.per_s));
            put("together_mb", rounded(together.mb));
            put("together_kb_per_call", rounded(kb_per_call(together)));
        }
        if let Some(recall) = &self.recall {
            put("recorded_calls_per_s", rounded(recall.recorded));
            put("recalled_calls_per_s", rounded(recall.at_once));
            put("recalled_one_by_one_per_s", rounded(recall.one_by_one));
        }
        if let Some(replay) = &self.replay {
            put("plan_calls_per_s", rounded(replay.made_per_s));
            put("replayed_calls_per_s", rounded(replay.replayed_per_s));
        }
        if let Some(ms) = self.pipeline_ms {
            put("pipeline_ms", rounded(ms));
            put("pipeline_bound_ms", rounded(bound_ms()));
            put("pipeline_ratio", json!((ms / bound_ms() * 1e3).round() / 1e3));
        }
        Value::Object(object)
    }

    pub fn to_text(&self) -> String {
        let row = |name: &str, figure: String, beside: String| format!("{name:<38} {figure:>16} {beside:>22}\n");
        let micros = |micros: f64| format!("{:.2} ms", micros / 1e3);
        let rate = |rate: f64| format!("{rate:.0} /s");
        let mut text = String::new();
        if let Some(calls) = &self.calls {
            text += &row(
                "one call, half of them within",
                micros(calls.call.p50),
                format!("{} bare", micros(calls.bare.p50)),
            );
            text +=
                &row("one call, 99 of 100 within", micros(calls.call.p99), format!("{} bare", micros(calls.bare.p99)));
        }
        if let Some(together) = &self.together {
            let memory = format!("{:.1} MB, {:.0} kB a call", together.mb, kb_per_call(together));
            text += &row("1,000 calls at once", rate(together.per_s), memory);
        }
        if let Some(recall) = &self.recall {
            text += &row("calls made and recorded", rate(recall.recorded), "64 at once".to_owned());
            text += &row("recorded calls recalled", rate(recall.at_once), "64 at once".to_owned());
            text += &row("recorded calls recalled", rate(recall.one_by_one), "one by one".to_owned());
        }
        if let Some(replay) = &self.replay {
            text += &row("calls of a plan", rate(replay.made_per_s), "16 at once".to_owned());
            text += &row("calls of a plan, decided again", rate(replay.replayed_per_s), String::new());
        }
        if let Some(ms) = self.pipeline_ms {
            let bound = format!("{:.3} x longest path", ms / bound_ms());
            text += &row("pipeline, 61 calls of 50 ms", format!("{ms:.0} ms"), bound);
        }
        text
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn kb_per_call(together: &Together) -> f64 {
    together.mb * 1_024.0 / TOGETHER as f64
}
