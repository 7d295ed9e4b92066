//! Where a time axis has its marks: minutes, hours, days, weeks, months, quarters or years, as there is room.

use super::{moment::Moment, scale::Scale};
use jiff::{
    Span, ToSpan,
    civil::{Date, DateTime},
};

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub at: f64,
    pub label: String,
    /// The same in fewer letters, for narrow places.
    pub short: String,
}

/// The marks of an axis: the fine ones, and the larger units around them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticks {
    pub fine: Vec<Tick>,
    pub coarse: Vec<Tick>,
}

/// More marks than any axis has room for; ends every loop.
const TICKS_MAX: usize = 2_000;

/// The distance between two marks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Minutes(i64),
    Hours(i64),
    Day,
    Week,
    Months(i64),
    Years(i64),
}

const STEPS: [Step; 25] = [
    Step::Minutes(1),
    Step::Minutes(2),
    Step::Minutes(5),
    Step::Minutes(10),
    Step::Minutes(15),
    Step::Minutes(30),
    Step::Hours(1),
    Step::Hours(2),
    Step::Hours(3),
    Step::Hours(6),
    Step::Hours(12),
    Step::Day,
    Step::Week,
    Step::Months(1),
    Step::Months(3),
    Step::Years(1),
    Step::Years(2),
    Step::Years(5),
    Step::Years(10),
    Step::Years(20),
    Step::Years(50),
    Step::Years(100),
    Step::Years(200),
    Step::Years(500),
    Step::Years(1_000),
];

/// Returns the marks of an axis of dates.
pub(super) fn ticks(scale: &Scale) -> Ticks {
    let seconds_per_px = (scale.until - scale.from).abs() / (scale.end_px - scale.start_px).abs().max(1.0);
    let fits = |step: &Step| step.seconds() / seconds_per_px >= step.room_px();
    let step = STEPS.into_iter().find(fits).unwrap_or(Step::Years(1_000));
    let coarse = step.coarser().map(|coarse| marks(coarse, scale, true)).unwrap_or_default();
    Ticks { fine: marks(step, scale, false), coarse }
}

/// Returns the marks of one step inside an axis; a coarse one may begin before it.
fn marks(step: Step, scale: &Scale, from_before: bool) -> Vec<Tick> {
    let mut at = step.floor(Moment::at(scale.from).date());
    let mut marks = Vec::new();
    while marks.len() < TICKS_MAX {
        let value = Moment::civil(at).value();
        if value > scale.until {
            break;
        }
        if value >= scale.from || from_before {
            let (label, short) = step.label(at, from_before);
            marks.push(Tick { at: value.max(scale.from), label, short });
        }
        match at.checked_add(step.span()) {
            Ok(next) => at = next,
            Err(_) => break,
        }
    }
    marks
}

