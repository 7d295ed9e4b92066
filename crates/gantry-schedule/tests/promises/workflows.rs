//! Runs of real scientific workflows: every one of them can be read and scheduled.

use gantry_schedule::read::wfcommons;

use crate::kit::planned;
use crate::world::{assert_holds, entries, folder};

#[test]
fn every_published_workflow_is_scheduled_on_the_machines_it_had() {
    let Some(folder) = folder("wfinstances") else { return };
    let files = entries(&folder).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let mut tasks = 0;
    for path in files {
        let project = wfcommons::read(&std::fs::read_to_string(&path).unwrap()).unwrap().project;
        let schedule = planned(&project);
        assert_holds(&project, &schedule);
        assert!(schedule.feasible, "{}", path.display());
        assert_eq!(schedule.tasks.len(), project.tasks.len());
        tasks += project.tasks.len();
    }
    assert!(tasks > 4_000, "{tasks}");
}
