//! `gantry resume --all`: takes up every plan that was under way when its process went away.

use std::process::ExitCode;

use gantry_core::id::PlanId;
use gantry_engine::{Engine, Options};
use serde_json::json;

use super::screen::print_json;
use super::{Begun, Carried, How, Started, carry_out};
use crate::exit::{self, Fault};
use crate::home::NewHome;
use crate::session::{self, Record};
use crate::show::standing::is_new_fork;
use crate::surroundings;
use crate::talk::talk;

/// Recovers all plans that nobody drives, side by side.
pub(super) async fn all(record: &Record, how: &How) -> Result<ExitCode, Fault> {
    let reader = record.engine_asking(Options::default(), how.models.clone())?;
    let (mut carried, mut unable) = (Vec::<Carried>::new(), Vec::new());
    // Plans that were given the same secrets and models share an engine, and nobody sees the secrets of others.
    let mut groups: Vec<(Vec<String>, Engine)> = Vec::new();
    for (_, plan) in reader.orphans().await? {
        // What was only made from another plan was never under way.
        if is_new_fork(&reader.store().plan(plan.as_str()).await?) {
            continue;
        }
        match engine_for(&reader, &plan, how, &mut groups).await {
            Ok(engine) => carried.push(Carried { engine, plan }),
            Err(fault) => unable.push((plan, fault)),
        }
    }
    if carried.is_empty() && unable.is_empty() {
        let nothing = "no plan was left behind: none is unfinished that nobody works on";
        if record.json {
            print_json(&json!({"said": nothing}))?;
        } else {
            talk!("{nothing}");
        }
        return Ok(ExitCode::from(exit::DONE));
    }
    let left = carried.len() + unable.len();
    let said =
        vec![format!("{} left behind", crate::file::count(left, "plan") + if left == 1 { " was" } else { " were" })];
    carry_out(&carried, how, Started { begun: Begun::LeftBehind, said, unable }, record.json).await
}

/// The engine that gives a plan what it was given before.
pub async fn engine_for(
    reader: &Engine,
    plan: &PlanId,
    how: &How,
    groups: &mut Vec<(Vec<String>, Engine)>,
) -> Result<Engine, Fault> {
    let mut secrets = NewHome::default().settle(reader, plan, &how.around).await?;
    secrets.sort();
    let options = how.options(&secrets)?;
    let given = reader.open(plan).await?.origin.given;
    surroundings::check_given(&given, &options)?;
    // No secret is called like an option.
    let group: Vec<String> = secrets.into_iter().chain(given.models.clone()).collect();
    if let Some((_, engine)) = groups.iter().find(|(names, _)| *names == group) {
        return Ok(engine.clone());
    }
    let runners = session::runners(how.models.over(&given.models))?;
    let engine = match groups.first() {
        Some((_, first)) => first.beside(runners, options),
        None => reader.having(runners).working(options),
    };
    groups.push((group, engine.clone()));
    Ok(engine)
}

/// None of the plans can go on.
pub(super) fn tell_unable(unable: &[(PlanId, Fault)], json: bool) -> Result<ExitCode, Fault> {
    let mut worst = exit::DONE;
    for (plan, fault) in unable {
        worst = exit::worse(worst, fault.code());
        if json {
            print_json(&json!({"plan": plan, "error": fault.to_json()}))?;
        } else {
            talk!("{}", line(plan, fault));
        }
    }
    Ok(ExitCode::from(worst))
}

/// What is said of a plan that cannot go on.
pub fn line(plan: &PlanId, fault: &Fault) -> String {
    let hint = fault.advice().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("`{plan}` cannot go on: {}{hint}", fault.message())
}
