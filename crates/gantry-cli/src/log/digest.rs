//! The story of a plan in short: day by day what was finished, what failed, who decided what and why.

use std::collections::BTreeMap;
use std::fmt;

use gantry_core::event::{Entry, Event};
use gantry_core::plan::Money;
use serde_json::{Value, json};

use crate::show::elapsed::{clock, elapsed};
use crate::show::page;
use crate::show::standing::Standing;
use crate::show::style::{self, paint};
use crate::show::words::said;
use crate::show::{first_line, plain};

/// How many lines of one sort a day has.
const LINES_MAX: usize = 30;

/// What happened on one day.
#[derive(Default)]
struct Day {
    finished: Vec<String>,
    failed: Vec<String>,
    decided: Vec<String>,
    changed: Vec<String>,
    cost: Money,
}

/// The story of a plan.
pub struct Digest<'s> {
    standing: &'s Standing,
    days: BTreeMap<String, Day>,
}

impl<'s> Digest<'s> {
    /// Tells a journal in short.
    pub fn of(standing: &'s Standing, entries: &[Entry]) -> Self {
        let mut days: BTreeMap<String, Day> = BTreeMap::new();
        for entry in entries {
            let day = days.entry(clock(entry.at).chars().take(10).collect()).or_default();
            let line = || said(&entry.event).line();
            match &entry.event {
                Event::TaskCompleted { task, .. } => day.finished.push(task.to_string()),
                Event::TaskFailed { task, failure, .. } => {
                    day.failed.push(format!("{task}: {}", first_line(&failure.message, 200)));
                }
                Event::TaskAbandoned { .. } => day.failed.push(line()),
                Event::GateDecided { .. }
                | Event::PersonAnswered { .. }
                | Event::PlanAbandoned { .. }
                | Event::PlanPaused { .. }
                | Event::PlanResumed { .. }
                | Event::OutputEdited { .. }
                | Event::TaskSkipped { by_hand: true, .. } => day.decided.push(line()),
                Event::PlanRevised { .. } | Event::PlanReopened { .. } | Event::BreakerTripped { .. } => {
                    day.changed.push(line());
                }
                _ => {} // not part of the story in short
            }
            day.cost = Money(day.cost.0.saturating_add(cost_of(&entry.event).0));
        }
        Self { standing, days }
    }

    /// The story for programs.
    pub fn to_json(&self) -> Value {
        let day = |(date, day): (&String, &Day)| {
            json!({
                "date": date, "finished": day.finished, "failed": day.failed, "decided": day.decided,
                "changed": day.changed, "cost_usd": day.cost,
            })
        };
        let days: Vec<Value> = self.days.iter().map(day).collect();
        json!({
            "plan": self.standing.card.id,
            "title": self.standing.card.card.title,
            "state": self.standing.life.state(),
            "days": days,
            "waiting_for": self.standing.life.waits_for(),
            "causes": self.standing.life.causes(),
            "cost_usd": self.standing.life.spent().cost_usd,
        })
    }
}

/// What an event says was used.
fn cost_of(event: &Event) -> Money {
    match event {
        Event::AttemptSucceeded { usage, .. }
        | Event::AttemptFailed { usage, .. }
        | Event::AnswerIgnored { usage, .. }
        | Event::Judged { usage, .. }
        | Event::JudgeFailed { usage, .. }
        | Event::Verified { usage, .. }
        | Event::TaskUndone { usage, .. }
        | Event::UndoFailed { usage, .. } => usage.cost_usd,
        _ => Money::default(), // nothing is used
    }
}

impl fmt::Display for Digest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Standing { card, life, .. } = self.standing;
        let (done, total) = self.standing.progress();
        let title = paint(style::STRONG, first_line(&card.card.title, 100));
        let state = paint(style::of_plan(life.state()), life.state());
        write!(f, "{title} ({}): {state}, {done} of {total} done", card.id)?;
        if let Some(length) = self.standing.elapsed() {
            write!(f, ", {}", elapsed(length))?;
        }
        if let Some(cost) = page::cost(life) {
            write!(f, ", {cost}")?;
        }
        writeln!(f)?;
        for (date, day) in &self.days {
            writeln!(f, "\n{date}")?;
            if !day.finished.is_empty() {
                writeln!(f, "  finished: {}", shortened(&day.finished))?;
            }
            for (what, lines) in [("failed", &day.failed), ("decided", &day.decided), ("changed", &day.changed)] {
                for line in lines.iter().take(LINES_MAX) {
                    writeln!(f, "  {what}: {line}")?;
                }
                if lines.len() > LINES_MAX {
                    writeln!(f, "  {what}: and {} more", lines.len() - LINES_MAX)?;
                }
            }
            if day.cost != Money::default() {
                writeln!(f, "  spent: ${}", day.cost)?;
            }
        }
        let waits = life.waits_for();
        if !waits.is_empty() {
            writeln!(f, "\nwaits:")?;
        }
        for wait in waits {
            let task = wait.task.map(|task| format!("{task}: ")).unwrap_or_default();
            writeln!(f, "  {task}for {}", plain(&wait.what))?;
        }
        Ok(())
    }
}

/// Names, as many as one wants to read.
fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(LINES_MAX).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > LINES_MAX { format!("{shown} and {} more", names.len() - LINES_MAX) } else { shown }
}
