//! Small cases whose answer is known, and the faults that are said in words.

use gantry_schedule::rcpsp::{Best, Capacity, Effort, Instance, Link, Task, check, solve};

use crate::random;

fn effort(schedules: u64) -> Effort {
    Effort { schedules: Some(schedules), patience: None, seed: 7 }
}

fn best(instance: &Instance, schedules: u64) -> Best {
    let best = solve(instance, &effort(schedules), &|| false).expect("the instance has a schedule");
    assert_eq!(check(instance, &best.starts), []);
    best
}

#[test]
fn tasks_that_share_a_resource_take_turns() {
    let mut instance = Instance::default();
    let crane = instance.add_resource(Capacity::constant(2));
    for duration in [3, 4, 5] {
        instance.add_task(Task::new(duration).with(crane, 2));
    }
    let best = best(&instance, 100);
    assert_eq!((best.makespan, best.proven), (12, true));
}

#[test]
fn nothing_to_do_takes_no_time() {
    let best = best(&Instance::default(), 100);
    assert_eq!((best.makespan, best.proven, best.starts), (0, true, vec![]));
}

#[test]
fn a_search_ends_as_soon_as_the_schedule_is_proven_shortest() {
    let mut instance = Instance::default();
    let first = instance.add_task(Task::new(3));
    let second = instance.add_task(Task::new(4));
    instance.finish_to_start(first, second);
    assert_eq!(best(&instance, 10_000).schedules, 1);
}

#[test]
fn milestones_occupy_nothing_even_where_nothing_is_left() {
    let mut instance = Instance::default();
    let crew = instance.add_resource(Capacity::constant(1));
    let work = instance.add_task(Task::new(5).with(crew, 1));
    let milestone = instance.add_task(Task::new(0).with(crew, 9));
    instance.links.push(Link { before: work, after: milestone, lag: 2 });
    assert_eq!(best(&instance, 100).starts, [0, 2]);
}

#[test]
fn every_kind_of_link_is_a_lag_from_start_to_start() {
    let (long, short) = (9, 4);
    // Start-to-start with a lag of 2, finish-to-finish with 1, start-to-finish with 3, finish-to-start with a lead of 2.
    for (lag, expected) in [(2, 2), (long + 1 - short, 6), (3 - short, 0), (long - 2, 7)] {
        let mut instance = Instance::default();
        let before = instance.add_task(Task::new(9));
        let after = instance.add_task(Task::new(4));
        instance.links.push(Link { before, after, lag });
        assert_eq!(best(&instance, 100).starts, [0, expected], "with a lag of {lag}");
    }
}

#[test]
fn with_a_negative_lag_either_task_may_be_placed_first() {
    let mut instance = Instance::default();
    let crew = instance.add_resource(Capacity::constant(1));
    let before = instance.add_task(Task::new(3).with(crew, 1));
    let after = instance.add_task(Task::new(2).with(crew, 1));
    let last = instance.add_task(Task::new(4));
    instance.add_task(Task::new(1).released(1)); // now a schedule made backwards is none forwards
    instance.links.push(Link { before, after, lag: -2 });
    instance.finish_to_start(after, last);
    assert_eq!(best(&instance, 100).starts[..3], [2, 0, 2]);
    instance.links[0].lag = -1; // too early for the second one: it moves, and what hangs on it
    assert_eq!(best(&instance, 100).makespan, 9);
}

#[test]
fn tasks_wait_for_their_release_and_for_capacity_that_comes_later() {
    let mut instance = Instance::default();
    let crew = instance.add_resource(Capacity::changing([(0, 1), (4, 0), (10, 2)]));
    instance.add_task(Task::new(3).with(crew, 1).released(2));
    instance.add_task(Task::new(4).with(crew, 1));
    instance.add_task(Task::new(4).with(crew, 2));
    let best = best(&instance, 200);
    assert_eq!(best.starts[1], 0, "only this one fits before the pause");
    assert_eq!(best.makespan, 17);
}

