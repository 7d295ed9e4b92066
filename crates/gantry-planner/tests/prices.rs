//! What things cost: what such things usually cost and what is counted, never what somebody wants to spend.

#![allow(clippy::unwrap_used)] // a test may

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gantry_planner::assemble;
use gantry_planner::facts::{Asked, Facts, PricedBy};
use gantry_planner::kind::Size;
use gantry_planner::knowledge::{BUILT_IN, Knowledge};
use gantry_planner::overview::overview;
use jiff::civil::date;
use serde_json::Value;

fn facts(text: &str) -> Facts {
    Facts::of(&Asked::new(text, date(2026, 11, 16))).unwrap()
}

/// What a plan means in time and money.
fn planned(text: &str) -> Value {
    let facts = facts(text);
    let plan = assemble::plan(&facts.outline().unwrap(), &facts.setting(), &BTreeSet::new()).unwrap();
    overview(&plan, &facts, &[]).unwrap()
}

#[test]
fn a_bridge_costs_what_bridges_cost_whatever_is_to_be_spent_on_it() {
    let costs = |text: &str| -> Vec<f64> {
        let outline = facts(text).outline().unwrap();
        outline.tasks().flat_map(|task| &task.costs).map(|cost| cost.amount[1]).collect()
    };
    let poor = "Build a bridge over the Rhine for 50,000 EUR";
    assert_eq!(costs(poor), costs("Build a bridge over the Rhine for 40 million EUR"));
    let told = planned(poor);
    assert_eq!(told["feasible"], false);
    let total = told["cost"].as_i64().unwrap();
    assert!(total > 20_000_000, "{total}");
    assert_eq!(told["over_budget"], total - 50_000);
    let gap = told["gaps"][0].as_str().unwrap();
    assert!(gap.contains("the budget is 50,000 EUR") && gap.ends_with("EUR too much."), "{gap}");
    let assumed = facts(poor).assumed;
    assert!(assumed.iter().any(|one| one.assumed.starts_with("About 60,000,000 EUR in all")), "{assumed:?}");
}

#[test]
fn what_is_asked_for_costs_about_what_such_a_thing_usually_does() {
    for text in [
        "Build a hotel with 120 rooms in Porto",
        "Organise a conference for 500 scientists in Lyon",
        "Open a restaurant in Graz",
        "Build a wind farm of 60 MW in Jutland",
        "Build a museum of ships in Turku",
    ] {
        let facts = facts(text);
        let price = facts.price.clone().unwrap_or_else(|| panic!("{text}: {:?}", facts.priced_by));
        let cost = planned(text)["cost"].as_f64().unwrap();
        let share = cost / price.amount;
        assert!((0.8..1.35).contains(&share), "{text}: {cost} {}, usually {}", price.currency, price.amount);
    }
}

#[test]
fn neither_little_money_nor_little_time_makes_work_smaller() {
    let hours = |text: &str| -> f64 { facts(text).outline().unwrap().tasks().map(|task| task.hours[1]).sum() };
    let free = hours("Build a museum of ships in Turku");
    for tight in
        ["Build a museum of ships in Turku for 1 million EUR", "Build a museum of ships in Turku within 3 weeks"]
    {
        assert!(hours(tight) >= free, "{tight}");
    }
}

#[test]
fn where_no_price_is_known_nobody_says_that_the_money_is_enough() {
    let text = "Develop a vaccine against hay fever for 90 million EUR";
    assert_eq!(facts(text).priced_by, PricedBy::Budget);
    let told = planned(text);
    let budget = told["demands"].as_array().unwrap().iter().find(|demand| demand["text"] == "90 million EUR").unwrap();
    assert_eq!(budget["status"], "open", "{budget}");
    assert!(budget["why"].as_str().unwrap().contains("no price of such a thing is known"), "{budget}");
}

#[test]
fn guests_are_counted_and_nobody_is_paid_for_private_things() {
    let (small, large) = (facts("Plan a wedding for 40 guests"), facts("Plan a wedding for 80 guests"));
    let food = |facts: &Facts| -> f64 {
        let outline = facts.outline().unwrap();
        assert!(outline.roles.iter().all(|role| role.id == "you" && role.rate == 0.0), "{:?}", outline.roles);
        let costs: Vec<f64> = outline
            .tasks()
            .flat_map(|task| &task.costs)
            .filter(|cost| cost.name == "food and drink")
            .map(|cost| cost.amount[1])
            .collect();
        costs.iter().sum()
    };
    assert_eq!((food(&small), food(&large)), (4_400.0, 8_800.0));
    assert_eq!(small.size, Size::Household);
    assert_eq!(facts("Plan a wedding for 4,000 guests").matter, None, "that is no family's");
    let usual = facts("Plan a wedding");
    assert!(usual.assumed.iter().any(|one| one.question == "How many guests?"), "{:?}", usual.assumed);
}

#[test]
fn private_things_cost_what_people_pay_for_them() {
    let mut table = String::new();
    for text in [
        "Plan a wedding for 80 guests",
        "Bake a birthday cake for 10 people",
        "A cup of coffee",
        "A weekend in Rome",
        "A weekend in Rome for two people",
        "I want to go on a 14 days vacation trip to Paris",
        "Move to a new flat",
        "Build a garden shed",
        "Organise a birthday party for 20 kids",
        "Renovate our kitchen",
        "Paint our living room",
        "Buy a used car for 8,000 EUR",
        "Adopt a dog",
        "Learn to play the guitar",
        "Train for a marathon",
        "Plant a vegetable garden",
    ] {
        let facts = facts(text);
        let outline = facts.outline().unwrap();
        let told = planned(text);
        let matter = facts.matter.as_deref().unwrap_or("anything");
        let money = &told["cost_p50"];
        writeln!(
            table,
            "{text}: {matter}, {} steps, {money} {}, {} to {}",
            outline.tasks().count(),
            facts.currency,
            told["start"].as_str().unwrap(),
            told["finish_p80"].as_str().unwrap()
        )
        .unwrap();
        let words = serde_json::to_string(&outline).unwrap().to_lowercase();
        for office in ["committee", "regulator", "stakeholder", "steering", "sponsor"] {
            assert!(!words.contains(office), "{text}: {office}");
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_private_matter_is_found_by_its_words_has_at_most_twelve_steps_and_fills_in() {
    for (kind, text) in BUILT_IN {
        let knowledge = Knowledge::read(kind, text).unwrap();
        for matter in &knowledge.household.matters {
            let steps = matter.tasks.len();
            assert!((5..=12).contains(&steps), "{kind} {}: {steps}", matter.id);
            let links: usize = matter.tasks.iter().map(|task| task.after.len()).sum();
            assert!(links + 1 >= steps, "{kind} {}: {links} links for {steps}", matter.id);
            assert!(matter.tasks.iter().all(|task| task.estimate[0] < task.estimate[2]), "{kind} {}", matter.id);
        }
    }
}

#[test]
fn words_that_only_begin_like_a_thing_have_no_price() {
    for text in
        ["Go on a trip to Barcelona", "Publish a public map of damage in Damascus", "Design a template for shopping"]
    {
        assert_eq!(facts(text).price, None, "{text}");
    }
    assert!(facts("Build two bridges near Graz").price.is_some(), "several of them have one");
}
