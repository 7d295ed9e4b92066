//! The plans that are measured.

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Gate, Idempotency, Input, Plan, Task, Tool};
use gantry_core::policy::Policy;

/// The shape of the pipeline, as data.
const PIPELINE: &str = include_str!("pipeline.txt");

/// The capability that measured tasks use.
pub const NOTHING: &str = "bench.nothing";

fn task(number: usize, needs: Vec<usize>, pause_ms: u64) -> Task {
    let id = |number: usize| TaskId::slugged(&format!("t{number}"));
    let args = [("pause_ms".to_owned(), Input::Value(pause_ms.into()))];
    let args = args.into_iter().filter(|_| pause_ms > 0).collect();
    Task {
        action: Some(Action::Tool(Tool { name: NOTHING.to_owned(), args })),
        depends_on: needs.into_iter().map(id).collect(),
        idempotency: Some(Idempotency::Safe),
        ..Task::new(id(number))
    }
}

fn plan(title: &str, tasks: Vec<Task>) -> Plan {
    let policy = Policy { parallel: Some(u32::MAX), ..Policy::default() };
    Plan { title: title.to_owned(), tasks, policy, ..Plan::default() }
}

/// One task after the other.
pub fn chain(length: usize) -> Plan {
    plan("chain", (0..length).map(|n| task(n, n.checked_sub(1).into_iter().collect(), 0)).collect())
}

/// One task, then many at once, then one.
pub fn fan(width: usize) -> Plan {
    let mut tasks = vec![task(0, Vec::new(), 0)];
    tasks.extend((1..=width).map(|n| task(n, vec![0], 0)));
    tasks.push(task(width + 1, (1..=width).collect(), 0));
    plan("fan", tasks)
}

/// The 61-task pipeline.
pub fn pipeline(pause_ms: u64) -> Plan {
    plan("pipeline", shape().into_iter().map(|(number, needs)| task(number, needs, pause_ms)).collect())
}

/// The pipeline behind a gate that nobody opens.
pub fn waiting() -> Plan {
    let gate = Task {
        action: Some(Action::Gate(Gate { approvals: Some(1), ..Gate::default() })),
        ..Task::new(TaskId::slugged("gate"))
    };
    let mut plan = pipeline(0);
    for task in plan.tasks.iter_mut().filter(|task| task.depends_on.is_empty()) {
        task.depends_on.push(gate.id.clone());
    }
    plan.tasks.push(gate);
    plan
}

/// How many tasks of the pipeline stand on its longest path: the bound that nothing can beat.
pub fn pipeline_depth() -> u64 {
    let mut depths = std::collections::BTreeMap::new();
    for (number, needs) in shape() {
        let before = needs.iter().filter_map(|need| depths.get(need)).max().copied().unwrap_or(0);
        depths.insert(number, before + 1);
    }
    depths.into_values().max().unwrap_or(0)
}

fn shape() -> Vec<(usize, Vec<usize>)> {
    let numbers = |text: &str| text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let lines = PIPELINE.lines().filter_map(|line| line.split_once(':'));
    lines.filter_map(|(number, needs)| Some((number.trim().parse().ok()?, numbers(needs)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_plans_are_sound_and_as_large_as_they_say() {
        for (plan, tasks) in [(chain(10), 10), (fan(10), 12), (pipeline(50), 61), (waiting(), 62)] {
            assert_eq!(plan.tasks.len(), tasks);
            assert!(plan.check().is_empty(), "{}: {:?}", plan.title, plan.check());
        }
        assert_eq!(pipeline_depth(), 36, "1.80 s at 50 ms a task");
    }
}
