//! The skeleton of a plan: who contains whom and who waits for whom, by index, parents first.

use crate::dice::Dice;

/// No drawn plan nests composites deeper than this.
const DEPTH_MAX: usize = 4;

/// A tree in preorder with edges that only lead back in it, so that no cycle can arise.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The task that contains each task.
    pub parent: Vec<Option<usize>>,
    /// The tasks that each task waits for.
    pub waits: Vec<Vec<usize>>,
}

/// How edges are laid.
#[derive(Clone, Copy)]
enum Style {
    Chain,
    Fan,
    Diamond,
    Layered,
    Random,
    Sparse,
}

impl Shape {
    /// Draws a skeleton of so many tasks.
    pub fn draw(dice: &mut Dice, size: usize) -> Self {
        let mut shape = Self { parent: Vec::with_capacity(size), waits: vec![Vec::new(); size] };
        let composites = if dice.percent(45) { 0 } else { dice.small(5, 35) };
        let mut path: Vec<usize> = Vec::new();
        for index in 0..size {
            while !path.is_empty() && dice.percent(25) {
                path.pop();
            }
            shape.parent.push(path.last().copied());
            if index + 1 < size && path.len() < DEPTH_MAX && dice.percent(composites) {
                path.push(index);
            }
        }
        let styles = [Style::Chain, Style::Fan, Style::Diamond, Style::Layered, Style::Random, Style::Sparse];
        let style = dice.pick(&styles).copied().unwrap_or(Style::Random);
        let width = dice.index(5) + 1;
        for index in 1..size {
            shape.waits[index] = shape.draw_waits(dice, index, style, width);
        }
        shape
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Tells whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The tasks that contain this one, the nearest first.
    pub fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent[index], |above| self.parent[*above])
    }

    /// How deep the deepest task is nested; one that is in nothing is nested once.
    pub fn depth(&self) -> usize {
        (0..self.len()).map(|index| self.ancestors(index).count() + 1).max().unwrap_or(1)
    }

    /// Tells whether the task contains others.
    pub fn is_composite(&self, index: usize) -> bool {
        self.parent.get(index + 1).is_some_and(|parent| *parent == Some(index))
    }

    /// Tasks that could be waited for: everything before that does not contain it.
    pub fn candidates(&self, index: usize) -> Vec<usize> {
        let above: Vec<usize> = self.ancestors(index).collect();
        (0..index).filter(|other| !above.contains(other)).collect()
    }

    /// Everything that is over before the task starts, directly or not.
    pub fn upstream(&self, index: usize) -> Vec<usize> {
        let mut seen = vec![false; self.len()];
        let mut stack = vec![index];
        let mut found = Vec::new();
        while let Some(at) = stack.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if at != index {
                found.push(at);
            }
            stack.extend(&self.waits[at]);
            stack.extend(self.parent[at]);
        }
        let above: Vec<usize> = self.ancestors(index).collect();
        found.retain(|other| !above.contains(other));
        found
    }

    fn draw_waits(&self, dice: &mut Dice, index: usize, style: Style, width: usize) -> Vec<usize> {
        let candidates = self.candidates(index);
        let siblings: Vec<usize> =
            candidates.iter().copied().filter(|other| self.parent[*other] == self.parent[index]).collect();
        let mut waits = match style {
            Style::Chain => siblings.last().copied().into_iter().collect(),
            Style::Fan => siblings.first().copied().into_iter().collect(),
            Style::Diamond => {
                let number = siblings.len();
                match number % (width + 2) {
                    0 => siblings.iter().rev().take(width + 1).copied().collect(),
                    nth => siblings.get(number - nth).copied().into_iter().collect(),
                }
            }
            Style::Layered => {
                let layer = siblings.len() / width;
                let before = siblings.iter().copied().skip(layer.saturating_sub(1) * width).take(width);
                if layer == 0 { Vec::new() } else { before.filter(|_| dice.percent(60)).collect() }
            }
            Style::Random => {
                (0..3).filter_map(|_| if dice.percent(45) { dice.pick(&candidates).copied() } else { None }).collect()
            }
            Style::Sparse => Vec::new(),
        };
        if dice.percent(10) {
            waits.extend(dice.pick(&candidates));
        }
        waits.sort_unstable();
        waits.dedup();
        waits
    }
}
