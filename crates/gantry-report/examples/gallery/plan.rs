//! A plan to draw: tasks with lengths and needs, and a plain forward and backward pass for their dates.

use gantry_report::chart::{
    Clock, Deadline, Float, Gantt, GanttLink, GanttTask, LinkKind, Moment, Network, NetworkLink, NetworkTask, Span,
    TaskShape,
};
use jiff::{ToSpan, civil::DateTime};

/// A line of a plan: its level, name, length in hours, the places of what it needs, and who does it.
pub struct Line {
    pub depth: usize,
    pub name: String,
    pub hours: i64,
    pub needs: Vec<usize>,
    pub who: String,
}

/// A plan with the dates of its lines, in hours from its beginning.
pub struct Plan {
    pub lines: Vec<Line>,
    pub begin: DateTime,
    pub start: Vec<i64>,
    pub finish: Vec<i64>,
    pub float: Vec<i64>,
}

impl Plan {
    /// Reads lines of the form `name | days | needs by name | who`; a line without days sums up what is indented below it.
    pub fn read(begin: DateTime, text: &str) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        for row in text.lines().filter(|row| !row.trim().is_empty()) {
            let depth = (row.len() - row.trim_start().len()) / 2;
            let mut parts = row.split('|').map(str::trim);
            let name = parts.next().unwrap_or_default().to_owned();
            let days: Option<f64> = parts.next().and_then(|days| days.parse().ok());
            let needs = parts.next().unwrap_or_default().split(',').map(str::trim).filter(|need| !need.is_empty());
            let needs = needs.map(|need| lines.iter().position(|line| line.name == need).expect(need)).collect();
            let who = parts.next().unwrap_or_default().to_owned();
            #[expect(clippy::cast_possible_truncation, reason = "a few days")]
            let hours = days.map_or(-1, |days| (days * 24.0) as i64);
            lines.push(Line { depth, name, hours, needs, who });
        }
        Self::of(begin, lines)
    }

    pub fn of(begin: DateTime, lines: Vec<Line>) -> Self {
        let count = lines.len();
        let (mut start, mut finish) = (vec![0; count], vec![0; count]);
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.hours >= 0) {
            start[at] = line.needs.iter().map(|need| finish[*need]).max().unwrap_or(0);
            finish[at] = start[at] + line.hours;
        }
        let end = finish.iter().copied().max().unwrap_or(0);
        let mut late = vec![end; count];
        for (at, line) in lines.iter().enumerate().rev().filter(|(_, line)| line.hours >= 0) {
            for need in &line.needs {
                late[*need] = late[*need].min(late[at] - line.hours);
            }
        }
        for at in (0..count).rev().filter(|at| lines[*at].hours < 0) {
            let below = (at + 1..count).take_while(|other| lines[*other].depth > lines[at].depth);
            let below: Vec<usize> = below.collect();
            start[at] = below.iter().map(|other| start[*other]).min().unwrap_or(0);
            finish[at] = below.iter().map(|other| finish[*other]).max().unwrap_or(0);
        }
        let float = (0..count).map(|at| late[at] - finish[at]).collect();
        Self { lines, begin, start, finish, float }
    }

    pub fn at(&self, hours: i64) -> Moment {
        self.begin.checked_add(hours.hours()).unwrap_or(self.begin).into()
    }

    pub fn end(&self) -> i64 {
        self.finish.iter().copied().max().unwrap_or(0)
    }

    fn is_critical(&self, at: usize) -> bool {
        self.lines[at].hours >= 0 && self.float[at] == 0
    }

    /// The plan as a Gantt chart, with work done up to an hour.
    pub fn gantt(&self, today: i64, deadline: i64) -> Gantt {
        let task = |at: usize| {
            let line = &self.lines[at];
            let (start, finish) = (self.start[at], self.finish[at]);
            let shape = match line.hours {
                ..0 => TaskShape::Summary,
                0 => TaskShape::Milestone,
                _ => TaskShape::Task,
            };
            let is_task = shape == TaskShape::Task;
            #[expect(clippy::cast_precision_loss, reason = "a few hours")]
            let done = ((today - start) as f64 / (finish - start).max(1) as f64 * 100.0).clamp(0.0, 100.0);
            let float = (is_task && self.float[at] > 0)
                .then(|| Float { until: self.at(finish + self.float[at]), length: days(self.float[at]) });
            let p80 = (is_task && finish > today).then(|| self.at(finish + (finish - start) / 5));
            GanttTask {
                name: line.name.clone(),
                depth: line.depth,
                shape,
                start: self.at(start),
                finish: self.at(finish),
                critical: self.is_critical(at),
                float,
                deadline: None,
                percent_done: is_task.then_some(done),
                p80_finish: p80,
                planned: None,
                note: line.who.clone(),
            }
        };
        let links = self.links().map(|(from, to)| GanttLink {
            from,
            to,
            kind: LinkKind::FinishToStart,
            critical: self.is_tight(from, to),
        });
        Gantt {
            clock: Clock::Dates,
            tasks: (0..self.lines.len()).map(task).collect(),
            links: links.collect(),
            today: Some(self.at(today)),
            path: (0..self.lines.len()).filter(|at| self.lines[*at].hours >= 0 && self.is_critical(*at)).collect(),
            deadline: Some(Deadline {
                at: self.at(deadline),
                missed: self.end() > deadline,
                margin: days((deadline - self.end()).abs()),
            }),
            closed: self.weekends(),
            ..Gantt::default()
        }
    }

    pub fn network(&self) -> Network {
        let leaves: Vec<usize> = (0..self.lines.len()).filter(|at| self.lines[*at].hours >= 0).collect();
        let place = |line: usize| leaves.binary_search(&line).unwrap_or(0);
        let task = |at: &usize| NetworkTask {
            name: self.lines[*at].name.clone(),
            group: self.group(*at),
            start: self.at(self.start[*at]),
            finish: self.at(self.finish[*at]),
            float: days(self.float[*at]),
            critical: self.is_critical(*at),
            done: false,
            milestone: self.lines[*at].hours == 0,
            summary: false,
        };
        let links = self.links().map(|(from, to)| NetworkLink {
            from: place(from),
            to: place(to),
            critical: self.is_tight(from, to),
        });
        Network { tasks: leaves.iter().map(task).collect(), links: links.collect(), ..Network::default() }
    }

    fn group(&self, at: usize) -> String {
        let above = self.lines[..at].iter().rev().find(|line| line.depth < self.lines[at].depth);
        above.map_or(String::new(), |line| line.name.clone())
    }

    fn links(&self) -> impl Iterator<Item = (usize, usize)> {
        self.lines.iter().enumerate().flat_map(|(to, line)| line.needs.iter().map(move |from| (*from, to)))
    }

    fn is_tight(&self, from: usize, to: usize) -> bool {
        self.is_critical(from) && self.is_critical(to) && self.finish[from] == self.start[to]
    }

    fn weekends(&self) -> Vec<Span> {
        let first = i64::from(self.begin.date().weekday().to_monday_zero_offset());
        let weeks = (0..self.end() / 24 / 7 + 9).take(600);
        weeks
            .map(|week| Span {
                from: self.at((week * 7 + 5 - first) * 24),
                until: self.at((week * 7 + 7 - first) * 24),
            })
            .collect()
    }
}

