//! Numbers as they are written in plan files.
//!
//! Nodes keep a number's text, so that `1.10` stays `1.10` where a text is wanted. Here the text is
//! recognised and turned into a value. JSON's numbers are a subset of YAML's.

use crate::diagnostic::Diagnostic;
use crate::node::Span;
use crate::suggest::shorten;

/// A number's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// A whole number that is not negative.
    Unsigned(u64),
    /// A negative whole number.
    Signed(i64),
    /// Any other finite number.
    Float(f64),
}

/// Tells whether a plain YAML scalar is a number of the core schema.
pub(crate) fn is_yaml_number(text: &str) -> bool {
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, rest) = split_digits(unsigned);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => split_digits(after),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return false;
    }
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            !exponent.is_empty() && split_digits(exponent).1.is_empty()
        }
        None => rest.is_empty(),
    }
}

/// Tells whether a plain YAML scalar, or a JSON number, says infinity or not-a-number, outright or
/// by being larger than any number we can hold.
pub(crate) fn is_not_finite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    is_yaml_number(text)
        && !text.starts_with("0x")
        && !text.starts_with("0o")
        && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// The refusal of a number that is not finite.
pub(crate) fn refusal(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error("file::number", format!("`{}` is not a finite number", shorten(text)))
        .at(span)
        .label("plans hold finite numbers only")
        .hint("put it in quotes if it is meant as a text")
}

/// Returns a number's value; nothing when a whole number does not fit into 64 bits.
pub(crate) fn value(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Number::Unsigned);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(Number::Unsigned);
    }
    if text.contains(['.', 'e', 'E']) {
        let float = text.parse::<f64>().ok()?;
        return float.is_finite().then_some(Number::Float(float));
    }
    if text.starts_with('-') {
        let number = text.parse::<i64>().ok()?;
        return Some(u64::try_from(number).map_or(Number::Signed(number), Number::Unsigned));
    }
    text.parse::<u64>().ok().map(Number::Unsigned)
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_are_numbers_exactly_as_the_core_schema_says() {
        for text in ["0", "010", "-19", "+1", "0o17", "0x3aF", "0.", "-0.0", ".5", "+12e03", "-2E+05", "1e3"] {
            assert!(is_yaml_number(text), "{text}");
        }
        for text in [
            "", "-", "+", ".", "e3", "1e", "1e+", "0o8", "0xg", "1_000", "0b1", "1.2.3", "12h", "١", "1 ", "-.e1", "0x",
        ] {
            assert!(!is_yaml_number(text), "{text}");
        }
    }

    #[test]
    fn values_are_exact_or_refused() {
        assert_eq!(value("010"), Some(Number::Unsigned(10)));
        assert_eq!(value("0x1F"), Some(Number::Unsigned(31)));
        assert_eq!(value("-5"), Some(Number::Signed(-5)));
        assert_eq!(value("+5"), Some(Number::Unsigned(5)));
        assert_eq!(value("18446744073709551616"), None);
        assert_eq!(value("1."), Some(Number::Float(1.0)));
        assert_eq!(value("1e400"), None);
        assert!(is_not_finite("1e400") && is_not_finite("-.inf") && !is_not_finite("0xfffffffff"));
    }
}
