//! What each item of a map becomes: a task like any other, but that the map has its place in the plan.

use super::Findings;
use super::actions::reserved_input;
use super::content::{Spot, check_growth, check_task};
use super::names::own_names;
use crate::id::TaskId;
use crate::plan::{InitialStatus, Input, Map, Task};

pub(super) fn check(spot: &Spot<'_>, map: &Map, findings: &mut Findings) {
    let task = spot.task;
    if map.max == Some(0) {
        findings.error(
            "plan::zero-limit",
            spot.at("map.max"),
            format!("with `max: 0` task `{}` can become nothing", task.id),
        );
    }
    check_growth(map.max, spot.plan.policy.map_max, spot.at("map.max"), findings);
    if let Input::Value(value) = &map.over
        && !value.is_array()
    {
        findings.error(
            "plan::not-a-list",
            spot.at("map.over"),
            format!("task `{}` maps over something that is not a list", task.id),
        );
    }
    let Some(each) = &map.each else { return };
    let prefix = format!("{}map.each.", spot.prefix);
    let mut own = own_names(each);
    own.insert(&map.r#as);
    let inner = Spot { task: each, prefix: &prefix, own, item: Some(&map.r#as), ..*spot };
    check_place(&inner, findings);
    if each.inputs.contains_key(&map.r#as) {
        reserved_input(&map.r#as, "the item of the list", &inner, findings);
    }
    check_task(&inner, findings);
}

/// The map waits, leads on and has its place in the tree; what it becomes stands in it.
fn check_place(spot: &Spot<'_>, findings: &mut Findings) {
    let each = spot.task;
    let said = [
        ("depends_on", !each.depends_on.is_empty()),
        ("next", !each.next.is_empty()),
        ("parent", each.parent.is_some()),
        ("status", each.status != InitialStatus::Pending),
        ("round", each.round.is_some()),
    ];
    for (field, _) in said.into_iter().filter(|(_, said)| *said) {
        findings
            .error(
                "plan::each-stands-alone",
                spot.at(field),
                format!("what each item becomes cannot have `{field}`: its place in the plan is that of the map"),
            )
            .hint(format!(
                "give `{field}` to the map, or let each item become several tasks with `plan: {{tasks: …}}`"
            ));
    }
    for n in tasks_named(each, spot) {
        findings
            .error(
                "plan::each-stands-alone",
                spot.at(format!("failure_modes.{n}.recover")),
                "what each item becomes cannot recover by another task: only the map leads on".to_owned(),
            )
            .hint("say what to do in words, or give the map a route: `next: [{on: failure, to: …}]`");
    }
}

/// The failure modes that name another task of the plan to run.
fn tasks_named<'a>(each: &'a Task, spot: &'a Spot<'_>) -> impl Iterator<Item = usize> + 'a {
    let named = |recover: &str| TaskId::new(recover).is_ok_and(|id| spot.names.contains(id.as_str()));
    let modes = each.failure_modes.iter().enumerate();
    modes.filter(move |(_, mode)| mode.recover.as_deref().is_some_and(named)).map(|(n, _)| n)
}
