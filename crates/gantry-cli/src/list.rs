//! `gantry list`: the plans of the record, the newest first.

use std::process::ExitCode;

use clap::ValueEnum;
use gantry_core::life::{PlanState, TaskState};
use gantry_store::{ListFilter, PlanCard, Store};
use serde_json::Value;

use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::elapsed::{ago, now};
use crate::show::forecast::Forecast;
use crate::show::standing::{has_lost, is_aside, is_new_fork};
use crate::show::table::{self, Cell, cell, fit};
use crate::show::{first_line, json, style};
use crate::talk::talk;

/// List plans, the newest first
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry list\n  gantry list --state blocked --state paused\n  gantry list --text release --all --json"
)]
pub struct Args {
    /// Only plans in this state; may be repeated
    #[arg(long, value_name = "STATE")]
    state: Vec<Wanted>,
    /// Only plans with this label
    #[arg(long)]
    label: Option<String>,
    /// Only plans that this one looks after: whom the plan names as `owner`, or else who made it
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Only plans with this text in their title or id
    #[arg(long)]
    text: Option<String>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// All of them, plans inside plans as well
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    #[command(flatten)]
    record: Record,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Wanted {
    Pending,
    Running,
    Paused,
    Blocked,
    Completed,
    Failed,
    Abandoned,
}

impl From<Wanted> for PlanState {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Pending => Self::Pending,
            Wanted::Running => Self::Running,
            Wanted::Paused => Self::Paused,
            Wanted::Blocked => Self::Blocked,
            Wanted::Completed => Self::Completed,
            Wanted::Failed => Self::Failed,
            Wanted::Abandoned => Self::Abandoned,
        }
    }
}

/// A plan and whether some process works on it.
pub struct Listed {
    /// The plan.
    pub plan: PlanCard,
    /// Whether some process works on it.
    pub driven: bool,
    /// Whether something was under way when the process that worked on it went away.
    pub interrupted: bool,
}

/// What to do with plans that are a part of others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// List them like others.
    Shown,
    /// Leave them out.
    Hidden,
}

/// Reads plans, at most this many; also tells whether there are more.
pub async fn read(
    store: &dyn Store,
    filter: ListFilter,
    inside: Inside,
    most: usize,
) -> Result<(Vec<Listed>, bool), Fault> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.list(ListFilter { cursor, ..filter.clone() }).await?;
        for plan in page.items.into_iter().filter(|plan| inside == Inside::Shown || !is_aside(plan)) {
            if found.len() >= most {
                return Ok((found, true));
            }
            let driven = store.claimed_by_other(plan.no).await?;
            let perhaps =
                !driven && plan.card.state == PlanState::Running && plan.card.tasks.contains_key(&TaskState::Running);
            let interrupted = perhaps && has_lost(&gantry_engine::open(store, &plan.id).await?.life);
            found.push(Listed { plan, driven, interrupted });
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok((found, false));
        }
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let store = args.record.open()?;
        let filter = ListFilter {
            states: args.state.iter().map(|state| (*state).into()).collect(),
            label: args.label.clone(),
            owner: args.owner.clone(),
            text: args.text.clone(),
            ..ListFilter::default()
        };
        let most = if args.all { usize::MAX } else { args.limit as usize };
        let inside = if args.all { Inside::Shown } else { Inside::Hidden };
        let (found, more) = read(&store, filter, inside, most).await?;
        if args.record.json {
            let (mut cards, now): (Vec<Value>, _) = (Vec::new(), now());
            for Listed { plan, driven, .. } in &found {
                cards.push(json::card(plan, *driven, Forecast::read(&store, plan, now).await?.as_ref()));
            }
            exit::print_json(&Value::Array(cards))?;
        } else if found.is_empty() {
            talk!("no plans; begin one with `gantry run FILE`");
        } else {
            exit::print(&drawn(&found))?;
            if more {
                talk!("there are more; see them with `gantry list --all`");
            }
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// The state, with what one must know about it.
pub fn state_of(listed: &Listed) -> String {
    match (listed.plan.card.state, listed.driven) {
        (_, false) if is_new_fork(&listed.plan) => "not started".to_owned(),
        (PlanState::Running, false) if listed.interrupted => "interrupted".to_owned(),
        (PlanState::Running, false) => "ready".to_owned(),
        (state, _) => state.to_string(),
    }
}

/// `3/5`: how many tasks are over that should be.
pub fn progress_of(plan: &PlanCard) -> String {
    let of = |state| plan.card.tasks.get(&state).copied().unwrap_or(0);
    let total: u32 = plan.card.tasks.values().sum();
    format!("{}/{total}", of(TaskState::Completed) + of(TaskState::Skipped))
}

fn drawn(found: &[Listed]) -> String {
    let now = now();
    let head = ["NO", "PLAN", "STATE", "DONE", "CHANGED", "TITLE"];
    let mut rows: Vec<Vec<Cell>> = vec![head.iter().map(|head| cell(style::FAINT, *head)).collect()];
    for listed in found {
        let plan = &listed.plan;
        rows.push(vec![
            cell(style::PLAIN, plan.no.to_string()),
            cell(style::STRONG, fit(plan.id.as_str(), 36)),
            cell(style::of_plan(plan.card.state), state_of(listed)),
            cell(style::PLAIN, progress_of(plan)),
            cell(style::FAINT, ago(plan.updated_at, now)),
            cell(style::PLAIN, first_line(&plan.card.title, 80)),
        ]);
    }
    table::draw("", &rows, table::width())
}
