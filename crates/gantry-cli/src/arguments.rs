//! Arguments that many commands share.

use std::ops::Deref;

use crate::exit::Fault;
use crate::session;

/// The plan that is meant.
#[derive(clap::Args, Clone, Debug)]
pub struct ThePlan {
    /// The plan: its id, its number, the beginning of its id, or @last
    plan: String,
}

impl Deref for ThePlan {
    type Target = str;

    fn deref(&self) -> &str {
        &self.plan
    }
}

/// The plan that is meant; the last one when none is named.
#[derive(clap::Args, Clone, Debug)]
pub struct PlanOrLast {
    /// The plan: its id, its number, the beginning of its id, or @last
    #[arg(default_value = "@last")]
    plan: String,
}

impl Deref for PlanOrLast {
    type Target = str;

    fn deref(&self) -> &str {
        &self.plan
    }
}

/// One plan, or all of them.
#[derive(clap::Args, Clone, Debug)]
pub struct PlanOrAll {
    /// The plan: its id, its number, the beginning of its id, or @last [default: all plans]
    plan: Option<String>,
}

impl PlanOrAll {
    /// The one that is named.
    pub fn one(&self) -> Option<&str> {
        self.plan.as_deref()
    }
}

/// Who decides.
#[derive(clap::Args, Clone, Debug)]
pub struct By {
    /// Who decides; names are not verified on the command line [default: `GANTRY_USER`, or the user of this machine]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl By {
    /// The name to record.
    pub fn name(&self) -> Result<String, Fault> {
        match &self.by {
            Some(name) if name.trim().is_empty() => Err(Fault::bad_input("`--by` needs a name")),
            Some(name) => Ok(name.trim().to_owned()),
            None => Ok(session::operator()),
        }
    }
}

/// Who decides, and why.
#[derive(clap::Args, Clone, Debug)]
pub struct ByAndWhy {
    /// Why
    #[arg(long, alias = "rationale", default_value = "", hide_default_value = true)]
    why: String,
    #[command(flatten)]
    by: By,
}

impl ByAndWhy {
    /// The name and the reason to record.
    pub fn said(&self) -> Result<(String, String), Fault> {
        Ok((self.by.name()?, self.why.clone()))
    }
}
