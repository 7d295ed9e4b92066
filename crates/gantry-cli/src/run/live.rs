//! The live view on a terminal: a line for each running task, what waits, and how far it is.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anstream::ColorChoice;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::life::Life;
use gantry_core::plan::Action;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::follow::Follow;
use crate::show::elapsed::now;
use crate::show::forecast::{Forecast, Look};
use crate::show::page;
use crate::show::standing::progress;
use crate::show::weight::{Weight, percent_of};

/// How many running tasks have a line.
const TASKS_MAX: usize = 12;
/// How many of the things that are waited for are named.
const WAITS_MAX: usize = 3;
/// How often the view is drawn while nothing happens.
const TICK: Duration = Duration::from_millis(120);
/// How often it is foreseen when a plan will be done.
const FORESEE_EVERY: Duration = Duration::from_secs(2);
/// It is not for plans with more tasks: the view must not hold up the work.
const FORESEEN_TASKS_MAX: u32 = 2_000;

/// How finely the bar is drawn.
const BAR_STEPS: u64 = 1_000;
/// The work of plans with more tasks is weighed only now and then, and their futures are not drawn.
const WEIGHED_TASKS_MAX: u32 = 300;

/// The live view.
pub struct Live {
    all: MultiProgress,
    tasks: BTreeMap<(PlanId, TaskId), ProgressBar>,
    waits: ProgressBar,
    overall: ProgressBar,
    colour: bool,
    begun: bool,
    /// What was last foreseen of each plan.
    foreseen: BTreeMap<PlanId, Foreseen>,
    quiet: Quiet,
}

/// What was foreseen of a plan, and when.
struct Foreseen {
    at: Instant,
    words: Option<String>,
    weight: Weight,
}

/// While the view is drawn, control keys are not echoed: the `^C` of an interrupt would push the view down by a line,
/// and what was above it would stay.
struct Quiet(Option<Termios>);

