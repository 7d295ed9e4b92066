//! One order of the tasks that does not depend on the order in which they were written down.
//!
//! The search works on tasks renumbered in this order, so that the same project in another order gives the same
//! schedule. Tasks come in the order of their links, then of what they are: a fingerprint of the task, of everything
//! before it and of everything after it. Tasks with equal fingerprints can be exchanged for each other, so it does not
//! matter that only their written order tells them apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fault::Fault;
use super::instance::Instance;

/// For each place in the canonical order, the task that stands there; or the tasks that wait in a circle.
pub(super) fn order(instance: &Instance) -> Result<Vec<usize>, Fault> {
    let mut after = vec![Vec::new(); instance.tasks.len()];
    let mut before = vec![Vec::new(); instance.tasks.len()];
    for link in &instance.links {
        after[link.before].push((link.after, link.lag));
        before[link.after].push((link.before, link.lag));
    }
    let written = sorted(&after, &before, &vec![0; instance.tasks.len()])?;
    let prints = fingerprints(instance, &written, &before, &after);
    sorted(&after, &before, &prints)
}

/// The links of one direction: for each task its neighbours and the lags.
type Links = [Vec<(usize, i32)>];

/// Sorts tasks so that links point forwards; among tasks that could come next, by depth, fingerprint, written order.
fn sorted(after: &Links, before: &Links, prints: &[u64]) -> Result<Vec<usize>, Fault> {
    let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut depth = vec![0_usize; waits.len()];
    let mut next: BinaryHeap<_> =
        (0..waits.len()).filter(|&task| waits[task] == 0).map(|task| Reverse((0, prints[task], task))).collect();
    let mut order = Vec::with_capacity(waits.len());
    while let Some(Reverse((level, _, task))) = next.pop() {
        order.push(task);
        for &(follower, _) in &after[task] {
            depth[follower] = depth[follower].max(level + 1);
            waits[follower] -= 1;
            if waits[follower] == 0 {
                next.push(Reverse((depth[follower], prints[follower], follower)));
            }
        }
    }
    if order.len() == waits.len() { Ok(order) } else { Err(Fault::Cycle { tasks: circle(before, &waits) }) }
}

/// Walks backwards among tasks that still wait until one comes up again.
fn circle(before: &Links, waits: &[usize]) -> Vec<usize> {
    let mut walk: Vec<usize> = waits.iter().position(|&waits| waits > 0).into_iter().collect();
    let mut seen_at = vec![None; waits.len()];
    while let Some(&task) = walk.last() {
        if let Some(first) = seen_at[task] {
            let mut circle: Vec<usize> = walk[first..walk.len() - 1].to_vec();
            circle.reverse();
            return circle;
        }
        seen_at[task] = Some(walk.len() - 1);
        let Some(&(waited_for, _)) = before[task].iter().find(|(other, _)| waits[*other] > 0) else { break };
        walk.push(waited_for);
    }
    walk
}

/// A number for each task that depends on the task and on all that is linked to it, and not on its written place.
fn fingerprints(instance: &Instance, written: &[usize], before: &Links, after: &Links) -> Vec<u64> {
    let mut prints: Vec<u64> = instance
        .tasks
        .iter()
        .map(|task| {
            let mut demands: Vec<_> = task.demands.iter().map(|demand| (demand.resource, demand.amount)).collect();
            demands.sort_unstable();
            let start = mixed(u64::from(task.duration), u64::from(task.release));
            demands
                .iter()
                .fold(start, |print, &(resource, amount)| mixed(mixed(print, resource as u64), u64::from(amount)))
        })
        .collect();
    // Forwards every task learns of all before it, backwards of all after it; the second round carries what tasks
    // learnt in the first to those beside them.
    for _ in 0..2 {
        for &task in written {
            prints[task] = mixed(prints[task], neighbours(&before[task], &prints));
        }
        for &task in written.iter().rev() {
            prints[task] = mixed(prints[task], neighbours(&after[task], &prints));
        }
    }
    prints
}

/// The fingerprints of neighbours, added up so that their order does not matter.
fn neighbours(links: &[(usize, i32)], prints: &[u64]) -> u64 {
    links.iter().map(|&(task, lag)| mixed(prints[task], u64::from(lag.cast_unsigned()))).fold(1, u64::wrapping_add)
}

/// Mixes two numbers into one such that each bit of both matters everywhere (the finaliser of `SplitMix64`).
fn mixed(one: u64, other: u64) -> u64 {
    let mut mix = one.rotate_left(25) ^ other.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x632B_E593_B1A7_4D0F);
    mix = (mix ^ (mix >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mix = (mix ^ (mix >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mix ^ (mix >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::instance::Task;
    use super::*;

    fn chain(durations: [u32; 3], order: [usize; 3]) -> Instance {
        let mut instance = Instance { tasks: vec![Task::default(); 3], ..Instance::default() };
        for (duration, place) in durations.into_iter().zip(order) {
            instance.tasks[place] = Task::new(duration);
        }
        instance.finish_to_start(order[0], order[1]);
        instance
    }

    #[test]
    fn the_order_is_that_of_the_links_and_not_of_writing() {
        for places in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let instance = chain([4, 5, 6], places);
            let durations: Vec<u32> =
                order(&instance).unwrap().into_iter().map(|task| instance.tasks[task].duration).collect();
            let first = chain([4, 5, 6], [0, 1, 2]);
            let expected: Vec<u32> =
                order(&first).unwrap().into_iter().map(|task| first.tasks[task].duration).collect();
            assert_eq!(durations, expected);
        }
    }

    #[test]
    fn a_circle_is_named_in_the_order_of_waiting() {
        let mut instance = Instance { tasks: vec![Task::new(1); 5], ..Instance::default() };
        for (before, after) in [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)] {
            instance.finish_to_start(before, after);
        }
        assert_eq!(order(&instance), Err(Fault::Cycle { tasks: vec![2, 3, 1] }));
        assert_eq!(order(&instance).unwrap_err().to_string(), "tasks wait for each other in a circle: 2 3 1 2");
    }

    #[test]
    fn a_task_that_waits_for_itself_is_a_circle() {
        let mut instance = Instance { tasks: vec![Task::new(1)], ..Instance::default() };
        instance.finish_to_start(0, 0);
        assert_eq!(order(&instance), Err(Fault::Cycle { tasks: vec![0] }));
    }
}
