//! Problems of what people are to do: gates that nobody can pass, questions without an answer.

use std::collections::BTreeSet;

use super::content::{Spot, check_growth, check_patience};
use super::names::{check_names, is_never};
use super::{Findings, Location};
use crate::plan::{Ask, Check, Gate, Stakeholder, folded, is_same};

/// Something that is to be read is empty.
pub(super) fn empty(place: &Location, what: &str, findings: &mut Findings) {
    findings.error("plan::empty-text", place, what.to_owned()).hint("write it down, or leave the field out");
}

pub(super) fn check_ask(spot: &Spot<'_>, ask: &Ask, findings: &mut Findings) {
    if ask.question.trim().is_empty() {
        empty(&spot.at("ask.question"), "there is no question to answer", findings);
    }
    let mut seen = BTreeSet::new();
    for (i, choice) in ask.options.iter().enumerate() {
        if !seen.insert(choice.name.as_str()) {
            findings.error(
                "plan::duplicate-choice",
                spot.at(format!("ask.options.{i}")),
                format!("the answer `{}` is listed twice", choice.name),
            );
        }
    }
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
    check_patience(ask.answer_within, &spot.at("ask.answer_within"), findings);
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
    for (i, _) in gate.approvers.iter().enumerate().filter(|(_, name)| name.trim().is_empty()) {
        empty(&spot.at(format!("gate.approvers.{i}")), "an approver has no name", findings);
    }
    if gate.role.as_ref().is_some_and(|role| role.trim().is_empty()) {
        empty(&spot.at("gate.role"), "the role has no name, so nobody has it", findings);
    }
    check_growth(gate.rounds_max, plan.policy.rounds_max, spot.at("gate.rounds_max"), findings);
    check_patience(gate.escalate_after, &spot.at("gate.escalate_after"), findings);
    if let Some(sort) = gate.r#type.as_deref().filter(|sort| !Gate::TYPES.contains(sort)) {
        let hint = findings.suggest(sort, Gate::TYPES.into_iter());
        findings
            .warning("plan::unknown-gate-type", spot.at("gate.type"), format!("`{sort}` is no sort of gate"))
            .hint(hint.unwrap_or_else(|| format!("use one of: {}", Gate::TYPES.join(", "))));
    }
    for (i, check) in gate.checks.iter().enumerate() {
        let place = spot.at(format!("gate.checks.{i}"));
        match check {
            Check::Expr(expr) if is_never(expr) => {
                let message = format!("gate `{}` can never open: `{}` is always false", task.id, expr.source());
                findings.error("plan::gate-nobody-can-pass", place, message).hint("name what the check is about");
            }
            check => check_names(check, &place, spot.names, &spot.own, findings),
        }
    }
    if needed == 0 && gate.checks.is_empty() {
        findings.warning(
            "plan::open-gate",
            spot.at("gate"),
            format!("gate `{}` checks nothing and asks nobody", task.id),
        );
    }
    let people = |names: Vec<&str>| -> BTreeSet<String> { names.into_iter().map(folded).collect() };
    let listed = people(gate.approvers.iter().map(String::as_str).collect());
    let with_role = |role: &String| {
        let has = |person: &&Stakeholder| person.role.as_deref().is_some_and(|own| is_same(own, role));
        people(plan.stakeholders.iter().filter(has).map(|person| person.name.as_str()).collect())
    };
    let roles_are_known = plan.stakeholders.iter().any(|person| person.role.is_some());
    let in_role = gate.role.as_ref().map(with_role);
    // Who may decide, where that is known; as the gate itself sees it.
    let (may, whose) = match (&gate.role, in_role) {
        (Some(role), Some(in_role)) if gate.approvers.is_empty() && roles_are_known => {
            let hint = format!("give stakeholders the role `{role}`, or change the gate's role");
            (in_role, Some((format!(" by a {role}"), "of the stakeholders have that role", hint)))
        }
        (Some(role), Some(in_role)) if !listed.is_empty() && !in_role.is_empty() => {
            let hint =
                format!("list `approvers` that are stakeholders with the role `{role}`, or change the gate's role");
            let may = listed.intersection(&in_role).cloned().collect();
            (may, Some((format!(" by a {role}"), "of its approvers have that role", hint)))
        }
        _ if listed.is_empty() => return,
        _ => (listed, None),
    };
    if u32::try_from(may.len()).is_ok_and(|people| people >= needed) {
        return;
    }
    let approvals = if needed == 1 { "1 approval".to_owned() } else { format!("{needed} approvals") };
    let (message, hint) = match whose {
        Some((by, those, hint)) => {
            (format!("gate `{}` needs {approvals}{by}, but {} {those}", task.id, may.len()), hint)
        }
        None => (
            format!("gate `{}` needs {approvals}, but only {} may approve", task.id, may.len()),
            "lower `approvals` or list more `approvers`".to_owned(),
        ),
    };
    findings.error("plan::gate-nobody-can-pass", spot.at("gate"), message).hint(hint);
}
