//! Problems between tasks: the tree, the dependencies, the routes, and cycles through any of them.

mod cycles; // what waits for itself
mod routes; // where tasks lead to
mod reads; // what expressions look at

use std::collections::{BTreeMap, BTreeSet};

use routes::outcomes;

use super::names::is_never;
use super::{Findings, Location};
use crate::id::TaskId;
use crate::plan::action::Action;
use crate::plan::edges::{producers, references, waits_for};
use crate::plan::{InitialStatus, On, Plan, Reference, Task};

/// No plan is nested deeper than this, whatever its budget says.
pub(crate) const DEPTH_MAX: u32 = 64;

/// The graph by indices, with everything unknown left out.
struct Graph<'a> {
    plan: &'a Plan,
    index: BTreeMap<&'a str, usize>,
    parent: Vec<Option<usize>>,
    /// The tasks that each task waits for, without those that a route replaces.
    waits: Vec<Vec<usize>>,
    /// Forward routes into each task, in order.
    routed_from: Vec<Vec<usize>>,
    /// The tasks that come after each task: dependents, route targets, children.
    behind: Vec<Vec<usize>>,
}

/// A plan with more routes back than this was not written by anyone.
pub(crate) const LOOPS_MAX: usize = 1_000;

pub(super) fn check(plan: &Plan, findings: &mut Findings) {
    let mut graph = Graph::new(plan, findings);
    let is_tree = graph.check_tree(findings);
    graph.check_dependencies(findings);
    let cycles = graph.cycles();
    for cycle in &cycles {
        graph.report_cycle(cycle, findings);
    }
    graph.check_routes(findings);
    graph.check_makers(findings);
    if is_tree && cycles.is_empty() {
        graph.check_reads(findings);
        // What can be reached means nothing in a cycle.
        graph.check_reachable(findings);
        graph.check_deploys(findings);
    }
}

impl<'a> Graph<'a> {
    fn new(plan: &'a Plan, findings: &mut Findings) -> Self {
        let mut index = BTreeMap::new();
        for (i, task) in plan.tasks.iter().enumerate() {
            if let Some(first) = index.get(task.id.as_str()) {
                findings
                    .error("plan::duplicate-id", (Some(i), "id"), format!("the id `{}` is used twice", task.id))
                    .hint(format!("task number {} has it too; rename one of them", first + 1));
            } else {
                index.insert(task.id.as_str(), i);
            }
        }
        let find = |id: &TaskId| index.get(id.as_str()).copied();
        let producers = producers(plan);
        let mut routed_from: Vec<Vec<usize>> = vec![Vec::new(); plan.tasks.len()];
        for (from, task) in plan.tasks.iter().enumerate() {
            for route in task.next.iter().filter(|route| route.max.is_none()) {
                if let Some(to) = find(&route.to) {
                    routed_from[to].push(from);
                }
            }
            for to in named_by_modes(task).filter_map(|(_, id)| find(&id)).filter(|to| *to != from) {
                if !routed_from[to].contains(&from) {
                    routed_from[to].push(from);
                }
            }
        }
        let waits: Vec<Vec<usize>> = plan
            .tasks
            .iter()
            .enumerate()
            .map(|(i, task)| {
                let waits = waits_for(task, &producers);
                waits
                    .iter()
                    .filter_map(find)
                    .filter(|dep| *dep != i && routed_from[i].binary_search(dep).is_err())
                    .collect()
            })
            .collect();
        let parent: Vec<Option<usize>> = plan.tasks.iter().map(|task| task.parent.as_ref().and_then(find)).collect();
        let mut behind: Vec<Vec<usize>> = vec![Vec::new(); plan.tasks.len()];
        for i in 0..plan.tasks.len() {
            let waits: &[usize] = &waits[i];
            for before in waits.iter().chain(&routed_from[i]).chain(&parent[i]) {
                behind[*before].push(i);
            }
        }
        Self { plan, index, parent, waits, routed_from, behind }
    }

