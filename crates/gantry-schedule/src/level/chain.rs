//! Keeps the order in which people go from task to task, as ties.
//!
//! A levelled schedule has decided who does what after what. When durations vary, as they do in a simulation, that
//! order should stay while the times move. So each unit of a resource is followed from task to task, and each step
//! becomes a tie from finish to start.

use super::Placement;
use crate::model::Model;
use crate::network::{Network, Node, Tie, occupied_from};
use crate::project::LinkKind;

/// The network with the ties of the people in it; each old node's new place comes with it.
pub(crate) fn chained(model: &Model<'_>, network: &Network, placement: &Placement) -> (Network, Vec<usize>) {
    let mut chains = ties(model, network, placement);
    let nodes = not_before_there_are_enough(model, network, placement);
    loop {
        let own = network.ties().iter().copied();
        match Network::new(nodes.clone(), own.chain(chains.iter().copied()).collect()) {
            Ok(network) => return network,
            Err(circle) => {
                // A lead lets a task finish after one that waits for it: the order of people cannot be a tie there.
                let before = chains.len();
                chains.retain(|tie| !(circle.contains(&tie.from) && circle.contains(&tie.to)));
                if chains.len() == before {
                    chains.clear();
                }
            }
        }
    }
}

/// The nodes, each not before the last change of a capacity without which it had too few people.
fn not_before_there_are_enough(model: &Model<'_>, network: &Network, placement: &Placement) -> Vec<Node> {
    let mut nodes = network.nodes.clone();
    for (at, node) in nodes.iter_mut().enumerate().filter(|(_, node)| node.finished.is_none()) {
        let from = occupied_from(node, &model.lines.all[node.line], placement.times[at]);
        for share in &placement.shares[at] {
            let steps = &model.resources[share.resource].capacity;
            let now = steps.partition_point(|step| step.0 <= from).saturating_sub(1);
            if now > 0 && steps[now - 1].1 < share.amount {
                node.earliest = node.earliest.max(steps[now].0);
            }
        }
    }
    nodes
}

fn ties(model: &Model<'_>, network: &Network, placement: &Placement) -> Vec<Tie> {
    let mut users: Vec<Vec<(i64, usize, u32)>> = vec![Vec::new(); model.resources.len()];
    for (at, shares) in placement.shares.iter().enumerate() {
        let node: &Node = &network.nodes[at];
        if node.finished.is_none() && node.duration > 0 {
            // What is left of work that has begun may wait for people like anything else.
            let from = occupied_from(node, &model.lines.all[node.line], placement.times[at]);
            for share in shares {
                users[share.resource].push((from, at, share.amount));
            }
        }
    }
    let mut ties = Vec::new();
    for (resource, mut users) in users.into_iter().enumerate() {
        users.sort_unstable();
        let mut fresh = model.resources[resource].capacity.iter().map(|step| u64::from(step.1)).max().unwrap_or(0);
        // Who gave back how much, the first to finish first.
        let mut returned: Vec<(i64, usize, u64)> = Vec::new();
        for (start, at, amount) in users {
            let mut wanted = u64::from(amount);
            let taken = wanted.min(fresh);
            fresh -= taken;
            wanted -= taken;
            let mut kept = 0;
            while wanted > 0 && kept < returned.len() {
                let (finish, from, given) = &mut returned[kept];
                if *finish > start || *given == 0 {
                    kept += 1;
                    continue;
                }
                let taken = wanted.min(*given);
                *given -= taken;
                wanted -= taken;
                ties.push(Tie { from: *from, to: at, kind: LinkKind::FinishToStart, lag: 0, elapsed: false });
            }
            returned.retain(|(_, _, given)| *given > 0);
            let back = (placement.times[at].finish, at, u64::from(amount));
            returned.insert(returned.partition_point(|other| *other < back), back);
        }
    }
    ties
}
