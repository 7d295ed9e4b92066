//! Money as exact decimals, optionally in a currency of its own.

use std::fmt;
use std::str::FromStr;

use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::length::Text;

/// An amount of money, such as `1200.50` or `1200.50 EUR`; without a currency it is in the project's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Money {
    /// How much.
    pub amount: Decimal,
    /// The currency, when it is not the project's.
    pub currency: Option<String>,
}

impl Money {
    /// An amount in the project's currency.
    pub fn of(amount: impl Into<Decimal>) -> Self {
        Self { amount: amount.into(), currency: None }
    }
}

/// How many places after the point a currency has.
pub fn places(currency: &str) -> u32 {
    match currency {
        "JPY" | "KRW" | "VND" | "CLP" | "ISK" | "XAF" | "XOF" | "PYG" | "UGX" => 0,
        "BHD" | "KWD" | "OMR" | "TND" | "JOD" | "IQD" | "LYD" => 3,
        _ => 2,
    }
}

/// Rounds to the smallest coin, halves away from zero as on an invoice.
pub fn to_coins(amount: Decimal, places: u32) -> Decimal {
    let mut rounded = amount.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero);
    rounded.rescale(places);
    rounded
}

impl FromStr for Money {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an amount of money; write for example `1200.50` or `1200.50 EUR`");
        let mut words = text.split_whitespace();
        let number = words.next().ok_or_else(wrong)?.replace('_', "");
        let amount = Decimal::from_str_exact(&number).map_err(|_| wrong())?;
        let currency = words.next().map(str::to_owned);
        let known_shape = |code: &String| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        if words.next().is_some() || !currency.as_ref().is_none_or(known_shape) {
            return Err(wrong());
        }
        if amount.abs() > Decimal::from(1_000_000_000_000_000_i64) || amount.scale() > 9 {
            return Err(format!("`{text}` is more than a million milliards, or has more than nine places"));
        }
        Ok(Self { amount, currency })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.currency {
            Some(currency) => write!(f, "{} {currency}", self.amount),
            None => write!(f, "{}", self.amount),
        }
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::deserialize(deserializer)?.0.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact_and_says_when_it_is_not_money() {
        let tenth: Money = "0.1".parse().unwrap();
        assert_eq!(tenth.amount + tenth.amount + tenth.amount, "0.3".parse().unwrap());
        assert_eq!("12.50 EUR".parse::<Money>().unwrap().to_string(), "12.50 EUR");
        for text in ["", "12 euros", "1e400", "12 EUR now", "NaN", "0.0000000001"] {
            assert!(text.parse::<Money>().is_err(), "{text}");
        }
        assert_eq!(to_coins("2.345".parse().unwrap(), places("EUR")).to_string(), "2.35");
        assert_eq!(to_coins("2".parse().unwrap(), places("EUR")).to_string(), "2.00");
        assert_eq!(to_coins("2.5".parse().unwrap(), places("JPY")).to_string(), "3");
    }
}
