//! Random results of whole plans, and who reads them.

use gantry_core::plan::{Action, Input, Plan, PlanArtifact, Reference};

use super::tasks::makes_items;
use super::{Shape, task_id};
use crate::dice::Dice;

/// The output that a plan gives as its result.
const NAME: &str = "items";

/// Draws a result of the plan; tasks that wait for its maker may read it under its name.
pub fn draw(dice: &mut Dice, shape: &Shape, plan: &mut Plan) {
    let makers: Vec<usize> = (0..shape.len()).filter(|index| makes_items(&plan.tasks[*index])).collect();
    let Some(maker) = dice.pick(&makers).copied().filter(|_| dice.percent(30)) else { return };
    plan.artifacts.push(PlanArtifact { name: NAME.to_owned(), from: task_id(maker) });
    let from = || Input::From(Reference::Artifact { name: NAME.to_owned() });
    for index in (maker + 1..shape.len()).filter(|index| shape.waits[*index].contains(&maker)) {
        let task = &mut plan.tasks[index];
        match &mut task.action {
            Some(Action::Map(map)) if dice.percent(50) => map.over = from(),
            Some(Action::Tool(tool)) if dice.percent(40) => drop(tool.args.insert("result".to_owned(), from())),
            _ if dice.percent(50) => drop(task.inputs.insert("result".to_owned(), from())),
            _ => {}
        }
    }
}
