//! Futures: what they say, and that they say it again.

use gantry_schedule::project::{
    Amount, CapacityChange, Correlation, Cost, CostKind, Due, Money, Project, ReferenceClass, Resource, Risk,
    ThreePoint,
};
use gantry_schedule::{MonteCarlo, Options, Schedule};

use crate::kit::{counted, office, planned_with, row, when, with_people};

const DRAWS: u32 = 4_000;

fn drawn_futures(project: &Project) -> Schedule {
    planned_with(project, &Options { draws: DRAWS, seed: 42, ..Options::default() })
}

fn futures(project: &Project) -> MonteCarlo {
    drawn_futures(project).monte_carlo.unwrap()
}

fn number(text: impl ToString) -> f64 {
    text.to_string().parse().unwrap()
}

#[test]
fn without_doubt_every_future_is_the_plan() {
    let futures = futures(&counted("a 3d\n b 4d after a"));
    for percentile in [futures.finish.p5, futures.finish.p50, futures.finish.p95, futures.finish.mean] {
        assert_eq!(percentile.to_string(), "7");
    }
    assert_eq!(futures.histogram.len(), 1);
    assert!(futures.drivers.is_empty());
}

#[test]
fn the_mean_of_a_chain_is_the_sum_of_its_means() {
    // Means by PERT: (2 + 4×5 + 14) / 6 = 6 and (1 + 4×2 + 9) / 6 = 3.
    let futures = futures(&counted("a 2d/5d/14d\n b 1d/2d/9d after a"));
    assert!((number(futures.finish.mean) - 9.0).abs() < 0.1, "{}", futures.finish.mean);
}

#[test]
fn where_paths_join_the_finish_is_later_than_each() {
    let one = futures(&counted("a 2d/5d/14d"));
    let three = futures(&counted("a 2d/5d/14d\n b 2d/5d/14d\n c 2d/5d/14d"));
    assert!(number(three.finish.p50) > number(one.finish.p50) + 1.0, "{} {}", three.finish.p50, one.finish.p50);
}

#[test]
fn criticality_is_the_share_of_futures_in_which_a_task_holds_the_end() {
    let schedule = drawn_futures(&counted(
        "start 1d\n a 4d/5d/6d after start\n b 4d/5d/6d after start\n end 1d after a, b\n side 1d",
    ));
    let share = |id: &str| row(&schedule, id).criticality.unwrap();
    assert!((share("a") - 0.5).abs() < 0.05 && (share("b") - 0.5).abs() < 0.05);
    assert!((share("start") - 1.0).abs() < 1e-9 && (share("end") - 1.0).abs() < 1e-9);
    assert!(share("side") < 1e-9);
}

#[test]
fn a_risk_strikes_as_often_as_it_is_likely() {
    let mut project = counted("a 10d");
    let risk = Risk { id: "storm".to_owned(), probability: 0.3, tasks: vec!["a".to_owned()], ..Risk::default() };
    project.risks = vec![Risk {
        delay: Some("5d".parse().unwrap()),
        cost: Some(ThreePoint::fixed("1000".parse().unwrap())),
        ..risk
    }];
    let futures = futures(&project);
    assert_eq!((futures.finish.p50.to_string(), futures.finish.p80.to_string()), ("10".to_owned(), "15".to_owned()));
    assert!((number(futures.finish.mean) - 11.5).abs() < 0.15, "{}", futures.finish.mean);
    assert!((number(futures.cost.mean) - 300.0).abs() < 30.0, "{}", futures.cost.mean);
    assert_eq!(futures.drivers[0].id, "storm");
    assert_eq!(futures.drivers[0].swing.to_string(), "5");
    assert_eq!(futures.drivers[0].cost_swing.to_string(), "1000.00");
}

#[test]
fn a_risk_of_a_summary_delays_it_as_a_whole() {
    let mut project = office("phase - by 2026-03-05\n x 2d in phase\n y 2d in phase after x\n end 1d after phase");
    let strike = Risk {
        id: "strike".to_owned(),
        probability: 0.5,
        tasks: vec!["phase".to_owned()],
        delay: Some("5d".parse().unwrap()),
        ..Risk::default()
    };
    project.risks = vec![strike];
    let schedule = drawn_futures(&project);
    assert_eq!(schedule.finish.to_string(), "2026-03-06T17:00:00+00:00", "it is no part of the plan");
    let drawn = schedule.monte_carlo.unwrap();
    assert_eq!(drawn.finish.p20.to_string(), "2026-03-06T17:00:00+00:00");
    assert_eq!(drawn.finish.p80.to_string(), "2026-03-13T17:00:00+00:00", "a week of work later, not two");
    assert_eq!((drawn.drivers[0].id.as_str(), drawn.drivers[0].swing.to_string()), ("strike", "5".to_owned()));
    assert!((schedule.deadlines[0].probability.unwrap() - 0.5).abs() < 0.05, "the summary itself is late");
    for part in &mut project.tasks[1..3] {
        part.progress.percent = Some(100);
    }
    let finish = futures(&project).finish;
    assert_eq!(finish.p5, finish.p95, "what is done can be delayed no more");
}

