//! Many tasks: the size stays bounded, and what is drawn stays readable.

use crate::kit::{count, description, faults, frame, texts};
use gantry_report::chart::{
    Capacity, CashFlow, CashSpan, Clock, Gantt, GanttLink, GanttTask, Load, Moment, Network, NetworkLink, NetworkTask,
    Resource, TaskShape, Use,
};

/// Groups of ten tasks, each after one before it.
fn gantt(tasks: usize) -> Gantt {
    let at = |hours: usize| Moment::period(1_770_000_000 + 3_600 * i64::try_from(hours).expect("a small number"));
    let task = |place: usize| GanttTask {
        depth: usize::from(!place.is_multiple_of(10)),
        shape: if place.is_multiple_of(10) { TaskShape::Summary } else { TaskShape::Task },
        critical: place.is_multiple_of(7),
        ..GanttTask::new(&format!("Task {place}"), at(place), at(place + 30))
    };
    let links =
        (1..tasks).map(|to| GanttLink { from: to / 2, to, critical: to.is_multiple_of(7), ..GanttLink::default() });
    Gantt { tasks: (0..tasks).map(task).collect(), links: links.collect(), ..Gantt::default() }
}

fn network(tasks: usize) -> Network {
    let task = |place: usize| NetworkTask {
        name: format!("Task {place}"),
        group: format!("Group {}", place % 5),
        ..NetworkTask::default()
    };
    let links = (1..tasks).map(|to| NetworkLink { from: to - 1 - to % 9.min(to), to, critical: false });
    Network { tasks: (0..tasks).map(task).collect(), links: links.collect(), ..Network::default() }
}

#[test]
fn a_thousand_tasks_have_a_row_each_and_the_dates_again_and_again() {
    let svg = gantt(1_000).svg(&frame(1_280));
    assert_eq!(faults(&svg), Vec::<String>::new());
    let texts = texts(&svg);
    assert_eq!(texts.iter().filter(|text| text.starts_with("Task ")).count(), 1_000);
    assert_eq!(texts.iter().filter(|text| *text == "Finish").count(), 25);
    assert!(count(&svg, "gc-link") + count(&svg, "gc-link-critical") <= 610);
    assert!(svg.len() < 1_500_000, "{}", svg.len());
}

#[test]
fn ten_thousand_tasks_fold_into_their_summaries() {
    for width in [390, 1_280] {
        let svg = gantt(10_000).svg(&frame(width));
        assert_eq!(faults(&svg), Vec::<String>::new());
        assert!(description(&svg).contains("10,000 tasks are folded into 1,000 rows."));
        assert!(svg.len() < 1_500_000, "{}", svg.len());
    }
}

#[test]
fn ten_thousand_boxes_share_few() {
    for width in [390, 1_280] {
        let svg = network(10_000).svg(&frame(width));
        assert_eq!(faults(&svg), Vec::<String>::new());
        assert!(svg.len() < 1_500_000, "{}", svg.len());
    }
}

#[test]
fn a_graph_in_which_everything_depends_on_everything_stays_drawable() {
    let links = (0..150).flat_map(|to| (0..to).map(move |from| NetworkLink { from, to, critical: false })).collect();
    let network = Network { links, ..network(150) };
    let svg = network.svg(&frame(1_280));
    assert_eq!(faults(&svg), Vec::<String>::new());
    assert!(count(&svg, "gc-link") < 160);
    assert!(description(&svg).contains("not drawn, to keep the graph readable."));
}

#[test]
fn fifty_years_of_months_become_years() {
    let span = |month: i64| CashSpan {
        from: Moment::period(month * 2_629_800),
        until: Moment::period((month + 1) * 2_629_800),
        paid: 1.0,
        received: 0.0,
    };
    let chart = CashFlow {
        clock: Clock::Dates,
        currency: "€".to_owned(),
        spans: (0..600).map(span).collect(),
        budget: None,
        today: None,
    };
    let svg = chart.svg(&frame(390));
    assert_eq!(faults(&svg), Vec::<String>::new());
    assert!(count(&svg, "gc-bar") <= 52, "{}", count(&svg, "gc-bar"));
}

#[test]
fn a_resource_with_ten_thousand_uses_stays_small() {
    let one = |at: i64| Use {
        task: format!("Use {at}"),
        from: Moment::period(at * 7),
        until: Moment::period(at * 7 + 20),
        amount: 1.0,
    };
    let resource = Resource {
        name: "Crew".to_owned(),
        unit: String::new(),
        capacity: vec![Capacity { from: Moment::period(0), amount: 2.0 }],
        uses: (0..10_000).map(one).collect(),
    };
    let load = Load { clock: Clock::periods("hour"), resources: vec![resource; 60], today: None };
    let svg = load.svg(&frame(1_280));
    assert_eq!(faults(&svg), Vec::<String>::new());
    assert!(description(&svg).contains("20 less loaded resources not drawn."));
    assert!(svg.len() < 4_000_000, "{}", svg.len());
}
