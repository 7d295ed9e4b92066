//! Places tasks one after the other, in an order that a rule gives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fit::{Ask, Fit, all_fitting, ask, fit_at, force_at, merit};
use super::load::{Blocked, Load, all_free};
use super::{Levelling, Placement, Share};
use crate::model::Model;
use crate::network::{Node, Role, Times, bounds, occupied_from, place_node};
use crate::project::Who;

/// What comes first when not everything can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// What must be finished first.
    LatestFinish,
    /// What must be started first.
    LatestStart,
    /// What has the least float.
    LeastFloat,
    /// What has the most work waiting for it.
    MostWaiting,
}

pub(super) const RULES: [Rule; 4] = [Rule::LatestFinish, Rule::LatestStart, Rule::LeastFloat, Rule::MostWaiting];

/// For each node a number; lower goes first.
pub(super) fn priorities(model: &Model<'_>, rule: Rule, early: &[Times], late: &[Times]) -> Vec<i64> {
    let network = &model.network;
    let each =
        |value: fn(&Times, &Times) -> i64| early.iter().zip(late).map(|(early, late)| value(early, late)).collect();
    match rule {
        Rule::LatestFinish => each(|_, late| late.finish),
        Rule::LatestStart => each(|_, late| late.start),
        Rule::LeastFloat => each(|early, late| late.finish.saturating_sub(early.finish)),
        Rule::MostWaiting => {
            let weight = |at: usize| {
                let direct: i64 = network.ties_out(at).map(|tie| network.nodes[tie.to].duration).sum();
                -(network.nodes[at].duration + direct)
            };
            (0..network.len()).map(weight).collect()
        }
    }
}

/// What is the same for every order in which nodes are placed.
pub(super) struct Ground {
    loads: Vec<Load>,
    /// What each node asks for; none for those that need nobody.
    asks: Vec<Option<Ask>>,
}

impl Ground {
    pub(super) fn new(model: &Model<'_>) -> Self {
        let loads: Vec<Load> = model.resources.iter().map(|supply| Load::new(&supply.capacity)).collect();
        let needy = |node: &Node| {
            node.role == Role::Work && node.finished.is_none() && !model.tasks[node.task].needs.is_empty()
        };
        let asks = model.network.nodes.iter().map(|node| needy(node).then(|| ask(model, &loads, node.task)));
        Self { asks: asks.collect(), loads }
    }
}

/// Places every node as early as links, people and the kind of levelling allow; none before its time in `starts`, if
/// these are known to leave no earlier gap.
pub(super) fn place_all(
    model: &mut Model<'_>,
    levelling: Levelling,
    ground: &Ground,
    order: &[i64],
    starts: Option<&Vec<i64>>,
    late: &[Times],
) -> Placement {
    let count = model.network.len();
    let mut loads = ground.loads.clone();
    let mut past = ground.loads.clone();
    let mut placement = Placement {
        times: vec![Times::default(); count],
        lines: model.network.nodes.iter().map(|node| node.line).collect(),
        shares: vec![Vec::new(); count],
        unmet: Vec::new(),
        forced: Vec::new(),
    };
    for at in one_by_one(model, order) {
        let not_before = starts.map_or(i64::MIN, |starts| starts[at]);
        if model.network.nodes[at].finished.is_some() {
            place_past(model, at, &mut past, &mut placement);
        } else {
            let ask = ground.asks[at].as_ref();
            place_one(model, levelling, (at, ask), (not_before, late[at]), &mut loads, &mut placement);
        }
    }
    placement.unmet.sort_by_key(|unmet| (unmet.task, unmet.need));
    placement.forced.sort_unstable();
    placement
}

/// All nodes in the order in which they are placed: each after those it waits for, what has begun first, then by priority
/// and by the numbers of a rule.
pub(super) fn one_by_one(model: &Model<'_>, order: &[i64]) -> Vec<usize> {
    let count = model.network.len();
    let mut waits: Vec<usize> = (0..count).map(|at| model.network.ties_into(at).len()).collect();
    let key = |at: usize| {
        let node = &model.network.nodes[at];
        Reverse((node.started.is_none(), Reverse(model.tasks[node.task].priority), order[at], at))
    };
    let mut ready: BinaryHeap<_> = (0..count).filter(|&at| waits[at] == 0).map(key).collect();
    let mut sequence = Vec::with_capacity(count);
    while let Some(Reverse((.., at))) = ready.pop() {
        sequence.push(at);
        for tie in model.network.ties_out(at) {
            waits[tie.to] -= 1;
            if waits[tie.to] == 0 {
                ready.push(key(tie.to));
            }
        }
    }
    sequence
}

