//! Deadlines and needs: what cannot be kept, by how much, and what would help.

use serde::Serialize;

use super::remedy::Remedies;
use super::{Computed, Options, short};
use crate::frame::{Edge, Moment, Quantity};
use crate::project::{Amount, Deadline};

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
    /// A task needs more of a resource than there ever is when it could be done.
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

/// A deadline, and when what it is for is done.
pub(super) struct Due<'a> {
    pub task: Option<usize>,
    pub id: Option<&'a str>,
    pub deadline: Deadline,
    pub at: i64,
    pub finish: i64,
}

pub(super) fn dues<'a>(computed: &'a Computed<'_>) -> Vec<Due<'a>> {
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
pub(super) fn infeasible(computed: &Computed<'_>, options: &Options) -> Vec<Infeasible> {
    let mut remedies = Remedies::new(computed, options);
    let missed = dues(computed).into_iter().filter(|due| due.deadline.hard && due.finish > due.at);
    let missed = missed.map(|due| deadline(computed, &due, &mut remedies));
    missed.chain(short::needs(computed)).collect()
}

fn deadline(computed: &Computed<'_>, due: &Due<'_>, remedies: &mut Remedies<'_, '_>) -> Infeasible {
    let frame = &computed.model.frame;
    let gap = computed.model.line().work_between(due.at, due.finish).max(0);
    let subject = due.id.map_or("the project".to_owned(), |id| format!("`{id}`"));
    let at = frame.moment(due.at);
    let (by, finish) = (at.told_as_due(), frame.moment(due.finish).told());
    Infeasible {
        constraint: Constraint::Deadline { task: due.id.map(str::to_owned), at, by: frame.quantity(gap) },
        what: format!("{subject} is due by {by} and is done at {finish}, {} of work too late", frame.amount(gap)),
        fixes: remedies.fixes(due, &subject, gap),
    }
}
