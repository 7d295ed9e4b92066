//! The functions of the language.

use std::cmp::Ordering;

use super::error::{EvalError, Span};
use super::operators::{self, Meter};
use super::units::{duration_text, parse_signed_duration};
use super::value::{Number, Value};

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    LowerAscii,
    UpperAscii,
    Trim,
    Split,
    Join,
    Min,
    Max,
    Abs,
    Int,
    Uint,
    Double,
    String,
    Bool,
    Type,
    Duration,
    Timestamp,
}

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `f(x)`
    Global,
    /// `x.f()`
    Method,
    /// Both of these.
    Either,
}

/// What the parser needs to know of a function. Arguments include the one before the dot.
struct Signature {
    name: &'static str,
    function: Function,
    style: Style,
    arguments: (usize, usize),
    usage: &'static str,
}

const fn signature(
    name: &'static str,
    function: Function,
    style: Style,
    arguments: (usize, usize),
    usage: &'static str,
) -> Signature {
    Signature { name, function, style, arguments, usage }
}

/// In the order of [`Function`].
#[rustfmt::skip]
const SIGNATURES: [Signature; 20] = [
    signature("size", Function::Size, Style::Either, (1, 1), "size(x)"),
    signature("contains", Function::Contains, Style::Method, (2, 2), "text.contains(part)"),
    signature("startsWith", Function::StartsWith, Style::Method, (2, 2), "text.startsWith(part)"),
    signature("endsWith", Function::EndsWith, Style::Method, (2, 2), "text.endsWith(part)"),
    signature("lowerAscii", Function::LowerAscii, Style::Method, (1, 1), "text.lowerAscii()"),
    signature("upperAscii", Function::UpperAscii, Style::Method, (1, 1), "text.upperAscii()"),
    signature("trim", Function::Trim, Style::Method, (1, 1), "text.trim()"),
    signature("split", Function::Split, Style::Method, (2, 2), "text.split(separator)"),
    signature("join", Function::Join, Style::Method, (1, 2), "list.join(separator)"),
    signature("min", Function::Min, Style::Global, (1, usize::MAX), "min(a, b)"),
    signature("max", Function::Max, Style::Global, (1, usize::MAX), "max(a, b)"),
    signature("abs", Function::Abs, Style::Global, (1, 1), "abs(number)"),
    signature("int", Function::Int, Style::Global, (1, 1), "int(x)"),
    signature("uint", Function::Uint, Style::Global, (1, 1), "uint(x)"),
    signature("double", Function::Double, Style::Global, (1, 1), "double(x)"),
    signature("string", Function::String, Style::Global, (1, 1), "string(x)"),
    signature("bool", Function::Bool, Style::Global, (1, 1), "bool(x)"),
    signature("type", Function::Type, Style::Global, (1, 1), "type(x)"),
    signature("duration", Function::Duration, Style::Global, (1, 1), "duration(text)"),
    signature("timestamp", Function::Timestamp, Style::Global, (1, 1), "timestamp(text)"),
];

impl Function {
    pub(super) fn find(name: &str) -> Option<Self> {
        let signature = SIGNATURES.iter().find(|signature| signature.name == name)?;
        Some(signature.function)
    }

    fn signature(self) -> &'static Signature {
        &SIGNATURES[self as usize]
    }

    pub(super) fn allows(self, style: Style) -> bool {
        let allowed = self.signature().style;
        allowed == style || allowed == Style::Either
    }

    pub(super) fn takes(self, arguments: usize) -> bool {
        let (min, max) = self.signature().arguments;
        (min..=max).contains(&arguments)
    }

    /// Returns an example of a call.
    pub(super) fn usage(self) -> &'static str {
        self.signature().usage
    }
}

/// Calls a function. The parser has counted the arguments.
pub(super) fn call(function: Function, arguments: &[Value], span: Span, meter: &mut Meter) -> Result<Value, EvalError> {
    let [first, others @ ..] = arguments else {
        return Err(unfit(function, arguments, span));
    };
    match function {
        Function::Size => size(first, span, meter),
        Function::Contains | Function::StartsWith | Function::EndsWith => search(function, arguments, span, meter),
        Function::LowerAscii | Function::UpperAscii | Function::Trim => rewrite(function, first, span, meter),
        Function::Split => split(arguments, span, meter),
        Function::Join => join(arguments, span, meter),
        Function::Min => extreme(first, others, Ordering::Less, span, meter),
        Function::Max => extreme(first, others, Ordering::Greater, span, meter),
        Function::Abs => abs(first, span),
        Function::Int => int(first, span),
        Function::Uint => uint(first, span),
        Function::Double => double(first, span),
        Function::String => string(first, span, meter),
        Function::Bool => bool(first, span),
        Function::Type => Ok(Value::text(first.kind())),
        Function::Duration => duration(first, span),
        Function::Timestamp => timestamp(first, span),
    }
}

