//! The values of the language, and their crossing from and to JSON.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::VALUE_DEPTH_MAX;
use super::units::duration_text;

/// The names of the kinds of value, as `type()` gives them.
const KINDS: [&str; 10] =
    ["null_type", "bool", "int", "uint", "double", "string", "list", "map", "duration", "timestamp"];

/// A value. Cloning is cheap.
///
/// **Invariant:** a double is finite, and values nest at most `VALUE_DEPTH_MAX` deeper than the
/// expression that made them.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Arc<str>),
    List(Arc<Vec<Value>>),
    Map(Arc<BTreeMap<Arc<str>, Value>>),
    Duration(SignedDuration),
    Timestamp(Timestamp),
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(Arc::from(text))
    }

    pub(super) fn list(items: Vec<Value>) -> Self {
        Self::List(Arc::new(items))
    }

    pub(super) fn kind(&self) -> &'static str {
        let place = match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Uint(_) => 3,
            Self::Double(_) => 4,
            Self::Text(_) => 5,
            Self::List(_) => 6,
            Self::Map(_) => 7,
            Self::Duration(_) => 8,
            Self::Timestamp(_) => 9,
        };
        KINDS[place]
    }

    /// Returns the kind with its article, for messages: `a string`, `null`.
    pub(super) fn with_kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an int",
            Self::Uint(_) => "a uint",
            Self::Double(_) => "a double",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Duration(_) => "a duration",
            Self::Timestamp(_) => "a timestamp",
        }
    }

    pub(super) fn is_kind(name: &str) -> bool {
        KINDS.contains(&name)
    }

    /// Takes a JSON value in; nothing when it nests too deeply or holds a number out of range.
    pub(super) fn from_json(json: serde_json::Value) -> Option<Self> {
        Self::from_json_within(json, VALUE_DEPTH_MAX)
    }

    /// Loops rather than adapters: an adapter would stack frames of its own at each level.
    fn from_json_within(json: serde_json::Value, depth_left: usize) -> Option<Self> {
        let inner = depth_left.checked_sub(1)?;
        match json {
            serde_json::Value::Null => Some(Self::Null),
            serde_json::Value::Bool(bool) => Some(Self::Bool(bool)),
            serde_json::Value::Number(number) => Self::from_number(&number),
            serde_json::Value::String(text) => Some(Self::Text(Arc::from(text))),
            serde_json::Value::Array(json_items) => {
                let mut items = Vec::with_capacity(json_items.len());
                for item in json_items {
                    items.push(Self::from_json_within(item, inner)?);
                }
                Some(Self::list(items))
            }
            serde_json::Value::Object(json_fields) => {
                let mut fields = BTreeMap::new();
                for (name, field) in json_fields {
                    fields.insert(Arc::from(name), Self::from_json_within(field, inner)?);
                }
                Some(Self::Map(Arc::new(fields)))
            }
        }
    }

    fn from_number(number: &serde_json::Number) -> Option<Self> {
        if let Some(int) = number.as_i64() {
            return Some(Self::Int(int));
        }
        if let Some(uint) = number.as_u64() {
            return Some(Self::Uint(uint));
        }
        let double = number.as_f64()?;
        double.is_finite().then_some(Self::Double(double))
    }

    /// Gives the value out as JSON. Who calls this has measured it first.
    pub(super) fn into_json(self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(bool) => bool.into(),
            Self::Int(int) => int.into(),
            Self::Uint(uint) => uint.into(),
            Self::Double(double) => double.into(),
            Self::Text(text) => text.as_ref().into(),
            Self::List(items) => {
                let mut json_items = Vec::with_capacity(items.len());
                for item in items.iter() {
                    json_items.push(item.clone().into_json());
                }
                serde_json::Value::Array(json_items)
            }
            Self::Map(fields) => {
                let mut json_fields = serde_json::Map::new();
                for (name, field) in fields.iter() {
                    json_fields.insert(name.to_string(), field.clone().into_json());
                }
                serde_json::Value::Object(json_fields)
            }
            Self::Duration(duration) => duration_text(duration).into(),
            Self::Timestamp(timestamp) => timestamp.to_string().into(),
        }
    }

    /// Shows the value as JSON in at most so many characters, the last one an ellipsis if cut.
    pub(super) fn shown(&self, chars_max: usize) -> String {
        let mut shown = Shown { text: String::new(), chars_left: chars_max };
        let whole = self.show(&mut shown).is_ok();
        if !whole {
            shown.text.pop();
            shown.text.push('…');
        }
        shown.text
    }

    fn show(&self, to: &mut Shown) -> fmt::Result {
        match self {
            Self::Null => to.write_str("null"),
            Self::Bool(bool) => write!(to, "{bool}"),
            Self::Int(int) => write!(to, "{int}"),
            Self::Uint(uint) => write!(to, "{uint}"),
            Self::Double(double) => write!(to, "{double:?}"),
            Self::Text(text) => show_text(text, to),
            Self::List(items) => {
                to.write_char('[')?;
                for (place, item) in items.iter().enumerate() {
                    to.write_str(if place == 0 { "" } else { ", " })?;
                    item.show(to)?;
                }
                to.write_char(']')
            }
            Self::Map(fields) => {
                to.write_char('{')?;
                for (place, (name, field)) in fields.iter().enumerate() {
                    to.write_str(if place == 0 { "" } else { ", " })?;
                    show_text(name, to)?;
                    to.write_str(": ")?;
                    field.show(to)?;
                }
                to.write_char('}')
            }
            Self::Duration(duration) => to.write_str(&duration_text(*duration)),
            Self::Timestamp(timestamp) => write!(to, "{timestamp}"),
        }
    }

    /// Orders two values of one kind, or two numbers; nothing when they have no order.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => Some(left.cmp(right)),
            (Self::Text(left), Self::Text(right)) => Some(left.cmp(right)),
            (Self::Duration(left), Self::Duration(right)) => Some(left.cmp(right)),
            (Self::Timestamp(left), Self::Timestamp(right)) => Some(left.cmp(right)),
            (left, right) => Some(left.number()?.order(right.number()?)),
        }
    }

    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Self::Int(int) => Some(Number::Whole(i128::from(*int))),
            Self::Uint(uint) => Some(Number::Whole(i128::from(*uint))),
            Self::Double(double) => Some(Number::Double(*double)),
            Self::Null
            | Self::Bool(_)
            | Self::Text(_)
            | Self::List(_)
            | Self::Map(_)
            | Self::Duration(_)
            | Self::Timestamp(_) => None,
        }
    }
}