impl Quiet {
    /// Stops the echo; not in the background, where touching the terminal would stop this process.
    fn begin() -> Self {
        let terminal = std::io::stderr();
        let in_front = tcgetpgrp(&terminal).is_ok_and(|front| front == getpgrp());
        let Some(before) = tcgetattr(&terminal).ok().filter(|_| in_front) else { return Self(None) };
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHOCTL);
        // A terminal that cannot be told is only less tidy.
        let _ = tcsetattr(&terminal, OptionalActions::Now, &quiet);
        Self(Some(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stderr(), OptionalActions::Now, before);
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are written here and are sound.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

impl Live {
    /// An empty view at the bottom of the terminal.
    pub fn new() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let colour = anstream::AutoStream::choice(&std::io::stderr()) != ColorChoice::Never;
        let waits = all.add(ProgressBar::new_spinner().with_style(style("{wide_msg}")));
        let overall =
            all.add(ProgressBar::new(0).with_style(style("[{bar:24}] {prefix}  {elapsed}{msg}").progress_chars("#>-")));
        Self {
            all,
            tasks: BTreeMap::new(),
            waits,
            overall,
            colour,
            begun: false,
            foreseen: BTreeMap::new(),
            quiet: Quiet::begin(),
        }
    }

    /// Shows a line above the view.
    pub fn line(&self, line: &str) {
        let line = if self.colour { line.to_owned() } else { anstream::adapter::strip_str(line).to_string() };
        // A terminal that is gone shows nothing.
        let _ = self.all.println(line);
    }

    /// When a plan will be done; looked at only now and then.
    fn foresee(&mut self, follow: &Follow) -> Option<String> {
        if let Some(known) = self.foreseen.get(follow.plan()).filter(|known| known.at.elapsed() < FORESEE_EVERY) {
            return known.words.clone();
        }
        let few = follow.life.task_count() <= FORESEEN_TASKS_MAX;
        let now = now();
        let look = if follow.life.task_count() <= WEIGHED_TASKS_MAX { Look::Close } else { Look::Glance };
        let forecast = few.then(|| Forecast::of(&follow.life, &follow.timeline, now, look)).flatten();
        let words = forecast.map(|forecast| forecast.brief(now));
        let weight = Weight::of(&follow.life);
        self.foreseen.insert(follow.plan().clone(), Foreseen { at: Instant::now(), words: words.clone(), weight });
        words
    }

    /// How much of a plan is done, by what its tasks take.
    fn weigh(&self, follow: &Follow) -> Weight {
        let known = self.foreseen.get(follow.plan()).filter(|_| follow.life.task_count() > WEIGHED_TASKS_MAX);
        known.map_or_else(|| Weight::of(&follow.life), |known| known.weight)
    }

    /// Shows where the plans stand.
    pub fn update<'f>(&mut self, follows: impl Iterator<Item = &'f Follow>) {
        let (mut done, mut total, mut notes, mut waits) = (0, 0, Vec::new(), Vec::new());
        let (mut running, mut weight) = (BTreeMap::new(), Weight::default());
        for follow in follows {
            let (over, all) = progress(&follow.life);
            (done, total) = (done + u64::from(over), total + u64::from(all));
            notes.extend(page::cost(&follow.life));
            notes.extend(self.foresee(follow));
            weight = weight.and(self.weigh(follow));
            waits.extend(follow.life.waits().map(|wait| {
                let whom = wait.task.as_ref().and_then(|task| whom(&follow.life, task)).unwrap_or_default();
                let task = wait.task.map(|task| format!("{task} waits for ")).unwrap_or_default();
                format!("{task}{}{whom}", wait.what)
            }));
            for (task, _) in follow.life.in_flight() {
                let last = follow.last_lines.get(&task).cloned().unwrap_or_default();
                running.insert((follow.plan().clone(), task), last);
            }
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to the length")]
        let step = (weight.share() * 1_000.0) as u64;
        self.overall.set_length(BAR_STEPS);
        self.overall.set_position(step.min(BAR_STEPS));
        self.overall.set_prefix(format!("{done}/{total}, {}%", percent_of(weight)));
        if !self.begun {
            // Not before it is known how much there is: a bar of nothing is a full one.
            self.overall.enable_steady_tick(TICK);
            self.begun = true;
        }
        notes.insert(0, String::new()); // two spaces before the first
        self.overall.set_message(notes.join("  "));
        let more = waits.len().saturating_sub(WAITS_MAX);
        waits.truncate(WAITS_MAX);
        if more > 0 {
            waits.push(format!("and {more} more"));
        }
        self.waits.set_message(waits.join("; "));
        self.tasks.retain(|key, bar| {
            let still = running.contains_key(key);
            if !still {
                bar.finish_and_clear();
            }
            still
        });
        for (key, last) in running {
            if !self.tasks.contains_key(&key) && self.tasks.len() < TASKS_MAX {
                let bar =
                    ProgressBar::new_spinner().with_style(style("{spinner} {prefix}  {elapsed}  {wide_msg:.dim}"));
                let bar = self.all.insert_before(&self.waits, bar.with_prefix(key.1.to_string()));
                bar.enable_steady_tick(TICK);
                self.tasks.insert(key.clone(), bar);
            }
            if let Some(bar) = self.tasks.get(&key) {
                bar.set_message(last);
            }
        }
    }

    /// Takes the view away.
    pub fn close(self) {
        self.tasks.into_values().for_each(|bar| bar.finish_and_clear());
        self.waits.finish_and_clear();
        self.overall.finish_and_clear();
        drop(self.quiet);
    }
}

/// Who is to do something about a task, where the plan says so.
fn whom(life: &Life, task: &TaskId) -> Option<String> {
    let task = life.definition(task.as_str())?;
    let (role, people) = match &task.action {
        Some(Action::Gate(gate)) => (gate.role.as_deref(), gate.approvers.join(", ")),
        _ => (None, String::new()),
    };
    let people = Some(people).filter(|people| !people.is_empty()).or_else(|| task.owner.clone());
    match (people, role) {
        (Some(people), Some(role)) => Some(format!(" by {people} ({role})")),
        (Some(who), None) => Some(format!(" by {who}")),
        (None, Some(role)) => Some(format!(" by a {role}")),
        (None, None) => None,
    }
}
