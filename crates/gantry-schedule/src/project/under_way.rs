//! What is known of a project before it is scheduled: what is wrong with it, and what remains of work under way.

use super::{Length, Project};
use crate::frame::Edge;
use crate::model::{HORIZON_FIRST, Model};
use crate::problem::Problem;
use crate::schedule::Basis;

impl Project {
    /// Everything that keeps the project from being scheduled at all; nothing when it can be.
    pub fn problems(&self) -> Vec<Problem> {
        Model::new(self, Basis::default(), HORIZON_FIRST).err().unwrap_or_default()
    }

    /// The same project, where work under way that says nothing of how far it is has used up the working time since it
    /// started: what remains is its estimate without that, and nothing when it has taken longer.
    ///
    /// Without a data date nothing is under way. A project that cannot be scheduled stays as it is.
    #[must_use]
    pub fn with_time_used(self) -> Self {
        let remaining = self.remaining();
        let mut used = self;
        for (place, left) in remaining {
            used.tasks[place].progress.remaining = Some(left);
        }
        used
    }

    /// The tasks under way, by place, and what remains of each.
    fn remaining(&self) -> Vec<(usize, Length)> {
        let silent = |progress: &super::Progress| progress.percent.is_none() && progress.remaining.is_none();
        let under_way = |task: &super::Task| {
            task.progress.started.is_some() && task.progress.finished.is_none() && silent(&task.progress)
        };
        if self.data_date.is_none() || !self.tasks.iter().any(under_way) {
            return Vec::new();
        }
        let Ok(model) = Model::new(self, Basis::default(), HORIZON_FIRST) else { return Vec::new() };
        // Work that began before the project should have is under way only since it began.
        let Some(now) = self.data_date.and_then(|when| model.second(when, Edge::First)) else { return Vec::new() };
        let left = |task: &super::Task| {
            let node = &model.network.nodes[model.node_of[model.place(&task.id)]?];
            let started = model.second(task.progress.started?, Edge::First)?;
            let worked = model.lines.all[node.line].work_between(started, now);
            Some(Length::seconds((node.duration - worked.max(0)).max(0)))
        };
        let tasks = self.tasks.iter().enumerate().filter(|(_, task)| under_way(task));
        tasks.filter_map(|(place, task)| Some((place, left(task)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Calendar, Task, When};
    use super::*;
    use crate::{Moment, Options, schedule};

    fn day(text: &str) -> When {
        text.parse().unwrap()
    }

    fn building() -> Project {
        let mut build = Task::new("build", Length::days(5));
        build.progress.started = Some(day("2026-03-02"));
        let mut project = Project::starting(day("2026-03-02"), Calendar::office("office", "UTC")).with(build);
        project.data_date = Some(day("2026-03-05"));
        project
    }

    fn finish(project: Project) -> String {
        let Moment::Date(at, _) = schedule(&project.with_time_used(), &Options::default()).unwrap().finish else {
            panic!("there are dates")
        };
        at.to_string()
    }

    #[test]
    fn working_time_since_the_start_counts_as_work_done() {
        assert_eq!(finish(building()), "2026-03-06T17:00:00Z");
    }

    #[test]
    fn work_that_took_longer_than_estimated_is_about_to_end() {
        let late = Project { data_date: Some(day("2026-03-12T10:00")), ..building() };
        assert_eq!(finish(late), "2026-03-12T10:00:00Z");
    }

    #[test]
    fn work_that_began_before_the_project_should_have_used_no_more_time_than_has_passed() {
        let mut project = Project { start: Some(day("2026-04-06")), ..building() };
        project.data_date = Some(day("2026-03-03"));
        assert_eq!(finish(project), "2026-04-09T17:00:00Z");
    }

    #[test]
    fn what_someone_says_of_how_far_it_is_counts_more() {
        let mut project = building();
        project.tasks[0].progress.percent = Some(20);
        assert_eq!(finish(project), "2026-03-10T17:00:00Z");
    }

    #[test]
    fn everything_that_is_wrong_is_told_without_scheduling() {
        let mut project = building();
        project.tasks[0].calendar = Some("offcie".to_owned());
        project.resources.push(super::super::Resource { calendar: Some("x".to_owned()), ..Default::default() });
        assert_eq!(project.problems().len(), 3, "{:?}", project.problems());
        assert_eq!(building().problems(), []);
    }
}
