//! Arithmetic and comparison, within the step budget.

use std::cmp::Ordering;

use jiff::SignedDuration;

use super::error::{EvalError, Span};
use super::syntax::{Arithmetic, Comparison};
use super::value::Value;
use super::{BYTES_PER_STEP, LIST_ITEMS_MAX, STEPS_MAX, TEXT_BYTES_MAX};

/// The steps an evaluation may still take.
pub(super) struct Meter {
    steps_left: u32,
}

impl Meter {
    pub(super) fn full() -> Self {
        Self { steps_left: STEPS_MAX }
    }

    pub(super) fn charge(&mut self, steps: usize, span: Span) -> Result<(), EvalError> {
        let left = u32::try_from(steps).ok().and_then(|steps| self.steps_left.checked_sub(steps));
        // An empty meter stays empty: no cheaper step may follow one that was too dear.
        self.steps_left = left.unwrap_or(0);
        left.map(|_| ()).ok_or(EvalError::OutOfSteps { limit: STEPS_MAX, span })
    }

    /// Charges for work on so many bytes of text.
    pub(super) fn charge_bytes(&mut self, bytes: usize, span: Span) -> Result<(), EvalError> {
        self.charge(bytes / BYTES_PER_STEP, span)
    }

    /// Charges for a text that is about to be made, and refuses one that is too long.
    pub(super) fn make_text(&mut self, bytes: usize, span: Span) -> Result<(), EvalError> {
        if bytes > TEXT_BYTES_MAX {
            return Err(EvalError::TooLarge {
                message: format!("text would be longer than {TEXT_BYTES_MAX} bytes"),
                span,
            });
        }
        self.charge_bytes(bytes, span)
    }

    /// Charges for a list that is about to be made, and refuses one that is too long.
    pub(super) fn make_list(&mut self, items: usize, span: Span) -> Result<(), EvalError> {
        list_fits(items, span)?;
        self.charge(items, span)
    }

    /// Charges for the whole of a value, however deep.
    pub(super) fn charge_value(&mut self, value: &Value, span: Span) -> Result<(), EvalError> {
        self.charge(1, span)?;
        match value {
            Value::Text(text) => self.charge_bytes(text.len(), span),
            Value::List(items) => {
                for item in items.iter() {
                    self.charge_value(item, span)?;
                }
                Ok(())
            }
            Value::Map(fields) => {
                for (name, field) in fields.iter() {
                    self.charge_bytes(name.len(), span)?;
                    self.charge_value(field, span)?;
                }
                Ok(())
            }
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::Duration(_)
            | Value::Timestamp(_) => Ok(()),
        }
    }
}

/// Refuses a list that is too long.
pub(super) fn list_fits(items: usize, span: Span) -> Result<(), EvalError> {
    if items <= LIST_ITEMS_MAX {
        return Ok(());
    }
    Err(EvalError::TooLarge { message: format!("list would be longer than {LIST_ITEMS_MAX} items"), span })
}

/// Applies an arithmetic operator.
pub(super) fn arithmetic(
    operator: Arithmetic,
    left: &Value,
    right: &Value,
    span: Span,
    meter: &mut Meter,
) -> Result<Value, EvalError> {
    if left.number().is_some() && right.number().is_some() {
        return numbers(operator, left, right, span);
    }
    match (operator, left, right) {
        (Arithmetic::Add, Value::Text(left), Value::Text(right)) => {
            meter.make_text(left.len() + right.len(), span)?;
            Ok(Value::text(&[left.as_ref(), right.as_ref()].concat()))
        }
        (Arithmetic::Add, Value::List(left), Value::List(right)) => {
            meter.make_list(left.len() + right.len(), span)?;
            Ok(Value::list([left.as_slice(), right.as_slice()].concat()))
        }
        _ => times(operator, left, right, span),
    }
}

