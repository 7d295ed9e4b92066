//! Money to the cent, and earned value by the book.

use gantry_schedule::project::{Baseline, Cost, CostKind, Due, Money, Recurring, Resource, ThreePoint, Unit};
use rust_decimal::Decimal;

use crate::kit::{counted, office, planned, row, when};

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn cost(name: &str, kind: CostKind, amount: &str, due: Due) -> Cost {
    Cost { name: name.to_owned(), kind, amount: ThreePoint::fixed(money(amount)), due }
}

#[test]
fn people_cost_their_rate_for_their_time() {
    let mut project = office("a 2d needs ana, bob 50%");
    let paid = |id: &str, rate: &str| Resource { rate: Some(money(rate)), ..Resource::new(id) };
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

#[test]
fn without_a_data_date_nothing_is_earned() {
    assert!(planned(&counted("a 1d")).earned_value.is_none());
}
