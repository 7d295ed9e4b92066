//! What planning takes: calls, tokens and time with a model that takes its time, and plans per second without one.
//!
//! `cargo bench -p gantry-cli --bench planning`. The model is a server on this machine that answers over real sockets
//! what the offline model answered before, after 0.8 s and 100 tokens a second, both divided by `GANTRY_BENCH_FASTER`
//! (10 when it is not set, which weighs our own time tenfold). Tokens are letters divided by four. Real requests are
//! read from `shared/data/prompts`, where that is there.

#![allow(clippy::unwrap_used)] // a measurement may

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use gantry_core::plan::{Action, Input, Plan, Reference};
use gantry_planner::facts::{Asked, Facts};
use gantry_planner::template::{DEFAULT, Detail, Template, Wishes};
use gantry_testkit::model_server::{ModelServer, Turn};
use jiff::civil::date;
use serde_json::{Value, json};

const REQUEST: &str = "Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer";
const TODAY: &str = "2026-11-16";
/// How many are asked at once.
const WIDTH: usize = 8;
const FIRST_TOKEN_S: f64 = 0.8;
const TOKENS_PER_S: f64 = 100.0;
/// Gemini 2.0 Flash, which the published runs of `PlanExe` used: dollars for a million tokens in and out.
const PRICES: (f64, f64) = (0.10, 0.40);

