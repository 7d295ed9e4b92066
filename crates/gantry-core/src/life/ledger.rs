//! Who may still spend what: the plan as a whole, and every task with a budget of its own.

use serde::{Deserialize, Serialize};

use super::Life;
use crate::effect::Failure;
use crate::id::TaskNo;
use crate::plan::{Action, Money, Nested, Placed};
use crate::policy::{Budget, Dimension, FailureClass, Judge, ProseBy, Usage};
use crate::time::Duration;

/// What was spent and set aside under one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    pub spent: Usage,
    pub reserved: Usage,
}

/// Whether an attempt can be paid for.
pub(super) enum Afford {
    /// Yes.
    Yes,
    /// Not now, but perhaps when others have ended.
    Later,
    /// Never.
    Never { detail: String },
}

impl Life {
    /// What an attempt at this task sets aside.
    pub(super) fn reservation(&self, no: TaskNo) -> Usage {
        if let Some(Action::Plan(nested)) = self.action_now(no) {
            return self.reservation_of_plan(no, nested);
        }
        let node = self.node(no);
        let limited = node.children.is_empty() && node.task.limits_spending;
        // What earlier attempts have used is gone.
        let own = if limited { node.task.budget.as_usage().minus(self.spent_by(no)) } else { Usage::default() };
        let calls = u64::from(self.calls_a_model(no));
        Usage { model_calls: own.model_calls.max(calls), ..own }
    }

    fn spent_by(&self, no: TaskNo) -> Usage {
        self.accounts.get(&no.0).copied().unwrap_or_default().spent
    }

    /// What an attempt counts for that ended without an answer: nobody knows what it used, so all that was set aside, but
    /// nothing of what such an attempt never uses.
    pub(super) fn used_unanswered(&self, no: TaskNo, reserved: Usage) -> Usage {
        let of = |dimension: Dimension| if self.draws_on(no, dimension) { reserved.amount(dimension) } else { 0 };
        Usage {
            cost_usd: Money(of(Dimension::CostUsd)),
            model_calls: of(Dimension::ModelCalls),
            tokens: of(Dimension::Tokens),
            nodes: 0,
        }
    }

    /// What a plan inside a task sets aside: of everything that is limited around it and that it may spend, what it asks
    /// for, and all that is left if it asks for nothing. So whatever it does, the budgets around it hold.
    fn reservation_of_plan(&self, no: TaskNo, nested: &Nested) -> Usage {
        let asked = nested.plan.as_ref().map(|plan| plan.policy.budget).unwrap_or_default();
        let set_aside = |dimension: Dimension| {
            if !self.draws_on(no, dimension) {
                return 0;
            }
            let rests = self.budgets_over(no).filter_map(|(scope, budget)| {
                let account = self.accounts.get(&scope).copied().unwrap_or_default();
                let unspent = budget.limit(dimension)?.saturating_sub(account.spent.amount(dimension));
                Some((unspent, unspent.saturating_sub(account.reserved.amount(dimension))))
            });
            let rests: Vec<(u64, u64)> = rests.collect();
            let unspent = rests.iter().map(|(unspent, _)| *unspent).min();
            let free = rests.iter().map(|(_, free)| *free).min();
            match asked.limit(dimension) {
                Some(asked) => unspent.map_or(asked, |unspent| unspent.min(asked)),
                None => free.unwrap_or(0),
            }
        };
        Usage {
            cost_usd: Money(set_aside(Dimension::CostUsd)),
            model_calls: set_aside(Dimension::ModelCalls),
            tokens: set_aside(Dimension::Tokens),
            nodes: 0,
        }
    }

    /// How long attempts at this task may still take, when it has a budget of time of its own.
    pub(super) fn time_left(&self, no: TaskNo) -> Option<Duration> {
        let node = self.node(no);
        let budget = if node.task.is_timed { node.task.budget.time } else { None };
        budget.filter(|_| node.children.is_empty()).map(|budget| budget.minus(self.task(no).worked))
    }

