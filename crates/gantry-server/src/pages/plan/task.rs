//! One task: what it works on and gave, what it asked, what happened to it, and everything one can do about it.

use std::collections::BTreeSet;

use gantry_core::id::TaskId;
use gantry_core::life::TaskState;
use gantry_core::plan::{Action, Reference, Task, references};
use gantry_view::elapsed::elapsed;
use gantry_view::people;
use gantry_view::standing::Standing;
use maud::{Markup, html};

use super::tasks::WHERE;
use super::{artifacts, task_url};
use crate::access::{Role, Who};
use crate::api::{known, open_gates, tag, task_value};
use crate::app::App;
use crate::pages::gates::gate_form;
use crate::pages::layout::state;
use crate::pages::parts::{ask_form, text, value, values, when, when_told};
use crate::pages::wanted::wanted_form;
use crate::problem::Problem;

pub async fn task(app: &App, standing: &Standing, name: &str, who: &Who) -> Result<Markup, Problem> {
    let (life, plan) = (&standing.life, &standing.card.id);
    let id = known(life, name)?;
    let all = task_value(app, plan, life, &id).await?;
    let definition = life.definition(name);
    let (action, may) = (format!("/p/{plan}/do"), who.may(Role::Operator));
    let now = life.task_state(name).unwrap_or(TaskState::Pending);
    let wanted = people::wanted(life);
    let gates = open_gates(app, &standing.card, life).await?;
    let asks = people::asks(app.store(), life).await?;
    let calls = gantry_store::all_effects(app.store(), plan, Some(&id)).await?;
    // What people do says nothing by itself.
    let has_output = !matches!(
        definition.and_then(|task| task.action.as_ref()),
        None | Some(Action::Manual(_) | Action::Gate(_) | Action::Ask(_))
    );
    let attempt = life.task_life(name).map_or(0, |known| known.attempt.0);
    Ok(html! {
        div #task data-live {
            h2 { (definition.map_or(name, |task| task.name())) " " (state(now.name())) }
            p.soft { (id) @if attempt > 0 { ", attempt " (attempt) } @if let Some(length) = standing.length(&id) { ", " (elapsed(length)) } @if let Some(spent) = life.task_life(name).map(|known| known.spent).filter(|spent| spent.model_calls > 0) { ", $" (spent.cost_usd) ", " (spent.model_calls) " model calls, " (spent.tokens) " tokens" } }
            @if !text(&all, "about").is_empty() { p { (text(&all, "about")) } }
            @if let Some(described) = definition.and_then(|task| task.description.as_deref()) { p { (described) } }
            @if let Some(why) = definition.and_then(|task| task.rationale.as_deref()) { p { b { "Why it is there: " } (why) } }
            @for gate in gates.iter().filter(|gate| text(gate, "gate") == id.as_str()) { (gate_form(gate, &action, who)) }
            @for (task, asked) in asks.iter().filter(|(task, _)| *task == id) { (ask_form(&asked.to_json(&standing.card, life, task), &action, who)) }
            @for one in wanted.iter().filter(|one| one.task.as_ref() == Some(&id)) { (wanted_form(plan, one, &action, who)) }
            div.two {
                div {
                    h2 { "Works on" } (values(&all["inputs"], "Nothing that comes from elsewhere."))
                    @let from = definition.map(sources).unwrap_or_default();
                    @if !from.is_empty() { p.small.soft { "Comes after " @for (at, task) in from.iter().enumerate() { @if at > 0 { ", " } a href=(task_url(standing, task)) { (task) } } } }
                }
                div { h2 { "Gave" } (values(&all["outputs"], "Nothing yet.")) }
            }
        }
        // What has ended has its output above, as a whole.
        @if has_output && matches!(now, TaskState::Pending | TaskState::Ready | TaskState::Running) {
            h2 { "Output as it comes" }
            @if now == TaskState::Running { p.small.soft { "From here on; what was said before is shown when the task has ended." } }
            pre.log data-output=(id) aria-label="Output of the task, as it comes" tabindex="0" {}
        }
        @if now == TaskState::Completed && may {
            form.card method="post" action=(action) {
                h3 { "Change what it gave; exactly what works on it is done again" }
                input type="hidden" name="task" value=(id);
                // What is changed is what is shown above: once it is something else, it is looked at again.
                input type="hidden" name="tag" value=(tag(life, &id));
                div.row {
                    input name="name" list="outputs" aria-label="Output" placeholder="output" required;
                    datalist #outputs { @for (key, _) in all["outputs"].as_object().into_iter().flatten() { option value=(key) {} } }
                    input name="value" aria-label="New value" placeholder="new value" size="40";
                    input name="why" aria-label="Why" placeholder="why";
                    button.main name="do" value="edit" { "Change it" }
                }
            }
        }
        @if may && matches!(now, TaskState::Completed | TaskState::Failed | TaskState::Skipped) {
            form.row method="post" action=(action) { input type="hidden" name="task" value=(id); button name="do" value="retry" { "Do it again" } }
        }
        @if may { (change_form(standing, &id)) }
        div #more data-live {
            h2 { "Made" }
            (artifacts::rows(standing, all["artifacts"].as_array().map(Vec::as_slice).unwrap_or_default()))
            @if !calls.is_empty() { h2 { "Calls to the outside" } }
            @for call in calls.iter().rev().take(20) {
                details.card id=(format!("call-{}-{}", call.attempt, call.ordinal)) {
                    summary { (call.kind) " " span.small.soft { "attempt " (call.attempt) ", " (when(call.started_at)) ", $" (call.usage.cost_usd) ", " (call.usage.tokens) " tokens" } }
                    h3 { "Asked" } (value(&call.request))
                    @if let Some(answer) = &call.answer { h3 { "Answered" } (value(answer)) }
                }
            }
            h2 { "History" }
            @if may { form.row method="post" action=(action) { input type="hidden" name="task" value=(id); input name="text" aria-label="Note" placeholder="a note about this task" size="40" required; button name="do" value="note" { "Write it down" } } }
            @if all["history"].as_array().is_none_or(Vec::is_empty) { p.soft { "Nothing yet." } }
            ul.lately { @for entry in all["history"].as_array().into_iter().flatten() { li { (when_told(entry, "at")) " " (text(entry, "said")) } } }
            details.card #definition { summary { "As it stands in the plan" } pre { (format!("{:#}", all["definition"])) } }
        }
    })
}

