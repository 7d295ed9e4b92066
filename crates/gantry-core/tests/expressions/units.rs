//! Sizes, durations and points in time.

use gantry_core::expr::{parse_duration, parse_size};
use serde_json::json;

use super::*;

#[test]
fn sizes_are_bytes() {
    values([
        ("50MB", json!(50_000_000)),
        ("1GiB", json!(1_073_741_824)),
        ("512kB + 10B", json!(512_010)),
        ("1.5KiB", json!(1536)),
        ("n < 10B", json!(true)),
    ]);
}

#[test]
fn durations_and_timestamps_have_their_own_arithmetic() {
    values([
        ("10m", json!("600s")),
        ("2h30m == 150m && 7d == 1w && 90s < 2m", json!(true)),
        ("10m + 30s", json!("630s")),
        ("1s - 1.5s", json!("-0.5s")),
        ("-10m", json!("-600s")),
        ("250ms", json!("0.25s")),
        ("duration('1.5h') == 90m", json!(true)),
        ("duration('-1h30m')", json!("-5400s")),
        ("duration(string(10m)) == 10m", json!(true)),
        ("timestamp('2026-05-01T12:00:00+02:00')", json!("2026-05-01T10:00:00Z")),
        ("timestamp(tasks.build.ended) + 1d", json!("2026-05-02T10:00:00Z")),
        ("1d + timestamp(0) - 12h", json!("1970-01-01T12:00:00Z")),
        ("timestamp('2026-05-01T10:10:00Z') - timestamp(tasks.build.ended) == 10m", json!(true)),
        ("timestamp(tasks.build.ended) < timestamp('2027-01-01T00:00:00Z')", json!(true)),
        ("[1h, 30m].map(d, d + 1m)", json!(["3660s", "1860s"])),
    ]);
    says(
        failure,
        [
            ("'600s' < 10m", "cannot order a string and a duration: wrap the text in `duration()` @ '600s' < 10m"),
            (
                "tasks.build.ended - timestamp(0)",
                "cannot subtract a string and a timestamp: wrap the text in `timestamp()` @ tasks.build.ended - timestamp(0)",
            ),
            ("10m * 2", "cannot multiply a duration and an int @ 10m * 2"),
            ("10m + 1", "cannot add a duration and an int @ 10m + 1"),
            ("duration('soon')", "\"soon\" is not a duration such as \"2h30m\" @ duration('soon')"),
            ("timestamp('May')", "\"May\" is not a timestamp of RFC 3339 @ timestamp('May')"),
            ("timestamp(9223372036854775807)", "the result is out of range @ timestamp(9223372036854775807)"),
            (
                "timestamp('9999-01-01T00:00:00Z') + 36500d",
                "the result is out of range @ timestamp('9999-01-01T00:00:00Z') + 36500d",
            ),
        ],
    );
}

#[test]
fn a_duration_is_written_from_long_units_to_short_ones() {
    for (text, millis) in [
        ("10m", Some(600_000)),
        ("1h30m", Some(5_400_000)),
        ("2d", Some(172_800_000)),
        ("250ms", Some(250)),
        ("1w", Some(604_800_000)),
        ("1.5h", Some(5_400_000)),
        ("1h0.5m", Some(3_630_000)),
        ("5000us", Some(5)),
        ("0s", Some(0)),
        ("36525d", Some(3_155_760_000_000)),
        ("36525d1ms", None),
        ("1us", None),
        ("30m1h", None),
        ("1h1h", None),
        ("-1h", None),
        ("+1h", None),
        ("1", None),
        ("", None),
        ("h", None),
        ("1.h", None),
        (".5h", None),
        ("1 h", None),
        ("1h ", None),
        ("1y", None),
        ("１h", None),
        ("99999999999999999999999999w", None),
        ("999999999999999999w", None),
    ] {
        assert_eq!(parse_duration(text), millis, "{text}");
    }
}

#[test]
fn a_size_is_decimal_or_binary() {
    for (text, bytes) in [
        ("10B", Some(10)),
        ("512kB", Some(512_000)),
        ("512KB", Some(512_000)),
        ("50MB", Some(50_000_000)),
        ("50MiB", Some(52_428_800)),
        ("1GiB", Some(1_073_741_824)),
        ("1.5GB", Some(1_500_000_000)),
        ("1024PiB", Some(1 << 60)),
        ("1025PiB", None),
        ("0.5B", None),
        ("-1MB", None),
        ("1mb", None),
        ("1M", None),
        ("MB", None),
        ("1", None),
        ("", None),
        ("1 MB", None),
        ("99999999999999999999PB", None),
    ] {
        assert_eq!(parse_size(text), bytes, "{text}");
    }
}
