//! Schedules judged by someone who knows more than an instance can say, such as who works when.
//!
//! The search then goes on as before, but every schedule made forwards in time is the judge's: it gets an order of tasks
//! and says when they really finish. Schedules made backwards only give orders, as they do wherever capacity changes.

/// Makes real schedules of orders.
pub(crate) trait Judge {
    /// Places tasks in this order, as far as links allow, and writes down in which period each finishes.
    fn judge(&mut self, order: &[usize], finishes: &mut [i32]) -> Judged;
}

/// What is to be said of a schedule.
pub(crate) struct Judged {
    /// The period in which it ends.
    pub end: i32,
    /// What makes it worse than its end tells, in periods.
    pub worse: f64,
    /// Whether no schedule could be better than the best so far.
    pub perfect: bool,
}

/// A judge and what is said to it.
pub(super) struct Bench<'a> {
    judge: &'a mut dyn Judge,
    order: Vec<usize>,
    finishes: Vec<i32>,
}

impl<'a> Bench<'a> {
    pub fn new(judge: &'a mut dyn Judge, tasks: usize) -> Self {
        Self { judge, order: Vec::with_capacity(tasks), finishes: vec![0; tasks] }
    }

    /// Asks for the schedule of an order, and writes its starts over those that are there. `written` tells what the judge
    /// calls each task.
    pub fn ask(
        &mut self,
        order: impl Iterator<Item = u32>,
        written: &[usize],
        durations: &[i32],
        starts: &mut [i32],
    ) -> Judged {
        self.order.clear();
        self.order.extend(order.map(|task| written[task as usize]));
        let judged = self.judge.judge(&self.order, &mut self.finishes);
        // Who is away in between works longer than the task takes: what counts here is when it finishes.
        for ((start, duration), &task) in starts.iter_mut().zip(durations).zip(written) {
            *start = self.finishes[task] - duration;
        }
        judged
    }
}
