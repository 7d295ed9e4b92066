//! Lengths of time as people write them: `5d`, `1h30m`, `2w`, `3mo`, `-2ed`, or a plain number of the project's units.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longer than any plan: a length beyond this is a typing mistake.
const YEARS_MAX: i64 = 1_000;

/// The unit in which a project counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Seconds.
    Second,
    /// Minutes.
    Minute,
    /// Hours.
    Hour,
    /// Working days.
    #[default]
    Day,
    /// Working weeks.
    Week,
    /// Working months.
    Month,
    /// Working years.
    Year,
    /// Periods without a name, as in benchmark files; inside they count as days of 24 hours.
    Period,
}

/// How many seconds of work a day, a week, a month and a year have on some calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Seconds in a day.
    pub day: i64,
    /// Seconds in a week.
    pub week: i64,
    /// Seconds in a month.
    pub month: i64,
    /// Seconds in a year.
    pub year: i64,
    /// What a plain number counts.
    pub unit: Unit,
}

impl Scale {
    /// Round the clock: a month is 30 days and a year 365.
    pub fn elapsed(unit: Unit) -> Self {
        Self::of_week(86_400, 7 * 86_400, unit)
    }

    /// From the work in a typical day and in a week: a month is 30/7 and a year 365/7 weeks, in whole days.
    pub fn of_week(day: i64, week: i64, unit: Unit) -> Self {
        let day = day.max(1);
        let whole_days = |seconds: i64| (seconds + day / 2) / day * day;
        Self { day, week, month: whole_days(week * 30 / 7), year: whole_days(week * 365 / 7), unit }
    }

    /// The seconds in one of the project's units.
    pub fn unit_s(&self) -> i64 {
        match self.unit {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3_600,
            Unit::Day => self.day,
            Unit::Week => self.week,
            Unit::Month => self.month,
            Unit::Year => self.year,
            Unit::Period => 86_400,
        }
    }
}

/// A length of time, of work or elapsed, before a calendar says how many seconds it is.
///
/// Written as numbers with units: `s`, `m`, `h`, `d`, `w`, `mo`, `y`. A day of work has as many hours as the calendar
/// gives it; an `e` before the unit (`3ed`) means elapsed time, round the clock. A plain number counts project units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length {
    /// Thousandths of a second, from the units below a day.
    seconds: i64,
    days: i64,
    weeks: i64,
    months: i64,
    years: i64,
    plain: i64,
    elapsed: bool,
}

impl Length {
    /// No time at all.
    pub const ZERO: Self = Self { seconds: 0, days: 0, weeks: 0, months: 0, years: 0, plain: 0, elapsed: false };

    /// So many seconds of work.
    pub const fn seconds(seconds: i64) -> Self {
        Self { seconds: seconds.saturating_mul(1_000), ..Self::ZERO }
    }

    /// So many hours of work.
    pub const fn hours(hours: i64) -> Self {
        Self::seconds(hours.saturating_mul(3_600))
    }

    /// So many working days.
    pub const fn days(days: i64) -> Self {
        Self { days: days.saturating_mul(1_000), ..Self::ZERO }
    }

    /// So many of the project's units.
    pub const fn units(units: i64) -> Self {
        Self { plain: units.saturating_mul(1_000), ..Self::ZERO }
    }

    /// The same length, round the clock.
    #[must_use]
    pub const fn elapsed(self) -> Self {
        Self { elapsed: true, ..self }
    }

    /// Whether it counts time round the clock and not time of work.
    pub fn is_elapsed(&self) -> bool {
        self.elapsed
    }

    /// Whether it is no time at all.
    pub fn is_zero(&self) -> bool {
        Self { elapsed: false, ..*self } == Self::ZERO
    }

    /// How many seconds it is, where `work` says what a day of work is.
    pub fn to_seconds(self, work: &Scale) -> i64 {
        let scale = if self.elapsed { Scale::elapsed(work.unit) } else { *work };
        let parts = [
            (self.seconds, 1),
            (self.days, scale.day),
            (self.weeks, scale.week),
            (self.months, scale.month),
            (self.years, scale.year),
            (self.plain, scale.unit_s()),
        ];
        let thousandths: i128 = parts.iter().map(|&(amount, unit)| i128::from(amount) * i128::from(unit)).sum();
        i64::try_from(thousandths.div_euclid(1_000) + i128::from(thousandths.rem_euclid(1_000) >= 500)).unwrap_or(0)
    }

    fn add(&mut self, thousandths: i64, unit: &str) -> Result<(), ()> {
        let (slot, factor) = match unit {
            "s" | "sec" | "secs" | "second" | "seconds" => (&mut self.seconds, 1),
            "m" | "min" | "mins" | "minute" | "minutes" => (&mut self.seconds, 60),
            "h" | "hr" | "hrs" | "hour" | "hours" => (&mut self.seconds, 3_600),
            "d" | "day" | "days" => (&mut self.days, 1),
            "w" | "wk" | "wks" | "week" | "weeks" => (&mut self.weeks, 1),
            "mo" | "mon" | "mons" | "month" | "months" => (&mut self.months, 1),
            "y" | "yr" | "yrs" | "year" | "years" => (&mut self.years, 1),
            "" => (&mut self.plain, 1),
            _ => return Err(()),
        };
        *slot = thousandths.checked_mul(factor).and_then(|part| slot.checked_add(part)).ok_or(())?;
        Ok(())
    }

