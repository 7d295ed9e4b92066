//! A second before which no schedule ends, whoever does what in which order.

use super::fit::all_fitting;
use crate::model::{ALWAYS, Model};
use crate::network::{Network, Node, Role, forward};
use crate::project::Who;

/// No schedule ends before this second: by links alone as if everybody were free, and for each resource as long as its
/// work takes, if nobody ever waited.
pub(super) fn earliest_end(model: &Model<'_>) -> i64 {
    let network = alone(model);
    let early = forward(&network, &model.lines.all);
    let by_links = early.iter().map(|times| times.finish).max().unwrap_or(model.from);
    let mut uses: Vec<Vec<(usize, u32)>> = vec![Vec::new(); model.resources.len()];
    for (at, node) in network.nodes.iter().enumerate().filter(|(_, node)| is_ahead(node)) {
        for need in &model.tasks[node.task].needs {
            // What is never there in such amounts is told, and not waited for.
            let most = |resource: &usize| model.resources[*resource].capacity.iter().map(|step| step.1).max();
            if let Some(resource) = model.named(need).filter(|resource| most(resource) >= Some(need.amount.0)) {
                uses[resource].push((at, need.amount.0));
            }
        }
    }
    let by_resources = uses.iter().zip(&model.resources).filter_map(|(uses, supply)| {
        let line = network.nodes[uses.first()?.0].line;
        if uses.iter().any(|&(at, _)| network.nodes[at].line != line) {
            return None;
        }
        let most = supply.capacity.iter().map(|step| step.1).max().filter(|most| *most > 0)?;
        let work = |&(at, amount): &(usize, u32)| i128::from(network.nodes[at].duration) * i128::from(amount);
        let work = i64::try_from(uses.iter().map(work).sum::<i128>() / i128::from(most)).ok()?;
        let first = uses.iter().map(|&(at, _)| early[at].start.max(network.nodes[at].earliest)).min()?;
        let line = &model.lines.all[line];
        Some(line.finish_at(line.work_before(first) + work))
    });
    by_resources.fold(by_links, i64::max)
}

fn is_ahead(node: &Node) -> bool {
    node.role == Role::Work && node.finished.is_none() && node.duration > 0
}

/// The network with round-the-clock work wherever someone with other hours may be found, as their hours are not known yet.
/// A link that holds back the end of such work says nothing about its start: with fewer hours a day it begins earlier.
fn alone(model: &Model<'_>) -> Network {
    let other_hours = |node: &Node| {
        node.role == Role::Work
            && model.tasks[node.task].needs.iter().any(|need| match &need.who {
                Who::Named { .. } => false,
                Who::Fitting { role, skills, .. } => {
                    let fitting = all_fitting(model, role.as_deref(), skills);
                    fitting.iter().any(|&one| model.resources[one].resource.calendar.is_some())
                }
            })
    };
    let open: Vec<bool> = model.network.nodes.iter().map(other_hours).collect();
    let mut network = model.network.keeping(|tie| tie.kind.holds_start() || !open[tie.to]);
    for (node, _) in network.nodes.iter_mut().zip(&open).filter(|(_, open)| **open) {
        node.line = ALWAYS;
    }
    network
}
