//! Plans that are put together from knowledge alone.

#![allow(clippy::unwrap_used)] // a test may

mod shared;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gantry_planner::assemble;
use gantry_planner::kind::Size;
use gantry_planner::knowledge::{BUILT_IN, Knowledge};
use gantry_planner::outline::{Given, Outline};
use serde_json::Value;
use shared::{given, loaded, scheduled, setting};

fn all() -> impl Iterator<Item = (Knowledge, Size)> {
    let kinds = BUILT_IN.iter().map(|(kind, text)| Knowledge::read(kind, text).unwrap());
    kinds.flat_map(|knowledge| Size::ALL.map(|size| (knowledge.clone(), size)))
}

fn made(knowledge: &Knowledge, given: &Given) -> (Outline, Value) {
    let outline = Outline::of(knowledge, given).unwrap();
    let plan = assemble::plan(&outline, &setting(knowledge), &BTreeSet::new()).unwrap();
    (outline, plan)
}

#[test]
fn every_kind_in_every_size_is_a_plan_without_errors() {
    for (knowledge, size) in all() {
        let (_, plan) = made(&knowledge, &given(size));
        loaded(&format!("{} {size}", knowledge.kind), &plan);
    }
}

#[test]
fn every_piece_of_work_has_an_owner_an_estimate_a_result_and_a_way_to_see_that_it_is_done() {
    for (knowledge, size) in all() {
        let (outline, _) = made(&knowledge, &given(size));
        let roles: BTreeSet<&str> = outline.roles.iter().map(|role| role.id.as_str()).collect();
        for task in outline.tasks() {
            assert!(roles.contains(task.role.as_str()), "{}: {}", knowledge.kind, task.id);
            assert!(task.hours[2] > 0.0 && !task.done_when.is_empty() && !task.output.is_empty());
            assert!(!task.title.contains("{{") && !task.detail.contains("{{"), "{}", task.title);
        }
    }
}

#[test]
fn what_one_person_does_has_at_most_ten_steps_and_no_committee() {
    for (kind, text) in BUILT_IN {
        let knowledge = Knowledge::read(kind, text).unwrap();
        let (outline, plan) = made(&knowledge, &given(Size::Household));
        assert!(outline.tasks().count() <= 10, "{kind}");
        assert!(!plan.to_string().contains("\"gate\""), "{kind}");
    }
}

#[test]
fn a_bigger_project_takes_longer_and_what_it_costs_follows_its_budget() {
    for (kind, text) in BUILT_IN {
        let knowledge = Knowledge::read(kind, text).unwrap();
        let hours = |size: Size| -> f64 { made(&knowledge, &given(size)).0.tasks().map(|task| task.hours[1]).sum() };
        assert!(hours(Size::Small) < hours(Size::Large), "{kind}");
        let cost = |budget: f64| -> f64 {
            let given = Given { budget_eur: Some(budget), ..given(Size::Medium) };
            made(&knowledge, &given).0.tasks().flat_map(|task| &task.costs).map(|cost| cost.amount[1]).sum()
        };
        let (one, ten) = (cost(1e6), cost(1e7));
        assert!((9.0..11.0).contains(&(ten / one)), "{kind}: {one} {ten}");
    }
}

#[test]
fn whoever_is_several_works_on_several_things_at_once_and_nobody_is_counted_twice() {
    for (knowledge, size) in all() {
        let (outline, plan) = made(&knowledge, &given(size));
        let (project, _) = scheduled(&knowledge.kind, &plan);
        let counted: Vec<(&str, u32)> =
            project.resources.iter().map(|one| (&*one.id, one.capacity.0 / 1_000)).collect();
        let wanted: Vec<(&str, u32)> = outline.roles.iter().map(|role| (role.id.as_str(), role.count)).collect();
        assert_eq!(counted, wanted, "{} {size}", knowledge.kind);
    }
}

#[test]
fn estimates_that_are_more_exact_than_anyone_can_be_are_read_all_the_same() {
    let knowledge = Knowledge::read(BUILT_IN[0].0, BUILT_IN[0].1).unwrap();
    let (mut outline, _) = made(&knowledge, &given(Size::Small));
    outline.phases[0].tasks[0].hours = [0.1 + 0.2, 1.0 / 3.0, 0.051_000_000_000_000_004 + 2.0];
    outline.risks[0].hours = [0.051_000_000_000_000_004, 0.127_500_000_000_000_02, 0.255];
    let plan = assemble::plan(&outline, &setting(&knowledge), &BTreeSet::new()).unwrap();
    scheduled("odd numbers", &plan);
}

#[test]
fn plans_of_small_projects_can_be_scheduled_and_fit_about_what_their_size_says() {
    let mut table = String::new();
    for (kind, text) in BUILT_IN {
        let knowledge = Knowledge::read(kind, text).unwrap();
        let (_, plan) = made(&knowledge, &given(Size::Small));
        let (project, schedule) = scheduled(kind, &plan);
        writeln!(
            table,
            "{kind}: {} tasks, from {} to {}, cost {}",
            project.tasks.len(),
            schedule["start"],
            schedule["finish"],
            schedule["cost"]["total"]
        )
        .unwrap();
        assert_eq!(schedule["feasible"], true, "{kind}");
    }
    insta::assert_snapshot!(table);
}