    fn task(&self, index: usize) -> &'a Task {
        &self.plan.tasks[index]
    }

    /// Checks parents; false when they form no tree. Cycles are cut, so that the rest can be looked at.
    fn check_tree(&mut self, findings: &mut Findings) -> bool {
        let mut sound = true;
        for (i, task) in self.plan.tasks.iter().enumerate() {
            if let (Some(parent), None) = (&task.parent, self.parent[i]) {
                let hint = findings.suggest(parent.as_str(), self.index.keys().copied());
                findings
                    .error(
                        "plan::unknown-parent",
                        (Some(i), "parent"),
                        format!("the parent `{parent}` of task `{}` does not exist", task.id),
                    )
                    .hint = hint;
            }
        }
        // Each task is walked up from once; a walk that meets itself is a cycle.
        let mut rooted = vec![0_u32; self.plan.tasks.len()]; // 0 unseen, else the walk that saw it
        for start in 0..self.plan.tasks.len() {
            let walk = u32::try_from(start + 1).unwrap_or(u32::MAX);
            let mut at = Some(start);
            while let Some(i) = at {
                if rooted[i] == walk {
                    findings.error(
                        "plan::parent-cycle",
                        (Some(i), "parent"),
                        format!("task `{}` contains itself through its parents", self.task(i).id),
                    );
                    self.parent[i] = None;
                    sound = false;
                    break;
                }
                if rooted[i] != 0 {
                    break;
                }
                rooted[i] = walk;
                at = self.parent[i];
            }
        }
        let depth_max = self.plan.policy.budget.depth.unwrap_or(DEPTH_MAX).min(DEPTH_MAX) as usize;
        for i in 0..self.plan.tasks.len() {
            if self.ancestors(i).take(depth_max).count() == depth_max {
                findings
                    .error(
                        "plan::too-deep",
                        (Some(i), "parent"),
                        format!("task `{}` is nested more than {depth_max} deep", self.task(i).id),
                    )
                    .hint("the limit is `policy.budget.depth`, at most 64");
                sound = false;
            } else if let Some((above, limit)) = self.too_deep_below(i) {
                findings
                    .error(
                        "plan::too-deep",
                        (Some(i), "parent"),
                        format!("task `{}` is more than {limit} deep in `{}`", self.task(i).id, self.task(above).id),
                    )
                    .hint(format!("the limit is `budget.depth` of `{}`", self.task(above).id));
            }
        }
        sound
    }

    /// The task above this one whose own budget of depth does not suffice for it.
    fn too_deep_below(&self, index: usize) -> Option<(usize, u32)> {
        let above = self.ancestors(index).zip(1_u32..);
        above
            .filter_map(|(i, depth)| Some((i, depth, self.task(i).budget.depth?)))
            .find(|(_, depth, limit)| depth > limit)
            .map(|(i, _, limit)| (i, limit))
    }

    /// What contains a task, from the inside out, as far as tasks may be nested.
    fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent[index], |i| self.parent[*i]).take(DEPTH_MAX as usize)
    }

    fn check_dependencies(&self, findings: &mut Findings) {
        let artifacts = producers(self.plan);
        for (i, task) in self.plan.tasks.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for (n, dep) in task.depends_on.iter().enumerate() {
                let path = format!("depends_on.{n}");
                let place = (Some(i), path.as_str());
                if !seen.insert(dep) {
                    findings.warning(
                        "plan::duplicate-dependency",
                        place,
                        format!("task `{}` depends on `{dep}` twice", task.id),
                    );
                    continue;
                }
                if *dep == task.id {
                    findings
                        .error("plan::self-dependency", place, format!("task `{}` depends on itself", task.id))
                        .hint("remove it");
                    continue;
                }
                match self.index.get(dep.as_str()).copied() {
                    None => {
                        let hint = findings.suggest(dep.as_str(), self.index.keys().copied());
                        findings
                            .error(
                                "plan::unknown-dependency",
                                place,
                                format!("task `{}` depends on `{dep}`, which does not exist", task.id),
                            )
                            .hint = hint;
                    }
                    Some(d) => self.check_kinship(i, d, place, "depends on", findings),
                }
            }
            for (path, reference) in references(task) {
                let place = (Some(i), path.as_str());
                match reference {
                    Reference::Task { task: from, .. } => match self.index.get(from.as_str()).copied() {
                        None => {
                            let hint = findings.suggest(from.as_str(), self.index.keys().copied());
                            findings
                                .error(
                                    "plan::unknown-reference",
                                    place,
                                    format!("task `{}` reads `{reference}`, but there is no task `{from}`", task.id),
                                )
                                .hint = hint;
                        }
                        Some(from) if from == i => {
                            findings.error(
                                "plan::self-reference",
                                place,
                                format!("task `{}` reads its own output before it exists", task.id),
                            );
                        }
                        Some(from) => self.check_kinship(i, from, place, "reads from", findings),
                    },
                    Reference::Artifact { name } => {
                        if !artifacts.contains_key(name) {
                            let hint = findings.suggest(name, artifacts.keys().map(String::as_str));
                            findings
                                .error(
                                    "plan::unknown-artifact",
                                    place,
                                    format!("task `{}` reads artifact `{name}`, which nothing makes", task.id),
                                )
                                .hint = hint;
                        }
                    }
                    Reference::Memory { .. } => {}
                }
            }
        }
        for (n, artifact) in self.plan.artifacts.iter().enumerate() {
            if !self.index.contains_key(artifact.from.as_str()) {
                let hint = findings.suggest(artifact.from.as_str(), self.index.keys().copied());
                findings
                    .error(
                        "plan::unknown-task",
                        (None, &format!("artifacts.{n}.from")),
                        format!("artifact `{}` comes from `{}`, which does not exist", artifact.name, artifact.from),
                    )
                    .hint = hint;
            }
        }
    }

    /// A task cannot wait for what contains it, nor a composite for its own parts.
    fn check_kinship(
        &self,
        task: usize,
        other: usize,
        place: impl Into<Location>,
        verb: &str,
        findings: &mut Findings,
    ) {
        let (id, other_id) = (&self.task(task).id, &self.task(other).id);
        if self.ancestors(task).any(|i| i == other) {
            findings
                .error(
                    "plan::ancestor-dependency",
                    place,
                    format!("task `{id}` {verb} `{other_id}`, which contains it"),
                )
                .hint(format!("`{other_id}` is over only when `{id}` is; remove it, or depend on a sibling"));
        } else if self.ancestors(other).any(|i| i == task) {
            findings
                .error(
                    "plan::descendant-dependency",
                    place,
                    format!("task `{id}` {verb} `{other_id}`, which is a part of it"),
                )
                .hint("a composite waits for its parts anyway; remove it");
        }
    }

    /// Reports tasks that no ending of any other task can ever lead to.
    fn check_reachable(&self, findings: &mut Findings) {
        let n = self.plan.tasks.len();
        let mut unreachable = vec![false; n];
        for (i, task) in self.plan.tasks.iter().enumerate() {
            let dead_routes = !self.routed_from[i].is_empty()
                && self.routed_from[i].iter().all(|from| {
                    if named_by_modes(self.task(*from)).any(|(_, id)| id == task.id) {
                        return false;
                    }
                    self.task(*from).next.iter().filter(|route| route.to == task.id).all(|route| {
                        route.when.as_ref().is_some_and(is_never)
                            || match (&route.on, outcomes(self.task(*from))) {
                                (On::Outcome(outcome), Some(known)) => !known.contains(&outcome.as_str()),
                                _ => false,
                            }
                    })
                });
            unreachable[i] = dead_routes;
        }
        let mut worklist: Vec<usize> = (0..n).filter(|i| unreachable[*i]).collect();
        while let Some(dead) = worklist.pop() {
            for i in self.behind[dead].iter().copied() {
                let is_dead = |other: &usize| unreachable[*other];
                let no_way_in = !self.routed_from[i].is_empty() && self.routed_from[i].iter().all(is_dead);
                let held = self.waits[i].iter().any(is_dead) || self.parent[i].as_ref().is_some_and(is_dead);
                if (no_way_in || held) && !unreachable[i] {
                    unreachable[i] = true;
                    worklist.push(i);
                }
            }
        }
        for i in (0..n).filter(|i| unreachable[*i]) {
            findings
                .error(
                    "plan::unreachable",
                    (Some(i), ""),
                    format!("task `{}` can never run: nothing that happens leads to it", self.task(i).id),
                )
                .hint("mend the routes that lead to it, or remove it");
        }
    }

    /// With `require_gate_for_prod`, a deploy must stand behind a gate that people have to pass. Whether they did is seen
    /// when the deploy is about to begin: a gate may be left out on the way.
    fn check_deploys(&self, findings: &mut Findings) {
        if !self.plan.policy.require_gate_for_prod {
            return;
        }
        let mut behind_gate = vec![false; self.plan.tasks.len()];
        let gates = (0..self.plan.tasks.len()).filter(|i| not_by_people(self.task(*i)).is_none());
        let mut stack: Vec<usize> = gates
            .flat_map(|gate| self.behind[gate].iter().copied().filter(move |to| self.lets_through(gate, *to)))
            .collect();
        for i in &stack {
            behind_gate[*i] = true;
        }
        while let Some(i) = stack.pop() {
            for after in self.behind[i].iter().copied() {
                if !std::mem::replace(&mut behind_gate[after], true) {
                    stack.push(after);
                }
            }
        }
        for (i, task) in self.plan.tasks.iter().enumerate() {
            if deploys(task) && !behind_gate[i] {
                let why = self.weak_gate_before(i).unwrap_or_else(|| "no gate stands before it".to_owned());
                findings
                    .error("plan::ungated-deploy", (Some(i), ""), format!("task `{}` deploys, but {why}", task.id))
                    .hint(
                        "the policy says `require_gate_for_prod`: let it depend on a gate that people have to approve",
                    );
            }
        }
    }

    /// Tells whether a task comes after a gate only when the gate was passed.
    fn lets_through(&self, gate: usize, to: usize) -> bool {
        let target = &self.task(to).id;
        let passed = |on: &On| match on {
            On::Success => true,
            On::Outcome(outcome) => outcome == "approved",
            On::Failure | On::Always => false,
        };
        let routes = self.task(gate).next.iter().filter(|route| route.max.is_none() && route.to == *target);
        routes.map(|route| &route.on).all(passed) && !named_by_modes(self.task(gate)).any(|(_, id)| id == *target)
    }

    /// Says why a gate before a deploy holds nothing up.
    fn weak_gate_before(&self, deploy: usize) -> Option<String> {
        let upstream =
            |i: &usize| matches!(self.task(*i).action, Some(Action::Gate(_))) && self.is_upstream(*i, deploy);
        let gate = (0..self.plan.tasks.len()).find(upstream)?;
        let why = not_by_people(self.task(gate)).unwrap_or("leads to it even when it is rejected");
        Some(format!("gate `{}` before it {why}", self.task(gate).id))
    }
}

