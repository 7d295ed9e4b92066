//! What is said when carrying out a plan has come to its end.

use std::time::Duration;

use gantry_core::life::{PlanState, TaskState};
use gantry_engine::Ending;

use crate::exit;
use crate::show::elapsed::elapsed;
use crate::show::next::Next;
use crate::show::standing::Standing;
use crate::show::style::{self, paint};
use crate::show::{first_line, page, plain, results, shortfalls, text_of, without_empty_reason};

/// How many of the things that are waited for are named.
const WAITS_MAX: usize = 8;

/// The exit code for an ending.
pub fn code(ending: &Ending) -> u8 {
    match ending {
        Ending::Ended { state: PlanState::Completed, .. } => exit::DONE,
        Ending::Ended { .. } => exit::FAILED,
        Ending::Waiting(_) | Ending::Parked | Ending::Stopped => exit::WAITING,
    }
}

/// The ending in one word, for programs.
pub fn word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Ended { .. } => "ended",
        Ending::Waiting(_) => "waiting",
        Ending::Parked => "parked",
        Ending::Stopped => "stopped",
    }
}

/// The summary for people.
pub fn summary(ending: &Ending, standing: &Standing, took: Duration, width: usize) -> String {
    let (life, id) = (&standing.life, &standing.card.id);
    let state = match ending {
        Ending::Ended { state, .. } => paint(style::of_plan(*state), state),
        Ending::Waiting(_) if life.state() == PlanState::Paused => paint(style::WAITS, "paused"),
        Ending::Waiting(_) => paint(style::WAITS, "waiting"),
        Ending::Parked => paint(style::WAITS, "paused"),
        Ending::Stopped => paint(style::BAD, "stopped; what ran counts as lost"),
    };
    let title = paint(style::STRONG, first_line(&standing.card.card.title, 100));
    let mut lines = vec![format!("{title} ({id}): {state}")];
    lines.push(format!("  {}", counts(standing, took)));
    for task in life.task_ids() {
        let Some(known) = life.task_life(task.as_str()) else { continue };
        // A failure that ended the plan is among its causes.
        let told = life.causes().iter().any(|cause| cause.contains(&format!("`{task}`")));
        let failed = life.task_state(task.as_str()) == Some(TaskState::Failed) && !told;
        let why = known.failure.as_ref().map(|failure| first_line(&failure.message, 200)).unwrap_or_default();
        if failed {
            lines.push(format!("  {}: {task}: {why}", paint(style::BAD, "failed")));
        } else if known.is_degraded() {
            let why = known.shortfall.as_ref().map_or(why, |shortfall| first_line(shortfall, 200));
            lines.push(format!("  {}: {task}: {why}", paint(style::WAITS, "degraded")));
        }
    }
    for cause in life.causes() {
        lines.push(format!("  {}: {}", paint(style::BAD, "why"), plain(without_empty_reason(cause))));
    }
    for shortfall in shortfalls::all(life) {
        lines.push(format!("  {}: {}", paint(style::WAITS, &shortfall.title), plain(&shortfall.lines.join("; "))));
    }
    if let Some(reason) = life.taking_back().and_then(|back| back.halted) {
        lines.push(format!("  {}: {}", paint(style::BAD, "stuck"), plain(reason)));
    } else {
        // An ending that waits also knows what plans inside this one wait for.
        let waits = match ending {
            Ending::Waiting(waits) => waits.clone(),
            Ending::Ended { .. } | Ending::Parked | Ending::Stopped => life.waits_for(),
        };
        for wait in waits.iter().take(WAITS_MAX) {
            let task = wait.task.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
            lines.push(format!("  {}: {task}for {}", paint(style::WAITS, "waits"), first_line(&wait.what, 200)));
        }
        let more = waits.len().saturating_sub(WAITS_MAX);
        if more > 0 {
            lines.push(format!("  {}: and {more} more", paint(style::WAITS, "waits")));
        }
    }
    let results = if life.state() == PlanState::Completed { results::draw(life, width) } else { String::new() };
    if !results.is_empty() {
        lines.push("results:".to_owned());
        lines.extend(results.lines().map(str::to_owned));
    }
    let mut steps = standing.steps();
    steps.push(Next { command: format!("gantry status {id}"), does: "see where it stands".to_owned() });
    lines.push("next:".to_owned());
    text_of(lines) + &page::commands(&steps)
}

/// `3 of 4 done, 1 failed, in 1.2s, $1.20`.
///
/// What is decided in one turn takes no time in the journal; the time that this process took is the least.
fn counts(standing: &Standing, took: Duration) -> String {
    let counts = standing.life.counts();
    let total = standing.life.task_count();
    let done = counts.get(&TaskState::Completed).copied().unwrap_or(0);
    let mut parts = vec![format!("{done} of {total} done")];
    let others = counts.iter().filter(|(state, _)| **state != TaskState::Completed);
    let over = standing.life.state().is_over();
    let name = |state: &TaskState| if over && *state == TaskState::Pending { "not started" } else { state.name() };
    parts.extend(others.map(|(state, number)| format!("{number} {}", name(state))));
    let took = gantry_core::time::Duration::from_ms(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    parts.extend(standing.elapsed().map(|length| format!("in {}", elapsed(length.max(took)))));
    parts.extend(page::cost(&standing.life));
    parts.join(", ")
}
