//! Priority rules: which task is urgent. Small keys are placed first.

use super::network::Network;

/// The rules that do well on average, each with a character of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The task that must finish first, if the end is not to move.
    LatestFinish,
    /// The task that must start first, if the end is not to move.
    LatestStart,
    /// The task that most others wait for, directly or not.
    MostFollowers,
    /// The task with the longest work in itself and in those that wait for it directly.
    RankWeight,
}

/// How late each task may start if the end, the longest path, is not to move.
pub(super) fn latest_starts(network: &Network) -> Vec<i32> {
    let tails = tails(network);
    let heads = network.earliest();
    let end = heads.iter().zip(&tails).map(|(head, tail)| head + tail).max().unwrap_or(0);
    tails.iter().map(|tail| end - tail).collect()
}

/// How long after each task's start the last of those that wait for it finishes, at the earliest.
///
/// Takes the numbering of a network made forwards, where links point to higher numbers.
pub(super) fn tails(network: &Network) -> Vec<i32> {
    let mut tails = network.durations.clone();
    for task in (0..network.len()).rev() {
        for &(other, lag) in network.after.of(task).iter().chain(network.loose_after.of(task)) {
            tails[task] = tails[task].max(tails[other as usize] + lag);
        }
    }
    tails
}

impl Rule {
    /// All rules, the best on average first.
    pub const ALL: [Self; 4] = [Self::LatestFinish, Self::LatestStart, Self::MostFollowers, Self::RankWeight];

    /// The key of each task.
    pub fn keys(self, network: &Network) -> Vec<i32> {
        match self {
            Self::LatestStart => latest_starts(network),
            Self::LatestFinish => latest_starts(network)
                .iter()
                .zip(&network.durations)
                .map(|(start, duration)| start + duration)
                .collect(),
            Self::MostFollowers => followers(network).into_iter().map(|count| -count).collect(),
            Self::RankWeight => (0..network.len())
                .map(|task| {
                    let after = network.after.of(task).iter().map(|&(other, _)| network.durations[other as usize]);
                    -(network.durations[task] + after.sum::<i32>())
                })
                .collect(),
        }
    }
}

/// Up to how many tasks those that wait are counted exactly; the time and room for it grow with the square.
const COUNTED_MAX: usize = 4_096;

/// How many tasks wait for each task, directly or not; in large networks how long a chain of them there is.
fn followers(network: &Network) -> Vec<i32> {
    if network.len() > COUNTED_MAX {
        let mut chain = vec![0; network.len()];
        for task in (0..network.len()).rev() {
            chain[task] = network.after.of(task).iter().map(|&(other, _)| chain[other as usize] + 1).max().unwrap_or(0);
        }
        return chain;
    }
    let words = network.len().div_ceil(64);
    let mut reach = vec![0_u64; words * network.len()];
    for task in (0..network.len()).rev() {
        for &(other, _) in network.after.of(task) {
            let other = other as usize;
            // Links point to higher numbers, so the row of the follower stands behind that of the task.
            let (head, tail) = reach.split_at_mut(other * words);
            for (mine, theirs) in head[task * words..(task + 1) * words].iter_mut().zip(&tail[..words]) {
                *mine |= theirs;
            }
            reach[task * words + other / 64] |= 1 << (other % 64);
        }
    }
    reach.chunks(words.max(1)).map(|row| row.iter().map(|word| word.count_ones().cast_signed()).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::instance::{Instance, Task};
    use super::super::network::Prepared;
    use super::*;

    #[test]
    fn each_rule_finds_its_own_task_urgent() {
        // A long task alone, and a short one that two others wait for, the second of them after the first.
        let mut instance = Instance { tasks: [9, 1, 2, 3].map(Task::new).into(), ..Instance::default() };
        instance.finish_to_start(1, 2);
        instance.finish_to_start(2, 3);
        let prepared = Prepared::new(&instance).unwrap();
        let keys = |rule: Rule| {
            let mut keys = vec![0; 4];
            for (&task, key) in prepared.written.iter().zip(rule.keys(&prepared.forward)) {
                keys[task] = key;
            }
            keys
        };
        assert_eq!(keys(Rule::LatestStart), [0, 3, 4, 6]);
        assert_eq!(keys(Rule::LatestFinish), [9, 4, 6, 9]);
        assert_eq!(keys(Rule::MostFollowers), [0, -2, -1, 0]);
        assert_eq!(keys(Rule::RankWeight), [-9, -3, -5, -3]);
    }
}
