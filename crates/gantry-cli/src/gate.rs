//! `gantry gate`: sees what waits for a decision, and decides.

use std::process::ExitCode;

use gantry_core::event::{Entry, Event};
use gantry_core::input::{Decision, GateDecision, Input};
use gantry_core::life::{Life, State, Waiting};
use gantry_core::plan::{Action, Check, Gate};
use gantry_engine::Engine;
use gantry_store::PlanCard;
use gantry_view::people::{OpenGate, gates};
use serde_json::{Map, json};

use crate::arguments::{By, PlanOrAll, ThePlan};
use crate::desk::{self, Desk, known_task};
use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::elapsed::clock;
use crate::show::first_line;
use crate::show::table::columns;
use crate::talk::talk;

/// See what waits for a decision, and decide
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry gate list\n  gantry gate show 7 sign-off\n  gantry gate approve 7 sign-off --rationale \"tests pass\"\n  gantry gate approve 7 security legal --role lead    (both or none)"
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// List the gates that wait for a decision, of one plan or of all
    #[command(after_help = "Examples:\n  gantry gate list\n  gantry gate list 7 --json")]
    List {
        #[command(flatten)]
        plan: PlanOrAll,
    },
    /// Show a gate: what it checks, who may decide, and who decided what
    #[command(after_help = "Examples:\n  gantry gate show 7 sign-off")]
    Show {
        #[command(flatten)]
        plan: ThePlan,
        /// The gate
        gate: String,
    },
    /// Let what stands behind these gates go on: all of them in one review, or none
    #[command(
        after_help = "Examples:\n  gantry gate approve 7 sign-off\n  gantry gate approve 7 security legal --role lead --why \"both reviewed\""
    )]
    Approve(Decide),
    /// Say no: what stands behind these gates does not happen
    #[command(after_help = "Examples:\n  gantry gate reject 7 sign-off --why \"the tests are red\"")]
    Reject(Decide),
    /// Send the work before these gates back to be done once more
    #[command(after_help = "Examples:\n  gantry gate needs-changes 7 sign-off --why \"the notes are missing\"")]
    NeedsChanges(Decide),
}

#[derive(clap::Args)]
struct Decide {
    #[command(flatten)]
    plan: ThePlan,
    /// The gates
    #[arg(required = true, value_name = "GATE")]
    gates: Vec<String>,
    /// Why; needed for all but an approval
    #[arg(long, visible_alias = "why", default_value = "", hide_default_value = true)]
    rationale: String,
    /// The role in which it is decided; it must be one that the plan gives to this person, if it says who has it
    #[arg(long)]
    role: Option<String>,
    /// Something that was looked at before deciding; may be given several times
    #[arg(long, value_name = "WHAT")]
    evidence: Vec<String>,
    #[command(flatten)]
    by: By,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        match &args.what {
            What::List { plan } => list(&args.record, plan.one()).await,
            What::Show { plan, gate } => show(&args.record, plan, gate).await,
            What::Approve(wanted) => decide(&args.record, wanted, Decision::Approve).await,
            What::Reject(wanted) => decide(&args.record, wanted, Decision::Reject).await,
            What::NeedsChanges(wanted) => decide(&args.record, wanted, Decision::NeedsChanges).await,
        }
    })
}

/// The plans that wait for something, or the one that is meant.
pub async fn waiting_plans(engine: &Engine, plan: Option<&str>) -> Result<Vec<PlanCard>, Fault> {
    if let Some(plan) = plan {
        return Ok(vec![session::find(engine, plan).await?]);
    }
    let mut found = session::unfinished(&**engine.store()).await?;
    found.retain(|card| !card.card.waiting.is_empty());
    Ok(found)
}

async fn list(record: &Record, plan: Option<&str>) -> Result<ExitCode, Fault> {
    let engine = desk::engine(record)?;
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for card in waiting_plans(&engine, plan).await? {
        let plan_life = engine.open(&card.id).await?.life;
        for OpenGate { gate, title, needed, approved_by, value } in gates(&card, &plan_life) {
            all.push(value);
            rows.push(vec![
                card.no.to_string(),
                card.id.to_string(),
                gate.to_string(),
                format!("{} of {needed}", approved_by.len()),
                first_line(&title, 40),
            ]);
        }
    }
    if record.json {
        exit::print_json(&json!(all))?;
    } else if rows.is_empty() {
        talk!("no gate waits for a decision");
    } else {
        rows.insert(0, ["NO", "PLAN", "GATE", "APPROVALS", "TITLE"].map(str::to_owned).to_vec());
        exit::print(&columns(&rows))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn gate_of<'l>(life: &'l Life, name: &str) -> Result<&'l Gate, Fault> {
    let task = known_task(life, name)?;
    match life.definition(task.as_str()).and_then(|task| task.action.as_ref()) {
        Some(Action::Gate(gate)) => Ok(gate),
        _ => Err(Fault::bad_input(format!("task `{name}` is not a gate"))
            .hint(format!("see which gates wait with `gantry gate list {}`", life.id()))),
    }
}

