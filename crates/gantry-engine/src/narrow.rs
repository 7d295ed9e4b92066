//! What a plan inside another may do and spend at most: a part may never do what the whole may not.
//!
//! Files, hosts and commands are asked of every policy above (`Place::above`), because lists of patterns cannot be
//! put into one. Numbers can: they are the smaller of the two, and stand in the inner plan's own record.

use gantry_core::life::Life;
use gantry_core::policy::{Budget, Policy, Usage};

/// The policy of an inner plan under the policy around it, when this much is left of the budgets.
pub(crate) fn narrowed(own: &Policy, outer: &Policy, left: Budget) -> Policy {
    let mut policy = own.clone();
    policy.budget = smaller(own.budget, left);
    if outer.parallel.is_some() {
        policy.parallel = Some(own.parallel().min(outer.parallel()));
    }
    for (name, limit) in &outer.capabilities {
        let own = policy.capabilities.entry(name.clone()).or_insert(*limit);
        *own = (*own).min(*limit);
    }
    if outer.map_max.is_some() {
        policy.map_max = Some(own.map_max().min(outer.map_max()));
    }
    if outer.rounds_max.is_some() {
        policy.rounds_max = Some(own.rounds_max().min(outer.rounds_max()));
    }
    policy.strict |= outer.strict;
    policy.require_gate_for_prod |= outer.require_gate_for_prod;
    policy.agent_planning &= outer.agent_planning;
    policy.data.extend(outer.data.iter().filter(|rule| !own.data.contains(rule)).cloned());
    policy
}

/// What an attempt may spend: what the plan has left, and no more than the task may.
pub(crate) fn left(life: &Life, task: Budget, reserved: Usage) -> Budget {
    let plan = life.header().policy.budget;
    let taken = life.spent().plus(life.reserved().minus(reserved));
    let rest = |limit: Option<u64>, taken: u64| limit.map(|limit| limit.saturating_sub(taken));
    let of_plan = Budget {
        cost_usd: plan.cost_usd.map(|limit| gantry_core::plan::Money(limit.0.saturating_sub(taken.cost_usd.0))),
        model_calls: rest(plan.model_calls, taken.model_calls),
        tokens: rest(plan.tokens, taken.tokens),
        ..plan
    };
    smaller(of_plan, task)
}

/// The smaller of two limits, in each dimension.
fn smaller(one: Budget, other: Budget) -> Budget {
    fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
    Budget {
        time: least(one.time, other.time),
        cost_usd: least(one.cost_usd, other.cost_usd),
        model_calls: least(one.model_calls, other.model_calls),
        tokens: least(one.tokens, other.tokens),
        nodes: least(one.nodes, other.nodes),
        depth: least(one.depth, other.depth),
        branches: least(one.branches, other.branches),
    }
}

#[cfg(test)]
mod tests {
    use gantry_core::plan::Money;

    use super::*;

    #[test]
    fn the_smaller_limit_holds_and_what_is_forbidden_above_stays_forbidden() {
        let own = Policy { parallel: Some(4), agent_planning: true, ..Policy::default() };
        let mut outer = Policy { parallel: Some(2), strict: true, ..Policy::default() };
        outer.capabilities.insert("shell".to_owned(), 1);
        let left = Budget { cost_usd: Some(Money(5)), ..Budget::default() };
        let both = narrowed(&own, &outer, left);
        assert_eq!((both.parallel, both.capabilities["shell"], both.budget), (Some(2), 1, left));
        assert!(both.strict && !both.agent_planning);
        let wide = narrowed(&own, &Policy { agent_planning: true, ..Policy::default() }, Budget::default());
        assert_eq!(wide, own, "a policy without limits changes nothing");
    }
}