impl Step {
    fn seconds(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "the numbers of the table are small")]
        match self {
            Self::Minutes(n) => n as f64 * 60.0,
            Self::Hours(n) => n as f64 * 3_600.0,
            Self::Day => 86_400.0,
            Self::Week => 604_800.0,
            Self::Months(n) => n as f64 * 2_629_800.0,
            Self::Years(n) => n as f64 * 31_557_600.0,
        }
    }

    /// Returns the room that a label of this step needs.
    fn room_px(self) -> f64 {
        match self {
            Self::Minutes(_) | Self::Hours(_) | Self::Years(_) => 42.0,
            Self::Day => 21.0,
            Self::Week => 25.0,
            Self::Months(_) => 32.0,
        }
    }

    fn span(self) -> Span {
        match self {
            Self::Minutes(n) => n.minutes(),
            Self::Hours(n) => n.hours(),
            Self::Day => 1.day(),
            Self::Week => 1.week(),
            Self::Months(n) => n.months(),
            Self::Years(n) => n.years(),
        }
    }

    fn coarser(self) -> Option<Self> {
        match self {
            Self::Minutes(_) | Self::Hours(_) => Some(Self::Day),
            Self::Day | Self::Week => Some(Self::Months(1)),
            Self::Months(_) => Some(Self::Years(1)),
            Self::Years(_) => None,
        }
    }

    /// Returns the last mark of this step at or before a date.
    fn floor(self, at: DateTime) -> DateTime {
        let midnight = at.date().at(0, 0, 0, 0);
        let hour = i64::from(at.hour());
        match self {
            Self::Minutes(n) => add(midnight, hour.hours().minutes(i64::from(at.minute()) / n * n)),
            Self::Hours(n) => add(midnight, (hour / n * n).hours()),
            Self::Day => midnight,
            Self::Week => {
                let monday = i64::from(at.date().weekday().to_monday_zero_offset());
                midnight.checked_sub(monday.days()).unwrap_or(midnight)
            }
            Self::Months(n) => {
                let month = (i64::from(at.month()) - 1) / n * n + 1;
                day_one(i64::from(at.year()), month)
            }
            Self::Years(n) => {
                let year = i64::from(at.year()).div_euclid(n) * n;
                day_one(if year < i64::from(Date::MIN.year()) { year + n } else { year }, 1)
            }
        }
    }

    /// Returns the label of a mark, and a shorter one.
    fn label(self, at: DateTime, is_coarse: bool) -> (String, String) {
        let format = |format: &str| at.strftime(format).to_string();
        match self {
            Self::Minutes(_) | Self::Hours(_) => (format("%H:%M"), format("%-H")),
            Self::Day if is_coarse => (format("%A %-d %B %Y"), format("%-d %b")),
            Self::Months(_) if is_coarse => (format("%B %Y"), format("%b")),
            Self::Day | Self::Week => (format("%-d"), format("%-d")),
            Self::Months(3) => {
                let quarter = format!("Q{}", (at.month() - 1) / 3 + 1);
                (quarter.clone(), quarter)
            }
            Self::Months(_) => (format("%b"), format("%b")),
            Self::Years(_) => (at.year().to_string(), at.year().to_string()),
        }
    }
}

fn add(at: DateTime, span: Span) -> DateTime {
    at.checked_add(span).unwrap_or(at)
}

/// Returns the first day of a month; a date outside the calendar is moved to its edge.
fn day_one(year: i64, month: i64) -> DateTime {
    let (year, month) = (i16::try_from(year).unwrap_or(i16::MIN), i8::try_from(month).unwrap_or(1));
    Date::new(year, month, 1).unwrap_or(Date::MIN).at(0, 0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    /// The labels of an axis of 800 pixels from a date on, for so many seconds: coarse, then fine.
    fn axis(from: DateTime, seconds: f64) -> String {
        let from = Moment::civil(from).value();
        let ticks = ticks(&Scale { from, until: from + seconds, start_px: 0.0, end_px: 800.0 });
        let labels = |ticks: &[Tick]| ticks.iter().take(6).map(|tick| tick.label.clone()).collect::<Vec<_>>().join(" ");
        format!("{} | {}", labels(&ticks.coarse), labels(&ticks.fine))
    }

    #[test]
    fn marks_are_as_fine_as_there_is_room() {
        let from = date(2026, 2, 26).at(9, 7, 0, 0);
        let (hour, day) = (3_600.0, 86_400.0);
        let axes =
            [hour / 6.0, hour * 2.0, day * 3.0, day * 20.0, day * 120.0, day * 700.0, day * 1_800.0, day * 18_262.0];
        let drawn = axes.map(|seconds| axis(from, seconds)).join("\n");
        insta::assert_snapshot!(drawn, @"
        Thursday 26 February 2026 | 09:07 09:08 09:09 09:10 09:11 09:12
        Thursday 26 February 2026 | 09:10 09:20 09:30 09:40 09:50 10:00
        Thursday 26 February 2026 Friday 27 February 2026 Saturday 28 February 2026 Sunday 1 March 2026 | 12:00 18:00 00:00 06:00 12:00 18:00
        February 2026 March 2026 | 27 28 1 2 3 4
        February 2026 March 2026 April 2026 May 2026 June 2026 | 2 9 16 23 30 6
        2026 2027 2028 | Mar Apr May Jun Jul Aug
        2026 2027 2028 2029 2030 2031 | Q2 Q3 Q4 Q1 Q2 Q3
         | 2030 2035 2040 2045 2050 2055
        ");
    }

    #[test]
    fn the_edges_of_the_calendar_have_marks_too() {
        let whole = Moment::civil(DateTime::MAX).value() - Moment::civil(DateTime::MIN).value();
        assert!(axis(DateTime::MIN, whole).contains("-9000"));
    }
}
