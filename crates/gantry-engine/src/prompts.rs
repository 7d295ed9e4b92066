//! The prompts that a plan uses: when one has changed, the tasks that used it are done again.

use std::collections::BTreeMap;

use gantry_core::event::Event;
use gantry_core::id::TaskId;
use gantry_core::input::Input;
use gantry_core::life::{Life, TaskState};
use gantry_core::plan::Action;
use gantry_core::time::Timestamp;
use gantry_runners::Models;
use serde_json::{Value, json};

/// Under which names a plan knows its prompts.
const FACT: &str = "prompt.";

/// A prompt that is another one than when the plan used it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPrompt {
    /// Its name.
    pub prompt: String,
    /// The finished tasks that are asked again with it when the plan is taken up.
    pub asked_again: Vec<TaskId>,
}

/// Which prompts have changed since a plan used them, and what would be asked again with each. Asks nobody, and changes
/// nothing.
pub fn changed_prompts(life: &Life, models: &Models, now: Timestamp) -> Vec<ChangedPrompt> {
    let changed = news(life, models).into_iter().filter(|(fact, _)| life.fact(fact).is_some());
    let with_tasks = changed.map(|(fact, value)| {
        let facts = BTreeMap::from([(fact.clone(), value)]);
        let asked_again = life.decide(&Input::Observed { facts }, now).map_or_else(
            |_| Vec::new(),
            |verdict| {
                let reopened = verdict.events.into_iter().filter_map(|entry| match entry.event {
                    Event::TaskReopened { task, .. } => Some(task),
                    _ => None,
                });
                reopened.filter(|task| uses(life, task, &fact)).collect()
            },
        );
        ChangedPrompt { prompt: fact.trim_start_matches(FACT).to_owned(), asked_again }
    });
    with_tasks.collect()
}

/// Tells whether a task is asked with this prompt.
fn uses(life: &Life, task: &TaskId, fact: &str) -> bool {
    let Some(Action::Model(model)) = life.definition(task.as_str()).and_then(|task| task.action.as_ref()) else {
        return false;
    };
    model.prompt.as_ref().is_some_and(|prompt| fact.strip_prefix(FACT) == Some(prompt))
}

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
        let fact = format!("{FACT}{prompt}");
        let known = life.fact(&fact);
        let now = json!(models.fingerprint(&prompt)?);
        (known.map_or(!done, |known| *known != now)).then_some((fact, now))
    };
    used.into_iter().filter_map(fresh).collect()
}
