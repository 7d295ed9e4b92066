//! What came of planning: on one screen, or as one object.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use gantry_core::id::TaskId;
use gantry_core::life::{Life, TaskState};
use gantry_core::plan::{Action, Task};
use gantry_planner::decompose::{Decomposition, Outcome, TOOL};
use gantry_planner::tools::PAGE;
use serde_json::{Value, json};

use crate::show::next::{self, Next};
use crate::show::page::commands;
use crate::show::plain;
use crate::show::style::{self, paint};
use crate::show::table::{width, wrap};

/// How many risks and steps are named.
const RISKS_MAX: usize = 3;
const PATH_MAX: usize = 8;

/// The step that calls a tool, whatever the template calls it.
fn step(life: &Life, tool: &str) -> Option<TaskId> {
    let calls = |task: &Task| matches!(&task.action, Some(Action::Tool(called)) if called.name == tool);
    life.plan().tasks.into_iter().find(calls).map(|task| task.id)
}

/// One output of the step that calls a tool.
fn output(life: &Life, tool: &str, name: &str) -> Value {
    let outputs = step(life, tool).and_then(|step| life.outputs(step.as_str()));
    outputs.and_then(|outputs| outputs.get(name).cloned()).unwrap_or_default()
}

/// What was made by the tools that every template calls.
struct Made {
    facts: Value,
    overview: Value,
    findings: Value,
    verdict: Value,
    authors: Vec<String>,
    next: Value,
}

impl Made {
    fn of(life: &Life) -> Self {
        let names = output(life, "plan.report", "made_by");
        let names = names.as_array().into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned()));
        Self {
            facts: output(life, "plan.read", "facts"),
            overview: output(life, "plan.forecast", "overview"),
            findings: output(life, "plan.report", "findings"),
            verdict: output(life, "plan.report", "verdict"),
            authors: names.collect(),
            next: output(life, "plan.report", "next"),
        }
    }
}

/// What was broken down, where that is all that the template does.
pub fn outlined(life: &Life) -> Option<Decomposition> {
    let made: Decomposition = serde_json::from_value(output(life, TOOL, "result")).ok()?;
    (made.outcome != Outcome::Failed && step(life, "plan.report").is_none()).then_some(made)
}

/// The step that has written the page; none while planning has not come to its end.
pub fn reported(life: &Life) -> Option<TaskId> {
    step(life, "plan.report").filter(|step| life.task_state(step.as_str()) == Some(TaskState::Completed))
}

/// One object for programs.
pub fn value(life: &Life) -> Value {
    let Made { facts, overview, findings, verdict, authors, .. } = Made::of(life);
    let pages: Vec<String> = page_of(life).into_iter().collect();
    json!({
        "plan_id": life.id(),
        "state": life.state().to_string(),
        "made_by": authors,
        "kind": facts["kind"],
        "kind_was_told": facts["kind_was_told"],
        "size": facts["size"],
        "verdict": verdict,
        "start": overview["start"],
        "finish": overview["finish"],
        "finish_p50": overview["finish_p50"],
        "finish_p80": overview["finish_p80"],
        "cost": {"total": overview["cost"], "p50": overview["cost_p50"], "p80": overview["cost_p80"], "currency": overview["currency"], "budget": overview["budget"]},
        "deadline": overview["deadline"],
        "held": overview["held"],
        "feasible": overview["feasible"],
        "gaps": overview["gaps"],
        "doubts": overview["doubts"],
        "options": overview["options"],
        "tasks": overview["tasks"],
        "risks": overview["risks"],
        "health": overview["health"],
        "assumed": facts["assumed"],
        "demands": overview["demands"],
        "critical_path": overview["critical_path"],
        "findings": findings,
        "files": pages,
    })
}

/// The page that people read, as an artifact.
fn page_of(life: &Life) -> Option<String> {
    Some(format!("{}/{}/{PAGE}", life.id(), step(life, "plan.report")?))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), plain)
}

