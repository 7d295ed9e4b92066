//! Nodes into any serde type, with errors that know their place.
//!
//! `T::deserialize(&node)` works for every type that serde can read from a self-describing format.
//! An error carries the span of the node that caused it: the innermost node that was being read
//! when the type said no.
//!
//! Where a type asks for a text, a number is taken as it was written, so `id: 7` and
//! `version: 1.10` do what they say. Nothing else is converted: `true` is no text and `"3"` is no
//! number.

mod access; // in reading order
mod error;
mod fields;

use serde::de::{Deserializer, Error as _, Expected, IntoDeserializer, Unexpected, Visitor};

pub use error::Error;
pub(crate) use error::list;
pub(crate) use fields::{field_names, from_fields, from_variant};

use crate::node::{Node, Value};
use crate::number::{self, Number};
use crate::suggest::shorten;
use access::{Variant, read_map, read_seq};

impl<'de> IntoDeserializer<'de, Error> for &'de Node {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl Node {
    /// Names the node for serde's error messages.
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.value {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(raw) => match number::value(raw) {
                Some(Number::Unsigned(value)) => Unexpected::Unsigned(value),
                Some(Number::Signed(value)) => Unexpected::Signed(value),
                Some(Number::Float(value)) => Unexpected::Float(value),
                None => Unexpected::Other("a very large number"),
            },
            Value::Str { text, .. } => Unexpected::Str(text),
            Value::Seq(_) => Unexpected::Seq,
            Value::Map(_) => Unexpected::Map,
        }
    }

    pub(super) fn wrong_type(&self, expected: &dyn Expected) -> Error {
        let mut error = Error::invalid_type(self.unexpected(), expected).at(self.span);
        let wants_text = expected.to_string().contains("text") || expected.to_string().contains("string");
        error.hint = match &self.value {
            Value::Bool(_) if wants_text => Some("put it in quotes".to_owned()),
            // A sentence with a colon in it turns into a map without anyone noticing.
            Value::Map(entries) if wants_text && entries.len() == 1 => {
                Some("a text with `: ` in it needs quotes".to_owned())
            }
            _ => None,
        };
        error
    }

    fn number<'de, V: Visitor<'de>>(&self, raw: &str, visitor: V) -> Result<V::Value, Error> {
        match number::value(raw) {
            Some(Number::Unsigned(value)) => visitor.visit_u64(value),
            Some(Number::Signed(value)) => visitor.visit_i64(value),
            Some(Number::Float(value)) => visitor.visit_f64(value),
            None => {
                let mut error = Error::new(
                    "plan::number-too-large",
                    format!("the number {} does not fit into 64 bits", shorten(raw)),
                );
                error.hint = Some("put it in quotes to keep it as a text".to_owned());
                Err(error)
            }
        }
        .map_err(|error| error.at(self.span))
    }
}

/// Forwards what asks for a number to the one place that reads numbers.
macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match &self.value {
                Value::Number(raw) => self.number(raw, visitor),
                Value::Null | Value::Bool(_) | Value::Str { .. } | Value::Seq(_) | Value::Map(_) => {
                    Err(self.wrong_type(&visitor))
                }
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(raw) => return self.number(raw, visitor),
            Value::Str { text, .. } => visitor.visit_borrowed_str(text),
            Value::Seq(items) => return read_seq(items, visitor).map_err(|error| error.at(self.span)),
            Value::Map(entries) => {
                return read_map(entries, visitor).map_err(|error| error.at(self.span));
            }
        }
        .map_err(|error: Error| error.at(self.span))
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Bool(value) => visitor.visit_bool(*value).map_err(|error: Error| error.at(self.span)),
            Value::Str { text, plain: true } if is_yaml_1_1_bool(text) => {
                let mut error = self.wrong_type(&visitor);
                error.hint = Some("write `true` or `false`".to_owned());
                Err(error)
            }
            Value::Null | Value::Number(_) | Value::Str { .. } | Value::Seq(_) | Value::Map(_) => {
                Err(self.wrong_type(&visitor))
            }
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Str { text, .. } => visitor.visit_borrowed_str(text),
            Value::Number(raw) => visitor.visit_borrowed_str(raw),
            Value::Null | Value::Bool(_) | Value::Seq(_) | Value::Map(_) => {
                return Err(self.wrong_type(&visitor));
            }
        }
        .map_err(|error: Error| error.at(self.span))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Null => visitor.visit_none(),
            Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Seq(_) | Value::Map(_) => {
                visitor.visit_some(self)
            }
        }
        .map_err(|error: Error| error.at(self.span))
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Null => visitor.visit_unit().map_err(|error: Error| error.at(self.span)),
            Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Seq(_) | Value::Map(_) => {
                Err(self.wrong_type(&visitor))
            }
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self).map_err(|error: Error| error.at(self.span))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Seq(items) => read_seq(items, visitor).map_err(|error| error.at(self.span)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Map(_) => {
                Err(self.wrong_type(&"a list"))
            }
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Map(entries) => read_map(entries, visitor).map_err(|error| error.at(self.span)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Seq(_) => {
                Err(self.wrong_type(&"a map"))
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let expected = || format!("one of {}", list(variants));
        let variant = match &self.value {
            Value::Str { text, .. } => Variant { name: text, span: self.span, content: None },
            Value::Map(entries) => match entries.as_slice() {
                [(key, content)] => Variant { name: &key.text, span: key.span, content: Some(content) },
                _ => return Err(self.wrong_type(&expected().as_str())),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Seq(_) => {
                return Err(self.wrong_type(&expected().as_str()));
            }
        };
        visitor.visit_enum(variant).map_err(|error: Error| error.at(self.span))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

/// What YAML 1.1 took for `true` and `false`.
fn is_yaml_1_1_bool(text: &str) -> bool {
    ["yes", "no", "on", "off", "y", "n"].iter().any(|word| word.eq_ignore_ascii_case(text))
}