fn numbers(operator: Arithmetic, left: &Value, right: &Value, span: Span) -> Result<Value, EvalError> {
    let result = match (left, right) {
        (Value::Int(left), Value::Int(right)) => {
            whole(operator, i128::from(*left), i128::from(*right), span)?.map(to_int)
        }
        (Value::Uint(left), Value::Uint(right)) => {
            whole(operator, i128::from(*left), i128::from(*right), span)?.map(to_uint)
        }
        (Value::Int(left), Value::Uint(right)) => {
            whole(operator, i128::from(*left), i128::from(*right), span)?.map(to_int)
        }
        (Value::Uint(left), Value::Int(right)) => {
            whole(operator, i128::from(*left), i128::from(*right), span)?.map(to_int)
        }
        _ => return doubles(operator, left, right, span),
    };
    result.flatten().ok_or(EvalError::Overflow { span })
}

fn to_int(whole: i128) -> Option<Value> {
    i64::try_from(whole).ok().map(Value::Int)
}

fn to_uint(whole: i128) -> Option<Value> {
    u64::try_from(whole).ok().map(Value::Uint)
}

fn whole(operator: Arithmetic, left: i128, right: i128, span: Span) -> Result<Option<i128>, EvalError> {
    match operator {
        Arithmetic::Add => Ok(left.checked_add(right)),
        Arithmetic::Subtract => Ok(left.checked_sub(right)),
        Arithmetic::Multiply => Ok(left.checked_mul(right)),
        Arithmetic::Divide | Arithmetic::Remainder if right == 0 => Err(EvalError::DivisionByZero { span }),
        Arithmetic::Divide => Ok(left.checked_div(right)),
        Arithmetic::Remainder => Ok(left.checked_rem(right)),
    }
}

fn doubles(operator: Arithmetic, left: &Value, right: &Value, span: Span) -> Result<Value, EvalError> {
    let (Some(a), Some(b)) = (left.number(), right.number()) else {
        return Err(mismatch(operator, left, right, span));
    };
    let (a, b) = (a.to_double(), b.to_double());
    let result = match operator {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide if b == 0.0 => return Err(EvalError::DivisionByZero { span }),
        Arithmetic::Divide => a / b,
        Arithmetic::Remainder => {
            return Err(EvalError::wrong_type(span, "`%` needs whole numbers"));
        }
    };
    finite(result, span)
}

/// Keeps infinities and not-a-number out of the language.
pub(super) fn finite(double: f64, span: Span) -> Result<Value, EvalError> {
    if double.is_finite() { Ok(Value::Double(double)) } else { Err(EvalError::Overflow { span }) }
}

/// Arithmetic of durations and timestamps; everything else is a mismatch.
fn times(operator: Arithmetic, left: &Value, right: &Value, span: Span) -> Result<Value, EvalError> {
    use Value::{Duration, Timestamp};
    let result = match (operator, left, right) {
        (Arithmetic::Add, Duration(left), Duration(right)) => left.checked_add(*right).map(Duration),
        (Arithmetic::Subtract, Duration(left), Duration(right)) => left.checked_sub(*right).map(Duration),
        (Arithmetic::Add, Timestamp(timestamp), Duration(duration))
        | (Arithmetic::Add, Duration(duration), Timestamp(timestamp)) => {
            timestamp.checked_add(*duration).ok().map(Timestamp)
        }
        (Arithmetic::Subtract, Timestamp(timestamp), Duration(duration)) => {
            timestamp.checked_sub(*duration).ok().map(Timestamp)
        }
        (Arithmetic::Subtract, Timestamp(left), Timestamp(right)) => {
            let difference: SignedDuration = left.duration_since(*right);
            Some(Duration(difference))
        }
        _ => return Err(mismatch(operator, left, right, span)),
    };
    result.ok_or(EvalError::Overflow { span })
}

