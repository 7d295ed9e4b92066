//! Points in time and lengths of time, in whole milliseconds. Nothing here reads a clock.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::expr::parse_duration;

/// Longer than any plan: a duration beyond this is a typing mistake.
pub const DURATION_MS_MAX: u64 = 100 * 366 * 24 * 3_600_000;

/// A length of time. In files: `250ms`, `5s`, `10m`, `1h30m`, `2d`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// Makes a duration from milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }
    /// Makes a duration from seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000)
    }
    /// Makes a duration from minutes.
    pub const fn from_mins(mins: u64) -> Self {
        Self(mins * 60_000)
    }
    /// Makes a duration from hours.
    pub const fn from_hours(hours: u64) -> Self {
        Self(hours * 3_600_000)
    }
    /// Returns the length in milliseconds.
    pub const fn as_ms(self) -> u64 {
        self.0
    }
    /// Multiplies, stopping at the longest duration that is accepted.
    #[must_use]
    pub fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor).min(DURATION_MS_MAX))
    }
    /// Adds, stopping at the longest duration that is accepted.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0).min(DURATION_MS_MAX))
    }
    /// What is left after this much; nothing when it is more.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// Reads the human form; the error says what is wrong as a lowercase fragment.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with('-') {
            return Err(format!("`{text}` is negative; a duration is at least 0s"));
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("`{text}` has no unit; write for example `{text}s` or `{text}m`"));
        }
        let ms = parse_duration(text).and_then(|ms| u64::try_from(ms).ok()).ok_or_else(|| {
            format!("`{text}` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`")
        })?;
        if ms > DURATION_MS_MAX {
            return Err(format!("`{text}` is longer than 100 years"));
        }
        Ok(Self(ms))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        if rest == 0 {
            return f.pad("0s");
        }
        let mut text = String::new();
        for (unit_ms, unit) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")] {
            if rest >= unit_ms {
                text += &(rest / unit_ms).to_string();
                text += unit;
                rest %= unit_ms;
            }
        }
        f.pad(&text)
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Duration {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "A length of time such as 250ms, 5s, 10m, 1h30m or 2d.", "pattern": "^[0-9]"})
    }
}

/// A point in time, in milliseconds since 1970. In files: RFC 3339, such as `2026-03-01T09:00:00Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Makes a point in time from milliseconds since 1970.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }
    /// Returns the milliseconds since 1970.
    pub const fn as_ms(self) -> i64 {
        self.0
    }
    /// Reads RFC 3339, or a date alone, which means midnight UTC.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
            return Ok(Self(timestamp.as_millisecond()));
        }
        text.parse::<jiff::civil::Date>()
            .ok()
            .and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC).ok())
            .map(|zoned| Self(zoned.timestamp().as_millisecond()))
            .ok_or_else(|| {
                format!("`{text}` is not a point in time; write for example `2026-03-01T09:00:00Z` or `2026-03-01`")
            })
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add_unsigned(duration.0))
    }
}

impl std::ops::Sub for Timestamp {
    type Output = Duration;
    /// The time between two points; zero when the second is later.
    fn sub(self, earlier: Self) -> Duration {
        Duration(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => f.pad(&timestamp.to_string()),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "A point in time, RFC 3339.", "examples": ["2026-03-01T09:00:00Z"]})
    }
}
