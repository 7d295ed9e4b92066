//! What charts say to those who do not see them.

use crate::{
    drawn,
    kit::{description, frame},
};
use gantry_report::chart::{Clock, Deadline, Gantt, GanttTask, Measure, Moment, Network, NetworkTask};

#[test]
fn every_chart_says_in_words_what_it_shows() {
    let said: Vec<String> =
        drawn::all(&frame(1_280)).iter().map(|(name, svg)| format!("{name}: {}", description(svg))).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_missed_deadline_is_said_first() {
    let deadline = Deadline { at: crate::kit::march(10), missed: true, margin: "4 days of work".to_owned() };
    let chart = Gantt { deadline: Some(deadline), ..drawn::gantt() };
    let said = description(&chart.svg(&frame(1_280)));
    assert!(said.contains("Finishes on 14 March 2026, 4 days of work after the deadline."), "{said}");
}

#[test]
fn periods_are_said_as_periods() {
    let tasks = vec![GanttTask::new("Job 2", Moment::period(0), Moment::period(8))];
    let said = description(&Gantt { clock: Clock::periods("day"), tasks, ..Gantt::default() }.svg(&frame(1_280)));
    assert_eq!(said, "Gantt chart of 1 task from day 0 to day 8. Finishes at day 8.");
}

#[test]
fn what_is_folded_or_left_out_is_said() {
    let gantt = Gantt { rows_max: 2, ..drawn::gantt() };
    let said = description(&gantt.svg(&frame(1_280)));
    assert!(said.contains("5 tasks are folded into 1 row."), "{said}");
    let network = Network { tasks: vec![NetworkTask::default(); 40], boxes_max: 10, ..Network::default() };
    let said = description(&network.svg(&frame(1_280)));
    assert!(said.contains("They share 1 box."), "{said}");
}

#[test]
fn a_budget_is_a_budget_and_a_deadline_a_deadline() {
    let cost = gantry_report::chart::Histogram {
        measure: Measure::money("€"),
        bins: gantry_report::chart::Bin::of(&[10.0, 20.0, 30.0], 3),
        percentiles: Vec::new(),
        limit: Some(25.0),
        within_limit: Some(2.0 / 3.0),
    };
    let said = description(&cost.svg(&frame(1_280)));
    assert!(said.contains("67 % chance to meet the budget of €25."), "{said}");
}
