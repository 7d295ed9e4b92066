//! What holds for every project, tried on many.

use std::collections::BTreeMap;

use gantry_schedule::project::{
    Amount, CapacityChange, Cost, CostKind, Due, Link, LinkKind, Money, Need, Progress, Project, Recurring, Resource,
    Task, Unit,
};
use gantry_schedule::{Levelling, Moment, Options, Schedule, schedule, what_if};
use proptest::prelude::*;
use rust_decimal::Decimal;

use crate::kit::{office, row, when};

const KINDS: [LinkKind; 4] =
    [LinkKind::FinishToStart, LinkKind::StartToStart, LinkKind::FinishToFinish, LinkKind::StartToFinish];

/// A task as numbers: length, links as (how far back, kind, lag), start no earlier, needs of two pools.
type Drawn = (i64, Vec<(usize, usize, i64)>, Option<i64>, (u32, u32));

fn drawn() -> impl Strategy<Value = Drawn> {
    let links = prop::collection::vec((1..8_usize, 0..4_usize, -2..4_i64), 0..3);
    (0..6_i64, links, prop::option::weighted(0.2, 0..9_i64), (0..3_u32, 0..2_u32))
}

fn task(at: usize, (length, links, from, (crew, crane)): &Drawn, unit: &str) -> Task {
    let mut task = Task::milestone(format!("t{at:02}"));
    task.estimate = (*length > 0).then(|| format!("{length}{unit}").parse().unwrap());
    for (back, kind, lag) in links.iter().filter(|link| link.0 <= at) {
        let lag = format!("{lag}{unit}").parse().unwrap();
        task.after.push(Link { task: format!("t{:02}", at - back), kind: KINDS[*kind], lag });
    }
    task.start_no_earlier = from.map(|from| when(&from.to_string()));
    for (pool, units) in [("crew", *crew), ("crane", *crane)] {
        if units > 0 && *length > 0 {
            task.needs.push(Need::of(pool, units));
        }
    }
    task
}

/// Projects that count days from zero, round the clock, with two pools.
fn projects() -> impl Strategy<Value = Project> {
    prop::collection::vec(drawn(), 1..14).prop_map(|drawn| {
        let tasks = drawn.iter().enumerate().map(|(at, drawn)| task(at, drawn, "d")).collect();
        let resources = vec![Resource::pool("crew", 3), Resource::pool("crane", 1)];
        Project { tasks, resources, ..Project::counting(Unit::Day) }
    })
}

/// The same, where each task waits only for others to finish or start, and capacity comes and goes but is enough at last.
fn changing_projects() -> impl Strategy<Value = Project> {
    let steps = prop::collection::vec((1..25_i64, 0..4_u32), 0..5);
    (projects(), steps).prop_map(|(mut project, steps)| {
        for link in project.tasks.iter_mut().flat_map(|task| &mut task.after) {
            link.kind = if link.kind.leaves_finish() { LinkKind::FinishToStart } else { LinkKind::StartToStart };
            link.lag = link.lag.to_string().trim_start_matches('-').parse().unwrap();
        }
        let step = |(from, units): (i64, u32)| CapacityChange {
            from: when(&from.to_string()),
            capacity: Amount::whole(units),
        };
        let mut days: Vec<(i64, u32)> = steps;
        days.sort_unstable();
        days.dedup_by_key(|step| step.0);
        project.resources[0].changes = days.into_iter().chain([(25, 2)]).map(step).collect();
        project
    })
}

/// Projects on an office calendar, with doubt, rates and costs.
fn dated_projects() -> impl Strategy<Value = Project> {
    let doubt = prop::collection::vec((drawn(), 0..5_i64, 0..100_000_i64), 1..10);
    doubt.prop_map(|drawn| {
        let mut project = office("");
        for (at, (numbers, more, cents)) in drawn.iter().enumerate() {
            let mut task = task(at, numbers, "d");
            if numbers.0 > 0 {
                task.estimate = Some(format!("{0}d/{0}d/{1}d", numbers.0, numbers.0 + more).parse().unwrap());
            }
            let amount = Money::of(Decimal::new(*cents, 3));
            task.costs.push(Cost {
                name: "thing".to_owned(),
                kind: CostKind::Material,
                amount: gantry_schedule::project::ThreePoint::fixed(amount),
                due: [Due::Start, Due::Finish, Due::Spread][at % 3],
            });
            project.tasks.push(task);
        }
        let paid = |id: &str, units: u32, rate: &str| Resource {
            rate: Some(rate.parse().unwrap()),
            ..Resource::pool(id, units)
        };
        project.resources = vec![paid("crew", 3, "33.333"), paid("crane", 1, "99.995")];
        let rent = Recurring {
            id: "rent".to_owned(),
            amount: "7.77".parse().unwrap(),
            every: Unit::Week,
            from: None,
            to: None,
        };
        project.recurring.push(rent);
        project
    })
}

