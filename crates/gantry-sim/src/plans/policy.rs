//! Random limits and remedies.

use gantry_core::plan::Money;
use gantry_core::policy::{Budget, Judge, Policy, ProseBy, Recovery, Remedy, Retry};

use super::seconds;
use crate::dice::Dice;

/// Draws the policy of a plan with so many tasks, nested so deep.
pub fn draw(dice: &mut Dice, size: u64, depth: u32) -> Policy {
    let mut policy = Policy::default();
    if dice.percent(50) {
        policy.parallel = Some(dice.small(1, 6));
    }
    for name in ["shell", "model", "search", "agent", "gpu"] {
        if dice.percent(15) {
            policy.capabilities.insert(name.to_owned(), dice.small(1, 3));
        }
    }
    if dice.percent(30) {
        policy.retry = Some(retry(dice));
    }
    if dice.percent(30) {
        policy.recovery = recovery(dice);
    }
    policy.judge = dice.pick(&[Judge::Nobody, Judge::Person, Judge::Model]).copied().unwrap_or_default();
    policy.prose = dice.pick(&[ProseBy::Person, ProseBy::Model, ProseBy::Agent]).copied().unwrap_or_default();
    if dice.percent(30) {
        policy.rounds_max = Some(dice.small(0, 3));
    }
    if dice.percent(20) {
        policy.map_max = Some(dice.small(1, 6));
    }
    policy.fail_fast = dice.percent(12);
    policy.strict = dice.percent(12);
    policy.checkpoint_each_task = dice.percent(12);
    if dice.percent(15) {
        policy.escalate_after = Some(seconds(dice, 10, 4_000));
    }
    if dice.percent(35) {
        policy.budget = budget(dice, size);
    }
    if dice.percent(15) {
        // What is there has to fit; parts that a map makes may be one too deep.
        policy.budget.depth = Some(depth + dice.small(0, 2));
    }
    if dice.percent(10) {
        policy.budget.branches = Some(dice.small(1, 4));
    }
    policy.require_gate_for_prod = dice.percent(12);
    policy.agent_planning = dice.percent(12);
    reach(dice, &mut policy);
    policy
}

/// Draws what a plan may touch; nothing in a simulated world touches more.
fn reach(dice: &mut Dice, policy: &mut Policy) {
    if dice.percent(10) {
        policy.files.write.push("src/**".to_owned());
    }
    if dice.percent(10) {
        policy.network.allow.push("example.org".to_owned());
    }
    if dice.percent(10) {
        policy.commands.deny.push("deploy".to_owned());
    }
    if dice.percent(5) {
        policy.data.push("names of people stay here".to_owned());
    }
}

/// Draws how often something is tried again.
pub fn retry(dice: &mut Dice) -> Retry {
    let backoff = seconds(dice, 0, 20);
    Retry { max: dice.small(0, 4), backoff, backoff_max: seconds(dice, 1, 100) }
}

fn recovery(dice: &mut Dice) -> Recovery {
    let mut remedies = || {
        let all = [
            Remedy::Retry,
            Remedy::Repair,
            Remedy::Alternate,
            Remedy::Fallback,
            Remedy::Escalate,
            Remedy::Undo,
            Remedy::Abort,
        ];
        let mut chosen: Vec<Remedy> = Vec::new();
        for _ in 0..dice.below(4) {
            // Giving everything up is rare, or few plans would live long.
            let among = if dice.percent(10) { &all[..] } else { &all[..5] };
            chosen.extend(dice.pick(among));
        }
        chosen
    };
    let mut recovery = Recovery {
        transient: remedies(),
        logic: remedies(),
        policy: remedies(),
        lost: remedies(),
        ..Recovery::default()
    };
    recovery.repairs_max = dice.small(0, 3);
    recovery
}

fn budget(dice: &mut Dice, size: u64) -> Budget {
    let mut budget = Budget::default();
    if dice.percent(50) {
        budget.model_calls = Some(dice.between(1, size + 4));
    }
    if dice.percent(40) {
        budget.tokens = Some(dice.between(500, 1_000 * size + 2_000));
    }
    if dice.percent(40) {
        budget.cost_usd = Some(Money::from_cents(dice.between(20, 30 * size + 50)));
    }
    if dice.percent(25) {
        budget.time = Some(seconds(dice, 30, 50_000));
    }
    if dice.percent(20) {
        budget.nodes = Some(dice.between(0, 2 * size));
    }
    budget
}

/// Draws what one task may spend, no more than the plan may.
pub fn share_of(dice: &mut Dice, plan: &Budget) -> Budget {
    let mut budget = Budget::default();
    if dice.percent(50) {
        budget.model_calls = Some(dice.between(1, 4).min(plan.model_calls.unwrap_or(u64::MAX)));
    }
    if dice.percent(40) {
        budget.tokens = Some(dice.between(100, 1_000).min(plan.tokens.unwrap_or(u64::MAX)));
    }
    if dice.percent(40) {
        let cents = Money::from_cents(dice.between(5, 40));
        budget.cost_usd = Some(plan.cost_usd.map_or(cents, |limit| limit.min(cents)));
    }
    if dice.percent(15) {
        budget.time = Some(seconds(dice, 5, 600));
    }
    if dice.percent(15) {
        budget.branches = Some(dice.small(1, 4));
    }
    budget
}