fn place_one(
    model: &mut Model<'_>,
    levelling: Levelling,
    (at, ask): (usize, Option<&Ask>),
    (not_before, late): (i64, Times),
    loads: &mut [Load],
    placement: &mut Placement,
) {
    let node = model.network.nodes[at].clone();
    let line = &model.lines.all[node.line];
    let (start, finish) = bounds(&model.network, at, &placement.times, &model.lines.all);
    let start = start.max(node.earliest).max(not_before);
    let finish = finish.max(start);
    let Some(asked) = ask else {
        placement.times[at] = place_node(&node, line, start, finish);
        return;
    };
    let fit = match levelling {
        Levelling::Off => force_at(model, loads, &node, asked, (start, finish)),
        Levelling::WithinFloat | Levelling::Slip => {
            let within = (levelling == Levelling::WithinFloat).then_some(late.finish);
            search(model, loads, &node, asked, (start, finish), within).unwrap_or_else(|| {
                placement.forced.extend((levelling == Levelling::Slip).then_some(at));
                force_at(model, loads, &node, asked, (start, finish))
            })
        }
    };
    let from = occupied_from(&node, &model.lines.all[fit.line], fit.times);
    for share in &fit.shares {
        loads[share.resource].take(share.amount, from, fit.times.finish);
    }
    placement.times[at] = fit.times;
    placement.lines[at] = fit.line;
    placement.shares[at] = fit.shares;
    placement.unmet.extend_from_slice(&asked.unmet);
}

/// The earliest fit; none when there never is one, or none before the task would be late.
fn search(
    model: &mut Model<'_>,
    loads: &[Load],
    node: &Node,
    ask: &Ask,
    (mut start, finish): (i64, i64),
    within: Option<i64>,
) -> Option<Fit> {
    let mut hints = vec![0; ask.named.len()];
    loop {
        // Who is named must be free for as long as it takes, at least: that is quicker to see than to try.
        if node.duration > 0 {
            start = all_free(loads, &ask.named, start, node.duration, &mut hints)?;
        }
        match fit_at(model, loads, node, ask, (start, finish.max(start))) {
            Ok(fit) if within.is_some_and(|limit| fit.times.finish > limit) => return None,
            Ok(fit) => return Some(fit),
            Err(Blocked::ForEver) => return None,
            Err(Blocked::Until(until)) => {
                if within.is_some_and(|limit| until > limit) {
                    return None;
                }
                start = until.max(start + 1);
            }
        }
    }
}

/// Puts what is finished where it was, with who worked on it. Who was found for it nobody has written down: it is taken
/// to be who would be found today, of those who were not at something else.
fn place_past(model: &Model<'_>, at: usize, past: &mut [Load], placement: &mut Placement) {
    let node = &model.network.nodes[at];
    let times = place_node(node, &model.lines.all[node.line], 0, 0);
    let (mut shares, mut open): (Vec<Share>, Vec<(u32, Vec<usize>)>) = (Vec::new(), Vec::new());
    for need in &model.tasks[node.task].needs {
        match &need.who {
            Who::Named { .. } => {
                shares.extend(model.named(need).map(|resource| Share { resource, amount: need.amount.0 }));
            }
            Who::Fitting { role, skills, count } => {
                let fitting = all_fitting(model, role.as_deref(), skills);
                open.extend((0..*count).map(|_| (need.amount.0, fitting.clone())));
            }
        }
    }
    open.sort_by_key(|(_, fitting)| fitting.len());
    for (amount, fitting) in open {
        let others = fitting.into_iter().filter(|&one| shares.iter().all(|share| share.resource != one));
        let busy = |one: usize| past[one].fits(amount, (times.start, times.finish), 1).is_err();
        if let Some(resource) = others.min_by_key(|&one| (busy(one), merit(model, one))) {
            shares.push(Share { resource, amount });
        }
    }
    for share in &shares {
        past[share.resource].take(share.amount, times.start, times.finish);
    }
    placement.times[at] = times;
    placement.shares[at] = shares;
}
