//! What a table says of its tasks together: what contains what, and when each starts where nothing else says so.

use std::collections::BTreeSet;

use super::{Column, Notes, Row, Unreadable};
use crate::project::{Project, Task, When};

/// What a table says of a task that holds only once all tasks are known.
#[derive(Default)]
pub(super) struct Outline {
    /// The tasks that contain the next one, each with how far it is indented.
    open: Vec<(u32, String)>,
    /// When each task starts by the table, and on which line that stands.
    starts: Vec<Option<(When, usize)>>,
    lines: Vec<usize>,
}

impl Outline {
    /// What is indented further lies in what stands above it. A start that is none is left out: most tables have others.
    pub(super) fn take(&mut self, row: &Row<'_>, task: &mut Task, notes: &mut Notes) -> Result<(), Unreadable> {
        if let Some(level) = row.whole::<u32>(Column::Level)? {
            while self.open.pop_if(|(above, _)| *above >= level).is_some() {}
            task.parent = task.parent.take().or_else(|| self.open.last().map(|(_, id)| id.clone()));
            self.open.push((level, task.id.clone()));
        }
        let start = row.when(Column::Start).unwrap_or_else(|wrong| {
            notes.add(|| row.line, format!("this `start` is not read: {}", wrong.what));
            None
        });
        self.starts.push(start.map(|when| (when, row.line)));
        self.lines.push(row.line);
        Ok(())
    }

    /// What contains others takes as long as these. Where nothing else says when a task starts, its start does.
    pub(super) fn settle(self, project: &mut Project, notes: &mut Notes) {
        let parents: BTreeSet<String> = project.tasks.iter().filter_map(|task| task.parent.clone()).collect();
        for ((task, start), line) in project.tasks.iter_mut().zip(self.starts).zip(self.lines) {
            if parents.contains(&task.id) {
                if task.estimate.take().is_some() {
                    notes.add(|| line, "a task that contains others takes as long as they do");
                }
                continue;
            }
            let Some((start, line)) = start.filter(|_| task.start_no_earlier.is_none()) else { continue };
            if task.progress.started.is_some() || task.progress.finished.is_some() {
                continue;
            }
            if task.after.is_empty() {
                task.start_no_earlier = Some(start);
            } else {
                notes.add(|| line, "a task that waits for others starts after them; its `start` is not read");
            }
        }
    }
}
