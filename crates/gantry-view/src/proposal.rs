//! What planning says about the work that it proposes: in time or not, within the budget or not.

use gantry_core::life::{Life, TaskState};
use gantry_core::plan::Action;
use serde::Deserialize;

/// The tool that says what the work means in time and money.
const FORESEES: &str = "plan.forecast";

/// What the work means, as it was planned.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Proposal {
    /// When it is done in half of all futures: a date.
    pub finish_p50: Option<String>,
    /// And in eight of ten.
    pub finish_p80: Option<String>,
    /// When it has to be done.
    pub deadline: Option<String>,
    /// What everything costs, if nothing goes wrong.
    pub cost: Option<u64>,
    /// What it costs in half of all futures.
    pub cost_p50: Option<u64>,
    /// And in eight of ten.
    pub cost_p80: Option<u64>,
    /// What may be spent.
    pub budget: Option<u64>,
    /// In which currency.
    pub currency: String,
    /// Whether everything that was asked for can be had.
    pub feasible: bool,
    /// What cannot, and by how much.
    pub gaps: Vec<String>,
    /// What would help.
    pub options: Vec<String>,
}

impl Proposal {
    /// What the newest planning in a plan has found; nothing where nothing was planned.
    pub fn of(life: &Life) -> Option<Self> {
        let plan = life.plan();
        let foresees = |action: &Action| matches!(action, Action::Tool(called) if called.name == FORESEES);
        let done = plan.tasks.iter().rev().find(|task| {
            task.action.as_ref().is_some_and(foresees)
                && life.task_state(task.id.as_str()) == Some(TaskState::Completed)
        })?;
        let overview = life.outputs(done.id.as_str())?.get("overview")?.clone();
        serde_json::from_value(overview).ok().filter(|made: &Self| made.finish_p50.is_some())
    }
}
