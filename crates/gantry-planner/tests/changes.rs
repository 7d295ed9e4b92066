//! What a change in words does to a request.

#![allow(clippy::unwrap_used)] // a test may

use std::fmt::Write as _;

use gantry_planner::facts::{Asked, Facts};
use jiff::civil::date;

const REQUEST: &str = "Open a climbing hall in Aarhus for 2 million DKK by 2028-06-30";

fn facts(changes: &[&str]) -> Facts {
    let changes = changes.iter().map(|change| (*change).to_owned()).collect();
    Facts::of(&Asked { changes, ..Asked::new(REQUEST, date(2026, 11, 16)) }).unwrap()
}

#[test]
fn money_and_time_are_changed_by_words() {
    let mut table = String::new();
    for change in [
        "make it half the budget",
        "double the budget",
        "20 % cheaper",
        "raise the budget by 10%",
        "the budget is 1.5 million DKK now",
        "finish two months later",
        "three weeks earlier",
        "it must be done by 2028-03-31",
        "use wood instead of steel",
        "예산을 절반으로 줄여 주세요",
        "cut the budget by 500,000 DKK",
        "raise the budget by 300,000 DKK",
        "reduce the duration to 10 months",
        // These are about something else.
        "spend 50 000 DKK more on marketing",
        "the kitchen may cost at most 50,000 DKK",
        "double-check the cost estimates",
        "show the latest prices twice a week",
        "do it on behalf of the city and show the costs",
        "translate half of the signs",
        "add a test phase two weeks long",
        "the permit must be in by 2027-03-01",
        "two years earlier",
    ] {
        let facts = facts(&[change]);
        let budget = facts.budget.map(|budget| format!("{} {}", budget.amount, budget.currency)).unwrap_or_default();
        let last = facts.demands.last().unwrap();
        let measured = last.measured_by.as_deref().unwrap_or("nothing");
        writeln!(table, "{change} | {budget} | {} | measured by {measured}", facts.deadline.unwrap()).unwrap();
    }
    insta::assert_snapshot!(table, @"
    make it half the budget | 1000000 DKK | 2028-06-30 | measured by budget
    double the budget | 4000000 DKK | 2028-06-30 | measured by budget
    20 % cheaper | 1600000 DKK | 2028-06-30 | measured by budget
    raise the budget by 10% | 2200000 DKK | 2028-06-30 | measured by budget
    the budget is 1.5 million DKK now | 1500000 DKK | 2028-06-30 | measured by budget
    finish two months later | 2000000 DKK | 2028-08-30 | measured by deadline
    three weeks earlier | 2000000 DKK | 2028-06-09 | measured by deadline
    it must be done by 2028-03-31 | 2000000 DKK | 2028-03-31 | measured by deadline
    use wood instead of steel | 2000000 DKK | 2028-06-30 | measured by nothing
    예산을 절반으로 줄여 주세요 | 1000000 DKK | 2028-06-30 | measured by budget
    cut the budget by 500,000 DKK | 1500000 DKK | 2028-06-30 | measured by budget
    raise the budget by 300,000 DKK | 2300000 DKK | 2028-06-30 | measured by budget
    reduce the duration to 10 months | 2000000 DKK | 2027-09-18 | measured by deadline
    spend 50 000 DKK more on marketing | 2000000 DKK | 2028-06-30 | measured by nothing
    the kitchen may cost at most 50,000 DKK | 2000000 DKK | 2028-06-30 | measured by nothing
    double-check the cost estimates | 2000000 DKK | 2028-06-30 | measured by nothing
    show the latest prices twice a week | 2000000 DKK | 2028-06-30 | measured by nothing
    do it on behalf of the city and show the costs | 2000000 DKK | 2028-06-30 | measured by nothing
    translate half of the signs | 2000000 DKK | 2028-06-30 | measured by nothing
    add a test phase two weeks long | 2000000 DKK | 2028-06-30 | measured by nothing
    the permit must be in by 2027-03-01 | 2000000 DKK | 2028-06-30 | measured by nothing
    two years earlier | 2000000 DKK | 2028-06-30 | measured by nothing
    ");
}

#[test]
fn later_changes_come_on_top_of_earlier_ones() {
    let facts = facts(&["make it half the budget", "make it half the budget"]);
    assert!((facts.budget.unwrap().amount - 500_000.0).abs() < 0.01);
    assert!(facts.request.contains("Change: make it half the budget"));
}
