//! Deadlines and needs: what cannot be kept, by how much, and what would help.

use serde::Serialize;

use super::Computed;
use crate::frame::{Edge, Moment, Quantity};
use crate::network::{Network, Role, drives, forward};
use crate::project::{Amount, Deadline, Who};

/// Tasks whose shortening is tried out as a remedy; more would be a list and not advice.
const REMEDIES_MAX: usize = 5;

/// How a deadline stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The task; none is the whole project.
    pub task: Option<String>,
    /// By when.
    pub at: Moment,
    /// Whether it is hard.
    pub hard: bool,
    /// When it is really done.
    pub finish: Moment,
    /// Whether that is in time.
    pub met: bool,
    /// How much work lies between the two: before the deadline when met, after it when not.
    pub margin: Quantity,
    /// The share of drawn futures in which it is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}

/// Something that cannot be kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Infeasible {
    /// Which constraint.
    pub constraint: Constraint,
    /// In one sentence: which constraint, and by how much it is missed.
    pub what: String,
    /// What would help, each on its own; tried out where it can be.
    pub fixes: Vec<Fix>,
}

/// A constraint that cannot be kept, and by how much.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Constraint {
    /// A hard deadline.
    Deadline {
        /// The task; none is the whole project.
        task: Option<String>,
        /// By when.
        at: Moment,
        /// How much work lies after it.
        by: Quantity,
    },
    /// A task needs more of a resource than there ever is.
    Capacity {
        /// The task.
        task: String,
        /// The resource.
        resource: String,
        /// How much it needs.
        needed: Amount,
        /// How much there is.
        there: Amount,
    },
    /// A task needs more people with a role and skills than there are.
    People {
        /// The task.
        task: String,
        /// The role.
        role: Option<String>,
        /// The skills.
        skills: Vec<String>,
        /// How many it needs.
        needed: u32,
        /// How many there are.
        there: u32,
    },
}

/// Something that would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// In words.
    pub what: String,
    /// As a change that can be tried: `task.x.deadline=2026-06-30`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

struct Due<'a> {
    task: Option<usize>,
    id: Option<&'a str>,
    deadline: Deadline,
    at: i64,
    finish: i64,
}

fn dues<'a>(computed: &'a Computed<'_>) -> Vec<Due<'a>> {
    let model = &computed.model;
    let whole = model.project.deadline.map(|deadline| (None, None, deadline, computed.end));
    let each = model.tasks.iter().enumerate().filter_map(|(task, given)| {
        let (_, finish) = computed.span(task);
        given.deadline.map(|deadline| (Some(task), Some(&*given.id), deadline, finish))
    });
    let due = |(task, id, deadline, finish): (_, _, Deadline, _)| {
        model.second(deadline.at, Edge::Last).map(|at| Due { task, id, deadline, at, finish })
    };
    whole.into_iter().chain(each).filter_map(due).collect()
}

/// How each deadline stands, the project's first.
pub(super) fn verdicts(computed: &Computed<'_>) -> Vec<Verdict> {
    let model = &computed.model;
    let verdict = |due: Due<'_>| Verdict {
        task: due.id.map(str::to_owned),
        at: model.frame.moment(due.at),
        hard: due.deadline.hard,
        finish: model.frame.moment(due.finish),
        met: due.finish <= due.at,
        margin: model.frame.quantity(model.line().work_between(due.finish, due.at).abs()),
        probability: None,
    };
    dues(computed).into_iter().map(verdict).collect()
}

/// Everything that cannot be kept.
pub(super) fn infeasible(computed: &Computed<'_>) -> Vec<Infeasible> {
    let missed = dues(computed).into_iter().filter(|due| due.deadline.hard && due.finish > due.at);
    let missed = missed.map(|due| deadline(computed, &due));
    missed.chain(computed.placement.unmet.iter().map(|unmet| need(computed, unmet))).collect()
}

fn deadline(computed: &Computed<'_>, due: &Due<'_>) -> Infeasible {
    let frame = &computed.model.frame;
    let gap = computed.model.line().work_between(due.at, due.finish).max(0);
    let subject = due.id.map_or("the project".to_owned(), |id| format!("`{id}`"));
    let (at, finish) = (frame.moment(due.at), frame.moment(due.finish));
    let path = due.id.map_or("project".to_owned(), |id| format!("task.{id}"));
    let mut fixes = vec![Fix {
        what: format!("move the deadline of {subject} to {finish}"),
        change: Some(format!("{path}.deadline={finish} hard")),
    }];
    fixes.extend(shortenings(computed, due, gap));
    if fixes.len() == 1 {
        let what = format!("shorten several tasks on the way to it by {} together", frame.amount(gap));
        fixes.push(Fix { what, change: None });
    }
    Infeasible {
        constraint: Constraint::Deadline { task: due.id.map(str::to_owned), at, by: frame.quantity(gap) },
        what: format!("{subject} is due by {at} and is done at {finish}, {} of work too late", frame.amount(gap)),
        fixes,
    }
}

