//! Cards: what a list of plans shows of each, kept beside the journal and written with it.

use std::collections::BTreeMap;

use gantry_core::id::{PlanId, Revision, TaskId};
use gantry_core::life::{PlanState, TaskState};
use gantry_core::policy::{Budget, Usage};
use gantry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::PlanNo;

/// How many lines a card keeps of what the plan waits for.
pub const WAITING_MAX: usize = 20;

/// How many lines a card keeps of why the plan failed.
pub const CAUSES_MAX: usize = 20;

/// What the engine knows of a plan after a turn, short enough to list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// What it is called.
    pub title: String,
    /// Where it stands.
    pub state: PlanState,
    /// Its revision.
    pub revision: Revision,
    /// How many tasks are in each state.
    #[serde(default)]
    pub tasks: BTreeMap<TaskState, u32>,
    /// What it waits for outside; at most [`WAITING_MAX`] lines are kept.
    #[serde(default)]
    pub waiting: Vec<WaitingLine>,
    /// What it used so far.
    #[serde(default)]
    pub used: Usage,
    /// What it may use.
    #[serde(default, skip_serializing_if = "is_unlimited")]
    pub budget: Budget,
    /// Why it failed, if it did; at most [`CAUSES_MAX`] lines are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Who looks after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The plan that it is a part of.
    #[serde(default)]
    pub parent: Option<PlanId>,
    /// The plan that it continues from some point.
    #[serde(default)]
    pub forked_from: Option<ForkedFrom>,
    /// What someone here said about where it works, for a plan that came from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
}

impl Card {
    /// Makes the card of a new plan.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            state: PlanState::Pending,
            revision: Revision(1),
            tasks: BTreeMap::new(),
            waiting: Vec::new(),
            used: Usage::default(),
            budget: Budget::default(),
            causes: Vec::new(),
            labels: Vec::new(),
            owner: None,
            parent: None,
            forked_from: None,
            home: None,
        }
    }

    /// The card with no more lines than are kept.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.waiting.truncate(WAITING_MAX);
        self.causes.truncate(CAUSES_MAX);
        self
    }
}

fn is_unlimited(budget: &Budget) -> bool {
    *budget == Budget::default()
}

/// Something outside that a plan waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingLine {
    /// The task; none means the plan itself.
    pub task: Option<TaskId>,
    /// For whom or what, in words.
    pub what: String,
}

/// Where a forked plan comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The plan.
    pub plan: PlanId,
    /// After which entry.
    pub seq: u64,
}

/// Where a plan that came from elsewhere works here. Its journal may say anything; this was said by someone here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    /// The folder that its tasks work in; empty as long as nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub workspace: String,
    /// The names of the secrets that its tasks are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// What its processes are given besides; whoever drives plans knows what it means.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub given: Value,
}

/// A plan as it is listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanCard {
    /// Its id.
    pub id: PlanId,
    /// Its number in this record.
    pub no: PlanNo,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its last turn was.
    pub updated_at: Timestamp,
    /// How many entries its journal has.
    pub length: u64,
    /// It is kept until someone unpins it.
    pub pinned: bool,
    /// What the engine said of it.
    #[serde(flatten)]
    pub card: Card,
}

/// Which plans to list, the newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListFilter {
    /// In one of these states; empty means any.
    pub states: Vec<PlanState>,
    /// With this label.
    pub label: Option<String>,
    /// Looked after by this one.
    pub owner: Option<String>,
    /// With this text in the title or the id, in whatever case.
    pub text: Option<String>,
    /// Changed at this time or later.
    pub since: Option<Timestamp>,
    /// How many at most; zero means as many as a page has.
    pub limit: u32,
    /// Where to go on.
    pub cursor: Option<u64>,
}

impl ListFilter {
    /// Tells whether a card passes, apart from the cursor and the limit.
    pub fn admits(&self, plan: &PlanCard) -> bool {
        (self.states.is_empty() || self.states.contains(&plan.card.state))
            && self.label.as_ref().is_none_or(|label| plan.card.labels.contains(label))
            && (self.owner.is_none() || plan.card.owner == self.owner)
            && self.text.as_ref().is_none_or(|text| Self::searchable(plan).contains(&text.to_lowercase()))
            && self.since.is_none_or(|since| plan.updated_at >= since)
    }

    /// Returns what the text of a filter is looked for in.
    pub fn searchable(plan: &PlanCard) -> String {
        format!("{} {}", plan.id, plan.card.title).to_lowercase()
    }
}
