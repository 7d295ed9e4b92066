//! Reads runs of scientific workflows in the `WfCommons` format (`WfFormat` 1.4 and 1.5).
//!
//! Each task takes the time it really took, in whole seconds, and the cores it used; the machines that the run had
//! are one pool of cores.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Notes, Read, Unreadable};
use crate::project::{Amount, Estimate, Length, Link, Need, Project, Resource, Task, Unit};

/// The name of the pool of cores.
const CORES: &str = "cores";

/// As many cores as can be counted in thousandths.
const CORES_MAX: u32 = u32::MAX / 1_000;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    name: String,
    workflow: Workflow,
}

#[derive(Deserialize)]
struct Workflow {
    specification: Option<Specification>,
    execution: Option<Execution>,
    /// Before version 1.5 what was planned and what was measured stood together.
    #[serde(default)]
    tasks: Vec<Entry>,
    #[serde(default)]
    machines: Vec<Machine>,
}

#[derive(Deserialize)]
struct Specification {
    tasks: Vec<Entry>,
}

#[derive(Default, Deserialize)]
struct Execution {
    #[serde(default)]
    tasks: Vec<Entry>,
    #[serde(default)]
    machines: Vec<Machine>,
}

/// A task, as it was planned or as it was measured.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(alias = "runtime")]
    runtime_in_seconds: Option<f64>,
    #[serde(alias = "cores")]
    core_count: Option<f64>,
}

impl Entry {
    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }
}

#[derive(Deserialize)]
struct Machine {
    cpu: Option<Cpu>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cpu {
    #[serde(alias = "count")]
    core_count: Option<u32>,
}

/// Reads the text of a file.
pub fn read(text: &str) -> Result<Read, Unreadable> {
    let file: File = serde_json::from_str(text).map_err(|error| Unreadable {
        line: error.line(),
        what: format!("this is no workflow in the WfCommons format: {error}"),
    })?;
    let Workflow { specification, execution, tasks, machines } = file.workflow;
    let planned = specification.map_or(tasks, |specification| specification.tasks);
    let execution = execution.unwrap_or_default();
    let measured: BTreeMap<&str, &Entry> = execution.tasks.iter().map(|entry| (entry.id(), entry)).collect();
    let machines = execution.machines.iter().chain(&machines);
    let cores = machines.filter_map(|machine| machine.cpu.as_ref()?.core_count).fold(0, u32::saturating_add);
    let cores = cores.min(CORES_MAX);

    let mut project = Project { name: file.name, ..Project::counting(Unit::Second) };
    if cores > 0 {
        project.resources.push(Resource::pool(CORES, cores));
    }
    let mut notes = Notes::default();
    for entry in &planned {
        let run = measured.get(entry.id()).copied().unwrap_or(entry);
        if cores > 0 && run.core_count.is_some_and(|count| count > f64::from(cores)) {
            notes.add(
                || 1,
                format!("a task that used more cores than the {cores} of the machines is taken to have used these"),
            );
        }
        let needs = if cores > 0 { vec![cores_of(run, cores)] } else { Vec::new() };
        project.tasks.push(Task {
            title: entry.name.clone(),
            after: entry.parents.iter().map(Link::after).collect(),
            estimate: Some(Estimate::fixed(runtime(run)?)),
            needs,
            ..Task::milestone(entry.id())
        });
    }
    Ok(Read { project, notes: notes.by_line() })
}

fn runtime(run: &Entry) -> Result<Length, Unreadable> {
    let seconds = run.runtime_in_seconds.or(Some(0.0)).filter(|seconds| (0.0..1e9).contains(seconds));
    let what =
        || format!("task `{}` took no time that makes sense; expected `runtimeInSeconds` of 0 or more", run.id());
    #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
    let whole = |seconds: f64| Length::seconds(seconds.round() as i64);
    seconds.map(whole).ok_or_else(|| Unreadable { line: 1, what: what() })
}

/// The cores that a task used, at least one and at most those that there are.
fn cores_of(run: &Entry, cores: u32) -> Need {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the cores that there are")]
    let used = run.core_count.map_or(1, |count| count.clamp(1.0, f64::from(cores)).ceil() as u32);
    Need { amount: Amount::whole(used), ..Need::named(CORES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_project_in_seconds_on_the_cores_of_its_machines() {
        let text = r#"{"name": "blast", "workflow": {
            "specification": {"tasks": [
                {"name": "split", "id": "split-1", "parents": []},
                {"name": "align", "id": "align-2", "parents": ["split-1"]}]},
            "execution": {
                "tasks": [{"id": "split-1", "runtimeInSeconds": 2.4}, {"id": "align-2", "runtimeInSeconds": 60, "coreCount": 99}],
                "machines": [{"nodeName": "a", "cpu": {"coreCount": 4}}, {"nodeName": "b", "cpu": {"coreCount": 4}}]}}}"#;
        let Read { project, notes } = read(text).unwrap();
        assert_eq!(notes.len(), 1, "more cores than there are: {notes:?}");
        assert_eq!((project.name.as_str(), project.unit), ("blast", Unit::Second));
        assert_eq!(project.resources, [Resource::pool("cores", 8)]);
        let align = project.task("align-2").unwrap();
        assert_eq!(align.after, [Link::after("split-1")]);
        assert_eq!(align.estimate, Some(Estimate::fixed(Length::seconds(60))));
        assert_eq!(align.needs, [Need::of("cores", 8)], "no more than there are");
        assert_eq!(project.task("split-1").unwrap().estimate, Some(Estimate::fixed(Length::seconds(2))));
    }

    #[test]
    fn the_older_format_has_everything_in_one_place() {
        let text =
            r#"{"workflow": {"tasks": [{"name": "a", "runtime": 5}, {"name": "b", "runtime": 7, "parents": ["a"]}]}}"#;
        let project = read(text).unwrap().project;
        assert_eq!(project.tasks.len(), 2);
        assert!(project.resources.is_empty());
    }

    #[test]
    fn what_is_no_workflow_is_refused_with_its_line() {
        let error = read("{\n  \"workflow\": 3\n}").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.what.contains("WfCommons"), "{error}");
        let error = read(r#"{"workflow": {"tasks": [{"name": "a", "runtime": -5}]}}"#).unwrap_err();
        assert!(error.what.contains("task `a`"), "{error}");
    }
}