    fn too_long(&self) -> bool {
        let longest = i128::from(YEARS_MAX) * 366 * 86_400 * 1_000;
        let parts = [(self.seconds, 1), (self.days, 86_400), (self.weeks, 604_800), (self.months, 2_678_400)];
        let parts = parts.into_iter().chain([(self.years, 31_622_400), (self.plain, 86_400)]);
        parts.map(|(amount, unit)| i128::from(amount).abs() * unit).sum::<i128>() > longest
    }
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a length of time; write for example `90m`, `8h`, `5d`, `1w`, `3mo` or `2ed` (elapsed)"
            )
        };
        let body = text.trim();
        let (negative, mut rest) = match body.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, body.strip_prefix('+').unwrap_or(body)),
        };
        let mut length = Self::ZERO;
        let mut elapsed = None;
        if rest.is_empty() {
            return Err(wrong());
        }
        let parts_start = rest.len();
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let amount = thousandths(&rest[..digits]).ok_or_else(wrong)?;
            let after = rest[digits..].trim_start();
            let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
            let unit = &after[..letters];
            let (round_the_clock, unit) = unit.strip_prefix('e').map_or((false, unit), |unit| (true, unit));
            if *elapsed.get_or_insert(round_the_clock) != round_the_clock {
                return Err(format!("`{text}` mixes work and elapsed time; use one of the two"));
            }
            let whole_text = rest.len() == parts_start && letters == after.len();
            if unit.is_empty() && !whole_text {
                return Err(wrong());
            }
            length.add(if negative { -amount } else { amount }, unit).map_err(|()| wrong())?;
            rest = after[letters..].trim_start();
        }
        length.elapsed = elapsed == Some(true);
        if length.too_long() {
            return Err(format!("`{text}` is longer than {YEARS_MAX} years"));
        }
        Ok(length)
    }
}

/// Reads a decimal number as thousandths; none when it is not one or has more than three places.
pub(crate) fn thousandths(text: &str) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 3 || !digits(whole) || !digits(part) || text.ends_with('.') {
        return None;
    }
    let part = format!("{part:0<3}").parse::<i64>().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(1_000)?.checked_add(part)
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str(if self.elapsed { "0es" } else { "0" });
        }
        let parts = [(self.years, "y"), (self.months, "mo"), (self.weeks, "w"), (self.days, "d"), (self.plain, "")];
        if parts.iter().any(|part| part.0 < 0) || self.seconds < 0 {
            f.write_str("-")?;
        }
        let e = if self.elapsed { "e" } else { "" };
        for (amount, unit) in parts {
            if amount != 0 {
                write!(f, "{}{}{unit}", decimal(amount.abs()), if unit.is_empty() { "" } else { e })?;
            }
        }
        let mut rest = self.seconds.abs();
        for (size, unit) in [(3_600_000, "h"), (60_000, "m")] {
            if rest >= size {
                write!(f, "{}{e}{unit}", rest / size)?;
                rest %= size;
            }
        }
        if rest > 0 { write!(f, "{}{e}s", decimal(rest)) } else { Ok(()) }
    }
}

/// Writes thousandths as a number without trailing zeros.
pub(crate) fn decimal(thousandths: i64) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    let size = thousandths.unsigned_abs();
    let text = format!("{sign}{}.{:03}", size / 1_000, size % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::deserialize(deserializer)?.0.parse().map_err(serde::de::Error::custom)
    }
}

/// Text or a number, read as text: people write both.
pub(crate) struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "text or a number")]
        enum Either {
            Text(String),
            Number(serde_json::Number),
        }
        Ok(Self(match Either::deserialize(deserializer)? {
            Either::Text(text) => text,
            Either::Number(number) => number.to_string(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn office() -> Scale {
        Scale::of_week(8 * 3_600, 40 * 3_600, Unit::Day)
    }

    #[test]
    fn a_length_means_what_it_says_on_an_office_calendar() {
        let rows = [
            ("5d", 40 * 3_600),
            ("1w", 40 * 3_600),
            ("1mo", 21 * 8 * 3_600),
            ("1y", 261 * 8 * 3_600),
            ("1h30m", 5_400),
            ("2.5d", 20 * 3_600),
            ("-1d", -8 * 3_600),
            ("2ed", 2 * 86_400),
            ("1emo", 30 * 86_400),
            ("3", 24 * 3_600),
            ("1 d 4 h", 12 * 3_600),
            ("0", 0),
            ("0ed", 0),
        ];
        for (text, seconds) in rows {
            let length: Length = text.parse().unwrap();
            assert_eq!(length.to_seconds(&office()), seconds, "{text}");
            assert_eq!(length.to_string().parse::<Length>().unwrap(), length, "{text} reads back");
        }
    }

    #[test]
    fn a_wrong_length_says_what_to_write_instead() {
        for text in ["", "d", "5x", "1d2", "--1d", "1.2345d", "1d2eh", "5000y", "1e5d", "9999999999999999999d", "."] {
            let read = text.parse::<Length>();
            assert!(read.is_err(), "{text} gave {read:?}");
        }
    }
}