#[test]
fn a_risk_of_a_milestone_and_of_a_summary_count_on_any_calendar() {
    let mut project = office("phase -\n x 2d in phase on other\n m - after phase");
    project.calendars.push(gantry_schedule::project::Calendar::always("other"));
    let risk = |id: &str, task: &str| Risk {
        id: id.to_owned(),
        probability: 1.0,
        tasks: vec![task.to_owned()],
        delay: Some("1d".parse().unwrap()),
        ..Risk::default()
    };
    project.risks = vec![risk("frost", "phase"), risk("flood", "m")];
    let finish = futures(&project).finish;
    assert_eq!(finish.p50.to_string(), "2026-03-05T17:00:00+00:00", "two days round the clock, and two in the office");
}

#[test]
fn parts_of_a_summary_go_badly_together_with_it() {
    let parts = counted("all -\n a 2d/5d/14d in all\n b 2d/5d/14d in all after a\n c 2d/5d/14d in all after b");
    let together = |members: &[&str]| {
        let members = members.iter().map(|id| (*id).to_owned()).collect();
        let correlations = vec![Correlation { id: "weather".to_owned(), members, strength: 0.8 }];
        futures(&Project { correlations, ..parts.clone() })
    };
    assert_eq!(together(&["all"]).finish, together(&["a", "b", "c"]).finish);
    assert_eq!(together(&["all", "b"]).finish, together(&["a", "b", "c"]).finish, "a part counts once");
    assert_ne!(together(&["all"]).finish, together(&["a"]).finish);
}

#[test]
fn tasks_that_go_badly_together_make_the_end_less_certain() {
    let project = counted("a 2d/5d/14d\n b 2d/5d/14d after a\n c 2d/5d/14d after b");
    let members = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut together = project.clone();
    together.correlations = vec![Correlation { id: "weather".to_owned(), members, strength: 0.8 }];
    let spread = |futures: &MonteCarlo| number(futures.finish.p90) - number(futures.finish.p10);
    let (apart, together) = (futures(&project), futures(&together));
    // The variance of a sum of three with correlation 0.8 is 3 × (1 + 2×0.8) / 3 = 2.6 times that of independent ones.
    let ratio = spread(&together) / spread(&apart);
    assert!((ratio - 2.6_f64.sqrt()).abs() < 0.12, "{ratio}");
    assert!((number(apart.finish.mean) - number(together.finish.mean)).abs() < 0.2);
}

#[test]
fn past_work_corrects_estimates() {
    let mut project = counted("a 10d");
    project.tasks[0].class = Some("software".to_owned());
    project.classes = vec![ReferenceClass { id: "software".to_owned(), ratios: vec![1.0, 1.5, 2.0] }];
    let schedule = drawn_futures(&project);
    assert_eq!(schedule.makespan.to_string(), "15", "the plan takes the mean ratio");
    let futures = schedule.monte_carlo.unwrap();
    assert!((number(futures.finish.p10) - 11.0).abs() < 0.2 && (number(futures.finish.p90) - 19.0).abs() < 0.2);
}

#[test]
fn chances_of_deadline_and_budget_are_counted() {
    let mut project = counted("a 4d/8d/12d needs ana by 8");
    project.resources = vec![Resource { rate: Some(Money::of(1)), ..Resource::new("ana") }];
    project.deadline = Some("8".parse().unwrap());
    project.budget = Some(Money::of(8 * 24));
    let schedule = drawn_futures(&project);
    let futures = schedule.monte_carlo.as_ref().unwrap();
    let (deadline, budget) = (futures.deadline_probability.unwrap(), futures.budget_probability.unwrap());
    assert!((deadline - 0.5).abs() < 0.04 && (budget - deadline).abs() < 0.01, "{deadline} {budget}");
    assert_eq!(schedule.deadlines[1].probability, Some(deadline), "the task's deadline is the same day");
    assert!(number(schedule.cost.contingency.unwrap()) > 10.0);
    assert_eq!(schedule.cost.total_with_contingency, Some(futures.cost.p80));
}

#[test]
fn doubtful_prices_are_drawn_too() {
    let mut project = counted("a 1d");
    let amount = "100/200/600".parse().unwrap();
    project.tasks[0].costs = vec![Cost { name: "steel".to_owned(), kind: CostKind::Material, amount, due: Due::Start }];
    let schedule = drawn_futures(&project);
    assert_eq!(schedule.cost.total.to_string(), "250.00");
    let futures = schedule.monte_carlo.unwrap();
    assert!((number(futures.cost.mean) - 250.0).abs() < 5.0, "{}", futures.cost.mean);
    assert!(futures.cost.p95 > futures.cost.p50);
}

