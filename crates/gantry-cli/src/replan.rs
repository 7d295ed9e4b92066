//! `gantry replan`: what would bring a plan back that will be late or too dear, each way with its price, and one taken.

mod options;

use std::fmt::Write as _;
use std::process::ExitCode;

use gantry_core::input::{Change, Input};
use gantry_core::life::Life;
use gantry_core::plan::Plan;
use gantry_report::thousands;
use gantry_schedule::Schedule;
use gantry_store::Store;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Map, json};

use crate::arguments::{By, ThePlan};
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::schedule::source;
use crate::session::{self, Record};
use options::{Way, ways};

/// Show what would bring a late or too dear plan back, each with its price, and take one
///
/// One more of whoever is short on the critical path, a quarter less work in its longest tasks, a later deadline, a larger
/// budget: each is scheduled, and shown with the finish and the cost that it leads to. `--take N` makes it the plan's next
/// revision.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry replan @last\n  gantry replan 7 --take 2 --why \"a second crew is free\"\n  gantry replan 7 --json"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// Take this one
    #[arg(long, value_name = "N")]
    take: Option<usize>,
    /// Why it is taken
    #[arg(long, visible_alias = "rationale", default_value = "", hide_default_value = true)]
    why: String,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let by = args.by.name()?;
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let life = desk.life().await?;
        let (now, found) = ways_of(desk.store(), &life).await?;
        let Some(number) = args.take else {
            let body =
                if args.record.json { exit::json_text(&json_of(&now, &found))? } else { page(&desk, &now, &found) };
            exit::print(&body)?;
            return Ok(ExitCode::from(exit::DONE));
        };
        let (plan, way) = take(&life, &found, number)?;
        let rationale = if args.why.trim().is_empty() { way.what.clone() } else { args.why.clone() };
        let base = life.revision();
        let input = Input::Revise { by: by.clone(), rationale, base, change: Change::To(Box::new(plan)) };
        let more =
            Map::from_iter([("revision".to_owned(), json!(base.0 + 1)), ("taken".to_owned(), json!(way.change))]);
        desk.say_with(input, &format!("{by} took: {}", way.what), more).await
    })
}

/// The schedule of a plan, and what would bring it back.
async fn ways_of(store: &dyn Store, life: &Life) -> Result<(Schedule, Vec<Way>), Fault> {
    let (project, id) = (source::of_life(store, life).await?, life.id());
    if !project.tasks.iter().any(|task| task.estimate.is_some()) {
        return Err(Fault::bad_input(format!("plan `{id}` has no estimates to compute with"))
            .hint("give its tasks an `estimate`"));
    }
    ways(&project).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Fault::bad_input(format!("plan `{id}` cannot be scheduled: {}", problems.join("; ")))
    })
}

/// The plan with one of the ways taken.
fn take<'w>(life: &Life, found: &'w [Way], number: usize) -> Result<(Plan, &'w Way), Fault> {
    let way = number.checked_sub(1).and_then(|at| found.get(at)).ok_or_else(|| {
        Fault::bad_input(format!("there is no way {number}; there are {}", found.len()))
            .hint(format!("see them with `gantry replan {}`", life.id()))
    })?;
    let current = life.plan();
    if life.proposed() != current {
        return Err(Fault::refused("what was planned is not accepted yet")
            .hint(format!("accept it first, or plan anew with `gantry revise {} \"…\"`", life.id())));
    }
    Ok((changed(current, way)?, way))
}

/// What would bring a plan back, for programs.
pub async fn told(store: &dyn Store, life: &Life) -> Result<serde_json::Value, Fault> {
    let (now, found) = ways_of(store, life).await?;
    Ok(json_of(&now, &found))
}

/// The plan with one of the ways taken, and what it is.
pub async fn taken(store: &dyn Store, life: &Life, number: usize) -> Result<(Plan, String), Fault> {
    let (_, found) = ways_of(store, life).await?;
    let (plan, way) = take(life, &found, number)?;
    Ok((plan, way.what.clone()))
}

/// The plan with a change of its `schedule`.
fn changed(plan: Plan, way: &Way) -> Result<Plan, Fault> {
    let broken = |why: String| Fault::internal(format!("`{}` cannot be applied: {why}", way.change));
    let mut section = serde_json::to_value(&plan.schedule).map_err(|error| broken(error.to_string()))?;
    let (path, value) = way.change.split_once('=').ok_or_else(|| broken("it has no value".to_owned()))?;
    let parts: Vec<&str> = path.split('.').collect();
    match parts.as_slice() {
        ["task", id, field] => section["tasks"][id][field] = json!(value),
        ["resource", id, field] => {
            let listed = section["resources"].as_array_mut().into_iter().flatten().find(|one| one["id"] == *id);
            listed.ok_or_else(|| broken(format!("the plan does not list `{id}`")))?[field] = json!(value);
        }
        ["project", field] => section[field] = json!(value),
        _ => return Err(broken("nobody knows what it changes".to_owned())),
    }
    let schedule = serde_json::from_value(section).map_err(|error| broken(error.to_string()))?;
    Ok(Plan { schedule, ..plan })
}

fn money(amount: Decimal) -> String {
    let whole = amount.abs().round().to_u64().map_or_else(|| amount.to_string(), thousands);
    if amount.is_sign_negative() { format!("-{whole}") } else { whole }
}

fn json_of(now: &Schedule, found: &[Way]) -> serde_json::Value {
    let ways: Vec<_> = found
        .iter()
        .map(|way| json!({"what": way.what, "change": way.change, "finish": way.finish, "cost": way.cost, "fits": way.fits}))
        .collect();
    json!({
        "finish": now.finish, "cost": now.cost.total, "feasible": now.feasible, "under_budget": now.cost.under_budget,
        "deadlines": now.deadlines, "ways": ways,
    })
}

fn page(desk: &Desk, now: &Schedule, found: &[Way]) -> String {
    let currency = &now.cost.currency;
    let mut page = String::new();
    let _ = writeln!(page, "as it stands: done {}, {} {currency}", now.finish.day(), money(now.cost.total));
    for gap in &now.infeasible {
        let _ = writeln!(page, "{}", gap.what);
    }
    if let Some(over) = now.cost.under_budget.filter(Decimal::is_sign_negative) {
        let _ = writeln!(page, "the budget is exceeded by {} {currency}", money(-over));
    }
    if found.is_empty() {
        let _ = writeln!(page, "nothing that was tried would make it earlier or cheaper");
        return page;
    }
    let _ = writeln!(page, "what would help:");
    for (at, way) in found.iter().enumerate() {
        let more = way.cost - now.cost.total;
        let price = match more.cmp(&Decimal::ZERO) {
            std::cmp::Ordering::Less => format!("{} {currency} less", money(-more)),
            std::cmp::Ordering::Equal => "at the same cost".to_owned(),
            std::cmp::Ordering::Greater => format!("{} {currency} more", money(more)),
        };
        let fits = if way.fits { "; then everything fits" } else { "" };
        let _ = writeln!(page, "  {}. {}: done {}, {price}{fits}", at + 1, way.what, way.finish.day());
    }
    let _ = writeln!(page, "next:\n  gantry replan {} --take N --why \"…\"", desk.id());
    page
}