/// The tasks that a task works on or waits for, each once.
fn sources(task: &Task) -> BTreeSet<TaskId> {
    let read = references(task).into_iter().filter_map(|(_, reference)| match reference {
        Reference::Task { task, .. } => Some(task.clone()),
        Reference::Artifact { .. } | Reference::Memory { .. } => None,
    });
    read.chain(task.depends_on.iter().cloned()).collect()
}

/// How a task can be described otherwise, moved or taken out, each as a revision.
fn change_form(standing: &Standing, id: &TaskId) -> Markup {
    let (life, action) = (&standing.life, format!("/p/{}/do", standing.card.id));
    let Some(task) = life.definition(id.as_str()) else { return html! {} };
    let waits: Vec<&str> = task.depends_on.iter().map(TaskId::as_str).collect();
    let hidden =
        html! { input type="hidden" name="task" value=(id); input type="hidden" name="base" value=(life.revision()); };
    html! {
        details.card #change {
            summary { "Change, move or delete it" }
            form method="post" action=(action) {
                (hidden)
                div.fields {
                    div { label for="name" { "What it is called" } input.full #name name="name" value=(task.name()) required; }
                    div { label for="owner" { "Who answers for it" } input.full #owner name="owner" value=(task.owner.as_deref().unwrap_or_default()); }
                    div { label for="waits" { "Waits for" } input.full #waits name="dependencies" value=(waits.join(", ")) placeholder="tasks, with commas"; }
                }
                label for="instruction" { "What is to be done" }
                textarea #instruction name="instruction" { (task.description.as_deref().unwrap_or_default()) }
                div.row { input name="why" aria-label="Why" placeholder="why"; button.main name="do" value="change-task" { "Change it" } }
            }
            form.row method="post" action=(action) {
                (hidden)
                label.beside for="where" { "Move it" }
                select #where name="where" { @for (value, name) in WHERE.into_iter().skip(1) { option value=(value) { (name) } } option value="top" { "to the top of the plan" } }
                input name="anchor" aria-label="Of which task" list="others" placeholder="a task";
                datalist #others { @for other in life.task_ids() { @if other != *id { option value=(other) {} } } }
                button name="do" value="move-task" { "Move it" }
            }
            form.row method="post" action=(action) {
                (hidden)
                label.beside { input type="checkbox" name="detach" value="1"; " what waits for it waits no longer" }
                button.bad name="do" value="delete-task" data-confirm="Delete this task with everything below it?" { "Delete it" }
            }
        }
    }
}
