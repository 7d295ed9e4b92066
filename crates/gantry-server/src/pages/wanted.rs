//! What people are wanted for besides decisions and answers: work to do, help with failures, checks to judge.

use gantry_core::id::PlanId;
use gantry_view::people::{Want, Wanted};
use maud::{Markup, html};

use super::layout::takes;
use crate::access::{Role, Who};
use crate::listen::encoded;

/// What a person is wanted for, with the ways to answer.
pub fn wanted_form(plan: &PlanId, wanted: &Wanted, action: &str, who: &Who) -> Markup {
    let task = wanted.task.as_ref().map(ToString::to_string).unwrap_or_default();
    // The inbox shows tasks of several plans, and they may be called the same.
    let id = format!("{plan}-{task}");
    let hidden = html! { input type="hidden" name="plan" value=(plan); input type="hidden" name="task" value=(task); };
    let head = html! {
        p {
            @if task.is_empty() { b { "Is the plan done?" } }
            @else { a href=(format!("/p/{plan}/tasks/{}", encoded(&task))) { b { (wanted.title) } } " " span.small.soft { (task) } }
        }
    };
    let role = if matches!(wanted.what, Want::Judge { .. }) { Role::Approver } else { Role::Operator };
    if !who.may(role) {
        return html! { div.card id=(format!("wanted-{id}")) { (head) (takes(role)) } };
    }
    match &wanted.what {
        Want::Work { instruction, evidence, outputs } => html! {
            form.card id=(format!("wanted-{id}")) method="post" action=(action) enctype="multipart/form-data" {
                (hidden) (head)
                @if !instruction.is_empty() { p { (instruction) } }
                @if !evidence.is_empty() { p.small { "To be handed in as files of these names: " b { (evidence.join(", ")) } } }
                div.fields {
                    @if outputs.is_empty() {
                        div { label for=(format!("result-{id}")) { "Result" } input.full id=(format!("result-{id}")) name="name" placeholder="what it is called"; }
                        div { label for=(format!("value-{id}")) { "Its value" } input.full id=(format!("value-{id}")) name="value"; }
                    }
                    @for output in outputs {
                        div { input type="hidden" name="name" value=(output); label for=(format!("value-{id}-{output}")) { (output) } input.full id=(format!("value-{id}-{output}")) name="value" required; }
                    }
                    div { label for=(format!("evidence-{id}")) { "Evidence" } input.full id=(format!("evidence-{id}")) name="evidence" type="file" multiple; }
                }
                div.row { button.main name="do" value="done" { "It is done" } }
            }
            details.card id=(format!("not-{id}")) {
                summary { "It could not be done" }
                form.row method="post" action=(action) {
                    (hidden)
                    label.beside for=(format!("why-not-{id}")) { "Why not" }
                    input id=(format!("why-not-{id}")) name="why" size="40" required;
                    button.bad name="do" value="fail" { "It could not be done" }
                }
            }
        },
        Want::Help { failure } => html! {
            form.card id=(format!("wanted-{id}")) method="post" action=(action) {
                (hidden) (head)
                input type="hidden" name="do" value="resolve";
                p { "It asks for help: " (failure) }
                (ways_out(&id))
            }
        },
        Want::Judge { checks } => html! {
            form.card id=(format!("wanted-{id}")) method="post" action=(action) {
                (hidden) (head)
                @for (at, check) in checks.iter().enumerate() {
                    fieldset {
                        legend { (check) }
                        input type="hidden" name="check" value=(check);
                        div.row {
                            label.beside { input type="radio" name=(format!("holds-{at}")) value="yes" required; " holds" }
                            label.beside { input type="radio" name=(format!("holds-{at}")) value="no"; " does not hold" }
                            input name="because" aria-label=(format!("Why: {check}")) placeholder="why" size="36";
                        }
                    }
                }
                div.row { button.main name="do" value="judge" { "So it is" } }
            }
        },
    }
}

/// The same for every task that asks for help, where there are several.
pub fn help_for_all(wanted: &[Wanted], action: &str, who: &Who) -> Markup {
    let count = wanted.iter().filter(|one| matches!(one.what, Want::Help { .. })).count();
    html! {
        @if count > 1 && who.may(Role::Operator) {
            form.card #wanted-by-all method="post" action=(action) {
                input type="hidden" name="do" value="resolve-all";
                p { b { "All " (count) " that ask for help" } }
                (ways_out("all"))
            }
        }
    }
}

fn ways_out(id: &str) -> Markup {
    html! {
        input name="why" aria-label=(format!("What the next attempt is told, or why ({id})")) placeholder="guidance, or why" size="40";
        div.row {
            button.main name="how" value="retry" { "Try again" } button name="how" value="complete" { "Count as done" }
            button name="how" value="skip" { "Leave out" } button.bad name="how" value="fail" { "Let it fail" }
        }
    }
}
