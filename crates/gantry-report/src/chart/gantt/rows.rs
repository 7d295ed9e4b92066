//! Which tasks get a row of their own, and which are folded into one.

use super::{Gantt, GanttTask};
use crate::chart::moment::Moment;
use std::{collections::BTreeMap, ops::Range};

/// A row: one task, or one with others folded into it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The places of its tasks; the first one names it.
    pub tasks: Range<usize>,
    pub start: Moment,
    pub finish: Moment,
}

impl Row {
    pub(super) fn is_folded(&self) -> bool {
        self.tasks.len() > 1
    }

    fn of(tasks: Range<usize>, all: &[GanttTask]) -> Self {
        let inside = &all[tasks.clone()];
        let start = inside.iter().map(|task| task.start).min().unwrap_or_default();
        let finish = inside.iter().map(GanttTask::finish).max().unwrap_or_default();
        Self { tasks, start, finish }
    }
}

/// Returns the rows: each task its own while they are few, otherwise as many levels of the tree as there are rows for.
pub(super) fn fold(chart: &Gantt) -> Vec<Row> {
    let rows_max = chart.rows_max.max(1);
    let beginnings: Vec<usize> = match deepest_level(chart, rows_max) {
        Some(level) => (0..chart.tasks.len()).filter(|at| *at == 0 || chart.tasks[*at].depth <= level).collect(),
        None => {
            let top = top_level(chart);
            let tops = (0..chart.tasks.len()).filter(|at| *at == 0 || chart.tasks[*at].depth == top);
            let tops: Vec<usize> = tops.collect();
            tops.iter().step_by(tops.len().div_ceil(rows_max).max(1)).copied().collect()
        }
    };
    let ends = beginnings.iter().skip(1).copied().chain([chart.tasks.len()]);
    beginnings.iter().zip(ends).map(|(from, until)| Row::of(*from..until, &chart.tasks)).collect()
}

/// Returns the deepest level down to which all tasks have room, if even the top ones have.
fn deepest_level(chart: &Gantt, rows_max: usize) -> Option<usize> {
    let mut on_level: BTreeMap<usize, usize> = BTreeMap::new();
    for task in &chart.tasks {
        *on_level.entry(task.depth).or_default() += 1;
    }
    let mut shown = 1; // The first task always has a row, even one that is deep.
    let fits = on_level.into_iter().take_while(|(_, count)| {
        shown += count;
        shown <= rows_max + 1
    });
    fits.last().map(|(level, _)| level)
}

fn top_level(chart: &Gantt) -> usize {
    chart.tasks.iter().map(|task| task.depth).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(depths: &[usize], rows_max: usize) -> Gantt {
        let tasks = depths.iter().map(|depth| GanttTask { depth: *depth, ..GanttTask::default() }).collect();
        Gantt { tasks, rows_max, ..Gantt::default() }
    }

    fn folded(depths: &[usize], rows_max: usize) -> Vec<Range<usize>> {
        fold(&chart(depths, rows_max)).into_iter().map(|row| row.tasks).collect()
    }

    #[test]
    fn few_tasks_have_a_row_each() {
        assert_eq!(folded(&[0, 1, 1, 0], 4), [0..1, 1..2, 2..3, 3..4]);
        assert!(folded(&[], 4).is_empty());
    }

    #[test]
    fn the_deeper_levels_fold_first() {
        assert_eq!(folded(&[0, 1, 2, 2, 1, 0], 5), [0..1, 1..4, 4..5, 5..6]);
        assert_eq!(folded(&[0, 1, 2, 2, 1, 0], 2), [0..5, 5..6]);
    }

    #[test]
    fn a_long_list_without_levels_folds_into_stretches() {
        assert_eq!(folded(&[0; 7], 3), [0..3, 3..6, 6..7]);
    }

    #[test]
    fn there_are_never_more_rows_than_wanted_and_no_task_is_lost() {
        for depths in [&[3, 1, 0, 5, 2, 2, 9][..], &[9, 9, 0], &[1, 0, 1, 0]] {
            for rows_max in 0..8 {
                let rows = folded(depths, rows_max);
                assert!(rows.len() <= rows_max.max(1) + 1, "{depths:?} {rows_max} {rows:?}");
                assert_eq!(rows.iter().map(Range::len).sum::<usize>(), depths.len());
            }
        }
    }
}
