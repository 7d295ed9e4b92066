//! Money to the cent, and earned value by the book.

use gantry_schedule::project::{Baseline, Cost, CostKind, Due, Money, Progress, Recurring, Resource, ThreePoint, Unit};
use gantry_schedule::{Moment, Options, TaskRow};
use rust_decimal::Decimal;

use crate::kit::{counted, office, planned, planned_with, row, when, with_people};

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn cost(name: &str, kind: CostKind, amount: &str, due: Due) -> Cost {
    Cost { name: name.to_owned(), kind, amount: ThreePoint::fixed(money(amount)), due }
}

#[test]
fn people_cost_their_rate_for_their_time() {
    let mut project = office("a 2d needs ana, bob 50%");
    project.resources = vec![paid("ana", "80"), paid("bob", "33.335")];
    let schedule = planned(&project);
    // 16 h × 80 = 1280; 16 h × 0.5 × 33.335 = 266.68.
    assert_eq!(schedule.cost.total.to_string(), "1546.68");
    let by_resource: Vec<String> = schedule.cost.by_resource.iter().map(|each| each.total.to_string()).collect();
    assert_eq!(by_resource, ["1280.00", "266.68"]);
}

#[test]
fn materials_fixed_and_recurring_costs_add_up() {
    let mut project = office("build -\n a 5d in build\n b 5d in build after a");
    project.tasks[0].costs = vec![cost("permit", CostKind::Fixed, "500", Due::Start)];
    project.tasks[1].costs = vec![cost("steel", CostKind::Material, "1200.10", Due::Start)];
    project.recurring =
        vec![Recurring { id: "rent".to_owned(), amount: money("100"), every: Unit::Week, from: None, to: None }];
    project.budget = Some(money("2000"));
    let schedule = planned(&project);
    assert_eq!(schedule.cost.total.to_string(), "1900.10", "two weeks of rent");
    assert_eq!(row(&schedule, "build").cost.to_string(), "1700.10", "a summary costs what it and its parts cost");
    assert_eq!(schedule.cost.under_budget.map(|left| left.to_string()), Some("99.90".to_owned()));
}

#[test]
fn other_currencies_are_exchanged_exactly() {
    let mut project = office("a 1d needs ana");
    project.currency = "EUR".to_owned();
    project.exchange.insert("USD".to_owned(), "0.9".parse().unwrap());
    project.resources = vec![Resource { rate: Some(money("100 USD")), ..Resource::new("ana") }];
    assert_eq!(planned(&project).cost.total.to_string(), "720.00");
}

#[test]
fn cash_flows_month_by_month_and_adds_up_to_the_total() {
    // Four weeks from Monday, 2 March 2026 of 20 days; then 10 days that are 2 in March and 8 in April.
    let mut project = office("a 20d needs ana\n b 10d needs ana after a");
    project.resources = vec![Resource { rate: Some(money("10.01")), ..Resource::new("ana") }];
    let schedule = planned(&project);
    let months = &schedule.cost.cash_flow.months;
    let due: Vec<String> = months.iter().map(|month| format!("{} {}", month.month, month.due)).collect();
    assert_eq!(due, ["2026-03-01 1761.76", "2026-04-01 640.64"]);
    assert_eq!(months.iter().map(|month| month.due).sum::<Decimal>(), schedule.cost.total);
    assert_eq!(months[1].so_far, schedule.cost.total);
}

/// The example of many textbooks: a budget of 100,000; 40,000 planned by now, 30,000 earned, 35,000 spent.
#[test]
fn earned_value_is_by_the_book() {
    let mut project = counted("a 4d started 0 finished 4\n b 4d after a started 4 percent 0\n c 2d after b");
    project.data_date = Some(when("4"));
    let agreed = |start: &str, finish: &str, amount: &str| {
        Some(Baseline { start: when(start), finish: when(finish), cost: money(amount) })
    };
    project.tasks[0].baseline = agreed("0", "4", "30000");
    project.tasks[0].progress.cost = Some(money("35000"));
    project.tasks[1].baseline = agreed("3", "8", "50000");
    project.tasks[2].baseline = agreed("8", "10", "20000");
    let value = planned(&project).earned_value.unwrap();
    let told = [value.bac, value.pv, value.ev, value.ac, value.sv, value.cv].map(|amount| amount.to_string());
    assert_eq!(told, ["100000.00", "40000.00", "30000.00", "35000.00", "-10000.00", "-5000.00"]);
    assert_eq!(value.spi.unwrap().to_string(), "0.75");
    assert_eq!(value.cpi.unwrap().to_string(), "0.8571");
    assert_eq!(value.eac.unwrap().to_string(), "116666.67");
    assert_eq!(value.etc.unwrap().to_string(), "81666.67");
    assert_eq!(value.vac.unwrap().to_string(), "-16666.67");
    assert_eq!(value.tcpi.unwrap().to_string(), "1.0769");
}

fn paid(id: &str, rate: &str) -> Resource {
    Resource { rate: Some(money(rate)), ..Resource::new(id) }
}

#[test]
fn work_under_way_earns() {
    let mut project = counted("a 4d needs ana started 0 left 1d");
    project.resources = vec![paid("ana", "10")];
    project.data_date = Some(when("3"));
    let value = planned(&project).earned_value.unwrap();
    // Four days round the clock at 10 an hour, of which three are done.
    let told = [value.bac, value.pv, value.ev, value.ac].map(|amount| amount.to_string());
    assert_eq!(told, ["960.00", "720.00", "720.00", "720.00"]);
}

