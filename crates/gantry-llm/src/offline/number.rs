//! Numbers within their bounds, and likely for the name of their field.

use serde_json::{Number, Value};

use super::demand::{Bound, Demand};
use super::draw::Draw;
use super::words::Words;

/// Numbers of this size are counted exactly by both kinds.
const EXACT: f64 = 9e15;

/// A whole number that meets the demand; none when there is none.
pub(super) fn whole(demand: &Demand<'_>, name: &str, draw: Draw, turn: usize) -> Option<Value> {
    let least = demand.least.iter().filter_map(|bound| edge(bound, 1)).max();
    let most = demand.most.iter().filter_map(|bound| edge(bound, -1)).min();
    // A whole multiple of 0.5 is a multiple of 1; others are left to be tried.
    let step = demand.multiples.iter().map(|multiple| whole_step(*multiple)).try_fold(1_i128, |all, step| {
        let step = step?;
        (all / gcd(all, step)).checked_mul(step)
    })?;
    let likely = Words::likely(name).map_or((1.0, 10.0), |likely| (likely.from.max(1.0), likely.to.max(1.0)));
    let (from, to) = (rounded(likely.0), rounded(likely.1));
    let first = round_up(least.unwrap_or(i128::MIN / 4).max(from.min(most.unwrap_or(from))), step);
    let high = most.unwrap_or(i128::from(u64::MAX).max(first));
    let down = first.min(high);
    let low = least.map_or(down - down.rem_euclid(step), |least| round_up(least, step));
    if low > high {
        return None;
    }
    let last = high.min(to.max(first));
    let number = match turn {
        _ if first > high => low,
        0 => {
            let steps = usize::try_from((last - first) / step).unwrap_or(usize::MAX - 1);
            first + i128::try_from(draw.below(steps.saturating_add(1))).ok()? * step
        }
        turn => {
            // Every number has its turn, beginning with the least.
            let steps = ((high - low) / step).saturating_add(1);
            low + ((i128::try_from(turn).ok()? - 1) % steps) * step
        }
    };
    i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from)).ok()
}

/// A number that meets the demand, as well as can be told before it is checked.
pub(super) fn any(demand: &Demand<'_>, name: &str, draw: Draw, turn: usize) -> Option<Value> {
    let limit = |bound: &Bound| bound.limit.as_f64();
    let least = demand.least.iter().filter_map(limit).reduce(f64::max);
    let most = demand.most.iter().filter_map(limit).reduce(f64::min);
    if let [multiple] = demand.multiples[..] {
        return multiple_of(multiple, least, most, name, draw, turn);
    }
    if turn % 2 == 1
        && let Some(number) = whole(demand, name, draw, turn / 2)
    {
        return Some(number);
    }
    let (from, to, step) = Words::likely(name).map_or((1.0, 10.0, 1.0), |likely| (likely.from, likely.to, likely.step));
    let inside = |number: f64| fits(demand, number);
    let steps = (((to - from) / step).round()).clamp(0.0, 1000.0);
    let part = draw.below(index(steps) + 1) + turn;
    #[expect(clippy::cast_precision_loss, reason = "a count of steps is small")]
    let liked = tidy(from + step * (part % (index(steps) + 1)) as f64);
    let low = least.unwrap_or_else(|| most.map_or(from, |most| most.min(from) - (to - from)));
    let high = most.unwrap_or_else(|| low.max(from) + (to - from));
    let middle = low + (high - low) / 2.0;
    let shares = [0.5, 0.25, 0.75, 0.1, 0.9];
    let between = shares.iter().map(|share| tidy(low + (high - low) * share));
    let candidates = std::iter::once(liked).chain(between).chain([middle, low, high, low.next_up(), high.next_down()]);
    let found = candidates
        .filter(|number| number.is_finite() && inside(*number))
        .nth(turn / 2 % 2)
        .or_else(|| inside(middle).then_some(middle))?;
    number(found)
}

