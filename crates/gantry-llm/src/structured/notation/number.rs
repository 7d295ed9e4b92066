//! Numbers: exactly what was written, or a fault.

use serde_json::{Number, Value};

use super::{Halt, Mend, Reader, wrong};

impl Reader<'_> {
    /// Reads a number.
    pub(super) fn number(&mut self) -> Result<Value, Halt> {
        let from = self.at;
        let written = self.run(|letter| letter.is_alphanumeric() || matches!(letter, '+' | '-' | '.' | '_' | '%'));
        if self.depth > 0 && self.rest().is_empty() {
            return Err(Halt::End);
        }
        let read = exact(written).or_else(|what| {
            let strict = strictly(written).ok_or(what)?;
            let number = exact(&strict)?;
            self.mends.insert(Mend::LooseNumbers);
            Ok(number)
        });
        read.map(Value::Number).map_err(|what: &str| {
            self.at = from;
            wrong(what)
        })
    }
}

/// Reads a number of JSON without losing a digit of an integer.
fn exact(written: &str) -> Result<Number, &'static str> {
    const NO_NUMBER: &str = "this is no number of JSON: digits, one point, no unit, no separators";
    let digits = written.strip_prefix('-').unwrap_or(written);
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    if whole == 0 || (whole > 1 && digits.starts_with('0')) {
        return Err(if digits.starts_with('I') {
            "this is no number; give a number, or null if that is allowed"
        } else {
            NO_NUMBER
        });
    }
    if whole == digits.len() {
        if written == "-0" {
            return Number::from_f64(-0.0).ok_or(NO_NUMBER);
        }
        let number = written.parse::<i64>().map(Number::from).or_else(|_| written.parse::<u64>().map(Number::from));
        return number.map_err(|_| "this number has more digits than can be kept");
    }
    if !fraction_or_power(&digits[whole..]) {
        return Err(NO_NUMBER);
    }
    let number = written.parse::<f64>().map_err(|_| NO_NUMBER)?;
    let digits = written.split(['e', 'E']).next().unwrap_or_default();
    if number == 0.0 && digits.contains(|digit| matches!(digit, '1'..='9')) {
        return Err("this number is smaller than can be kept");
    }
    Number::from_f64(number).ok_or("this number is larger than can be kept")
}

/// Tells whether the rest of a number is `.5`, `e3` or `.5e3`.
fn fraction_or_power(rest: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = rest;
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(power) = rest.strip_prefix(['e', 'E']) {
        let power = power.strip_prefix(['+', '-']).unwrap_or(power);
        let length = digits(power);
        if length == 0 {
            return false;
        }
        rest = &power[length..];
    }
    rest.is_empty()
}

/// Writes `+5`, `.5`, `-.5` and `5.` as JSON does; none when it is something else.
fn strictly(written: &str) -> Option<String> {
    let unsigned = written.strip_prefix('+').filter(|rest| !rest.starts_with('-')).unwrap_or(written);
    let (sign, digits) = match unsigned.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unsigned),
    };
    let zero = if digits.starts_with('.') { "0" } else { "" };
    let digits = digits.strip_suffix('.').filter(|digits| !digits.contains('.')).unwrap_or(digits);
    (!digits.is_empty()).then(|| format!("{sign}{zero}{digits}"))
}
