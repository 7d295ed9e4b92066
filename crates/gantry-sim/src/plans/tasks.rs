//! Random tasks on a skeleton: contracts, routes, failure modes, limits.

use std::collections::BTreeMap;

use gantry_core::expr::Expr;
use gantry_core::id::TaskId;
use gantry_core::plan::{
    Action, ArtifactDecl, Check, Command, Escalation, FailureMode, Idempotency, InitialStatus, Input, Kind, On,
    Reference, Route, Task, Undo,
};
use gantry_core::policy::{Budget, Policy};
use serde_json::json;

use super::{BEGINNING, Shape, actions, policy, seconds};
use crate::dice::Dice;

/// The kind of task that puts something before its users.
const DEPLOY: &str = "deploy";

/// The id of the task with this index.
pub fn task_id(index: usize) -> TaskId {
    TaskId::slugged(&format!("t{index}"))
}

/// Draws one task that waits for nothing.
pub fn leaf(dice: &mut Dice, id: &str) -> Task {
    let mut task = Task::new(TaskId::slugged(id));
    task.action = match dice.below(10) {
        0 => None,
        1 => actions::action(dice, &[]).filter(|action| !matches!(action, Action::Map(_) | Action::Plan(_))),
        _ => Some(actions::attempt(dice)),
    };
    contract(dice, &mut task, &Budget::default());
    task
}

/// Draws all tasks of a skeleton.
pub fn draw(dice: &mut Dice, shape: &Shape, policy: &Policy) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::with_capacity(shape.len());
    for index in 0..shape.len() {
        let mut task = Task::new(task_id(index));
        task.parent = shape.parent[index].map(task_id);
        task.depends_on = shape.waits[index].iter().map(|other| task_id(*other)).collect();
        let names: Vec<String> = shape.waits[index].iter().map(|other| task_id(*other).to_string()).collect();
        task.action = draw_action(dice, shape, index, &tasks, &names);
        read_inputs(dice, shape, index, &tasks, &mut task);
        contract(dice, &mut task, &policy.budget);
        tasks.push(task);
    }
    for index in 0..shape.len() {
        lay_routes(dice, shape, index, &mut tasks);
    }
    tasks
}

fn draw_action(dice: &mut Dice, shape: &Shape, index: usize, tasks: &[Task], names: &[String]) -> Option<Action> {
    if shape.is_composite(index) {
        return if dice.percent(65) { None } else { actions::action(dice, names) };
    }
    if !dice.percent(6) {
        return actions::action(dice, names);
    }
    let makers: Vec<usize> = shape.waits[index].iter().copied().filter(|other| makes_items(&tasks[*other])).collect();
    let over = match dice.pick(&makers) {
        Some(maker) if dice.percent(70) => reference(*maker, "items"),
        _ => Input::Value(json!((0..dice.below(4)).collect::<Vec<_>>())),
    };
    Some(actions::map(dice, over))
}

/// Tells whether a task gives a list that others can read.
pub fn makes_items(task: &Task) -> bool {
    match &task.action {
        Some(Action::Run(_) | Action::Model(_) | Action::Tool(_) | Action::Agent(_)) => true,
        Some(Action::Compute(compute)) => compute.0.contains_key("items"),
        _ => false,
    }
}

fn reference(task: usize, output: &str) -> Input {
    Input::From(Reference::Task { task: task_id(task), path: vec![output.to_owned()] })
}

fn read_inputs(dice: &mut Dice, shape: &Shape, index: usize, tasks: &[Task], task: &mut Task) {
    for other in &shape.waits[index] {
        if makes_items(&tasks[*other]) && dice.percent(35) {
            let read = reference(*other, dice.word(&["items", "score"]));
            put_input(dice, task, format!("from_{}", tasks[*other].id), read);
            if dice.percent(30) {
                task.depends_on.retain(|id| *id != tasks[*other].id); // what it reads is waited for anyway
            }
        }
    }
    let makers: Vec<&Task> =
        shape.waits[index].iter().map(|other| &tasks[*other]).filter(|other| !other.artifacts.is_empty()).collect();
    if let Some(artifact) = dice.pick(&makers).and_then(|maker| maker.artifacts.first())
        && dice.percent(60)
    {
        let reference = Reference::Artifact { name: artifact.name.clone() };
        task.inputs.insert("kept".to_owned(), Input::From(reference));
    }
    if makes_items(task) && dice.percent(15) {
        task.artifacts.push(ArtifactDecl { name: format!("kept_{index}"), ..ArtifactDecl::default() });
    }
    if dice.percent(5) {
        task.inputs.insert("topic".to_owned(), Input::From(Reference::Memory { key: "topic".to_owned() }));
    }
    if dice.percent(10) {
        task.inputs.insert("plain".to_owned(), Input::Value(json!(dice.below(3))));
    }
}

