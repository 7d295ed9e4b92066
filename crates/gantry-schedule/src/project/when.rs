//! Points in time as people write them: a date, a local time, an instant, or so long after the project's start.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::length::{Length, Text};

/// A point in time, before the project's zone and start say which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// A whole day; a start means its first moment, a deadline its last.
    Day(Date),
    /// A local time in the project's zone.
    Local(DateTime),
    /// An instant.
    At(Timestamp),
    /// So long after the project's start, such as `72h`, or a plain number of units.
    After(Length),
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(date) = text.parse::<Date>()
            && text.len() == 10
        {
            return Ok(Self::Day(date));
        }
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Ok(Self::At(instant));
        }
        if text.len() > 10
            && let Ok(local) = text.parse::<DateTime>()
        {
            return Ok(Self::Local(local));
        }
        text.parse().map(Self::After).map_err(|_| {
            format!(
                "`{text}` is not a point in time; write `2026-03-02`, `2026-03-02T09:00`, `2026-03-02T09:00:00Z`, \
                 or a length after the project's start such as `72h`"
            )
        })
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(date) => date.fmt(f),
            Self::Local(local) => local.fmt(f),
            Self::At(instant) => instant.fmt(f),
            Self::After(length) => length.fmt(f),
        }
    }
}

impl Serialize for When {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::deserialize(deserializer)?.0.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_write_a_point_in_time_reads_back() {
        for text in ["2026-03-02", "2026-03-02T09:00:00", "2026-03-02T09:00:00Z", "72h", "12"] {
            let when: When = text.parse().unwrap();
            assert_eq!(when.to_string(), text);
        }
        assert_eq!("2026-03-02T10:00+01:00".parse::<When>(), "2026-03-02T09:00:00Z".parse());
        assert!("tomorrow".parse::<When>().unwrap_err().contains("`2026-03-02`"));
        assert!("2026-02-30".parse::<When>().is_err());
    }
}
