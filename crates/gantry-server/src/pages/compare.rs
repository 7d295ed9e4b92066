//! Two plans beside each other.

use axum::extract::State;
use axum::response::IntoResponse as _;
use gantry_core::life::Life;
use gantry_core::plan::Plan;
use gantry_format::to_yaml;
use maud::{Markup, html};

use super::Shown;
use super::gates::{side_by_side, sign};
use super::layout::Page;
use crate::access::Who;
use crate::api::revisions::{Both, compared, seen};
use crate::app::App;
use crate::body::Asked;
use crate::problem::Problem;

/// Which plans, and what differs.
pub async fn compare(State(app): State<App>, who: Who, Asked(both): Asked<Both>) -> Shown {
    let draw = async {
        let found = if both.before.trim().is_empty() || both.after.trim().is_empty() {
            html! {}
        } else {
            differences(seen(&app, &both.before).await?, seen(&app, &both.after).await?).await?
        };
        let body = html! {
            h1 { "Compare two plans" }
            p.soft { "A plan is named by its number or its id, perhaps with " code { "@r2" } " for its revision 2." }
            form.row.filter {
                input name="before" aria-label="The plan before" placeholder="before, such as 7@r1" value=(both.before) required;
                input name="after" aria-label="The plan after" placeholder="after, such as 7" value=(both.after) required;
                button.main { "Compare" }
            }
            (found)
        };
        Ok(Page::new("Compare two plans").draw(Some(&who), body).into_response())
    };
    Shown(draw.await)
}

async fn differences(before: Life, after: Life) -> Result<Markup, Problem> {
    let (old, new) = (before.proposed(), after.proposed());
    let compared = compared(old.clone(), new.clone()).await?;
    let link = |life: &Life| html! { a href=(format!("/p/{}", life.id())) { (life.header().name()) } " revision " (life.revision()) };
    Ok(html! {
        p { (link(&before)) " → " (link(&after)) }
        @if compared.diff.is_empty() { p { "Nothing differs." } }
        @else {
            @if !compared.figure_lines().is_empty() { pre { (compared.figure_lines().join("\n")) } }
            pre { @for line in compared.lines() { span class=(sign(&line)) { (line) "\n" } } }
            // Two plans have two ids; that is no difference in what is to be done.
            @let written = |plan: &Plan| to_yaml(&Plan { id: None, ..plan.work() });
            (side_by_side(&written(&old), &written(&new), &named(&before), &named(&after)))
        }
    })
}

/// A plan at a revision, in the words that find it again.
fn named(life: &Life) -> String {
    format!("{}@r{}", life.id(), life.revision())
}
