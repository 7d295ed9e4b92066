//! The first schedules of a search: by priority rules, then by priority rules with some chance.

use super::dice::Dice;
use super::network::Network;
use super::parallel::{self, Ready};
use super::plane::Plane;
use super::rules::Rule;
use super::serial::Maker;

/// Makes schedules by priority rules.
pub(super) struct Sampler {
    keys: Vec<Vec<i32>>,
    /// How much chance is added to a key at most.
    noise: usize,
    noisy: Vec<i32>,
    order: Vec<u32>,
    made: usize,
}

/// Keys are multiplied by this before chance is added, so that chance orders tasks with equal keys.
const FINE: i32 = 16;
/// Of ten schedules so many are made period by period, the others task by task.
const PARALLEL_OF_TEN: usize = 7;

impl Sampler {
    /// Prepares for a network seen forwards.
    pub fn new(network: &Network) -> Self {
        let keys: Vec<Vec<i32>> = Rule::ALL.iter().map(|rule| rule.keys(network)).collect();
        let span = keys[0].iter().max().map_or(0, |&last| last.unsigned_abs() as usize);
        Self { keys, noise: span * 3 / 20, noisy: Vec::new(), order: Vec::new(), made: 0 }
    }

    /// Makes one more schedule, as `serial` and `parallel` do. The first ones follow a rule without chance.
    pub fn next<P: Plane>(
        &mut self,
        maker: &mut Maker<P>,
        ready: &mut Ready,
        dice: &mut Dice,
        starts: &mut [i32],
    ) -> Option<i32> {
        let number = self.made;
        self.made += 1;
        // Every rule once as it is, then the best two in turn with some chance.
        let (rule, noise) = if number < self.keys.len() {
            (number, 0)
        } else {
            (number % 2, self.noise * FINE.unsigned_abs() as usize)
        };
        let noisy = self.keys[rule].iter().map(|key| key.saturating_mul(FINE).saturating_add(chance(dice, noise)));
        self.noisy.clear();
        self.noisy.extend(noisy);
        if number % 10 < PARALLEL_OF_TEN && maker.network.len() <= parallel::TASKS_MAX {
            return maker.parallel(&self.noisy, ready, starts);
        }
        self.sort(&maker.network);
        maker.serial(&self.order, starts)
    }

    /// Sorts tasks by their keys; a task is as urgent as the most urgent one that waits for it.
    fn sort(&mut self, network: &Network) {
        for task in (0..network.len()).rev() {
            for &(other, _) in network.after.of(task) {
                self.noisy[task] = self.noisy[task].min(self.noisy[other as usize]);
            }
        }
        self.order.clear();
        self.order.extend((0..).take(network.len()));
        self.order.sort_by_key(|&task| self.noisy[task as usize]);
    }
}

/// A number from zero to `most`.
fn chance(dice: &mut Dice, most: usize) -> i32 {
    i32::try_from(dice.between(0, most)).unwrap_or(i32::MAX)
}
