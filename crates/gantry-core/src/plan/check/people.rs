//! Problems of what people are to do: gates that nobody can pass, questions without an answer.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use super::content::Spot;
use super::names::check_names;
use crate::plan::{Ask, Gate};

pub(super) fn check_ask(spot: &Spot<'_>, ask: &Ask, findings: &mut Findings) {
    if let Some(default) = &ask.default
        && !ask.options.is_empty()
        && !ask.options.iter().any(|choice| choice.name == *default)
    {
        findings.error(
            "plan::unknown-choice",
            spot.at("ask.default"),
            format!("the default answer `{default}` is not one of the options"),
        );
    }
    if ask.answer_within.is_some() && ask.default.is_none() {
        findings.warning(
            "plan::no-default",
            spot.at("ask"),
            format!("task `{}` has `answer_within` but no `default` to take then", spot.task.id),
        );
    }
}

pub(super) fn check_gate(spot: &Spot<'_>, gate: &Gate, findings: &mut Findings) {
    let (plan, task) = (spot.plan, spot.task);
    let needed = gate.approvals_needed();
    for (i, check) in gate.checks.iter().enumerate() {
        check_names(check, &spot.at(format!("gate.checks.{i}")), spot.names, &spot.own, findings);
    }
    if needed == 0 && gate.checks.is_empty() {
        findings.warning(
            "plan::open-gate",
            spot.at("gate"),
            format!("gate `{}` checks nothing and asks nobody", task.id),
        );
    }
    let distinct: BTreeSet<&String> = gate.approvers.iter().collect();
    if !gate.approvers.is_empty() && u32::try_from(distinct.len()).is_ok_and(|people| people < needed) {
        findings
            .error(
                "plan::gate-nobody-can-pass",
                spot.at("gate"),
                format!("gate `{}` needs {needed} approvals, but only {} may approve", task.id, distinct.len()),
            )
            .hint("lower `approvals` or list more `approvers`");
    }
    let mut roles: BTreeMap<&str, u32> = BTreeMap::new();
    for person in &plan.stakeholders {
        if let Some(role) = &person.role {
            *roles.entry(role).or_default() += 1;
        }
    }
    if let Some(role) = &gate.role
        && !roles.is_empty()
        && gate.approvers.is_empty()
    {
        let people = roles.get(role.as_str()).copied().unwrap_or(0);
        if people < needed {
            findings
                .error(
                    "plan::gate-nobody-can-pass",
                    spot.at("gate"),
                    format!(
                        "gate `{}` needs {needed} approvals by a {role}, but {people} of the stakeholders have that role",
                        task.id
                    ),
                )
                .hint(format!("give stakeholders the role `{role}`, or change the gate's role"));
        }
    }
}
