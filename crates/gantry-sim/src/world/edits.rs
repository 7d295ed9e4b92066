//! Random changes of a plan while it runs.

use gantry_core::id::{Revision, TaskId};
use gantry_core::input::{self, Change};
use gantry_core::plan::{Action, Adopt, Input, On, Plan, Route, Task, diff};
use gantry_core::policy::{Budget, Judge, ProseBy};
use serde_json::{Value, json};

use super::World;
use crate::dice::Dice;
use crate::plans::{BEGINNING, action, leaf, seconds};

impl World {
    /// Someone changes the plan; most changes are valid.
    pub(super) fn revision(&mut self) -> input::Input {
        let old = self.life.plan();
        let mut new = old.clone();
        for _ in 0..=self.dice.below(3) {
            edit(&mut self.dice, &mut new, self.record.turns);
        }
        let base = if self.dice.percent(5) { Revision(0) } else { self.life.revision() };
        let change =
            if self.dice.percent(50) { Change::By(Box::new(diff(&old, &new))) } else { Change::To(Box::new(new)) };
        input::Input::Revise { by: "ana".to_owned(), rationale: "a better idea".to_owned(), base, change }
    }

    /// Someone lifts every limit on spending.
    pub(super) fn without_budgets(&mut self) -> input::Input {
        let mut plan = self.life.plan();
        plan.policy.budget = Budget::default();
        for task in &mut plan.tasks {
            task.budget = Budget::default();
        }
        self.change_to(plan)
    }

    /// Someone takes away what keeps tasks from starting.
    pub(super) fn without_preconditions(&mut self) -> input::Input {
        let mut plan = self.life.plan();
        for task in &mut plan.tasks {
            task.preconditions.clear();
        }
        self.change_to(plan)
    }

    fn change_to(&mut self, plan: Plan) -> input::Input {
        input::Input::Revise {
            by: "olga".to_owned(),
            rationale: "so that it can go on".to_owned(),
            base: self.life.revision(),
            change: Change::To(Box::new(plan)),
        }
    }
}

fn edit(dice: &mut Dice, plan: &mut Plan, nth: u64) {
    let count = plan.tasks.len();
    let at = dice.index(count);
    if count == 0 || dice.percent(20) {
        return add(dice, plan, nth);
    }
    let task = &mut plan.tasks[at];
    match dice.below(21) {
        0 | 1 => remove(plan, at),
        2 => relocate(dice, plan, at),
        3 => plan.tasks.swap(at, (at + 1) % count),
        4 => {
            let other = dice.index(count);
            let id = plan.tasks[other].id.clone();
            plan.tasks[at].depends_on.push(id);
        }
        5 => {
            task.depends_on.pop();
        }
        6 | 7 => task.action = action(dice, &[]).or_else(|| task.action.clone()),
        8 => match &mut task.action {
            Some(Action::Adopt(adopt)) => make_anew(dice, adopt, nth),
            _ => task.title = format!("now called {nth}"),
        },
        9 => task.timeout = Some(seconds(dice, 5, 60)),
        10 => task.optional = !task.optional,
        11 => {
            task.next.pop();
        }
        12 => plan.policy.parallel = Some(dice.small(1, 4)),
        13 => plan.policy.budget.model_calls = Some(dice.between(1, 60)),
        14 => task.budget = Budget::default(),
        15 => task.deadline = dice.percent(70).then(|| BEGINNING + seconds(dice, 1, 50_000)),
        16 => {
            plan.policy.prose =
                dice.pick(&[ProseBy::Person, ProseBy::Model, ProseBy::Agent]).copied().unwrap_or_default();
        }
        17 => plan.policy.judge = dice.pick(&[Judge::Nobody, Judge::Person, Judge::Model]).copied().unwrap_or_default(),
        18 => task.timebox = Some(seconds(dice, 10, 500)),
        19 => {
            let to = plan.tasks[dice.index(count)].id.clone();
            plan.tasks[at].next.push(Route { on: On::Always, to, max: None, when: None });
        }
        _ => {
            task.preconditions.clear();
            task.failure_modes.pop();
        }
    }
}

/// Lets what is taken in be another plan.
fn make_anew(dice: &mut Dice, adopt: &mut Adopt, nth: u64) {
    let Input::Value(made) = &mut adopt.0 else { return };
    let Some(tasks) = made.get_mut("tasks").and_then(Value::as_array_mut) else { return };
    match dice.below(3) {
        0 => drop(tasks.pop()),
        1 => tasks.push(json!(leaf(dice, &format!("own-{nth}")))),
        _ => tasks.iter_mut().for_each(|task| task["title"] = json!(format!("now called {nth}"))),
    }
}

fn add(dice: &mut Dice, plan: &mut Plan, nth: u64) {
    let mut task = leaf(dice, &format!("n{nth}-{}", plan.tasks.len()));
    let some = |dice: &mut Dice, tasks: &[Task]| dice.pick(tasks).map(|task| task.id.clone());
    if dice.percent(60) {
        task.depends_on.extend(some(dice, &plan.tasks));
    }
    if dice.percent(30) {
        task.parent = some(dice, &plan.tasks);
    }
    if dice.percent(30)
        && let Some(after) = some(dice, &plan.tasks)
        && let Some(behind) = plan.tasks.iter_mut().find(|task| task.id == after)
    {
        behind.depends_on.push(task.id.clone());
    }
    let at = dice.index(plan.tasks.len() + 1);
    plan.tasks.insert(at, task);
}

/// Takes out a task, what is in it, and every mention of them.
fn remove(plan: &mut Plan, at: usize) {
    let mut gone: Vec<TaskId> = vec![plan.tasks[at].id.clone()];
    loop {
        let inside = plan
            .tasks
            .iter()
            .find(|task| task.parent.as_ref().is_some_and(|parent| gone.contains(parent)) && !gone.contains(&task.id));
        let Some(inside) = inside else { break };
        gone.push(inside.id.clone());
    }
    plan.tasks.retain(|task| !gone.contains(&task.id));
    for task in &mut plan.tasks {
        task.depends_on.retain(|id| !gone.contains(id));
        task.next.retain(|route| !gone.contains(&route.to));
        let text = |id: &TaskId| format!("tasks.{id}.");
        let kept = |input: &Input| {
            let written = serde_json::to_string(input).unwrap_or_default();
            !gone.iter().any(|id| written.contains(&text(id)))
        };
        task.inputs.retain(|_, input| kept(input));
        match &mut task.action {
            Some(Action::Tool(tool)) => tool.args.retain(|_, input| kept(input)),
            Some(Action::Plan(nested)) => nested.with.retain(|_, input| kept(input)),
            _ => {}
        }
    }
    // A result that nobody makes any more can still be read: such a change is refused.
    plan.artifacts.retain(|artifact| !gone.contains(&artifact.from));
}

/// Puts a task under another parent, or to the top.
fn relocate(dice: &mut Dice, plan: &mut Plan, at: usize) {
    let parent = dice.index(plan.tasks.len());
    let new = if dice.percent(40) || parent == at { None } else { Some(plan.tasks[parent].id.clone()) };
    plan.tasks[at].parent = new;
}