fn mismatch(operator: Arithmetic, left: &Value, right: &Value, span: Span) -> EvalError {
    let verb = match operator {
        Arithmetic::Add => "add",
        Arithmetic::Subtract => "subtract",
        Arithmetic::Multiply => "multiply",
        Arithmetic::Divide => "divide",
        Arithmetic::Remainder => "take the remainder of",
    };
    let mut message = format!("cannot {verb} {} and {}", left.with_kind(), right.with_kind());
    let texts = [left, right].map(|side| matches!(side, Value::Text(_)));
    let numbers = [left, right].map(|side| side.number().is_some());
    if operator == Arithmetic::Add && texts.contains(&true) && numbers.contains(&true) {
        message.push_str(": use `string()` or `int()`");
    } else {
        message.push_str(time_advice(left, right));
    }
    EvalError::wrong_type(span, message)
}

/// A time read from JSON is text until it is converted: people forget that.
fn time_advice(left: &Value, right: &Value) -> &'static str {
    match (left, right) {
        (Value::Text(_), Value::Duration(_)) | (Value::Duration(_), Value::Text(_)) => {
            ": wrap the text in `duration()`"
        }
        (Value::Text(_), Value::Timestamp(_)) | (Value::Timestamp(_), Value::Text(_)) => {
            ": wrap the text in `timestamp()`"
        }
        _ => "",
    }
}

/// Applies a comparison operator.
pub(super) fn compare(
    comparison: Comparison,
    left: &Value,
    right: &Value,
    span: Span,
    meter: &mut Meter,
) -> Result<bool, EvalError> {
    match comparison {
        Comparison::Equal => equal(left, right, span, meter),
        Comparison::NotEqual => equal(left, right, span, meter).map(|equal| !equal),
        Comparison::Less => order(left, right, span, meter).map(Ordering::is_lt),
        Comparison::LessOrEqual => order(left, right, span, meter).map(Ordering::is_le),
        Comparison::Greater => order(left, right, span, meter).map(Ordering::is_gt),
        Comparison::GreaterOrEqual => order(left, right, span, meter).map(Ordering::is_ge),
        Comparison::In => contains(left, right, span, meter),
    }
}

/// Compares two values of any kinds; numbers by value, different kinds are never equal.
fn equal(left: &Value, right: &Value, span: Span, meter: &mut Meter) -> Result<bool, EvalError> {
    meter.charge(1, span)?;
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Text(left), Value::Text(right)) => {
            meter.charge_bytes(left.len().min(right.len()), span)?;
            Ok(left == right)
        }
        (Value::List(left), Value::List(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right.iter()) {
                if !equal(left, right, span, meter)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Map(left), Value::Map(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            // Both are sorted by name, so equal maps agree entry by entry.
            for ((left_name, left), (right_name, right)) in left.iter().zip(right.iter()) {
                meter.charge_bytes(left_name.len().min(right_name.len()), span)?;
                if left_name != right_name || !equal(left, right, span, meter)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (left, right) => Ok(left.order(right) == Some(Ordering::Equal)),
    }
}

/// Orders two values, or says why they have no order.
pub(super) fn order(left: &Value, right: &Value, span: Span, meter: &mut Meter) -> Result<Ordering, EvalError> {
    if let (Value::Text(left), Value::Text(right)) = (left, right) {
        meter.charge_bytes(left.len().min(right.len()), span)?;
    }
    left.order(right).ok_or_else(|| {
        let advice = time_advice(left, right);
        let (left, right) = (left.with_kind(), right.with_kind());
        EvalError::wrong_type(span, format!("cannot order {left} and {right}{advice}"))
    })
}

/// Whether a list has an element, or a map a key.
fn contains(element: &Value, container: &Value, span: Span, meter: &mut Meter) -> Result<bool, EvalError> {
    match (element, container) {
        (_, Value::List(items)) => {
            for item in items.iter() {
                if equal(element, item, span, meter)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Value::Text(name), Value::Map(fields)) => Ok(fields.contains_key(name)),
        (_, Value::Map(_)) => Ok(false),
        (_, Value::Text(_)) => {
            Err(EvalError::wrong_type(span, "`in` looks into a list or a map: use `text.contains(part)`"))
        }
        (_, other) => {
            let message = format!("`in` looks into a list or a map, not {}", other.with_kind());
            Err(EvalError::wrong_type(span, message))
        }
    }
}