/// A page for people.
pub fn page(life: &Life) -> String {
    let made = Made::of(life);
    let id = life.id();
    let mut page = String::new();
    if made.overview["finish"].is_null() {
        let _ = writeln!(page, "{}: there is no plan yet\nnext:\n  gantry status {id}  # see why", life.header().title);
        return page;
    }
    let (facts, overview) = (&made.facts, &made.overview);
    let _ = writeln!(page, "{} ({id})", plain(&life.header().title));
    let told = if facts["kind_was_told"] == true { "" } else { " (assumed: no words of the request tell its kind)" };
    let _ = writeln!(
        page,
        "  {} project, {}{told}: {} tasks, made by {}",
        text(&facts["size"]),
        text(&facts["kind_title"]).to_lowercase(),
        overview["tasks"],
        made.authors.join(", ")
    );
    let language = text(&facts["language"]);
    if language != "English" && made.authors.iter().any(|author| author == "gantry-offline") {
        let told = format!(
            "the request is in {language}; what gantry-offline wrote is in English: with a model it is in {language}"
        );
        wrapped(&mut page, &told);
    }
    numbers(&mut page, &made);
    for gap in list(&overview["gaps"]) {
        wrapped(&mut page, &paint(style::BAD, format!("does not fit: {}", text(gap))));
    }
    for doubt in list(&overview["doubts"]) {
        wrapped(&mut page, &paint(style::BAD, format!("doubtful: {}", text(doubt))));
    }
    lines(&mut page, "what would help", list(&overview["options"]).map(text));
    let path: Vec<&Value> = list(&overview["critical_path"]).collect();
    let more = path.len().saturating_sub(PATH_MAX);
    let more = (more > 0).then(|| format!("… and {more} more"));
    lines(&mut page, "critical path", path.iter().take(PATH_MAX).map(|task| text(&task["title"])).chain(more));
    let risk = |risk: &Value| match risk["mitigation"].as_str() {
        Some(mitigation) => format!("{}: {mitigation}", text(&risk["title"])),
        None => text(&risk["title"]),
    };
    lines(&mut page, "most likely risks", list(&overview["top_risks"]).take(RISKS_MAX).map(risk));
    let assumed = list(&facts["assumed"]).map(|gap| format!("{} {}", text(&gap["question"]), text(&gap["assumed"])));
    lines(&mut page, "assumed, because it was not said", assumed);
    let open = list(&overview["demands"]).filter(|demand| demand["status"] == "open");
    let open = open.map(|demand| format!("{}: {}", text(&demand["id"]), text(&demand["text"])));
    lines(&mut page, "said, and not measured by the schedule", open);
    lines(&mut page, "with care", list(&facts["safeguards"]).map(text));
    lines(&mut page, "put right or doubtful", doubtful(&made.findings));
    lines(&mut page, "first steps", list(&made.next).map(text));
    let read = page_of(life)
        .map(|_| Next { command: format!("gantry report {}", life.id()), does: "all of it, as a page".to_owned() });
    let steps: Vec<Next> = read.into_iter().chain(next::steps(life, false)).collect();
    let _ = write!(page, "next:\n{}", commands(&steps));
    page
}

/// What is doubtful, in a line each; many are counted.
fn doubtful(findings: &Value) -> impl Iterator<Item = String> {
    let all: Vec<&Value> = list(findings).collect();
    let more = all.len().saturating_sub(RISKS_MAX);
    let more = (more > 0).then(|| format!("… and {more} more, in the report"));
    let line = |finding: &Value| {
        format!("{}: {} ({})", text(&finding["section"]), text(&finding["text"]), text(&finding["why"]))
    };
    all.into_iter().take(RISKS_MAX).map(line).chain(more).collect::<Vec<_>>().into_iter()
}

fn numbers(page: &mut String, made: &Made) {
    let overview = &made.overview;
    let currency = text(&overview["currency"]);
    let money = |value: &Value| value.as_u64().map_or_else(|| text(value), gantry_report::thousands);
    let deadline = match (&overview["deadline"], overview["held"]["when"].as_str()) {
        (_, Some(when)) => format!(", held {}", plain(when)),
        (Value::Null, None) => String::new(),
        (deadline, None) => format!(", deadline {}", text(deadline)),
    };
    let (p50, p80) = (text(&overview["finish_p50"]), text(&overview["finish_p80"]));
    let _ = writeln!(page, "  finish     {p50} (P50), {p80} (P80){deadline}");
    let budget = match &overview["budget"] {
        Value::Null => String::new(),
        budget => format!(", budget {} {currency}", money(budget)),
    };
    // What one person does has no price here.
    if overview["cost"] == 0 {
        let _ = writeln!(page, "  cost       not estimated{budget}");
    } else {
        let (p50, p80) = (money(&overview["cost_p50"]), money(&overview["cost_p80"]));
        let _ = writeln!(page, "  cost       {p50} {currency} (P50), {p80} {currency} (P80){budget}");
    }
    let verdict = match made.verdict.as_str() {
        Some("go") => "go: nothing that was checked speaks against it",
        Some("go_with_care") if list(&overview["doubts"]).next().is_some() => "go with care: see what is doubtful",
        Some("go_with_care") => "go with care: some checks are worrying, see the report",
        _ => "not yet: see what does not fit",
    };
    let _ = writeln!(page, "  verdict    {verdict}");
}

/// A line with an indent; on a terminal over several, for other programs in one.
fn wrapped(page: &mut String, line: &str) {
    let columns = if std::io::stdout().is_terminal() { width().saturating_sub(4) } else { usize::MAX };
    for (at, part) in wrap(line, columns).iter().enumerate() {
        let _ = writeln!(page, "{}{part}", if at == 0 { "  " } else { "    " });
    }
}

fn lines(page: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        let _ = writeln!(page, "{title}:");
        for line in lines {
            wrapped(page, &line);
        }
    }
}
