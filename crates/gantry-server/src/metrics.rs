//! Figures for Prometheus: requests, streams, plans.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::app::App;
use crate::problem::Problem;

/// Upper ends of the buckets, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];
/// How many different routes, methods and statuses are counted.
const SERIES_MAX: usize = 2_000;
/// The methods that are counted by their names.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

#[derive(Default)]
struct Series {
    count: u64,
    seconds: f64,
    buckets: [u64; BUCKETS.len()],
}

/// What was counted.
#[derive(Default)]
pub struct Metrics(Mutex<BTreeMap<(&'static str, String, u16), Series>>);

impl Metrics {
    /// Counts a request by its route and a method that is known, never by its path: there are as many paths and methods as
    /// clients like.
    pub fn count(&self, method: &str, route: &str, status: u16, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (METHODS.into_iter().find(|known| *known == method).unwrap_or("other"), route.to_owned(), status);
        if all.len() >= SERIES_MAX && !all.contains_key(&key) {
            return;
        }
        let series = all.entry(key).or_default();
        let seconds = took.as_secs_f64();
        series.count += 1;
        series.seconds += seconds;
        for (bucket, upper) in series.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= upper);
        }
    }
}

/// `/metrics`.
pub async fn metrics(State(app): State<App>) -> Result<impl IntoResponse, Problem> {
    let mut text = String::new();
    let plans = gantry_store::all_plans(app.store(), &gantry_store::ListFilter::default()).await?;
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    for plan in &plans {
        *states.entry(plan.card.state.to_string()).or_default() += 1;
    }
    gauge(&mut text, "gantry_up_seconds", "How long the server has been up.", app.started.elapsed().as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "counts of plans and streams are small")]
    {
        gauge(&mut text, "gantry_plans_driven", "Plans that this server works on.", app.foreman.driven() as f64);
        gauge(&mut text, "gantry_live_streams", "Live streams that are open.", app.live.readers() as f64);
    }
    head(&mut text, "gantry_plans", "gauge", "Plans of the record by state.");
    for (state, count) in states {
        let _ = writeln!(text, "gantry_plans{{state=\"{state}\"}} {count}");
    }
    head(&mut text, "gantry_http_request_seconds", "histogram", "How long requests took, by route and status.");
    for ((method, route, status), series) in &*app.metrics.0.lock().unwrap_or_else(PoisonError::into_inner) {
        let route = route.replace(['"', '\\', '\n'], "");
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
        for (bucket, upper) in series.buckets.iter().zip(BUCKETS) {
            let _ = writeln!(text, "gantry_http_request_seconds_bucket{{{labels},le=\"{upper}\"}} {bucket}");
        }
        let _ = writeln!(text, "gantry_http_request_seconds_bucket{{{labels},le=\"+Inf\"}} {}", series.count);
        let _ = writeln!(text, "gantry_http_request_seconds_sum{{{labels}}} {}", series.seconds);
        let _ = writeln!(text, "gantry_http_request_seconds_count{{{labels}}} {}", series.count);
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn gauge(text: &mut String, name: &str, help: &str, value: f64) {
    head(text, name, "gauge", help);
    let _ = writeln!(text, "{name} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_nobody_knows_are_one_series() {
        let metrics = Metrics::default();
        for method in ["GET", "FOO", "BAR", "get"] {
            metrics.count(method, "/healthz", 405, Duration::ZERO);
        }
        let all = metrics.0.into_inner().unwrap();
        let counted: Vec<_> = all.iter().map(|((method, ..), series)| (*method, series.count)).collect();
        assert_eq!(counted, [("GET", 1), ("other", 3)]);
    }
}
