//! Plans whose tasks are calls.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use gantry_core::plan::{Action, Model, Plan};
use gantry_engine::WhatIf;
use gantry_llm::Gateway;
use gantry_llm::prompts::Prompts;
use gantry_runners::{Models, Runners, SetUp, Talk};

use super::super::{carry_out, engine_with, plans};
use super::line::Line;
use crate::exit::Fault;
use crate::session;

/// How many calls the plan makes that is decided again.
pub const CALLS: usize = 1_000;
/// How many calls a plan makes at once, as everywhere unless something else is set.
const CONCURRENT: u32 = 16;

/// What came of a plan of calls.
pub struct Replayed {
    /// Carried out: calls per second, each durable.
    pub made_per_s: f64,
    /// Decided again from the record, with the network off.
    pub replayed_per_s: f64,
}

/// Models for a plan: one gateway that is made beforehand.
struct Ready(Mutex<Option<Gateway>>);

#[async_trait]
impl SetUp for Ready {
    fn talk(&self) -> Result<Talk, String> {
        let prompts = Prompts::built_in().map_err(|_| "the prompts that are built in are not sound".to_owned())?;
        Ok(Talk { prompts, locale: "en".to_owned(), agent_planning: false, template_prompts: false })
    }

    async fn gateway(&self) -> Result<Gateway, String> {
        let ready = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        ready.ok_or_else(|| "the models were set up before".to_owned())
    }
}

/// The same plan with a call instead of nothing in each task.
fn calling(mut plan: Plan) -> Plan {
    for task in &mut plan.tasks {
        let instruction = Some(format!("Say what is wrong with part {} of the machine.", task.id));
        task.action = Some(Action::Model(Model { instruction, ..Model::default() }));
    }
    plan
}

/// Carries out a plan with answers paced like this; returns the seconds that it took, and what `then` makes of it.
fn seconds(line: &Line, pace: &str, folder: &Path, plan: Plan, again: bool) -> Result<(f64, f64), Fault> {
    let gateway = line.gateway(pace, CONCURRENT)?;
    let models = Arc::new(Models::new(Ready(Mutex::new(Some(gateway)))));
    session::block_on(async {
        let engine = engine_with(&folder.join("gantry.db"), Runners::none().with_models(models))?;
        let made = carry_out(&engine, vec![plan]).await?;
        let begin = Instant::now();
        if again {
            let plan = engine.store().plan("@last").await?.id;
            let replayed = gantry_engine::replay(&**engine.store(), &plan, WhatIf::default()).await?;
            if replayed.difference.is_some() {
                return Err(Fault::internal("a plan that was decided again went another way"));
            }
        }
        Ok((made, begin.elapsed().as_secs_f64()))
    })
}

/// Carries out a plan of many calls at once, and decides it again.
pub fn replay(line: &Line, folder: &Path) -> Result<Replayed, Fault> {
    let (made, replayed) = seconds(line, "at-once", folder, calling(plans::fan(CALLS - 2)), true)?;
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let calls = CALLS as f64;
    Ok(Replayed { made_per_s: calls / made, replayed_per_s: calls / replayed })
}

/// Carries out the pipeline with answers after 50 ms; returns the milliseconds that it took.
pub fn pipeline(line: &Line, folder: &Path) -> Result<f64, Fault> {
    // The first call sets the models up, which a plan does once: it counts.
    Ok(seconds(line, "after-50-ms", folder, calling(plans::pipeline(0)), false)?.0 * 1e3)
}
