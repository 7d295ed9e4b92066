//! The parts of lists, maps and enums, one after the other.

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

use super::Error;
use crate::node::{Key, Node, Span, Value};
use crate::number::{self, Number};
use crate::suggest::shorten;

pub(super) fn read_seq<'de, V: Visitor<'de>>(items: &'de [Node], visitor: V) -> Result<V::Value, Error> {
    visitor.visit_seq(Items { rest: items.iter() })
}

struct Items<'de> {
    rest: std::slice::Iter<'de, Node>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(item) = self.rest.next() else {
            return Ok(None);
        };
        seed.deserialize(item).map(Some).map_err(|error| error.at(item.span))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

pub(super) fn read_map<'de, V: Visitor<'de>>(entries: &'de [(Key, Node)], visitor: V) -> Result<V::Value, Error> {
    visitor.visit_map(Entries { rest: entries.iter(), value: None })
}

pub(super) struct Entries<'de, I> {
    pub(super) rest: I,
    pub(super) value: Option<&'de Node>,
}

impl<'de, I: Iterator<Item = &'de (Key, Node)>> MapAccess<'de> for Entries<'de, I> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(Name(key)).map(Some).map_err(|error| error.at(key.span))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some(value) = self.value.take() else {
            return Err(Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(value).map_err(|error| error.at(value.span))
    }

    fn size_hint(&self) -> Option<usize> {
        self.rest.size_hint().1
    }
}

/// The name of a map entry, which may be asked for as a text or as a number.
struct Name<'de>(&'de Key);

macro_rules! number_names {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match number::value(&self.0.text) {
                Some(Number::Unsigned(value)) => visitor.visit_u64(value),
                Some(Number::Signed(value)) => visitor.visit_i64(value),
                Some(Number::Float(_)) | None => visitor.visit_borrowed_str(&self.0.text),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(&self.0.text)
    }

    number_names! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(Variant { name: &self.0.text, span: self.0.span, content: None })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// One variant of an enum: a bare word, or the only key of a map with its content.
pub(super) struct Variant<'de> {
    pub(super) name: &'de str,
    pub(super) span: Span,
    pub(super) content: Option<&'de Node>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        let name: de::value::StrDeserializer<'_, Error> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|error| error.at(self.span))?;
        Ok((variant, self))
    }
}

impl<'de> Variant<'de> {
    fn content(&self) -> Result<&'de Node, Error> {
        self.content.ok_or_else(|| {
            let mut error = Error::new("plan::wrong-type", format!("`{}` needs a value", shorten(self.name)));
            error.hint = Some(format!("write `{}: …`", shorten(self.name)));
            error.at(self.span)
        })
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.content {
            None | Some(Node { value: Value::Null, .. }) => Ok(()),
            Some(content) => Err(content.wrong_type(&"nothing after this word")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        let content = self.content()?;
        seed.deserialize(content).map_err(|error| error.at(content.span))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        self.content()?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.content()?.deserialize_map(visitor)
    }
}
