//! Keeps the order in which people go from task to task, as ties.
//!
//! A levelled schedule has decided who does what after what. When durations vary, as they do in a simulation, that
//! order should stay while the times move. So each unit of a resource is followed from task to task, and each step
//! becomes a tie from finish to start. Where capacity grows, the new units are there from then on; where it falls, the
//! units that are free then leave, and what comes later waits for all who had them.

use super::Placement;
use crate::model::Model;
use crate::network::{Network, Node, Tie, occupied_from};
use crate::project::LinkKind;

/// The network with the ties of the people in it; each old node's new place comes with it.
pub(crate) fn chained(model: &Model<'_>, network: &Network, placement: &Placement) -> (Network, Vec<usize>) {
    let (nodes, mut chains) = follow_all(model, network, placement);
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

/// Who uses a resource: from when, which node, and how much.
type User = (i64, usize, u64);

/// The nodes, none before there are enough people for it, and the ties from node to node.
fn follow_all(model: &Model<'_>, network: &Network, placement: &Placement) -> (Vec<Node>, Vec<Tie>) {
    let mut users: Vec<Vec<User>> = vec![Vec::new(); model.resources.len()];
    for (at, shares) in placement.shares.iter().enumerate() {
        let node: &Node = &network.nodes[at];
        if node.finished.is_none() && node.duration > 0 {
            // What is left of work that has begun may wait for people like anything else.
            let from = occupied_from(node, &model.lines.all[node.line], placement.times[at]);
            for share in shares {
                users[share.resource].push((from, at, u64::from(share.amount)));
            }
        }
    }
    let mut nodes = network.nodes.clone();
    let mut ties = Vec::new();
    for (supply, mut users) in model.resources.iter().zip(users) {
        users.sort_unstable();
        let mut units = Units::default();
        let mut steps = supply.capacity.iter().peekable();
        let mut capacity = 0;
        for (from, at, amount) in users {
            while let Some(&(since, there)) = steps.next_if(|step| step.0 <= from) {
                let there = u64::from(there);
                if there < capacity {
                    units.fall(since, capacity - there, there);
                } else {
                    units.grow(since, there - capacity);
                }
                capacity = there;
            }
            for unit in units.take(from, amount) {
                match unit.from {
                    None => nodes[at].earliest = nodes[at].earliest.max(unit.since),
                    Some(before) => {
                        let kind = LinkKind::FinishToStart;
                        ties.push(Tie { from: before, to: at, kind, lag: 0, line: 0 });
                    }
                }
            }
            units.give_back(placement.times[at].finish, at, amount);
        }
    }
    (nodes, ties)
}

/// So much of a resource that is free since a second, and who had it before; nobody when it is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Unit {
    from: Option<usize>,
    since: i64,
    amount: u64,
}

/// What of a resource is, or will be, free.
#[derive(Default)]
struct Units {
    /// What is new first, and then what was given back first.
    free: Vec<Unit>,
    /// What left when capacity fell: whoever takes what stayed waits for those who had it, too.
    left: Vec<Unit>,
    /// How much stayed then, and has not been taken since.
    stayed: u64,
}

impl Units {
    fn grow(&mut self, since: i64, amount: u64) {
        self.add(Unit { from: None, since, amount });
    }

    fn fall(&mut self, at: i64, amount: u64, stayed: u64) {
        let gone = remove(&mut self.free, at, amount);
        self.left.extend(gone.into_iter().filter(|unit| unit.from.is_some()));
        self.stayed = stayed;
    }

    fn take(&mut self, at: i64, amount: u64) -> Vec<Unit> {
        let mut taken = remove(&mut self.free, at, amount);
        // Everything that left is waited for before all that stayed is at work again.
        let left: u64 = self.left.iter().map(|unit| unit.amount).sum();
        let share = (left * amount).div_ceil(self.stayed.max(1));
        taken.extend(remove(&mut self.left, at, share.max(amount)));
        self.stayed = self.stayed.saturating_sub(amount);
        taken
    }

    fn give_back(&mut self, finish: i64, from: usize, amount: u64) {
        self.add(Unit { from: Some(from), since: finish, amount });
    }

    fn add(&mut self, unit: Unit) {
        let key = |unit: &Unit| (unit.from.is_some(), unit.since, unit.from);
        if unit.amount > 0 {
            self.free.insert(self.free.partition_point(|other| key(other) < key(&unit)), unit);
        }
    }
}

/// Removes so much of what is free at a second, the first first.
fn remove(units: &mut Vec<Unit>, at: i64, mut amount: u64) -> Vec<Unit> {
    let mut removed = Vec::new();
    for unit in units.iter_mut().filter(|unit| unit.since <= at) {
        let part = amount.min(unit.amount);
        if part == 0 {
            break;
        }
        removed.push(Unit { amount: part, ..*unit });
        unit.amount -= part;
        amount -= part;
    }
    units.retain(|unit| unit.amount > 0);
    removed
}