/// Puts an input among the others, or where the action takes its own.
fn put_input(dice: &mut Dice, task: &mut Task, name: String, read: Input) {
    let apart = dice.percent(50);
    match &mut task.action {
        Some(Action::Tool(tool)) if apart => drop(tool.args.insert(name, read)),
        Some(Action::Plan(nested)) if apart => drop(nested.with.insert(name, read)),
        _ => drop(task.inputs.insert(name, read)),
    }
}

/// With a policy that asks for it, every deploy waits for a gate, and there is one to wait for.
pub fn put_deploys_behind_gates(dice: &mut Dice, shape: &Shape, tasks: &mut [Task]) {
    for index in 0..shape.len() {
        let is_gate = |other: &usize| {
            let by_people = matches!(&tasks[*other].action, Some(Action::Gate(gate)) if gate.approvals_needed() > 0);
            by_people && !tasks[*other].optional
        };
        let gates: Vec<usize> = shape.candidates(index).into_iter().filter(is_gate).collect();
        let deploys = tasks[index].kind.as_ref().is_some_and(|kind| kind.as_str() == DEPLOY);
        match dice.pick(&gates) {
            Some(gate) if deploys || dice.percent(20) => {
                tasks[index].kind = Some(Kind::new(DEPLOY));
                tasks[index].depends_on.push(task_id(*gate));
            }
            _ if deploys => tasks[index].kind = None,
            _ => {}
        }
    }
}

/// Everything about a task that is not an edge.
fn contract(dice: &mut Dice, task: &mut Task, plan: &Budget) {
    if dice.percent(10) {
        let kind = Kind::new(dice.word(&Kind::KNOWN));
        // In a file, whatever is of the kind `gate` is one.
        let fits = kind.as_str() != "gate" || matches!(task.action, Some(Action::Gate(_)));
        task.kind = fits.then_some(kind);
    }
    if dice.percent(8) {
        task.preconditions.push(Check::read(dice.word(&[
            "network.online == true",
            "env.region == \"eu\"",
            "memory.level > 1",
            "the room is free",
        ])));
    }
    if dice.percent(15) {
        task.success_criteria.push(Check::read(dice.word(&["default(exit_code, 0) == 0", "reads well"])));
    }
    if dice.percent(5) {
        task.postconditions.push(Check::read("default(score, 9) >= 2"));
    }
    if dice.percent(12) {
        let detect = dice.word(&["failure.class == \"transient\"", "default(score, 9) < 2", "attempt > 0", "a smell"]);
        let recover = dice.word(&["retry", "repair", "alternate", "fallback", "escalate", "try it slowly", "undo", ""]);
        task.failure_modes.push(FailureMode {
            name: "flaky".to_owned(),
            detect: dice.percent(70).then(|| Check::read(detect)),
            recover: (!recover.is_empty()).then(|| recover.to_owned()),
        });
    }
    task.retry = dice.percent(20).then(|| policy::retry(dice));
    task.timeout = dice.percent(25).then(|| seconds(dice, 5, 90));
    task.heartbeat = dice.percent(20).then(|| seconds(dice, 2, 15));
    task.timebox = dice.percent(8).then(|| seconds(dice, 20, 1_000));
    task.deadline = dice.percent(5).then(|| BEGINNING + seconds(dice, 1, 5_000));
    task.escalation = dice.percent(8).then(|| Escalation {
        after: seconds(dice, 1, 500),
        to: vec!["olga".to_owned(), "pat".to_owned()],
        levels: dice.small(1, 4),
    });
    task.optional = dice.percent(10);
    task.priority = dice.percent(10).then(|| i32::from(dice.percent(50)) * 5 - 2);
    task.idempotency = match dice.below(10) {
        0 => Some(Idempotency::Safe),
        1 => Some(Idempotency::Keyed),
        2 => Some(Idempotency::Unsafe),
        _ => None,
    };
    task.verify = dice.percent(20).then(|| Box::new(actions::attempt(dice)));
    task.undo = match dice.below(10) {
        0 | 1 if keeps_what_was(task) => Undo::Restore,
        2 => Undo::Never,
        3 => Undo::Action(Box::new(actions::attempt(dice))),
        _ => Undo::None,
    };
    if dice.percent(12) {
        task.alternates = (0..=dice.below(2)).map(|_| alternate(dice)).collect();
    }
    if dice.percent(10) {
        task.fallback = Some(BTreeMap::from([("score".to_owned(), json!(0)), ("items".to_owned(), json!([]))]));
    }
    if dice.percent(12) {
        task.budget = policy::share_of(dice, plan);
    }
    if dice.percent(8) {
        task.capabilities.push("gpu".to_owned());
    }
    task.status = match dice.below(100) {
        0 => InitialStatus::Completed,
        1 => InitialStatus::Skipped,
        _ => InitialStatus::Pending,
    };
}

