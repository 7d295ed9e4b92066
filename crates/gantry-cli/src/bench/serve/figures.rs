//! What was measured, for people and for programs.

use serde_json::{Map, Value, json};

/// What was measured; none where it was not asked for.
#[derive(Default)]
pub struct Figures {
    pub clients: usize,
    pub plans: usize,
    pub live: Option<Live>,
    pub paced: Option<Speed>,
    pub chain: Option<Speed>,
    pub answers: Option<Answers>,
}

/// What watching is like.
pub struct Live {
    pub connected_ms: f64,
    /// The memory of a client that waits, and of one that gets events.
    pub kb_idle: f64,
    pub kb_busy: f64,
    pub events_per_s: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Events that came twice or never, of all clients that looked.
    pub wrong: u64,
}

/// How fast a plan goes.
pub struct Speed {
    pub alone_s: f64,
    pub watched_s: f64,
}

impl Speed {
    /// How much longer it takes with watchers, in percent.
    fn slower(&self) -> f64 {
        (self.watched_s / self.alone_s - 1.0) * 100.0
    }
}

/// How many requests are answered.
pub struct Answers {
    pub list_per_s: f64,
    pub detail_per_s: f64,
}

impl Figures {
    pub fn to_json(&self) -> Value {
        let rounded = |figure: f64| json!((figure * 100.0).round() / 100.0);
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| drop(object.insert(name.to_owned(), value));
        if let Some(live) = &self.live {
            put("clients", json!(self.clients));
            put("connected_ms", rounded(live.connected_ms));
            put("events_per_s", rounded(live.events_per_s));
            put("delivery_p50_ms", rounded(live.p50_ms));
            put("delivery_p99_ms", rounded(live.p99_ms));
            put("lost_or_twice", json!(live.wrong));
            put("idle_kb_per_client", rounded(live.kb_idle));
            put("busy_kb_per_client", rounded(live.kb_busy));
        }
        for (name, speed) in [("paced", &self.paced), ("chain", &self.chain)] {
            if let Some(speed) = speed {
                put(&format!("{name}_alone_s"), rounded(speed.alone_s));
                put(&format!("{name}_watched_s"), rounded(speed.watched_s));
                put(&format!("{name}_slower_percent"), rounded(speed.slower()));
            }
        }
        if let Some(answers) = &self.answers {
            put("plans", json!(self.plans));
            put("list_per_s", rounded(answers.list_per_s));
            put("detail_per_s", rounded(answers.detail_per_s));
        }
        Value::Object(object)
    }

    pub fn to_text(&self) -> String {
        let row = |name: &str, figure: String, beside: String| format!("{name:<38} {figure:>16} {beside:>28}\n");
        let mut text = String::new();
        if let Some(live) = &self.live {
            let clients = format!("{} clients", self.clients);
            text += &row("events of one plan", format!("{:.0} /s", live.events_per_s), clients);
            text += &row(
                "from decision to client, 99 of 100",
                format!("{:.0} ms", live.p99_ms),
                format!("half within {:.0} ms", live.p50_ms),
            );
            text += &row("lost or told twice", live.wrong.to_string(), String::new());
            let busy = format!("{:.1} kB while events come", live.kb_busy);
            text += &row("memory of a client", format!("{:.1} kB", live.kb_idle), busy);
        }
        for (name, speed) in [("about 1,000 events a second", &self.paced), ("a chain as fast as it can", &self.chain)]
        {
            if let Some(speed) = speed {
                let beside = format!("{:.2} s alone, {:+.1} %", speed.alone_s, speed.slower());
                text += &row(&format!("watched: {name}"), format!("{:.2} s", speed.watched_s), beside);
            }
        }
        if let Some(answers) = &self.answers {
            let plans = format!("{} plans on record", self.plans);
            text += &row("list of plans", format!("{:.0} /s", answers.list_per_s), plans.clone());
            text += &row("one plan", format!("{:.0} /s", answers.detail_per_s), plans);
        }
        text
    }
}
