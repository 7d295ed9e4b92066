//! Tasks of the file: the outline, links, constraints and progress.

use std::collections::{BTreeMap, BTreeSet};

use super::xml::{Element, is_elapsed};
use super::{Names, Notes, Unreadable, hundredths};
use crate::project::{
    Baseline, Cost, CostKind, Deadline, Due, Estimate, Length, Link, LinkKind, Money, Progress, Scale, Task,
    ThreePoint, Unit, When,
};

/// A thousand years, in tenths of minutes.
const LAG_MAX: u64 = 1_000 * 366 * 24 * 60 * 10;

/// Reads all tasks. The element with number 0 is the whole project, and blank lines of the outline are no tasks.
pub fn read(root: &Element<'_, '_>, names: &mut Names, notes: &mut Notes) -> Result<Vec<Task>, Unreadable> {
    let mut elements = Vec::new();
    let mut taken = BTreeSet::new();
    for element in root.all("Tasks", "Task") {
        let uid = element.required_number("UID")?;
        if uid == 0 || element.flag("IsNull")? {
            continue;
        }
        let own = uid.to_string();
        let id = names.id(&element)?.map_or(own, str::to_owned);
        let id = if taken.insert(id.clone()) { id } else { format!("{id} ({uid})") };
        names.tasks.insert(uid, id);
        elements.push((uid, element));
    }
    // Who contains whom is told by how far each line is indented.
    let mut open: Vec<(i64, i64)> = Vec::new();
    let mut tasks = Vec::with_capacity(elements.len());
    for (at, (uid, element)) in elements.iter().enumerate() {
        let level = element.number("OutlineLevel")?.unwrap_or(1);
        while open.pop_if(|(above, _)| *above >= level).is_some() {}
        let parent = open.last().and_then(|(_, uid)| names.tasks.get(uid).cloned());
        open.push((level, *uid));
        let next = elements.get(at + 1).map(|(_, next)| next.number("OutlineLevel")).transpose()?.flatten();
        let contains = next.is_some_and(|next| next > level);
        tasks.push(task(*uid, element, parent, contains, (names, notes))?);
    }
    let lines: Vec<Element<'_, '_>> = elements.into_iter().map(|(_, element)| element).collect();
    from_first_parts(&mut tasks, &lines, notes)?;
    Ok(tasks)
}

/// A summary starts with its first part: what waits for its start waits for that of the part which starts first in the
/// file.
fn from_first_parts(tasks: &mut [Task], lines: &[Element<'_, '_>], notes: &mut Notes) -> Result<(), Unreadable> {
    let mut first: BTreeMap<String, (Option<When>, usize)> = BTreeMap::new();
    let places: BTreeMap<String, usize> = tasks.iter().enumerate().map(|(at, task)| (task.id.clone(), at)).collect();
    let contains: BTreeSet<&str> = tasks.iter().filter_map(|task| task.parent.as_deref()).collect();
    for (at, line) in lines.iter().enumerate().filter(|(at, _)| !contains.contains(tasks[*at].id.as_str())) {
        let start = line.when("Start")?;
        let mut above = tasks[at].parent.as_ref();
        while let Some(id) = above {
            let known = first.entry(id.clone()).or_insert((start, at));
            if start.is_some() && (known.0.is_none() || start < known.0) {
                *known = (start, at);
            }
            above = places.get(id).and_then(|at| tasks[*at].parent.as_ref());
        }
    }
    let called = |task: &Task| if task.title.is_empty() { task.id.clone() } else { task.title.clone() };
    let told: Vec<(String, String)> = tasks.iter().map(|task| (task.id.clone(), called(task))).collect();
    for (task, line) in tasks.iter_mut().zip(lines) {
        for link in task.after.iter_mut().filter(|link| !link.kind.leaves_finish()) {
            let Some((_, part)) = first.get(&link.task) else { continue };
            let (summary, part) = (&told[places[&link.task]], &told[*part]);
            let what =
                format!("what waits for the start of `{}` waits for that of its first part, `{}`", summary.1, part.1);
            notes.add(|| line.line(), what);
            link.task.clone_from(&part.0);
        }
    }
    Ok(())
}

