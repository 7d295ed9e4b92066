//! Limits hold: attempts at once, capabilities, budgets, rounds, maps, depth.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::event::{Entry, Event};
use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Diff, Task};
use gantry_core::policy::{Budget, ProseBy, Usage};

use super::book::{Book, Line};
use crate::violation::{Outcome, Violation};

/// How many attempts run at once when the policy says nothing.
const PARALLEL_DEFAULT: u32 = 8;
/// How many rounds there may be when the policy says nothing.
const ROUNDS_DEFAULT: u32 = 3;
/// How many parts a map may have when the policy says nothing.
const MAP_DEFAULT: u32 = 100;

/// Checks the next entry.
pub fn check(book: &Book, entry: &Entry) -> Outcome {
    match &entry.event {
        Event::AttemptStarted { task, reserved, .. } => {
            at_once(book, task)?;
            capabilities(book, task)?;
            budgets(book, task, *reserved)
        }
        Event::PlanRevised { diff, by, .. } if by == "gantry" => rounds_and_maps(book, diff),
        _ => Ok(()),
    }
}

fn at_once(book: &Book, task: &TaskId) -> Outcome {
    let limit = book.plan.policy.parallel.unwrap_or(PARALLEL_DEFAULT).max(1) as usize;
    let running = book.lines.values().filter(|line| line.under.is_some()).count();
    if running < limit {
        return Ok(());
    }
    let detail = format!("`{task}` starts while {running} of {limit} attempts are under way");
    Err(Violation::new("no more attempts at once than the policy allows", detail))
}

fn capabilities(book: &Book, task: &TaskId) -> Outcome {
    for name in used_by(book, task) {
        let Some(limit) = book.plan.policy.capabilities.get(&name) else { continue };
        let users =
            book.lines.iter().filter(|(id, line)| line.under.is_some() && used_by(book, id).contains(&name)).count();
        if users >= *limit as usize {
            let detail = format!("`{task}` starts while {users} of {limit} attempts use `{name}`");
            return Err(Violation::new("no more attempts use a capability than the policy allows", detail));
        }
    }
    Ok(())
}

/// The capabilities that an attempt of a task uses, in the way that is tried now.
fn used_by(book: &Book, id: &TaskId) -> BTreeSet<String> {
    let (Ok(task), Ok(line)) = (book.task(id), book.line(id)) else { return BTreeSet::new() };
    let mut names: BTreeSet<String> = task.capabilities.iter().cloned().collect();
    let prose = match book.plan.policy.prose {
        ProseBy::Person => None,
        ProseBy::Model => Some("model"),
        ProseBy::Agent => Some("agent"),
    };
    match tried(task, line) {
        Some(Action::Run(_)) => names.extend(["shell".to_owned()]),
        Some(Action::Model(_)) => names.extend(["model".to_owned()]),
        Some(Action::Agent(_)) => names.extend(["agent".to_owned()]),
        Some(Action::Tool(tool)) => names.extend([tool.name.clone()]),
        Some(Action::Command(command)) => match command.calls() {
            Some(calls) => names.extend(calls.iter().map(|call| call.name.clone())),
            None => names.extend(prose.map(str::to_owned)),
        },
        None => names.extend(prose.map(str::to_owned)),
        _ => {}
    }
    names
}

fn tried<'a>(task: &'a Task, line: &Line) -> Option<&'a Action> {
    match line.way {
        0 => task.action.as_ref(),
        way => task.alternates.get(way as usize - 1),
    }
}

fn budgets(book: &Book, task: &TaskId, reserved: Usage) -> Outcome {
    for scope in book.scopes_over(task) {
        let budget = match &scope {
            None => book.plan.policy.budget,
            Some(id) => book.task(id)?.budget,
        };
        let set_aside = book
            .lines
            .values()
            .filter_map(|line| line.under.as_ref())
            .filter(|under| under.scopes.contains(&scope))
            .fold(reserved, |sum, under| sum.plus(under.reserved));
        let total = book.spent.get(&scope).copied().unwrap_or_default().plus(set_aside);
        if let Some(dimension) = above(&budget, total) {
            let whose = scope.map_or("the plan".to_owned(), |id| format!("`{id}`"));
            let detail = format!("`{task}` starts, but the {dimension} of {whose} would be {total:?}");
            return Err(Violation::new("nothing starts that the budget does not allow", detail));
        }
    }
    Ok(())
}

fn above(budget: &Budget, usage: Usage) -> Option<&'static str> {
    let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used > limit);
    if over(budget.cost_usd.map(|money| money.0), usage.cost_usd.0) {
        Some("cost")
    } else if over(budget.model_calls, usage.model_calls) {
        Some("model calls")
    } else if over(budget.tokens, usage.tokens) {
        Some("tokens")
    } else {
        None
    }
}

