//! Who waits for whom, as it is measured: every link counts for all that its two tasks contain.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::plan::Plan;

use super::shape::Shape;

/// How many links between tasks without parts are drawn; a plan that has more is measured by its first ones.
const DRAWN_MAX: usize = 2_000_000;

/// What can be counted of links.
pub struct Links {
    /// How many there are.
    pub edges: usize,
    /// How many lead to another task of the plan.
    pub sound: usize,
    /// How many lead into a task that contains the other.
    pub into_ancestors: usize,
    /// None leads in a circle.
    pub acyclic: bool,
    /// How many leaves wait or are waited for.
    pub linked: usize,
    /// How many leaves stand one after the other at most.
    pub levels: usize,
}

impl Links {
    /// Those of a plan: what tasks depend on, and what they read.
    pub fn of(plan: &Plan, shape: &Shape) -> Self {
        let known: BTreeMap<&str, usize> =
            plan.tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect();
        let (mut edges, mut sound, mut into_ancestors) = (0, 0, 0);
        let mut after: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut waits = vec![0_usize; plan.tasks.len()];
        let mut drawn = 0;
        for (to, before) in plan.waits().iter().enumerate() {
            edges += before.len() + usize::from(plan.tasks[to].depends_on.contains(&plan.tasks[to].id));
            for from in before.iter().filter_map(|id| known.get(id.as_str()).copied()) {
                sound += 1;
                if shape.contains(from, to) || shape.contains(to, from) {
                    into_ancestors += 1;
                    continue;
                }
                let lower = shape.below(to);
                for one in shape.below(from) {
                    for other in &lower {
                        drawn += 1;
                        if drawn <= DRAWN_MAX && after.entry(one).or_default().insert(*other) {
                            waits[*other] += 1;
                        }
                    }
                }
            }
        }
        let linked: BTreeSet<usize> =
            after.iter().flat_map(|(one, others)| others.iter().chain([one])).copied().collect();
        let (acyclic, levels) = walk(shape, &after, waits);
        Self { edges, sound, into_ancestors, acyclic, linked: linked.len(), levels }
    }
}

/// Goes along all links; tells whether every leaf is reached, and how many stand one after the other at most.
fn walk(shape: &Shape, after: &BTreeMap<usize, BTreeSet<usize>>, mut waits: Vec<usize>) -> (bool, usize) {
    let leaves: Vec<usize> = shape.leaves().collect();
    let mut level = vec![1; waits.len()];
    let mut open: Vec<usize> = leaves.iter().copied().filter(|at| waits[*at] == 0).collect();
    let mut reached = 0;
    while let Some(at) = open.pop() {
        reached += 1;
        for next in after.get(&at).into_iter().flatten() {
            level[*next] = level[*next].max(level[at] + 1);
            waits[*next] -= 1;
            if waits[*next] == 0 {
                open.push(*next);
            }
        }
    }
    (reached == leaves.len(), leaves.iter().map(|at| level[*at]).max().unwrap_or(0))
}