/// The error for arguments a function is not made for.
fn unfit(function: Function, arguments: &[Value], span: Span) -> EvalError {
    let kinds: Vec<&str> = arguments.iter().map(Value::with_kind).collect();
    let usage = function.usage();
    let mut message = format!("`{usage}` does not take {}", kinds.join(" and "));
    if matches!((function, arguments.first()), (Function::Contains, Some(Value::List(_)))) {
        message.push_str(": use `x in list`");
    }
    EvalError::wrong_type(span, message)
}

/// The error for a text that does not say what it should.
fn unreadable(text: &str, wanted: &str, span: Span) -> EvalError {
    let shown = Value::text(text).shown(super::SHOWN_VALUE_CHARS_MAX);
    EvalError::wrong_type(span, format!("{shown} is not {wanted}"))
}

fn count(items: usize) -> Value {
    // No collection in memory has more than `i64::MAX` items.
    Value::Int(i64::try_from(items).unwrap_or(i64::MAX))
}

fn size(value: &Value, span: Span, meter: &mut Meter) -> Result<Value, EvalError> {
    match value {
        Value::Text(text) => {
            meter.charge_bytes(text.len(), span)?;
            Ok(count(text.chars().count()))
        }
        Value::List(items) => Ok(count(items.len())),
        Value::Map(fields) => Ok(count(fields.len())),
        other => Err(unfit(Function::Size, std::slice::from_ref(other), span)),
    }
}

fn search(function: Function, arguments: &[Value], span: Span, meter: &mut Meter) -> Result<Value, EvalError> {
    let [Value::Text(text), Value::Text(part)] = arguments else {
        return Err(unfit(function, arguments, span));
    };
    meter.charge_bytes(text.len() + part.len(), span)?;
    Ok(Value::Bool(match function {
        Function::StartsWith => text.starts_with(part.as_ref()),
        Function::EndsWith => text.ends_with(part.as_ref()),
        _ => text.contains(part.as_ref()),
    }))
}

fn rewrite(function: Function, value: &Value, span: Span, meter: &mut Meter) -> Result<Value, EvalError> {
    let Value::Text(text) = value else {
        return Err(unfit(function, std::slice::from_ref(value), span));
    };
    meter.make_text(text.len(), span)?;
    Ok(Value::text(&match function {
        Function::LowerAscii => text.to_ascii_lowercase(),
        Function::UpperAscii => text.to_ascii_uppercase(),
        _ => text.trim().to_owned(),
    }))
}

fn split(arguments: &[Value], span: Span, meter: &mut Meter) -> Result<Value, EvalError> {
    let [Value::Text(text), Value::Text(separator)] = arguments else {
        return Err(unfit(Function::Split, arguments, span));
    };
    meter.charge_bytes(text.len(), span)?;
    let mut parts = Vec::new();
    let mut add = |part: &str| {
        meter.charge(1, span)?;
        parts.push(Value::text(part));
        operators::list_fits(parts.len(), span)
    };
    if separator.is_empty() {
        // As in CEL: without a separator, the characters.
        for c in text.chars() {
            add(c.encode_utf8(&mut [0; 4]))?;
        }
    } else {
        text.split(separator.as_ref()).try_for_each(&mut add)?;
    }
    Ok(Value::list(parts))
}

fn join(arguments: &[Value], span: Span, meter: &mut Meter) -> Result<Value, EvalError> {
    let (items, separator) = match arguments {
        [Value::List(items)] => (items, ""),
        [Value::List(items), Value::Text(separator)] => (items, separator.as_ref()),
        _ => return Err(unfit(Function::Join, arguments, span)),
    };
    let mut joined = String::new();
    for (place, item) in items.iter().enumerate() {
        let Value::Text(part) = item else {
            let message = format!("`join` needs strings, found {}", item.with_kind());
            return Err(EvalError::wrong_type(span, message));
        };
        let separator = if place == 0 { "" } else { separator };
        let grown = joined.len() + separator.len() + part.len();
        meter.charge(1, span)?;
        if grown > super::TEXT_BYTES_MAX {
            meter.make_text(grown, span)?;
        }
        joined.push_str(separator);
        joined.push_str(part);
    }
    meter.make_text(joined.len(), span)?;
    Ok(Value::text(&joined))
}

fn extreme(
    first: &Value,
    others: &[Value],
    wanted: Ordering,
    span: Span,
    meter: &mut Meter,
) -> Result<Value, EvalError> {
    let (mut best, others) = match (first, others) {
        (Value::List(items), []) => {
            items.split_first().ok_or_else(|| EvalError::wrong_type(span, "an empty list has no least or greatest"))?
        }
        _ => (first, others),
    };
    // A single value is compared with itself, so that one without order is refused.
    operators::order(best, best, span, meter)?;
    for other in others {
        meter.charge(1, span)?;
        if operators::order(other, best, span, meter)? == wanted {
            best = other;
        }
    }
    Ok(best.clone())
}

