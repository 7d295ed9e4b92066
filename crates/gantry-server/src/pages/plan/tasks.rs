//! The tasks of a plan as a tree in a table, and a form for one more.

use gantry_core::id::TaskId;
use gantry_core::life::TaskState;
use gantry_core::plan::Money;
use gantry_view::elapsed::elapsed;
use gantry_view::standing::Standing;
use maud::{Markup, html};

use super::task_url;
use crate::access::{Role, Who};
use crate::pages::layout::state;

fn depth(standing: &Standing, task: &TaskId) -> usize {
    let (mut depth, mut at) = (0, task.clone());
    while let Some(parent) = standing.life.definition(at.as_str()).and_then(|task| task.parent.clone()) {
        depth += 1;
        at = parent;
        if depth > 8 {
            break;
        }
    }
    depth
}

pub fn tasks(standing: &Standing, who: &Who) -> Markup {
    let life = &standing.life;
    html! {
        div #tasks data-live { div.wide { table.cards {
            thead { tr { th { "Task" } th { "State" } th { "How" } th.n { "Took" } th.n { "Cost" } th { "About" } } }
            tbody { @for id in life.task_ids() {
                @let known = life.task_life(id.as_str());
                @let definition = life.definition(id.as_str());
                tr id=(format!("task-{id}")) {
                    td class=(format!("main depth-{}", depth(standing, &id).min(3))) { a href=(task_url(standing, &id)) { (definition.map_or(id.as_str(), |task| task.name())) } div.small.soft { (id) } }
                    td { (state(life.task_state(id.as_str()).map_or("pending", TaskState::name))) }
                    td.small { (definition.and_then(|task| task.action.as_ref()).map_or("", |action| action.key())) }
                    td.n { @if let Some(length) = standing.length(&id) { (elapsed(length)) } }
                    td.n { @if let Some(known) = known.filter(|known| known.spent.cost_usd != Money::default()) { "$" (known.spent.cost_usd) } }
                    td.small.all { (standing.about(&id)) }
                }
            } }
        } } }
        @if who.may(Role::Operator) { (add_form(standing)) }
    }
}

/// A new task, and where it goes.
fn add_form(standing: &Standing) -> Markup {
    let life = &standing.life;
    html! {
        details.card #add {
            summary { "Add a task" }
            form method="post" action=(format!("/p/{}/do", standing.card.id)) {
                div.fields {
                    div { label for="new-name" { "What it is called" } input.full #new-name name="name" required; }
                    div { label for="new-owner" { "Who answers for it" } input.full #new-owner name="owner"; }
                }
                label for="new-instruction" { "What is to be done" }
                textarea #new-instruction name="instruction" {}
                div.fields {
                    div { label for="new-where" { "Where it goes" } select #new-where name="where" { @for (value, name) in WHERE { option value=(value) { (name) } } } }
                    div { label for="new-anchor" { "of" } input.full #new-anchor name="anchor" list="tasks-known" placeholder="a task"; }
                    div { label for="new-after" { "Waits for" } input.full #new-after name="dependencies" list="tasks-known" placeholder="tasks, with commas"; }
                }
                datalist #tasks-known { @for id in life.task_ids() { option value=(id) {} } }
                input type="hidden" name="base" value=(life.revision());
                p { button.main name="do" value="add-task" { "Add it" } " " span.small.soft { "A new revision; it can be taken back." } }
            }
        }
    }
}

/// Where a task can go.
pub const WHERE: [(&str, &str); 5] = [
    ("", "at the end"),
    ("before", "right before"),
    ("after", "right after"),
    ("first_child", "first inside"),
    ("last_child", "last inside"),
];
