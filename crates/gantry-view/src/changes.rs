//! What a change would mean, before anyone makes it; and which entries are decisions of people and limits.

use std::collections::BTreeSet;

use gantry_core::event::Event;
use gantry_core::id::TaskId;
use gantry_core::input::Input;
use gantry_core::life::{Life, Refusal, TaskState};
use gantry_core::time::Timestamp;

/// What would be done again for sure, and what perhaps, if those give something else.
pub fn done_again(life: &Life, input: &Input, now: Timestamp) -> Result<(Vec<TaskId>, Vec<TaskId>), Refusal> {
    let verdict = life.decide(input, now)?;
    let mut again = Vec::new();
    for entry in &verdict.events {
        if let Event::TaskReopened { task, .. } = &entry.event
            && !again.contains(task)
        {
            again.push(task.clone());
        }
    }
    let plan = life.plan();
    let waits = plan.waits();
    let mut reached: BTreeSet<TaskId> = again.iter().cloned().collect();
    loop {
        let behind = plan.tasks.iter().zip(&waits).filter(|(_, waits)| waits.iter().any(|task| reached.contains(task)));
        let news: Vec<TaskId> = behind.map(|(task, _)| task.id.clone()).filter(|id| !reached.contains(id)).collect();
        if news.is_empty() {
            break;
        }
        reached.extend(news);
    }
    let done = |task: &TaskId| life.task_state(task.as_str()) == Some(TaskState::Completed) && !again.contains(task);
    let perhaps = life.task_ids().into_iter().filter(|task| reached.contains(task) && done(task)).collect();
    Ok((again, perhaps))
}

/// Tells whether people or limits decided something.
pub fn is_decision(event: &Event) -> bool {
    matches!(
        event,
        Event::PlanCreated { .. }
            | Event::PlanForked { .. }
            | Event::PlanPaused { .. }
            | Event::PlanResumed { .. }
            | Event::PlanAbandoned { .. }
            | Event::PlanReopened { .. }
            | Event::PlanRevised { .. }
            | Event::PlanCompleted { .. }
            | Event::PlanFailed { .. }
            | Event::GateDecided { .. }
            | Event::PersonAnswered { .. }
            | Event::Judged { .. }
            | Event::Escalated { .. }
            | Event::BreakerTripped { .. }
            | Event::BreakerReset
            | Event::UndoBegun { .. }
            | Event::UndoPassedOver { .. }
            | Event::OutputEdited { .. }
            | Event::EvidenceAdded { .. }
            | Event::NoteAdded { .. }
    )
}
