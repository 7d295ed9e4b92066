//! How far tasks are.

use super::Model;
use crate::schedule::Basis;

/// How much of each task is done, 0 to 100; of a summary as much as of the work of its parts.
pub(super) fn percents(model: &Model<'_>, basis: Basis) -> Vec<u8> {
    let count = model.tasks.len();
    let mut above_first: Vec<usize> = (0..count).filter(|&task| model.tasks[task].parent.is_none()).collect();
    let mut next = 0;
    while let Some(&task) = above_first.get(next) {
        above_first.extend(&model.parts[task]);
        next += 1;
    }
    let (mut percents, mut weights) = (vec![0; count], vec![0_i64; count]);
    for task in above_first.into_iter().rev() {
        let parts = &model.parts[task];
        if parts.is_empty() {
            percents[task] = of_work(model, basis, task);
            // A milestone counts as well, if only just.
            weights[task] = model.planned(model.tasks[task], basis).max(1);
            continue;
        }
        weights[task] = parts.iter().fold(0, |whole: i64, &part| whole.saturating_add(weights[part]));
        let done: i128 = parts.iter().map(|&part| i128::from(weights[part]) * i128::from(percents[part])).sum();
        let all_done = parts.iter().all(|&part| percents[part] == 100);
        percents[task] = if all_done { 100 } else { floor(done / i128::from(weights[task])) };
    }
    percents
}

/// How much of a task without parts is done: as it says, or as what is left says.
fn of_work(model: &Model<'_>, basis: Basis, task: usize) -> u8 {
    let given = model.tasks[task];
    let progress = &given.progress;
    if progress.finished.is_some() {
        return 100;
    }
    let node = model.node_of[task].map(|at| &model.network.nodes[at]);
    let (Some(node), None, Some(_)) = (node, progress.percent, progress.remaining) else {
        return progress.percent.unwrap_or(0).min(100);
    };
    let planned = model.planned(given, basis);
    let done = if node.duration <= planned {
        planned - node.duration
    } else {
        // More is left than all of it was thought to be: what was worked on it is done all the same.
        node.started.map_or(0, |started| model.lines.all[node.line].work_between(started, model.from).max(0))
    };
    floor(i128::from(done) * 100 / i128::from((done + node.duration).max(1)))
}

/// What is not finished is never quite done.
fn floor(percent: i128) -> u8 {
    u8::try_from(percent.clamp(0, 99)).unwrap_or(99)
}
