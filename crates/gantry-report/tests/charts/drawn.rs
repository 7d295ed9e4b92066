//! Small charts as they are drawn.

use crate::kit::{faults, frame, lines, march, texts};
use gantry_report::chart::{
    Bin, Capacity, CashFlow, CashSpan, Clock, Curve, Deadline, Driver, Float, Frame, Gantt, GanttLink, GanttTask,
    Heading, Histogram, Load, Measure, Moment, Network, NetworkLink, NetworkTask, Percentile, Point, Resource, SCurve,
    Span, TaskShape, Theme, Tornado, Use,
};
use jiff::civil::date;

pub fn gantt() -> Gantt {
    let tasks = vec![
        GanttTask { shape: TaskShape::Summary, ..GanttTask::new("Garden", march(2), march(14)) },
        GanttTask {
            depth: 1,
            critical: true,
            percent_done: Some(50.0),
            note: "Ana".to_owned(),
            ..GanttTask::new("Dig", march(2), march(6))
        },
        GanttTask {
            depth: 1,
            float: Some(Float { until: march(12), length: "5 days".to_owned() }),
            p80_finish: Some(march(9)),
            deadline: Some(Deadline { at: march(11), ..Deadline::default() }),
            ..GanttTask::new("Fence", march(3), march(7))
        },
        GanttTask { depth: 1, critical: true, ..GanttTask::new("Plant", march(6), march(14)) },
        GanttTask {
            depth: 1,
            shape: TaskShape::Milestone,
            critical: true,
            ..GanttTask::new("Done", march(14), march(14))
        },
    ];
    let link = |from, to| GanttLink { from, to, critical: true, ..GanttLink::default() };
    Gantt {
        tasks,
        links: vec![link(1, 3), link(3, 4)],
        today: Some(march(4)),
        path: vec![1, 3, 4],
        deadline: Some(Deadline { at: march(16), missed: false, margin: "2 days".to_owned() }),
        ..Gantt::default()
    }
}

pub fn network() -> Network {
    let task = |name: &str, from, until, critical| NetworkTask {
        name: name.to_owned(),
        start: march(from),
        finish: march(until),
        float: if critical { String::new() } else { "5 days".to_owned() },
        critical,
        ..NetworkTask::default()
    };
    let link = |from, to, critical| NetworkLink { from, to, critical };
    Network {
        tasks: vec![
            task("Dig", 2, 6, true),
            task("Fence", 3, 7, false),
            task("Plant", 6, 14, true),
            task("Party", 14, 15, true),
        ],
        links: vec![link(0, 2, true), link(2, 3, true), link(1, 3, false)],
        path: vec![0, 2, 3],
        ..Network::default()
    }
}

pub fn histogram() -> Histogram {
    let bin = |from, until, count| Bin { from: march(from).value(), until: march(until).value(), count };
    Histogram {
        measure: Measure::Time(Clock::Dates),
        bins: vec![bin(10, 12, 200), bin(12, 14, 500), bin(14, 16, 300)],
        percentiles: vec![
            Percentile { percent: 50.0, value: march(13).value() },
            Percentile { percent: 80.0, value: march(15).value() },
        ],
        limit: Some(march(15).value()),
        within_limit: Some(0.8),
    }
}

pub fn s_curve() -> SCurve {
    let point = |day, y| Point { x: march(day).value(), y };
    let Histogram { measure, percentiles, limit, within_limit, .. } = histogram();
    SCurve {
        measure,
        probability: vec![point(10, 0.0), point(13, 0.5), point(15, 0.8), point(17, 1.0)],
        percentiles,
        limit,
        within_limit,
        today: None,
        sums_measure: Measure::money("€"),
        sums: vec![Curve {
            name: "Planned cost".to_owned(),
            points: vec![point(2, 0.0), point(14, 1_200.0)],
            ..Curve::default()
        }],
    }
}

pub fn load() -> Load {
    let one =
        |task: &str, from, until| Use { task: task.to_owned(), from: march(from), until: march(until), amount: 1.0 };
    let resource = Resource {
        name: "Gardeners".to_owned(),
        unit: "people".to_owned(),
        capacity: vec![Capacity { from: march(1), amount: 1.0 }],
        uses: vec![one("Dig", 2, 6), one("Fence", 5, 9)],
    };
    Load { clock: Clock::Dates, resources: vec![resource], today: Some(march(4)) }
}

pub fn cash_flow() -> CashFlow {
    let month = |month| Moment::civil(date(2026, month, 1).at(0, 0, 0, 0));
    let span = |from, paid| CashSpan { from: month(from), until: month(from + 1), paid, received: 0.0 };
    let spans = vec![span(3, 1_200.0), span(4, 800.5), span(5, 0.0)];
    CashFlow { clock: Clock::Dates, currency: "€".to_owned(), spans, budget: Some(2_500.0), today: None }
}

