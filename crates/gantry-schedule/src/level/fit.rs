//! Finds a time and people for one task.

use rust_decimal::Decimal;

use super::load::{Blocked, Load};
use super::{Share, Unmet};
use crate::cost::converted;
use crate::model::{Model, common_line};
use crate::network::{Node, Times, occupied_from, place_node};
use crate::project::Who;

/// A time and people for one task.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub times: Times,
    pub line: usize,
    pub shares: Vec<Share>,
}

/// Less is better: how much else they could do, what they cost in the project's currency, and who comes first.
pub(super) type Merit = (usize, Decimal, usize);

/// What a task asks for, with the needs left out that nobody can meet.
pub(super) struct Ask {
    pub named: Vec<Share>,
    /// For each person still to be chosen, how much of them and who could be it.
    pub open: Vec<(u32, Vec<usize>)>,
    pub unmet: Vec<Unmet>,
}

/// Sorts the needs of a task into who is named and who is to be found.
pub(super) fn ask(model: &Model<'_>, loads: &[Load], task: usize) -> Ask {
    let mut ask = Ask { named: Vec::new(), open: Vec::new(), unmet: Vec::new() };
    for (at, need) in model.tasks[task].needs.iter().enumerate() {
        let enough = |resource: usize| loads[resource].most_from(model.from) >= need.amount.0;
        match &need.who {
            Who::Named { .. } => {
                let Some(resource) = model.named(need) else { continue };
                if enough(resource) {
                    ask.named.push(Share { resource, amount: need.amount.0 });
                } else {
                    ask.unmet.push(Unmet { task, need: at, at_best: loads[resource].most_from(model.from) });
                }
            }
            Who::Fitting { role, skills, count } => {
                let mut fitting = all_fitting(model, role.as_deref(), skills);
                fitting.retain(|&one| enough(one));
                let there = u32::try_from(fitting.len()).unwrap_or(u32::MAX);
                if there < *count {
                    ask.unmet.push(Unmet { task, need: at, at_best: there });
                }
                ask.open.extend((0..(*count).min(there)).map(|_| (need.amount.0, fitting.clone())));
            }
        }
    }
    // The scarcest first, so that the only welder is not taken as a helper.
    ask.open.sort_by_key(|(_, fitting)| fitting.len());
    merge(&mut ask.named);
    ask
}

/// Everyone with a role and skills.
pub(super) fn all_fitting(model: &Model<'_>, role: Option<&str>, skills: &[String]) -> Vec<usize> {
    (0..model.resources.len()).filter(|&one| fits(model, one, role, skills)).collect()
}

fn fits(model: &Model<'_>, resource: usize, role: Option<&str>, skills: &[String]) -> bool {
    let resource = model.resources[resource].resource;
    let has_role = role.is_none_or(|role| resource.roles.iter().any(|own| own == role));
    has_role && skills.iter().all(|skill| resource.skills.contains(skill))
}

/// Several needs for one resource are one need for their sum.
fn merge(shares: &mut Vec<Share>) {
    shares.sort_unstable();
    shares.dedup_by(|later, earlier| {
        let same = later.resource == earlier.resource;
        if same {
            earlier.amount = earlier.amount.saturating_add(later.amount);
        }
        same
    });
}

/// Tries a task at a second: the people who are free then, or until when it is not worth trying again.
pub(super) fn fit_at(
    model: &mut Model<'_>,
    loads: &[Load],
    node: &Node,
    ask: &Ask,
    (start, finish): (i64, i64),
) -> Result<Fit, Blocked> {
    let mut shares = ask.named.clone();
    let mut line = node.line;
    let mut times = place_node(node, &model.lines.all[line], start, finish);
    for (amount, fitting) in &ask.open {
        let mut best: Option<((i64, Merit), usize, Times)> = None;
        let mut blocked = Blocked::ForEver;
        for &one in fitting.iter().filter(|&&one| shares.iter().all(|share| share.resource != one)) {
            let people: Vec<usize> = shares.iter().map(|share| share.resource).chain([one]).collect();
            let task = model.tasks[node.task];
            let Some(with) = common_line(model, task, &people) else { continue };
            let when = place_node(node, &model.lines.all[with], start, finish);
            let from = occupied_from(node, &model.lines.all[with], when);
            match loads[one].fits(*amount, (from, when.finish), node.duration) {
                Ok(()) => {
                    let value = (when.finish, merit(model, one));
                    if best.as_ref().is_none_or(|(least, ..)| value < *least) {
                        best = Some((value, with, when));
                    }
                }
                Err(why) => blocked = sooner(blocked, why),
            }
        }
        let Some(((_, (.., one)), with, when)) = best else { return Err(blocked) };
        shares.push(Share { resource: one, amount: *amount });
        (line, times) = (with, when);
    }
    let from = occupied_from(node, &model.lines.all[line], times);
    for share in &shares {
        loads[share.resource].fits(share.amount, (from, times.finish), node.duration)?;
    }
    Ok(Fit { times, line, shares })
}

/// Who of those who fit is to be preferred.
pub(super) fn merit(model: &Model<'_>, one: usize) -> Merit {
    let resource = model.resources[one].resource;
    let rate = resource.rate.as_ref().map(|rate| converted(model.project, rate)).unwrap_or_default();
    (resource.skills.len() + resource.roles.len(), rate, one)
}

/// Places a task where its bounds put it: people who are free are chosen first, and then any who fit.
pub(super) fn force_at(model: &mut Model<'_>, loads: &[Load], node: &Node, ask: &Ask, bounds: (i64, i64)) -> Fit {
    let one_by_one = |taken: &[Share], fitting: &[usize], amount: u32, times: Times| {
        let free = |&&one: &&usize| loads[one].fits(amount, (times.start, times.finish), 1).is_ok();
        let left: Vec<&usize> =
            fitting.iter().filter(|&&one| taken.iter().all(|share| share.resource != one)).collect();
        left.iter().copied().find(free).or(left.first().copied()).copied()
    };
    let mut shares = ask.named.clone();
    let mut times = place_node(node, &model.lines.all[node.line], bounds.0, bounds.1);
    let mut line = node.line;
    for (amount, fitting) in &ask.open {
        let Some(one) = one_by_one(&shares, fitting, *amount, times) else { continue };
        shares.push(Share { resource: one, amount: *amount });
        let people: Vec<usize> = shares.iter().map(|share| share.resource).collect();
        let task = model.tasks[node.task];
        if let Some(with) = common_line(model, task, &people) {
            line = with;
            times = place_node(node, &model.lines.all[with], bounds.0, bounds.1);
        }
    }
    Fit { times, line, shares }
}

/// The moment from which it is worth trying again.
fn sooner(a: Blocked, b: Blocked) -> Blocked {
    match (a, b) {
        (Blocked::Until(a), Blocked::Until(b)) => Blocked::Until(a.min(b)),
        (Blocked::ForEver, other) | (other, Blocked::ForEver) => other,
    }
}
