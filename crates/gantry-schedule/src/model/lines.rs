//! All timelines of a project: one per calendar, and one for each set of calendars that must agree.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::zone_of;
use crate::calendar::{Layout, Timeline, scale};
use crate::frame::Frame;
use crate::problem::{Problem, ProblemKind};
use crate::project::{Calendar, Project, Resource, Scale};

/// The place of the timeline that never stops.
pub(crate) const ALWAYS: usize = 1;

/// Timelines by place: the project's own, round the clock, then others.
pub(crate) struct Lines {
    pub all: Vec<Timeline>,
    layout: Layout,
    zone: TimeZone,
    calendars: BTreeMap<String, (Calendar, usize, Scale)>,
    common: BTreeMap<Vec<usize>, Option<usize>>,
}

impl Lines {
    pub(super) fn new(
        project: &Project,
        default: &Calendar,
        layout: Layout,
        frame: &Frame,
    ) -> Result<Self, Vec<Problem>> {
        let zone = frame.zone.clone();
        let own = layout.lay_out(default, &zone).ok_or_else(|| vec![no_work(default)])?;
        let mut lines = Self {
            all: vec![own, Timeline::Always],
            layout,
            zone,
            calendars: BTreeMap::new(),
            common: BTreeMap::new(),
        };
        for calendar in &project.calendars {
            let at = if calendar == default { 0 } else { lines.add(calendar).map_err(|problem| vec![problem])? };
            lines.calendars.insert(calendar.id.clone(), (calendar.clone(), at, scale(calendar, project.unit)));
        }
        Ok(lines)
    }

    fn add(&mut self, calendar: &Calendar) -> Result<usize, Problem> {
        let zone = if calendar.zone.is_none() { self.zone.clone() } else { zone_of(calendar).unwrap_or(TimeZone::UTC) };
        let line = self.layout.lay_out(calendar, &zone).ok_or_else(|| no_work(calendar))?;
        if line == Timeline::Always {
            return Ok(ALWAYS);
        }
        self.all.push(line);
        Ok(self.all.len() - 1)
    }

    /// The timeline of a calendar that is known to be there.
    pub(crate) fn of(&self, calendar: &str) -> usize {
        self.calendars[calendar].1
    }

    /// What a day of work is on a calendar; none for a calendar that is not there.
    pub(crate) fn scale(&self, calendar: &str) -> Option<Scale> {
        self.calendars.get(calendar).map(|known| known.2)
    }

    /// The timeline of a resource with hours or absences of its own.
    pub(super) fn of_resource(&mut self, resource: &Resource) -> Result<Option<usize>, Problem> {
        let base = resource.calendar.as_deref().and_then(|id| self.calendars.get(id));
        match (base, resource.absences.is_empty()) {
            (None, true) => Ok(None),
            (Some((_, at, _)), true) => Ok(Some(*at)),
            (base, false) => {
                let base = base.map_or_else(|| Calendar::always(&resource.id), |known| known.0.clone());
                self.add(&base.without(resource.absences.iter().copied())).map(Some)
            }
        }
    }

    /// The time that several timelines have in common; none when there is none.
    pub(crate) fn common(&mut self, mut lines: Vec<usize>) -> Option<usize> {
        lines.sort_unstable();
        lines.dedup();
        lines.retain(|&line| line != ALWAYS);
        match lines[..] {
            [] => return Some(ALWAYS),
            [one] => return Some(one),
            _ => {}
        }
        if let Some(&known) = self.common.get(&lines) {
            return known;
        }
        let first = self.all[lines[0]].clone();
        let both = lines[1..].iter().try_fold(first, |line, &other| line.and(&self.all[other]));
        let at = both.map(|line| {
            self.all.push(line);
            self.all.len() - 1
        });
        self.common.insert(lines, at);
        at
    }
}

fn no_work(calendar: &Calendar) -> Problem {
    Problem::new(
        format!("calendar.{}", calendar.id),
        ProblemKind::Calendar,
        "it has no working time for a whole year",
        "give `week` some hours, or shorten the days off",
    )
}
