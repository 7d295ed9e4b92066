//! What the search has found and spent so far, and whether it is over.

use super::solve::Effort;

/// Counts schedules and keeps the best.
pub(super) struct Record<'a> {
    effort: Effort,
    lower_bound: i32,
    stop: &'a dyn Fn() -> bool,
    /// How many schedules have been made.
    pub made: u64,
    /// How many had been made when the best one was found.
    best_at: u64,
    /// Whether a judge has seen a schedule that none could be better than.
    pub perfect: bool,
    /// When the best schedule ends, and its starts.
    pub best: Option<(i32, Vec<i32>)>,
}

impl<'a> Record<'a> {
    /// Nothing found and nothing spent.
    pub fn new(effort: Effort, lower_bound: i32, stop: &'a dyn Fn() -> bool) -> Self {
        Self { effort, lower_bound, stop, made: 0, best_at: 0, perfect: false, best: None }
    }

    /// Counts a schedule.
    pub fn count(&mut self) {
        self.made += 1;
    }

    /// Keeps a schedule if it is the best so far; says whether it is.
    pub fn keep(&mut self, end: i32, starts: impl Iterator<Item = i32>) -> bool {
        let better = self.best.as_ref().is_none_or(|best| end < best.0);
        if better {
            self.best = Some((end, starts.collect()));
            self.best_at = self.made;
        }
        better
    }

    /// How many schedules may still be made, if there is a limit.
    pub fn left(&self) -> Option<u64> {
        self.effort.schedules.map(|schedules| schedules.saturating_sub(self.made))
    }

    /// True when nothing better can come, nothing more may be spent or the caller wants no more. One schedule is always
    /// made.
    pub fn is_over(&self) -> bool {
        self.made > 0
            && (self.perfect
                || self.best.as_ref().is_some_and(|best| best.0 <= self.lower_bound)
                || self.left() == Some(0)
                || self.effort.patience.is_some_and(|patience| self.made - self.best_at >= patience)
                || (self.stop)())
    }
}
