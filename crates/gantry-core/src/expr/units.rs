//! Durations and sizes as people write them: `2h30m`, `50MB`.

use jiff::SignedDuration;

/// The longest duration that [`parse_duration`] accepts: a hundred years.
pub const DURATION_MAX_MS: i64 = 36_525 * 24 * 60 * 60 * 1_000;

/// The largest size that [`parse_size`] accepts: an exbibyte.
pub const SIZE_MAX_BYTES: u64 = 1 << 60;

const NANOS_PER_MS: i128 = 1_000_000;

/// The longest duration the function `duration()` accepts: CEL's ten thousand years.
const CEL_DURATION_MAX_NANOS: i128 = 315_576_000_000 * 1_000 * NANOS_PER_MS;

/// The most digits a number in front of a unit may have.
const DIGITS_MAX: usize = 18;

/// Units of time in nanoseconds, longest first: in a duration they may only get shorter.
const TIME_UNITS: [(&str, i128); 9] = [
    ("w", 7 * 24 * 60 * 60 * 1_000 * NANOS_PER_MS),
    ("d", 24 * 60 * 60 * 1_000 * NANOS_PER_MS),
    ("h", 60 * 60 * 1_000 * NANOS_PER_MS),
    ("m", 60 * 1_000 * NANOS_PER_MS),
    ("s", 1_000 * NANOS_PER_MS),
    ("ms", NANOS_PER_MS),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Units of size in bytes: decimal with `B`, binary with `iB`.
const SIZE_UNITS: [(&str, i128); 12] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("PiB", 1 << 50),
];

/// Parses a duration such as `10m`, `1h30m`, `2d`, `250ms` or `1.5h` to milliseconds.
///
/// Units go from long to short, each at most once. Negative durations, fractions of a millisecond
/// and more than [`DURATION_MAX_MS`] are refused.
pub fn parse_duration(text: &str) -> Option<i64> {
    let nanos = nanos(text)?;
    let millis = i64::try_from(nanos / NANOS_PER_MS).ok()?;
    (nanos % NANOS_PER_MS == 0 && millis <= DURATION_MAX_MS).then_some(millis)
}

/// Parses a size such as `10B`, `512kB`, `50MB` or `1.5GiB` to bytes.
///
/// Fractions of a byte and more than [`SIZE_MAX_BYTES`] are refused.
pub fn parse_size(text: &str) -> Option<u64> {
    let (number, rest) = Decimal::split_from(text)?;
    let (_, unit) = SIZE_UNITS.iter().find(|(name, _)| *name == rest)?;
    let bytes = u64::try_from(number.times(*unit)?).ok()?;
    (bytes <= SIZE_MAX_BYTES).then_some(bytes)
}

/// Parses what CEL's `duration()` takes: as [`parse_duration`], with a sign and to the nanosecond.
pub(super) fn parse_signed_duration(text: &str) -> Option<SignedDuration> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let nanos = nanos(magnitude)?;
    SignedDuration::try_from_nanos_i128(if negative { -nanos } else { nanos })
}

/// Writes a duration as seconds: `600s`, `-1.5s`.
pub(super) fn duration_text(duration: SignedDuration) -> String {
    let sign = if duration.is_negative() { "-" } else { "" };
    let seconds = duration.as_secs().unsigned_abs();
    let nanos = duration.subsec_nanos().unsigned_abs();
    if nanos == 0 {
        return format!("{sign}{seconds}s");
    }
    let fraction = format!("{nanos:09}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}

fn nanos(text: &str) -> Option<i128> {
    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut total = 0_i128;
    let mut shorter_than = i128::MAX;
    while !rest.is_empty() {
        let (number, after) = Decimal::split_from(rest)?;
        let unit_end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (name, next) = after.split_at(unit_end);
        let (_, unit) = TIME_UNITS.iter().find(|(unit, _)| *unit == name)?;
        if *unit >= shorter_than {
            return None;
        }
        shorter_than = *unit;
        total = total.checked_add(number.times(*unit)?)?;
        rest = next;
    }
    (total <= CEL_DURATION_MAX_NANOS).then_some(total)
}

/// A decimal number without a sign: `digits / scale`.
struct Decimal {
    digits: i128,
    scale: i128,
}

impl Decimal {
    /// Splits `12.5` off the front of a text.
    fn split_from(text: &str) -> Option<(Self, &str)> {
        let whole = leading_digits(text);
        let mut digits = whole.to_owned();
        let mut rest = &text[whole.len()..];
        let mut scale = 1;
        if let Some(after_dot) = rest.strip_prefix('.') {
            let fraction = leading_digits(after_dot);
            if fraction.is_empty() {
                return None;
            }
            digits.push_str(fraction);
            rest = &after_dot[fraction.len()..];
            scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        }
        if whole.is_empty() || digits.len() > DIGITS_MAX {
            return None;
        }
        let digits = digits.parse().ok()?;
        Some((Self { digits, scale }, rest))
    }

    /// Multiplies by a unit; nothing when the result is not whole.
    fn times(&self, unit: i128) -> Option<i128> {
        let scaled = self.digits.checked_mul(unit)?;
        (scaled % self.scale == 0).then_some(scaled / self.scale)
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}