macro_rules! out {
    ($($words:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}

fn gantry(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
    command.args(args).current_dir(folder).env("GANTRY_DB", folder.join("record.db"));
    command.env("GANTRY_LOCAL_SERVERS", "0").env("XDG_CONFIG_HOME", folder).env_remove("OPENAI_API_KEY");
    command.output().unwrap()
}

fn json_of(folder: &Path, args: &[&str]) -> Value {
    let output = gantry(folder, args);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn tokens(text: &str) -> f64 {
    f64::from(u32::try_from(text.chars().count()).unwrap()) / 4.0
}

fn faster() -> f64 {
    std::env::var("GANTRY_BENCH_FASTER").ok().and_then(|text| text.parse().ok()).unwrap_or(10.0)
}

/// How long the model takes for an answer.
fn latency(answer: &Value) -> Duration {
    Duration::from_secs_f64((FIRST_TOKEN_S + tokens(&answer.to_string()) / TOKENS_PER_S) / faster())
}

/// The plan that plans the request.
fn planning() -> Plan {
    let template = Template::built_in().into_iter().find(|template| template.name == DEFAULT).unwrap();
    let asked = Asked::new(REQUEST, date(2026, 11, 16));
    let size = Facts::of(&asked).unwrap().size;
    let values = serde_json::to_value(asked).unwrap().as_object().cloned().unwrap().into_iter().collect();
    template.plan(&Wishes { values, detail: Detail::Full, size, sections: None }).unwrap()
}

/// What the offline model answered to each step, the parts of maps among them, by their ids.
fn answers(folder: &Path, plan: &Plan) -> BTreeMap<String, Value> {
    json_of(folder, &["plan", "--yes", "--offline", "--json", "--today", TODAY, REQUEST]);
    let answer = |id: &str| -> Option<Value> {
        let output = gantry(folder, &["task", "show", "@last", id, "--json"]);
        let shown: Value = serde_json::from_slice(&output.stdout).ok()?;
        let mut outputs = shown["outputs"].as_object()?.clone();
        outputs.shift_remove("answered_by");
        outputs.shift_remove("degraded");
        (!outputs.is_empty()).then_some(Value::Object(outputs))
    };
    let mut all = BTreeMap::new();
    for task in &plan.tasks {
        match &task.action {
            Some(Action::Model(_)) => drop(all.insert(task.id.to_string(), answer(task.id.as_str()).unwrap())),
            Some(Action::Map(_)) => {
                let parts = (1..).map(|part| format!("{}-{part}", task.id));
                all.extend(parts.map_while(|part| Some((part.clone(), answer(&part)?))));
            }
            _ => {}
        }
    }
    all
}

/// The longest way through the questions, in time that the model takes.
fn longest_path(plan: &Plan, answers: &BTreeMap<String, Value>) -> Duration {
    let mut done: BTreeMap<String, Duration> = BTreeMap::new();
    for task in plan.tasks.iter().filter(|task| task.action.is_some()) {
        let from = |input: &Input| match input {
            Input::From(Reference::Task { task, .. }) => Some(task.to_string()),
            _ => None,
        };
        let mut before: Vec<String> = task.depends_on.iter().map(ToString::to_string).collect();
        before.extend(task.inputs.values().filter_map(from));
        if let Some(Action::Tool(tool)) = &task.action {
            before.extend(tool.args.values().filter_map(from));
        }
        let begin = before.iter().filter_map(|id| done.get(id)).max().copied().unwrap_or_default();
        let own = match &task.action {
            Some(Action::Model(_)) => latency(&answers[task.id.as_str()]),
            Some(Action::Map(_)) => {
                let inside = answers.iter().filter(|(id, _)| id.starts_with(&format!("{}-", task.id)));
                inside.map(|(_, answer)| latency(answer)).max().unwrap_or_default()
            }
            _ => Duration::ZERO,
        };
        done.insert(task.id.to_string(), begin + own);
    }
    done.into_values().max().unwrap_or_default()
}

/// The step that a question belongs to, by the name of its schema; of a map the part that is asked about last.
fn step<'a>(question: &str, name: &str, answers: &'a BTreeMap<String, Value>) -> &'a Value {
    let short = name.rsplit('_').next().unwrap_or(name);
    if let Some(answer) = answers.get(short) {
        return answer;
    }
    let phases = answers["phases"]["phases"].as_array().unwrap();
    let place = |phase: &Value| question.rfind(phase["deliverable"].as_str().unwrap());
    let last = phases.iter().enumerate().max_by_key(|(_, phase)| place(phase)).map_or(0, |(at, _)| at);
    &answers[&format!("{short}-{}", last + 1)]
}

fn with_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planning();
    let answers = answers(folder.path(), &plan);
    let server = ModelServer::start();
    let known = answers.clone();
    server.otherwise(move |heard| {
        let question = heard.body["messages"].to_string();
        let question: String = serde_json::from_str::<Value>(&question)
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|one| one["content"].as_str())
            .collect();
        let name = heard.body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default().to_owned();
        let answer = step(&question, &name, &known);
        Turn::json(answer).in_one_piece().after(latency(answer))
    });
    let config = format!(
        "[providers.bench]\nprotocol = \"openai-chat\"\nbase_url = \"{}/v1/\"\n[profiles.balanced]\ndefault = \"bench:slow\"\n",
        server.base_url().trim_end_matches('/').trim_end_matches("/v1")
    );
    std::fs::write(folder.path().join("gantry.toml"), config).unwrap();
    let limit = format!("model={WIDTH}");
    let begin = Instant::now();
    let made =
        json_of(folder.path(), &["plan", "--yes", "--strict", "--json", "--limit", &limit, "--today", TODAY, REQUEST]);
    let wall = begin.elapsed();
    assert_eq!(made["made_by"], json!(["slow"]), "{made}");
    let bound = longest_path(&plan, &answers);
    let bodies = server.bodies();
    let sent: f64 = bodies
        .iter()
        .map(|body| tokens(&body["messages"].to_string()) + tokens(&body["response_format"].to_string()))
        .sum();
    let got: f64 = answers.values().map(|answer| tokens(&answer.to_string())).sum();
    let cost = (sent * PRICES.0 + got * PRICES.1) / 1e6;
    out!("                       gantry   PlanExe, published");
    out!("calls            {:>12}   171 to 192", bodies.len());
    out!("tokens in        {sent:>12.0}   2,587,916 to 2,884,975");
    out!("tokens out       {got:>12.0}   102,717 to 117,275");
    out!("dollars          {cost:>12.4}   0.300 to 0.334");
    out!("most at once     {:>12}   4", server.counts().at_once_max);
    let real = wall.as_secs_f64() * faster();
    out!(
        "wall time        {:>10.2} s   (as if the model were not {} times faster: {real:.0} s; PlanExe 720 to 1,152 s)",
        wall.as_secs_f64(),
        faster()
    );
    out!("longest path     {:>10.2} s", bound.as_secs_f64());
    out!("wall / path      {:>12.3}   bar 1.2", wall.as_secs_f64() / bound.as_secs_f64());
}

fn without_a_model() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/prompts/prompts.jsonl");
    let Ok(text) = std::fs::read_to_string(&file) else {
        out!("skipped: there is no `{}`", file.display());
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut times, mut refused) = (Vec::new(), 0);
    let begin = Instant::now();
    for line in text.lines() {
        let request: Value = serde_json::from_str(line).unwrap();
        let one = Instant::now();
        let args = ["plan", "--yes", "--offline", "--json", "--today", TODAY, request["prompt"].as_str().unwrap()];
        match gantry(folder.path(), &args).status.code() {
            Some(0) => times.push(one.elapsed()),
            _ => refused += 1,
        }
    }
    let all = begin.elapsed();
    times.sort();
    out!("\nwithout a model: {} plans, {refused} requests refused or sent back", times.len());
    out!(
        "median {:?}, longest {:?}, {:.1} plans a second, one process each",
        times[times.len() / 2],
        times[times.len() - 1],
        f64::from(u32::try_from(times.len()).unwrap()) / all.as_secs_f64()
    );
}

fn main() {
    with_a_model();
    without_a_model();
}
