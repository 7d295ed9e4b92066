//! The tree of a plan as it is measured.

use std::collections::BTreeMap;

use gantry_core::plan::Plan;

/// Who contains whom, by places in the list of tasks.
pub struct Shape {
    /// The parts of each task that has some.
    parts: BTreeMap<usize, Vec<usize>>,
    parent: Vec<Option<usize>>,
    depth: Vec<usize>,
}

impl Shape {
    /// That of a plan. A parent that does not exist, or a circle of parents, counts as none.
    pub fn of(plan: &Plan) -> Self {
        let known: BTreeMap<&str, usize> =
            plan.tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect();
        let named = |at: usize| plan.tasks[at].parent.as_ref().and_then(|parent| known.get(parent.as_str())).copied();
        let mut parent: Vec<Option<usize>> = (0..plan.tasks.len()).map(named).collect();
        let mut depth = vec![0; parent.len()];
        for at in 0..parent.len() {
            let mut above = parent[at];
            while let Some(next) = above {
                depth[at] += 1;
                if depth[at] > parent.len() {
                    (parent[at], depth[at]) = (None, 0);
                    break;
                }
                above = parent[next];
            }
        }
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, above) in parent.iter().enumerate() {
            if let Some(above) = above {
                parts.entry(*above).or_default().push(at);
            }
        }
        Self { parts, parent, depth }
    }

    /// The tasks with parts, and these.
    pub fn parents(&self) -> impl Iterator<Item = (usize, &Vec<usize>)> {
        self.parts.iter().map(|(parent, parts)| (*parent, parts))
    }

    /// The tasks without parts.
    pub fn leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.parent.len()).filter(|at| !self.parts.contains_key(at))
    }

    /// The tasks without parts that a task comes down to: itself where it has none.
    pub fn below(&self, at: usize) -> Vec<usize> {
        let (mut found, mut open) = (Vec::new(), vec![at]);
        while let Some(next) = open.pop() {
            match self.parts.get(&next) {
                Some(parts) => open.extend(parts),
                None => found.push(next),
            }
        }
        found
    }

    /// Tells whether a task contains another, at whatever depth.
    pub fn contains(&self, outer: usize, inner: usize) -> bool {
        let mut above = self.parent[inner];
        while let Some(next) = above {
            if next == outer {
                return true;
            }
            above = self.parent[next];
        }
        false
    }

    /// How deep the deepest leaf lies.
    pub fn depth_max(&self) -> usize {
        self.leaves().map(|at| self.depth[at]).max().unwrap_or(0)
    }

    /// How deep leaves lie on average.
    pub fn depth_mean(&self) -> f64 {
        average(self.leaves().map(|at| self.depth[at]))
    }

    /// 1 where all leaves lie equally deep; less by the share of the mean depth that they lie apart.
    pub fn depth_evenness(&self) -> f64 {
        let mean = self.depth_mean();
        let apart = self.leaves().map(|at| (float(self.depth[at]) - mean).powi(2)).sum::<f64>();
        let deviation = (apart / float(self.leaves().count().max(1))).sqrt();
        (1.0 - deviation / mean.max(1.0)).max(0.0)
    }

    /// How many parts a task with parts has, on average.
    pub fn fanout_mean(&self) -> f64 {
        average(self.parts.values().map(Vec::len))
    }

    /// The share of tasks with parts that have so many.
    pub fn parents_with(&self, fits: impl Fn(usize) -> bool) -> f64 {
        super::ratio(self.parts.values().filter(|parts| fits(parts.len())).count(), self.parts.len())
    }

    /// The share of tasks with parts that have two to nine. The plan itself is one of them where it begins with several tasks.
    pub fn fanout_fit(&self) -> f64 {
        let tops = self.parent.iter().filter(|above| above.is_none()).count();
        let sizes: Vec<usize> = self.parts.values().map(Vec::len).chain((tops > 1).then_some(tops)).collect();
        super::ratio(sizes.iter().filter(|size| (2..=9).contains(*size)).count(), sizes.len())
    }

    /// How even leaves are spread over the branches: their entropy, as a share of the most there could be. Branches are the
    /// tasks at the top, or the parts of the only one there; none where there is just one.
    pub fn branch_evenness(&self) -> Option<f64> {
        let tops: Vec<usize> = (0..self.parent.len()).filter(|at| self.parent[*at].is_none()).collect();
        let branches = match tops.as_slice() {
            [only] => self.parts.get(only)?.clone(),
            _ => tops,
        };
        if branches.len() < 2 {
            return None;
        }
        let sizes: Vec<f64> = branches.iter().map(|at| float(self.below(*at).len())).collect();
        let all: f64 = sizes.iter().sum();
        let entropy: f64 = sizes.iter().map(|size| size / all).map(|share| -share * share.ln()).sum();
        Some(entropy / float(sizes.len()).ln())
    }
}

fn average(counts: impl Iterator<Item = usize>) -> f64 {
    let (sum, count) = counts.fold((0, 0_usize), |(sum, count), one| (sum + one, count + 1));
    float(sum) / float(count.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "counts of tasks")]
fn float(count: usize) -> f64 {
    count as f64
}
