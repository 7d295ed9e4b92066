//! Levelling: who does what, and when there is someone to do it.
//!
//! Tasks are placed one after the other, each at the earliest time at which its bounds are kept and all it needs is
//! free. The order decides how good the result is, so several rules are tried and the best schedule is kept. What
//! cannot be kept is told: a need that nobody can meet, and every hour in which a resource has too much to do.

mod load; // in reading order
mod fit;
mod serial;
mod bound;
mod search;
mod chain;
mod overload;

use serde::{Deserialize, Serialize};

pub(crate) use chain::chained;
pub(crate) use load::Load;
pub(crate) use overload::{Stretch, loads, overloads};
pub(crate) use search::Found;

use crate::frame::Edge;
use crate::model::Model;
use crate::network::{Deadlines, Network, Times, backward};
use crate::rcpsp::Effort;
use search::Picture;
use serial::Ground;

/// With this many tasks there are too many gaps between them to look through for each task under each rule. The
/// optimiser is quicker at that: it chooses the rule, and where its picture is exact its times are taken over.
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
    /// Nodes that fit nowhere, and lie where the links put them.
    pub forced: Vec<usize>,
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
/// those the optimiser finds if it may search. The schedule that keeps hard deadlines best is kept, and of those the
/// one that finishes first.
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
    let ground = Ground::new(model);
    let search = search.filter(|_| free);
    let large = free && model.tasks.len() >= LARGE;
    let picture = (large || search.is_some()).then(|| Picture::new(model));
    let exact = picture.as_ref().filter(|picture| picture.exact);
    let equals = model.tasks.windows(2).all(|pair| pair[0].priority == pair[1].priority);
    let mut best = Best::default();
    let mut found = None;
    // The optimiser knows nothing of priorities and of deadlines, however exact its picture is.
    if let Some(picture) = exact.filter(|_| equals && (search.is_none() || !has_deadlines(model))) {
        let few = Effort { schedules: Some(FEW_SCHEDULES), patience: None, seed: 1 };
        let (effort, stop) = search.map_or((&few, &(|| false) as &dyn Fn() -> bool), |it| (&it.effort, it.stop));
        if let Some((done, exact)) = picture.solve(model, effort, stop) {
            found = search.map(|_| done);
            // With leads, what waits may stand before what it waits for: only its times tell that, not its order.
            let starts = (large || has_leads(model)).then_some(&exact.starts);
            best.offer(serial::place_all(model, levelling, &ground, &exact.order, starts, late), model);
            if large && best.is_in_time() {
                return (best.placement(), found);
            }
            if !large && starts.is_some() {
                best.offer(serial::place_all(model, levelling, &ground, &exact.order, None, late), model);
            }
        }
    }
    let quick = picture.as_ref().filter(|_| large);
    by_rules(model, levelling, &ground, rules, (early, late, late), quick, &mut best);
    if free && !best.is_in_time() {
        // The links alone end all sooner than people can, so that everything seemed as urgent as what is due.
        let deadlines = model.network.nodes.iter().filter_map(|node| node.deadline);
        let end = deadlines.fold(best.finish(), i64::max);
        let due = backward(&model.network, &model.lines.all, early, end, Deadlines::Respected);
        by_rules(model, levelling, &ground, rules, (early, late, &due), quick, &mut best);
    }
    if let (None, Some(search), Some(picture)) = (&found, search, &picture) {
        found = picture.explore(model, &ground, late, search, &mut best);
    }
    (best.placement(), found)
}

/// Tries the orders of rules. The rules look at when nodes are due, and `late` is how late they may really be. With a
/// picture, only the one that does best there is placed as people really work.
fn by_rules(
    model: &mut Model<'_>,
    levelling: Levelling,
    ground: &Ground,
    rules: &[serial::Rule],
    (early, late, due): (&[Times], &[Times], &[Times]),
    quick: Option<&Picture>,
    best: &mut Best,
) {
    let orders: Vec<Vec<i64>> = rules.iter().map(|rule| serial::priorities(model, *rule, early, due)).collect();
    if let Some(picture) = quick {
        let sequences: Vec<Vec<usize>> = orders.iter().map(|order| serial::one_by_one(model, order)).collect();
        if let Some((rule, starts)) = picture.quickest(model, &sequences) {
            let starts = picture.exact.then_some(&starts);
            best.offer(serial::place_all(model, levelling, ground, &orders[rule], starts, late), model);
            return;
        }
    }
    for order in orders {
        best.offer(serial::place_all(model, levelling, ground, &order, None, late), model);
    }
}

/// The best placement so far.
#[derive(Default)]
struct Best(Option<(Value, Placement)>);

/// Less is better: seconds after hard deadlines, when all is finished, and the sum of all finishes.
type Value = (i128, i64, i128);

impl Best {
    fn offer(&mut self, placement: Placement, model: &Model<'_>) {
        let sum = placement.times.iter().map(|times| i128::from(times.finish)).sum();
        let value = (lateness(model, |at| placement.times[at].finish), placement.finish(), sum);
        if self.0.as_ref().is_none_or(|(least, _)| value < *least) {
            self.0 = Some((value, placement));
        }
    }

    fn is_in_time(&self) -> bool {
        self.0.as_ref().is_some_and(|((late, ..), _)| *late == 0)
    }

    fn finish(&self) -> i64 {
        self.0.as_ref().map_or(0, |((_, finish, _), _)| *finish)
    }

    fn placement(self) -> Placement {
        self.0.expect("there is at least one rule").1
    }
}

/// How many seconds nodes finish after hard deadlines, their own and the project's, in all.
fn lateness(model: &Model<'_>, finish: impl Fn(usize) -> i64) -> i128 {
    let nodes = model.network.nodes.iter().enumerate();
    let after = |at: usize, by: i64| i128::from((finish(at) - by).max(0));
    let own: i128 = nodes.filter_map(|(at, node)| Some(after(at, node.deadline?))).sum();
    let whole = model.project.deadline.filter(|deadline| deadline.hard);
    let whole = whole.and_then(|deadline| model.second(deadline.at, Edge::Last));
    own + whole.and_then(|by| (0..model.network.len()).map(|at| after(at, by)).max()).unwrap_or(0)
}

/// Whether anything has to be done by a time, whatever it costs.
fn has_deadlines(model: &Model<'_>) -> bool {
    let hard = model.project.deadline.is_some_and(|deadline| deadline.hard);
    hard || model.network.nodes.iter().any(|node| node.deadline.is_some())
}

fn has_leads(model: &Model<'_>) -> bool {
    model.network.ties().iter().any(|tie| tie.lag < 0 || !tie.kind.holds_start())
}
