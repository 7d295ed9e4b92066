//! A gate as people see it: what is asked, what is different, and the ways to decide it.

use gantry_view::beside::{Row, beside};
use maud::{Markup, html};
use serde_json::Value;

use super::layout::takes;
use super::parts::{text, texts, value, when_told};
use crate::access::{Role, Who};

/// How many lines of a change are shown unfolded.
const LINES_OPEN: usize = 12;
/// How many lines around a change are shown.
const AROUND: usize = 4;

/// A gate with what is asked, what is different, and the ways to decide it.
pub fn gate_form(gate: &Value, action: &str, who: &Who) -> Markup {
    let approved = texts(gate, "approved_by");
    // The inbox shows gates of several plans, and they may be called the same.
    let id = format!("{}-{}", text(gate, "plan"), text(gate, "gate"));
    html! {
        form.card id=(format!("gate-{id}")) method="post" action=(action) {
            input type="hidden" name="plan" value=(text(gate, "plan"));
            input type="hidden" name="gate" value=(text(gate, "gate"));
            // What is decided is the plan as it is shown here: with a newer revision it is looked at again.
            input type="hidden" name="revision" value=(gate["plan_revision"]);
            b { (text(gate, "title")) } " " span.small.soft { (approved.len()) " of " (gate["needed"]) " approvals" @if !approved.is_empty() { " (" (approved.join(", ")) ")" } ", revision " (gate["revision"]) }
            @if let Some(role) = gate["role"].as_str() { p.small.soft { "Takes the role " b { (role) } } input type="hidden" name="role" value=(role); }
            @let checks = texts(gate, "checks");
            @if !checks.is_empty() { ul.checks { @for check in checks { li { (check) } } } }
            (news(&gate["changes"], &id))
            @if who.may(Role::Approver) { (ways(gate, &id)) } @else { (takes(Role::Approver)) }
        }
    }
}

/// The ways to decide. Nobody has to say why they approve.
fn ways(gate: &Value, id: &str) -> Markup {
    html! {
        @for seen in texts(gate, "evidence") {
            p { label.beside { input type="checkbox" name="evidence" value=(seen); " I have seen " b { (seen) } } }
        }
        label for=(format!("why-{id}")) { "Why" }
        input id=(format!("why-{id}")) name="why" size="40" placeholder="needed to say no" required;
        div.row {
            button.main name="do" value="approve" formnovalidate { "Approve" }
            button name="do" value="needs-changes" { "Ask for changes" }
            button.bad name="do" value="reject" { "Reject" }
        }
    }
}

/// What is different for whoever decides.
fn news(changes: &Value, id: &str) -> Markup {
    let (plan, adopts) = (texts(changes, "plan"), texts(changes, "adopts"));
    let results = changes["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let since = &changes["since"];
    html! {
        @if !adopts.is_empty() { (folded(&format!("adopts-{id}"), &format!("Approved, it changes the plan: {}", counted(&adopts)), &adopts)) }
        @if since.is_object() {
            p.small.soft { "Since " (text(since, "by")) " " (past(text(since, "decision"))) ", " (when_told(since, "at")) @if !text(since, "rationale").is_empty() { " (“" (text(since, "rationale")) "”)" } ":" @if plan.is_empty() && results.is_empty() { " nothing has changed." } }
            @if !plan.is_empty() { (folded(&format!("plan-{id}"), &format!("The plan changed: {}", counted(&plan)), &plan)) }
        }
        @if !results.is_empty() {
            details.change id=(format!("made-{id}")) open[since.is_object()] {
                summary { @if since.is_object() { (gantry_view::count(results.len(), "result")) " changed" } @else { "What it is about: " (gantry_view::count(results.len(), "result")) } }
                @for one in results {
                    h3 { (text(one, "task")) " · " (text(one, "name")) }
                    @if one["before"].is_null() { (value(&one["after"])) } @else { (compared(&one["before"], &one["after"])) }
                }
            }
        }
    }
}

fn past(decision: &str) -> &'static str {
    match decision {
        "approve" => "approved",
        "reject" => "rejected it",
        _ => "asked for changes",
    }
}

fn counted(lines: &[&str]) -> String {
    let of = |sign: char| lines.iter().filter(|line| line.trim_start().starts_with(sign)).count();
    let (new, gone) = (of('+'), of('-'));
    match (new, gone) {
        (0, 0) => gantry_view::count(lines.len(), "line"),
        (new, 0) => format!("{new} new"),
        (0, gone) => format!("{gone} gone"),
        (new, gone) => format!("{new} new, {gone} gone"),
    }
}

fn folded(id: &str, title: &str, lines: &[&str]) -> Markup {
    html! {
        details.change id=(id) open[lines.len() <= LINES_OPEN] {
            summary { (title) }
            pre { @for line in lines { span class=(sign(line)) { (line) "\n" } } }
        }
    }
}

/// How a line of a change is coloured.
pub fn sign(line: &str) -> &'static str {
    match line.trim_start().chars().next() {
        Some('+') => "plus",
        Some('-') => "minus",
        _ => "",
    }
}

/// A value as it was, and as it is.
fn compared(before: &Value, after: &Value) -> Markup {
    let shown = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) => format!("{value:#}"),
        other => other.to_string(),
    };
    side_by_side(&shown(before), &shown(after), "Before", "Now")
}

/// Two texts side by side, with the rows marked that differ; what is far from any of them is left out.
pub fn side_by_side(before: &str, after: &str, old: &str, new: &str) -> Markup {
    let rows = beside(before, after);
    let near = |at: usize| {
        let around = &rows[at.saturating_sub(AROUND)..rows.len().min(at + AROUND + 1)];
        around.iter().any(|row| !matches!(row, Row::Both(_)))
    };
    html! {
        div.wide tabindex="0" role="region" aria-label=(format!("{old} and {new}, side by side")) { table.sides {
            thead { tr { th { (old) } th { (new) } } }
            tbody { @for (at, row) in rows.iter().enumerate() { @match row {
                Row::Both(line) if near(at) => tr.both { td { (line) } td { (line) } },
                Row::Both(_) if at == 0 || near(at - 1) => tr.both.soft { td { "⋯" } td { "⋯" } },
                Row::Both(_) => {},
                Row::Changed(was, is) => tr { td.minus { del { (was) } } td.plus { ins { (is) } } },
                Row::Gone(line) => tr { td.minus { del { (line) } } td {} },
                Row::New(line) => tr { td {} td.plus { ins { (line) } } },
            } } }
        } }
    }
}
