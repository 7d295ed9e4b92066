//! What holds for every instance.

use gantry_schedule::rcpsp::{Capacity, Effort, Fault, Instance, Link, check, solve};
use proptest::prelude::*;

use crate::random;

const EFFORT: Effort = Effort { schedules: Some(200), patience: None, seed: 5 };

/// The longest path through the links, by walking round after round until nothing moves.
fn critical_path(instance: &Instance) -> i64 {
    let mut starts: Vec<i64> = instance.tasks.iter().map(|task| i64::from(task.release)).collect();
    for _ in 0..instance.tasks.len() {
        for link in &instance.links {
            starts[link.after] = starts[link.after].max(starts[link.before] + i64::from(link.lag));
        }
    }
    let finishes = starts.iter().zip(&instance.tasks).map(|(start, task)| start + i64::from(task.duration));
    finishes.max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_schedule_holds_and_none_beats_its_bounds(instance in random::feasible()) {
        let best = solve(&instance, &EFFORT, &|| false).unwrap();
        prop_assert_eq!(check(&instance, &best.starts), []);
        prop_assert!(best.lower_bound <= best.makespan);
        prop_assert!(critical_path(&instance) <= i64::from(best.makespan));
        prop_assert_eq!(best.proven, best.lower_bound == best.makespan);
        let last = best.starts.iter().zip(&instance.tasks).map(|(start, task)| start + task.duration).max();
        prop_assert_eq!(last, Some(best.makespan));
        prop_assert!(best.schedules <= 200);
    }

    #[test]
    fn the_order_of_writing_does_not_matter(
        (instance, order) in random::feasible().prop_flat_map(|instance| {
            let order: Vec<usize> = (0..instance.tasks.len()).collect();
            (Just(instance), Just(order).prop_shuffle())
        })
    ) {
        let plain = solve(&instance, &EFFORT, &|| false).unwrap();
        let moved = solve(&random::reordered(&instance, &order), &EFFORT, &|| false).unwrap();
        prop_assert_eq!((plain.makespan, plain.schedules), (moved.makespan, moved.schedules));
        // Tasks that cannot be told apart may change places; what starts when is the same.
        let told = |instance: &Instance, starts: &[u32]| {
            let mut told: Vec<_> = starts.iter().zip(&instance.tasks).map(|(&start, task)| (start, task.duration)).collect();
            told.sort_unstable();
            told
        };
        prop_assert_eq!(told(&instance, &plain.starts), told(&random::reordered(&instance, &order), &moved.starts));
    }

    #[test]
    fn schedules_on_long_time_lines_hold_too(instance in random::feasible()) {
        let mut long = instance.clone();
        for task in &mut long.tasks {
            (task.duration, task.release) = (task.duration * 1_000, task.release * 1_000);
        }
        for link in &mut long.links {
            link.lag *= 1_000;
        }
        for capacity in &mut long.capacities {
            *capacity = Capacity::changing(capacity.steps().iter().map(|&(from, amount)| (from * 1_000, amount)));
        }
        let short = solve(&instance, &EFFORT, &|| false).unwrap();
        let best = solve(&long, &EFFORT, &|| false).unwrap();
        prop_assert_eq!(check(&long, &best.starts), []);
        // Work may end within a period, so on a finer time line the bound may be lower, and so may the makespan.
        prop_assert!(best.lower_bound <= 1_000 * short.lower_bound);
        prop_assert!(1_000 * critical_path(&instance) <= i64::from(best.makespan));
    }

    #[test]
    fn more_capacity_is_no_worse_beyond_chance(instance in random::feasible(), more in 1..3_u32) {
        let mut richer = instance.clone();
        for capacity in &mut richer.capacities {
            *capacity = Capacity::changing(capacity.steps().iter().map(|&(from, amount)| (from, amount + more)));
        }
        let before = solve(&instance, &EFFORT, &|| false).unwrap();
        let after = solve(&richer, &EFFORT, &|| false).unwrap();
        // The old schedule still holds, so the shortest is no longer than before. The search promises to find the
        // shortest only if it can prove it; with another capacity it also follows other paths, and so few tasks and so
        // many schedules leave it one period of chance, not more.
        prop_assert_eq!(check(&richer, &before.starts), []);
        prop_assert!(after.makespan <= before.makespan + 1, "{} after {}", after.makespan, before.makespan);
    }

    #[test]
    fn hostile_instances_get_a_schedule_or_a_reason(instance in random::hostile()) {
        match solve(&instance, &EFFORT, &|| false) {
            Ok(best) => prop_assert_eq!(check(&instance, &best.starts), []),
            Err(fault) => prop_assert!(!fault.to_string().is_empty()),
        }
    }

    #[test]
    fn a_circle_is_always_found_and_is_one(instance in random::feasible(), seed in 0..1_000_usize) {
        let mut instance = instance;
        let Some(link) = instance.links.get(seed % instance.links.len().max(1)).copied() else { return Ok(()) };
        instance.links.push(Link { before: link.after, after: link.before, lag: 0 });
        let Err(Fault::Cycle { tasks }) = solve(&instance, &EFFORT, &|| false) else {
            return Err(TestCaseError::fail("no circle was found"));
        };
        for (place, &task) in tasks.iter().enumerate() {
            let next = tasks[(place + 1) % tasks.len()];
            prop_assert!(instance.links.iter().any(|link| (link.before, link.after) == (task, next)));
        }
    }
}
