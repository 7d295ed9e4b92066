//! When people work: hours of each weekday, days off, exceptions, in a zone of their own.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, Weekday};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::is_default;

/// When work happens. Without a `week` it is round the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calendar {
    /// Its name, unique among calendars.
    pub id: String,
    /// The zone its hours are in, such as `Europe/Vienna`; UTC when none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zone: Option<String>,
    /// The hours of each weekday; none means round the clock.
    #[serde(default, skip_serializing_if = "is_default")]
    pub week: Option<Week>,
    /// Holidays and other days without work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub days_off: Vec<Days>,
    /// Days with hours of their own; they win over `week` and `days_off`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "BTreeMap<String, Vec<Hours>>")]
    pub exceptions: BTreeMap<Date, Vec<Hours>>,
}

impl Calendar {
    /// Round the clock, every day.
    pub fn always(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Monday to Friday, nine to five.
    pub fn office(id: impl Into<String>, zone: &str) -> Self {
        let day = vec![Hours { from: 9 * 60, to: 17 * 60 }];
        let week = Week(std::array::from_fn(|weekday| if weekday < 5 { day.clone() } else { Vec::new() }));
        Self { id: id.into(), zone: Some(zone.to_owned()), week: Some(week), ..Self::default() }
    }

    /// The same calendar without these days, be there special hours on them or not: whoever is away is away.
    #[must_use]
    pub fn without(mut self, days: impl IntoIterator<Item = Days>) -> Self {
        for days in days {
            self.exceptions.retain(|date, _| !days.contain(*date));
            self.days_off.push(days);
        }
        self
    }

    /// The hours of one day.
    pub fn hours(&self, date: Date) -> &[Hours] {
        const ALL_DAY: &[Hours] = &[Hours { from: 0, to: 24 * 60 }];
        if let Some(hours) = self.exceptions.get(&date) {
            return hours;
        }
        if self.days_off.iter().any(|days| days.contain(date)) {
            return &[];
        }
        self.week.as_ref().map_or(ALL_DAY, |week| week.on(date.weekday()))
    }
}

/// A stretch of one day in minutes from midnight; past 24 hours it runs into the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hours {
    /// The first minute.
    pub from: u16,
    /// The minute after the last.
    pub to: u16,
}

impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let minutes = |text: &str| {
            let (hour, minute) = text.trim().split_once(':')?;
            let (hour, minute) = (hour.parse::<u16>().ok()?, minute.parse::<u16>().ok()?);
            (hour <= 24 && minute < 60 && hour * 60 + minute <= 24 * 60).then_some(hour * 60 + minute)
        };
        let wrong =
            || format!("`{text}` are not hours; write for example `09:00-17:00`, or `22:00-06:00` over midnight");
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let (from, to) = (minutes(from).ok_or_else(wrong)?, minutes(to).ok_or_else(wrong)?);
        if from == 24 * 60 || from == to {
            return Err(wrong());
        }
        Ok(Self { from, to: if to < from { to + 24 * 60 } else { to } })
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = if self.to > 24 * 60 { self.to - 24 * 60 } else { self.to };
        write!(f, "{:02}:{:02}-{:02}:{:02}", self.from / 60, self.from % 60, to / 60, to % 60)
    }
}

/// One or more whole days, written `2026-12-25` or `2026-12-24..2027-01-01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Days {
    /// The first.
    pub from: Date,
    /// The last.
    pub to: Date,
}

impl Days {
    /// Whether a date is one of them.
    pub fn contain(&self, date: Date) -> bool {
        self.from <= date && date <= self.to
    }
}

impl FromStr for Days {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let date = |text: &str| {
            text.trim().parse::<Date>().map_err(|_| {
                format!("`{text}` is not a day; write for example `2026-12-25` or `2026-12-24..2027-01-01`")
            })
        };
        let days = Self { from: date(from)?, to: date(to)? };
        if days.to < days.from { Err(format!("`{text}` ends before it begins")) } else { Ok(days) }
    }
}

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { self.from.fmt(f) } else { write!(f, "{}..{}", self.from, self.to) }
    }
}

