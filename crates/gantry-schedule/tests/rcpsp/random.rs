//! Random instances: one kind from a seed, another for property tests.

use gantry_schedule::rcpsp::{Capacity, Instance, Link, Task};
use proptest::prelude::*;

/// A project of so many tasks with tight resources and links to a few of the tasks just before.
pub fn project(tasks: usize, resources: usize, seed: u64) -> Instance {
    let mut state = seed;
    // Knuth's linear congruential generator: enough chance for a test, and the same everywhere.
    let mut below = move |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % limit).expect("limits are small")
    };
    let mut instance = Instance::default();
    for _ in 0..resources {
        instance.add_resource(Capacity::constant(10 + below(6)));
    }
    for number in 0..tasks {
        let mut task = Task::new(1 + below(10));
        for resource in 0..resources {
            if below(2) == 0 {
                task = task.with(resource, 1 + below(9));
            }
        }
        instance.add_task(task);
        for _ in 0..2 {
            let back = 1 + below(20) as usize;
            if number >= back {
                instance.finish_to_start(number - back, number);
            }
        }
    }
    instance
}

/// Any instance that has a schedule: all kinds of links, releases, capacity that changes but stays enough at the end.
pub fn feasible() -> impl Strategy<Value = Instance> {
    (1..14_usize, 1..6_usize).prop_flat_map(|(tasks, resources)| {
        let capacity = (prop::collection::vec((0..30_u32, 0..7_u32), 0..4), 4..9_u32)
            .prop_map(|(steps, last)| Capacity::changing(steps.into_iter().chain([(30, last)])));
        let task = (0..9_u32, 0..12_u32, prop::collection::vec((0..resources, 0..5_u32), 0..3)).prop_map(
            |(duration, release, demands)| {
                let mut task = Task::new(duration).released(release / 4);
                for (resource, amount) in demands {
                    if task.demand_for(resource) == 0 {
                        task = task.with(resource, amount);
                    }
                }
                task
            },
        );
        let link = (0..tasks, 0..tasks, -6..12_i32);
        (
            prop::collection::vec(task, tasks),
            prop::collection::vec(link, 0..2 * tasks),
            prop::collection::vec(capacity, resources),
        )
            .prop_map(|(tasks, links, capacities)| {
                let forwards = links.into_iter().filter(|(before, after, _)| before < after);
                let links = forwards.map(|(before, after, lag)| Link { before, after, lag }).collect();
                Instance { tasks, links, capacities }
            })
    })
}

/// Any instance at all, sound or not.
pub fn hostile() -> impl Strategy<Value = Instance> {
    let number = || prop_oneof![4 => 0..12_u32, 1 => Just(u32::MAX), 1 => Just(1 << 29), 1 => any::<u32>()];
    let lag = prop_oneof![4 => -12..12_i32, 1 => any::<i32>()];
    let capacity = prop::collection::vec((number(), number()), 0..4).prop_map(Capacity::changing);
    let task = (number(), number(), prop::collection::vec((0..4_usize, number()), 0..3)).prop_map(
        |(duration, release, demands)| {
            let task = Task::new(duration).released(release);
            demands.into_iter().fold(task, |task, (resource, amount)| task.with(resource, amount))
        },
    );
    let link = (0..8_usize, 0..8_usize, lag).prop_map(|(before, after, lag)| Link { before, after, lag });
    (prop::collection::vec(task, 0..8), prop::collection::vec(link, 0..8), prop::collection::vec(capacity, 0..4))
        .prop_map(|(tasks, links, capacities)| Instance { tasks, links, capacities })
}

/// The same instance with its tasks written down in another order: task `order[place]` stands at `place`.
pub fn reordered(instance: &Instance, order: &[usize]) -> Instance {
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    let moved = |link: &Link| Link { before: place[link.before], after: place[link.after], lag: link.lag };
    Instance {
        tasks: order.iter().map(|&old| instance.tasks[old].clone()).collect(),
        links: instance.links.iter().rev().map(moved).collect(),
        capacities: instance.capacities.clone(),
    }
}
