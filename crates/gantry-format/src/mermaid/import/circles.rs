//! Finding the arrows that close a circle.
//!
//! A plan knows no circles, through arrows or through containment: a part starts after its
//! composite has started, and a composite ends after its parts. So each task is two points, its
//! start and its end, and a walk over these points (depth first, in the order of the chart, tasks
//! without arrows into them first) finds the arrows that lead back.

use super::arrows::Arrow;

/// How often the walk starts again because it met a circle at a place that is no arrow.
///
/// Only arrows between composites and their surroundings cause that. What is left after so many
/// is found by the plan's own check.
const WALKS_MAX: usize = 100;

/// Marks every arrow that closes a circle as a way back.
pub(super) fn find(parents: &[Option<usize>], arrows: &mut [Arrow]) {
    let graph = Graph::new(parents, arrows);
    for _ in 0..WALKS_MAX {
        if graph.walk(arrows) == Walked::Through {
            return;
        }
    }
}

#[derive(PartialEq, Eq)]
enum Walked {
    /// All points were seen.
    Through,
    /// An arrow was marked that was walked over before, so the walk must start again.
    Again,
}

struct Graph<'draft> {
    parents: &'draft [Option<usize>],
    children: Vec<Vec<usize>>,
    /// The arrows out of each task, with the tasks that they lead to.
    outgoing: Vec<Vec<(usize, usize)>>,
    /// The tasks in the order in which the walk begins with them.
    order: Vec<usize>,
}

/// A point on the way of the walk.
struct Visit {
    point: usize,
    /// How many of its successors were looked at.
    looked_at: usize,
    /// The arrow that led here; none for containment.
    arrow: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the way from the beginning of the walk to here, at this position.
    OnTheWay(usize),
    Done,
}

const fn start_of(task: usize) -> usize {
    2 * task
}

const fn end_of(task: usize) -> usize {
    2 * task + 1
}

impl<'draft> Graph<'draft> {
    fn new(parents: &'draft [Option<usize>], arrows: &[Arrow]) -> Self {
        let mut children = vec![Vec::new(); parents.len()];
        for (task, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(task);
            }
        }
        let mut outgoing = vec![Vec::new(); parents.len()];
        let mut has_incoming = vec![false; parents.len()];
        for (number, arrow) in arrows.iter().enumerate() {
            outgoing[arrow.from].push((number, arrow.to));
            has_incoming[arrow.to] |= !arrow.leads_back;
        }
        let (later, first): (Vec<usize>, Vec<usize>) = (0..parents.len()).partition(|task| has_incoming[*task]);
        let order = first.into_iter().chain(later).collect();
        Self { parents, children, outgoing, order }
    }

    fn walk(&self, arrows: &mut [Arrow]) -> Walked {
        let mut marks = vec![Mark::New; 2 * self.parents.len()];
        for task in &self.order {
            if marks[start_of(*task)] == Mark::New
                && self.walk_from(start_of(*task), &mut marks, arrows) == Walked::Again
            {
                return Walked::Again;
            }
        }
        Walked::Through
    }

    fn walk_from(&self, point: usize, marks: &mut [Mark], arrows: &mut [Arrow]) -> Walked {
        marks[point] = Mark::OnTheWay(0);
        let mut way = vec![Visit { point, looked_at: 0, arrow: None }];
        while let Some(here) = way.last_mut() {
            let Some((next, arrow)) = self.successor(here.point, here.looked_at) else {
                marks[here.point] = Mark::Done;
                way.pop();
                continue;
            };
            here.looked_at += 1;
            if arrow.is_some_and(|arrow: usize| arrows[arrow].leads_back) {
                continue;
            }
            match (marks[next], arrow) {
                (Mark::Done, _) => {}
                (Mark::New, arrow) => {
                    marks[next] = Mark::OnTheWay(way.len());
                    way.push(Visit { point: next, looked_at: 0, arrow });
                }
                (Mark::OnTheWay(_), Some(arrow)) => arrows[arrow].leads_back = true,
                (Mark::OnTheWay(position), None) => {
                    // Containment closes the circle; the last arrow in it is the one to give up.
                    let last = way[position + 1..].iter().rev().find_map(|visit| visit.arrow);
                    if let Some(last) = last {
                        arrows[last].leads_back = true;
                        return Walked::Again;
                    }
                }
            }
        }
        Walked::Through
    }

    /// Returns a successor of the point by number, and the arrow that leads to it.
    fn successor(&self, point: usize, number: usize) -> Option<(usize, Option<usize>)> {
        let task = point / 2;
        if point == start_of(task) {
            let children = &self.children[task];
            return match children.get(number) {
                Some(child) => Some((start_of(*child), None)),
                None => (number == children.len()).then_some((end_of(task), None)),
            };
        }
        let to_parent = self.parents[task].map(|parent| (end_of(parent), None));
        let number = number + usize::from(to_parent.is_none());
        if number == 0 {
            return to_parent;
        }
        self.outgoing[task].get(number - 1).map(|(arrow, to)| (start_of(*to), Some(*arrow)))
    }
}
