//! The search: two populations of schedules, one made forwards in time and one backwards, each bred from the other.
//!
//! Every schedule gives an order of tasks for the other direction, so a schedule bred from two others is at the same
//! time their justification, and costs one pass. This is the idea of the bi-population genetic algorithm of Debels and
//! Vanhoucke; that stretches of time where a parent works hard are inherited whole is the idea behind the peak
//! crossover of Valls, Ballestín and Quintanilla.
//!
//! Every place of a population is a line of descent: a new schedule takes the place of its parent's counterpart, if it
//! is no worse and no copy of another, and only sometimes that of the worst. So good schedules do not crowd out the
//! rest, and the search goes on for long.

use std::collections::BTreeSet;

use super::breed::Breeder;
use super::dice::Dice;
use super::judge::{Bench, Judge};
use super::network::Prepared;
use super::parallel::{self, Ready};
use super::parent::{self, Nursery, Parent, Scheme};
use super::plane::Plane;
use super::record::Record;
use super::sample::Sampler;
use super::serial::Maker;

/// Forwards in time.
const FORWARD: usize = 0;
/// Backwards in time.
const BACKWARD: usize = 1;

/// A search without a limit plans for so many schedules at first, and for more each time it starts again.
const FIRST_PLAN: u64 = 1_000;
/// By how much more.
const PLAN_GROWTH: u64 = 4;
/// Of a thousand schedules bred from one that was made task by task, so many are made period by period.
const PARALLEL_AFTER_SERIAL_PERMILLE: u32 = 100;
/// Of a thousand schedules bred from one that was made period by period, so many are made in the same way.
const PARALLEL_AFTER_PARALLEL_PERMILLE: u32 = 900;
/// Of a thousand schedules that are worse than what stands in their place, so many may take that of the worst.
const INTRUSION_PERMILLE: u32 = 300;
/// How many tasks of an order are moved when it is disturbed.
const MOVES: usize = 2;
/// How often an order that was tried before is disturbed until it is new.
const TRIES_MAX: usize = 10;
/// How many generations in a row may pass without any new parent before the search starts again.
const IDLE_GENERATIONS: usize = 20;
/// How many orders are remembered at most, so that long searches do not fill the memory.
const REMEMBERED_MAX: usize = 1 << 20;
/// How many numbers the orders of a population may hold, so that large instances do not fill the memory.
const NUMBERS_MAX: usize = 1 << 23;

/// Everything a search needs.
pub(super) struct Search<'a, P> {
    prepared: &'a Prepared,
    makers: [Maker<P>; 2],
    /// True when a schedule made backwards is one forwards, read from its end.
    reversible: bool,
    record: Record<'a>,
    /// Who makes schedules forwards in time, if not this search.
    judge: Option<Bench<'a>>,
    dice: Dice,
    ready: Ready,
    breeder: Breeder,
    starts: Vec<i32>,
    keys: Vec<i32>,
    tried: BTreeSet<u64>,
}

impl<'a, P: Plane> Search<'a, P> {
    /// Prepares a search.
    pub fn new(prepared: &'a Prepared, record: Record<'a>, seed: u64) -> Self {
        let forward = prepared.forward.clone();
        let reversible = forward.supply.is_constant() && forward.releases.iter().all(|&release| release == 0);
        let backward = forward.mirrored(prepared.horizon);
        Self {
            prepared,
            // Seen backwards, capacity changes until the end of a schedule, which may be as late as the horizon.
            makers: [Maker::new(forward, prepared.horizon), Maker::new(backward, 2 * prepared.horizon)],
            reversible,
            record,
            judge: None,
            dice: Dice::new(seed),
            ready: Ready::default(),
            breeder: Breeder::default(),
            starts: vec![0; prepared.written.len()],
            keys: vec![0; prepared.written.len()],
            tried: BTreeSet::new(),
        }
    }

    /// The same search, but schedules forwards in time are those of a judge.
    pub fn judged_by(self, judge: &'a mut dyn Judge) -> Self {
        let tasks = self.starts.len();
        Self { judge: Some(Bench::new(judge, tasks)), reversible: false, ..self }
    }

