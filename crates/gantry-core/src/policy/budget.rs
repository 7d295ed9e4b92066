//! Budgets: how much a plan, a composite or a task may still spend.
//!
//! Invariant: `spent + reserved <= limit` for everything that can be known beforehand. An attempt
//! reserves when it starts and settles when it ends, so two parallel tasks cannot both spend the
//! last dollar. What an attempt really used is recorded even when it is more than it reserved;
//! then the breaker trips and nothing new starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::{Money, is_default};
use crate::time::Duration;

/// Limits; none means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// How long it may take from its start, without pauses.
    #[serde(skip_serializing_if = "is_default")]
    pub time: Option<Duration>,
    /// Money, in US dollars.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_usd: Option<Money>,
    /// Calls of models.
    #[serde(skip_serializing_if = "is_default")]
    pub model_calls: Option<u64>,
    /// Tokens, in and out.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens: Option<u64>,
    /// Tasks that may be added while it runs.
    #[serde(skip_serializing_if = "is_default")]
    pub nodes: Option<u64>,
    /// How deep tasks may be nested.
    #[serde(skip_serializing_if = "is_default")]
    pub depth: Option<u32>,
    /// How many candidates an agent may follow at once.
    #[serde(skip_serializing_if = "is_default")]
    pub branches: Option<u32>,
}

/// More than any plan uses, and still exact in JSON.
const COUNT_MAX: u64 = 1 << 53;

/// What was or may be spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Money, in US dollars.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_usd: Money,
    /// Calls of models.
    #[serde(skip_serializing_if = "is_default")]
    pub model_calls: u64,
    /// Tokens, in and out.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens: u64,
    /// Tasks added while running.
    #[serde(skip_serializing_if = "is_default")]
    pub nodes: u64,
}

impl Usage {
    /// The usage with every amount within what can be written down.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self {
            cost_usd: self.cost_usd.min(Money::MAX),
            model_calls: self.model_calls.min(COUNT_MAX),
            tokens: self.tokens.min(COUNT_MAX),
            nodes: self.nodes.min(COUNT_MAX),
        }
    }

    /// Adds, stopping at the largest number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cost_usd: Money(self.cost_usd.0.saturating_add(other.cost_usd.0)).min(Money::MAX),
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tokens: self.tokens.saturating_add(other.tokens),
            nodes: self.nodes.saturating_add(other.nodes),
        }
    }

    /// Takes away, stopping at zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            cost_usd: Money(self.cost_usd.0.saturating_sub(other.cost_usd.0)),
            model_calls: self.model_calls.saturating_sub(other.model_calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            nodes: self.nodes.saturating_sub(other.nodes),
        }
    }
}

/// One thing that can run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Wall time.
    Time,
    /// Money.
    CostUsd,
    /// Model calls.
    ModelCalls,
    /// Tokens.
    Tokens,
    /// Added tasks.
    Nodes,
}

impl Usage {
    /// How much of this was used; time is measured elsewhere.
    pub(crate) fn amount(&self, dimension: Dimension) -> u64 {
        match dimension {
            Dimension::CostUsd => self.cost_usd.0,
            Dimension::ModelCalls => self.model_calls,
            Dimension::Tokens => self.tokens,
            Dimension::Nodes => self.nodes,
            Dimension::Time => 0,
        }
    }
}

impl Budget {
    /// The limit of what can be spent of this; time is measured elsewhere.
    pub(crate) fn limit(&self, dimension: Dimension) -> Option<u64> {
        match dimension {
            Dimension::CostUsd => self.cost_usd.map(|money| money.0),
            Dimension::ModelCalls => self.model_calls,
            Dimension::Tokens => self.tokens,
            Dimension::Nodes => self.nodes,
            Dimension::Time => None,
        }
    }

    /// The smaller of two limits, in each dimension.
    #[must_use]
    pub fn smaller(self, other: Self) -> Self {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Self {
            time: least(self.time, other.time),
            cost_usd: least(self.cost_usd, other.cost_usd),
            model_calls: least(self.model_calls, other.model_calls),
            tokens: least(self.tokens, other.tokens),
            nodes: least(self.nodes, other.nodes),
            depth: least(self.depth, other.depth),
            branches: least(self.branches, other.branches),
        }
    }

    /// Returns the first dimension in which this usage is more than the budget.
    pub fn exceeded_by(&self, usage: Usage) -> Option<Dimension> {
        let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used > limit);
        if over(self.cost_usd.map(|money| money.0), usage.cost_usd.0) {
            Some(Dimension::CostUsd)
        } else if over(self.model_calls, usage.model_calls) {
            Some(Dimension::ModelCalls)
        } else if over(self.tokens, usage.tokens) {
            Some(Dimension::Tokens)
        } else if over(self.nodes, usage.nodes) {
            Some(Dimension::Nodes)
        } else {
            None
        }
    }

    /// Returns the dimensions in which nothing is left after this usage. A limit of nothing is not used up by using nothing.
    pub fn used_up_by(&self, usage: Usage) -> impl Iterator<Item = Dimension> {
        let all = [
            (Dimension::CostUsd, self.cost_usd.map(|money| money.0), usage.cost_usd.0),
            (Dimension::ModelCalls, self.model_calls, usage.model_calls),
            (Dimension::Tokens, self.tokens, usage.tokens),
            (Dimension::Nodes, self.nodes, usage.nodes),
        ];
        all.into_iter()
            .filter(|(_, limit, used)| *used > 0 && limit.is_some_and(|limit| *used >= limit))
            .map(|(dimension, ..)| dimension)
    }

    /// What an attempt under this budget may use at most; dimensions without a limit count as nothing.
    pub fn as_usage(&self) -> Usage {
        Usage {
            cost_usd: self.cost_usd.unwrap_or_default(),
            model_calls: self.model_calls.unwrap_or(0),
            tokens: self.tokens.unwrap_or(0),
            nodes: 0,
        }
    }

    /// Tells whether anything spendable is limited.
    pub fn limits_spending(&self) -> bool {
        self.cost_usd.is_some() || self.model_calls.is_some() || self.tokens.is_some() || self.nodes.is_some()
    }
}
