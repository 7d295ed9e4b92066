//! What a judge is shown.
//!
//! The result of a task is what the task handed in. Before a task starts, it is what the task works on and what those
//! gave for which it waits; for the plan as a whole, it is what every task gave.

use gantry_core::event::Outputs;
use gantry_core::id::TaskId;
use gantry_core::life::Life;
use serde_json::json;

/// How much of what tasks gave is shown in all.
const SHOWN_BYTES_MAX: usize = 32_000;

/// What a judge is shown of a task, or of the plan; `outputs` is the result that it is about, if it is about one.
pub(crate) fn shown(life: &Life, task: Option<&TaskId>, outputs: Outputs) -> Outputs {
    if !outputs.is_empty() {
        return outputs;
    }
    let (mut shown, ids) = match task {
        Some(task) => {
            let before = life.definition(task.as_str()).map(|task| task.depends_on.clone()).unwrap_or_default();
            (life.inputs_of(task.as_str()), before)
        }
        None => (Outputs::new(), life.task_ids()),
    };
    let (mut room, mut left_out) = (SHOWN_BYTES_MAX, Vec::new());
    for id in ids {
        let Some(outputs) = life.outputs(id.as_str()).filter(|outputs| !outputs.is_empty()) else { continue };
        let given = gantry_runners::judge::abridged(&json!(outputs));
        let bytes = given.to_string().len();
        if bytes <= room {
            room -= bytes;
            shown.insert(id.to_string(), given);
        } else {
            left_out.push(id);
        }
    }
    if !left_out.is_empty() {
        let note = format!("there is no room for what {} more tasks gave", left_out.len());
        shown.insert("left out".to_owned(), json!(note));
    }
    shown
}
