//! Charts of values: Monte Carlo, money, load.

use crate::{Draw, plan::Dice};
use gantry_report::chart::{
    Bin, Capacity, CashFlow, CashSpan, Clock, Curve, CurveKind, Driver, Histogram, Load, Measure, Moment, Percentile,
    Point, Resource, SCurve, Tornado, Use,
};
use jiff::{
    ToSpan,
    civil::{Date, date},
};

const DAY: f64 = 86_400.0;

fn day(number: i64) -> Moment {
    date(2026, 3, 2).checked_add(number.days()).unwrap_or(Date::MAX).at(0, 0, 0, 0).into()
}

pub fn charts() -> Vec<(&'static str, &'static str, Draw)> {
    vec![
        ("histogram", "When the station is in service", Box::new(|frame| finish().svg(frame))),
        ("histogram-cost", "What the station costs", Box::new(|frame| cost().svg(frame))),
        ("s-curve", "When the station is in service", Box::new(|frame| chances().svg(frame))),
        ("s-curve-cost", "Planned and actual cost", Box::new(|frame| both().svg(frame))),
        ("load", "Who is needed when", Box::new(|frame| load().svg(frame))),
        ("cash-flow", "Payments by month", Box::new(|frame| payments(14, false).svg(frame))),
        ("cash-flow-income", "Payments and income by month", Box::new(|frame| payments(24, true).svg(frame))),
        ("cash-flow-years", "Payments over 50 years", Box::new(|frame| payments(600, false).svg(frame))),
        ("tornado", "What moves the finish", Box::new(|frame| tornado().svg(frame))),
        ("tornado-cost", "What moves the cost", Box::new(|frame| cost_drivers().svg(frame))),
    ]
}

/// Outcomes with a long tail to the right, sorted.
fn draws(from: f64, spread: f64, seed: u64) -> Vec<f64> {
    let mut dice = Dice(seed);
    let mut draws: Vec<f64> = (0..10_000)
        .map(|_| {
            let sum: f64 = (0..6).map(|_| dice.part()).sum::<f64>() / 6.0;
            from + spread * (sum * 2.2).exp() / 9.0
        })
        .collect();
    draws.sort_by(f64::total_cmp);
    draws
}

fn percentiles(draws: &[f64]) -> Vec<Percentile> {
    [(10_u32, 1_000), (50, 5_000), (80, 8_000), (95, 9_500)]
        .map(|(percent, at)| Percentile { percent: f64::from(percent), value: draws[at] })
        .to_vec()
}

fn within(draws: &[f64], limit: f64) -> f64 {
    let count = draws.partition_point(|draw| *draw <= limit);
    f64::from(u32::try_from(count).unwrap_or(0)) / 10_000.0
}

fn finish() -> Histogram {
    let draws = draws(day(215).value(), 120.0 * DAY, 5);
    let limit = day(262).value();
    Histogram {
        measure: Measure::Time(Clock::Dates),
        bins: Bin::of(&draws, 48),
        percentiles: percentiles(&draws),
        limit: Some(limit),
        within_limit: Some(within(&draws, limit)),
    }
}

fn cost() -> Histogram {
    let draws = draws(3_900_000.0, 1_900_000.0, 11);
    let limit = 4_500_000.0;
    Histogram {
        measure: Measure::money("€"),
        bins: Bin::of(&draws, 40),
        percentiles: percentiles(&draws),
        limit: Some(limit),
        within_limit: Some(within(&draws, limit)),
    }
}

fn chances() -> SCurve {
    let draws = draws(day(215).value(), 120.0 * DAY, 5);
    let limit = day(262).value();
    let point = |at: usize| Point { x: draws[at], y: f64::from(u32::try_from(at).unwrap_or(0)) / 9_999.0 };
    SCurve {
        measure: Measure::Time(Clock::Dates),
        probability: (0..10_000).map(point).collect(),
        percentiles: percentiles(&draws),
        limit: Some(limit),
        within_limit: Some(within(&draws, limit)),
        today: None,
        sums_measure: Measure::money("€"),
        sums: Vec::new(),
    }
}

fn both() -> SCurve {
    let curve = |name: &str, kind, days: i64, total: f64, lag: f64| {
        let points = (0..=days).step_by(5).map(|at| {
            let part = f64::from(i32::try_from(at).unwrap_or(0)) / (230.0 + lag);
            Point { x: day(at).value(), y: total * part * part * (3.0 - 2.0 * part) }
        });
        Curve { name: name.to_owned(), kind, points: points.collect() }
    };
    SCurve {
        limit: None,
        today: Some(day(110).value()),
        probability: chances().probability,
        sums: vec![
            curve("Planned value", CurveKind::Planned, 230, 4_200_000.0, 0.0),
            curve("Earned value", CurveKind::Earned, 110, 4_000_000.0, 8.0),
            curve("Actual cost", CurveKind::Actual, 110, 4_700_000.0, 4.0),
        ],
        ..chances()
    }
}

