//! One block of futures.

use super::LANES;
use super::falls::Free;
use super::setup::{Event, Simulation, Work};
use super::source::Shares;
use super::tally::Tally;
use crate::network::Times;
use crate::network::{bound, place};

/// A value for each future of a block.
type Lanes = [i64; LANES];

/// What came out of one block.
pub(super) struct Block {
    pub finishes: Lanes,
    pub costs: [f64; LANES],
    /// For each node, in how many futures it is critical: one bit each.
    pub critical: Vec<u64>,
    /// For each deadline, in which futures it is met.
    pub met: Vec<u64>,
    /// In which futures some work lies where nobody is left for it.
    pub alone: u64,
    /// For each driver: nodes, then classes, then risks.
    pub tallies: Vec<Tally>,
}

/// Room to compute in, kept from block to block.
pub(super) struct Scratch {
    starts: Vec<Lanes>,
    finishes: Vec<Lanes>,
    shares: Vec<Shares>,
    /// For each tie, in which futures it holds its later node.
    holding: Vec<u64>,
    bounds: Vec<Lanes>,
    free: Free,
    alone: u64,
}

impl Scratch {
    pub(super) fn new(simulation: &Simulation<'_>) -> Self {
        let nodes = simulation.network.len();
        Self {
            starts: vec![[0; LANES]; nodes],
            finishes: vec![[0; LANES]; nodes],
            shares: vec![[0.0; LANES]; nodes],
            holding: vec![0; simulation.network.ties().len()],
            bounds: Vec::new(),
            free: Vec::new(),
            alone: 0,
        }
    }
}

/// A risk in one block: in which futures it happens, and what it then does.
struct Happening {
    happens: u64,
    delay: Lanes,
    cost: [f64; LANES],
}