#[test]
fn the_strongest_driver_comes_first() {
    let futures = futures(&counted("a 4d/5d/6d\n b 1d/5d/20d after a\n c 3d/5d/8d after b"));
    let ids: Vec<&str> = futures.drivers.iter().map(|driver| &*driver.id).collect();
    assert_eq!(ids, ["b", "c", "a"]);
    assert!(futures.drivers[0].correlation > 0.8);
}

#[test]
fn people_keep_their_order_in_every_future() {
    // One person does both: no future is shorter than the sum.
    let mut project = counted("a 4d/5d/6d needs ana\n b 4d/5d/6d needs ana");
    project.resources = vec![Resource::new("ana")];
    assert!(number(futures(&project).finish.p5) > 8.9);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let project = counted("a 2d/5d/14d\n b 1d/2d/9d after a\n c 2d/3d/9d after a");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&drawn_futures(&project)).unwrap())
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn changing_one_task_leaves_the_luck_of_the_others() {
    let before = drawn_futures(&counted("a 2d/5d/14d\n b 1d"));
    let after = drawn_futures(&counted("a 2d/5d/14d\n b 1d/1d/2d\n c 1d/1d/2d"));
    assert_eq!(before.monte_carlo.unwrap().finish.p90, after.monte_carlo.unwrap().finish.p90);
}

#[test]
fn one_calendar_or_two_make_no_difference_to_the_futures() {
    // Drawing is faster on one calendar; a task of no importance on another one must not change what comes out.
    let drawing = "a 2d/5d/14d\n b 1d/2d/9d after a SS+1d by 2026-03-10\n c 2d/3d/9d after a FF, b\n d - after c";
    let one = drawn_futures(&office(drawing));
    let mut two = office(&format!("{drawing}\n e 1h on other"));
    two.calendars.push(gantry_schedule::project::Calendar::always("other"));
    let two = drawn_futures(&two);
    assert_eq!(one.monte_carlo, two.monte_carlo);
    assert_eq!(one.deadlines, two.deadlines);
    for (one, two) in one.tasks.iter().zip(&two.tasks) {
        assert_eq!(one.criticality, two.criticality, "{}", one.id);
    }
}

#[test]
fn risks_with_one_cause_strike_together() {
    let mut project = counted("a 1d\n b 1d after a");
    let risk = |id: &str, task: &str| Risk {
        id: id.to_owned(),
        probability: 0.5,
        tasks: vec![task.to_owned()],
        delay: Some("10d".parse().unwrap()),
        ..Risk::default()
    };
    project.risks = vec![risk("frost", "a"), risk("flood", "b")];
    let alone = futures(&project);
    assert_eq!(alone.finish.p50.to_string(), "12", "mostly one of the two strikes");
    let members = vec!["frost".to_owned(), "flood".to_owned()];
    project.correlations = vec![Correlation { id: "winter".to_owned(), members, strength: 1.0 }];
    let together = futures(&project);
    let finish = together.finish;
    assert_eq!([finish.p10, finish.p40, finish.p60, finish.p95].map(|at| at.to_string()), ["2", "2", "22", "22"]);
}

#[test]
fn a_future_that_runs_into_a_fall_of_capacity_waits_for_who_is_left() {
    // Two work side by side until day ten; then there is one, who does the one after the other if both are late.
    let mut project = with_people(counted("a 5d/8d/20d needs crew\n b 5d/8d/20d needs crew"), &[("crew", 2)]);
    let before = futures(&project);
    project.resources[0].changes = vec![CapacityChange { from: when("10"), capacity: Amount::whole(1) }];
    let after = futures(&project);
    assert!(number(before.finish.p95) < 20.0, "{}", before.finish.p95);
    assert!(number(after.finish.p95) > 24.0, "{}", after.finish.p95);
    assert_eq!(after.finish.p20, before.finish.p20, "where one is done by then nothing has changed");
}

#[test]
fn a_future_in_which_nobody_is_left_is_told() {
    let mut project = with_people(counted("a 2d/4d/20d needs crew"), &[("crew", 1)]);
    project.resources[0].changes = vec![CapacityChange { from: when("9"), capacity: Amount::whole(0) }];
    let schedule = drawn_futures(&project);
    let told: Vec<&str> = schedule.warnings.iter().map(|warning| warning.what.as_str()).collect();
    let expected = "in 19 % of futures some work is so late that its people have left for good; there it is taken to go on \
                    without them";
    assert_eq!(told, [expected]);
}
