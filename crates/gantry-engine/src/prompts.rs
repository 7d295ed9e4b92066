//! The prompts that a plan uses: when one has changed, the tasks that used it are done again.

use std::collections::BTreeMap;

use gantry_core::life::{Life, TaskState};
use gantry_core::plan::Action;
use gantry_runners::Models;
use serde_json::{Value, json};

/// What is new about the prompts that tasks of a plan name, as facts.
///
/// A life whose finished tasks were done when nobody looked at prompts learns nothing about those: it would take every
/// prompt for a changed one.
pub(crate) fn news(life: &Life, models: &Models) -> BTreeMap<String, Value> {
    let mut used: BTreeMap<String, bool> = BTreeMap::new();
    for id in life.task_ids() {
        let Some(Action::Model(model)) = life.definition(id.as_str()).and_then(|task| task.action.as_ref()) else {
            continue;
        };
        let Some(prompt) = &model.prompt else { continue };
        let done = life.task_state(id.as_str()) == Some(TaskState::Completed);
        *used.entry(prompt.clone()).or_default() |= done;
    }
    let fresh = |(prompt, done): (String, bool)| {
        let fact = format!("prompt.{prompt}");
        let known = life.fact(&fact);
        let now = json!(models.fingerprint(&prompt)?);
        (known.map_or(!done, |known| *known != now)).then_some((fact, now))
    };
    used.into_iter().filter_map(fresh).collect()
}
