//! The project made ready for computing: names become places, dates seconds, calendars timelines, links ties.
//!
//! Tasks and resources are ordered by id here, so that nothing computed depends on their order in a file.

mod causes; // in reading order
mod check;
mod lines;
mod nodes;
mod percent;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(crate) use causes::shared_causes;
pub(crate) use lines::{ALWAYS, Lines};
pub(crate) use nodes::common_line;

use crate::calendar::{Layout, Timeline, scale};
use crate::chance;
use crate::frame::{Edge, Frame};
use crate::network::Network;
use crate::problem::Problem;
use crate::project::{Calendar, Need, Project, ReferenceClass, Resource, Scale, Task, When, Who};
use crate::schedule::Basis;

/// How far calendars are laid out at first.
pub(crate) const HORIZON_FIRST: i64 = 4 * 366 * 86_400;

/// Longer than this is not laid out day by day; the last year then repeats.
pub(crate) const HORIZON_MAX: i64 = 60 * 366 * 86_400;

/// A project made ready.
pub(crate) struct Model<'p> {
    pub project: &'p Project,
    pub frame: Frame,
    /// By id.
    pub tasks: Vec<&'p Task>,
    pub parts: Vec<Vec<usize>>,
    /// By id.
    pub resources: Vec<Supply<'p>>,
    pub lines: Lines,
    pub network: Network,
    /// The node of each task that is not a summary.
    pub node_of: Vec<Option<usize>>,
    /// The node at which each task is finished: its own, or the closing point of a summary.
    pub last_of: Vec<usize>,
    /// How much of each task is done, 0 to 100.
    pub percent: Vec<u8>,
    /// The seconds at which the project begins to plan: its start, or the data date.
    pub from: i64,
    task_places: BTreeMap<&'p str, usize>,
}

/// A resource made ready.
pub(crate) struct Supply<'p> {
    pub resource: &'p Resource,
    /// From which second on there is how much, in thousandths; the first from the beginning of time.
    pub capacity: Vec<(i64, u32)>,
    /// When it works, if it says so itself.
    pub line: Option<usize>,
}

impl<'p> Model<'p> {
    /// Checks a project and makes it ready.
    ///
    /// Calendars are laid out day by day up to the horizon, and as far as dates are named; then their last year repeats.
    pub(crate) fn new(project: &'p Project, basis: Basis, horizon: i64) -> Result<Self, Vec<Problem>> {
        let mut problems = check::check(project);
        if !problems.is_empty() {
            problems.sort();
            return Err(problems);
        }
        let default = default_calendar(project);
        let frame = frame(project, &default).map_err(|problem| vec![problem])?;
        let mut tasks: Vec<&Task> = project.tasks.iter().collect();
        tasks.sort_by(|a, b| a.id.cmp(&b.id));
        let task_places: BTreeMap<&str, usize> = tasks.iter().enumerate().map(|(at, task)| (&*task.id, at)).collect();
        let mut parts = vec![Vec::new(); tasks.len()];
        for (at, task) in tasks.iter().enumerate() {
            if let Some(parent) = task.parent.as_deref().and_then(|id| task_places.get(id)) {
                parts[*parent].push(at);
            }
        }
        let layout = Layout { origin: frame.origin, horizon: horizon.max(last_date(project, &frame)).min(HORIZON_MAX) };
        let mut lines = Lines::new(project, &default, layout, &frame)?;
        let resources = supplies(project, &frame, &mut lines)?;
        let mut model = Self {
            project,
            tasks,
            parts,
            resources,
            network: Network::new(Vec::new(), Vec::new()).map_err(|_| Vec::new())?.0,
            node_of: Vec::new(),
            last_of: Vec::new(),
            percent: Vec::new(),
            from: 0,
            task_places,
            lines,
            frame,
        };
        let data_date = project.data_date.and_then(|when| model.second(when, Edge::First));
        model.from = data_date.map_or(0, |at| at.max(0));
        nodes::build(&mut model, basis)?;
        model.percent = percent::percents(&model, basis);
        Ok(model)
    }

    /// The place of a task that is known to be there.
    pub(crate) fn place(&self, id: &str) -> usize {
        self.task_places[id]
    }

    /// The project's own timeline.
    pub(crate) fn line(&self) -> &Timeline {
        &self.lines.all[0]
    }

