//! How the order of a new schedule is made from two parents.

use super::dice::Dice;
use super::network::Network;
use super::parent::{Parent, Scheme};

/// How many partners are looked at for each parent.
const PARTNERS: usize = 10;
/// How many stretches are looked at for each partner.
const STRETCHES: usize = 10;
/// How far a task moves in an order at most when the order is disturbed.
const MOVE_MAX: usize = 20;

/// Tasks that stand together in the order of one parent and go, in that order, into the order of the other.
#[derive(Clone, Copy, Debug)]
struct Graft {
    giver: usize,
    taker: usize,
    first: usize,
    count: usize,
}

/// Makes orders; keeps what it needs for it from one to the next.
#[derive(Default)]
pub(super) struct Breeder {
    /// The order made last.
    pub child: Vec<u32>,
    parts: Vec<u8>,
}

impl Breeder {
    /// Takes over the order of a parent as it is: its schedule is justified.
    pub fn justify(&mut self, parent: &Parent) {
        self.child.clone_from(&parent.order);
    }

    /// Mixes a parent with a partner.
    ///
    /// Of some partners and some stretches of time it takes those where one of the two works hardest compared to the
    /// other in that same stretch: what was done densely is inherited from where it was. How schedules are generated is
    /// inherited from either.
    pub fn mix(&mut self, dice: &mut Dice, parents: &[Parent], parent: usize) -> Scheme {
        let mut best = (f64::MIN, Graft { giver: parent, taker: parent, first: 0, count: 1 });
        for _ in 0..PARTNERS {
            let partner = better_of_two(dice, parents);
            let (giver, taker) = if dice.permille(500) { (parent, partner) } else { (partner, parent) };
            for _ in 0..STRETCHES {
                let graft = random_graft(dice, giver, taker, parents[giver].order.len());
                let gain = gain(&parents[giver], &parents[taker], graft);
                if gain > best.0 {
                    best = (gain, graft);
                }
            }
        }
        let (giver, taker) = (&parents[best.1.giver], &parents[best.1.taker]);
        self.graft(giver, taker, best.1);
        if dice.permille(500) { giver.scheme } else { taker.scheme }
    }

    /// Places first what the giver places before the stretch, in the order of the taker; then the stretch; then the
    /// rest, in the order of the taker. Both orders respect the links, so this one does too.
    fn graft(&mut self, giver: &Parent, taker: &Parent, graft: Graft) {
        let end = graft.first + graft.count;
        self.parts.resize(giver.order.len(), 0);
        for (place, &task) in giver.order.iter().enumerate() {
            self.parts[task as usize] = u8::from(place >= graft.first) + u8::from(place >= end);
        }
        let parts = &self.parts;
        let part = |wanted| taker.order.iter().copied().filter(move |&task| parts[task as usize] == wanted);
        self.child.clear();
        self.child.extend(part(0));
        self.child.extend_from_slice(&giver.order[graft.first..end]);
        self.child.extend(part(2));
    }

    /// Moves some tasks to other places of the order, as far as links let them.
    pub fn disturb(&mut self, dice: &mut Dice, network: &Network, moves: usize) {
        for _ in 0..moves {
            let place = dice.below(self.child.len());
            let distance = dice.between(1, MOVE_MAX);
            if dice.permille(500) {
                self.move_later(network, place, distance);
            } else {
                self.move_earlier(network, place, distance);
            }
        }
    }

    fn move_later(&mut self, network: &Network, mut place: usize, distance: usize) {
        let task = self.child[place];
        let after = network.after.of(task as usize);
        for _ in 0..distance {
            match self.child.get(place + 1) {
                Some(&next) if after.iter().all(|&(other, _)| other != next) => self.child.swap(place, place + 1),
                _ => break,
            }
            place += 1;
        }
    }

    fn move_earlier(&mut self, network: &Network, mut place: usize, distance: usize) {
        let task = self.child[place];
        let before = network.before.of(task as usize);
        for _ in 0..distance {
            match place.checked_sub(1).map(|previous| self.child[previous]) {
                Some(previous) if before.iter().all(|&(other, _)| other != previous) => {
                    self.child.swap(place, place - 1);
                }
                _ => break,
            }
            place -= 1;
        }
    }
}

/// A parent by chance, better ones more often.
fn better_of_two(dice: &mut Dice, parents: &[Parent]) -> usize {
    let (one, other) = (dice.below(parents.len()), dice.below(parents.len()));
    if parents[other].fitness < parents[one].fitness { other } else { one }
}

/// A quarter to three quarters of all tasks.
fn random_graft(dice: &mut Dice, giver: usize, taker: usize, tasks: usize) -> Graft {
    let count = dice.between(tasks / 4, tasks * 3 / 4).max(1);
    Graft { giver, taker, first: dice.below(tasks - count + 1), count }
}

/// How much harder the giver works than the taker, on average, while it does what would be taken from it.
fn gain(giver: &Parent, taker: &Parent, graft: Graft) -> f64 {
    let until = giver.finishes[graft.first];
    let from = giver.finishes.get(graft.first + graft.count).copied().unwrap_or(0);
    (giver.work.between(from, until) - taker.work.between(from, until)) / f64::from((until - from).max(1))
}