fn load() -> Load {
    let one =
        |task: &str, from, until, amount| Use { task: task.to_owned(), from: day(from), until: day(until), amount };
    let resource = |name: &str, unit: &str, capacity: &[(i64, f64)], uses: Vec<Use>| Resource {
        name: name.to_owned(),
        unit: unit.to_owned(),
        capacity: capacity.iter().map(|(from, amount)| Capacity { from: day(*from), amount: *amount }).collect(),
        uses,
    };
    let mut dice = Dice(3);
    let many = (0..200).map(|at| {
        let from = i64::try_from(dice.below(180)).unwrap_or(0);
        one(&format!("Visit {at}"), from, from + 3 + i64::try_from(dice.below(9)).unwrap_or(0), 1.0)
    });
    let uses = vec![
        one("Access road", 49, 63, 4.0),
        one("Excavation", 82, 98, 5.0),
        one("Foundations", 98, 119, 4.0),
        one("Drainage", 90, 108, 3.0),
        one("Walls", 119, 143, 5.0),
        one("Roof", 143, 157, 3.0),
        one("Intake", 110, 140, 2.0),
    ];
    let crane = vec![one("Walls", 119, 143, 1.0), one("Crane rails", 140, 150, 1.0), one("Pumps", 157, 175, 1.0)];
    let electricians =
        vec![one("Switchgear", 157, 169, 2.0), one("Cabling", 169, 183, 2.0), one("Telemetry", 165, 173, 0.5)];
    Load {
        clock: Clock::Dates,
        resources: vec![
            resource("Civil crew", "people", &[(0, 6.0), (125, 8.0)], uses),
            resource("Mobile crane", "crane", &[(0, 1.0)], crane),
            resource("Electricians", "people", &[(0, 3.0)], electricians),
            resource("Inspectors", "visits", &[(0, 12.0)], many.collect()),
        ],
        today: Some(day(110)),
    }
}

fn payments(months: i64, with_income: bool) -> CashFlow {
    let mut dice = Dice(9);
    let month = |at: i64| Moment::civil(date(2026, 3, 1).checked_add(at.months()).unwrap_or(Date::MAX).at(0, 0, 0, 0));
    let spans: Vec<CashSpan> = (0..months)
        .map(|at| {
            #[expect(clippy::cast_precision_loss, reason = "a few months")]
            let part = at as f64 / months as f64;
            let paid = (part * (1.0 - part) * 4.0 * 560_000.0 * (0.7 + 0.6 * dice.part())).round() + 20_000.0;
            let received = if with_income && at > 8 { 310_000.0 + 250_000.0 * dice.part() } else { 0.0 };
            CashSpan { from: month(at), until: month(at + 1), paid, received: received.round() }
        })
        .collect();
    let paid: f64 = spans.iter().map(|span| span.paid).sum();
    CashFlow {
        clock: Clock::Dates,
        currency: "€".to_owned(),
        spans,
        budget: (!with_income).then_some((paid * 1.1).round()),
        today: Some(month(months / 3)),
    }
}

fn tornado() -> Tornado {
    let base = day(245).value();
    let driver = |name: &str, early: f64, late: f64| Driver {
        name: name.to_owned(),
        low: base - early * DAY,
        high: base + late * DAY,
        note: "At its 10th and 90th percentile".to_owned(),
    };
    Tornado {
        measure: Measure::Time(Clock::Dates),
        base,
        drivers: vec![
            driver("Environmental permit", 9.0, 41.0),
            driver("Pump delivery", 12.0, 30.0),
            driver("Ground water", 3.0, 26.0),
            driver("Structural design", 6.0, 14.0),
            driver("Roof", 4.0, 9.0),
            driver("Wet tests", 2.0, 8.5),
            driver("Switchgear delivery", 0.0, 7.0),
            driver("Cabling", 2.5, 3.0),
            driver("Operator training and certification of all shifts at the regional academy", 0.5, 1.0),
        ],
    }
}

fn cost_drivers() -> Tornado {
    let driver = |name: &str, low: f64, high: f64| Driver { name: name.to_owned(), low, high, note: String::new() };
    let drivers = vec![
        driver("Steel price", 4_050_000.0, 4_720_000.0),
        driver("Crew productivity", 4_610_000.0, 3_990_000.0),
        driver("Exchange rate", 4_120_000.0, 4_410_000.0),
        driver("Winter break", 4_200_000.0, 4_380_000.0),
        driver("Insurance", 4_180_000.0, 4_230_000.0),
    ];
    Tornado { measure: Measure::money("€"), base: 4_200_000.0, drivers }
}
