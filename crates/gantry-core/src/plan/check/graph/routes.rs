//! Problems of routes: where they lead, when, and how often.

use super::{Graph, LOOPS_MAX, named_by_modes};
use crate::plan::action::Action;
use crate::plan::check::Findings;
use crate::plan::{On, Task};
use crate::policy::Remedy;
use crate::suggest::nearest;

impl Graph<'_> {
    pub(super) fn check_routes(&self, findings: &mut Findings) {
        for (i, task) in self.plan.tasks.iter().enumerate() {
            for (prefix, task) in with_parts(task) {
                self.check_outcomes(i, &prefix, task, findings);
            }
        }
        let loops = self.plan.tasks.iter().flat_map(|task| &task.next).filter(|route| route.max.is_some()).count();
        if loops > LOOPS_MAX {
            findings.error(
                "plan::too-many-loops",
                (None, "tasks"),
                format!("the plan has {loops} routes back, and at most {LOOPS_MAX} are allowed"),
            );
            return;
        }
        for (i, task) in self.plan.tasks.iter().enumerate() {
            for (n, route) in task.next.iter().enumerate() {
                let path = format!("next.{n}.to");
                let place = (Some(i), path.as_str());
                let Some(to) = self.index.get(route.to.as_str()).copied() else {
                    let hint = findings.suggest(route.to.as_str(), self.index.keys().copied());
                    findings
                        .error(
                            "plan::unknown-route",
                            place,
                            format!("task `{}` goes to `{}` on {}, which does not exist", task.id, route.to, route.on),
                        )
                        .hint = hint;
                    continue;
                };
                match route.max {
                    None if to == i => {
                        findings
                            .error("plan::self-route", place, format!("task `{}` goes to itself", task.id))
                            .hint("give the route a `max`");
                    }
                    None if self.ancestors(i).any(|a| a == to) || self.ancestors(to).any(|a| a == i) => {
                        findings.error(
                            "plan::kin-route",
                            place,
                            format!("task `{}` cannot go to `{}`: one contains the other", task.id, route.to),
                        );
                    }
                    None => {}
                    Some(0) => {
                        findings.error(
                            "plan::zero-limit",
                            (Some(i), &format!("next.{n}.max")),
                            format!("a route with `max: 0` from `{}` can never be taken", task.id),
                        );
                    }
                    Some(_) if to != i && !self.is_upstream(to, i) => {
                        findings
                            .error(
                                "plan::route-not-back",
                                place,
                                format!(
                                    "the route from `{}` to `{}` has a `max` but does not lead back",
                                    task.id, route.to
                                ),
                            )
                            .hint("remove `max`, or choose a task that this one waits for");
                    }
                    Some(_) => {}
                }
                if let On::Outcome(word) = &route.on
                    && outcomes(task).is_none()
                    && let Some(near) = nearest(word, ["success", "failure", "always"])
                {
                    findings
                        .error(
                            "plan::unknown-outcome",
                            (Some(i), &format!("next.{n}.on")),
                            format!("`{word}` is no ending of task `{}`", task.id),
                        )
                        .hint(format!("did you mean `{near}`?"));
                }
                if let Some(known) = outcomes(task)
                    && let On::Outcome(outcome) = &route.on
                    && !known.contains(&outcome.as_str())
                {
                    let all = format!("it ends with one of: {}", known.join(", "));
                    let near = nearest(outcome, known.iter().copied());
                    findings
                        .error(
                            "plan::unknown-outcome",
                            (Some(i), &format!("next.{n}.on")),
                            format!("task `{}` never ends with `{outcome}`", task.id),
                        )
                        .hint(near.map_or(all.clone(), |near| format!("did you mean `{near}`? {all}")));
                }
            }
            for (n, id) in named_by_modes(task) {
                let Some(to) = self.index.get(id.as_str()).copied() else {
                    self.check_recovery(i, n, id.as_str(), findings);
                    continue;
                };
                if to == i || self.ancestors(i).any(|a| a == to) || self.ancestors(to).any(|a| a == i) {
                    findings.error(
                        "plan::kin-route",
                        (Some(i), &format!("failure_modes.{n}.recover")),
                        format!("task `{}` cannot recover by `{id}`: one contains the other, or is it", task.id),
                    );
                }
            }
        }
    }

    /// What is neither a task nor a remedy is guidance in words, unless it is nearly one of them.
    fn check_recovery(&self, i: usize, n: usize, word: &str, findings: &mut Findings) {
        if Remedy::NAMES.contains(&word) {
            return;
        }
        if let Some(hint) = findings.suggest(word, self.index.keys().copied().chain(Remedy::NAMES)) {
            findings
                .warning(
                    "plan::unknown-recovery",
                    (Some(i), format!("failure_modes.{n}.recover")),
                    format!("`{word}` is taken as advice in words: there is no such task or remedy"),
                )
                .hint(hint);
        }
    }

    /// Checks what a task ends with and where it sends work back, wherever the task stands.
    fn check_outcomes(&self, i: usize, prefix: &str, task: &Task, findings: &mut Findings) {
        let reserved = ["success", "failure", "always"];
        if let Some(outcome) = outcomes(task).into_iter().flatten().find(|outcome| reserved.contains(outcome)) {
            findings
                .error(
                    "plan::reserved-outcome",
                    (Some(i), prefix.trim_end_matches('.')),
                    format!("task `{}` cannot have an outcome called `{outcome}`", task.id),
                )
                .hint("routes use that word for every task; choose another one");
        }
        let Some(Action::Gate(gate)) = &task.action else { return };
        let Some(back_to) = &gate.back_to else { return };
        let place = (Some(i), format!("{prefix}gate.back_to"));
        match self.index.get(back_to.as_str()).copied() {
            Some(to) if self.is_upstream(to, i) => {}
            Some(_) => {
                findings.error(
                    "plan::route-not-back",
                    place,
                    format!("gate `{}` cannot send work back to `{back_to}`: it does not wait for it", task.id),
                );
            }
            None => {
                findings.error(
                    "plan::unknown-route",
                    place,
                    format!("gate `{}` sends work back to `{back_to}`, which does not exist", task.id),
                );
            }
        }
    }

    /// Tells whether `task` waits for `other`, directly or not.
    pub(super) fn is_upstream(&self, other: usize, task: usize) -> bool {
        let mut seen = vec![false; self.plan.tasks.len()];
        let mut stack = vec![task];
        while let Some(i) = stack.pop() {
            if std::mem::replace(&mut seen[i], true) {
                continue;
            }
            if i == other && i != task {
                return true;
            }
            stack.extend(self.waits[i].iter().chain(&self.routed_from[i]).copied());
            stack.extend(self.parent[i]);
        }
        false
    }
}

/// A task, and what each of its items becomes, with what stands before the names of the fields.
fn with_parts(task: &Task) -> impl Iterator<Item = (String, &Task)> {
    std::iter::successors(Some((String::new(), task)), |(prefix, task)| match &task.action {
        Some(Action::Map(map)) => map.each.as_deref().map(|each| (format!("{prefix}map.each."), each)),
        _ => None,
    })
}

/// The outcomes that a task can end with, where that is known.
pub(super) fn outcomes(task: &Task) -> Option<Vec<&str>> {
    match &task.action {
        Some(Action::Decide(decide)) if !decide.options.is_empty() => Some(decide.outcomes()),
        Some(Action::Gate(_)) => Some(vec!["approved", "rejected", "needs_changes"]),
        Some(Action::Ask(ask)) if !ask.options.is_empty() => {
            Some(ask.options.iter().map(|choice| choice.name.as_str()).collect())
        }
        _ => None,
    }
}
