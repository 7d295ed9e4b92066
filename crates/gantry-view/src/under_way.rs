//! A plan of the record as a project: what is done stands at its real times, and what is under way goes on.

use gantry_core::life::{Life, TaskState};
use gantry_core::plan::{Plan, own_part, when};
use gantry_core::time::Timestamp;
use gantry_engine::EngineError;
use gantry_schedule::Project;
use gantry_schedule::project::{Progress, Task, When};
use gantry_store::Store;

use crate::timeline::{Span, Timeline};

/// The work of a plan of the record, as it stands.
pub async fn project_of(store: &dyn Store, life: &Life, now: Timestamp) -> Result<Project, EngineError> {
    let timeline = gantry_engine::open(store, life.id()).await?.timeline;
    Ok(project_at(life, &timeline, now))
}

/// The same where its times are known.
pub fn project_at(life: &Life, timeline: &Timeline, now: Timestamp) -> Project {
    let work = life.proposed().work();
    let begun = work.tasks.iter().any(|task| timeline.task(&task.id).began.is_some());
    // Work that waits to be accepted starts when it says.
    if begun || work == life.plan() { UnderWay { life, timeline }.project(&work, now) } else { work.project(now) }
}

/// The work of a plan as it was to happen when it began; none before that.
pub fn planned_of(life: &Life, timeline: &Timeline) -> Option<Project> {
    Some(life.proposed().work().project(timeline.plan.began?))
}

/// What is known of a plan that lives.
#[derive(Clone, Copy)]
pub struct UnderWay<'l> {
    /// Its life.
    pub life: &'l Life,
    /// When things began and ended.
    pub timeline: &'l Timeline,
}

impl UnderWay<'_> {
    /// The project of the plan as it stands now, or as it was when it ended.
    pub fn project(self, plan: &Plan, now: Timestamp) -> Project {
        let Span { began, ended } = self.timeline.plan;
        let Some(began) = began else { return plan.project(now) };
        let mut project = plan.project(began);
        let start = project.start.unwrap_or_else(|| when(began));
        project.data_date = Some(when(ended.unwrap_or(now)));
        // The project has the tasks in their order, each perhaps followed by its own part.
        let mut rows = project.tasks.iter_mut().peekable();
        for task in &plan.tasks {
            let (state, span) = (self.life.task_state(task.id.as_str()), self.timeline.task(&task.id));
            if let Some(row) = rows.next_if(|row| row.id == task.id.as_str()) {
                stand(row, state, span, start);
            }
            if let Some(row) = rows.next_if(|row| row.id == own_part(task.id.as_str())) {
                // When the task began, its parts did; when it begins its own part nobody tells.
                stand(row, state, Span { began: None, ended: span.ended }, start);
            }
        }
        project.with_time_used()
    }
}

/// Puts a task where it stands.
fn stand(task: &mut Task, state: Option<TaskState>, span: Span, start: When) {
    let (began, ended) = (span.began.map(when), span.ended.map(when));
    match state {
        Some(TaskState::Completed | TaskState::Failed | TaskState::Abandoned) if ended.is_some() => {
            let cost = task.progress.cost.take();
            task.progress = Progress { started: began, finished: ended, cost, ..Progress::default() };
        }
        // It was done before the plan began.
        Some(TaskState::Completed) => {
            let cost = task.progress.cost.take();
            task.progress = Progress { started: Some(start), finished: Some(start), cost, ..Progress::default() };
        }
        Some(TaskState::Skipped | TaskState::Abandoned | TaskState::Failed) => {
            task.estimate = None;
            task.needs.clear();
            task.costs.clear();
        }
        Some(TaskState::Pending | TaskState::Ready | TaskState::Running | TaskState::Waiting | TaskState::Blocked)
        | None => task.progress.started = began,
    }
}
