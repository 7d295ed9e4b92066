//! Small values that people write as numbers: money and confidence, kept exact.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The form in which names of people and roles are compared: nobody is two people by a letter or a space.
pub(crate) fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Tells whether two names of people, or of roles, are the same.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

/// An amount of money in millionths of the unit, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub u64);

/// A thousand million units: more is a typing mistake.
const MICROS_MAX: u64 = 1_000_000_000_000_000;

impl Money {
    /// The largest amount that is read or written.
    pub const MAX: Self = Self(MICROS_MAX);

    /// Makes an amount from whole cents.
    pub const fn from_cents(cents: u64) -> Self {
        Self(cents * 10_000)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if micros % 10_000 == 0 {
            write!(f, "{units}.{:02}", micros / 10_000)
        } else {
            write!(f, "{units}.{micros:06}")
        }
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1_000_000) {
            serializer.serialize_u64(self.0 / 1_000_000)
        } else {
            #[expect(clippy::cast_precision_loss, reason = "at most 10^15 millionths: exact in 53 bits")]
            serializer.serialize_f64(self.0 as f64 / 1e6)
        }
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let units = f64::deserialize(deserializer)?;
        let micros = (units * 1e6).round();
        #[expect(clippy::cast_precision_loss, reason = "a bound, not an amount")]
        if !(0.0..=MICROS_MAX as f64).contains(&micros) {
            return Err(serde::de::Error::custom(format!(
                "{units} is not an amount of money between 0 and a thousand million"
            )));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked above")]
        Ok(Self(micros as u64))
    }
}

impl JsonSchema for Money {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Money".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": 1_000_000_000})
    }
}

/// How sure one is of a statement, in thousandths: 0 is refuted, 1000 is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u16);

impl Default for Confidence {
    fn default() -> Self {
        Self(500)
    }
}

impl Confidence {
    /// Makes a confidence from thousandths, at most 1000.
    pub fn from_permille(permille: u16) -> Self {
        Self(permille.min(1_000))
    }
    /// Returns the thousandths.
    pub fn permille(self) -> u16 {
        self.0
    }
    /// Bayes' rule in whole numbers: the odds are multiplied by `times` and divided by `over`.
    ///
    /// The result stays between 0.001 and 0.999, so that later evidence can still move it.
    #[must_use]
    pub fn weighed(self, times: u32, over: u32) -> Self {
        let for_it = u64::from(self.0) * u64::from(times);
        let against = u64::from(1_000 - self.0) * u64::from(over);
        let permille = (for_it * 1_000 + u64::midpoint(for_it, against)).checked_div(for_it + against).unwrap_or(500);
        Self(u16::try_from(permille.clamp(1, 999)).unwrap_or(500))
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

impl Serialize for Confidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1_000.0)
    }
}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if !(0.0..=1.0).contains(&value) {
            return Err(serde::de::Error::custom(format!("confidence {value} is not between 0 and 1")));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked above")]
        Ok(Self((value * 1_000.0).round() as u16))
    }
}

impl JsonSchema for Confidence {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Confidence".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": 1})
    }
}

/// Reads a struct either from its one-string short form or from its full map, and writes the
/// short form when nothing else is set.
///
/// `$short` names the field that the string stands for. The full form is the struct's own derived
/// serde, reached through a twin with the same fields.
macro_rules! short_form {
    (
        short = $short:ident, full = $twin:ident;
        $(#[$attr:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident : $ty:ty),* $(,)? }
    ) => {
        $(#[$attr])*
        pub struct $name { $($(#[$doc])* pub $field: $ty),* }

        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        struct $twin {
            $($(#[$doc])* #[serde(default, skip_serializing_if = "crate::plan::is_default")] $field: $ty),*
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let plain = Self { $short: self.$short.clone(), ..Self::default() };
                if *self == plain {
                    return serde::Serialize::serialize(&self.$short, serializer);
                }
                let Self { $($field),* } = self.clone();
                $twin { $($field),* }.serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("a text (the ", stringify!($short), ") or a map"))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        let $short = serde::Deserialize::deserialize(
                            serde::de::IntoDeserializer::<E>::into_deserializer(text))?;
                        Ok($name { $short, ..$name::default() })
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        let $twin { $($field),* } = serde::Deserialize::deserialize(
                            serde::de::value::MapAccessDeserializer::new(map))?;
                        Ok($name { $($field),* })
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let full = <$twin as schemars::JsonSchema>::json_schema(generator);
                schemars::json_schema!({"anyOf": [{"type": "string"}, full]})
            }
        }
    };
}
pub(crate) use short_form;
