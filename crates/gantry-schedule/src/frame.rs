//! The project's time axis: seconds from its start, and how they are written for people.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, tz::Offset};
use serde::{Serialize, Serializer};

use crate::calendar::Timeline;
use crate::project::{Scale, Unit, When, decimal};

/// A number with at most three places, written without trailing zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(i64);

impl Quantity {
    /// So many thousandths.
    pub fn thousandths(thousandths: i64) -> Self {
        Self(thousandths)
    }

    /// The number in thousandths.
    pub fn in_thousandths(self) -> i64 {
        self.0
    }

    /// The number as a float, for drawing.
    #[expect(clippy::cast_precision_loss, reason = "drawing needs no more")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&decimal(self.0))
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 1_000 == 0 {
            serializer.serialize_i64(self.0 / 1_000)
        } else {
            serializer.serialize_f64(self.as_f64())
        }
    }
}

/// A point in time as people read it: a date with an offset, or a number of units from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// Units from zero, in a project without dates.
    Count(Quantity),
    /// An instant in the project's zone.
    Date(Timestamp, Offset),
}

impl Moment {
    /// The day alone, or the number of units.
    pub fn day(self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Date(instant, offset) => offset.to_datetime(instant).date().to_string(),
        }
    }

    /// For people: `Tue 2026-03-03 17:00`, or the number of units.
    pub fn told(self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Date(instant, offset) => offset.to_datetime(instant).strftime("%a %Y-%m-%d %H:%M").to_string(),
        }
    }

    /// The same of something that is due: the end of a day is that day, `Tue 2026-03-03`.
    pub fn told_as_due(self) -> String {
        match self {
            Self::Date(instant, offset) if offset.to_datetime(instant).time() == Time::midnight() => {
                self.last_date().map_or_else(|| self.told(), |day| day.strftime("%a %Y-%m-%d").to_string())
            }
            moment => moment.told(),
        }
    }

    /// The day on which something is due that is due now: midnight belongs to the day before it.
    pub fn last_date(self) -> Option<Date> {
        let Self::Date(instant, offset) = self else { return None };
        let local = offset.to_datetime(instant);
        let date = local.date();
        Some(if local.time() == Time::midnight() { date.yesterday().unwrap_or(date) } else { date })
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Date(instant, offset) => instant.display_with_offset(*offset).fmt(f),
        }
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => count.serialize(serializer),
            Self::Date(..) => serializer.collect_str(self),
        }
    }
}

/// Where second zero lies and how times are written.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub origin: Timestamp,
    pub zone: TimeZone,
    /// Whether there are dates at all.
    pub dated: bool,
    /// What a day of work is on the project's calendar.
    pub scale: Scale,
}

/// Which moment of a whole day is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    First,
    Last,
}

impl Frame {
    /// The second of a point in time; lengths after the start count on the project's calendar.
    pub(crate) fn second(&self, when: When, edge: Edge, line: &Timeline) -> Option<i64> {
        let instant = match when {
            When::After(length) => {
                let seconds = length.to_seconds(&self.scale);
                return Some(if length.is_elapsed() { seconds } else { line.finish_at(line.work_before(0) + seconds) });
            }
            When::Day(date) => {
                let date = if edge == Edge::Last { date.tomorrow().ok()? } else { date };
                self.zone.to_timestamp(date.at(0, 0, 0, 0)).ok()?
            }
            When::Local(local) => self.zone.to_timestamp(local).ok()?,
            When::At(instant) => instant,
        };
        Some(instant.as_second() - self.origin.as_second())
    }

    /// How a second is written.
    pub(crate) fn moment(&self, second: i64) -> Moment {
        if self.dated {
            let instant = self.timestamp(second);
            Moment::Date(instant, self.zone.to_offset(instant))
        } else {
            Moment::Count(self.quantity(second))
        }
    }

    /// The instant of a second; beyond the end of the calendar it is the last one.
    pub(crate) fn timestamp(&self, second: i64) -> Timestamp {
        let at = self.origin.as_second().saturating_add(second);
        Timestamp::from_second(at).unwrap_or(if second > 0 { Timestamp::MAX } else { Timestamp::MIN })
    }

    /// Seconds of work in the project's unit.
    pub(crate) fn quantity(&self, seconds: i64) -> Quantity {
        Self::in_units(seconds, &self.scale)
    }

    /// Seconds round the clock in the project's unit.
    pub(crate) fn elapsed(&self, seconds: i64) -> Quantity {
        Self::in_units(seconds, &Scale::elapsed(self.scale.unit))
    }

    fn in_units(seconds: i64, scale: &Scale) -> Quantity {
        let unit = i128::from(scale.unit_s());
        let doubled = 2 * 1_000 * i128::from(seconds) + unit;
        Quantity(i64::try_from(doubled.div_euclid(2 * unit)).unwrap_or(i64::MAX))
    }

    /// Seconds of work with their unit, for sentences.
    pub(crate) fn amount(&self, seconds: i64) -> String {
        let unit = match self.scale.unit {
            Unit::Second => "s",
            Unit::Minute => "m",
            Unit::Hour => "h",
            Unit::Day => "d",
            Unit::Week => "w",
            Unit::Month => "mo",
            Unit::Year => "y",
            Unit::Period => " periods",
        };
        format!("{}{unit}", self.quantity(seconds))
    }
}