fn task(
    uid: i64,
    element: &Element<'_, '_>,
    parent: Option<String>,
    contains: bool,
    (names, notes): (&Names, &mut Notes),
) -> Result<Task, Unreadable> {
    let mut after = Vec::new();
    for link in element.children("PredecessorLink") {
        after.extend(read_link(&link, names, notes)?);
    }
    if let Some(what) = element.number("ConstraintType")?.and_then(not_kept) {
        notes.add(|| element.line(), what);
    }
    let id = names.tasks.get(&uid).cloned().unwrap_or_default();
    let name = element.text("Name").unwrap_or_default();
    let length = element.duration("Duration")?.unwrap_or_default();
    let point = contains || (length.is_zero() && element.flag("Milestone")?);
    let estimate = (!point).then(|| Estimate::fixed(length));
    let cost = element.decimal("FixedCost")?.filter(|cost| !cost.is_zero());
    let calendar = element.number("CalendarUID")?.and_then(|uid| names.calendars.get(&uid).cloned());
    Ok(Task {
        title: if name == id { String::new() } else { name.to_owned() },
        parent,
        after,
        estimate,
        calendar,
        start_no_earlier: match element.number("ConstraintType")? {
            // "Must start on" and "start no earlier than" both keep it from starting before.
            Some(2 | 4) => element.when("ConstraintDate")?,
            _ => None,
        },
        deadline: deadline(element)?,
        costs: cost.map(|cost| fixed_cost(element, hundredths(cost))).transpose()?.into_iter().collect(),
        priority: element
            .number("Priority")?
            .map_or(0, |priority| i32::try_from(priority.saturating_sub(500)).unwrap_or_default()),
        progress: progress(element, contains, length)?,
        baseline: baseline(element)?,
        ..Task::milestone(id)
    })
}

/// What of a constraint is not kept.
fn not_kept(constraint: i64) -> Option<&'static str> {
    Some(match constraint {
        1 => "\"as late as possible\" is not read; the task is planned as early as possible",
        2 => "\"must start on\" is taken for \"start no earlier than\"",
        3 => "\"must finish on\" is taken for a hard deadline",
        5 => "\"start no later than\" is not read",
        6 => "\"finish no earlier than\" is not read",
        _ => return None,
    })
}

/// "Must finish on" and "finish no later than" are hard; what is called a deadline there is not.
fn deadline(element: &Element<'_, '_>) -> Result<Option<Deadline>, Unreadable> {
    if let Some(3 | 7) = element.number("ConstraintType")? {
        return Ok(element.due("ConstraintDate")?.map(|at| Deadline { at, hard: true }));
    }
    Ok(element.due("Deadline")?.map(|at| Deadline { at, hard: false }))
}

/// The deadline of the whole, which stands at the element with number 0.
pub fn deadline_of_all(root: &Element<'_, '_>) -> Result<Option<Deadline>, Unreadable> {
    let whole = root.all("Tasks", "Task").find(|element| element.number("UID") == Ok(Some(0)));
    whole.map_or(Ok(None), |whole| deadline(&whole))
}

/// The whole may have costs of its own, which no task bears.
pub fn note_cost_of_all(root: &Element<'_, '_>, notes: &mut Notes) -> Result<(), Unreadable> {
    for whole in root.all("Tasks", "Task").filter(|element| element.number("UID") == Ok(Some(0))) {
        if let Some(cost) = whole.decimal("FixedCost")?.filter(|cost| !cost.is_zero()) {
            let amount = hundredths(cost).amount;
            notes.add(
                || whole.line(),
                format!("the fixed cost of the whole, {amount}, belongs to no task and is not read"),
            );
        }
    }
    Ok(())
}

