//! The kill switch: gives up every plan that is under way, whichever process works on it.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use gantry_core::id::PlanId;
use gantry_core::input::{Input, TakeBack};
use gantry_core::life::PlanState;
use gantry_engine::{Engine, Tell};
use gantry_store::PlanCard;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::desk;
use crate::exit::{self, Fault};
use crate::file::count;
use crate::session::{self, Record};
use crate::show::first_line;
use crate::show::standing::is_new_fork;
use crate::talk::{self, talk};

/// Why, when nobody says why.
const NO_REASON: &str = "everything was stopped";
/// How long it is waited until what ran has ended, and how often it is looked for.
const STILL_WITHIN: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What became of one plan.
enum Became {
    /// It is given up, and nothing of it runs.
    Stopped,
    /// It is given up, and what it ran has not ended yet.
    Ending,
    /// It had ended by itself.
    Over(PlanState),
    /// It could not be told.
    Unheard(Fault),
}

/// Stops everything.
pub fn all(record: &Record, by: String, why: String, yes: bool) -> Result<ExitCode, Fault> {
    let why = if why.trim().is_empty() { NO_REASON.to_owned() } else { why };
    session::block_on(async {
        let engine = desk::engine(record)?;
        let mut plans = session::unfinished(&**engine.store()).await?;
        // A plan inside another ends with that one.
        plans.retain(|plan| plan.card.parent.is_none() && !is_new_fork(plan));
        if plans.is_empty() {
            if record.json {
                exit::print("[]\n")?;
            } else {
                talk!("no plan is under way");
            }
            return Ok(ExitCode::from(exit::DONE));
        }
        if !yes && std::io::stdin().is_terminal() && !wanted(&plans)? {
            talk!("nothing was stopped");
            return Ok(ExitCode::from(exit::DONE));
        }
        let mut telling = JoinSet::new();
        // All at once: one whose process does not listen must not hold up the others.
        for (at, card) in plans.iter().cloned().enumerate() {
            let (engine, by, why) = (engine.clone(), by.clone(), why.clone());
            telling.spawn(async move { (at, stop(&engine, &card, by, why).await) });
        }
        let mut became = telling.join_all().await;
        became.sort_by_key(|(at, _)| *at);
        tell(record.json, plans.iter().map(|plan| &plan.id).zip(became.iter().map(|(_, became)| became)))
    })
}

fn wanted(plans: &[PlanCard]) -> Result<bool, Fault> {
    for plan in plans {
        talk!("{} {} ({}): {}", plan.no, plan.id, plan.card.state, first_line(&plan.card.title, 60));
    }
    talk::confirmed(&format!("give up {}, for good?", count(plans.len(), "plan")))
}

/// Gives up one plan, and waits a moment until what it ran has ended.
async fn stop(engine: &Engine, card: &PlanCard, by: String, why: String) -> Became {
    match engine.tell(&card.id, Input::Cancel { by, why, undo: TakeBack::Nothing }).await {
        Ok(Tell::Recorded) => Became::Stopped,
        Ok(Tell::Driven) => {
            let since = Instant::now();
            while since.elapsed() < STILL_WITHIN {
                if matches!(engine.store().claimed_by_other(card.no).await, Ok(false)) {
                    return Became::Stopped;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            Became::Ending
        }
        Err(error) => {
            let state = engine.store().plan(card.id.as_str()).await.map(|plan| plan.card.state);
            match state {
                Ok(state @ (PlanState::Completed | PlanState::Failed | PlanState::Abandoned)) => Became::Over(state),
                _ => Became::Unheard(desk::refusal(error, &card.id)),
            }
        }
    }
}

fn tell<'a>(json: bool, all: impl Iterator<Item = (&'a PlanId, &'a Became)>) -> Result<ExitCode, Fault> {
    let (mut code, mut values) = (exit::DONE, Vec::<Value>::new());
    for (plan, became) in all {
        let (word, text, error) = match became {
            Became::Stopped => ("stopped", "stopped".to_owned(), None),
            Became::Ending => ("ending", "given up; what it ran has not ended yet".to_owned(), None),
            Became::Over(state) => ("over", format!("was {state} already"), None),
            Became::Unheard(fault) => {
                code = exit::worse(code, fault.code());
                ("unheard", format!("could not be stopped: {}", fault.message()), Some(fault.to_json()))
            }
        };
        if json {
            values.push(json!({"plan": plan, "became": word, "error": error}));
        } else {
            exit::print(&format!("{plan}: {text}\n"))?;
        }
    }
    if json {
        exit::print_json(&Value::Array(values))?;
    }
    Ok(ExitCode::from(code))
}
