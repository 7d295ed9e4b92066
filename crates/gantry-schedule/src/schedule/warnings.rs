//! What is odd about a project, but does not stop its schedule.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Computed;
use crate::calendar::Timeline;
use crate::model::Supply;
use crate::network::{Network, Role, Tie, bound};

/// Something odd, mostly about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The task; none when it is about the file that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// What is odd.
    pub what: String,
}

/// What is odd.
pub(super) fn warnings(computed: &Computed<'_>) -> Vec<Warning> {
    let mut warnings = against_the_facts(computed);
    warnings.extend(day_and_night(computed));
    warnings.extend(without_price(computed));
    warnings.sort_by(|a, b| (&a.task, &a.what).cmp(&(&b.task, &b.what)));
    warnings.dedup();
    warnings
}

/// Time that passes, with people for it who have hours of their own, or are paid for theirs.
fn day_and_night<'c>(computed: &'c Computed<'_>) -> impl Iterator<Item = Warning> + 'c {
    let model = &computed.model;
    let rests = |line: usize| model.lines.all[line] != Timeline::Always;
    computed.network.nodes.iter().zip(&computed.placement.shares).filter_map(move |(node, shares)| {
        let task = model.tasks[node.task];
        let elapsed = task.estimate.is_some_and(|estimate| estimate.likely.is_elapsed());
        let counts = |supply: &Supply<'_>| supply.line.is_some_and(rests) || supply.resource.rate.is_some() && rests(0);
        let supplies = shares.iter().map(|share| &model.resources[share.resource]).filter(|supply| counts(supply));
        let who: Vec<String> = supplies.map(|supply| format!("`{}`", supply.resource.id)).collect();
        if !elapsed || node.duration == 0 || who.is_empty() {
            return None;
        }
        let what = format!(
            "it takes time that passes, day and night, whatever the hours and absences of {}, and all of it is paid; where \
             these should count, give it working time such as `5d` (in a plan under `schedule.tasks`)",
            who.join(", ")
        );
        Some(Warning { task: Some(task.id.clone()), what })
    })
}

/// Needs that nobody meets, where people are paid.
fn without_price<'c>(computed: &'c Computed<'_>) -> impl Iterator<Item = Warning> + 'c {
    let model = &computed.model;
    let paid = model.resources.iter().any(|one| one.resource.rate.is_some() || one.resource.per_use.is_some());
    computed.placement.unmet.iter().filter(move |_| paid).map(|unmet| Warning {
        task: Some(model.tasks[unmet.task].id.clone()),
        what: "its cost leaves out who is missing for it".to_owned(),
    })
}

/// Progress that runs against the links, or into the future.
fn against_the_facts(computed: &Computed<'_>) -> Vec<Warning> {
    let (model, network) = (&computed.model, &computed.network);
    let id = |node: usize| model.tasks[network.nodes[node].task].id.clone();
    // The order of people binds nobody who has begun.
    let own = |network: &Network, tie: &Tie| (network.nodes[tie.from].task, network.nodes[tie.to].task);
    let links: BTreeSet<_> = model.network.ties().iter().map(|tie| own(&model.network, tie)).collect();
    let mut warnings = Vec::new();
    for (at, node) in network.nodes.iter().enumerate().filter(|(_, node)| node.started.is_some()) {
        for tie in network.ties_into(at).iter().filter(|tie| links.contains(&own(network, tie))) {
            let by = bound(tie, computed.placement.times[tie.from], &model.lines.all);
            let times = computed.placement.times[at];
            let held = if tie.kind.holds_start() { times.start } else { times.finish };
            if held < by && network.nodes[tie.from].role == Role::Work {
                let what = format!("it began or ended before its link from `{}` allowed", id(tie.from));
                warnings.push(Warning { task: Some(id(at)), what });
            }
        }
        let latest = node.finished.or(node.started).unwrap_or(0);
        if model.project.data_date.is_some() && latest > model.from {
            warnings.push(Warning { task: Some(id(at)), what: "its actual dates lie after the data date".to_owned() });
        }
    }
    warnings
}