fn fixed_cost(element: &Element<'_, '_>, amount: Money) -> Result<Cost, Unreadable> {
    let due = match element.number("FixedCostAccrual")? {
        Some(2) => Due::Spread,
        Some(3) => Due::Finish,
        _ => Due::Start,
    };
    Ok(Cost { name: "fixed cost".to_owned(), kind: CostKind::Fixed, amount: ThreePoint::fixed(amount), due })
}

/// What was agreed, when the file has a baseline with dates.
fn baseline(element: &Element<'_, '_>) -> Result<Option<Baseline>, Unreadable> {
    for agreed in element.children("Baseline") {
        if agreed.number("Number")? == Some(0)
            && let (Some(start), Some(finish)) = (agreed.when("Start")?, agreed.due("Finish")?)
        {
            let cost = agreed.decimal("Cost")?.unwrap_or_default();
            return Ok(Some(Baseline { start, finish, cost: hundredths(cost) }));
        }
    }
    Ok(None)
}

fn progress(element: &Element<'_, '_>, contains: bool, length: Length) -> Result<Progress, Unreadable> {
    if contains {
        return Ok(Progress::default());
    }
    let percent = element.number("PercentComplete")?.unwrap_or_default();
    let percent = u8::try_from(percent)
        .ok()
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| element.wrong(&format!("`{percent}` is not a percentage, which `PercentComplete` must be")))?;
    let (started, finished) = (element.when("ActualStart")?, element.when("ActualFinish")?);
    let under_way = finished.is_none() && (started.is_some() || percent > 0);
    let left = element.duration("RemainingDuration")?.filter(|_| under_way);
    Ok(Progress {
        started,
        finished,
        percent: (percent > 0).then_some(percent),
        remaining: left.filter(|left| !is_share(*left, length, percent)),
        cost: element.decimal("ActualCost")?.filter(|cost| !cost.is_zero()).map(hundredths),
    })
}

/// Whether what is left is no news beside the percentage, but for rounding.
fn is_share(left: Length, whole: Length, percent: u8) -> bool {
    let seconds = |length: Length| length.to_seconds(&Scale::elapsed(Unit::Second));
    let expected = seconds(whole) * i64::from(100 - percent) / 100;
    (seconds(left) - expected).abs() <= 60.max(seconds(whole) / 100)
}

/// A link; none when it leads to a task of another file.
fn read_link(element: &Element<'_, '_>, names: &Names, notes: &mut Notes) -> Result<Option<Link>, Unreadable> {
    let before = element.required_number("PredecessorUID")?;
    if element.flag("CrossProject")? {
        notes.add(|| element.line(), "this link leads to a task of another file, and is not read");
        return Ok(None);
    }
    let Some(task) = names.tasks.get(&before) else {
        return Err(element.wrong(&format!("this link leads to task {before}, which is not in the file")));
    };
    let kind = match element.number("Type")?.unwrap_or(1) {
        0 => LinkKind::FinishToFinish,
        1 => LinkKind::FinishToStart,
        2 => LinkKind::StartToFinish,
        3 => LinkKind::StartToStart,
        other => return Err(element.wrong(&format!("`{other}` is not a kind of link; expected 0 to 3"))),
    };
    // Tenths of minutes, of work or elapsed, or a share of the task before.
    let tenths = element.number("LinkLag")?.unwrap_or_default();
    let format = element.number("LagFormat")?.unwrap_or(7);
    if matches!(format, 19 | 20 | 51 | 52) && tenths != 0 {
        return Err(
            element.wrong("this link waits for a share of the task before it; give it a length of time instead")
        );
    }
    if tenths.unsigned_abs() > LAG_MAX {
        return Err(element.wrong(&format!("`{tenths}` tenths of minutes are a lag of more than a thousand years")));
    }
    let lag = Length::seconds(tenths * 6);
    Ok(Some(Link {
        task: task.clone(),
        kind,
        lag: if is_elapsed(format) && tenths != 0 { lag.elapsed() } else { lag },
    }))
}
