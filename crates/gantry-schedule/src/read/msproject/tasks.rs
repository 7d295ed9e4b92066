//! Tasks of the file: the outline, links, constraints and progress.

use super::xml::Element;
use super::{Names, Unreadable};
use crate::project::{
    Cost, CostKind, Deadline, Due, Estimate, Length, Link, LinkKind, Money, Progress, Task, ThreePoint,
};

/// Reads all tasks. The element with number 0 is the whole project, and blank lines of the outline are no tasks.
pub fn read(root: &Element<'_, '_>, names: &mut Names) -> Result<Vec<Task>, Unreadable> {
    let mut elements = Vec::new();
    for element in root.all("Tasks", "Task") {
        let uid = element.required_number("UID")?;
        if uid == 0 || element.flag("IsNull")? {
            continue;
        }
        names.tasks.insert(uid, uid.to_string());
        elements.push((uid, element));
    }
    // Who contains whom is told by how far each line is indented.
    let mut open: Vec<(i64, i64)> = Vec::new();
    let mut tasks = Vec::with_capacity(elements.len());
    for (at, (uid, element)) in elements.iter().enumerate() {
        let level = element.number("OutlineLevel")?.unwrap_or(1);
        open.retain(|(above, _)| *above < level);
        let parent = open.last().map(|(_, uid)| uid.to_string());
        open.push((level, *uid));
        let next = elements.get(at + 1).map(|(_, next)| next.number("OutlineLevel")).transpose()?.flatten();
        let contains = next.is_some_and(|next| next > level);
        tasks.push(task(*uid, element, parent, contains, names)?);
    }
    Ok(tasks)
}

fn task(
    uid: i64,
    element: &Element<'_, '_>,
    parent: Option<String>,
    contains: bool,
    names: &Names,
) -> Result<Task, Unreadable> {
    let mut after = Vec::new();
    for link in element.children("PredecessorLink") {
        after.extend(read_link(&link, names)?);
    }
    let estimate = if contains { None } else { Some(Estimate::fixed(element.length("Duration")?.unwrap_or_default())) };
    let cost = element.decimal("FixedCost")?.filter(|cost| !cost.is_zero());
    let calendar = element.number("CalendarUID")?.and_then(|uid| names.calendars.get(&uid).cloned());
    Ok(Task {
        title: element.text("Name").unwrap_or_default().to_owned(),
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
        // The format keeps money in hundredths.
        costs: cost.map(|cost| fixed_cost(Money::of(cost / rust_decimal::Decimal::ONE_HUNDRED))).into_iter().collect(),
        priority: element.number("Priority")?.map_or(0, |priority| i32::try_from(priority - 500).unwrap_or_default()),
        progress: progress(element, contains)?,
        ..Task::milestone(uid.to_string())
    })
}

/// "Must finish on" and "finish no later than" are hard; what is called a deadline there is not.
fn deadline(element: &Element<'_, '_>) -> Result<Option<Deadline>, Unreadable> {
    if let Some(3 | 7) = element.number("ConstraintType")? {
        return Ok(element.when("ConstraintDate")?.map(|at| Deadline { at, hard: true }));
    }
    Ok(element.when("Deadline")?.map(|at| Deadline { at, hard: false }))
}

fn fixed_cost(amount: Money) -> Cost {
    Cost { name: "fixed cost".to_owned(), kind: CostKind::Fixed, amount: ThreePoint::fixed(amount), due: Due::Start }
}

fn progress(element: &Element<'_, '_>, contains: bool) -> Result<Progress, Unreadable> {
    if contains {
        return Ok(Progress::default());
    }
    let percent = element.number("PercentComplete")?.unwrap_or_default();
    let percent = u8::try_from(percent)
        .ok()
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| element.wrong(&format!("`{percent}` is not a percentage, which `PercentComplete` must be")))?;
    Ok(Progress {
        started: element.when("ActualStart")?,
        finished: element.when("ActualFinish")?,
        percent: (percent > 0).then_some(percent),
        ..Progress::default()
    })
}

/// A link; none when it leads to a task of another file.
fn read_link(element: &Element<'_, '_>, names: &Names) -> Result<Option<Link>, Unreadable> {
    let before = element.required_number("PredecessorUID")?;
    if element.flag("CrossProject")? {
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
    let lag = Length::seconds(tenths.saturating_mul(6));
    let elapsed = matches!(format, 4 | 6 | 8 | 10 | 12 | 36 | 38 | 40 | 42 | 44);
    Ok(Some(Link { task: task.clone(), kind, lag: if elapsed && tenths != 0 { lag.elapsed() } else { lag } }))
}