fn days(hours: i64) -> String {
    if hours % 24 == 0 { format!("{} d", hours / 24) } else { format!("{hours} h") }
}

/// A generated plan of about so many tasks in phases and work packages, with needs among neighbours.
pub fn generated(begin: DateTime, count: usize) -> Plan {
    const VERBS: [&str; 10] =
        ["Survey", "Design", "Procure", "Install", "Inspect", "Test", "Document", "Approve", "Integrate", "Train for"];
    const THINGS: [&str; 12] = [
        "intake screens",
        "control cabinet",
        "pump hall",
        "east trench",
        "cabling",
        "telemetry",
        "crane rails",
        "ventilation",
        "valve chamber",
        "switchgear",
        "drainage",
        "access road",
    ];
    let mut dice = Dice(7);
    let mut lines: Vec<Line> = Vec::new();
    let mut leaves: Vec<usize> = Vec::new();
    let line = |depth, name, hours, needs| Line { depth, name, hours, needs, who: String::new() };
    while leaves.len() < count {
        if leaves.len().is_multiple_of(60) {
            lines.push(line(0, format!("Phase {}", leaves.len() / 60 + 1), -1, Vec::new()));
        }
        if leaves.len().is_multiple_of(12) {
            lines.push(line(1, format!("Package {}", leaves.len() / 12 + 1), -1, Vec::new()));
        }
        let mut needs: Vec<usize> = (0..dice.below(3))
            .filter_map(|_| {
                let back = dice.below(18) + 1;
                leaves.len().checked_sub(back).map(|at| leaves[at])
            })
            .collect();
        needs.sort_unstable();
        needs.dedup();
        let name = format!("{} {}", VERBS[dice.below(VERBS.len())], THINGS[dice.below(THINGS.len())]);
        leaves.push(lines.len());
        let hours = if dice.below(20) == 0 { 0 } else { i64::try_from(dice.below(9) + 1).unwrap_or(1) * 24 };
        lines.push(line(2, name, hours, needs));
    }
    Plan::of(begin, lines)
}

/// A graph with many more links than anyone can follow.
pub fn dense(tasks: usize, links: usize) -> Network {
    let mut dice = Dice(1);
    let half = tasks / 2;
    let task = |at: usize| NetworkTask { name: format!("Task {at}"), ..NetworkTask::default() };
    let mut link = |_| NetworkLink { from: dice.below(half), to: half + dice.below(half), critical: false };
    Network { tasks: (0..tasks).map(task).collect(), links: (0..links).map(&mut link).collect(), ..Network::default() }
}

/// Numbers that look drawn and are always the same.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % end
    }

    /// A number between 0 and 1.
    pub fn part(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() & 0xffff).unwrap_or(0)) / 65_536.0
    }
}
