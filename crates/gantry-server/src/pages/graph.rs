//! The tasks of a plan as a layered graph: who waits for whom, from left to right.
//!
//! Layers are the longest ways from the beginning; within a layer a box stands near those that it is linked to. The same
//! plan always gives the same places, so that a live picture does not jump.

use std::collections::BTreeMap;

use gantry_core::id::TaskId;
use gantry_core::life::Life;
use serde_json::{Value, json};

/// The size of a box and the room between boxes, in pixels.
pub const BOX: (u32, u32) = (188, 44);
const GAP: (u32, u32) = (64, 14);
const MARGIN: u32 = 12;
/// How often boxes are moved nearer to those that they are linked to.
const SWEEPS: usize = 4;

/// A task as a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The task.
    pub id: TaskId,
    /// What it is called.
    pub title: String,
    /// How it is done.
    pub action: String,
    /// Where it stands.
    pub state: String,
    /// Where its upper left corner is.
    pub at: (u32, u32),
}

/// All boxes and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The boxes.
    pub nodes: Vec<Node>,
    /// From which box to which.
    pub edges: Vec<(usize, usize)>,
    /// How much room it takes.
    pub size: (u32, u32),
}

impl Graph {
    /// Lays out the tasks of a plan. A task with parts is drawn as its parts.
    pub fn of(life: &Life) -> Self {
        let plan = life.plan();
        let waits = plan.waits();
        let parents: std::collections::BTreeSet<&TaskId> =
            plan.tasks.iter().filter_map(|task| task.parent.as_ref()).collect();
        let drawn: Vec<usize> = (0..plan.tasks.len())
            .filter(|at| !parents.contains(&plan.tasks[*at].id) || plan.tasks[*at].action.is_some())
            .collect();
        let place: BTreeMap<&TaskId, usize> =
            drawn.iter().enumerate().map(|(place, at)| (&plan.tasks[*at].id, place)).collect();
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for (to, at) in drawn.iter().enumerate() {
            for wait in &waits[*at] {
                edges.extend(
                    ends(&plan.tasks, wait, &place).into_iter().filter(|from| *from != to).map(|from| (from, to)),
                );
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let layers = layers(drawn.len(), &edges);
        let (places, size) = places(drawn.len(), &edges, &layers);
        let node = |(place, at): (usize, &usize)| {
            let task = &plan.tasks[*at];
            Node {
                title: task.name().to_owned(),
                action: task.action.as_ref().map(|action| action.key().to_owned()).unwrap_or_default(),
                state: life.task_state(task.id.as_str()).map(|state| state.to_string()).unwrap_or_default(),
                id: task.id.clone(),
                at: places[place],
            }
        };
        Self { nodes: drawn.iter().enumerate().map(node).collect(), edges, size }
    }

    /// It for programs.
    pub fn to_json(&self) -> Value {
        let nodes: Vec<Value> = self
            .nodes
            .iter()
            .map(|node| {
                json!({
                    "id": node.id, "title": node.title, "action": node.action, "state": node.state,
                    "x": node.at.0, "y": node.at.1,
                })
            })
            .collect();
        let edges: Vec<Value> =
            self.edges.iter().map(|(from, to)| json!([self.nodes[*from].id, self.nodes[*to].id])).collect();
        json!({
            "nodes": nodes, "edges": edges, "width": self.size.0, "height": self.size.1, "box": [BOX.0, BOX.1],
        })
    }
}

/// The boxes that stand for a task: itself, or its parts when only those are drawn.
fn ends(tasks: &[gantry_core::plan::Task], id: &TaskId, place: &BTreeMap<&TaskId, usize>) -> Vec<usize> {
    if let Some(at) = place.get(id) {
        return vec![*at];
    }
    let parts = tasks.iter().filter(|task| task.parent.as_ref() == Some(id));
    parts.flat_map(|part| ends(tasks, &part.id, place)).collect()
}

/// The longest way to each box.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut after = vec![Vec::new(); count];
    let mut open = vec![0_usize; count];
    for (from, to) in edges {
        after[*from].push(*to);
        open[*to] += 1;
    }
    let mut layer = vec![0; count];
    let mut ready: std::collections::VecDeque<usize> = (0..count).filter(|at| open[*at] == 0).collect();
    while let Some(at) = ready.pop_front() {
        for to in &after[at] {
            layer[*to] = layer[*to].max(layer[at] + 1);
            open[*to] -= 1;
            if open[*to] == 0 {
                ready.push_back(*to);
            }
        }
    }
    layer
}

/// How many boxes of a layer stand below each other: what is more goes on in the next column, so that the picture of a wide
/// plan has the shape of a window and not of a ribbon.
fn rows_max(count: usize) -> usize {
    (2 * count.isqrt()).max(16)
}

/// Where each box stands, and how much room all take.
fn places(count: usize, edges: &[(usize, usize)], layer: &[usize]) -> (Vec<(u32, u32)>, (u32, u32)) {
    let depth = layer.iter().max().map_or(0, |deepest| deepest + 1);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); depth];
    for at in 0..count {
        rows[layer[at]].push(at);
    }
    let mut row = vec![0_usize; count];
    let number = |rows: &[Vec<usize>], row: &mut Vec<usize>| {
        for one in rows {
            for (place, at) in one.iter().enumerate() {
                row[*at] = place;
            }
        }
    };
    number(&rows, &mut row);
    let mut near = vec![Vec::new(); count];
    for (from, to) in edges {
        near[*from].push(*to);
        near[*to].push(*from);
    }
    for _ in 0..SWEEPS {
        for one in &mut rows {
            // The mean place of its neighbours, in thousandths so that it is the same everywhere.
            one.sort_by_key(|at| match near[*at].len() {
                0 => (row[*at] * 1_000, *at),
                linked => (near[*at].iter().map(|other| row[*other] * 1_000).sum::<usize>() / linked, *at),
            });
        }
        number(&rows, &mut row);
    }
    let high = rows_max(count);
    // In which column each layer begins; a layer has as many as it needs, and those are as even as can be.
    let columns: Vec<usize> = rows.iter().map(|one| one.len().div_ceil(high).max(1)).collect();
    let begins: Vec<usize> = columns.iter().scan(0, |next, wide| Some(std::mem::replace(next, *next + wide))).collect();
    let each: Vec<usize> = rows.iter().zip(&columns).map(|(one, wide)| one.len().div_ceil(*wide)).collect();
    let widest = each.iter().max().copied().unwrap_or(0);
    let px = |count: usize, each: u32| u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(each);
    let at = |box_no: usize| {
        let here = layer[box_no];
        let (column, row) = (row[box_no] / each[here].max(1), row[box_no] % each[here].max(1));
        let missing = widest - each[here];
        let x = MARGIN + px(begins[here] + column, BOX.0 + GAP.0);
        // A short layer stands in the middle, half a row at a time.
        let y = MARGIN + px(row, BOX.1 + GAP.1) + px(missing, u32::midpoint(BOX.1, GAP.1));
        (x, y)
    };
    let depth: usize = columns.iter().sum();
    let size = (2 * MARGIN + px(depth, BOX.0 + GAP.0).saturating_sub(GAP.0), 2 * MARGIN + px(widest, BOX.1 + GAP.1));
    ((0..count).map(at).collect(), size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_of_many_boxes_goes_on_in_the_next_column_and_no_two_stand_in_one_place() {
        // One begins, and 999 wait for it.
        let edges: Vec<(usize, usize)> = (1..1_000).map(|to| (0, to)).collect();
        let layer = layers(1_000, &edges);
        let (places, (width, height)) = places(1_000, &edges, &layer);
        let apart: std::collections::BTreeSet<(u32, u32)> = places.iter().copied().collect();
        assert_eq!(apart.len(), 1_000);
        assert!(width < 3 * height && height < 3 * width, "{width} x {height}");
        assert!(places.iter().all(|(x, y)| x + BOX.0 <= width && y + BOX.1 <= height));
        assert!(places[1..].iter().all(|(x, _)| *x > places[0].0), "from left to right");
    }
}
