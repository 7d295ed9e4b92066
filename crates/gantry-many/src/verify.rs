//! Looks at every plan of a table again: is it there, and is something in it?

use serde_json::Value;

use crate::results::{Row, Status};

/// What became of the plans of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Verified {
    /// How many plans were looked at.
    pub looked_at: usize,
    /// Plans that are there, with tasks.
    pub sound: usize,
    /// Plans that are not there, and why.
    pub missing: Vec<Finding>,
    /// Plans that are there and of no use: without tasks, or failed.
    pub failed: Vec<Finding>,
    /// Topics that never became a plan.
    pub without_plan: Vec<Finding>,
}

/// One plan, or topic, that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The number of the plan; empty where there is none.
    pub plan_id: String,
    /// The topic.
    pub topic: String,
    /// What is wrong.
    pub why: String,
}

impl Verified {
    /// Tells whether everything is as it should be.
    pub fn is_sound(&self) -> bool {
        self.missing.is_empty() && self.failed.is_empty() && self.without_plan.is_empty()
    }

    /// Takes in what was found about the plan of a row: its summary and its tree, or why there are none.
    pub fn take(&mut self, row: &Row, found: Result<(Value, Value), String>) {
        let finding = |why: String| Finding { plan_id: row.plan_id.clone(), topic: row.topic.clone(), why };
        if row.plan_id.is_empty() {
            let why = if row.error.is_empty() { "it has no plan".to_owned() } else { row.error.clone() };
            return self.without_plan.push(finding(why));
        }
        self.looked_at += 1;
        let (summary, tree) = match found {
            Ok(found) => found,
            Err(why) => return self.missing.push(finding(why)),
        };
        let failed = summary["failed"].as_u64().unwrap_or(0);
        let total = summary["total_tasks"].as_u64().or_else(|| summary["total"].as_u64()).unwrap_or(0);
        let nodes = match &tree["nodes"] {
            Value::Object(nodes) => nodes.len(),
            Value::Array(nodes) => nodes.len(),
            _ => 0,
        };
        if nodes < 2 {
            let what = if nodes == 0 { "its tree is empty" } else { "its tree has one task alone" };
            self.failed.push(finding(what.to_owned()));
        } else if nodes as u64 != total {
            self.failed.push(finding(format!("its tree has {nodes} tasks, and its summary {total}")));
        } else if summary["abandoned"] == true {
            self.failed.push(finding("it was given up".to_owned()));
        } else if failed > 0 {
            self.failed.push(finding(format!("{failed} of its tasks failed")));
        } else if row.status == Status::Failed {
            self.failed.push(finding(row.error.clone()));
        } else {
            self.sound += 1;
        }
    }
}
