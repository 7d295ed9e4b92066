//! The stretches of work of one calendar, with what is needed to find any of them at once.

/// How long the pattern is that repeats before and after what is laid out: 52 whole weeks.
pub(super) const CYCLE: i64 = 364 * 86_400;

const DAY: i64 = 86_400;

/// The same stretches, rising, and those that touch or overlap as one.
pub(crate) fn joined<T: Copy + Ord>(mut stretches: Vec<(T, T)>) -> Vec<(T, T)> {
    stretches.sort_unstable();
    stretches.dedup_by(|later, earlier| {
        let touches = later.0 <= earlier.1;
        if touches {
            earlier.1 = earlier.1.max(later.1);
        }
        touches
    });
    stretches
}

/// When work happens, on the project's time axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// Round the clock.
    Always,
    /// In stretches.
    Stretches(Box<Stretches>),
}

/// Stretches of work between two instants; outside of them the nearest 52 weeks repeat for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretches {
    /// First and last instant of each, rising and apart, and the work before it.
    all: Vec<Stretch>,
    from: i64,
    to: i64,
    work: i64,
    head_work: i64,
    tail_work: i64,
    /// For each day from `from` on, the first stretch that ends after its midnight.
    by_day: Vec<u32>,
    /// For each step of work, the first stretch that ends after or at it.
    by_work: Vec<u32>,
    /// The step as a power of two, because dividing by shifting is what makes drawing futures fast.
    work_step: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    start: i64,
    end: i64,
    work_before: i64,
}

impl Stretch {
    fn work_after(&self) -> i64 {
        self.work_before + (self.end - self.start)
    }
}

impl Timeline {
    /// Makes a timeline of stretches that are rising and apart, known between two instants at least two cycles apart.
    /// None when there is no work in the first or in the last 52 weeks: such a calendar cannot be continued.
    pub(super) fn new(stretches: &[(i64, i64)], from: i64, to: i64) -> Option<Self> {
        let mut work = 0;
        let mut laid = Vec::with_capacity(stretches.len());
        for &(start, end) in stretches {
            let (start, end) = (start.max(from), end.min(to));
            if start < end {
                laid.push(Stretch { start, end, work_before: work });
                work += end - start;
            }
        }
        let mut line = Stretches {
            all: laid,
            from,
            to,
            work,
            head_work: 0,
            tail_work: 0,
            by_day: Vec::new(),
            by_work: Vec::new(),
            work_step: 0,
        };
        line.index();
        line.head_work = line.work_inside(from + CYCLE);
        line.tail_work = work - line.work_inside(to - CYCLE);
        (line.head_work > 0 && line.tail_work > 0).then(|| Self::Stretches(Box::new(line)))
    }

    /// The seconds of work before an instant; negative before the first instant laid out.
    #[inline]
    pub fn work_before(&self, instant: i64) -> i64 {
        match self {
            Self::Always => instant,
            Self::Stretches(line) => line.work_before(instant),
        }
    }

    /// The first instant at which this much work is done.
    #[inline]
    pub fn finish_at(&self, work: i64) -> i64 {
        match self {
            Self::Always => work,
            Self::Stretches(line) => line.finish_at(work),
        }
    }

    /// The last instant at which no more than this much work is done: where the next second of work starts.
    #[inline]
    pub fn start_at(&self, work: i64) -> i64 {
        match self {
            Self::Always => work,
            Self::Stretches(line) => line.start_at(work),
        }
    }

    /// The seconds of work between two instants.
    pub fn work_between(&self, from: i64, to: i64) -> i64 {
        self.work_before(to) - self.work_before(from)
    }

    /// From when to when is worked between two instants; a rest shorter than `rest` is none.
    pub(crate) fn worked(&self, from: i64, to: i64, rest: i64) -> Vec<(i64, i64)> {
        let Self::Stretches(line) = self else { return vec![(from, to)] };
        let mut worked: Vec<(i64, i64)> = Vec::new();
        let mut at = from;
        while at < to {
            let stretch = line.next(line.work_before(at));
            let (start, end) = (stretch.start.max(at), stretch.end.min(to));
            if start >= to {
                break;
            }
            match worked.last_mut() {
                Some(last) if start - last.1 < rest => last.1 = end,
                _ => worked.push((start, end)),
            }
            at = end;
        }
        worked
    }

