//! What would keep a deadline that is missed; each remedy is tried out before it is told.

use super::late::{Due, Fix, dues};
use super::{Computed, Options, compute};
use crate::network::{Network, Node, Role, drives, forward};
use crate::project::{Length, ReferenceClass, Task};
use crate::what_if::apply;

/// Tasks whose shortening is tried out as a remedy; more would be a list and not advice.
const REMEDIES_MAX: usize = 5;

/// So many tasks are scheduled again in all to try remedies out, so that a large project with many missed deadlines is
/// not scheduled for minutes.
const TRIED_TASKS_MAX: usize = 50_000;

/// Finds and tries out remedies for one schedule.
pub(super) struct Remedies<'c, 'p> {
    computed: &'c Computed<'p>,
    options: Options,
    /// Without people the links say how all moves, and no trial would say anything else.
    contested: bool,
    tries: usize,
}

impl<'c, 'p> Remedies<'c, 'p> {
    pub(super) fn new(computed: &'c Computed<'p>, options: &Options) -> Self {
        let tasks = &computed.model.tasks;
        Self {
            computed,
            // A search only ever adds to what the rules find.
            options: Options { schedules: 0, draws: 0, ..options.clone() },
            contested: tasks.iter().any(|task| !task.needs.is_empty()),
            tries: TRIED_TASKS_MAX / tasks.len().max(1),
        }
    }

    /// What would keep a deadline, each on its own. The gap is in work on the project's calendar.
    pub(super) fn fixes(&mut self, due: &Due<'_>, subject: &str, gap: i64) -> Vec<Fix> {
        let frame = &self.computed.model.frame;
        let path = due.id.map_or("project".to_owned(), |id| format!("task.{id}"));
        let finish = frame.moment(due.finish);
        let moved = format!("{path}.deadline={finish} hard");
        let mut fixes = Vec::new();
        if self.helps(due, &moved) {
            let what = format!("move the deadline of {subject} to {}", finish.told());
            fixes.push(Fix { what, change: Some(moved) });
        } else {
            let what = format!("do without the deadline of {subject}");
            fixes.push(Fix { what, change: Some(format!("{path}.deadline=none")) });
        }
        fixes.extend(self.shortenings(due));
        if fixes.len() == 1 && due.at > self.computed.model.from {
            let what = format!("shorten several tasks on the way to it by {} together", frame.amount(gap));
            fixes.push(Fix { what, change: None });
        }
        fixes
    }

    /// Tasks that would keep the deadline if they alone were shorter by the gap, or not held back.
    fn shortenings(&mut self, due: &Due<'_>) -> Vec<Fix> {
        let computed = self.computed;
        let model = &computed.model;
        let mut on_the_way = on_the_way(computed, due);
        on_the_way.sort_by_key(|&at| (-computed.network.nodes[at].duration, at));
        let mut fixes = Vec::new();
        for at in on_the_way.into_iter().take(REMEDIES_MAX) {
            let node = &computed.network.nodes[at];
            let task = model.tasks[node.task];
            let gap = model.lines.all[node.line].work_between(due.at, due.finish).max(0);
            let (left, change) = shorter(computed, task, node, gap);
            let mut tried = computed.network.clone();
            tried.nodes[at].duration = left;
            if node.duration >= gap && finish_of(computed, &tried, due) <= due.at && self.helps(due, &change) {
                let less = model.frame.amount(gap);
                fixes.push(Fix { what: format!("make `{}` shorter by {less}", task.id), change: Some(change) });
            }
            if task.start_no_earlier.is_some() && node.earliest > model.from {
                let change = format!("task.{}.start_no_earlier=none", task.id);
                let mut tried = computed.network.clone();
                tried.nodes[at].earliest = model.from;
                if finish_of(computed, &tried, due) <= due.at && self.helps(due, &change) {
                    let what = format!("let `{}` start before {}", task.id, model.frame.moment(node.earliest).told());
                    fixes.push(Fix { what, change: Some(change) });
                }
            }
        }
        fixes
    }

    /// Whether a change keeps a deadline. When there were too many trials, links alone are trusted, but not people.
    fn helps(&mut self, due: &Due<'_>, change: &str) -> bool {
        if self.tries == 0 {
            return !self.contested;
        }
        self.tries -= 1;
        let Ok(changed) = apply(self.computed.model.project, change) else { return false };
        let Ok(computed) = compute(&changed, &self.options, &|| false) else { return false };
        let kept = |other: &Due<'_>| other.id == due.id && other.finish <= other.at;
        dues(&computed).iter().any(kept)
    }
}

/// What is left of a task that becomes shorter, in seconds, and the change that makes it so.
fn shorter(computed: &Computed<'_>, task: &Task, node: &Node, gap: i64) -> (i64, String) {
    let model = &computed.model;
    let elapsed = task.estimate.is_some_and(|estimate| estimate.likely.is_elapsed());
    let length = |seconds: i64| if elapsed { Length::seconds(seconds).elapsed() } else { Length::seconds(seconds) };
    let left = (node.duration - gap).max(0);
    // Estimates from an hour on are taken in whole minutes.
    let left = if left >= 3_600 { left / 60 * 60 } else { left };
    let progress = &task.progress;
    if progress.started.is_some() || progress.percent.is_some() || progress.remaining.is_some() {
        return (left, format!("task.{}.progress.remaining={}", task.id, length(left)));
    }
    let class = task.class.as_deref().and_then(|id| model.project.classes.iter().find(|class| class.id == id));
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "lengths are below 2^36 seconds")]
    let estimate = class.map_or(left, |class| (left as f64 / ReferenceClass::mean(class)).floor() as i64);
    (left, format!("task.{}.estimate={}", task.id, length(estimate)))
}

fn finish_of(computed: &Computed<'_>, network: &Network, due: &Due<'_>) -> i64 {
    let model = &computed.model;
    let times = forward(network, &model.lines.all);
    match due.task {
        Some(task) => times[model.last_of[task]].finish,
        None => times.iter().map(|times| times.finish).max().unwrap_or(0),
    }
}

/// The tasks on one driving path to what is due.
fn on_the_way(computed: &Computed<'_>, due: &Due<'_>) -> Vec<usize> {
    let (network, times, lines) = (&computed.network, &computed.placement.times, &computed.model.lines.all);
    let last = match due.task {
        Some(task) => Some(computed.model.last_of[task]),
        None => (0..network.len()).rev().find(|at| times[*at].finish == due.finish),
    };
    let before =
        |&at: &usize| network.ties_into(at).iter().find(|tie| drives(network, lines, times, tie)).map(|tie| tie.from);
    std::iter::successors(last, before).filter(|&at| network.nodes[at].role == Role::Work).collect()
}
