//! Problems of what is read: of tasks that nobody waits for, and of artifacts that two tasks make.

use std::collections::BTreeMap;

use super::Graph;
use crate::expr::Expr;
use crate::plan::action::Action;
use crate::plan::check::Findings;
use crate::plan::check::names::own_names;
use crate::plan::edges::references;
use crate::plan::{Check, Reference, Task};

/// Whether a task waits for another one far before it takes a walk through the plan; more than this are not taken.
const WALKS_MAX: u32 = 1_000;

impl Graph<'_> {
    /// Whoever reads an artifact that two tasks make would get that of the first, whichever of them ran.
    pub(super) fn check_makers(&self, findings: &mut Findings) {
        let mut makers: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
        // A later round makes the same anew, and what a map becomes makes it piece by piece: those are no second makers.
        let is_part =
            |i: usize| self.parent[i].is_some_and(|parent| matches!(self.task(parent).action, Some(Action::Map(_))));
        let own = self.plan.tasks.iter().enumerate().filter(|(i, task)| task.round.is_none() && !is_part(*i));
        for (_, task) in own {
            for artifact in &task.artifacts {
                makers.entry(&artifact.name).or_default().push(task);
            }
        }
        let listed = |name: &str| self.plan.artifacts.iter().any(|artifact| artifact.name == name);
        makers.retain(|name, tasks| tasks.len() > 1 && !listed(name));
        if makers.is_empty() {
            return;
        }
        for (i, task) in self.plan.tasks.iter().enumerate() {
            for (path, reference) in references(task) {
                let Reference::Artifact { name } = reference else { continue };
                let Some(tasks) = makers.get(name.as_str()) else { continue };
                let ids: Vec<String> = tasks.iter().map(|task| format!("`{}`", task.id)).collect();
                let message = format!(
                    "artifact `{name}` is made by {}: which one `{}` reads is not said",
                    ids.join(" and "),
                    task.id
                );
                findings.error("plan::two-makers", (Some(i), path), message).hint(format!(
                    "say which one is meant with `artifacts: [{{name: {name}, from: …}}]` in the plan, or read `tasks.<id>.{name}`"
                ));
            }
        }
    }

    /// What computes or decides starts as soon as it may: what it looks at should be over by then.
    pub(super) fn check_reads(&self, findings: &mut Findings) {
        let mut walks_left = WALKS_MAX;
        for (i, task) in self.plan.tasks.iter().enumerate() {
            let own = own_names(task);
            for (path, expr) in tested(task) {
                let read = expr.paths().iter().filter_map(|read| match read.segments.as_slice() {
                    [root, id, ..] if root == "tasks" => self.index.get(id.as_str()).copied(),
                    [root, ..] if !own.contains(root.as_str()) => self.index.get(root.as_str()).copied(),
                    _ => None,
                });
                for other in read {
                    if self.is_kin(i, other) || self.waits[i].contains(&other) || self.routed_from[i].contains(&other) {
                        continue;
                    }
                    let Some(left) = walks_left.checked_sub(1) else { return };
                    walks_left = left;
                    if !std::iter::once(other).chain(self.ancestors(other)).any(|other| self.is_upstream(other, i)) {
                        let id = &self.task(other).id;
                        findings
                            .warning(
                                "plan::not-awaited",
                                (Some(i), path.as_str()),
                                format!("task `{}` looks at `{id}`, but does not wait for it", task.id),
                            )
                            .hint(format!("add `{id}` to its `depends_on`"));
                    }
                }
            }
        }
    }

    /// Tells whether two tasks are one, or one contains the other.
    fn is_kin(&self, one: usize, other: usize) -> bool {
        one == other || self.ancestors(one).any(|i| i == other) || self.ancestors(other).any(|i| i == one)
    }
}

/// The expressions that are looked at once and decide what a task gives or where it leads.
fn tested(task: &Task) -> Vec<(String, &Expr)> {
    let routes = task.next.iter().enumerate();
    let mut all: Vec<(String, &Expr)> =
        routes.filter_map(|(i, route)| Some((format!("next.{i}.when"), route.when.as_ref()?))).collect();
    match &task.action {
        Some(Action::Compute(compute)) => {
            all.extend(compute.0.iter().map(|(name, expr)| (format!("compute.{name}"), expr)));
        }
        Some(Action::Decide(decide)) => {
            let options = decide.options.iter().enumerate();
            all.extend(
                options.filter_map(|(i, branch)| Some((format!("decide.options.{i}.when"), branch.when.as_ref()?))),
            );
        }
        Some(Action::Gate(gate)) => {
            let checks = gate.checks.iter().enumerate();
            all.extend(checks.filter_map(|(i, check)| match check {
                Check::Expr(expr) => Some((format!("gate.checks.{i}"), expr)),
                Check::Words(_) => None,
            }));
        }
        _ => {}
    }
    all
}
