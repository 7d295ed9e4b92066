//! Splits an amount over months without losing a coin.

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::line::Line;
use crate::schedule::Computed;

/// Splits an amount in proportion to weights; the parts add up to it exactly.
pub(super) fn split(amount: Decimal, weights: &[i64], places: u32) -> Vec<Decimal> {
    let whole: i64 = weights.iter().sum();
    if whole <= 0 {
        let mut parts = vec![Decimal::ZERO; weights.len()];
        if let Some(first) = parts.first_mut() {
            *first = amount;
        }
        return parts;
    }
    let exact = |weight: &i64| amount * Decimal::from(*weight) / Decimal::from(whole);
    let mut parts: Vec<Decimal> = weights.iter().map(|weight| exact(weight).trunc_with_scale(places)).collect();
    let coin = Decimal::new(if amount.is_sign_negative() { -1 } else { 1 }, places);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let missing = |at: usize| (exact(&weights[at]) - parts[at]).abs();
    order.sort_by(|&a, &b| missing(b).cmp(&missing(a)).then(a.cmp(&b)));
    let mut left = amount - parts.iter().copied().sum::<Decimal>();
    for at in order.into_iter().cycle() {
        if left.is_zero() {
            break;
        }
        parts[at] += coin;
        left -= coin;
    }
    parts
}

/// The months over which a line falls due, with the part of each.
pub(super) fn by_month(computed: &Computed<'_>, line: &Line, places: u32) -> Vec<(Date, Decimal)> {
    let timeline = &computed.model.lines.all[line.timeline];
    let mut months = Vec::new();
    let mut weights = Vec::new();
    let mut from = line.from;
    while let Some((month, next)) = month_of(computed, from) {
        months.push(month);
        weights.push(timeline.work_between(from, next.min(line.to).max(from)));
        if next >= line.to {
            break;
        }
        from = next;
    }
    months.into_iter().zip(split(line.amount, &weights, places)).collect()
}

/// The first day of the month of a second, and the second at which the next month starts.
fn month_of(computed: &Computed<'_>, second: i64) -> Option<(Date, i64)> {
    let frame = &computed.model.frame;
    let month = frame.zone.to_datetime(frame.timestamp(second)).date().first_of_month();
    let next = month.last_of_month().tomorrow().ok()?;
    let start = frame.zone.to_timestamp(next.at(0, 0, 0, 0)).ok()?;
    Some((month, start.as_second() - frame.origin.as_second()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_coin_is_lost_or_made() {
        for (amount, weights) in
            [("100.00", vec![1, 1, 1]), ("0.01", vec![5, 5]), ("-7.77", vec![3, 1, 2]), ("10.00", vec![0, 0])]
        {
            let amount: Decimal = amount.parse().unwrap();
            let parts = split(amount, &weights, 2);
            assert_eq!(parts.iter().copied().sum::<Decimal>(), amount, "{weights:?}");
        }
        let parts = split("100.00".parse().unwrap(), &[1, 1, 1], 2);
        assert_eq!(parts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["33.34", "33.33", "33.33"]);
    }
}