/// The hours of each weekday, Monday first, written `{"mon-thu": ["09:00-17:00"], "fri": ["09:00-14:00"]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Week(pub [Vec<Hours>; 7]);

const DAY_NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

impl Week {
    /// The hours of one weekday.
    pub fn on(&self, weekday: Weekday) -> &[Hours] {
        &self.0[usize::try_from(weekday.to_monday_zero_offset()).unwrap_or(0)]
    }
}

impl Serialize for Week {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut runs: Vec<(usize, usize, &Vec<Hours>)> = Vec::new();
        for (day, hours) in self.0.iter().enumerate().filter(|(_, hours)| !hours.is_empty()) {
            match runs.last_mut().filter(|(_, last, same)| last + 1 == day && *same == hours) {
                Some((_, last, _)) => *last = day,
                None => runs.push((day, day, hours)),
            }
        }
        let name = |first: usize, last: usize| {
            let name = DAY_NAMES[first];
            if first == last { name.to_owned() } else { format!("{name}-{}", DAY_NAMES[last]) }
        };
        serializer.collect_map(runs.into_iter().map(|(first, last, hours)| (name(first, last), hours)))
    }
}

impl<'de> Deserialize<'de> for Week {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut week = Self::default();
        for (name, hours) in BTreeMap::<String, Vec<Hours>>::deserialize(deserializer)? {
            let (first, last) = name.split_once('-').unwrap_or((&name, &name));
            let place = |name: &str| DAY_NAMES.iter().position(|day| *day == name.trim());
            let (Some(first), Some(last)) = (place(first), place(last)) else {
                return Err(serde::de::Error::custom(format!(
                    "`{name}` is not a weekday; write `mon`, `sat` or `mon-fri`"
                )));
            };
            let count = (last + 7 - first) % 7;
            for day in (first..=first + count).map(|day| day % 7) {
                if !week.0[day].is_empty() {
                    return Err(serde::de::Error::custom(format!("`{}` is given twice", DAY_NAMES[day])));
                }
                week.0[day].clone_from(&hours);
            }
        }
        Ok(week)
    }
}

macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
as_text!(Hours, Days);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_reads_back_what_it_wrote() {
        let text = r#"{"id":"crew","zone":"Europe/Vienna","week":{"mon-thu":["08:00-12:00","13:00-17:00"],"fri":["22:00-06:00"]},
            "days_off":["2026-12-24..2027-01-01","2026-05-01"],"exceptions":{"2026-12-28":["10:00-12:00"]}}"#;
        let calendar: Calendar = serde_json::from_str(text).unwrap();
        let again: Calendar = serde_json::from_str(&serde_json::to_string(&calendar).unwrap()).unwrap();
        assert_eq!(calendar, again);
        assert!(serde_json::to_string(&calendar).unwrap().contains(r#""mon-thu":["08:00-12:00","13:00-17:00"]"#));
        assert_eq!(calendar.hours("2026-03-02".parse().unwrap()).len(), 2);
        assert!(calendar.hours("2026-12-25".parse().unwrap()).is_empty());
        assert_eq!(calendar.hours("2026-12-28".parse().unwrap()), [Hours { from: 600, to: 720 }]);
        assert_eq!(calendar.hours("2026-03-06".parse().unwrap()), [Hours { from: 22 * 60, to: 30 * 60 }]);
    }

    #[test]
    fn a_wrong_calendar_says_what_to_write() {
        for (week, says) in [
            (r#"{"funday":["09:00-17:00"]}"#, "not a weekday"),
            (r#"{"mon":["9-17"]}"#, "are not hours"),
            (r#"{"mon":["09:00-09:00"]}"#, "are not hours"),
            (r#"{"mon":["25:00-26:00"]}"#, "are not hours"),
            (r#"{"mon-tue":["09:00-10:00"],"tue":["11:00-12:00"]}"#, "given twice"),
        ] {
            let message = serde_json::from_str::<Week>(week).unwrap_err().to_string();
            assert!(message.contains(says), "{week}: {message}");
        }
    }
}
