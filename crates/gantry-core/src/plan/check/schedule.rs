//! Problems in what the plan says about its schedule. The scheduler finds them; here they get their place.

use gantry_schedule::project::{Cost, Link, Money, Who};
use gantry_schedule::{Problem, ProblemKind, Project, project};

use super::Findings;
use crate::plan::{Plan, Scheduling, TaskScheduling};
use crate::time::Timestamp;

/// Where something is: the task's place, and the path of the field.
type Place = (Option<usize>, String);

pub(super) fn check(plan: &Plan, findings: &mut Findings) {
    let section = &plan.schedule;
    if section.is_empty() {
        return;
    }
    for id in section.tasks.keys().filter(|id| plan.task(id.as_str()).is_none()) {
        let hint = findings.suggest(id.as_str(), plan.tasks.iter().map(|task| task.id.as_str()));
        findings
            .error(
                "plan::unknown-task",
                (None, &format!("schedule.tasks.{id}")),
                format!("the schedule speaks of a task `{id}`, which does not exist"),
            )
            .hint = hint;
    }
    check_amounts(section, findings);
    let mut problems = problems(&plan.project(Timestamp::default()));
    problems.dedup(); // three amounts of one cost have one currency
    for problem in problems {
        let Some((task, path)) = place(plan, &problem) else { continue };
        if findings.has_cycle() && problem.kind == ProblemKind::Cycle {
            continue; // told already, with the place of each wait
        }
        let names_task = problem.kind == ProblemKind::Unknown && problem.what.starts_with("there is no task `");
        let code = match problem.kind {
            ProblemKind::Unknown if names_task => "plan::unknown-task",
            ProblemKind::Unknown => "plan::schedule-unknown",
            ProblemKind::Duplicate => "plan::schedule-duplicate",
            ProblemKind::Cycle => "plan::schedule-cycle",
            ProblemKind::Value => "plan::schedule-value",
            ProblemKind::Calendar => "plan::schedule-no-time",
        };
        let subject = subject(&problem);
        findings.error(code, (task, &path), format!("{subject}{}", problem.what)).hint(problem.fix);
    }
}

/// Everything that the scheduler finds, circles too where other problems keep it from looking for them.
fn problems(project: &Project) -> Vec<Problem> {
    let mut problems = project.problems();
    if problems.is_empty() || problems.iter().any(|problem| problem.kind == ProblemKind::Cycle) {
        return problems;
    }
    let known = |link: &&Link| project.task(&link.task).is_some();
    let bare = |task: &project::Task| project::Task {
        parent: task.parent.clone().filter(|parent| project.task(parent).is_some()),
        after: task.after.iter().filter(known).cloned().collect(),
        ..project::Task::milestone(&*task.id)
    };
    let bare = Project { tasks: project.tasks.iter().map(bare).collect(), ..Project::counting(project.unit) };
    problems.extend(bare.problems().into_iter().filter(|problem| problem.kind == ProblemKind::Cycle));
    problems
}

/// Amounts that nobody pays.
fn check_amounts(section: &Scheduling, findings: &mut Findings) {
    let mut refuse = |path: String, what: String| {
        findings.error("plan::schedule-value", (None, &path), what).hint("write an amount above zero");
    };
    for (currency, worth) in &section.exchange {
        if worth.is_sign_negative() || worth.is_zero() {
            refuse(format!("schedule.exchange.{currency}"), format!("one {currency} cannot be worth {worth}"));
        }
    }
    let negative = |money: &Option<Money>| money.as_ref().is_some_and(|money| money.amount.is_sign_negative());
    for (place, resource) in section.resources.iter().enumerate() {
        for (field, money) in [("rate", &resource.rate), ("per_use", &resource.per_use)] {
            if negative(money) {
                let path = format!("schedule.resources.{place}.{field}");
                refuse(path, format!("the `{field}` of `{}` is negative", resource.id));
            }
        }
    }
    if negative(&section.budget) {
        refuse("schedule.budget".to_owned(), "the budget is negative".to_owned());
    }
}

/// Who has the problem, in front of what is wrong with it.
fn subject(problem: &Problem) -> String {
    match problem.at.split_once('.') {
        Some(("project", field)) => format!("the schedule's {field}: "),
        Some((sort, rest)) => {
            let name = rest.split('.').next().unwrap_or(rest);
            format!("{sort} `{name}`: ")
        }
        None => String::new(),
    }
}

