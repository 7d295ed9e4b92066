//! What the finished plan has wrong with it, shown at its place in the file.

mod around;
mod cycle;

use gantry_core::plan::{Location, Plan, Problem, Severity};

use crate::diagnostic::{Diagnostic, Findings};
use crate::node::Span;
use crate::read::{Places, Reading};
use crate::suggest::nearest;

pub use around::Around;

/// Lets the model check the plan and adds what it finds.
///
/// In a file that is a single task, a route to a task elsewhere is no error: the route is left out
/// and reported.
pub(crate) fn check(reading: &mut Reading, around: Option<&Around<'_>>, findings: &mut Findings) {
    if reading.single_task {
        leave_out_routes(reading, findings);
    }
    if let Some(around) = around {
        around::check(reading, around, findings);
    }
    for problem in reading.plan.check() {
        let spot = Spot::of(&problem, reading);
        // Whoever writes `words: …`, or `value: …`, has said what is meant.
        if ["plan::words-like-expression", "plan::almost-reference"].contains(&problem.code)
            && spot.places.text(spot.place).is_none()
        {
            continue;
        }
        let unsure = names_a_task(&problem) && spot.places.unsure.may_mean(spot.places.text(spot.place));
        if unsure || problem.code == "plan::no-tasks" && findings.has_errors() {
            continue;
        }
        findings.push_with(|| {
            let mut finding = translate(&problem, &spot);
            if finding.hint.is_none() && names_a_task(&problem) {
                finding.hint = near_task(&spot);
            }
            match (problem.code, spot.place.task) {
                ("plan::duplicate-id", Some(second)) => match spot.first_use(second) {
                    Some(first) => finding.label("used again here").other(first, "first used here"),
                    None => finding,
                },
                ("plan::cycle", _) => cycle::show(finding, &problem, &spot),
                _ => finding,
            }
        });
    }
}

/// Where a problem is: the innermost plan around it, and the place in there.
struct Spot<'a> {
    plan: &'a Plan,
    places: &'a Places,
    place: &'a Location,
}

impl<'a> Spot<'a> {
    fn of(problem: &'a Problem, reading: &'a Reading) -> Self {
        let mut spot = Self { plan: &reading.plan, places: &reading.places, place: &problem.place };
        while let Some(there) = &spot.place.inside
            && let Some(plan) = spot.plan.inside(spot.place)
            && let Some(places) = spot.places.inside(spot.place)
        {
            spot = Self { plan, places, place: there };
        }
        spot
    }

    /// Where the id of a task was used first.
    fn first_use(&self, second: usize) -> Option<Span> {
        let id = &self.plan.tasks[second].id;
        let first = self.plan.tasks.iter().position(|task| task.id == *id)?;
        Some(self.places.tasks[first].head)
    }
}

/// Tells whether a task would start although somebody wrote down what must hold before: an expression with a slip in it
/// is not tested.
fn lets_start(problem: &Problem, spot: &Spot<'_>) -> bool {
    let lone_name = problem.message.ends_with("a name alone counts as a word");
    problem.code == "plan::words-like-expression"
        && spot.place.path.split('.').any(|part| part == "preconditions")
        && !lone_name
}

fn translate(problem: &Problem, spot: &Spot<'_>) -> Diagnostic {
    let severity = if lets_start(problem, spot) { Severity::Error } else { problem.severity };
    let finding = match severity {
        Severity::Error if lets_start(problem, spot) => {
            let message = problem.message.replace("is taken as words for a judge, because", "would hold nothing back:");
            Diagnostic::error(problem.code, message)
        }
        Severity::Error => Diagnostic::error(problem.code, problem.message.clone()),
        Severity::Warning => Diagnostic::warning(problem.code, problem.message.clone()),
    };
    finding.at(spot.places.find(spot.place)).hint_opt(problem.hint.clone())
}

/// Tells whether a problem may only come from a task whose id could not be read.
fn names_a_task(problem: &Problem) -> bool {
    ["plan::unknown-dependency", "plan::unknown-route", "plan::unknown-task", "plan::unknown-parent"]
        .contains(&problem.code)
}

/// Finds the task that was probably meant: neighbouring letters that were swapped are one slip.
fn near_task(spot: &Spot<'_>) -> Option<String> {
    let written = spot.places.text(spot.place)?;
    let near = nearest(written, spot.plan.tasks.iter().map(|task| task.id.as_str()))?;
    Some(format!("did you mean `{near}`?"))
}

fn leave_out_routes(reading: &mut Reading, findings: &mut Findings) {
    let ids: Vec<_> = reading.plan.tasks.iter().map(|task| task.id.clone()).collect();
    for (index, task) in reading.plan.tasks.iter_mut().enumerate() {
        let routes = std::mem::take(&mut task.next);
        for (number, route) in routes.into_iter().enumerate() {
            if ids.contains(&route.to) {
                task.next.push(route);
                continue;
            }
            let place = Location::new(Some(index), format!("next.{number}.to"));
            findings.push(
                Diagnostic::warning(
                    "plan::route-left-out",
                    format!("the route on {} to `{}` is left out: this file holds one task alone", route.on, route.to),
                )
                .at(reading.places.find(&place))
                .label("not in this file")
                .hint("put both tasks into one plan to keep the route"),
            );
        }
    }
}