    /// The failure of a task that has used up its time.
    pub(super) fn out_of_time(&self, no: TaskNo) -> Failure {
        let message = format!("the time budget of task `{}` is used up", self.task_id(no));
        Failure::new(FailureClass::Policy, message)
    }

    /// The least that the plan, the task and whatever it is a part of allow, in each dimension.
    pub fn limits_over(&self, task: &str) -> Budget {
        let Some(no) = self.no(task) else { return Budget::default() };
        self.budgets_over(no).fold(self.node(no).task.budget, |limits, (_, budget)| limits.smaller(budget))
    }

    /// Tells whether an attempt asks a model at least once.
    pub(super) fn calls_a_model(&self, no: TaskNo) -> bool {
        let policy = &self.header.policy;
        match self.action_now(no) {
            Some(Action::Model(_) | Action::Agent(_)) => true,
            Some(Action::Command(command)) => command.calls().is_none() && policy.prose != ProseBy::Person,
            Some(Action::Decide(decide)) => !decide.is_computed() && policy.judge == Judge::Model,
            None => self.node(no).children.is_empty() && policy.prose != ProseBy::Person,
            Some(_) => false,
        }
    }

    /// Tells whether an attempt uses some of this, though it may set nothing of it aside. A shell command pays nobody.
    fn draws_on(&self, no: TaskNo, dimension: Dimension) -> bool {
        if let Some(Action::Plan(nested)) = self.action_now(no) {
            return nested.plan.as_ref().is_none_or(|plan| plan.may_spend(dimension));
        }
        let uses_tools = match self.action_now(no) {
            Some(Action::Tool(_)) => true,
            Some(Action::Command(command)) => command.calls().is_some(),
            _ => false,
        };
        match dimension {
            Dimension::CostUsd => self.calls_a_model(no) || uses_tools,
            Dimension::ModelCalls | Dimension::Tokens => self.calls_a_model(no),
            Dimension::Time | Dimension::Nodes => false,
        }
    }

    /// The budgets that an attempt at this task draws on: number 0 is the plan's.
    fn budgets_over(&self, no: TaskNo) -> impl Iterator<Item = (u32, Budget)> {
        let tasks = std::iter::once(no).chain(self.ancestors(no));
        let limited = tasks.filter(|no| self.node(*no).task.limits_spending);
        let own = limited.map(|no| (no.0, self.node(no).task.budget));
        own.chain(std::iter::once((0, self.header.policy.budget)))
    }

    /// Tells whether this much more can be spent by a task.
    pub(super) fn affords(&self, no: TaskNo, need: Usage) -> Afford {
        let mut later = false;
        for (scope, budget) in self.budgets_over(no) {
            let account = self.accounts.get(&scope).copied().unwrap_or_default();
            // Added tasks are counted when they are added; an attempt adds none.
            let budget = Budget { nodes: None, ..budget };
            let whose =
                || if scope == 0 { "the plan".to_owned() } else { format!("task `{}`", self.task_id(TaskNo(scope))) };
            // A task's own attempts follow each other: what the last one used counts against it, whatever it does.
            if scope == no.0
                && let Some(dimension) = budget.used_up_by(account.spent).next()
            {
                return Afford::Never { detail: format!("the {} budget of {} is used up", dimension.name(), whose()) };
            }
            if let Some(dimension) = budget.exceeded_by(account.spent.plus(need)) {
                let detail = format!("the {} budget of {} does not suffice", dimension.name(), whose());
                return Afford::Never { detail };
            }
            let nothing_left = |used: Usage| budget.used_up_by(used).find(|dimension| self.draws_on(no, *dimension));
            if let Some(dimension) = nothing_left(account.spent) {
                return Afford::Never { detail: format!("the {} budget of {} is used up", dimension.name(), whose()) };
            }
            let taken = account.spent.plus(account.reserved);
            later |= budget.exceeded_by(taken.plus(need)).is_some() || nothing_left(taken).is_some();
        }
        if later { Afford::Later } else { Afford::Yes }
    }

