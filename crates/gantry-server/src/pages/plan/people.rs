//! What people are asked about a plan, and what they decided.

use gantry_view::people;
use gantry_view::standing::Standing;
use gantry_view::words::said;
use maud::{Markup, html};

use crate::access::{Role, Who};
use crate::api::open_gates;
use crate::app::App;
use crate::pages::gates::gate_form;
use crate::pages::layout::empty;
use crate::pages::parts::{ask_form, text, when};
use crate::pages::wanted::{help_for_all, wanted_form};
use crate::problem::Problem;

pub async fn gates(app: &App, standing: &Standing, who: &Who) -> Result<Markup, Problem> {
    let (life, card) = (&standing.life, &standing.card);
    let (open, action) = (open_gates(app, card, life).await?, format!("/p/{}/do", card.id));
    let entries = gantry_engine::entries(app.store(), &card.id).await?;
    let decided: Vec<_> =
        entries.iter().filter(|entry| matches!(entry.event, gantry_core::event::Event::GateDecided { .. })).collect();
    let asks = people::asks(app.store(), life).await?;
    let wanted = people::wanted(life);
    Ok(html! {
        div #gates data-live {
            @if open.is_empty() && asks.is_empty() && wanted.is_empty() { (empty("Nothing waits for a decision.", html! {})) }
            @for gate in &open { (gate_form(gate, &action, who)) }
            @if open.len() > 1 && who.may(Role::Approver) {
                form.card #several method="post" action=(action) {
                    input type="hidden" name="revision" value=(life.revision());
                    h3 { "Several at once: all of them, or none" }
                    @for gate in &open { p { label.beside { input type="checkbox" name="gate" value=(text(gate, "gate")); " " (text(gate, "title")) } } }
                    div.row { input name="why" aria-label="Why" placeholder="why" required; button.main name="do" value="approve" formnovalidate { "Approve these" } button.bad name="do" value="reject" { "Reject these" } }
                }
            }
            @for (task, asked) in &asks { (ask_form(&asked.to_json(card, life, task), &action, who)) }
            @for one in &wanted { (wanted_form(&card.id, one, &action, who)) }
            (help_for_all(&wanted, &action, who))
            @if !decided.is_empty() { h2 { "Decided" } }
            @for entry in decided.iter().rev() { p { (when(entry.at)) " " (said(&entry.event).line()) } }
        }
    })
}
