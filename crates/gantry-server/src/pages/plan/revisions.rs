//! Revisions: what each changed and why, side by side, and the way back.

use gantry_many::edits::snapshots;
use gantry_view::standing::Standing;
use maud::{Markup, html};

use super::Query;
use crate::access::{Role, Who};
use crate::api::all_revisions;
use crate::app::App;
use crate::pages::gates::{side_by_side, sign};
use crate::pages::parts::{text, texts, when_told};
use crate::problem::Problem;

pub async fn revisions(app: &App, standing: &Standing, query: &Query, who: &Who) -> Result<Markup, Problem> {
    let all = all_revisions(app, &standing.card.id).await?;
    let count = u32::try_from(all.len()).unwrap_or(1).max(1);
    let to = query.to.unwrap_or(count).clamp(1, count);
    let from = query.from.unwrap_or(to.saturating_sub(1)).clamp(1, count);
    let at =
        |no: u32| gantry_view::revision::life_at(app.store(), &standing.card.id, Some(gantry_core::id::Revision(no)));
    let (before, after) = (at(from).await?.plan(), at(to).await?.plan());
    let diff = gantry_core::plan::diff(&before, &after).to_string();
    let snapshots = snapshots(&gantry_engine::entries(app.store(), &standing.card.id).await?);
    let action = format!("/p/{}/do", standing.card.id);
    Ok(html! {
        @if who.may(Role::Operator) { form.row method="post" action=(action) {
            label.beside for="snapshot" { "Keep the plan as it is now in mind" }
            input #snapshot name="text" placeholder="what for" size="36" required; button name="do" value="snapshot" { "Keep it" }
        } }
        @for one in &snapshots { p.small { b { "Revision " (one.revision) } " is kept by " (one.by) ": " (one.note) } }
        div #revisions data-live {
            @for one in all.iter().rev() {
                section.card id=(format!("revision-{}", one["revision"])) {
                    b { "Revision " (one["revision"]) } " " span.small.soft { (when_told(one, "at")) @if let Some(by) = one["by"].as_str() { " by " (by) } }
                    @if !text(one, "rationale").is_empty() { p { (text(one, "rationale")) } }
                    @for line in texts(one, "lines").iter().take(30) { div class=(format!("small {}", sign(line))) { (line) } }
                    @let no = one["revision"].as_u64().unwrap_or(1);
                    @if who.may(Role::Operator) { form.row method="post" action=(action) {
                        input type="hidden" name="revision" value=(no);
                        @if no > 1 { button name="do" value="take-back" { "Take this back" } }
                        @if no < u64::from(count) { button name="do" value="back-to" data-confirm=(format!("Make the plan what it was at revision {no}?")) { "Back to this" } }
                    } }
                }
            }
        }
        p { a href=(format!("/compare?after={}", standing.card.id)) { "Compare it with another plan" } }
        @if count > 1 {
            h2 { "Side by side" }
            form.row { label.beside for="from" { "from" } input #from name="from" type="number" min="1" max=(count) value=(from); label.beside for="to" { "to" } input #to name="to" type="number" min="1" max=(count) value=(to); button { "Compare" } }
            pre { @for line in diff.lines() { span class=(sign(line)) { (gantry_view::plain(line)) "\n" } } }
            (side_by_side(&gantry_format::to_yaml(&before), &gantry_format::to_yaml(&after), &format!("Revision {from}"), &format!("Revision {to}")))
        }
    })
}
