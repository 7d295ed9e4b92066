//! A plan inside a plan is lived like any other, in a world of its own.

use gantry_core::effect::Failure;
use gantry_core::id::TaskId;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_core::plan::Plan;
use gantry_core::policy::FailureClass;

use super::{Trace, World};
use crate::checks;
use crate::dice::Dice;
use crate::violation::{Outcome, Violation};

impl World {
    /// Runs a plan inside this one to its end, without faults; its journal is checked like any other.
    pub(super) fn run_nested(&mut self, task: &TaskId, plan: &Plan) -> Outcome<Result<(), Failure>> {
        let seed = self.dice.any();
        let inner = Self::begin(plan.clone(), seed, Dice::new(seed, 3), Trace::Off).and_then(|mut inner| {
            inner.turn(Input::Start)?;
            inner.calm_down()?;
            checks::check_whole(&inner.record, &inner.life)?;
            Ok(inner)
        });
        let inner = inner
            .map_err(|broken| Violation::new(broken.rule, format!("in the plan inside `{task}`: {}", broken.detail)))?;
        Ok(match inner.life.state() {
            PlanState::Completed => Ok(()),
            state => Err(Failure::new(FailureClass::Logic, format!("the plan inside is {state:?}"))),
        })
    }
}
