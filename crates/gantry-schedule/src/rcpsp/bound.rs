//! Lower bounds: no schedule is shorter.

use super::fault::Fault;
use super::instance::{Capacity, Instance};
use super::network::Prepared;
use super::rules;
use super::serial::Maker;
use super::sparse::Sparse;

/// Finds a task that would fit nowhere even if it were alone.
pub(super) fn fits_alone(prepared: &Prepared) -> Result<(), Fault> {
    let network = &prepared.forward;
    if network.supply.is_constant() {
        return Ok(());
    }
    let alone = Maker::<Sparse>::new(network.clone(), prepared.horizon);
    for (task, from) in network.earliest().into_iter().enumerate() {
        if alone.earliest(task, from).is_none() {
            return Err(Fault::NoWindow { task: prepared.written[task], from: from.unsigned_abs() });
        }
    }
    Ok(())
}

/// The larger of two bounds: the longest path through the links, and, for each resource, the time its work takes.
pub(super) fn lower(instance: &Instance, prepared: &Prepared) -> Result<u32, Fault> {
    let network = &prepared.forward;
    let heads = network.earliest();
    let tails = rules::tails(network);
    let path = heads.iter().zip(&tails).map(|(head, tail)| head + tail).max().unwrap_or(0);
    let mut bound = path.unsigned_abs();
    for (resource, capacity) in instance.capacities.iter().enumerate() {
        let mut work = 0_u64;
        let (mut first, mut rest) = (u32::MAX, u32::MAX);
        for (place, &task) in prepared.written.iter().enumerate() {
            let demand = instance.tasks[task].demand_for(resource);
            if demand > 0 {
                work += demand * u64::from(instance.tasks[task].duration);
                first = first.min(heads[place].unsigned_abs());
                rest = rest.min((tails[place] - network.durations[place]).unsigned_abs());
            }
        }
        if work > 0 {
            let done = worked_off(capacity, first, work).ok_or(Fault::TooMuchWork { resource, work, from: first })?;
            bound = bound.max(done + rest);
        }
    }
    Ok(bound)
}

/// The first period by which so much work can be done, if all capacity from `first` on is used; none if never.
fn worked_off(capacity: &Capacity, first: u32, work: u64) -> Option<u32> {
    let mut left = work;
    let ends = capacity.steps().iter().skip(1).map(|step| u64::from(step.0)).chain([u64::MAX]);
    for (&(from, amount), until) in capacity.steps().iter().zip(ends) {
        let from = u64::from(from.max(first));
        if until <= from || amount == 0 {
            continue;
        }
        let periods = left.div_ceil(u64::from(amount));
        if periods <= until - from {
            return u32::try_from(from + periods).ok();
        }
        left -= (until - from) * u64::from(amount);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_as_long_as_capacity_lets_it() {
        let capacity = Capacity::changing([(0, 2), (5, 0), (8, 3)]);
        let by = |first, work| worked_off(&capacity, first, work);
        assert_eq!(
            [by(0, 1), by(0, 10), by(0, 11), by(3, 5), by(3, 8)],
            [Some(1), Some(5), Some(9), Some(9), Some(10)]
        );
        assert_eq!(worked_off(&Capacity::changing([(0, 1), (5, 0)]), 3, 3), None);
    }
}
