//! Lengths of time and points in time, short enough to be read at a glance.

use gantry_core::time::{Duration, Timestamp};

/// `340ms`, `3.2s`, `42s`, `1m 04s`, `2h 05m`, `3d 04h`.
pub fn elapsed(duration: Duration) -> String {
    let ms = duration.as_ms();
    let seconds = ms / 1_000;
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..10_000 => format!("{seconds}.{}s", ms % 1_000 / 100),
        10_000..60_000 => format!("{seconds}s"),
        60_000..3_600_000 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600_000..86_400_000 => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// `just now`, `4m ago`.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now - at).as_ms() / 1_000;
    match seconds {
        0..5 => "just now".to_owned(),
        5..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// `2026-03-01T09:00:05Z`: to the second, always equally wide.
pub fn clock(at: Timestamp) -> String {
    Timestamp::from_ms(at.as_ms().div_euclid(1_000) * 1_000).to_string()
}

/// The time of this machine.
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_short() {
        let shown = |ms| elapsed(Duration::from_ms(ms));
        assert_eq!(
            [340, 3_250, 42_000, 64_000, 7_500_000, 273_600_000].map(shown),
            ["340ms", "3.2s", "42s", "1m 04s", "2h 05m", "3d 04h"]
        );
    }

    #[test]
    fn points_in_time_are_equally_wide() {
        assert_eq!(clock(Timestamp::from_ms(1_999)), "1970-01-01T00:00:01Z");
        assert_eq!(ago(Timestamp::from_ms(0), Timestamp::from_ms(250_000)), "4m ago");
    }
}