fn alternate(dice: &mut Dice) -> Action {
    if dice.percent(75) {
        return actions::attempt(dice);
    }
    let text = if dice.percent(50) { "search(\"query\") -> items" } else { "do it the other way" };
    Action::Command(Command::new(text))
}

/// Routes from a task: forward to some that wait for it, back to some that it waits for.
fn lay_routes(dice: &mut Dice, shape: &Shape, index: usize, tasks: &mut [Task]) {
    let behind: Vec<usize> = (index + 1..shape.len()).filter(|other| shape.waits[*other].contains(&index)).collect();
    let outcomes: Vec<String> =
        actions::outcomes(tasks[index].action.as_ref()).into_iter().map(str::to_owned).collect();
    let branching = !outcomes.is_empty() && dice.percent(50);
    for to in behind {
        if dice.percent(if branching { 50 } else { 8 }) {
            let route = Route { on: ending(dice, &outcomes), to: task_id(to), max: None, when: condition(dice) };
            tasks[index].next.push(route);
            if dice.percent(50) {
                let id = tasks[index].id.clone();
                tasks[to].depends_on.retain(|other| *other != id);
            }
        }
    }
    let later: Vec<usize> = (index + 1..shape.len())
        .filter(|other| !shape.ancestors(*other).any(|above| above == index))
        .filter(|other| shape.waits[*other].is_empty())
        .collect();
    if dice.percent(6)
        && let Some(to) = dice.pick(&later)
        && let Some(mode) = tasks[index].failure_modes.first_mut()
    {
        mode.recover = Some(task_id(*to).to_string());
    } else if dice.percent(4)
        && let Some(to) = dice.pick(&later)
    {
        let on = ending(dice, &outcomes);
        tasks[index].next.push(Route { on, to: task_id(*to), max: None, when: None });
    }
    if dice.percent(9) {
        let upstream = shape.upstream(index);
        let to = if dice.percent(15) { Some(index) } else { dice.pick(&upstream).copied() };
        if let Some(to) = to {
            let on = if dice.percent(50) { On::Failure } else { ending(dice, &outcomes) };
            let route = Route { on, to: task_id(to), max: Some(dice.small(1, 3)), when: condition(dice) };
            tasks[index].next.push(route);
        }
    }
    let upstream = shape.upstream(index);
    if let Some(Action::Gate(gate)) = &mut tasks[index].action
        && dice.percent(40)
    {
        gate.back_to = dice.pick(&upstream).map(|to| task_id(*to));
    }
}

fn ending(dice: &mut Dice, outcomes: &[String]) -> On {
    if dice.percent(60)
        && let Some(outcome) = dice.pick(outcomes)
    {
        return On::Outcome(outcome.clone());
    }
    match dice.below(4) {
        0 => On::Failure,
        1 => On::Always,
        _ => On::Success,
    }
}

fn condition(dice: &mut Dice) -> Option<Expr> {
    if !dice.percent(15) {
        return None;
    }
    Expr::parse(dice.word(&["default(score, 3) > 4", "env.region == \"eu\"", "nonsense.here > 1"])).ok()
}

/// Tells whether a capability does it, which keeps what was there before.
fn keeps_what_was(task: &Task) -> bool {
    match &task.action {
        Some(Action::Run(_) | Action::Tool(_) | Action::Agent(_)) => true,
        Some(Action::Command(command)) => command.calls().is_some(),
        _ => false,
    }
}
