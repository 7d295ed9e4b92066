//! Statements to be tested: their evidence, and how sure one was after each.

use std::fmt::Write as _;

use gantry_core::life::PlanState;
use gantry_view::standing::Standing;
use maud::{Markup, html};
use serde_json::Value;

use crate::access::{Role, Who};
use crate::api::all_hypotheses;
use crate::app::App;
use crate::pages::layout::empty;
use crate::pages::parts::{text, when_told};
use crate::problem::Problem;

pub async fn hypotheses(app: &App, standing: &Standing, who: &Who) -> Result<Markup, Problem> {
    let all = all_hypotheses(app, &standing.card.id).await?;
    if all.is_empty() {
        return Ok(empty(
            "This plan tests no hypothesis.",
            html! { p { "Add some under " code { "hypotheses" } " in the plan." } },
        ));
    }
    Ok(html! { div #hypotheses data-live { @for one in &all {
        @let evidence = one["evidence"].as_array().cloned().unwrap_or_default();
        section.card id=(format!("hypothesis-{}", text(one, "id"))) {
            b { (text(one, "id")) } " " (text(one, "statement"))
            p.row { "Confidence" progress max="1" value=(one["confidence"]) aria-label="Confidence" {} b { (one["confidence"]) } }
            @if !evidence.is_empty() { svg width="240" height="44" role="img" aria-label="Confidence over time" { path.spark d=(spark(one)) {} } }
            @for found in &evidence { p.small { span.soft { (when_told(found, "at")) " " (text(found, "by")) } " " b { (text(found, "direction").replace('_', " ")) } ": " (text(found, "evidence")) " → " (found["confidence"]) } }
            @if who.may(Role::Operator) && standing.card.card.state != PlanState::Pending { (evidence_form(standing, text(one, "id"))) }
        }
    } } })
}

/// How sure one was, from the beginning on.
fn spark(statement: &Value) -> String {
    let evidence = statement["evidence"].as_array().into_iter().flatten().map(|one| &one["confidence"]);
    let all: Vec<f64> = std::iter::once(&statement["prior"]).chain(evidence).filter_map(Value::as_f64).collect();
    let step = 236.0 / f64::from(u32::try_from(all.len()).unwrap_or(u32::MAX).saturating_sub(1).max(1));
    let mut x = 2.0;
    let mut path = String::new();
    for (at, confidence) in all.iter().enumerate() {
        let _ =
            write!(path, "{}{x:.1} {:.1}", if at == 0 { "M" } else { "L" }, 42.0 - 40.0 * confidence.clamp(0.0, 1.0));
        x += step;
    }
    path
}

/// How sure evidence makes one.
const DIRECTIONS: [(&str, &str); 5] = [
    ("supports", "supports it"),
    ("strongly_supports", "strongly supports it"),
    ("neutral", "says neither"),
    ("refutes", "refutes it"),
    ("strongly_refutes", "strongly refutes it"),
];

/// More evidence.
fn evidence_form(standing: &Standing, hypothesis: &str) -> Markup {
    html! {
        form.row method="post" action=(format!("/p/{}/do", standing.card.id)) {
            input type="hidden" name="hypothesis" value=(hypothesis);
            input name="text" aria-label=(format!("Evidence about {hypothesis}")) placeholder="what was found" size="36" required;
            select name="direction" aria-label=(format!("What it says about {hypothesis}")) { @for (value, name) in DIRECTIONS { option value=(value) { (name) } } }
            button name="do" value="hypothesis" { "Add evidence" }
        }
    }
}