/// Tasks that would keep the deadline if they alone were shorter by the gap, or not held back; each is tried out.
fn shortenings(computed: &Computed<'_>, due: &Due<'_>, gap: i64) -> Vec<Fix> {
    let model = &computed.model;
    let mut on_the_way = on_the_way(computed, due);
    on_the_way.sort_by_key(|&at| (-computed.network.nodes[at].duration, at));
    let mut fixes = Vec::new();
    for at in on_the_way.into_iter().take(REMEDIES_MAX) {
        let node = &computed.network.nodes[at];
        let task = model.tasks[node.task];
        let mut tried = computed.network.clone();
        tried.nodes[at].duration = (node.duration - gap).max(0);
        if node.duration >= gap && finish_of(computed, &tried, due) <= due.at {
            let (less, left) = (model.frame.amount(gap), node.duration - gap);
            fixes.push(Fix {
                what: format!("make `{}` shorter by {less}", task.id),
                change: Some(format!("task.{}.estimate={}", task.id, crate::project::Length::seconds(left))),
            });
        }
        if task.start_no_earlier.is_some() && node.earliest > model.from {
            let mut tried = computed.network.clone();
            tried.nodes[at].earliest = model.from;
            if finish_of(computed, &tried, due) <= due.at {
                let what = format!("let `{}` start before {}", task.id, model.frame.moment(node.earliest));
                fixes.push(Fix { what, change: Some(format!("task.{}.start_no_earlier=none", task.id)) });
            }
        }
    }
    fixes
}

fn finish_of(computed: &Computed<'_>, network: &Network, due: &Due<'_>) -> i64 {
    let model = &computed.model;
    let times = forward(network, &model.lines.all);
    let node = due.task.and_then(|task| model.node_of[task]);
    let inside = |task: usize| due.task.is_none_or(|summary| within(computed, task, summary));
    let all =
        || network.nodes.iter().zip(&times).filter(|(node, _)| inside(node.task)).map(|(_, times)| times.finish).max();
    node.map(|at| times[at].finish).or_else(all).unwrap_or(0)
}

fn within(computed: &Computed<'_>, task: usize, summary: usize) -> bool {
    let model = &computed.model;
    let above = |&task: &usize| model.tasks[task].parent.as_deref().map(|id| model.place(id));
    std::iter::successors(Some(task), above).any(|task| task == summary)
}

/// The tasks on one driving path to what is due.
fn on_the_way(computed: &Computed<'_>, due: &Due<'_>) -> Vec<usize> {
    let (network, times, lines) = (&computed.network, &computed.placement.times, &computed.model.lines.all);
    let is_last = |at: &usize| {
        let inside = due.task.is_none_or(|summary| within(computed, network.nodes[*at].task, summary));
        inside && times[*at].finish == due.finish
    };
    let Some(last) = (0..network.len()).rev().find(is_last) else { return Vec::new() };
    let before =
        |&at: &usize| network.ties_into(at).iter().find(|tie| drives(network, lines, times, tie)).map(|tie| tie.from);
    std::iter::successors(Some(last), before).filter(|&at| network.nodes[at].role == Role::Work).collect()
}

fn need(computed: &Computed<'_>, unmet: &crate::level::Unmet) -> Infeasible {
    let task = computed.model.tasks[unmet.task];
    let need = &task.needs[unmet.need];
    match &need.who {
        Who::Named { resource } => {
            let there = Amount(unmet.at_best);
            Infeasible {
                constraint: Constraint::Capacity {
                    task: task.id.clone(),
                    resource: resource.clone(),
                    needed: need.amount,
                    there,
                },
                what: format!(
                    "`{}` needs {} of `{resource}`, but there are never more than {there}",
                    task.id, need.amount
                ),
                fixes: vec![Fix {
                    what: format!("raise the capacity of `{resource}` to {}", need.amount),
                    change: Some(format!("resource.{resource}.capacity={}", need.amount)),
                }],
            }
        }
        Who::Fitting { role, skills, count } => {
            let mut wanted = role.clone().unwrap_or_else(|| "anyone".to_owned());
            if !skills.is_empty() {
                wanted = format!("{wanted} with {}", skills.join(", "));
            }
            let missing = count.saturating_sub(unmet.at_best);
            Infeasible {
                constraint: Constraint::People {
                    task: task.id.clone(),
                    role: role.clone(),
                    skills: skills.clone(),
                    needed: *count,
                    there: unmet.at_best,
                },
                what: format!("`{}` needs {count} × {wanted}, but there are {}", task.id, unmet.at_best),
                fixes: vec![Fix { what: format!("add {missing} more: {wanted}"), change: None }],
            }
        }
    }
}
