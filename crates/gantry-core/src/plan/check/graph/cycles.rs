//! Tasks that would wait for themselves, through dependencies, the tree or routes.

use super::Graph;
use crate::plan::Route;
use crate::plan::check::Findings;

impl Graph<'_> {
    /// Finds cycles through dependencies, forward routes and containment, as task indices; no task is in two of them.
    ///
    /// Each task is two points, start and end: a task starts after what it waits for has ended, a
    /// child starts after its parent has started, and a parent ends after its children.
    pub(super) fn cycles(&self) -> Vec<Vec<usize>> {
        let n = self.plan.tasks.len();
        let kin = |a: usize, b: usize| self.ancestors(a).any(|i| i == b) || self.ancestors(b).any(|i| i == a);
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); 2 * n]; // point -> points that come before it
        for i in 0..n {
            let (start, end) = (2 * i, 2 * i + 1);
            before[end].push(start);
            let needs = self.waits[i].iter().chain(&self.routed_from[i]);
            before[start].extend(needs.filter(|dep| **dep != i && !kin(i, **dep)).map(|dep| 2 * dep + 1));
            if let Some(parent) = self.parent[i] {
                before[start].push(2 * parent);
                before[2 * parent + 1].push(end);
            }
        }
        let mut cycles: Vec<Vec<usize>> = Vec::new();
        let mut told = vec![false; n];
        let mut colour = vec![0_u8; 2 * n]; // 0 new, 1 on the path, 2 done
        for root in 0..2 * n {
            if colour[root] != 0 {
                continue;
            }
            let mut path: Vec<(usize, usize)> = vec![(root, 0)];
            colour[root] = 1;
            while let Some((point, next)) = path.last_mut() {
                let Some(&to) = before[*point].get(*next) else {
                    colour[*point] = 2;
                    path.pop();
                    continue;
                };
                *next += 1;
                match colour[to] {
                    0 => {
                        colour[to] = 1;
                        path.push((to, 0));
                    }
                    1 => {
                        let from = path.iter().position(|(p, _)| *p == to).unwrap_or(0);
                        let mut tasks: Vec<usize> = path[from..].iter().map(|(p, _)| p / 2).collect();
                        tasks.dedup();
                        if tasks.len() > 1 && tasks.first() == tasks.last() {
                            tasks.pop();
                        }
                        if !tasks.iter().any(|task| told[*task]) {
                            for task in &tasks {
                                told[*task] = true;
                            }
                            cycles.push(tasks);
                        }
                    }
                    _ => {}
                }
            }
        }
        cycles
    }

    pub(super) fn report_cycle(&self, cycle: &[usize], findings: &mut Findings) {
        let lowest = cycle.iter().enumerate().min_by_key(|(_, i)| **i).map_or(0, |(at, _)| at);
        let ring: Vec<&str> =
            cycle[lowest..].iter().chain(&cycle[..lowest]).map(|i| self.task(*i).id.as_str()).collect();
        let first = cycle.get(lowest).copied();
        // The walk goes backwards in time: each task in the ring waits for the next.
        let path = ring.iter().chain(ring.first()).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" -> ");
        let (task, field) = self.route_in(cycle).unwrap_or((first, "depends_on".to_owned()));
        findings.error("plan::cycle", (task, &field), format!("these tasks wait for each other: {path}")).hint(
            "remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`",
        );
    }

    /// The place of a route in a cycle that leads to an earlier line: a way back that was given no `max`.
    pub(super) fn route_in(&self, cycle: &[usize]) -> Option<(Option<usize>, String)> {
        let edges = cycle.iter().zip(cycle.iter().cycle().skip(1)); // each waits for the next
        edges.filter(|(to, from)| to < from).find_map(|(to, from)| {
            let leads_back = |route: &Route| route.max.is_none() && route.to == self.task(*to).id;
            let n = self.task(*from).next.iter().position(leads_back)?;
            Some((Some(*from), format!("next.{n}.to")))
        })
    }
}
