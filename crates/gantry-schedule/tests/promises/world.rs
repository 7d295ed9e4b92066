//! Data that others published, where it is there, and a check of schedules that knows nothing of how they were made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gantry_schedule::project::{LinkKind, Project, Unit};
use gantry_schedule::{Moment, Schedule, TaskKind};

/// A folder of the data beside the workspace; none, and a word about it, where it is absent.
pub fn folder(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|above| above.join("shared/data").join(name));
    let found = beside.into_iter().find(|path| path.is_dir());
    if found.is_none() {
        eprintln!("skipped: there is no `shared/data/{name}` beside the workspace");
    }
    found
}

/// The entries of a folder, in order.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn thousandths(moment: Moment) -> i64 {
    match moment {
        Moment::Count(count) => count.in_thousandths(),
        Moment::Date(instant, _) => instant.as_millisecond(),
    }
}

/// Every link from finish to start is kept, and nobody has more to do than they can.
///
/// For projects that count, with links from finish to start without lag and resources of constant capacity.
pub fn assert_holds(project: &Project, schedule: &Schedule) {
    assert!(matches!(project.unit, Unit::Second | Unit::Day | Unit::Hour));
    let times: BTreeMap<&str, (i64, i64)> =
        schedule.tasks.iter().map(|row| (row.id.as_str(), (thousandths(row.start), thousandths(row.finish)))).collect();
    for task in &project.tasks {
        for link in &task.after {
            assert_eq!((link.kind, link.lag.is_zero()), (LinkKind::FinishToStart, true));
            let (before, after) = (times[link.task.as_str()], times[task.id.as_str()]);
            assert!(after.0 >= before.1, "`{}` starts before `{}` has finished", task.id, link.task);
        }
    }
    let mut changes: BTreeMap<&str, Vec<(i64, i64)>> = BTreeMap::new();
    for row in schedule.tasks.iter().filter(|row| row.kind == TaskKind::Task) {
        let (start, finish) = times[row.id.as_str()];
        for share in row.resources.iter().filter(|_| start < finish) {
            let amount = i64::from(share.amount.0);
            changes.entry(&share.id).or_default().extend([(start, amount), (finish, -amount)]);
        }
    }
    for resource in &project.resources {
        let mut changes = changes.remove(resource.id.as_str()).unwrap_or_default();
        changes.sort_unstable(); // what ends comes before what begins
        let mut used = 0;
        for (at, change) in changes {
            used += change;
            assert!(used <= i64::from(resource.capacity.0), "`{}` has too much to do at {at}", resource.id);
        }
    }
    assert!(schedule.overloads.is_empty());
}
