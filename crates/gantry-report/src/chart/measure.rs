//! What the numbers along an axis are, and how they are written.

use super::{
    moment::{Clock, Moment},
    scale::tame,
    text,
};

/// What the numbers along an axis are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Moments, by [`Moment::value`].
    Time(Clock),
    /// Money of one currency.
    Money {
        /// The currency's sign or code, such as `€` or `CHF`.
        currency: String,
    },
    /// Any other number.
    Amount {
        /// What is counted, such as `people`; may be empty.
        unit: String,
    },
    /// Shares of 100.
    Percent,
}

/// In a longer range of dates than this, the hour says nothing.
const HOURS_MATTER_S: f64 = 3.0 * 86_400.0;

impl Measure {
    /// Returns the measure of money of a currency.
    pub fn money(currency: &str) -> Self {
        Self::Money { currency: currency.to_owned() }
    }

    /// Returns the measure of a number of things.
    pub fn amount(unit: &str) -> Self {
        Self::Amount { unit: unit.to_owned() }
    }

    /// Returns a value for a mark on an axis whose marks are `step` apart.
    pub(super) fn short(&self, value: f64, step: f64) -> String {
        let value = tame(value);
        match self {
            Self::Time(Clock::Dates) => Moment::at(value).date().strftime("%-d %b %Y").to_string(),
            Self::Time(Clock::Periods { .. }) => compact(value, step),
            Self::Money { currency } => priced(currency, &compact(value.abs(), step), value < 0.0),
            Self::Amount { .. } => compact(value, step),
            Self::Percent => format!("{}%", compact(value, step)),
        }
    }

    /// Returns a value for a label beside a mark: short, with three digits that matter. The hour matters in a short range.
    pub(super) fn brief(&self, value: f64, range: f64) -> String {
        let value = tame(value);
        match self {
            Self::Time(Clock::Dates) if range <= HOURS_MATTER_S => {
                Moment::at(value).date().strftime("%a %-d %b %H:%M").to_string()
            }
            _ if value == 0.0 => self.short(value, 1.0),
            _ => self.short(value, 10_f64.powf(value.abs().log10().floor() - 2.0)),
        }
    }

    /// Returns a value in full, for words. The hour matters in a short range.
    pub(super) fn full(&self, value: f64, range: f64) -> String {
        let value = tame(value);
        match self {
            Self::Time(Clock::Dates) if range > HOURS_MATTER_S => {
                Moment::at(value).date().strftime("%-d %B %Y").to_string()
            }
            Self::Time(clock) => clock.full(Moment::at(value)),
            Self::Money { currency } => priced(currency, &grouped(value.abs(), 2), value < 0.0),
            Self::Amount { unit } => {
                let sign = if value < 0.0 { "−" } else { "" };
                format!("{sign}{} {}", trimmed(&grouped(value.abs(), 2)), text::unit(unit)).trim_end().to_owned()
            }
            Self::Percent => format!("{} %", compact(value, 0.1)),
        }
    }

    /// Says that so many of 100 outcomes are at most a value.
    pub(super) fn at_most(&self, percent: f64, value: &str) -> String {
        match self {
            Self::Time(_) => format!("{percent:.0} of 100 outcomes are finished by {value}."),
            Self::Money { .. } | Self::Amount { .. } | Self::Percent => {
                format!("{percent:.0} of 100 outcomes stay at or below {value}.")
            }
        }
    }

    /// Returns what a limit of such values is called.
    pub(super) fn limit_name(&self) -> &'static str {
        match self {
            Self::Time(_) => "Deadline",
            Self::Money { .. } => "Budget",
            Self::Amount { .. } | Self::Percent => "Limit",
        }
    }

    /// Returns the shortest stretch of values worth an axis.
    pub(super) fn least(&self) -> f64 {
        match self {
            Self::Time(Clock::Dates) => 3_600.0,
            Self::Time(Clock::Periods { .. }) | Self::Money { .. } | Self::Amount { .. } | Self::Percent => 1.0,
        }
    }

    /// Returns how far a value lies from another, with its sign.
    pub(super) fn difference(&self, from: f64, to: f64) -> String {
        let (from, to) = (tame(from), tame(to));
        let by = to - from;
        let sign = if by < 0.0 { "−" } else { "+" };
        match self {
            Self::Time(clock) => format!("{sign}{}", clock.length(Moment::at(from), Moment::at(to))),
            Self::Money { .. } | Self::Amount { .. } | Self::Percent => {
                let size = self.brief(by.abs(), 0.0);
                format!("{sign}{size}")
            }
        }
    }
}

fn priced(currency: &str, amount: &str, is_negative: bool) -> String {
    let currency = text::unit(currency);
    let sign = if is_negative { "−" } else { "" };
    match currency.chars().count() {
        0 | 1 => format!("{sign}{currency}{amount}"),
        _ => format!("{sign}{currency}\u{a0}{amount}"),
    }
}

/// Returns a number with k, M or G, with as many decimals as a step needs.
fn compact(value: f64, step: f64) -> String {
    let size = value.abs();
    let (unit, letter) = match size {
        _ if size >= 1e15 => return format!("{value:.0e}"),
        _ if size >= 1e9 => (1e9, "G"),
        _ if size >= 1e6 => (1e6, "M"),
        _ if size >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let decimals = (0..6).find(|n| step / unit * 10_f64.powi(*n) >= 0.999).unwrap_or(6);
    let written = format!("{:.*}", usize::try_from(decimals).unwrap_or(0), value / unit);
    let written = trimmed(&written);
    format!("{}{letter}", if written == "-0" { "0" } else { written })
}

/// Returns a number without zeros at its end.
fn trimmed(written: &str) -> &str {
    if written.contains('.') { written.trim_end_matches('0').trim_end_matches('.') } else { written }
}

/// Returns a number with commas, and with decimals where they are not zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, the value is not negative"
)]
fn grouped(value: f64, decimals: u32) -> String {
    let factor = 10_u64.pow(decimals);
    #[expect(clippy::cast_precision_loss, reason = "a small power of ten")]
    let parts = (value * factor as f64).round() as u64;
    let (whole, rest) = (parts / factor, parts % factor);
    match rest {
        0 => text::thousands(whole),
        _ => format!("{}.{rest:0width$}", text::thousands(whole), width = decimals as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_written_with_its_currency() {
        let euro = Measure::money("€");
        assert_eq!(euro.full(1_234_567.5, 0.0), "€1,234,567.50");
        assert_eq!(euro.full(-12.0, 0.0), "−€12");
        assert_eq!(euro.brief(12_345.0, 0.0), "€12.3k");
        assert_eq!(euro.brief(181_764.0, 0.0), "€182k");
        assert_eq!(euro.difference(100.0, 40.0), "−€60");
        assert_eq!(Measure::money("CHF").full(5.0, 0.0), "CHF\u{a0}5");
    }

    #[test]
    fn differences_of_dates_are_lengths() {
        let time = Measure::Time(Clock::Dates);
        assert_eq!(time.difference(0.0, 86_400.0 * 3.0), "+3 days");
        assert_eq!(time.difference(0.0, -86_400.0 * 3.0), "−3 days");
    }
}