fn abs(value: &Value, span: Span) -> Result<Value, EvalError> {
    match value {
        Value::Int(int) => match int.checked_abs() {
            Some(int) => Ok(Value::Int(int)),
            None => Err(EvalError::Overflow { span }),
        },
        Value::Uint(uint) => Ok(Value::Uint(*uint)),
        Value::Double(double) => Ok(Value::Double(double.abs())),
        other => Err(unfit(Function::Abs, std::slice::from_ref(other), span)),
    }
}

/// Converts to a whole number; doubles lose their fraction, as in CEL.
fn whole(function: Function, value: &Value, span: Span) -> Result<i128, EvalError> {
    match value {
        Value::Timestamp(timestamp) if function == Function::Int => Ok(i128::from(timestamp.as_second())),
        Value::Text(text) => text.parse().map_err(|_| unreadable(text, "a whole number", span)),
        other => match other.number() {
            Some(Number::Whole(whole)) => Ok(whole),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "dropping the fraction is meant, and the cast saturates"
            )]
            Some(Number::Double(double)) => Ok(double as i128),
            None => Err(unfit(function, std::slice::from_ref(other), span)),
        },
    }
}

fn int(value: &Value, span: Span) -> Result<Value, EvalError> {
    let whole = whole(Function::Int, value, span)?;
    let int = i64::try_from(whole).map_err(|_| EvalError::Overflow { span })?;
    Ok(Value::Int(int))
}

fn uint(value: &Value, span: Span) -> Result<Value, EvalError> {
    let whole = whole(Function::Uint, value, span)?;
    let uint = u64::try_from(whole).map_err(|_| EvalError::Overflow { span })?;
    Ok(Value::Uint(uint))
}

fn double(value: &Value, span: Span) -> Result<Value, EvalError> {
    match value {
        Value::Text(text) => match text.parse::<f64>() {
            Ok(double) if double.is_finite() => Ok(Value::Double(double)),
            Ok(_) | Err(_) => Err(unreadable(text, "a number", span)),
        },
        other => match other.number() {
            Some(number) => operators::finite(number.to_double(), span),
            None => Err(unfit(Function::Double, std::slice::from_ref(other), span)),
        },
    }
}

fn string(value: &Value, span: Span, meter: &mut Meter) -> Result<Value, EvalError> {
    let text = match value {
        Value::Text(_) => return Ok(value.clone()),
        Value::Bool(bool) => bool.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Uint(uint) => uint.to_string(),
        Value::Double(double) => double.to_string(),
        Value::Duration(duration) => duration_text(*duration),
        Value::Timestamp(timestamp) => timestamp.to_string(),
        Value::Null | Value::List(_) | Value::Map(_) => {
            return Err(unfit(Function::String, std::slice::from_ref(value), span));
        }
    };
    meter.make_text(text.len(), span)?;
    Ok(Value::text(&text))
}

fn bool(value: &Value, span: Span) -> Result<Value, EvalError> {
    match value {
        Value::Bool(bool) => Ok(Value::Bool(*bool)),
        Value::Text(text) => match text.as_ref() {
            "true" | "True" | "TRUE" | "t" | "1" => Ok(Value::Bool(true)),
            "false" | "False" | "FALSE" | "f" | "0" => Ok(Value::Bool(false)),
            other => Err(unreadable(other, "true or false", span)),
        },
        other => Err(unfit(Function::Bool, std::slice::from_ref(other), span)),
    }
}

fn duration(value: &Value, span: Span) -> Result<Value, EvalError> {
    match value {
        Value::Duration(duration) => Ok(Value::Duration(*duration)),
        Value::Text(text) => match parse_signed_duration(text) {
            Some(duration) => Ok(Value::Duration(duration)),
            None => Err(unreadable(text, "a duration such as \"2h30m\"", span)),
        },
        other => Err(unfit(Function::Duration, std::slice::from_ref(other), span)),
    }
}

fn timestamp(value: &Value, span: Span) -> Result<Value, EvalError> {
    match value {
        Value::Timestamp(timestamp) => Ok(Value::Timestamp(*timestamp)),
        Value::Text(text) => match text.parse() {
            Ok(timestamp) => Ok(Value::Timestamp(timestamp)),
            Err(_) => Err(unreadable(text, "a timestamp of RFC 3339", span)),
        },
        Value::Int(seconds) => match jiff::Timestamp::from_second(*seconds) {
            Ok(timestamp) => Ok(Value::Timestamp(timestamp)),
            Err(_) => Err(EvalError::Overflow { span }),
        },
        other => Err(unfit(Function::Timestamp, std::slice::from_ref(other), span)),
    }
}