/// A number of either family, wide enough for both integer kinds.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Whole(i128),
    Double(f64),
}

impl Number {
    /// Orders by mathematical value: no integer is rounded to compare it with a double.
    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => left.cmp(&right),
            // Doubles are finite, so they always have an order; -0.0 equals 0.0.
            (Self::Double(left), Self::Double(right)) => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
            (Self::Whole(left), Self::Double(right)) => order_mixed(left, right),
            (Self::Double(left), Self::Whole(right)) => order_mixed(right, left).reverse(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "arithmetic of an integer and a double is that of doubles")]
    pub(super) fn to_double(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Double(double) => double,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and integers of 64 bits are far from the ends of i128"
)]
fn order_mixed(whole: i128, double: f64) -> Ordering {
    let by_whole_part = whole.cmp(&(double.trunc() as i128));
    by_whole_part.then_with(|| 0.0_f64.partial_cmp(&double.fract()).unwrap_or(Ordering::Equal))
}

/// A text that takes so many characters and refuses the rest.
struct Shown {
    text: String,
    chars_left: usize,
}

impl fmt::Write for Shown {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for c in part.chars() {
            self.chars_left = self.chars_left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}

fn show_text(text: &str, to: &mut Shown) -> fmt::Result {
    to.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => to.write_str("\\\"")?,
            '\\' => to.write_str("\\\\")?,
            '\n' => to.write_str("\\n")?,
            '\t' => to.write_str("\\t")?,
            '\r' => to.write_str("\\r")?,
            c if c.is_control() => write!(to, "\\u{:04x}", u32::from(c))?,
            c => to.write_char(c)?,
        }
    }
    to.write_char('"')
}