async fn show(record: &Record, plan: &str, name: &str) -> Result<ExitCode, Fault> {
    let desk = Desk::open(record, plan).await?;
    let life = desk.life().await?;
    let gate = gate_of(&life, name)?;
    let entries = gantry_engine::entries(desk.store(), desk.id()).await?;
    let entries: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.event.task().is_some_and(|task| task.as_str() == name))
        .filter(|entry| matches!(entry.event, Event::GateOpened { .. } | Event::GateDecided { .. }))
        .collect();
    if record.json {
        let state = life.task_state(name);
        let state_of = life.task_life(name).map(|task| &task.state);
        let all = json!({
            "plan": desk.id(), "gate": name, "state": state, "detail": state_of, "definition": gate, "history": entries,
        });
        exit::print_json(&all)?;
    } else {
        exit::print(&describe(&life, name, gate, &entries))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn describe(life: &Life, name: &str, gate: &Gate, entries: &[&Entry]) -> String {
    let title = life.definition(name).map_or(name, |task| task.name());
    let mut rows = vec![vec!["gate".to_owned(), format!("{name}: {title}")]];
    let mut row = |label: &str, text: String| rows.push(vec![label.to_owned(), text]);
    row("plan", format!("{} ({}, revision {})", life.id(), life.state(), life.revision()));
    let state = life.task_state(name).map(|state| state.to_string()).unwrap_or_default();
    match life.task_life(name).map(|task| &task.state) {
        Some(State::Waiting(waiting @ Waiting::Gate { approved_by, .. })) => {
            let who = if approved_by.is_empty() { String::new() } else { format!(" ({})", approved_by.join(", ")) };
            row("state", format!("{waiting}{who}"));
        }
        _ => row("state", state),
    }
    row("may decide", who_may(gate));
    for evidence in &gate.evidence {
        row("must be seen", evidence.clone());
    }
    for check in &gate.checks {
        let finding = entries.iter().rev().find_map(|entry| match &entry.event {
            Event::GateOpened { findings, .. } => findings.iter().find(|finding| finding.check == check.text()),
            _ => None,
        });
        let found = match (check, finding) {
            (Check::Words(_), _) => "for people to judge".to_owned(),
            (Check::Expr(_), None) => "tested when it opens".to_owned(),
            (Check::Expr(_), Some(finding)) if finding.holds => "holds".to_owned(),
            (Check::Expr(_), Some(finding)) => format!("does not hold: {}", finding.because),
        };
        row("check", format!("{} ({found})", check.text()));
    }
    for entry in entries {
        if let Event::GateDecided { by, role, decision, rationale, .. } = &entry.event {
            let role = role.as_ref().map(|role| format!(" as {role}")).unwrap_or_default();
            let why = if rationale.is_empty() { String::new() } else { format!(": {rationale}") };
            row("decided", format!("{} {by}{role} {}{why}", clock(entry.at), past(*decision)));
        }
    }
    columns(&rows)
}

fn who_may(gate: &Gate) -> String {
    let who = if gate.approvers.is_empty() { "anyone".to_owned() } else { gate.approvers.join(", ") };
    gate.role.as_ref().map_or(who.clone(), |role| format!("{who} with role `{role}`"))
}

/// What was decided, as a verb.
pub fn past(decision: Decision) -> &'static str {
    match decision {
        Decision::Approve => "approved it",
        Decision::Reject => "rejected it",
        Decision::NeedsChanges => "wants changes",
    }
}

async fn decide(record: &Record, wanted: &Decide, decision: Decision) -> Result<ExitCode, Fault> {
    let by = wanted.by.name()?;
    if decision != Decision::Approve && wanted.rationale.trim().is_empty() {
        let what = if decision == Decision::Reject { "rejects it" } else { "wants changes" };
        return Err(Fault::bad_input(format!("whoever {what} has to say why")).hint("add `--why \"…\"`"));
    }
    let desk = Desk::open(record, &wanted.plan).await?;
    let life = desk.life().await?;
    let mut decisions = Vec::new();
    for (at, name) in wanted.gates.iter().enumerate() {
        gate_of(&life, name)?;
        if wanted.gates[..at].contains(name) {
            return Err(Fault::bad_input(format!("gate `{name}` is named twice")));
        }
        decisions.push(GateDecision {
            gate: known_task(&life, name)?,
            decision,
            rationale: wanted.rationale.clone(),
            evidence: wanted.evidence.clone(),
            revision: Some(life.revision()),
        });
    }
    let gates = wanted.gates.iter().map(|gate| format!("`{gate}`")).collect::<Vec<_>>().join(", ");
    let done = match decision {
        Decision::Approve => format!("{by} approved {gates}"),
        Decision::Reject => format!("{by} rejected {gates}"),
        Decision::NeedsChanges => format!("{by} sent back the work before {gates}"),
    };
    let more = Map::from_iter([("gates".to_owned(), json!(wanted.gates)), ("decision".to_owned(), json!(decision))]);
    desk.say_with(Input::Review { by, role: wanted.role.clone(), decisions }, &done, more).await
}
