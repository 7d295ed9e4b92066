//! How a plan stands, at a glance: what it is for, what it comes to, who is asked for what, what happened lately.

use gantry_view::people;
use gantry_view::proposal::Proposal;
use gantry_view::standing::Standing;
use gantry_view::timeline::notes;
use gantry_view::words::{Weight, said};
use maud::{Markup, html};

use super::{task_url, tone};
use crate::access::{Role, Who};
use crate::api::open_gates;
use crate::app::App;
use crate::pages::gates::gate_form;
use crate::pages::parts::{ask_form, date, day, text, when};
use crate::pages::wanted::{help_for_all, wanted_form};
use crate::problem::Problem;

pub async fn overview(app: &App, standing: &Standing, who: &Who) -> Result<Markup, Problem> {
    let (life, card) = (&standing.life, &standing.card);
    let counts = life.counts();
    let recent: Vec<_> = gantry_engine::entries_after(app.store(), &card.id, card.length.saturating_sub(60)).await?;
    let asks = people::asks(app.store(), life).await?;
    let gates = open_gates(app, card, life).await?;
    let wanted = people::wanted(life);
    let action = format!("/p/{}/do", card.id);
    let proposal = Proposal::of(life);
    // What one person does has no price here.
    let priced = proposal.as_ref().filter(|proposal| proposal.cost.is_some_and(|cost| cost > 0));
    let money = |amount: u64| {
        format!("{} {}", gantry_report::thousands(amount), proposal.as_ref().map_or("", |proposal| &proposal.currency))
    };
    Ok(html! {
        div #overview data-live {
            @if !life.header().objective.is_empty() { p { (life.header().objective) } }
            @for note in notes(&standing.timeline) { p.tone-waits { (note) } }
            @for cause in life.causes() { div.card.problem { "Why it failed: " (cause) } }
            @if let Some(proposal) = proposal.as_ref().filter(|proposal| !proposal.gaps.is_empty()) {
                div.card.problem {
                    b { "What does not fit" } ul { @for gap in &proposal.gaps { li { (gap) } } }
                    @if !proposal.options.is_empty() { b { "What would help" } ul { @for option in &proposal.options { li { (option) } } } }
                }
            }
            div.grid {
                @if let Some(forecast) = &standing.forecast {
                    div.card.figure { "Forecast" b { (day(forecast.expected())) } span.small.soft {
                        @if let Some(p80) = forecast.p80 { "8 of 10 by " (day(p80)) }
                        @if let Some(due) = forecast.due { @if forecast.p80.is_some() { ", " } "due " (date(due)) }
                        @if forecast.late_by().is_some() { " " span.tone-bad { "late" } }
                    } }
                }
                @if let Some((proposal, p50)) = priced.and_then(|proposal| Some((proposal, proposal.cost_p50?))) {
                    div.card.figure { "Cost, as planned" b { (money(p50)) } span.small.soft {
                        @if let Some(p80) = proposal.cost_p80 { "8 of 10 within " (money(p80)) }
                        @if let Some(budget) = proposal.budget { ", budget " (money(budget)) @if budget < p50 { " " span.tone-bad { "over" } } }
                    } }
                }
                div.card.figure { "Spent" b { "$" (card.card.used.cost_usd) } span.small.soft { @if let Some(max) = card.card.budget.cost_usd { "of $" (max) ", " } (card.card.used.model_calls) " model calls, " (card.card.used.tokens) " tokens" } }
                div.card.figure { "Tasks" b { (counts.values().sum::<u32>()) } div.row.counts { @for (name, count) in &counts { span.state data-state=(name) { (count) " " (name) } } } }
            }
            div.split { div {
            @if !gates.is_empty() || !asks.is_empty() || !wanted.is_empty() { h2 { "Waits for people" } }
            @for gate in &gates { (gate_form(gate, &action, who)) }
            @for (task, asked) in &asks { (ask_form(&asked.to_json(card, life, task), &action, who)) }
            @for one in &wanted { (wanted_form(&card.id, one, &action, who)) }
            (help_for_all(&wanted, &action, who))
            @let others: Vec<_> = life.waits().filter(|wait| wait.task.as_ref().is_none_or(|task| !gates.iter().any(|gate| text(gate, "gate") == task.as_str()) && !asks.iter().any(|(asked, _)| asked == task)) && !wanted.iter().any(|one| one.task == wait.task)).collect();
            @if !others.is_empty() { h2 { "Waits for" } }
            @for wait in others.iter().take(20) { p { @if let Some(task) = &wait.task { a href=(task_url(standing, task)) { (task) } ": " } (wait.what) } }
            @if gates.is_empty() && asks.is_empty() && wanted.is_empty() && others.is_empty() { h2 { "Waits for" } p.soft { "Nobody and nothing." } }
            } div {
            h2 { "Lately" }
            @let news: Vec<_> = recent.iter().rev().filter(|entry| said(&entry.event).weight == Weight::News).take(12).collect();
            @if news.is_empty() { p.soft { "Nothing has happened yet." } }
            ul.lately { @for entry in news { li { (when(entry.at)) " " span class=(tone(said(&entry.event).tone)) { (said(&entry.event).line()) } } } }
            } }
        }
        @if who.may(Role::Operator) { form.card.row method="post" action=(action) {
            label.beside for="note" { "Note" } input #note name="text" size="40" required; button name="do" value="note" { "Write it down" }
        } }
    })
}
