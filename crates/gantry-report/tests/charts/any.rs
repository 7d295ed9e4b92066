//! Whatever comes in: the chart is well-formed, harmless, finite and inside its view box.

use crate::kit::faults;
use gantry_report::chart::{
    Bin, Capacity, CashFlow, CashSpan, Clock, Curve, CurveKind, Deadline, Driver, Float, Frame, Gantt, GanttLink,
    GanttTask, Heading, Histogram, LinkKind, Load, Measure, Moment, Network, NetworkLink, NetworkTask, Percentile,
    Point, Resource, SCurve, Sheet, Span, TaskShape, Theme, Tornado, Use,
};
use proptest::{collection::vec, option, prelude::*};

/// Names as people and attackers write them.
fn name() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        "[a-zA-Z ]{0,30}",
        any::<String>(),
        "[\u{0}-\u{1f}\u{202a}-\u{202e}\u{2066}-\u{2069}<>&\"'\u{fffe}\u{ffff}]{0,12}",
        "[一-龥]{0,60}",
        Just("<script>alert(1)</script>]]>".repeat(9)),
        Just("W".repeat(4_000)),
    ];
    name.prop_filter("the checks look for numbers that are none", |name| {
        !name.contains("NaN") && !name.ends_with("inf")
    })
}

/// Moments close together, years apart, and at the ends of everything.
fn moment() -> impl Strategy<Value = Moment> {
    let second = prop_oneof![
        4 => 0_i64..100,
        4 => 1_770_000_000_i64..1_780_000_000,
        2 => -10_000_000_000_i64..10_000_000_000,
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0)],
    ];
    second.prop_map(Moment::period)
}

/// Numbers, and what is none.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -1_000.0..1_000_000.0_f64,
        2 => 0.0..1.0_f64,
        1 => any::<f64>(),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(0.0), Just(f64::MAX)],
    ]
}

fn clock() -> impl Strategy<Value = Clock> {
    prop_oneof![Just(Clock::Dates), name().prop_map(|unit| Clock::Periods { unit })]
}

fn measure() -> impl Strategy<Value = Measure> {
    prop_oneof![
        clock().prop_map(Measure::Time),
        name().prop_map(|currency| Measure::Money { currency }),
        name().prop_map(|unit| Measure::Amount { unit }),
        Just(Measure::Percent),
    ]
}

fn frame() -> impl Strategy<Value = Frame> {
    let width = prop_oneof![Just(390), Just(1_280), any::<u32>()];
    let heading = prop_oneof![Just(Heading::Shown), Just(Heading::Hidden)];
    let theme = prop_oneof![Just(Theme::Follow), Just(Theme::Light), Just(Theme::Dark)];
    (name(), width, name(), heading, theme).prop_map(|(title, width_px, id, heading, theme)| Frame {
        title,
        width_px,
        id,
        heading,
        theme,
        sheet: Sheet::Inside,
    })
}

fn gantt_task() -> impl Strategy<Value = GanttTask> {
    let shape = prop_oneof![Just(TaskShape::Task), Just(TaskShape::Summary), Just(TaskShape::Milestone)];
    let float = (moment(), name()).prop_map(|(until, length)| Float { until, length });
    let planned = option::of((moment(), moment()).prop_map(|(from, until)| Span { from, until }));
    let when = (moment(), moment(), option::of(deadline()), option::of(moment()), planned);
    (name(), 0_usize..12, shape, when, any::<bool>(), option::of(float), option::of(value()), name()).prop_map(
        |(name, depth, shape, (start, finish, deadline, p80_finish, planned), critical, float, percent_done, note)| {
            GanttTask {
                name,
                depth,
                shape,
                start,
                finish,
                critical,
                float,
                deadline,
                percent_done,
                p80_finish,
                planned,
                note,
            }
        },
    )
}

fn deadline() -> impl Strategy<Value = Deadline> {
    (moment(), any::<bool>(), name()).prop_map(|(at, missed, margin)| Deadline { at, missed, margin })
}

fn link() -> impl Strategy<Value = GanttLink> {
    let kinds = [LinkKind::FinishToStart, LinkKind::StartToStart, LinkKind::FinishToFinish, LinkKind::StartToFinish];
    (0_usize..16, 0_usize..16, 0_usize..4, any::<bool>()).prop_map(move |(from, to, kind, critical)| GanttLink {
        from,
        to,
        kind: kinds[kind],
        critical,
    })
}

prop_compose! {
    fn gantt()(
        clock in clock(),
        tasks in vec(gantt_task(), 0..14),
        links in vec(link(), 0..12),
        today in option::of(moment()),
        path in vec(0_usize..16, 0..5),
        deadline in option::of(deadline()),
        closed in vec((moment(), moment()), 0..4),
        rows_max in prop_oneof![Just(1_200), 0_usize..6],
    ) -> Gantt {
        let closed = closed.into_iter().map(|(from, until)| Span { from, until }).collect();
        Gantt { clock, tasks, links, today, path, deadline, closed, rows_max }
    }
}