    /// The same instant, or the next one at which work starts.
    #[cfg(test)]
    pub(super) fn next_start(&self, instant: i64) -> i64 {
        self.start_at(self.work_before(instant))
    }

    /// The time in which both work; none when there is too little of it to go on for ever.
    pub(crate) fn and(&self, other: &Self) -> Option<Self> {
        let (mine, theirs) = match (self, other) {
            (Self::Always, line) | (line, Self::Always) => return Some(line.clone()),
            (Self::Stretches(mine), Self::Stretches(theirs)) => (mine, theirs),
        };
        let mut both = Vec::new();
        let (mut left, mut right) = (mine.all.iter().peekable(), theirs.all.iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let (start, end) = (a.start.max(b.start), a.end.min(b.end));
            if start < end {
                both.push((start, end));
            }
            if a.end <= b.end {
                left.next()
            } else {
                right.next()
            };
        }
        Self::new(&both, mine.from.max(theirs.from), mine.to.min(theirs.to))
    }
}

impl Stretches {
    fn index(&mut self) {
        let count = i64::try_from(self.all.len().max(1)).unwrap_or(i64::MAX);
        self.work_step = (self.work / count).max(1).ilog2();
        self.by_day = steps(self.from, self.to, DAY, &self.all, |stretch, midnight| stretch.end > midnight);
        self.by_work =
            steps(0, self.work, 1 << self.work_step, &self.all, |stretch, work| stretch.work_after() >= work);
    }

    /// The work before an instant that is laid out.
    fn work_inside(&self, instant: i64) -> i64 {
        let mut at = start_of(&self.by_day, (instant - self.from) / DAY);
        while self.all.get(at).is_some_and(|stretch| stretch.end <= instant) {
            at += 1;
        }
        self.all.get(at).map_or(self.work, |stretch| stretch.work_before + (instant - stretch.start).max(0))
    }

    fn work_before(&self, instant: i64) -> i64 {
        if instant >= self.to {
            let cycles = (instant - self.to) / CYCLE + 1;
            self.work_inside(instant - cycles * CYCLE) + cycles * self.tail_work
        } else if instant < self.from {
            let cycles = (self.from - instant - 1) / CYCLE + 1;
            self.work_inside(instant + cycles * CYCLE) - cycles * self.head_work
        } else {
            self.work_inside(instant)
        }
    }

    fn finish_at(&self, work: i64) -> i64 {
        let cycles = if work > self.work {
            (work - self.work - 1) / self.tail_work + 1
        } else if work <= 0 {
            work / self.head_work - 1
        } else {
            0
        };
        let work = work - cycles * if cycles > 0 { self.tail_work } else { self.head_work };
        let mut at = start_of(&self.by_work, work >> self.work_step);
        while self.all[at].work_after() < work {
            at += 1;
        }
        let stretch = &self.all[at];
        stretch.start + (work - stretch.work_before) + cycles * CYCLE
    }

    fn start_at(&self, work: i64) -> i64 {
        let stretch = self.next(work);
        stretch.start + (work - stretch.work_before)
    }

    /// The stretch in which the next second of work lies when so much of it is done.
    #[inline]
    fn next(&self, work: i64) -> Stretch {
        let cycles = if work >= self.work {
            (work - self.work) / self.tail_work + 1
        } else if work < 0 {
            (work + 1) / self.head_work - 1
        } else {
            0
        };
        let moved = cycles * if cycles > 0 { self.tail_work } else { self.head_work };
        let work = work - moved;
        let mut at = start_of(&self.by_work, work >> self.work_step);
        while self.all[at].work_after() <= work {
            at += 1;
        }
        let Stretch { start, end, work_before } = self.all[at];
        Stretch { start: start + cycles * CYCLE, end: end + cycles * CYCLE, work_before: work_before + moved }
    }
}

