//! The report in a frame of its own, and everything that can be taken along.

use gantry_view::standing::Standing;
use maud::{Markup, html};

/// The report in a frame of its own, and everything that can be taken along.
pub fn report(standing: &Standing) -> Markup {
    let plan = &standing.card.id;
    let forms = [
        ("yaml", "Plan file"),
        ("json", "Everything, JSON"),
        ("mermaid", "Flowchart"),
        ("csv", "Table"),
        ("ical", "Calendar"),
        ("msproject", "Microsoft Project"),
        ("zip", "Its whole life, zip"),
    ];
    let page = format!("/api/v1/plans/{plan}/report");
    html! {
        p.row {
            a.button.main href=(page) target="_blank" rel="noopener" { "Open the report" }
            a.button href=(format!("{page}?download=true")) { "Save the page" }
            a.button href=(format!("{page}?format=markdown&download=true")) { "Markdown" }
            a.button href=(format!("{page}?format=handoff&download=true")) { "Hand-off" }
            @if standing.card.card.state.is_over() {
                a.button href=(format!("{page}?format=postmortem&download=true")) { "Post-mortem" }
            }
            a.button href=(format!("{page}?format=zip")) { "All of it, zip" }
            @for (form, name) in forms { a.button href=(format!("/api/v1/plans/{plan}/export?format={form}")) { (name) } }
        }
        iframe.report src=(page) title=(format!("Report: {}", standing.card.card.title)) loading="lazy" {}
    }
}
