//! Pieces that several pages show.

use gantry_core::time::Timestamp;
use gantry_schedule::Moment;
use gantry_view::elapsed::clock;
use maud::{Markup, html};
use serde_json::Value;

use super::layout::takes;
use crate::access::{Role, Who};

/// A text of a value.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The texts of a list of a value.
pub fn texts<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    value[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A point in time, short; the whole of it is there for whoever points at it.
pub fn when(at: Timestamp) -> Markup {
    let Ok(instant) = jiff::Timestamp::from_millisecond(at.as_ms()) else { return html! {} };
    let short = instant.strftime("%-d %b %H:%M").to_string();
    html! { time.when datetime=(clock(at)) title=(clock(at)) { (short) } }
}

/// A moment of a schedule as people read it: with its hour only where it has one.
pub fn moment(at: Moment) -> String {
    match at {
        Moment::Date(instant, offset) => {
            let civil = offset.to_datetime(instant);
            let is_day = civil.hour() == 0 && civil.minute() == 0 && civil.second() == 0;
            civil.strftime(if is_day { "%-d %b %Y" } else { "%-d %b %Y %H:%M" }).to_string()
        }
        Moment::Count(count) => count.to_string(),
    }
}

/// When something is due: the day, with an hour only where it has one.
pub fn due(at: Moment) -> String {
    let told = moment(at);
    if told.contains(':') { told } else { at.last_date().map_or(told, date) }
}

/// A date.
pub fn date(at: jiff::civil::Date) -> String {
    at.strftime("%-d %b %Y").to_string()
}

/// A day.
pub fn day(at: Timestamp) -> String {
    let instant = jiff::Timestamp::from_millisecond(at.as_ms());
    instant.map(|instant| instant.strftime("%-d %b %Y").to_string()).unwrap_or_default()
}

/// A point in time that is told as text.
pub fn when_told(value: &Value, key: &str) -> Markup {
    let told = text(value, key);
    match told.parse::<jiff::Timestamp>() {
        Ok(at) => when(Timestamp::from_ms(at.as_millisecond())),
        Err(_) => html! { (told) },
    }
}

/// A question with the ways to answer it.
pub fn ask_form(ask: &Value, action: &str, who: &Who) -> Markup {
    let task = text(ask, "task");
    let options = texts(ask, "options");
    html! {
        form.card id=(format!("ask-{}-{task}", text(ask, "plan"))) method="post" action=(action) {
            input type="hidden" name="plan" value=(text(ask, "plan"));
            input type="hidden" name="task" value=(task);
            input type="hidden" name="do" value="answer";
            p { b { (text(ask, "question")) } " " span.small.soft { (task) } }
            @if let Some(preview) = ask["preview"].as_str() { pre { (preview) } }
            @if !who.may(Role::Approver) { (takes(Role::Approver)) }
            @else if options.is_empty() {
                @let field = format!("answer-{}-{task}", text(ask, "plan"));
                label for=(field) { "Answer" }
                input id=(field) name="answer" required size="40";
                div.row { button.main { "Answer" } }
            } @else {
                @for choice in ask["choices"].as_array().into_iter().flatten().filter(|choice| has_more(choice)) {
                    p.small {
                        b { (text(choice, "name")) }
                        @for pro in texts(choice, "pros") { " + " (pro) } @for con in texts(choice, "cons") { " − " (con) }
                        @if !choice["cost_usd"].is_null() { " costs $" (choice["cost_usd"]) }
                    }
                }
                div.row { @for option in options { button name="answer" value=(option) { (option) } } }
            }
        }
    }
}

/// Tells whether a choice says more than its name.
fn has_more(choice: &Value) -> bool {
    !texts(choice, "pros").is_empty() || !texts(choice, "cons").is_empty() || !choice["cost_usd"].is_null()
}

/// Values by their names.
pub fn values(all: &Value, nothing: &str) -> Markup {
    let all = all.as_object().filter(|all| !all.is_empty());
    html! {
        @match all {
            None => p.soft { (nothing) },
            Some(all) => dl.values { @for (key, one) in all { div { dt { (key) } dd { (value(one)) } } } },
        }
    }
}

/// A value of a task, for reading.
pub fn value(value: &Value) -> Markup {
    match value {
        Value::String(text) if text.lines().count() > 1 || text.len() > 120 => html! { pre { (text) } },
        Value::String(text) => html! { (text) },
        Value::Object(_) | Value::Array(_) => html! { pre { (format!("{value:#}")) } },
        other => html! { code { (other) } },
    }
}