/// The same on a Wednesday at noon, with some of the work done and some under way.
fn projects_under_way() -> impl Strategy<Value = Project> {
    (dated_projects(), prop::collection::vec((0..3_u8, 0..100_u8), 10)).prop_map(|(mut project, progress)| {
        project.data_date = Some(when("2026-03-04T12:00"));
        for (task, (kind, percent)) in project.tasks.iter_mut().zip(progress).filter(|(_, (kind, _))| *kind > 0) {
            task.progress.started = Some(when("2026-03-02T10:00"));
            task.progress.finished = (kind == 1).then(|| when("2026-03-03T11:00"));
            task.progress.percent = (kind == 2).then_some(percent);
        }
        project
    })
}

fn days(moment: Moment) -> i64 {
    let text = moment.to_string();
    text.parse().unwrap_or_else(|_| panic!("{text} is not a whole day"))
}

fn plan(project: &Project, levelling: Levelling) -> Schedule {
    schedule(project, &Options { levelling, ..Options::default() }).unwrap()
}

/// Start and finish of a task, in whole days.
fn times(schedule: &Schedule, id: &str) -> (i64, i64) {
    (days(row(schedule, id).start), days(row(schedule, id).finish))
}

fn length(task: &Task) -> i64 {
    task.estimate.map_or(0, |estimate| estimate.likely.to_string().trim_end_matches('d').parse().unwrap())
}

fn assert_links_are_kept(project: &Project, schedule: &Schedule) {
    for task in &project.tasks {
        let (start, finish) = times(schedule, &task.id);
        assert_eq!(finish - start, length(task), "{} takes its time", task.id);
        assert!(start >= 0);
        if let Some(from) = task.start_no_earlier {
            assert!(start >= from.to_string().parse().unwrap(), "{} starts too early", task.id);
        }
        for link in &task.after {
            let (before_start, before_finish) = times(schedule, &link.task);
            let lag: i64 = link.lag.to_string().trim_end_matches('d').parse().unwrap();
            let (held, by) = match link.kind {
                LinkKind::FinishToStart => (start, before_finish),
                LinkKind::StartToStart => (start, before_start),
                LinkKind::FinishToFinish => (finish, before_finish),
                LinkKind::StartToFinish => (finish, before_start),
            };
            assert!(held >= by + lag, "{} breaks its link {link}", task.id);
        }
    }
}

/// A pool and a day on which it has too much to do, if there is one.
fn overloaded(project: &Project, schedule: &Schedule) -> Option<(&'static str, i64)> {
    let too_much = |pool: &'static str, capacity: u32, day: i64| {
        let at_work = |task: &&Task| {
            let (start, finish) = times(schedule, &task.id);
            start <= day && day < finish
        };
        let shares = project.tasks.iter().filter(at_work).flat_map(|task| &row(schedule, &task.id).resources);
        shares.filter(|share| share.id == pool).map(|share| share.amount.0).sum::<u32>() > capacity
    };
    let days = 0..days(schedule.finish);
    let pairs = days.flat_map(|day| [("crew", 3_000, day), ("crane", 1_000, day)]);
    pairs.into_iter().find(|&(pool, capacity, day)| too_much(pool, capacity, day)).map(|(pool, _, day)| (pool, day))
}

fn without_needs(mut project: Project) -> Project {
    for task in &mut project.tasks {
        task.needs.clear();
    }
    project
}

