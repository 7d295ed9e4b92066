//! Points in time as charts read them: civil dates, or whole periods without dates.

use super::text;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// A point on a time axis. A [`Clock`] says whether it is a date or a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl Moment {
    /// Returns the moment of a civil date and time, in the zone in which the plan is read.
    pub fn civil(date: DateTime) -> Self {
        let edge = if date.year() < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Self(date.to_zoned(TimeZone::UTC).map_or(edge, |zoned| zoned.timestamp()).as_second())
    }

    /// Returns the moment at which an instant is read in a zone.
    pub fn in_zone(instant: Timestamp, zone: &TimeZone) -> Self {
        Self::civil(instant.to_zoned(zone.clone()).datetime())
    }

    /// Returns the moment at which a period begins, for schedules without dates.
    pub const fn period(number: i64) -> Self {
        Self(number)
    }

    /// Returns the place of this moment on an axis of numbers, for charts whose values are times.
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53, which is 285 million years in seconds")]
    pub const fn value(self) -> f64 {
        self.0 as f64
    }

    /// Returns the moment nearest to a place on an axis of numbers.
    #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
    pub fn at(value: f64) -> Self {
        Self(value.round() as i64)
    }

    /// Returns the civil date and time; what lies beyond the calendar is moved to its edge.
    pub(super) fn date(self) -> DateTime {
        let second = self.0.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
        Timestamp::from_second(second).unwrap_or_default().to_zoned(TimeZone::UTC).datetime()
    }
}

impl From<DateTime> for Moment {
    fn from(date: DateTime) -> Self {
        Self::civil(date)
    }
}

/// A stretch of time from one moment to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub from: Moment,
    /// Where it ends; never before it begins.
    pub until: Moment,
}

/// How moments are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Moments are civil dates and times.
    #[default]
    Dates,
    /// Moments are whole periods, counted from the beginning of the schedule.
    Periods {
        /// What one period is called, such as `day`.
        unit: String,
    },
}

impl Clock {
    /// Returns the clock of a schedule in whole periods of a name.
    pub fn periods(unit: &str) -> Self {
        Self::Periods { unit: unit.to_owned() }
    }

    /// Returns a moment in full, such as "3 March 2026, 14:30" or "day 12".
    pub(super) fn full(&self, moment: Moment) -> String {
        match self {
            Self::Dates => with_time(moment.date(), "%-d %B %Y"),
            Self::Periods { unit } => format!("{} {}", period(unit), moment.0),
        }
    }

    /// Returns a moment as a sentence says it, such as "on 3 March 2026" or "at day 12".
    pub(super) fn when(&self, moment: Moment) -> String {
        let preposition = match self {
            Self::Dates => "on",
            Self::Periods { .. } => "at",
        };
        format!("{preposition} {}", self.full(moment))
    }

    /// Returns a moment for a narrow column: with the hour where the whole chart is short, with the year where it is long.
    pub(super) fn short(&self, moment: Moment, span: Span) -> String {
        const DAY: i64 = 86_400;
        let length = span.until.0.saturating_sub(span.from.0);
        match self {
            Self::Dates if length <= 3 * DAY => moment.date().strftime("%a %H:%M").to_string(),
            Self::Dates if span.from.date().year() == span.until.date().year() => {
                moment.date().strftime("%-d %b").to_string()
            }
            Self::Dates if length > 7_300 * DAY => moment.date().strftime("%b %Y").to_string(),
            Self::Dates => moment.date().strftime("%-d %b %y").to_string(),
            Self::Periods { .. } => moment.0.to_string(),
        }
    }

    /// Returns how long it is between two moments, such as "12 days" or "3 hours".
    pub(super) fn length(&self, from: Moment, until: Moment) -> String {
        let between = until.0.saturating_sub(from.0).unsigned_abs();
        match self {
            Self::Dates => {
                let (unit_s, unit) = match between {
                    0..3_600 => (60, "minute"),
                    86_400 => (86_400, "day"),
                    3_600..172_800 => (3_600, "hour"),
                    172_800..63_072_000 => (86_400, "day"),
                    63_072_000.. => (31_557_600, "year"),
                };
                tenths(between, unit_s, unit)
            }
            Self::Periods { unit } => tenths(between, 1, &period(unit)),
        }
    }
}

/// Returns what a period is called.
pub(super) fn period(unit: &str) -> String {
    let unit = text::unit(unit);
    if unit.is_empty() { "period".to_owned() } else { unit }
}

fn with_time(date: DateTime, format: &str) -> String {
    let day = date.strftime(format);
    if date.time() == jiff::civil::Time::midnight() {
        day.to_string()
    } else {
        format!("{day}, {}", date.strftime("%H:%M"))
    }
}

/// Returns an amount in a unit, with one decimal where it does not come out even.
fn tenths(amount: u64, unit: u64, noun: &str) -> String {
    let tenths = (u128::from(amount) * 10 + u128::from(unit) / 2) / u128::from(unit);
    let (whole, rest) = (tenths / 10, tenths % 10);
    let plural = if tenths == 10 { "" } else { "s" };
    match rest {
        0 => format!("{} {noun}{plural}", text::thousands(u64::try_from(whole).unwrap_or(u64::MAX))),
        _ => format!("{whole}.{rest} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_date_survives_the_way_through_a_moment() {
        let noon = date(2026, 3, 3).at(12, 30, 0, 0);
        assert_eq!(Moment::civil(noon).date(), noon);
        assert_eq!(Clock::Dates.full(Moment::civil(noon)), "3 March 2026, 12:30");
        assert_eq!(Clock::Dates.full(date(2026, 3, 3).at(0, 0, 0, 0).into()), "3 March 2026");
    }

    #[test]
    fn no_moment_is_beyond_the_calendar() {
        assert_eq!(Clock::Dates.full(Moment(i64::MAX)), "30 December 9999, 22:00");
        assert_eq!(Clock::Dates.full(DateTime::MAX.into()), "30 December 9999, 22:00");
        assert_eq!(Moment(i64::MIN).date().year(), -9999);
    }

    #[test]
    fn lengths_choose_their_unit() {
        let after = |seconds| Clock::Dates.length(Moment(0), Moment(seconds));
        assert_eq!(
            [
                after(0),
                after(60),
                after(5_400),
                after(7_200),
                after(86_400 * 12),
                after(86_400 * 9 / 2),
                after(31_557_600 * 50)
            ],
            ["0 minutes", "1 minute", "1.5 hours", "2 hours", "12 days", "4.5 days", "50 years"]
        );
        assert_eq!(Clock::periods("day").length(Moment(3), Moment(4)), "1 day");
    }
}