/// Tells whether a number is within the bounds.
pub(super) fn fits(demand: &Demand<'_>, number: f64) -> bool {
    let above = demand.least.iter().all(|bound| meets(bound, number, |limit| number > limit));
    let below = demand.most.iter().all(|bound| meets(bound, number, |limit| number < limit));
    above && below
}

fn multiple_of(
    multiple: f64,
    least: Option<f64>,
    most: Option<f64>,
    name: &str,
    draw: Draw,
    turn: usize,
) -> Option<Value> {
    let likely = Words::likely(name).map_or((1.0, 10.0), |likely| (likely.from, likely.to));
    let low = least.unwrap_or_else(|| likely.0.min(most.unwrap_or(likely.0)));
    let high = most.unwrap_or_else(|| likely.1.max(low + multiple * 4.0));
    let (first, last) = ((low / multiple).ceil(), (high / multiple).floor());
    if !(first.is_finite() && last.is_finite()) || first > last {
        return None;
    }
    let steps = (last - first).min(EXACT);
    // The multiple that is nearest to a likely number.
    let (from, step) = Words::likely(name).map_or((1.0, 1.0), |likely| (likely.from, likely.step));
    let count = index(((likely.1 - from) / step).round()) + 1;
    #[expect(clippy::cast_precision_loss, reason = "a count of steps is small")]
    let liked = from + step * (draw.below(count)) as f64;
    let wanted = ((liked / multiple).round().clamp(first, last) - first).min(steps);
    let offset = index(wanted) + turn;
    #[expect(clippy::cast_precision_loss, reason = "both are below the largest exact number")]
    let at = first + (offset % (index(steps) + 1)) as f64;
    number(tidy(at * multiple))
}

/// Removes the dust of binary fractions: 0.30000000000000004 is 0.3.
fn tidy(number: f64) -> f64 {
    format!("{number:.6}")
        .parse::<f64>()
        .ok()
        .filter(|tidy| (tidy - number).abs() < 1e-9 * number.abs().max(1.0))
        .unwrap_or(number)
}

fn number(number: f64) -> Option<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "only for numbers that are exact")]
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}

fn meets(bound: &Bound, number: f64, strictly: impl Fn(f64) -> bool) -> bool {
    bound.limit.as_f64().is_none_or(|limit| strictly(limit) || (!bound.beyond && (number - limit).abs() == 0.0))
}

/// The nearest whole number within a bound; `inward` is where within lies.
fn edge(bound: &Bound, inward: i128) -> Option<i128> {
    let exact = bound.limit.as_i64().map(i128::from).or_else(|| bound.limit.as_u64().map(i128::from));
    if let Some(exact) = exact {
        return Some(if bound.beyond { exact + inward } else { exact });
    }
    let limit = bound.limit.as_f64()?;
    let nearest = if inward > 0 { limit.ceil() } else { limit.floor() };
    let whole = rounded(nearest);
    let on_limit = (nearest - limit).abs() == 0.0;
    Some(if bound.beyond && on_limit { whole + inward } else { whole })
}

fn rounded(number: f64) -> i128 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cast stops at the ends, which are beyond any number of JSON"
    )]
    let whole = number.clamp(-1e30, 1e30).round() as i128;
    whole
}

fn index(steps: f64) -> usize {
    usize::try_from(rounded(steps.clamp(0.0, EXACT))).unwrap_or_default()
}

fn whole_step(multiple: f64) -> Option<i128> {
    if multiple.fract() == 0.0 {
        return Some(rounded(multiple).max(1));
    }
    (1..=1000_i128)
        .find(|times| {
            #[expect(clippy::cast_precision_loss, reason = "a thousand is exact")]
            let product = multiple * *times as f64;
            product.fract() == 0.0 && product >= 1.0
        })
        .map(|times| {
            #[expect(clippy::cast_precision_loss, reason = "a thousand is exact")]
            let product = multiple * times as f64;
            rounded(product).max(1)
        })
}

fn gcd(one: i128, other: i128) -> i128 {
    if other == 0 { one } else { gcd(other, one % other) }
}

fn round_up(number: i128, step: i128) -> i128 {
    let over = number.rem_euclid(step);
    if over == 0 { number } else { number + step - over }
}
