//! What people do: decide, answer, work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use crate::plan::human::{Money, short_form};
use crate::plan::{Check, is_default};
use crate::time::Duration;

/// Holds everything behind it until checks and people agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// Expressions that are tested when it opens, and words that the approvers judge.
    #[serde(skip_serializing_if = "is_default")]
    pub checks: Vec<Check>,
    /// How many people must approve; none means one, or nobody when every check is an expression.
    #[serde(skip_serializing_if = "is_default")]
    pub approvals: Option<u32>,
    /// The role that approvers must have.
    #[serde(skip_serializing_if = "is_default")]
    pub role: Option<String>,
    /// Who may approve; empty means anyone with the role.
    #[serde(skip_serializing_if = "is_default")]
    pub approvers: Vec<String>,
    /// What approvers must have seen.
    #[serde(skip_serializing_if = "is_default")]
    pub evidence: Vec<String>,
    /// What sort of gate it is: `schema`, `invariants`, `regression`, `diff`, `approval`.
    #[serde(skip_serializing_if = "is_default")]
    pub r#type: Option<String>,
    /// When to tell someone that nobody decides.
    #[serde(skip_serializing_if = "is_default")]
    pub escalate_after: Option<Duration>,
    /// Where "needs changes" goes back to; none means the tasks that it depends on.
    #[serde(skip_serializing_if = "is_default")]
    pub back_to: Option<TaskId>,
    /// How often it may send work back; none means as the policy says.
    #[serde(skip_serializing_if = "is_default")]
    pub rounds_max: Option<u32>,
}

impl Gate {
    /// The sorts of gates.
    pub const TYPES: [&str; 5] = ["schema", "invariants", "regression", "diff", "approval"];

    /// Returns how many approvals it takes.
    pub fn approvals_needed(&self) -> u32 {
        self.approvals.unwrap_or_else(|| {
            let automatic = !self.checks.is_empty() && self.checks.iter().all(|check| matches!(check, Check::Expr(_)));
            u32::from(!automatic)
        })
    }
}

short_form! {
    short = question, full = FullAsk;
    /// Asks a person a question. Short form: the question.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Ask {
        /// The question.
        pub question: String,
        /// The answers to choose from; empty means free text.
        pub options: Vec<Choice>,
        /// The answer that is taken when nobody answers in time.
        pub default: Option<String>,
        /// How long to wait for an answer.
        pub answer_within: Option<Duration>,
    }
}

short_form! {
    short = name, full = FullChoice;
    /// One answer to choose from. Short form: its name.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Choice {
        /// What it is called.
        pub name: String,
        /// What speaks for it.
        pub pros: Vec<String>,
        /// What speaks against it.
        pub cons: Vec<String>,
        /// What it costs.
        pub cost_usd: Option<Money>,
    }
}

short_form! {
    short = instruction, full = FullManual;
    /// Is done by a person. Short form: the instruction.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Manual {
        /// What to do.
        pub instruction: String,
        /// What to hand in as proof.
        pub evidence: Vec<String>,
        /// The role of who does it; where the plan says who has this role, nobody else may.
        pub role: Option<String>,
    }
}
