//! Lays calendars out on the project's time axis: from local hours and zones to instants.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use super::timeline::{CYCLE, Timeline, joined};
use crate::project::{Calendar, Hours, Scale, Unit};

/// Where the time axis lies and how much of it is laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Second zero.
    pub origin: Timestamp,
    /// How many seconds after it are laid out at least.
    pub horizon: i64,
}

/// What a day and a week of work are on a calendar.
pub(crate) fn scale(calendar: &Calendar, unit: Unit) -> Scale {
    let Some(week) = &calendar.week else { return Scale::elapsed(unit) };
    let seconds = |hours: &[Hours]| hours.iter().map(|hours| i64::from(hours.to - hours.from) * 60).sum::<i64>();
    let mut days = BTreeMap::new();
    for work in week.0.iter().map(|hours| seconds(hours)).filter(|&work| work > 0) {
        *days.entry(work).or_insert(0) += 1;
    }
    let usual = days.iter().max_by_key(|(work, count)| (**count, **work)).map_or(86_400, |(work, _)| *work);
    Scale::of_week(usual, days.iter().map(|(work, count)| work * count).sum(), unit)
}

impl Layout {
    /// Lays a calendar out; none when it has no work for a year.
    pub(crate) fn lay_out(&self, calendar: &Calendar, zone: &TimeZone) -> Option<Timeline> {
        if calendar.week.is_none() && calendar.days_off.is_empty() && calendar.exceptions.is_empty() {
            return Some(Timeline::Always);
        }
        let (from, to) = (-CYCLE, self.horizon.max(CYCLE) + CYCLE);
        let first = self.date(zone, from)?.checked_sub(2.days()).ok()?;
        let last = self.date(zone, to)?.checked_add(2.days()).ok()?;
        let mut stretches: Vec<(i64, i64)> = Vec::new();
        let mut date = first;
        while date <= last {
            for hours in calendar.hours(date) {
                let (start, end) = (self.instant(zone, date, hours.from)?, self.instant(zone, date, hours.to)?);
                match stretches.last_mut() {
                    Some(before) if before.1 >= start && before.0 <= start => before.1 = before.1.max(end),
                    _ if start < end => stretches.push((start, end)),
                    _ => {}
                }
            }
            date = date.tomorrow().ok()?;
        }
        Timeline::new(&joined(stretches), from, to)
    }

    fn date(&self, zone: &TimeZone, instant: i64) -> Option<Date> {
        let timestamp = self.origin.checked_add(Span::new().try_seconds(instant).ok()?).ok()?;
        Some(zone.to_datetime(timestamp).date())
    }

    /// The instant of a local time. A local time that a change of clocks skips or repeats is taken as `jiff` does by
    /// default: the skipped hour runs on from before, of a repeated hour the first counts.
    fn instant(&self, zone: &TimeZone, date: Date, minutes: u16) -> Option<i64> {
        let date = if minutes >= 24 * 60 { date.tomorrow().ok()? } else { date };
        let minutes = minutes % (24 * 60);
        let local = date.at(i8::try_from(minutes / 60).ok()?, i8::try_from(minutes % 60).ok()?, 0, 0);
        Some(zone.to_timestamp(local).ok()?.as_second() - self.origin.as_second())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600;

    fn lay_out(calendar: &Calendar, origin: &str) -> Timeline {
        let zone = TimeZone::get(calendar.zone.as_deref().unwrap_or("UTC")).unwrap();
        Layout { origin: origin.parse().unwrap(), horizon: 10 * 86_400 }.lay_out(calendar, &zone).unwrap()
    }

    #[test]
    fn holidays_and_weekends_are_no_work() {
        // 2026-12-24 is a Thursday; the 25th is off, 26th and 27th are a weekend.
        let calendar = Calendar::office("office", "UTC").without(["2026-12-25".parse().unwrap()]);
        let line = lay_out(&calendar, "2026-12-24T00:00:00Z");
        let four_days_later = 4 * 24 * HOUR;
        assert_eq!(line.finish_at(line.work_before(0) + 8 * HOUR), 17 * HOUR);
        assert_eq!(line.finish_at(line.work_before(0) + 9 * HOUR), four_days_later + 10 * HOUR);
    }

    #[test]
    fn a_night_shift_is_an_hour_shorter_when_clocks_go_forward() {
        // Vienna: 2026-03-29 02:00 becomes 03:00; and 2026-10-25 03:00 becomes 02:00.
        let night = r#"{"id":"night","zone":"Europe/Vienna","week":{"mon-sun":["22:00-06:00"]}}"#;
        let calendar: Calendar = serde_json::from_str(night).unwrap();
        let spring = lay_out(&calendar, "2026-03-28T12:00:00Z");
        assert_eq!(spring.work_between(0, 24 * HOUR), 7 * HOUR);
        let autumn = lay_out(&calendar, "2026-10-24T12:00:00Z");
        assert_eq!(autumn.work_between(0, 24 * HOUR), 9 * HOUR);
        let usual = lay_out(&calendar, "2026-06-01T12:00:00Z");
        assert_eq!(usual.work_between(0, 24 * HOUR), 8 * HOUR);
    }

    #[test]
    fn office_hours_follow_the_clock_on_the_wall() {
        // Friday 2026-03-27 17:00 Vienna is 16:00 UTC; Monday 09:00 is 07:00 UTC after the change.
        let line = lay_out(&Calendar::office("office", "Europe/Vienna"), "2026-03-27T16:00:00Z");
        assert_eq!(line.next_start(0), 2 * 24 * HOUR + 15 * HOUR);
    }

    #[test]
    fn round_the_clock_needs_no_layout() {
        assert_eq!(lay_out(&Calendar::always("x"), "2026-01-01T00:00:00Z"), Timeline::Always);
    }

    #[test]
    fn the_scale_is_the_usual_day_and_the_whole_week() {
        let week = r#"{"id":"w","week":{"mon-thu":["08:00-16:30"],"fri":["08:00-12:00"]}}"#;
        let scale = scale(&serde_json::from_str(week).unwrap(), Unit::Day);
        assert_eq!((scale.day, scale.week), (17 * 1_800, 38 * HOUR));
    }
}
