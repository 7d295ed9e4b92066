//! Divides what takes more than two months into parts that are handed over one after another.
//!
//! Nobody can say of work of half a year whether it is on time before most of that is over. Its parts are the stages that
//! whoever answered named; where those are still too long, or there are none, they are sections: the first
//! settles how it is done, the last hands over, and each has an end that somebody can look at.

use std::collections::{BTreeMap, BTreeSet};

use crate::knowledge::{Calendar, Stage, Three};
use crate::outline::{Outline, OutlineCost, OutlineTask};

/// A part is expected to take so many working days at most.
const PART_DAYS: f64 = 40.0;
/// What is expected to take so many working days is not divided: the tripwire of the DCMA.
const WHOLE_DAYS: f64 = 44.0;
/// What the first and the last section of work are about, and those between them in turn: whoever begins settles how it is
/// done, and whoever ends hands over.
const FIRST: &str = "make a start and settle the way";
const LAST: &str = "complete and hand over";
const BETWEEN: [&str; 6] = [
    "carry on at full pace",
    "check what is there, then continue",
    "close open points and reach the larger half",
    "widen to what is harder",
    "bring in what was put off",
    "prepare its end",
];
/// No more sections than can be told apart.
const SECTIONS_MAX: usize = BETWEEN.len() + 2;
const COUNTED: [&str; SECTIONS_MAX] = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

/// The same work with nothing in it that takes months in one go.
pub(crate) fn divided(outline: &Outline, calendar: Calendar) -> Outline {
    let day = match calendar {
        Calendar::Office | Calendar::Site => 8.0,
        Calendar::SpareTime => 3.0,
        Calendar::RoundTheClock => 24.0,
    };
    let mut names: BTreeSet<String> = outline.tasks().map(|task| task.id.clone()).collect();
    let mut parts_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut outline = outline.clone();
    for phase in &mut outline.phases {
        let mut tasks: Vec<OutlineTask> = Vec::new();
        for task in std::mem::take(&mut phase.tasks) {
            let days = expected(task.hours) / day;
            if days <= WHOLE_DAYS {
                tasks.push(task);
                continue;
            }
            let parts = parts(&task, days);
            let (whole, beside) = (task.id.clone(), task.beside.clone());
            let made = Divided { task, stages: parts, names: &mut names }.in_order();
            parts_of.insert(whole.clone(), made.iter().map(|part| part.id.clone()).collect());
            pairs.push((whole, beside));
            tasks.extend(made);
        }
        phase.tasks = tasks;
    }
    for task in outline.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
        for before in &mut task.after {
            // Whoever waited for the whole waits for its last part; its parts wait for each other already.
            if let Some(part) = parts_of.get(before).and_then(|parts| parts.last()).filter(|part| **part != task.id) {
                before.clone_from(part);
            }
        }
    }
    for (whole, beside) in pairs {
        if let (Some(own), Some(other)) = (parts_of.get(&whole), parts_of.get(&beside)) {
            go_along(&mut outline, own, other);
        }
    }
    outline
}

/// Lets the parts of one task go along with those of another: a part begins with its share of the other, and what
/// follows that waits for it.
fn go_along(outline: &mut Outline, own: &[String], other: &[String]) {
    let mut after: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for task in outline.tasks() {
        after.insert(&task.id, task.after.iter().map(String::as_str).collect());
    }
    let ends = |parts: &[String]| parts.first().cloned().zip(parts.last().cloned());
    let (Some((own_first, own_last)), Some((other_first, other_last))) = (ends(own), ends(other)) else { return };
    if waits(&after, &own_first, &other_last) || waits(&after, &other_first, &own_last) {
        return; // one follows the other
    }
    let mut links: Vec<(String, String)> = Vec::new();
    for (at, part) in own.iter().enumerate() {
        let share = |at: usize| at * other.len() / own.len();
        links.extend(share(at).checked_sub(1).map(|begun| (part.clone(), other[begun].clone())));
        links.extend(other.get(share(at + 1)).map(|next| (next.clone(), part.clone())));
    }
    for task in outline.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
        for (_, before) in links.iter().filter(|(after, _)| *after == task.id) {
            if !task.after.contains(before) {
                task.after.push(before.clone());
            }
        }
    }
}

