//! Levelling: who does what, and when there is someone to do it.
//!
//! Tasks are placed one after the other, each at the earliest time at which its bounds are kept and all it needs is
//! free. The order decides how good the result is, so several rules are tried and the best schedule is kept. What
//! cannot be kept is told: a need that nobody can meet, and every hour in which a resource has too much to do.

mod load; // in reading order
mod fit;
mod serial;
mod search;
mod chain;
mod overload;

use serde::{Deserialize, Serialize};

pub(crate) use chain::chained;
pub(crate) use overload::{Stretch, loads, overloads};
pub(crate) use search::Found;

use crate::model::Model;
use crate::network::{Network, Times};
use crate::rcpsp::Effort;

/// With this many tasks there are too many gaps between them to look through for each task under each rule. The
/// optimiser is quicker at that, and where its picture is exact its times are taken over.
const LARGE: usize = 1_000;

/// So many schedules the optimiser makes of a large project that nobody asked it to search.
const FEW_SCHEDULES: u64 = 8;

/// What to do when people have too much to do at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Levelling {
    /// Nothing: tasks lie where the links put them, and over-allocation is told.
    Off,
    /// Tasks move within their float, so that the finish stays; what is left of over-allocation is told.
    WithinFloat,
    /// Tasks wait until someone is free, and the finish moves.
    #[default]
    Slip,
}

/// So much of a resource, for one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Share {
    pub resource: usize,
    pub amount: u32,
}

/// A need that nobody can meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unmet {
    pub task: usize,
    /// Which of the task's needs.
    pub need: usize,
    /// How much, or how many, there are at best.
    pub at_best: u32,
}

/// Where every node lies and who works on it.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub times: Vec<Times>,
    /// The timeline of each node, now that it is known who works on it.
    pub lines: Vec<usize>,
    pub shares: Vec<Vec<Share>>,
    pub unmet: Vec<Unmet>,
}

impl Placement {
    pub(crate) fn finish(&self) -> i64 {
        self.times.iter().map(|times| times.finish).max().unwrap_or(0)
    }

    /// The network as it is now worked on: with the timelines of the people chosen.
    pub(crate) fn worked(&self, network: &Network) -> Network {
        let mut worked = network.clone();
        for (node, line) in worked.nodes.iter_mut().zip(&self.lines) {
            node.line = *line;
        }
        worked
    }
}

/// How hard the optimiser tries, and what stops it early.
pub(crate) struct Search<'s> {
    pub effort: Effort,
    pub stop: &'s dyn Fn() -> bool,
}

/// Places everything, and chooses people. `late` says how late each node may be. Orders of several rules are tried, and
/// the one the optimiser finds if it may search; the schedule that finishes first is kept.
pub(crate) fn level(
    model: &mut Model<'_>,
    levelling: Levelling,
    early: &[Times],
    late: &[Times],
    search: Option<&Search<'_>>,
) -> (Placement, Option<Found>) {
    let contested = model.tasks.iter().any(|task| !task.needs.is_empty());
    let free = levelling == Levelling::Slip && contested;
    let rules = if free { &serial::RULES[..] } else { &serial::RULES[..1] };
    let found = search.filter(|_| free).and_then(|search| search::search(model, &search.effort, search.stop));
    let equals = model.tasks.windows(2).all(|pair| pair[0].priority == pair[1].priority); // the optimiser knows no other
    if free && equals && model.tasks.len() >= LARGE {
        let few = Effort { schedules: Some(FEW_SCHEDULES), patience: None, seed: 1 };
        let quick = if found.is_none() { search::search(model, &few, &|| false) } else { None };
        let exact = found.as_ref().or(quick.as_ref()).and_then(|found| Some((&found.order, found.starts.as_ref()?)));
        if let Some((order, starts)) = exact {
            return (serial::place_all(model, levelling, order, Some(starts), late), found);
        }
    }
    let by_rule: Vec<Vec<i64>> = rules.iter().map(|rule| serial::priorities(model, *rule, early, late)).collect();
    if free && found.is_none() && model.tasks.len() >= LARGE {
        let sequences: Vec<Vec<usize>> = by_rule.iter().map(|order| serial::one_by_one(model, order)).collect();
        if let Some((rule, starts)) = search::quickest(model, &sequences) {
            return (serial::place_all(model, levelling, &by_rule[rule], Some(&starts), late), None);
        }
    }
    let mut orders: Vec<(Vec<i64>, Option<&Vec<i64>>)> = by_rule.into_iter().map(|order| (order, None)).collect();
    if let Some(found) = &found {
        orders.push((found.order.clone(), None));
        // With leads, what waits may stand before what it waits for: only its times tell that, not its order.
        let starts = found.starts.as_ref().filter(|_| equals && has_leads(model));
        orders.extend(starts.map(|starts| (found.order.clone(), Some(starts))));
    }
    let mut best: Option<((i64, i128), Placement)> = None;
    for (order, starts) in orders {
        let placement = serial::place_all(model, levelling, &order, starts, late);
        let sum: i128 = placement.times.iter().map(|times| i128::from(times.finish)).sum();
        let value = (placement.finish(), sum);
        if best.as_ref().is_none_or(|(least, _)| value < *least) {
            best = Some((value, placement));
        }
    }
    (best.expect("there is at least one rule").1, found)
}

fn has_leads(model: &Model<'_>) -> bool {
    model.network.ties().iter().any(|tie| tie.lag < 0 || !tie.kind.holds_start())
}
