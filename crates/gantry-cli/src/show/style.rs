//! Colours. They are left out wherever the reader is no terminal.

use anstyle::{AnsiColor, Color, Style};
use gantry_core::life::{PlanState, TaskState};

use super::words::Tone;

const fn coloured(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(colour)))
}

/// Something is done.
pub const GOOD: Style = coloured(AnsiColor::Green);
/// Something went wrong.
pub const BAD: Style = coloured(AnsiColor::Red);
/// Something waits.
pub const WAITS: Style = coloured(AnsiColor::Yellow);
/// Something goes on.
pub const BUSY: Style = coloured(AnsiColor::Cyan);
/// Beside the point.
pub const FAINT: Style = Style::new().dimmed();
/// What one looks for first.
pub const STRONG: Style = Style::new().bold();
/// Nothing special.
pub const PLAIN: Style = Style::new();

/// The text in this style.
pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The style of a sort of news.
pub fn of_tone(tone: Tone) -> Style {
    match tone {
        Tone::Plain => PLAIN,
        Tone::Good => GOOD,
        Tone::Waits => WAITS,
        Tone::Bad => BAD,
    }
}

/// The style of a plan's state.
pub fn of_plan(state: PlanState) -> Style {
    match state {
        PlanState::Pending => FAINT,
        PlanState::Running => BUSY,
        PlanState::Paused | PlanState::Blocked => WAITS,
        PlanState::Completed => GOOD,
        PlanState::Failed | PlanState::Abandoned => BAD,
    }
}

/// The style of a task's state.
pub fn of_task(state: TaskState) -> Style {
    match state {
        TaskState::Pending | TaskState::Skipped => FAINT,
        TaskState::Ready => PLAIN,
        TaskState::Running => BUSY,
        TaskState::Waiting | TaskState::Blocked => WAITS,
        TaskState::Completed => GOOD,
        TaskState::Failed | TaskState::Abandoned => BAD,
    }
}