fn start_of(index: &[u32], step: i64) -> usize {
    let step = usize::try_from(step).unwrap_or(0).min(index.len().saturating_sub(1));
    index.get(step).map_or(0, |&first| first as usize)
}

/// For each step from `from` to `to`, the first stretch for which the test holds there.
fn steps(from: i64, to: i64, step: i64, stretches: &[Stretch], holds: impl Fn(&Stretch, i64) -> bool) -> Vec<u32> {
    let mut first = 0_u32;
    let mut index = Vec::new();
    let mut mark = from;
    while mark <= to {
        while stretches.get(first as usize).is_some_and(|stretch| !holds(stretch, mark)) {
            first += 1;
        }
        index.push(first);
        mark += step;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: i64 = 3_600;

    /// Eight hours on five days a week, for three years.
    fn office() -> Timeline {
        let days = (0..3 * 364).filter(|day| day % 7 < 5);
        let stretches: Vec<_> = days.map(|day| (day * DAY + 9 * HOUR, day * DAY + 17 * HOUR)).collect();
        Timeline::new(&stretches, 0, 3 * CYCLE).unwrap()
    }

    #[test]
    fn work_finishes_on_friday_evening_and_starts_on_monday_morning() {
        let (line, friday_evening, monday_morning) = (office(), 4 * DAY + 17 * HOUR, 7 * DAY + 9 * HOUR);
        assert_eq!(line.work_before(5 * DAY), 40 * HOUR);
        assert_eq!(line.finish_at(40 * HOUR), friday_evening);
        assert_eq!(line.start_at(40 * HOUR), monday_morning);
        assert_eq!(line.next_start(friday_evening), monday_morning);
        assert_eq!(line.next_start(monday_morning), monday_morning);
    }

    #[test]
    fn a_short_rest_is_none() {
        let (line, noon) = (office(), 3 * DAY + 12 * HOUR);
        let until = 8 * DAY + 12 * HOUR;
        assert_eq!(line.worked(noon, until, DAY), [(noon, 4 * DAY + 17 * HOUR), (7 * DAY + 9 * HOUR, until)]);
        assert_eq!(line.worked(noon, until, 1).len(), 4);
        let far = 9 * CYCLE;
        assert_eq!(line.worked(noon + far, until + far, DAY)[1], (7 * DAY + 9 * HOUR + far, until + far));
        assert_eq!(Timeline::Always.worked(noon, until, DAY), [(noon, until)]);
    }

    #[test]
    fn what_is_not_laid_out_repeats_the_nearest_year() {
        let line = office();
        let year = 52 * 40 * HOUR;
        assert_eq!(line.work_before(10 * CYCLE), 10 * year);
        assert_eq!(line.work_before(-CYCLE), -year);
        assert_eq!(line.finish_at(10 * year), 10 * CYCLE - 2 * DAY - 7 * HOUR);
        assert_eq!(line.start_at(-year), -CYCLE + 9 * HOUR);
        assert_eq!(line.finish_at(0), -2 * DAY - 7 * HOUR);
    }

    #[test]
    fn a_calendar_without_work_is_refused() {
        assert!(Timeline::new(&[], 0, 3 * CYCLE).is_none());
        assert!(Timeline::new(&[(0, DAY)], 0, 3 * CYCLE).is_none(), "no work in the last year");
        let nights = Timeline::new(&[(20 * HOUR, 22 * HOUR), (3 * CYCLE - HOUR, 3 * CYCLE)], 0, 3 * CYCLE).unwrap();
        assert!(office().and(&nights).is_none(), "they never meet");
    }

    proptest! {
        #[test]
        fn instants_and_work_are_an_exact_mirror(instant in -5 * CYCLE..8 * CYCLE, work in -9_000 * HOUR..16_000 * HOUR) {
            let line = office();
            prop_assert_eq!(line.finish_at(work) <= instant, work <= line.work_before(instant));
            prop_assert_eq!(instant <= line.start_at(work), line.work_before(instant) <= work);
            prop_assert_eq!(line.work_before(line.finish_at(work)), work);
            prop_assert_eq!(line.work_before(line.start_at(work)), work);
        }
    }
}