    /// Searches until it is over, and returns what was found and spent.
    pub fn run(mut self) -> Record<'a> {
        let mut plan = FIRST_PLAN;
        let mut sampler = Sampler::new(&self.prepared.forward);
        while !self.record.is_over() {
            // What a judge sees does not depend on how much may be spent: so more never finds less.
            let left = self.record.left().filter(|_| self.judge.is_none());
            self.evolve(&mut sampler, left.unwrap_or(plan));
            plan = plan.saturating_mul(PLAN_GROWTH);
        }
        self.record
    }

    /// One evolution, planned for so many schedules: from first samples until it is over or comes to rest.
    fn evolve(&mut self, sampler: &mut Sampler, plan: u64) {
        let size = population(plan, self.starts.len());
        let disturbed_permille = u32::try_from(plan / 6).unwrap_or(u32::MAX).min(800);
        let Some((mut nursery, first)) = self.first(sampler, size) else { return };
        let mut parents = first;
        let mut counterparts = self.justified(&mut nursery, &parents);
        if counterparts.len() < parents.len() {
            return;
        }
        let mut direction = FORWARD;
        std::mem::swap(&mut parents, &mut counterparts);
        let mut idle = 0;
        while idle < IDLE_GENERATIONS * size {
            let best = (0..parents.len()).min_by_key(|&place| parents[place].end);
            for place in 0..parents.len() {
                if self.record.is_over() {
                    return;
                }
                let scheme = if best == Some(place) {
                    self.breeder.justify(&parents[place]);
                    Scheme::Serial
                } else {
                    self.breed(&parents, place, direction, disturbed_permille)
                };
                idle += 1;
                if let Some(child) = self.make(&mut nursery, direction, scheme)
                    && self.settle(&mut counterparts, place, child)
                {
                    idle = 0;
                }
            }
            std::mem::swap(&mut parents, &mut counterparts);
            direction = 1 - direction;
        }
    }

    /// The first population, made forwards, and the nursery for all that follow.
    fn first(&mut self, sampler: &mut Sampler, size: usize) -> Option<(Nursery, Vec<Parent>)> {
        let mut nursery = None;
        let mut population = Vec::with_capacity(size);
        while population.len() < size && !self.record.is_over() {
            let maker = &mut self.makers[FORWARD];
            let end = sampler.next(maker, &mut self.ready, &mut self.dice, &mut self.starts);
            let Some((end, worse)) = self.note(FORWARD, Scheme::Parallel, end) else { continue };
            let network = &self.makers[FORWARD].network;
            let nursery = nursery.get_or_insert_with(|| Nursery::new(network, self.prepared.rates.clone(), end));
            population.push(nursery.parent(network, Scheme::Serial, (end, worse), &self.starts));
        }
        nursery.map(|nursery| (nursery, population))
    }

    /// The first population made backwards: each schedule of the other, justified.
    fn justified(&mut self, nursery: &mut Nursery, population: &[Parent]) -> Vec<Parent> {
        let mut justified = Vec::with_capacity(population.len());
        for parent in population {
            if self.record.is_over() {
                break;
            }
            self.breeder.justify(parent);
            justified.extend(self.make(nursery, BACKWARD, Scheme::Serial));
        }
        justified
    }

    /// Breeds an order from a parent and a partner, and says how to make its schedule.
    fn breed(&mut self, parents: &[Parent], place: usize, direction: usize, disturbed_permille: u32) -> Scheme {
        let inherited = self.breeder.mix(&mut self.dice, parents, place);
        if self.dice.permille(disturbed_permille) {
            self.breeder.disturb(&mut self.dice, &self.makers[direction].network, MOVES);
        }
        self.disturb_until_new(direction);
        let parallel_permille = match inherited {
            Scheme::Serial => PARALLEL_AFTER_SERIAL_PERMILLE,
            Scheme::Parallel => PARALLEL_AFTER_PARALLEL_PERMILLE,
        };
        let few = self.starts.len() <= parallel::TASKS_MAX;
        if few && self.dice.permille(parallel_permille) { Scheme::Parallel } else { Scheme::Serial }
    }

    /// Makes the schedule of the order bred last.
    fn make(&mut self, nursery: &mut Nursery, direction: usize, scheme: Scheme) -> Option<Parent> {
        let maker = &mut self.makers[direction];
        let end = match scheme {
            Scheme::Serial if direction == FORWARD && self.judge.is_some() => None,
            Scheme::Serial => maker.serial(&self.breeder.child, &mut self.starts),
            Scheme::Parallel => {
                for (key, &task) in (0..).zip(&self.breeder.child) {
                    self.keys[task as usize] = key;
                }
                maker.parallel(&self.keys, &mut self.ready, &mut self.starts)
            }
        };
        let made = self.note(direction, scheme, end)?;
        Some(nursery.parent(&self.makers[direction].network, scheme, made, &self.starts))
    }

    /// Gives a schedule a place in its population, if it is no copy of another: that of its line of descent if it is no
    /// worse than what stands there, or sometimes that of the worst. Says whether anything has changed.
    fn settle(&mut self, population: &mut [Parent], place: usize, child: Parent) -> bool {
        if population.iter().any(|other| other.print == child.print) {
            return false;
        }
        let place = if child.fitness <= population[place].fitness {
            place
        } else if self.dice.permille(INTRUSION_PERMILLE) {
            let worst = population.iter().enumerate().max_by(|one, other| one.1.fitness.total_cmp(&other.1.fitness));
            worst.map_or(place, |(worst, _)| worst)
        } else {
            return false;
        };
        let settles = child.fitness <= population[place].fitness;
        if settles {
            population[place] = child;
        }
        settles
    }

    /// Counts a schedule and keeps it if it is the best. Says when it ends, and what makes it worse than that tells.
    fn note(&mut self, direction: usize, scheme: Scheme, end: Option<i32>) -> Option<(i32, f64)> {
        self.record.count();
        let (end, worse) = if direction == FORWARD { self.judged(scheme, end)? } else { (end?, 0.0) };
        if direction == FORWARD {
            let better = self.record.keep(end, self.starts.iter().copied());
            if better && !self.reversible {
                // The end of time, from which schedules are made backwards, has moved.
                let end = end.min(self.prepared.horizon);
                self.makers[BACKWARD] = Maker::new(self.prepared.forward.mirrored(end), 2 * self.prepared.horizon);
            }
        } else if self.reversible {
            let durations = &self.prepared.forward.durations;
            self.record.keep(end, self.starts.iter().zip(durations).map(|(start, duration)| end - start - duration));
        }
        Some((end, worse))
    }

    /// The schedule as the judge makes it, if there is one. Tasks are placed in the order bred last, or, if that was not
    /// how the schedule was made, in that of their starts.
    fn judged(&mut self, scheme: Scheme, end: Option<i32>) -> Option<(i32, f64)> {
        let Some(bench) = &mut self.judge else { return Some((end?, 0.0)) };
        let durations = &self.prepared.forward.durations;
        let judged = match scheme {
            Scheme::Serial => {
                let order = self.breeder.child.iter().copied();
                bench.ask(order, &self.prepared.written, durations, &mut self.starts)
            }
            Scheme::Parallel => {
                let mut order: Vec<u32> = (0..).take(self.starts.len()).collect();
                order.sort_by_key(|&task| self.starts[task as usize]);
                bench.ask(order.into_iter(), &self.prepared.written, durations, &mut self.starts)
            }
        };
        self.record.perfect |= judged.perfect;
        Some((judged.end, judged.worse))
    }

    /// Disturbs the order bred last until it has not been tried before, or often enough.
    fn disturb_until_new(&mut self, direction: usize) {
        if self.tried.len() > REMEMBERED_MAX {
            self.tried.clear();
        }
        for moves in 1..=TRIES_MAX {
            let turned = u32::try_from(direction).unwrap_or(0);
            if self.tried.insert(parent::print(self.breeder.child.iter().copied().chain([turned]))) {
                return;
            }
            self.breeder.disturb(&mut self.dice, &self.makers[direction].network, moves);
        }
    }
}

/// How large populations should be for a search of so many schedules: small ones come to rest before they have spent
/// what they may, large ones have spent it before they come to rest. Small instances need more variety.
fn population(plan: u64, tasks: usize) -> usize {
    let power = plan.isqrt().saturating_mul(plan.isqrt().isqrt()); // about the plan to the power of three quarters
    let wanted = usize::try_from(power).unwrap_or(usize::MAX) / (tasks / 15).clamp(5, 9);
    wanted.clamp(2, (NUMBERS_MAX / tasks.max(1)).max(16))
}