pub fn tornado() -> Tornado {
    let driver = |name: &str, early: i8, late: i8| Driver {
        name: name.to_owned(),
        low: march(14 - early).value(),
        high: march(14 + late).value(),
        note: "P10 and P90".to_owned(),
    };
    let drivers = vec![driver("Fence", 1, 1), driver("Rain", 2, 6)];
    Tornado { measure: Measure::Time(Clock::Dates), base: march(14).value(), drivers }
}

/// Every small chart in a frame, with its name.
pub fn all(frame: &Frame) -> Vec<(&'static str, String)> {
    vec![
        ("gantt", gantt().svg(frame)),
        ("network", network().svg(frame)),
        ("histogram", histogram().svg(frame)),
        ("s_curve", s_curve().svg(frame)),
        ("load", load().svg(frame)),
        ("cash_flow", cash_flow().svg(frame)),
        ("tornado", tornado().svg(frame)),
    ]
}

#[test]
fn small_charts_are_drawn_as_before() {
    for (name, svg) in all(&frame(1_280)) {
        insta::assert_snapshot!(name, lines(&svg));
    }
    for (name, svg) in all(&frame(390)) {
        insta::assert_snapshot!(format!("{name}_narrow"), lines(&svg));
    }
}

#[test]
fn the_same_data_gives_the_same_bytes() {
    assert_eq!(all(&frame(1_280)), all(&frame(1_280)));
}

#[test]
fn small_charts_are_sound_at_every_width() {
    for width in [0, 320, 390, 639, 640, 899, 900, 1_280, 4_000, u32::MAX] {
        for (name, svg) in all(&frame(width)) {
            assert_eq!(faults(&svg), Vec::<String>::new(), "{name} at {width}");
        }
    }
}

#[test]
fn charts_on_one_page_have_ids_of_their_own() {
    let svg = gantt().svg(&Frame { id: "first\"><b>".to_owned(), ..frame(1_280) });
    assert!(svg.contains("id=\"firstb-title\"") && svg.contains("aria-labelledby=\"firstb-title firstb-desc\""));
}

#[test]
fn a_page_with_its_own_heading_gets_no_second_one() {
    let hidden = gantt().svg(&Frame { heading: Heading::Hidden, ..frame(1_280) });
    assert!(!texts(&hidden).contains(&"Test".to_owned()));
    assert!(texts(&gantt().svg(&frame(1_280))).contains(&"Test".to_owned()));
}

#[test]
fn a_fixed_theme_asks_nobody() {
    let svg = gantt().svg(&Frame { theme: Theme::Light, ..frame(1_280) });
    assert!(!svg.contains("prefers-color-scheme") && !svg.contains("var("));
    assert!(gantt().svg(&frame(1_280)).contains("prefers-color-scheme:dark"));
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    for (name, svg) in all(&frame(1_280)) {
        let addresses = svg.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !addresses.contains("http") && !addresses.contains("@import") && !addresses.contains("@font-face"),
            "{name}"
        );
    }
}

#[test]
fn charts_without_data_say_so() {
    let frame = frame(1_280);
    let empty = [
        Gantt::default().svg(&frame),
        Network::default().svg(&frame),
        Histogram { bins: Vec::new(), ..histogram() }.svg(&frame),
        SCurve { probability: Vec::new(), sums: Vec::new(), ..s_curve() }.svg(&frame),
        Load::default().svg(&frame),
        CashFlow { spans: Vec::new(), ..cash_flow() }.svg(&frame),
        Tornado { drivers: Vec::new(), ..tornado() }.svg(&frame),
    ];
    let said: Vec<String> = empty.iter().map(|svg| texts(svg).join(" / ")).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    Test / No tasks.
    Test / No tasks.
    Test / No outcomes.
    Test / Nothing to add up.
    Test / No resources.
    Test / No payments.
    Test / Nothing moves the outcome.
    ");
    assert!(empty.iter().all(|svg| faults(svg).is_empty()));
}

#[test]
fn what_happened_otherwise_than_planned_is_drawn_with_both() {
    let mut chart = gantt();
    assert!(!chart.svg(&frame(1_280)).contains("gc-planned\""), "nothing was planned");
    chart.tasks[2].planned = Some(Span { from: march(1), until: march(5) });
    let svg = chart.svg(&frame(1_280));
    assert_eq!(faults(&svg), Vec::<String>::new());
    assert!(svg.contains("Planned 1 March 2026"), "{svg}");
    assert!(texts(&svg).iter().any(|text| text == "As planned"), "{:?}", texts(&svg));
}
