//! Who has how much to do when, counted again from the schedule alone.

use super::Placement;
use crate::model::Model;
use crate::network::{Network, occupied_from};

/// A stretch of time in which a resource has a constant amount to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub from: i64,
    pub to: i64,
    pub used: u64,
    pub capacity: u64,
    /// Nodes at work.
    pub nodes: Vec<usize>,
}

/// What one resource has to do, stretch by stretch, without the stretches in which it has nothing: between the first and
/// the last work on something there may be days off, if rests of a length count.
pub(crate) fn loads(
    model: &Model<'_>,
    network: &Network,
    placement: &Placement,
    resource: usize,
    rest: Option<i64>,
) -> Vec<Stretch> {
    let mut changes: Vec<(i64, bool, usize, u64)> = Vec::new();
    for (at, shares) in placement.shares.iter().enumerate() {
        let (node, times) = (&network.nodes[at], placement.times[at]);
        let line = &model.lines.all[node.line];
        let from = occupied_from(node, line, times);
        if node.finished.is_some() || from >= times.finish {
            continue;
        }
        for share in shares.iter().filter(|share| share.resource == resource) {
            let whole = || vec![(from, times.finish)];
            for (from, to) in rest.map_or_else(whole, |rest| line.worked(from, times.finish, rest)) {
                changes.push((from, true, at, u64::from(share.amount)));
                changes.push((to, false, at, u64::from(share.amount)));
            }
        }
    }
    let steps = &model.resources[resource].capacity;
    let mut marks: Vec<i64> = changes.iter().map(|change| change.0).chain(steps.iter().map(|step| step.0)).collect();
    marks.sort_unstable();
    marks.dedup();
    changes.sort_unstable();
    let (mut next, mut used, mut nodes) = (0, 0, std::collections::BTreeSet::new());
    let mut stretches = Vec::new();
    for pair in marks.windows(2) {
        while next < changes.len() && changes[next].0 == pair[0] {
            let (_, begins, at, amount) = changes[next];
            if begins {
                used += amount;
                nodes.insert(at);
            } else {
                used -= amount;
                nodes.remove(&at);
            }
            next += 1;
        }
        let step = steps.partition_point(|step| step.0 <= pair[0]).saturating_sub(1);
        if used > 0 {
            let capacity = u64::from(steps[step].1);
            stretches.push(Stretch {
                from: pair[0],
                to: pair[1],
                used,
                capacity,
                nodes: nodes.iter().copied().collect(),
            });
        }
    }
    stretches
}

/// The stretches in which resources have more to do than they can, by resource.
pub(crate) fn overloads(model: &Model<'_>, network: &Network, placement: &Placement) -> Vec<(usize, Stretch)> {
    let each = |resource| {
        let stretches = loads(model, network, placement, resource, None).into_iter();
        stretches.filter(|stretch| stretch.used > stretch.capacity).map(move |stretch| (resource, stretch))
    };
    (0..model.resources.len()).flat_map(each).collect()
}
