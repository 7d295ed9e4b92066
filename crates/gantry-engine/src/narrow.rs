//! What a plan inside another may do and spend at most: a part may never do what the whole may not.
//!
//! Files, hosts and commands are asked of every policy above (`Place::above`), because lists of patterns cannot be
//! put into one. Numbers can: they are the smaller of the two, and stand in the inner plan's own record.

use gantry_core::policy::{Budget, Policy, Usage};

/// The policy of an inner plan under the policy around it, when this much is left of the budgets.
pub(crate) fn narrowed(own: &Policy, outer: &Policy, left: Budget) -> Policy {
    let mut policy = own.clone();
    policy.budget = own.budget.smaller(left);
    if outer.parallel.is_some() {
        policy.parallel = Some(own.parallel().min(outer.parallel()));
    }
    for (name, limit) in &outer.capabilities {
        let own = policy.capabilities.entry(name.clone()).or_insert(*limit);
        *own = (*own).min(*limit);
    }
    if outer.map_max.is_some() {
        policy.map_max = Some(own.map_limit(None).min(outer.map_limit(None)));
    }
    if outer.rounds_max.is_some() {
        policy.rounds_max = Some(own.rounds_limit(None).min(outer.rounds_limit(None)));
    }
    policy.strict |= outer.strict;
    policy.require_gate_for_prod |= outer.require_gate_for_prod;
    policy.agent_planning &= outer.agent_planning;
    policy.data.extend(outer.data.iter().filter(|rule| !own.data.contains(rule)).cloned());
    policy
}

/// What a plan inside a task may spend in all when it has used this much before: what was set aside for the attempt,
/// of everything that is limited around it.
pub(crate) fn left(limits: Budget, reserved: Usage, before: Usage) -> Budget {
    let all = before.plus(reserved);
    Budget {
        cost_usd: limits.cost_usd.map(|_| all.cost_usd),
        model_calls: limits.model_calls.map(|_| all.model_calls),
        tokens: limits.tokens.map(|_| all.tokens),
        ..limits
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