    /// Sets this much aside for an attempt; returns the accounts that it was taken from.
    pub(super) fn reserve(&mut self, no: TaskNo, usage: Usage) -> Vec<u32> {
        let scopes: Vec<u32> = self.budgets_over(no).map(|(scope, _)| scope).collect();
        for scope in &scopes {
            let account = self.accounts.entry(*scope).or_default();
            account.reserved = account.reserved.plus(usage);
        }
        scopes
    }

    /// Gives back what was set aside and takes what was used, in the accounts that were charged.
    pub(super) fn settle(&mut self, charged: &[u32], reserved: Usage, used: Usage) {
        for scope in charged {
            let account = self.accounts.entry(*scope).or_default();
            account.reserved = account.reserved.minus(reserved);
            account.spent = account.spent.plus(used);
        }
    }

    /// Counts what was used without being set aside: by judges, by undoing, by answers that come late.
    pub(super) fn charge(&mut self, no: TaskNo, used: Usage) {
        if used == Usage::default() {
            return;
        }
        let scopes: Vec<u32> = self.budgets_over(no).map(|(scope, _)| scope).collect();
        self.settle(&scopes, Usage::default(), used);
        let life = self.task_mut(no);
        life.spent = life.spent.plus(used);
    }

    /// The same for what no task used.
    pub(super) fn charge_plan(&mut self, used: Usage) {
        if used != Usage::default() {
            self.settle(&[0], Usage::default(), used);
        }
    }

    /// Counts tasks that were added while the plan runs, in the plan and in everything that they are a part of.
    pub(super) fn count_added(&mut self, added: &[Placed]) {
        for placed in added {
            let parent = placed.task.parent.as_ref().and_then(|parent| self.no(parent.as_str()));
            for scope in self.scopes_around(parent) {
                let account = self.accounts.entry(scope).or_default();
                account.spent.nodes = account.spent.nodes.saturating_add(1);
            }
        }
    }

    /// The budgets that a part of this task draws on, or a part of the plan.
    fn scopes_around(&self, parent: Option<TaskNo>) -> Vec<u32> {
        parent.map_or_else(|| vec![0], |parent| self.budgets_over(parent).map(|(scope, _)| scope).collect())
    }

    /// How many tasks may still be added to this task, or to the plan.
    pub(super) fn nodes_left(&self, parent: Option<TaskNo>) -> Option<u64> {
        let left = |(scope, budget): (u32, Budget)| {
            let added = self.accounts.get(&scope).map_or(0, |account| account.spent.nodes);
            budget.nodes.map(|limit| limit.saturating_sub(added))
        };
        match parent {
            Some(parent) => self.budgets_over(parent).filter_map(left).min(),
            None => left((0, self.header.policy.budget)),
        }
    }

    /// What the plan has spent.
    pub fn spent(&self) -> Usage {
        self.accounts.get(&0).copied().unwrap_or_default().spent
    }

    /// What is set aside for attempts under way.
    pub fn reserved(&self) -> Usage {
        self.accounts.get(&0).copied().unwrap_or_default().reserved
    }

    /// The first budget that is spent beyond its limit.
    pub(super) fn overrun(&self) -> Option<(Dimension, String)> {
        let budget = Budget { nodes: None, ..self.header.policy.budget };
        let dimension = budget.exceeded_by(self.spent())?;
        Some((dimension, format!("the {} budget of the plan is overrun", dimension.name())))
    }
}

impl Dimension {
    /// Its name in plan files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::CostUsd => "cost_usd",
            Self::ModelCalls => "model_calls",
            Self::Tokens => "tokens",
            Self::Nodes => "nodes",
        }
    }
}