/// Finds where a problem stands in the plan; none where the plan's own checks tell of it.
fn place(plan: &Plan, problem: &Problem) -> Option<Place> {
    let section = &plan.schedule;
    let (sort, rest) = problem.at.split_once('.').unwrap_or((&problem.at, ""));
    let listed = |list: &str, ids: Vec<&str>| {
        // Ids may have dots in them: the longest one that fits is meant.
        let fits = |id: &&str| rest.strip_prefix(*id).is_some_and(|field| field.is_empty() || field.starts_with('.'));
        let found = ids.iter().enumerate().filter(|(_, id)| fits(id)).max_by_key(|(place, id)| (id.len(), *place));
        let Some((place, id)) = found else { return (None, format!("schedule.{list}")) };
        (None, format!("schedule.{list}.{place}{}", &rest[id.len()..]))
    };
    Some(match sort {
        "project" => (None, of_project(plan, rest)),
        "task" => return of_task(plan, problem, rest),
        "resource" => listed("resources", section.resources.iter().map(|one| &*one.id).collect()),
        "calendar" => listed("calendars", section.calendars.iter().map(|one| &*one.id).collect()),
        "risk" => {
            let (task, path) = listed("risks", section.risks.iter().map(|one| &*one.id).collect());
            (task, with_item(path, "tasks", problem, |place| Some(&section.risks.get(place)?.tasks)))
        }
        "correlation" => {
            let (task, path) = listed("correlations", section.correlations.iter().map(|one| &*one.id).collect());
            (task, with_item(path, "members", problem, |place| Some(&section.correlations.get(place)?.members)))
        }
        "class" => listed("classes", section.classes.iter().map(|one| &*one.id).collect()),
        "recurring" => listed("recurring", section.recurring.iter().map(|one| &*one.id).collect()),
        _ => (None, "schedule".to_owned()),
    })
}

/// Points at the item that the problem names, in a list of the one that the path leads to.
fn with_item<'n>(
    path: String,
    list: &str,
    problem: &Problem,
    items: impl Fn(usize) -> Option<&'n Vec<String>>,
) -> String {
    let mut parts = path.rsplit('.');
    let of = (parts.next() == Some(list)).then(|| parts.next()?.parse().ok()).flatten().and_then(items);
    let item = of.and_then(|items| items.iter().position(|name| names(problem, name)));
    item.map_or(path.clone(), |item| format!("{path}.{item}"))
}

fn names(problem: &Problem, name: &str) -> bool {
    problem.what.contains(&format!("`{name}`"))
}

/// Fields of the whole stand in the schedule, unless the plan has them itself.
fn of_project(plan: &Plan, field: &str) -> String {
    let section = &plan.schedule;
    match field {
        "deadline" if section.deadline.is_none() => "deadline".to_owned(),
        "budget" if section.budget.is_none() => "policy.budget.cost_usd".to_owned(),
        _ => format!("schedule.{field}"),
    }
}

/// Fields of a task stand in the schedule, unless the task has them itself.
fn of_task(plan: &Plan, problem: &Problem, rest: &str) -> Option<Place> {
    let (id, field) = rest.split_once('.').unwrap_or((rest, ""));
    let id = id.strip_suffix("/itself").unwrap_or(id);
    let index = plan.tasks.iter().position(|task| task.id.as_str() == id)?;
    let nothing = TaskScheduling::default();
    let more = plan.schedule.of(&plan.tasks[index]).unwrap_or(&nothing);
    let here = |path: String| Some((None, format!("schedule.tasks.{id}.{path}")));
    let own = |path: &str| Some((Some(index), path.to_owned()));
    match field {
        "parent" => None,
        "after" => {
            let named = more.after.iter().position(|link| names(problem, &link.task));
            let cycle = problem.kind == ProblemKind::Cycle && problem.what.contains('→');
            match named {
                Some(link) => here(format!("after.{link}")),
                None if cycle => circle(plan, problem).or_else(|| own("depends_on")),
                None if problem.kind == ProblemKind::Unknown => None,
                None => own("depends_on"),
            }
        }
        "needs" => {
            let meant = |who: &Who| matches!(who, Who::Named { resource } if names(problem, resource));
            match more.needs.iter().position(|need| meant(&need.who)) {
                Some(need) => here(format!("needs.{need}")),
                None if more.needs.is_empty() => own("resources"),
                None => here("needs".to_owned()),
            }
        }
        "costs" => {
            let currency = |cost: &Cost| cost.amount.likely.currency.as_ref().is_some_and(|name| names(problem, name));
            let meant = |cost: &Cost| currency(cost) || names(problem, &cost.amount.to_string());
            match more.costs.iter().position(meant) {
                Some(cost) => here(format!("costs.{cost}.amount")),
                None => here("costs".to_owned()),
            }
        }
        "estimate" if more.estimate.is_none() => own("estimate"),
        "deadline" if more.deadline.is_none() => own("deadline"),
        "progress.percent" => here("percent".to_owned()),
        "progress.cost" => here("spent".to_owned()),
        "" if plan.schedule.of(&plan.tasks[index]).is_none() => own("id"),
        "" => Some((None, format!("schedule.tasks.{id}"))),
        field => here(field.to_owned()),
    }
}

/// The first link of the schedule that is part of a circle.
fn circle(plan: &Plan, problem: &Problem) -> Option<Place> {
    let around: Vec<&str> = problem.what.split(": ").last()?.split(" → ").collect();
    around.windows(2).find_map(|pair| {
        let (before, after) = (pair[0], pair[1]);
        let task = plan.task(after)?;
        let link = plan.schedule.of(task)?.after.iter().position(|link| link.task == before)?;
        Some((None, format!("schedule.tasks.{after}.after.{link}")))
    })
}
