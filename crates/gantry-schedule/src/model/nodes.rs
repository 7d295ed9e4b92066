//! From tasks and links to nodes and ties.

use super::Model;
use super::lines::ALWAYS;
use crate::frame::Edge;
use crate::network::{Network, Node, Role, Tie};
use crate::problem::{Problem, ProblemKind};
use crate::project::{Link, LinkKind, Scale, Task};
use crate::schedule::Basis;

/// The nodes of a task: one, or for a summary the two points between which its parts lie.
#[derive(Clone, Copy)]
enum Nodes {
    One(usize),
    Summary { open: usize, close: usize },
}

impl Nodes {
    /// The node at which the task is finished.
    fn last(self) -> usize {
        match self {
            Self::One(node) | Self::Summary { close: node, .. } => node,
        }
    }
}

pub(super) fn build(model: &mut Model<'_>, basis: Basis) -> Result<(), Vec<Problem>> {
    let mut nodes = Vec::with_capacity(model.tasks.len());
    let mut of = Vec::with_capacity(model.tasks.len());
    let mut problems = Vec::new();
    for at in 0..model.tasks.len() {
        if model.is_summary(at) {
            nodes.push(point(model, at, Role::Open));
            nodes.push(point(model, at, Role::Close));
            of.push(Nodes::Summary { open: nodes.len() - 2, close: nodes.len() - 1 });
        } else {
            match work(model, at, basis) {
                Ok(node) => nodes.push(node),
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            }
            of.push(Nodes::One(nodes.len() - 1));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut ties = Vec::new();
    for (at, task) in model.tasks.iter().enumerate() {
        if let Some(parent) = &task.parent {
            contain(of[model.place(parent)], of[at], &mut ties);
        }
        for link in &task.after {
            let scale = model.scale_of(task);
            ties.push(tie(&nodes, of[model.place(&link.task)], of[at], link, &scale));
        }
    }
    let owners: Vec<usize> = nodes.iter().map(|node: &Node| node.task).collect();
    let (network, places) = Network::new(nodes, ties).map_err(|circle| {
        let mut ids: Vec<&str> = circle.iter().map(|&node| &*model.tasks[owners[node]].id).collect();
        ids.dedup();
        vec![circular(&ids)]
    })?;
    let place = |nodes: &Nodes| if let Nodes::One(node) = nodes { Some(places[*node]) } else { None };
    model.node_of = of.iter().map(place).collect();
    model.last_of = of.iter().map(|nodes| places[nodes.last()]).collect();
    model.network = network;
    Ok(())
}

fn circular(ids: &[&str]) -> Problem {
    let around: Vec<&str> = ids.iter().chain(ids.first()).copied().collect();
    let (last, first) = (ids.last().copied().unwrap_or_default(), ids.first().copied().unwrap_or_default());
    Problem::new(
        format!("task.{first}.after"),
        ProblemKind::Cycle,
        format!("tasks wait for each other in a circle: {}", around.join(" → ")),
        format!("remove one of these links, for example from `{last}` to `{first}`"),
    )
}

fn point(model: &Model<'_>, at: usize, role: Role) -> Node {
    let task = model.tasks[at];
    let open = role == Role::Open;
    let earliest = task.start_no_earlier.filter(|_| open).and_then(|when| model.second(when, Edge::First));
    let deadline = task.deadline.filter(|deadline| !open && deadline.hard);
    Node {
        task: at,
        role,
        duration: 0,
        line: 0,
        // A summary is finished with its last part, and be that before the project begins.
        earliest: if open { earliest.unwrap_or(0).max(0) } else { i64::MIN / 4 },
        deadline: deadline.and_then(|deadline| model.second(deadline.at, Edge::Last)),
        started: None,
        finished: None,
    }
}

fn work(model: &mut Model<'_>, at: usize, basis: Basis) -> Result<Node, Problem> {
    let task = model.tasks[at];
    let progress = &task.progress;
    let line = line_of(model, task)?;
    let whole = model.planned(task, basis);
    let done = if progress.finished.is_some() { 100 } else { i64::from(progress.percent.unwrap_or(0).min(100)) };
    let scale = model.scale_of(task);
    let remaining = progress.remaining.map_or((whole * (100 - done) + 50) / 100, |left| left.to_seconds(&scale));
    let second = |when: Option<_>| when.and_then(|when| model.second(when, Edge::First));
    let finished = second(progress.finished);
    let timeline = &model.lines.all[line];
    let worked_back = finished.map(|at| timeline.start_at(timeline.work_before(at) - whole).min(at));
    // What is partly done, nobody says since when, was worked on last.
    let last = || timeline.start_at(timeline.work_before(model.from) - whole * done / 100).min(model.from).max(0);
    let started = second(progress.started).or(worked_back).or_else(|| (done > 0).then(last));
    // What is all done, nobody says when, was done before whatever is planned now.
    let is_over = done == 100 && progress.remaining.is_none();
    let finished = finished.or_else(|| is_over.then(|| model.from.max(started.unwrap_or(0))));
    if let (Some(start), Some(finish)) = (started, finished)
        && finish < start
    {
        let what = "it has finished before it started";
        return Err(Problem::value(format!("task.{}.progress", task.id), what, "exchange the two, or correct one"));
    }
    Ok(Node {
        task: at,
        role: Role::Work,
        duration: if finished.is_some() { 0 } else { remaining },
        line,
        // Work that has begun does not wait for a day before which it should not have, but goes on from when it did.
        earliest: started.or_else(|| second(task.start_no_earlier)).unwrap_or(0).max(model.from),
        deadline: task.deadline.filter(|deadline| deadline.hard).and_then(|by| model.second(by.at, Edge::Last)),
        started,
        finished,
    })
}

/// When a task is worked on: when its own calendar and its named people agree.
fn line_of(model: &mut Model<'_>, task: &Task) -> Result<usize, Problem> {
    let people: Vec<usize> = task.needs.iter().filter_map(|need| model.named(need)).collect();
    common_line(model, task, &people).ok_or_else(|| {
        Problem::new(
            format!("task.{}", task.id),
            ProblemKind::Calendar,
            "its calendar and its people have no working time in common",
            "give it another calendar, or other people",
        )
    })
}

/// The timeline of a task that these people work on; what takes elapsed time goes on whoever is there.
pub(crate) fn common_line(model: &mut Model<'_>, task: &Task, people: &[usize]) -> Option<usize> {
    if task.estimate.is_some_and(|estimate| estimate.likely.is_elapsed()) {
        return Some(ALWAYS);
    }
    let mut lines: Vec<usize> = people.iter().filter_map(|&at| model.resources[at].line).collect();
    let hours_of_their_own = people.iter().any(|&at| model.resources[at].resource.calendar.is_some());
    match &task.calendar {
        Some(calendar) => lines.push(model.lines.of(calendar)),
        None if !hours_of_their_own => lines.push(0),
        None => {}
    }
    model.lines.common(lines)
}

/// Ties the ends of a part to those of the summary that contains it.
fn contain(summary: Nodes, part: Nodes, ties: &mut Vec<Tie>) {
    let Nodes::Summary { open, close } = summary else { return };
    let (first, last) = match part {
        Nodes::One(node) => (node, node),
        Nodes::Summary { open, close } => (open, close),
    };
    let tie = |from, to, kind| Tie { from, to, kind, lag: 0, line: 0 };
    ties.push(tie(open, first, LinkKind::StartToStart));
    ties.push(tie(last, close, LinkKind::FinishToStart));
}

fn tie(nodes: &[Node], from: Nodes, to: Nodes, link: &Link, scale: &Scale) -> Tie {
    let from = from.last();
    let to = match to {
        Nodes::Summary { open, .. } if link.kind.holds_start() => open,
        other => other.last(),
    };
    let line = if link.lag.is_elapsed() { ALWAYS } else { nodes[to].line };
    Tie { from, to, kind: link.kind, lag: link.lag.to_seconds(scale), line }
}
