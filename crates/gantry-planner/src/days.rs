//! What happens on the days that a request names. An event is held on its day, not as soon as everything is ready: work
//! before it may end earlier, work after it comes after.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::brief::Held;
use crate::knowledge::{Calendar, Three};
use crate::outline::{Outline, OutlineTask};

/// The calendar of what happens on the day: events fall on weekends, too.
pub(crate) const CALENDAR: &str = "on-the-day";
/// Nobody is on their feet for longer in one day.
const HOURS_MAX: f64 = 14.0;
/// What takes all of several days takes so many hours of each.
const HOURS_USUAL: f64 = 8.0;
/// Whoever gets ready has six weeks to spare before the day, or four where evenings and weekends are all there is, which
/// are many a week: with more, they would work on old facts.
const SPARE_DAYS: i32 = 42;
const SPARE_DAYS_OF_SPARE_TIME: i32 = 26;

/// Which work happens on the day, by kinds of projects.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Days {
    kinds: BTreeMap<String, Kind>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    work: Vec<String>,
    errands: Vec<String>,
    #[serde(default)]
    matters: BTreeMap<String, Vec<String>>,
}

impl Days {
    /// The list that comes with the program.
    pub(crate) fn built_in() -> &'static Self {
        static DAYS: OnceLock<Days> = OnceLock::new();
        DAYS.get_or_init(|| serde_saphyr::from_str(include_str!("../data/days.yaml")).unwrap_or_default())
    }

    /// The tasks of a kind.
    pub(crate) fn tasks(&self, kind: &str) -> &[String] {
        self.kinds.get(kind).map(|kind| kind.work.as_slice()).unwrap_or_default()
    }

    /// The errands of a kind, or of one of its matters.
    pub(crate) fn errands(&self, kind: &str, matter: Option<&str>) -> &[String] {
        let Some(kind) = self.kinds.get(kind) else { return &[] };
        match matter {
            Some(matter) => kind.matters.get(matter).map(Vec::as_slice).unwrap_or_default(),
            None => &kind.errands,
        }
    }

    /// Tells whether what is wanted happens on days rather than being done by one.
    pub(crate) fn know(&self, kind: &str, matter: Option<&str>) -> bool {
        !self.errands(kind, matter).is_empty() || matter.is_none() && !self.tasks(kind).is_empty()
    }
}

/// How what happens on the day fits into it.
pub(crate) struct Day {
    pub(crate) held: Held,
    /// How many hours of each day it takes.
    pub(crate) hours: f64,
    /// What its estimates are multiplied by.
    likely: f64,
    high: f64,
}

impl Day {
    /// None where nothing in the work happens on the days, or no days were named.
    pub(crate) fn of(outline: &Outline, held: Option<Held>) -> Option<Self> {
        let held = held.filter(|_| outline.tasks().any(|task| task.on_the_day))?;
        let days = f64::from((held.to - held.from).get_days()) + 1.0;
        let [_, likely, high] = longest(outline);
        if !held.all {
            // It takes as long as it takes, on some of the days.
            let hours = if high <= HOURS_MAX { HOURS_MAX } else { HOURS_USUAL };
            return Some(Self { held, hours, likely: 1.0, high: 1.0 });
        }
        let stretched = if days > 1.0 { (days * HOURS_USUAL / likely).max(1.0) } else { 1.0 };
        let hours = (likely * stretched / days).ceil().clamp(HOURS_USUAL, HOURS_MAX);
        // Whoever decides at the end of the last day needs the rest of it.
        let room = (days * hours - 1.0).max(1.0);
        let fits = |sum: f64| (room / sum).min(stretched);
        Some(Self { held, hours, likely: fits(likely), high: fits(high) })
    }

    /// How many days whoever gets ready has to spare before it.
    pub(crate) fn spare(calendar: Calendar) -> i32 {
        match calendar {
            Calendar::SpareTime => SPARE_DAYS_OF_SPARE_TIME,
            Calendar::Office | Calendar::Site | Calendar::RoundTheClock => SPARE_DAYS,
        }
    }

    /// How long something takes on the day.
    pub(crate) fn fitted(&self, [low, likely, high]: Three) -> Three {
        let high = high * self.high;
        let likely = (likely * self.likely).min(high);
        let low = (low * self.likely).min(likely);
        // Nobody is so sure of anything that it takes exactly so long.
        if low < high { [low, likely, high] } else { [high * 0.9, high, high] }
    }
}

/// How long the longest chain of what happens on the day takes.
fn longest(outline: &Outline) -> Three {
    let mut ends: BTreeMap<&str, Three> = BTreeMap::new();
    let tasks: Vec<&OutlineTask> = outline.tasks().filter(|task| task.on_the_day).collect();
    let mut most: Three = [0.1; 3];
    // Links of an outline lead back, so that one pass sees what comes before.
    for task in tasks {
        let before = task.after.iter().filter_map(|id| ends.get(id.as_str()));
        let begun = before.fold([0.0; 3], |most: Three, end| [0, 1, 2].map(|at| most[at].max(end[at])));
        let end: Three = [0, 1, 2].map(|at| begun[at] + task.hours[at]);
        most = [0, 1, 2].map(|at| most[at].max(end[at]));
        ends.insert(&task.id, end);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::{BUILT_IN, Knowledge};

    #[test]
    fn everything_that_happens_on_a_day_is_work_that_is_known() {
        let days: Days = serde_saphyr::from_str(include_str!("../data/days.yaml")).unwrap();
        for (name, kind) in &days.kinds {
            let (_, text) = BUILT_IN.iter().find(|(built_in, _)| built_in == name).unwrap();
            let known = Knowledge::read(name, text).unwrap();
            for id in &kind.work {
                assert!(known.tasks().any(|task| task.id == *id), "{name}: {id}");
            }
            for id in &kind.errands {
                assert!(known.household.tasks.iter().any(|task| task.id == *id), "{name}: {id}");
            }
            for (matter, ids) in &kind.matters {
                let known = known.household.matters.iter().find(|known| known.id == *matter).unwrap();
                assert!(ids.iter().all(|id| known.tasks.iter().any(|task| task.id == *id)), "{name}: {matter}");
            }
        }
    }
}