    /// The second of a point in time.
    pub(crate) fn second(&self, when: When, edge: Edge) -> Option<i64> {
        self.frame.second(when, edge, self.line())
    }

    /// Whether a task is made of others.
    pub(crate) fn is_summary(&self, task: usize) -> bool {
        !self.parts[task].is_empty()
    }

    /// What a day of work is for a task.
    pub(crate) fn scale_of(&self, task: &Task) -> Scale {
        let mut people = task.needs.iter().filter_map(|need| self.named(need));
        let calendar = people.find_map(|at| self.resources[at].resource.calendar.as_deref());
        task.calendar.as_deref().or(calendar).and_then(|id| self.lines.scale(id)).unwrap_or(self.frame.scale)
    }

    /// The seconds of work of a whole task, as the schedule takes it.
    pub(crate) fn planned(&self, task: &Task, basis: Basis) -> i64 {
        let Some(estimate) = &task.estimate else { return 0 };
        let scale = self.scale_of(task);
        let class = task.class.as_deref().and_then(|id| self.project.classes.iter().find(|class| class.id == id));
        let seconds = estimate.map(|length| length.to_seconds(&scale));
        chance::planned(&seconds, basis, class.map_or(1.0, ReferenceClass::mean))
    }

    /// The resource of a need that names one.
    pub(crate) fn named(&self, need: &Need) -> Option<usize> {
        match &need.who {
            Who::Named { resource } => self.resources.binary_search_by(|supply| supply.resource.id.cmp(resource)).ok(),
            Who::Fitting { .. } => None,
        }
    }
}

fn default_calendar(project: &Project) -> Calendar {
    let named = project.calendar.as_deref().and_then(|id| project.calendars.iter().find(|calendar| calendar.id == id));
    named.cloned().unwrap_or_else(|| Calendar::always(""))
}

fn frame(project: &Project, default: &Calendar) -> Result<Frame, Problem> {
    let zone = zone_of(default).unwrap_or(TimeZone::UTC);
    let mut frame = Frame { origin: Timestamp::UNIX_EPOCH, zone, dated: false, scale: scale(default, project.unit) };
    if let Some(start) = project.start {
        let second = match start {
            When::After(_) => None,
            other => frame.second(other, Edge::First, &Timeline::Always),
        };
        let origin = second.and_then(|second| Timestamp::from_second(second).ok()).ok_or_else(|| {
            Problem::value("project.start", format!("`{start}` is not a date"), "write a date such as `2026-03-02`")
        })?;
        frame = Frame { origin, dated: true, ..frame };
    }
    Ok(frame)
}

/// The zone of a calendar, if there is such a zone.
fn zone_of(calendar: &Calendar) -> Option<TimeZone> {
    TimeZone::get(calendar.zone.as_deref().unwrap_or("UTC")).ok()
}

/// The last date that anything in a project names.
fn last_date(project: &Project, frame: &Frame) -> i64 {
    let dates = |task: &Task| task.start_no_earlier.into_iter().chain(task.deadline.map(|deadline| deadline.at));
    let all = project.tasks.iter().flat_map(dates).chain(project.deadline.map(|deadline| deadline.at));
    let seconds = all.chain(project.data_date).filter_map(|when| frame.second(when, Edge::Last, &Timeline::Always));
    seconds.max().unwrap_or(0)
}

fn supplies<'p>(project: &'p Project, frame: &Frame, lines: &mut Lines) -> Result<Vec<Supply<'p>>, Vec<Problem>> {
    let mut resources: Vec<&Resource> = project.resources.iter().collect();
    resources.sort_by(|a, b| a.id.cmp(&b.id));
    let supply = |resource: &'p Resource, lines: &mut Lines| {
        let mut capacity = vec![(i64::MIN, resource.capacity.0)];
        for change in &resource.changes {
            let at = frame.second(change.from, Edge::First, &lines.all[0]).unwrap_or(0);
            capacity.push((at, change.capacity.0));
        }
        capacity.sort_by_key(|step| step.0);
        Ok(Supply { resource, capacity, line: lines.of_resource(resource)? })
    };
    resources
        .into_iter()
        .map(|resource| supply(resource, lines))
        .collect::<Result<_, _>>()
        .map_err(|problem| vec![problem])
}