#[test]
fn work_that_took_longer_has_cost_what_it_took() {
    let mut project = office("a 5d needs ana started 2026-03-02T09:00 percent 10");
    project.resources = vec![paid("ana", "100")];
    project.tasks[0].costs = vec![
        cost("steel", CostKind::Material, "500", Due::Start),
        cost("paint", CostKind::Material, "300", Due::Finish),
    ];
    project.data_date = Some(when("2026-03-12"));
    let schedule = planned(&project);
    let value = schedule.earned_value.unwrap();
    // Eight days were worked, and steel was bought; of what was agreed a tenth is done.
    let told = [value.bac, value.ev, value.ac].map(|amount| amount.to_string());
    assert_eq!(told, ["4800.00", "480.00", "6900.00"]);
    assert_eq!(schedule.cost.total.to_string(), "10800.00", "eight days, four and a half more, steel and paint");
    assert_eq!(value.eac.unwrap().to_string(), "69000.00");
}

#[test]
fn work_that_waits_is_paid_when_it_goes_on() {
    let mut project = office("a 4d needs ana started 2026-03-02T09:00 percent 50");
    project.resources =
        vec![Resource { absences: vec!["2026-03-06..2026-04-05".parse().unwrap()], ..paid("ana", "10") }];
    project.data_date = Some(when("2026-03-06"));
    let schedule = planned(&project);
    let due: Vec<String> = schedule.cost.cash_flow.months.iter().map(|month| month.due.to_string()).collect();
    assert_eq!(due, ["320.00", "160.00"], "four days in March, and two of those that are left in April");
    assert_eq!(schedule.earned_value.unwrap().ac.to_string(), "320.00");
}

#[test]
fn recurring_costs_are_part_of_earned_value() {
    let mut project = office("a 10d needs ana started 2026-03-02T09:00 percent 20\n b 5d needs ana after a");
    project.resources = vec![paid("ana", "10")];
    project.recurring =
        vec![Recurring { id: "rent".to_owned(), amount: money("100"), every: Unit::Week, from: None, to: None }];
    let mut agreed = project.clone();
    agreed.tasks[0].progress = Progress::default();
    assert_eq!(planned(&agreed).cost.total.to_string(), "1500.00", "three weeks of work and of rent");
    project.data_date = Some(when("2026-03-10"));
    let value = planned(&project).earned_value.unwrap();
    let told = [value.bac, value.pv, value.ev, value.ac].map(|amount| amount.to_string());
    // Six days were to be done and were worked, of which two are done, and two weeks of rent are due.
    assert_eq!(told, ["1500.00", "680.00", "360.00", "680.00"]);
}

#[test]
fn planned_value_follows_the_hours_of_who_does_it() {
    let mut project = office("a 2d on weekend from 2026-03-07 needs ana started 2026-03-07T09:00 percent 50");
    let weekend = r#"{"id":"weekend","week":{"sat-sun":["09:00-17:00"]}}"#;
    project.calendars.push(serde_json::from_str(weekend).unwrap());
    project.resources = vec![Resource { calendar: Some("weekend".to_owned()), ..paid("ana", "100") }];
    project.data_date = Some(when("2026-03-08"));
    let value = planned(&project).earned_value.unwrap();
    let told = [value.bac, value.pv, value.ev, value.ac].map(|amount| amount.to_string());
    assert_eq!(told, ["1600.00", "800.00", "800.00", "800.00"], "on Sunday morning half of it is due and done");
}

#[test]
fn planned_value_is_of_the_schedule_that_was_shown() {
    // Rules alone do all this in 17 days, a search in 16: then `a` is done by day 2 or not before day 9.
    let project = counted("a 2d needs crew 7\n b 9d needs crew 4\n c 8d needs crew 3\n d 8d needs crew 7");
    let mut project = with_people(project, &[("crew", 11)]);
    project.resources[0].rate = Some(money("1"));
    let options = Options { schedules: 2_000, ..Options::default() };
    let shown = planned_with(&project, &options);
    for day in 0..17_u32 {
        project.data_date = Some(when(&day.to_string()));
        let value = planned_with(&project, &options).earned_value.unwrap();
        let by_now = |row: &TaskRow| {
            let days = |moment: Moment| moment.to_string().parse::<Decimal>().unwrap();
            let (start, finish) = (days(row.start), days(row.finish));
            row.cost * (Decimal::from(day).clamp(start, finish) - start) / (finish - start)
        };
        assert_eq!(value.pv, shown.tasks.iter().map(by_now).sum::<Decimal>().round_dp(2), "on day {day}");
    }
}

#[test]
fn work_of_a_role_costs_the_same_when_it_is_done() {
    let mut project = office("a 2d role welder\n b 2d role welder\n c 1d role welder after a");
    let welder = |id: &str, rate: &str| Resource { roles: vec!["welder".to_owned()], ..paid(id, rate) };
    project.resources = vec![welder("ana", "80"), welder("ben", "60"), welder("cleo", "90")];
    let before = planned(&project);
    assert_eq!(before.cost.total.to_string(), "2720.00", "16 h × 60, 16 h × 80, 8 h × 60");
    for (task, row) in project.tasks.iter_mut().zip(&before.tasks) {
        task.progress.started = Some(when(&row.start.to_string()));
        task.progress.finished = Some(when(&row.finish.to_string()));
    }
    project.data_date = Some(when("2026-03-06"));
    let after = planned(&project);
    assert_eq!(after.cost.total, before.cost.total);
    assert_eq!(after.cost.by_resource, before.cost.by_resource);
    assert_eq!(after.earned_value.unwrap().ac, before.cost.total);
}

#[test]
fn without_a_data_date_nothing_is_earned() {
    assert!(planned(&counted("a 1d")).earned_value.is_none());
}