/// Changes that the plan makes by itself stay within their limits.
fn rounds_and_maps(book: &Book, diff: &Diff) -> Outcome {
    depth(book, diff)?;
    let mut maps: BTreeSet<&TaskId> = BTreeSet::new();
    let added: BTreeMap<&TaskId, &Task> = diff.added.iter().map(|placed| (&placed.task.id, &placed.task)).collect();
    for placed in &diff.added {
        if let Some(round) = &placed.task.round {
            let around = |id: &&TaskId| {
                let task = added.get(*id).copied().or_else(|| book.defined.get(*id))?;
                task.parent.as_ref()
            };
            // What was taken in once more names what contains it: nobody has sent it back.
            if std::iter::successors(placed.task.parent.as_ref(), around).any(|above| *above == round.because) {
                let adopts = matches!(book.task(&round.because)?.action, Some(Action::Adopt(_)));
                let again = book.task(&round.because)?.round.as_ref().is_some_and(|own| own.number == round.number);
                if !adopts || !again {
                    let detail = format!("`{}` is said to be taken in by `{}`", placed.task.id, round.because);
                    return Err(Violation::new("only a round of what adopts takes in once more", detail));
                }
                continue;
            }
            let limit = rounds_allowed(book, book.task(&round.because)?);
            let made = rounds_made(book, &round.because);
            if made >= limit {
                let detail = format!("`{}` sends work back, but made {made} of {limit} rounds before", round.because);
                return Err(Violation::new("no more rounds than allowed", detail));
            }
        } else if let Some(parent) = &placed.task.parent {
            maps.insert(parent);
        }
    }
    for id in maps {
        let task = book.task(id)?;
        let Some(Action::Map(map)) = &task.action else { continue };
        let said = [map.max, book.plan.policy.map_max].into_iter().flatten().min();
        let limit = said.unwrap_or(MAP_DEFAULT) as usize;
        let is_part = |task: &&Task| task.parent.as_ref() == Some(id) && task.round.is_none();
        let kept = book.plan.tasks.iter().filter(is_part).filter(|task| !diff.removed.contains(&task.id)).count();
        let parts = kept + diff.added.iter().map(|placed| &placed.task).filter(is_part).count();
        if parts > limit {
            let detail = format!("`{id}` becomes {parts} tasks, but {limit} are allowed");
            return Err(Violation::new("no more parts of a map than allowed", detail));
        }
    }
    Ok(())
}

/// Nothing that is added is nested deeper than the budget allows.
fn depth(book: &Book, diff: &Diff) -> Outcome {
    let Some(limit) = book.plan.policy.budget.depth else { return Ok(()) };
    let added: BTreeMap<&TaskId, &Task> = diff.added.iter().map(|placed| (&placed.task.id, &placed.task)).collect();
    let around = |task: &&Task| {
        let parent = task.parent.as_ref()?;
        added.get(parent).copied().or_else(|| book.defined.get(parent))
    };
    for task in added.values().copied() {
        let depth = std::iter::successors(Some(task), around).take(limit as usize + 1).count();
        if depth > limit as usize {
            let detail = format!("`{}` is nested more than {limit} deep", task.id);
            return Err(Violation::new("nothing is nested deeper than the budget allows", detail));
        }
    }
    Ok(())
}

/// How often this task has sent work back since something else had it repeated: each of those rounds stands in the plan.
fn rounds_made(book: &Book, source: &TaskId) -> u32 {
    let round = |id: &TaskId| book.defined.get(id).filter(|task| !is_taken_in(book, task))?.round.as_ref();
    let origin = round(source).map_or(source, |round| &round.of);
    let before = |id: &&TaskId| {
        let because = &round(id)?.because;
        (round(because).map_or(because, |round| &round.of) == origin).then_some(because)
    };
    let chain = std::iter::successors(Some(source), before).skip(1).take(book.defined.len());
    u32::try_from(chain.count()).unwrap_or(u32::MAX)
}

/// Tells whether a task is a part of the one that its round names.
fn is_taken_in(book: &Book, task: &Task) -> bool {
    let around = |id: &&TaskId| book.defined.get(*id)?.parent.as_ref();
    let mut above = std::iter::successors(task.parent.as_ref(), around);
    task.round.as_ref().is_some_and(|round| above.any(|id| *id == round.because))
}

/// How often work may be sent back by this task: each of its ways back has a limit of its own.
fn rounds_allowed(book: &Book, task: &Task) -> u32 {
    let policy = book.plan.policy.rounds_max;
    let gate = match &task.action {
        Some(Action::Gate(gate)) => Some(gate.rounds_max.or(policy).unwrap_or(ROUNDS_DEFAULT)),
        _ => None,
    };
    let ways = task.next.iter().filter_map(|route| route.max).chain(gate);
    ways.map(|max| max.min(policy.unwrap_or(u32::MAX))).fold(0, u32::saturating_add)
}