/// The longest way through the links, by trying again until nothing moves.
fn longest_way(project: &Project) -> i64 {
    let mut starts = BTreeMap::new();
    for task in &project.tasks {
        starts
            .insert(task.id.clone(), task.start_no_earlier.map_or(0, |from| from.to_string().parse::<i64>().unwrap()));
    }
    let lengths: BTreeMap<_, _> = project.tasks.iter().map(|task| (task.id.clone(), length(task))).collect();
    for _ in 0..project.tasks.len() {
        for task in &project.tasks {
            for link in &task.after {
                let lag: i64 = link.lag.to_string().trim_end_matches('d').parse().unwrap();
                let from = starts[&link.task] + if link.kind.leaves_finish() { lengths[&link.task] } else { 0 };
                let to = from + lag - if link.kind.holds_start() { 0 } else { lengths[&task.id] };
                let start = starts.get_mut(&task.id).unwrap();
                *start = (*start).max(to);
            }
        }
    }
    project.tasks.iter().map(|task| starts[&task.id] + lengths[&task.id]).max().unwrap_or(0)
}

/// What comes of a project as it stands in the file, and with everything in another order.
fn in_two_orders(project: &Project, seed: u64, options: &Options) -> (String, String) {
    let mut shuffled = project.clone();
    let count = shuffled.tasks.len();
    for at in 0..count {
        let with = seed.rotate_left(u32::try_from(at * 7).unwrap()) % count as u64;
        shuffled.tasks.swap(at, usize::try_from(with).unwrap());
    }
    shuffled.resources.reverse();
    let written = |project: &Project| {
        let mut found = schedule(project, options).unwrap();
        found.tasks.sort_by(|a, b| a.id.cmp(&b.id));
        serde_json::to_string(&found).unwrap()
    };
    (written(project), written(&shuffled))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_levelled_schedule_keeps_every_link_and_every_capacity(project in projects()) {
        let schedule = plan(&project, Levelling::Slip);
        assert_links_are_kept(&project, &schedule);
        prop_assert_eq!(overloaded(&project, &schedule), None);
        prop_assert!(schedule.feasible && schedule.overloads.is_empty());
    }

    #[test]
    fn a_searched_schedule_keeps_them_too_and_is_never_longer(project in projects(), seed in any::<u64>()) {
        let searched = schedule(&project, &Options { schedules: 30, seed, ..Options::default() }).unwrap();
        assert_links_are_kept(&project, &searched);
        prop_assert_eq!(overloaded(&project, &searched), None);
        prop_assert!(searched.makespan <= plan(&project, Levelling::Slip).makespan);
        if let Some(bound) = searched.optimiser.map(|told| told.lower_bound) {
            prop_assert!(bound <= searched.makespan);
        }
    }

    #[test]
    fn without_doubt_every_future_is_the_plan(project in changing_projects()) {
        let schedule = schedule(&project, &Options { draws: 64, ..Options::default() }).unwrap();
        prop_assert!(schedule.feasible, "{:?}", schedule.infeasible);
        let futures = schedule.monte_carlo.unwrap();
        prop_assert_eq!((futures.finish.p10, futures.finish.p95), (schedule.finish, schedule.finish));
    }

    #[test]
    fn deadlines_that_some_order_keeps_are_kept(project in changing_projects(), priorities in prop::collection::vec(0..9, 14)) {
        let mut project = project;
        project.resources[0].changes.clear();
        for (task, priority) in project.tasks.iter_mut().zip(priorities) {
            task.priority = priority;
        }
        let some = plan(&project, Levelling::Slip);
        for (task, row) in project.tasks.iter_mut().zip(&some.tasks) {
            task.priority = 0;
            task.deadline = Some(format!("{} hard", row.finish).parse().unwrap());
        }
        for schedules in [0, 50] {
            let kept = schedule(&project, &Options { schedules, ..Options::default() }).unwrap();
            prop_assert!(kept.feasible, "{:?}", kept.infeasible);
        }
    }

    #[test]
    fn one_more_of_a_resource_never_makes_the_schedule_longer(project in projects(), crew in any::<bool>()) {
        let options = Options { schedules: Options::usual_schedules(&project), ..Options::default() };
        let mut more = project.clone();
        let pool = &mut more.resources[usize::from(!crew)];
        pool.capacity = gantry_schedule::project::Amount(pool.capacity.0 + 1_000);
        let (before, after) = (schedule(&project, &options).unwrap(), schedule(&more, &options).unwrap());
        prop_assert!(after.makespan <= before.makespan, "{} days, and {} with one more", before.makespan, after.makespan);
    }

    #[test]
    fn the_order_in_the_file_changes_nothing_of_what_a_search_finds(project in projects(), seed in any::<u64>()) {
        let options = Options { schedules: 100, ..Options::default() };
        let (one, other) = in_two_orders(&project, seed, &options);
        prop_assert_eq!(one, other);
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC{0,20}", numbers in "[-+]?[0-9.]{0,6}e?[smhdwoy%/: ]{0,4}.{0,6}") {
        for text in [&text, &numbers] {
            let _ = text.parse::<gantry_schedule::project::Estimate>();
            let _ = text.parse::<gantry_schedule::project::When>();
            let _ = text.parse::<gantry_schedule::project::Deadline>();
            let _ = text.parse::<Link>();
            let _ = text.parse::<Need>();
            let _ = text.parse::<Money>();
            let _ = text.parse::<gantry_schedule::project::Days>();
            let _ = text.parse::<gantry_schedule::project::Hours>();
            let _ = gantry_schedule::what_if::apply(&office("a 1d"), text);
            let _ = gantry_schedule::what_if::apply(&office("a 1d"), &format!("task.a.estimate={text}"));
            let _ = serde_json::from_str::<Project>(text);
        }
    }

    #[test]
    fn no_schedule_beats_the_longest_way_through_the_links(project in projects()) {
        let bound = longest_way(&project);
        prop_assert_eq!(days(plan(&project, Levelling::Off).finish), bound);
        prop_assert_eq!(days(plan(&project, Levelling::WithinFloat).finish), bound);
        prop_assert!(days(plan(&project, Levelling::Slip).finish) >= bound);
    }

    #[test]
    fn over_allocation_is_told_whenever_there_is_some(project in projects()) {
        let schedule = plan(&project, Levelling::Off);
        assert_links_are_kept(&project, &schedule);
        prop_assert_eq!(overloaded(&project, &schedule).is_some(), !schedule.overloads.is_empty());
    }

    #[test]
    fn a_task_may_use_its_float_and_no_more(project in projects(), chosen in any::<prop::sample::Index>()) {
        let project = without_needs(project);
        let schedule = plan(&project, Levelling::Off);
        let task = chosen.index(project.tasks.len());
        let row = &schedule.tasks[task];
        let float = row.float.in_thousandths() / 1_000;
        let with_delay = |delay: i64| {
            let mut late = project.clone();
            late.tasks[task].start_no_earlier = Some(when(&(days(row.start) + delay).to_string()));
            plan(&late, Levelling::Off)
        };
        prop_assert_eq!(with_delay(float).finish, schedule.finish, "the float of {} is free", row.id);
        prop_assert_eq!(days(with_delay(float + 1).finish), days(schedule.finish) + 1, "and no more");
        let free = row.free_float.in_thousandths() / 1_000;
        let moved = with_delay(free);
        let others = schedule.tasks.iter().zip(&moved.tasks).filter(|(before, _)| before.id != row.id);
        prop_assert!(others.into_iter().all(|(before, after)| before.start == after.start), "free float moves nobody");
    }

    #[test]
    fn drag_is_what_is_gained_without_the_task(project in projects(), chosen in any::<prop::sample::Index>()) {
        let project = without_needs(project);
        let before = plan(&project, Levelling::Off);
        let task = chosen.index(project.tasks.len());
        let mut without = project.clone();
        without.tasks[task].estimate = project.tasks[task].estimate.map(|_| "0".parse().unwrap());
        let gain = days(before.finish) - days(plan(&without, Levelling::Off).finish);
        prop_assert_eq!(before.tasks[task].drag.in_thousandths(), gain.max(0) * 1_000);
    }

    #[test]
    fn the_order_in_the_file_changes_nothing(project in dated_projects(), seed in any::<u64>()) {
        let options = Options { draws: 128, ..Options::default() };
        let (one, other) = in_two_orders(&project, seed, &options);
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_project_comes_back_from_a_file_with_the_same_schedule(project in dated_projects()) {
        crate::files::assert_comes_back(&project);
    }

    #[test]
    fn percentiles_rise_and_the_same_seed_gives_the_same_bytes(project in dated_projects(), seed in any::<u64>()) {
        let options = Options { draws: 200, seed, ..Options::default() };
        let schedule_once = schedule(&project, &options).unwrap();
        let text = serde_json::to_string(&schedule_once).unwrap();
        prop_assert_eq!(&text, &serde_json::to_string(&schedule(&project, &options).unwrap()).unwrap());
        let futures = schedule_once.monte_carlo.unwrap();
        let (finish, cost) = (futures.finish, futures.cost);
        prop_assert!(finish.p10 <= finish.p50 && finish.p50 <= finish.p80 && finish.p80 <= finish.p95);
        prop_assert!(cost.p10 <= cost.p50 && cost.p50 <= cost.p80 && cost.p80 <= cost.p95);
        prop_assert_eq!(futures.histogram.iter().map(|bin| bin.count).sum::<u32>(), 200);
    }

    #[test]
    fn earned_value_measures_against_the_whole_plan(project in projects_under_way()) {
        let under_way = schedule(&project, &Options::default()).unwrap();
        let mut agreed = Project { data_date: None, ..project.clone() };
        agreed.tasks.iter_mut().for_each(|task| task.progress = Progress::default());
        let value = under_way.earned_value.unwrap();
        prop_assert_eq!(value.bac, schedule(&agreed, &Options::default()).unwrap().cost.total);
        prop_assert!(value.pv <= value.bac && value.ev <= value.bac);
        prop_assert!(value.ac <= under_way.cost.total, "what has been spent is part of what all costs");
    }

    #[test]
    fn money_reconciles_to_the_cent(project in prop_oneof![dated_projects(), projects_under_way()]) {
        let schedule = schedule(&project, &Options::default()).unwrap();
        let cost = &schedule.cost;
        prop_assert_eq!(cost.by_kind.iter().map(|kind| kind.total).sum::<Decimal>(), cost.total);
        prop_assert_eq!(cost.cash_flow.months.iter().map(|month| month.due).sum::<Decimal>(), cost.total);
        let recurring = cost.by_kind.iter().find(|kind| kind.kind == CostKind::Recurring).map_or(Decimal::ZERO, |kind| kind.total);
        let tasks = schedule.tasks.iter().filter(|row| row.parent.is_none()).map(|row| row.cost).sum::<Decimal>();
        prop_assert_eq!(tasks + recurring, cost.total);
        prop_assert!(cost.cash_flow.months.iter().all(|month| month.due.scale() == 2));
    }

    #[test]
    fn without_change_there_is_no_difference(project in dated_projects()) {
        let options = Options { draws: 64, ..Options::default() };
        prop_assert!(what_if(&project, &[], &options).unwrap().difference.is_empty());
        let same = format!("task.t00.estimate={}", project.tasks[0].estimate.map_or("none".to_owned(), |estimate| estimate.to_string()));
        prop_assert!(what_if(&project, &[&same], &options).unwrap().difference.is_empty());
    }

    #[test]
    fn work_on_a_calendar_is_neither_lost_nor_made(project in dated_projects()) {
        let schedule = plan(&project, Levelling::Slip);
        for row in &schedule.tasks {
            let (Moment::Date(start, _), Moment::Date(finish, _)) = (row.start, row.finish) else { unreachable!() };
            let hours = (start.as_second() / 3_600..finish.as_second() / 3_600).filter(|hour| {
                let (day, hour) = (hour / 24, hour % 24);
                // The first of January 1970 was a Thursday.
                (day + 3) % 7 < 5 && (9..17).contains(&hour)
            });
            // Expected values lie on whole minutes, so the last hour may be begun.
            let expected = row.duration.in_thousandths() * 8;
            let counted = i64::try_from(hours.count()).unwrap() * 1_000;
            prop_assert!((expected - counted).abs() < 1_010, "{}: {} in {}..{}", row.id, row.duration, row.start, row.finish);
        }
    }
}