#[test]
fn what_cannot_be_scheduled_is_said_in_words() {
    let mut instance = Instance::default();
    let crew = instance.add_resource(Capacity::changing([(0, 3), (5, 0)]));
    let task = instance.add_task(Task::new(2).with(crew, 2).with(crew, 2));
    let said = |instance: &Instance| solve(instance, &effort(100), &|| false).unwrap_err().to_string();
    assert_eq!(
        said(&instance),
        "task 0 demands 4 of resource 0, of which there is never more than 3: lower the demand or add 1 to the capacity"
    );
    instance.tasks[task] = Task::new(6).with(crew, 2);
    assert_eq!(
        said(&instance),
        "task 0 fits nowhere from period 0 on: the capacity it demands never lasts as long as the task takes"
    );
    instance.tasks[task] = Task::new(5).with(crew, 2);
    instance.add_task(Task::new(5).with(crew, 2));
    assert_eq!(
        said(&instance),
        "all tasks together need 20 unit-periods of resource 0, more than there are from period 0 on: add capacity or \
         take work away"
    );
    instance.tasks[0] = Task::new(3).with(crew, 2);
    instance.tasks[1] = Task::new(3).with(crew, 2);
    assert_eq!(
        said(&instance),
        "none of 100 schedules finds room for every task before capacity ends for good: add capacity at the end or \
         try more schedules"
    );
    instance.finish_to_start(0, 1);
    instance.finish_to_start(1, 0);
    assert_eq!(said(&instance), "tasks wait for each other in a circle: 1 0 1");
    instance.links = vec![Link { before: 0, after: 5, lag: 0 }];
    assert_eq!(said(&instance), "link 0 names task 5, which does not exist");
    instance.links.clear();
    instance.tasks[1].demands[0].resource = 4;
    assert_eq!(said(&instance), "task 1 demands resource 4, which does not exist");
    instance.tasks[1] = Task::new(u32::MAX);
    assert_eq!(said(&instance), "the periods add up to more than 536870912: count in longer periods");
}

#[test]
fn capacity_that_ends_for_good_is_used_before_it_does() {
    let mut instance = Instance::default();
    let guest = instance.add_resource(Capacity::changing([(0, 1), (6, 0)]));
    let own = instance.add_resource(Capacity::constant(1));
    for _ in 0..2 {
        instance.add_task(Task::new(3).with(guest, 1));
        instance.add_task(Task::new(3).with(own, 1));
    }
    assert_eq!(best(&instance, 100).makespan, 6);
}

#[test]
fn a_caller_who_stops_at_once_still_gets_a_schedule() {
    let instance = random::project(40, 3, 11);
    let effort = Effort { schedules: None, patience: None, seed: 1 };
    let best = solve(&instance, &effort, &|| true).unwrap();
    assert_eq!(check(&instance, &best.starts), []);
}

#[test]
fn patience_ends_a_search_that_finds_nothing_better() {
    let instance = random::project(40, 3, 5);
    let effort = Effort { schedules: Some(1_000_000), patience: Some(500), seed: 1 };
    let best = solve(&instance, &effort, &|| false).unwrap();
    assert!(!best.proven, "a proven schedule would end the search without patience");
    assert!(best.schedules < 100_000, "{} schedules were made", best.schedules);
}

#[test]
fn the_same_seed_and_budget_give_the_same_schedule() {
    let instance = random::project(60, 4, 3);
    assert_eq!(best(&instance, 2_000), best(&instance, 2_000));
}

#[test]
fn ten_thousand_tasks_on_a_long_time_line_are_scheduled() {
    for (seed, factor) in [(1, 1), (2, 5_000)] {
        let mut instance = random::project(10_000, 4, seed);
        for task in &mut instance.tasks {
            task.duration *= factor;
        }
        for link in &mut instance.links {
            link.lag *= factor.cast_signed();
        }
        let best = best(&instance, 3);
        assert_eq!(best.schedules, 3);
    }
}
