//! Reading from fields that were sorted out beforehand, and asking a type for its fields.

use serde::de::{self, Deserializer, Error as _, Visitor};

use super::Error;
use super::access::{Entries, Variant};
use crate::node::{Key, Node, Span};

/// Reads a struct from some fields that were sorted out beforehand.
pub(crate) fn from_fields<'de, T: de::Deserialize<'de>>(
    fields: impl Iterator<Item = &'de (Key, Node)>,
) -> Result<T, Error> {
    T::deserialize(Fields(fields))
}

struct Fields<I>(I);

impl<'de, I: Iterator<Item = &'de (Key, Node)>> Deserializer<'de> for Fields<I> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Entries { rest: self.0, value: None })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// Reads an enum from the name of a variant and its content.
pub(crate) fn from_variant<'de, T: de::Deserialize<'de>>(
    name: &'de str,
    span: Span,
    content: &'de Node,
) -> Result<T, Error> {
    T::deserialize(de::value::EnumAccessDeserializer::new(Variant { name, span, content: Some(content) }))
}

/// Returns the names of a struct's fields, as its own reading knows them.
pub(crate) fn field_names<T: de::DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // The listener answers with an error on purpose: only the question matters.
    let _ = T::deserialize(FieldListener(&mut names));
    names
}

struct FieldListener<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldListener<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("only the names of the fields were wanted"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
