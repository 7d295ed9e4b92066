//! What there are too few people or too little equipment for, and what would help.

use super::Computed;
use super::late::{Constraint, Fix, Infeasible};
use crate::level::Unmet;
use crate::project::{Amount, Who};

/// Every need that cannot be met, and every task that fits nowhere though each of its needs could be met alone.
pub(super) fn needs(computed: &Computed<'_>) -> impl Iterator<Item = Infeasible> {
    let unmet = computed.placement.unmet.iter().map(|unmet| need(computed, unmet));
    unmet.chain(computed.placement.forced.iter().flat_map(|&at| forced(computed, at)))
}

/// What a task that fits nowhere has too little of: all its needs for one thing together, or what ends for good.
fn forced(computed: &Computed<'_>, at: usize) -> Vec<Infeasible> {
    let model = &computed.model;
    let task = model.tasks[computed.network.nodes[at].task];
    let too_little = computed.placement.shares[at].iter().filter_map(|share| {
        let supply = &model.resources[share.resource];
        let there = supply.capacity.last().map_or(0, |step| step.1);
        let resource = &supply.resource.id;
        (there < share.amount).then(|| capacity(computed, &task.id, resource, Amount(share.amount), Amount(there)))
    });
    let too_little: Vec<Infeasible> = too_little.collect();
    if !too_little.is_empty() {
        return too_little;
    }
    let fitting = task.needs.iter().filter_map(|need| match &need.who {
        Who::Fitting { role, skills, count } => Some(people(&task.id, role.as_ref(), skills, *count, 0)),
        Who::Named { .. } => None,
    });
    fitting.collect()
}

/// The change adds to what there is at last, since a task can wait for that.
fn capacity(computed: &Computed<'_>, task: &str, resource: &str, needed: Amount, there: Amount) -> Infeasible {
    let given = computed.model.project.resources.iter().find(|given| given.id == resource);
    let mut changes = given.map(|given| given.changes.clone()).unwrap_or_default();
    changes.sort_by_key(|change| computed.model.second(change.from, crate::frame::Edge::First));
    let fix = match changes.last_mut() {
        None => Fix {
            what: format!("raise the capacity of `{resource}` to {needed}"),
            change: Some(format!("resource.{resource}.capacity={needed}")),
        },
        Some(last) => {
            last.capacity = needed;
            Fix {
                what: format!("raise the capacity of `{resource}` to {needed} from {} on", last.from),
                change: serde_json::to_string(&changes)
                    .ok()
                    .map(|changes| format!("resource.{resource}.changes={changes}")),
            }
        }
    };
    let never = if changes.is_empty() { "never" } else { "at last no" };
    Infeasible {
        constraint: Constraint::Capacity { task: task.to_owned(), resource: resource.to_owned(), needed, there },
        what: format!("`{task}` needs {needed} of `{resource}`, but there are {never} more than {there}"),
        fixes: vec![fix],
    }
}

fn need(computed: &Computed<'_>, unmet: &Unmet) -> Infeasible {
    let task = computed.model.tasks[unmet.task];
    let need = &task.needs[unmet.need];
    match &need.who {
        Who::Named { resource } => capacity(computed, &task.id, resource, need.amount, Amount(unmet.at_best)),
        Who::Fitting { role, skills, count } => people(&task.id, role.as_ref(), skills, *count, unmet.at_best),
    }
}

fn people(task: &str, role: Option<&String>, skills: &[String], needed: u32, there: u32) -> Infeasible {
    let mut wanted = role.cloned().unwrap_or_else(|| "anyone".to_owned());
    if !skills.is_empty() {
        wanted = format!("{wanted} with {}", skills.join(", "));
    }
    let missing = needed.saturating_sub(there);
    Infeasible {
        constraint: Constraint::People {
            task: task.to_owned(),
            role: role.cloned(),
            skills: skills.to_vec(),
            needed,
            there,
        },
        what: format!("`{task}` needs {needed} × {wanted}, but there are {there}"),
        fixes: vec![Fix { what: format!("add {missing} more: {wanted}"), change: None }],
    }
}
