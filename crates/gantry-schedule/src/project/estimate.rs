//! How long a task will take, or how much something will cost: one number, or three with a shape.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::is_default;
use super::length::Length;

/// How chance is spread between the lowest and the highest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// The beta distribution of PERT: its mean is (low + 4 × likely + high) / 6.
    #[default]
    Pert,
    /// Straight lines up to the likely value and down again.
    Triangular,
    /// A long tail: `low` is the tenth and `high` the ninetieth percentile, with no end above.
    Lognormal,
}

/// One value, or three with a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreePoint<T> {
    /// When everything goes well.
    pub low: T,
    /// Most likely.
    pub likely: T,
    /// When things go wrong.
    pub high: T,
    /// How chance is spread between them.
    pub shape: Shape,
}

/// How long a task takes, in work (or elapsed time, as its lengths say).
pub type Estimate = ThreePoint<Length>;

impl<T: Clone + PartialEq> ThreePoint<T> {
    /// A value without doubt.
    pub fn fixed(value: T) -> Self {
        Self { low: value.clone(), likely: value.clone(), high: value, shape: Shape::Pert }
    }

    /// Three values in the shape of PERT.
    pub fn pert(low: T, likely: T, high: T) -> Self {
        Self { low, likely, high, shape: Shape::Pert }
    }

    /// The same three values in another shape.
    #[must_use]
    pub fn shaped(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// Whether there is no doubt.
    pub fn is_fixed(&self) -> bool {
        self.low == self.likely && self.likely == self.high
    }

    /// The same estimate of something else.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> ThreePoint<U> {
        ThreePoint { low: f(&self.low), likely: f(&self.likely), high: f(&self.high), shape: self.shape }
    }
}

impl<T: FromStr<Err = String> + Clone + PartialEq> FromStr for ThreePoint<T> {
    type Err = String;

    /// Reads `5d`, or three values such as `3d / 5d / 9d`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        match parts[..] {
            [one] => Ok(Self::fixed(one.trim().parse()?)),
            [low, likely, high] => Ok(Self::pert(low.trim().parse()?, likely.trim().parse()?, high.trim().parse()?)),
            _ => Err(format!("`{text}` is neither one value nor three; write `5d` or `3d / 5d / 9d`")),
        }
    }
}

impl<T: fmt::Display + Clone + PartialEq> fmt::Display for ThreePoint<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_fixed() { self.likely.fmt(f) } else { write!(f, "{} / {} / {}", self.low, self.likely, self.high) }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole<T> {
    low: T,
    likely: T,
    high: T,
    #[serde(default, skip_serializing_if = "is_default")]
    shape: Shape,
}

impl<T: Serialize + Clone + PartialEq> Serialize for ThreePoint<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_fixed() {
            return self.likely.serialize(serializer);
        }
        Whole { low: &self.low, likely: &self.likely, high: &self.high, shape: self.shape }.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned + FromStr<Err = String> + Clone + PartialEq> Deserialize<'de> for ThreePoint<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let wrong = |e: serde_json::Error| serde::de::Error::custom(e.to_string());
        match value {
            serde_json::Value::String(text) => text.parse().map_err(serde::de::Error::custom),
            serde_json::Value::Object(_) => {
                let Whole { low, likely, high, shape } = serde_json::from_value(value).map_err(wrong)?;
                let read = Self { low, likely, high, shape };
                // Without doubt there is nothing to shape.
                Ok(if read.is_fixed() { Self::fixed(read.likely) } else { read })
            }
            other => serde_json::from_value(other).map(Self::fixed).map_err(wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_one_value_or_three() {
        let five: Estimate = serde_json::from_str("\"5d\"").unwrap();
        assert_eq!(five, Estimate::fixed(Length::days(5)));
        let three: Estimate =
            serde_json::from_str(r#"{"low":"3d","likely":"5d","high":"9d","shape":"lognormal"}"#).unwrap();
        assert_eq!(three, Estimate::pert(Length::days(3), Length::days(5), Length::days(9)).shaped(Shape::Lognormal));
        assert_eq!("3d/5d/9d".parse::<Estimate>().unwrap().shape, Shape::Pert);
        assert_eq!(serde_json::from_str::<Estimate>("7").unwrap(), Estimate::fixed(Length::units(7)));
        assert!("3d/5d".parse::<Estimate>().unwrap_err().contains("neither one value nor three"));
        let again: Estimate = serde_json::from_str(&serde_json::to_string(&three).unwrap()).unwrap();
        assert_eq!(again, three);
    }
}
