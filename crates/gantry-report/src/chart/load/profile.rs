//! How much of a resource is wanted at each moment, and how much there is.

use super::{Resource, Use};
use crate::chart::{moment::Moment, scale::tame};
use std::collections::BTreeMap;

/// A stretch of time during which nothing changes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch {
    pub from: Moment,
    pub until: Moment,
    pub wanted: f64,
    pub capacity: f64,
}

impl Stretch {
    /// Says whether more is wanted than there is; what is left of a sum of decimals does not count.
    pub(super) fn is_over(&self) -> bool {
        self.wanted > self.capacity + 1e-9 * self.capacity.abs().max(1.0)
    }

    fn seconds(&self) -> f64 {
        self.until.value() - self.from.value()
    }
}

/// Returns the stretches of a resource between two moments, in order and without gaps.
pub(super) fn profile(resource: &Resource, from: Moment, until: Moment) -> Vec<Stretch> {
    let mut changes: BTreeMap<Moment, f64> = BTreeMap::from([(from, 0.0), (until, 0.0)]);
    for one in used(resource) {
        *changes.entry(one.from).or_default() += tame(one.amount);
        *changes.entry(one.until).or_default() -= tame(one.amount);
    }
    let mut steps: Vec<(Moment, f64)> = resource.capacity.iter().map(|step| (step.from, tame(step.amount))).collect();
    steps.sort_by_key(|(from, _)| *from);
    for (at, _) in &steps {
        changes.entry(*at).or_default();
    }
    let (mut wanted, mut capacity, mut next) = (0.0, 0.0, 0);
    let mut stretches = Vec::new();
    let moments: Vec<Moment> = changes.keys().copied().collect();
    for (at, pair) in moments.windows(2).enumerate() {
        wanted += changes[&moments[at]];
        while next < steps.len() && steps[next].0 <= pair[0] {
            capacity = steps[next].1;
            next += 1;
        }
        if pair[0] >= from && pair[1] <= until {
            stretches.push(Stretch { from: pair[0], until: pair[1], wanted: tidy(wanted), capacity });
        }
    }
    stretches
}

/// The uses that last and take something.
pub(super) fn used(resource: &Resource) -> impl Iterator<Item = &Use> {
    resource.uses.iter().filter(|one| one.until > one.from && tame(one.amount) > 0.0)
}

/// What is left of a sum that should be zero, is zero.
fn tidy(value: f64) -> f64 {
    if value.abs() < 1e-9 { 0.0 } else { value }
}

/// What matters about the profile of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Peak {
    pub wanted: f64,
    /// The most that is missing at any moment.
    pub missing: f64,
    /// When it is missing first.
    pub first_over: Option<Moment>,
    /// For how long something is missing, in the units of moments.
    pub over: f64,
}

pub(super) fn peak(stretches: &[Stretch]) -> Peak {
    stretches.iter().fold(Peak::default(), |mut peak, stretch| {
        peak.wanted = peak.wanted.max(stretch.wanted);
        if stretch.is_over() {
            peak.missing = peak.missing.max(stretch.wanted - stretch.capacity);
            peak.first_over = peak.first_over.or(Some(stretch.from));
            peak.over += stretch.seconds();
        }
        peak
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Capacity;

    #[test]
    fn what_is_wanted_is_added_up_and_held_against_what_there_is() {
        let one = |from, until, amount| Use {
            from: Moment::period(from),
            until: Moment::period(until),
            amount,
            ..Use::default()
        };
        let resource = Resource {
            capacity: vec![
                Capacity { from: Moment::period(0), amount: 2.0 },
                Capacity { from: Moment::period(6), amount: 1.0 },
            ],
            uses: vec![one(0, 4, 1.0), one(2, 8, 1.5), one(3, 3, 9.0)],
            ..Resource::default()
        };
        let stretches = profile(&resource, Moment::period(0), Moment::period(10));
        let drawn: Vec<String> = stretches
            .iter()
            .map(|s| {
                format!(
                    "{}..{} {} of {}{}",
                    s.from.value(),
                    s.until.value(),
                    s.wanted,
                    s.capacity,
                    if s.is_over() { " over" } else { "" }
                )
            })
            .collect();
        assert_eq!(drawn, ["0..2 1 of 2", "2..4 2.5 of 2 over", "4..6 1.5 of 2", "6..8 1.5 of 1 over", "8..10 0 of 1"]);
        let peak = peak(&stretches);
        assert_eq!((peak.wanted, peak.missing, peak.over), (2.5, 0.5, 4.0));
        assert_eq!(peak.first_over, Some(Moment::period(2)));
    }
}
