//! Claims: at most one process drives a plan.

use std::any::Any;
use std::fmt;

use crate::PlanNo;

/// The right to drive a plan, until it is dropped or the process ends in whatever way.
#[must_use = "a claim that is dropped is given back"]
pub struct Claim {
    no: PlanNo,
    _held: Box<dyn Any + Send + Sync>,
}

impl Claim {
    /// Makes a claim that lasts as long as `held` is not dropped. For stores.
    pub fn new(no: PlanNo, held: impl Any + Send + Sync) -> Self {
        Self { no, _held: Box::new(held) }
    }
    /// Returns the number of the plan.
    pub fn plan_no(&self) -> PlanNo {
        self.no
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Claim({})", self.no)
    }
}
