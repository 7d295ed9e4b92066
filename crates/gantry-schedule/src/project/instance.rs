//! A problem on whole periods as a project: tasks are numbered from one, resources are `R1`, `R2` and so on.

use super::length::{Length, Unit};
use super::link::{Link, LinkKind};
use super::resource::{Amount, CapacityChange, Need, Resource, Who};
use super::task::Task;
use super::when::When;
use super::{Estimate, Project};
use crate::rcpsp::Instance;

/// Amounts are kept in thousandths, so this many units are the most.
const UNITS_MAX: u32 = u32::MAX / 1_000;

impl From<&Instance> for Project {
    fn from(instance: &Instance) -> Self {
        let mut project = Self::counting(Unit::Period);
        for (at, capacity) in instance.capacities.iter().enumerate() {
            let step = |&(from, units): &(u32, u32)| CapacityChange {
                from: When::After(Length::units(i64::from(from))),
                capacity: Amount::whole(units.min(UNITS_MAX)),
            };
            let changes = capacity.steps()[1..].iter().map(step).collect();
            let first = capacity.at(0).min(UNITS_MAX);
            project.resources.push(Resource { changes, ..Resource::pool(name(at), first) });
        }
        for (at, task) in instance.tasks.iter().enumerate() {
            let mut given = Task::milestone((at + 1).to_string());
            given.estimate = (task.duration > 0).then(|| Estimate::fixed(Length::units(i64::from(task.duration))));
            given.start_no_earlier = (task.release > 0).then(|| When::After(Length::units(i64::from(task.release))));
            let need = |resource: usize, amount: u32| Need {
                who: Who::Named { resource: name(resource) },
                amount: Amount::whole(amount.min(UNITS_MAX)),
            };
            given.needs = task.demands.iter().map(|demand| need(demand.resource, demand.amount)).collect();
            project.tasks.push(given);
        }
        for link in &instance.links {
            let duration = instance.tasks[link.before].duration;
            let after_finish = i64::from(link.lag) - i64::from(duration);
            let (kind, lag) = if after_finish >= 0 {
                (LinkKind::FinishToStart, after_finish)
            } else {
                (LinkKind::StartToStart, i64::from(link.lag))
            };
            let link_back = Link { task: (link.before + 1).to_string(), kind, lag: Length::units(lag) };
            project.tasks[link.after].after.push(link_back);
        }
        project
    }
}

fn name(resource: usize) -> String {
    format!("R{}", resource + 1)
}