prop_compose! {
    fn network_task()(name in name(), group in name(), start in moment(), finish in moment(), float in name(), critical: bool, done: bool, milestone: bool, summary: bool) -> NetworkTask {
        NetworkTask { name, group, start, finish, float, critical, done, milestone, summary }
    }
}

prop_compose! {
    fn network()(
        clock in clock(),
        tasks in vec(network_task(), 0..14),
        links in vec((0_usize..16, 0_usize..16, any::<bool>()), 0..30),
        path in vec(0_usize..16, 0..5),
        boxes_max in prop_oneof![Just(1_200), 0_usize..6],
    ) -> Network {
        let links = links.into_iter().map(|(from, to, critical)| NetworkLink { from, to, critical }).collect();
        Network { clock, tasks, links, path, boxes_max }
    }
}

fn percentiles() -> impl Strategy<Value = Vec<Percentile>> {
    vec((value(), value()).prop_map(|(percent, value)| Percentile { percent, value }), 0..6)
}

prop_compose! {
    fn histogram()(
        measure in measure(),
        bins in vec((value(), value(), prop_oneof![0_u64..500, any::<u64>()]), 0..12),
        percentiles in percentiles(),
        limit in option::of(value()),
        within_limit in option::of(value()),
    ) -> Histogram {
        let bins = bins.into_iter().map(|(from, until, count)| Bin { from, until, count }).collect();
        Histogram { measure, bins, percentiles, limit, within_limit }
    }
}

fn curve_points() -> impl Strategy<Value = Vec<Point>> {
    vec((value(), value()).prop_map(|(x, y)| Point { x, y }), 0..8)
}

prop_compose! {
    fn s_curve()(
        measure in measure(),
        sums_measure in measure(),
        probability in curve_points(),
        percentiles in percentiles(),
        limit in option::of(value()),
        within_limit in option::of(value()),
        today in option::of(value()),
        sums in vec((name(), curve_points()), 0..4),
    ) -> SCurve {
        let sums = sums.into_iter().map(|(name, points)| Curve { name, kind: CurveKind::Forecast, points }).collect();
        SCurve { measure, probability, percentiles, limit, within_limit, today, sums_measure, sums }
    }
}

prop_compose! {
    fn resource()(
        name in name(),
        unit in name(),
        capacity in vec((moment(), value()), 0..4),
        uses in vec((name(), moment(), moment(), value()), 0..8),
    ) -> Resource {
        let capacity = capacity.into_iter().map(|(from, amount)| Capacity { from, amount }).collect();
        let uses = uses.into_iter().map(|(task, from, until, amount)| Use { task, from, until, amount }).collect();
        Resource { name, unit, capacity, uses }
    }
}

prop_compose! {
    fn load()(clock in clock(), resources in vec(resource(), 0..5), today in option::of(moment())) -> Load {
        Load { clock, resources, today }
    }
}

prop_compose! {
    fn cash_flow()(
        clock in clock(),
        currency in name(),
        spans in vec((moment(), moment(), value(), value()), 0..20),
        budget in option::of(value()),
        today in option::of(moment()),
    ) -> CashFlow {
        let spans = spans.into_iter().map(|(from, until, paid, received)| CashSpan { from, until, paid, received }).collect();
        CashFlow { clock, currency, spans, budget, today }
    }
}

prop_compose! {
    fn tornado()(measure in measure(), base in value(), drivers in vec((name(), value(), value(), name()), 0..30)) -> Tornado {
        let drivers = drivers.into_iter().map(|(name, low, high, note)| Driver { name, low, high, note }).collect();
        Tornado { measure, base, drivers }
    }
}

fn holds(svg: &str) -> Result<(), TestCaseError> {
    let faults = faults(svg);
    prop_assert!(faults.is_empty(), "{faults:#?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_gantt_chart_is_sound(chart in gantt(), frame in frame()) {
        holds(&chart.svg(&frame))?;
    }

    #[test]
    fn any_network_graph_is_sound(chart in network(), frame in frame()) {
        holds(&chart.svg(&frame))?;
    }

    #[test]
    fn any_histogram_is_sound(chart in histogram(), frame in frame()) {
        holds(&chart.svg(&frame))?;
    }

    #[test]
    fn any_s_curve_is_sound(chart in s_curve(), frame in frame()) {
        holds(&chart.svg(&frame))?;
    }

    #[test]
    fn any_load_chart_is_sound(chart in load(), frame in frame()) {
        holds(&chart.svg(&frame))?;
    }

    #[test]
    fn any_cash_flow_is_sound(chart in cash_flow(), frame in frame()) {
        holds(&chart.svg(&frame))?;
    }

    #[test]
    fn any_tornado_is_sound(chart in tornado(), frame in frame()) {
        holds(&chart.svg(&frame))?;
    }

    #[test]
    fn counting_outcomes_loses_none(outcomes in vec(value(), 0..50), count in 0_usize..300) {
        let bins = Bin::of(&outcomes, count);
        let counted: u64 = bins.iter().map(|bin| bin.count).sum();
        prop_assert_eq!(counted, outcomes.iter().filter(|value| value.is_finite()).count() as u64);
    }
}
