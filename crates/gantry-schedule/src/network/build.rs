//! Nodes, ties, and the order in which they are computed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::project::LinkKind;

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A task or a milestone.
    Work,
    /// The point before which nothing in a summary may start.
    Open,
    /// The point at which everything in a summary is finished.
    Close,
}

/// One node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The task it stands for, by place.
    pub task: usize,
    pub role: Role,
    /// Seconds of work (that remain).
    pub duration: i64,
    /// Its timeline, by place.
    pub line: usize,
    /// No work on it before this second.
    pub earliest: i64,
    /// It must be done by this second.
    pub deadline: Option<i64>,
    /// When it really started.
    pub started: Option<i64>,
    /// When it really finished.
    pub finished: Option<i64>,
}

/// How one node holds back another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tie {
    pub from: usize,
    pub to: usize,
    pub kind: LinkKind,
    /// Seconds; negative is a lead.
    pub lag: i64,
    /// The timeline on which the lag counts: round the clock, or that of the later task before anyone is found for it.
    pub line: usize,
}

/// Nodes in an order in which each comes after all it waits for.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub nodes: Vec<Node>,
    /// By `to`.
    ties: Vec<Tie>,
    into_at: Vec<usize>,
    /// Places in `ties`, by `from`.
    out: Vec<usize>,
    out_at: Vec<usize>,
}

impl Network {
    /// The same nodes with some of the ties only.
    pub(crate) fn keeping(&self, keep: impl Fn(&Tie) -> bool) -> Self {
        Self::indexed(self.nodes.clone(), self.ties.iter().copied().filter(|tie| keep(tie)).collect())
    }

    /// Orders the nodes; returns where each given node went. The error is a circle of nodes that wait for each other.
    pub(crate) fn new(nodes: Vec<Node>, ties: Vec<Tie>) -> Result<(Self, Vec<usize>), Vec<usize>> {
        let order = order(nodes.len(), &ties)?;
        let mut place = vec![0; nodes.len()];
        for (at, &node) in order.iter().enumerate() {
            place[node] = at;
        }
        let mut slots: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
        let nodes = order.iter().filter_map(|&node| slots[node].take()).collect();
        let ties = ties.into_iter().map(|tie| Tie { from: place[tie.from], to: place[tie.to], ..tie }).collect();
        Ok((Self::indexed(nodes, ties), place))
    }

    fn indexed(nodes: Vec<Node>, mut ties: Vec<Tie>) -> Self {
        ties.sort_by_key(|tie| (tie.to, tie.from, tie.kind, tie.lag, tie.line));
        ties.dedup();
        let into_at = offsets(nodes.len(), ties.iter().map(|tie| tie.to));
        let mut out: Vec<usize> = (0..ties.len()).collect();
        out.sort_by_key(|&tie| (ties[tie].from, tie));
        let out_at = offsets(nodes.len(), out.iter().map(|&tie| ties[tie].from));
        Self { nodes, ties, into_at, out, out_at }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All ties, by the node they hold back.
    pub(crate) fn ties(&self) -> &[Tie] {
        &self.ties
    }

    /// The ties that hold a node back.
    pub(crate) fn ties_into(&self, node: usize) -> &[Tie] {
        &self.ties[self.into_at[node]..self.into_at[node + 1]]
    }

    /// Where the ties that hold a node back lie among all ties.
    pub(crate) fn places_into(&self, node: usize) -> std::ops::Range<usize> {
        self.into_at[node]..self.into_at[node + 1]
    }

    /// The ties by which a node holds others back.
    pub(crate) fn ties_out(&self, node: usize) -> impl Iterator<Item = &Tie> {
        self.out[self.out_at[node]..self.out_at[node + 1]].iter().map(|&tie| &self.ties[tie])
    }
}

/// Where the run of each key starts in a sorted list of keys.
fn offsets(count: usize, keys: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut at = vec![0; count + 1];
    for key in keys {
        at[key + 1] += 1;
    }
    for key in 0..count {
        at[key + 1] += at[key];
    }
    at
}

/// An order of nodes along the ties, the first given first where there is a choice.
fn order(count: usize, ties: &[Tie]) -> Result<Vec<usize>, Vec<usize>> {
    let mut waits = vec![0_usize; count];
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    for tie in ties {
        waits[tie.to] += 1;
        out[tie.from].push(tie.to);
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..count).filter(|&node| waits[node] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &next in &out[node] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if order.len() == count { Ok(order) } else { Err(circle(&waits, ties)) }
}

/// One circle among the nodes that still wait: from any of them, going back along ties must come around.
fn circle(waits: &[usize], ties: &[Tie]) -> Vec<usize> {
    let mut before = vec![None; waits.len()];
    for tie in ties.iter().filter(|tie| waits[tie.from] > 0 && waits[tie.to] > 0) {
        before[tie.to] = Some(tie.from);
    }
    let mut seen = vec![false; waits.len()];
    let mut at = before.iter().flatten().copied().min().unwrap_or(0);
    while !std::mem::replace(&mut seen[at], true) {
        at = before[at].unwrap_or(at);
    }
    let first = at;
    let mut around = vec![first];
    while let Some(node) = before[at].filter(|&node| node != first) {
        around.push(node);
        at = node;
    }
    around.reverse();
    around
}