impl Simulation<'_> {
    /// Computes one block of futures.
    pub(super) fn run(&self, block: usize, scratch: &mut Scratch) -> Block {
        let causes: Vec<[f64; LANES]> = self.causes.iter().map(|cause| cause.normals(&self.dice, block)).collect();
        let class_shares: Vec<Shares> =
            self.classes.iter().map(|(_, source)| source.shares(&self.dice, block, &causes)).collect();
        let ratios: Vec<Shares> = self
            .classes
            .iter()
            .zip(&class_shares)
            .map(|((table, _), shares)| shares.map(|share| table.at(share)))
            .collect();
        let risks: Vec<Happening> = self.risks.iter().map(|risk| self.happening(risk, block, &causes)).collect();
        let mut costs = [self.fixed_cost; LANES];
        for (table, source) in &self.amounts {
            let shares = source.shares(&self.dice, block, &causes);
            add(&mut costs, &shares.map(|share| f64::from(table.at(share))));
        }
        for risk in &risks {
            add(&mut costs, &risk.cost);
        }
        scratch.free = self.falls.free();
        scratch.alone = 0;
        let mut ends = [self.begin; LANES];
        for (at, work) in self.works.iter().enumerate() {
            let durations = self.durations(work, at, block, &causes, &ratios, &risks, scratch);
            add_price(&mut costs, work.price, &durations);
            self.place(at, &durations, scratch);
            for (end, finish) in ends.iter_mut().zip(&scratch.finishes[at]) {
                *end = (*end).max(*finish);
            }
        }
        let critical = self.critical(&ends, scratch);
        if let Some(axis) = self.axis {
            ends = ends.map(|work| if work == self.begin { self.end } else { axis.finish_at(work) });
        }
        for (cost, end) in costs.iter_mut().zip(&ends) {
            let due = self.recurring.partition_point(|due| due.0 < *end);
            *cost += due.checked_sub(1).map_or(0.0, |last| self.recurring[last].1);
        }
        Block {
            alone: scratch.alone,
            critical,
            met: self
                .deadlines
                .iter()
                .map(|(node, by)| bits(node.map_or(&ends, |at| &scratch.finishes[at]), |&at| at <= *by))
                .collect(),
            tallies: self.tallies(&ends, &costs, &class_shares, &risks, scratch),
            finishes: ends,
            costs,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "delays are below 2^36 seconds")]
    fn happening(&self, risk: &Event, block: usize, causes: &[[f64; LANES]]) -> Happening {
        // The end of the scale at which things go badly is the upper one, so that risks go along with long durations.
        let shares = risk.source.shares(&self.dice, block, causes);
        let happens = bits(&shares, |&share| share > 1.0 - risk.probability);
        let mut happening = Happening { happens, delay: [0; LANES], cost: [0.0; LANES] };
        if let Some((table, source)) = &risk.delay {
            let shares = source.shares(&self.dice, block, causes);
            happening.delay = std::array::from_fn(|lane| {
                if happens >> lane & 1 == 1 { f64::from(table.at(shares[lane])).round() as i64 } else { 0 }
            });
        }
        if let Some((table, source)) = &risk.cost {
            let shares = source.shares(&self.dice, block, causes);
            happening.cost =
                std::array::from_fn(
                    |lane| if happens >> lane & 1 == 1 { f64::from(table.at(shares[lane])) } else { 0.0 },
                );
        }
        happening
    }

    #[expect(clippy::too_many_arguments, reason = "one block's values, each used once")]
    #[expect(clippy::cast_possible_truncation, reason = "durations are below 2^36 seconds")]
    fn durations(
        &self,
        work: &Work,
        at: usize,
        block: usize,
        causes: &[[f64; LANES]],
        ratios: &[Shares],
        risks: &[Happening],
        scratch: &mut Scratch,
    ) -> Lanes {
        let mut durations = [work.seconds; LANES];
        if let Some(doubt) = &work.doubt {
            let shares = doubt.source.shares(&self.dice, block, causes);
            for lane in 0..LANES {
                let ratio = work.class.map_or(1.0, |class| f64::from(ratios[class][lane]));
                durations[lane] = (f64::from(doubt.table.at(shares[lane])) * ratio * doubt.left + 0.5) as i64;
            }
            scratch.shares[at] = shares;
        }
        for &risk in &work.risks {
            for (duration, delay) in durations.iter_mut().zip(&risks[risk].delay) {
                *duration += delay;
            }
        }
        durations
    }

    /// Places one node in all futures, and notes which ties hold it where it is.
    fn place(&self, at: usize, durations: &Lanes, scratch: &mut Scratch) {
        let node = &self.network.nodes[at];
        let line = &self.lines[node.line];
        if let Some(finish) = node.finished {
            scratch.starts[at] = [node.started.unwrap_or(finish); LANES];
            scratch.finishes[at] = [finish; LANES];
            return;
        }
        let ties = self.network.ties_into(at);
        scratch.bounds.clear();
        let mut start_bounds = [node.earliest; LANES];
        let mut finish_bounds = [i64::MIN; LANES];
        for tie in ties {
            let (starts, finishes) = (&scratch.starts[tie.from], &scratch.finishes[tie.from]);
            let to: Lanes = if tie.lag == 0 {
                *if tie.kind.leaves_finish() { finishes } else { starts }
            } else {
                std::array::from_fn(|lane| {
                    bound(tie, Times { start: starts[lane], finish: finishes[lane] }, &self.lines)
                })
            };
            let bounds = if tie.kind.holds_start() { &mut start_bounds } else { &mut finish_bounds };
            for (bound, to) in bounds.iter_mut().zip(&to) {
                *bound = (*bound).max(*to);
            }
            scratch.bounds.push(to);
        }
        for lane in 0..LANES {
            let (duration, start, finish) = (durations[lane], start_bounds[lane], finish_bounds[lane]);
            let times = if self.falls.concern(at) && duration > 0 {
                let free = &mut scratch.free[lane];
                self.falls.place(at, (node, line), duration, (start, finish), free).unwrap_or_else(|stays| {
                    scratch.alone |= 1 << lane;
                    stays
                })
            } else {
                place(line, duration, start, finish.max(start))
            };
            scratch.starts[at][lane] = node.started.unwrap_or(times.start);
            scratch.finishes[at][lane] = times.finish;
        }
        // Finish bounds hold where they lie beyond what the start bounds would give.
        let by_finish = if ties.iter().all(|tie| tie.kind.holds_start()) {
            0
        } else {
            let held = |lane: usize| {
                finish_bounds[lane] > start_bounds[lane]
                    && line.work_before(finish_bounds[lane]) - durations[lane] >= line.work_before(start_bounds[lane])
            };
            (0..LANES).filter(|&lane| held(lane)).fold(0, |bits, lane| bits | 1 << lane)
        };
        for ((tie, to), place) in ties.iter().zip(&scratch.bounds).zip(self.network.places_into(at)) {
            let (bounds, where_held) =
                if tie.kind.holds_start() { (&start_bounds, !by_finish) } else { (&finish_bounds, by_finish) };
            let equal = (0..LANES).fold(0, |bits, lane| bits | u64::from(to[lane] == bounds[lane]) << lane);
            scratch.holding[place] = equal & where_held;
        }
    }

    /// In which futures each node is critical: it finishes last, or holds a critical node where it is.
    fn critical(&self, ends: &Lanes, scratch: &Scratch) -> Vec<u64> {
        let mut critical = vec![0; self.network.len()];
        for at in (0..self.network.len()).rev() {
            if self.network.nodes[at].finished.is_some() {
                critical[at] = 0;
                continue;
            }
            let finishes = &scratch.finishes[at];
            let last = (0..LANES).fold(0, |bits, lane| bits | u64::from(finishes[lane] == ends[lane]) << lane);
            critical[at] |= last;
            for (tie, place) in self.network.ties_into(at).iter().zip(self.network.places_into(at)) {
                critical[tie.from] |= critical[at] & scratch.holding[place];
            }
        }
        critical
    }

    fn tallies(
        &self,
        ends: &Lanes,
        costs: &[f64; LANES],
        classes: &[Shares],
        risks: &[Happening],
        scratch: &Scratch,
    ) -> Vec<Tally> {
        #[expect(clippy::cast_precision_loss, reason = "hours off the plan are small numbers")]
        let late: [f64; LANES] = ends.map(|end| (end - self.end) as f64 / 3_600.0);
        let nodes = self.works.iter().zip(&scratch.shares);
        let tasks =
            nodes.map(
                |(work, shares)| {
                    if work.doubt.is_some() { Tally::of_shares(shares, &late, costs) } else { Tally::default() }
                },
            );
        let classes = classes.iter().map(|shares| Tally::of_shares(shares, &late, costs));
        let risks = risks.iter().map(|risk| Tally::of_event(risk.happens, &late, costs));
        tasks.chain(classes).chain(risks).collect()
    }
}

fn bits<T>(lanes: &[T; LANES], holds: impl Fn(&T) -> bool) -> u64 {
    lanes.iter().enumerate().fold(0, |bits, (lane, value)| bits | u64::from(holds(value)) << lane)
}

fn add(sums: &mut [f64; LANES], values: &[f64; LANES]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

#[expect(clippy::cast_precision_loss, reason = "durations are below 2^36 seconds")]
fn add_price(costs: &mut [f64; LANES], price: f64, durations: &Lanes) {
    if price != 0.0 {
        for (cost, duration) in costs.iter_mut().zip(durations) {
            *cost += price * *duration as f64;
        }
    }
}