/// Says why nobody has to pass this gate, if that is so; what is no gate is passed by nobody.
fn not_by_people(task: &Task) -> Option<&'static str> {
    match &task.action {
        Some(Action::Gate(gate)) if gate.approvals_needed() == 0 => Some("asks nobody"),
        Some(Action::Gate(_)) if task.optional => Some("is optional"),
        // In a later round it may be left out; then the deploy is held when it comes to it.
        Some(Action::Gate(_)) if task.status != InitialStatus::Pending && task.round.is_none() => {
            Some("is over from the start")
        }
        Some(Action::Gate(_)) => None,
        _ => Some("is no gate"),
    }
}

/// The tasks that failure modes name to run instead, with the index of the mode.
fn named_by_modes(task: &Task) -> impl Iterator<Item = (usize, TaskId)> {
    task.failure_modes.iter().enumerate().filter_map(|(n, mode)| Some((n, TaskId::new(mode.recover.as_deref()?).ok()?)))
}

/// Tells whether a task deploys something, or becomes tasks that do.
pub(crate) fn deploys(task: &Task) -> bool {
    let each = match &task.action {
        Some(Action::Map(map)) => map.each.as_deref(),
        _ => None,
    };
    task.kind.as_ref().is_some_and(|kind| kind.as_str() == "deploy") || each.is_some_and(deploys)
}