/// Tells whether one task waits for another, at however many removes.
fn waits(after: &BTreeMap<&str, Vec<&str>>, task: &str, other: &str) -> bool {
    let (mut stack, mut seen) = (vec![task], BTreeSet::new());
    while let Some(at) = stack.pop() {
        if at == other {
            return true;
        }
        if seen.insert(at) {
            stack.extend(after.get(at).into_iter().flatten());
        }
    }
    false
}

/// The mean of a three-point estimate, as the schedule takes it.
fn expected([low, likely, high]: Three) -> f64 {
    (low + 4.0 * likely + high) / 6.0
}

/// What the parts of so many days of work are called, and how one sees that each is done.
fn parts(task: &OutlineTask, days: f64) -> Vec<Stage> {
    let whole = [Stage { title: task.title.clone(), done_when: task.done_when.clone() }];
    let stages = if task.stages.len() > 1 { task.stages.as_slice() } else { &whole };
    #[expect(clippy::cast_precision_loss, reason = "nothing has so many stages")]
    let each = days / stages.len() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is cut to what can be counted")]
    let sections = ((each / PART_DAYS).ceil().max(1.0) as usize).min(SECTIONS_MAX);
    let last = stages.len() - 1;
    let sections_of = |(at, stage): (usize, &Stage)| -> Vec<Stage> {
        let done_when =
            if at == last || stage.done_when.trim().is_empty() { &task.done_when } else { &stage.done_when };
        let of = |section: usize| {
            let (is_whole, is_last) = (sections == 1, section + 1 == sections);
            let about = about(section, sections);
            Stage {
                title: if is_whole { stage.title.clone() } else { format!("{}: {about}", stage.title) },
                done_when: if is_last { done_when.clone() } else { looked_at(section, sections) },
            }
        };
        (0..sections).map(of).collect()
    };
    stages.iter().enumerate().flat_map(sections_of).collect()
}

/// How one sees that a section before the last one is done.
fn looked_at(section: usize, sections: usize) -> String {
    let (part, of) = (COUNTED[section], COUNTED[sections - 1]);
    format!("Part {part} of {of} of this was looked at by whoever goes on with it, and nothing in it is left open.")
}

/// What a section of work is about.
fn about(section: usize, sections: usize) -> &'static str {
    match section {
        0 => FIRST,
        last if last + 1 == sections => LAST,
        between => BETWEEN[(between - 1) % BETWEEN.len()],
    }
}

/// A piece of work that becomes several.
struct Divided<'a> {
    task: OutlineTask,
    stages: Vec<Stage>,
    names: &'a mut BTreeSet<String>,
}

impl Divided<'_> {
    fn in_order(self) -> Vec<OutlineTask> {
        let Self { task, stages: parts, names } = self;
        #[expect(clippy::cast_precision_loss, reason = "nothing has so many parts")]
        let share = 1.0 / parts.len().max(1) as f64;
        let of = |numbers: Three, step: f64| numbers.map(|number| (number * share / step).round() * step);
        let cost = |cost: &OutlineCost| OutlineCost { amount: of(cost.amount, 0.01), ..cost.clone() };
        let mut made: Vec<OutlineTask> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let after = made.last().map_or_else(|| task.after.clone(), |before| vec![before.id.clone()]);
            let mut id = format!("{}-part-{}", task.id, at + 1);
            while !names.insert(id.clone()) {
                id.push('x');
            }
            made.push(OutlineTask {
                id,
                title: part.title.clone(),
                stages: Vec::new(),
                beside: String::new(),
                detail: match made.last() {
                    None => task.detail.clone(),
                    Some(before) => format!(
                        "Goes on where “{}” ended; belongs to: {}.",
                        before.title,
                        task.title.trim_end_matches('.')
                    ),
                },
                role: task.role.clone(),
                with: task.with.clone(),
                hours: of(task.hours, 0.25).map(|hours| hours.max(0.25)),
                after,
                output: if at + 1 == parts.len() { task.output.clone() } else { part.title.clone() },
                done_when: part.done_when.clone(),
                costs: task.costs.iter().map(cost).collect(),
                risks: task.risks.clone(),
                on_the_day: task.on_the_day,
            });
        }
        made
    }
}
