//! When everything happens: planned against actual, what is critical, and what would help.

use gantry_report::chart::{Frame, Heading, Sheet};
use gantry_report::picture::{Picture, compared};
use gantry_schedule::TaskKind;
use gantry_view::standing::Standing;
use gantry_view::under_way::planned_of;
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::Query;
use crate::access::{Role, Who};
use crate::api::{computed, scheduled};
use crate::app::App;
use crate::listen::encoded;
use crate::pages::layout::empty;
use crate::pages::parts::{date, due, moment, text};
use crate::problem::Problem;

/// How wide the chart is drawn: for a desk, and for a phone.
const CHART_WIDTHS: [(&str, u32); 2] = [("on-desk", 1_150), ("on-phone", 362)];

pub async fn timeline(app: &App, standing: &Standing, query: &Query, who: &Who) -> Result<Markup, Problem> {
    let (project, schedule) = match computed(app, &standing.life).await {
        Ok(found) => found,
        Err(problem) => return Ok(empty("It has no timeline.", html! { p { (problem.detail) } })),
    };
    if schedule.tasks.is_empty() {
        return Ok(empty("Nothing in it has a date.", html! { p { "Give tasks an " code { "estimate" } "." } }));
    }
    // As it was to happen: the same work, and nothing of it done yet.
    let planned = match planned_of(&standing.life, &standing.timeline) {
        Some(before) => scheduled(before).await.ok().map(|(_, planned)| planned),
        None => None,
    };
    let draw = |width: u32| {
        let frame = Frame {
            id: format!("timeline-{width}"),
            heading: Heading::Hidden,
            sheet: Sheet::OfThePage,
            ..Frame::titled("When everything happens", width)
        };
        match &planned {
            Some(planned) => Some(compared(&schedule, &project, planned, &frame)),
            None => Picture::Gantt.draw(&schedule, &project, &frame),
        }
    };
    let critical: Vec<_> =
        schedule.tasks.iter().filter(|task| task.critical && task.kind != TaskKind::Summary).collect();
    let ways = match &query.ways {
        Some(_) => Some(app.house.ways_back(&standing.card.id).await?),
        None => None,
    };
    let moved = planned.as_ref().map(|planned| planned.finish).filter(|before| *before != schedule.finish);
    Ok(html! {
        div #timeline data-live {
            div.grid {
                div.card.figure { "Done about" b { (moment(schedule.finish)) } @if let Some(before) = moved { span.small.soft { "planned " (moment(before)) } } }
                @if let Some(whole) = schedule.deadlines.iter().find(|one| one.task.is_none()) {
                    div.card.figure { "Due" b { (due(whole.at)) } span class=(if whole.met { "small tone-good" } else { "small tone-bad" }) { @if whole.met { "met" } @else { "missed" } } }
                }
                @if let Some(futures) = &schedule.monte_carlo {
                    div.card.figure { "In 8 of 10 cases by" b { (moment(futures.finish.p80)) } span.small.soft { "in 5 of 10 by " (moment(futures.finish.p50)) } }
                }
            }
            @for (name, width) in CHART_WIDTHS { div class=(format!("wide chart {name}")) tabindex="0" role="region" aria-label="Timeline" { (PreEscaped(draw(width).unwrap_or_default())) } }
            @if !critical.is_empty() {
                h2 { "Critical path" }
                p.soft { "What delays one of these delays the end." }
                ol.path { @for task in critical.iter().take(60) {
                    li { a href=(format!("/p/{}/tasks/{}", standing.card.id, encoded(&task.id))) { (if task.title.is_empty() { &task.id } else { &task.title }) } " " span.small.soft { (moment(task.start)) " – " (moment(task.finish)) } }
                } }
                @if critical.len() > 60 { p.soft { "and " (critical.len() - 60) " more" } }
            }
        }
        (ways_back(standing, ways.as_ref(), who))
        h2 { "More charts" }
        @for (name, title) in CHARTS {
            details.card id=(format!("chart-{name}")) {
                summary { (title) }
                img.chart src=(format!("/api/v1/plans/{}/charts/{name}?width=1100", standing.card.id)) alt=(title) loading="lazy";
            }
        }
    })
}

/// Charts that are drawn when someone opens them.
const CHARTS: [(&str, &str); 5] = [
    ("histogram", "When it may be finished"),
    ("s-curve", "How sure each finish is"),
    ("load", "What everyone has to do"),
    ("cash", "What is due each month"),
    ("tornado", "What moves the finish most"),
];

/// What would bring a late or too dear plan back; looked for when someone asks.
fn ways_back(standing: &Standing, ways: Option<&Value>, who: &Who) -> Markup {
    let plan = &standing.card.id;
    let Some(ways) = ways else {
        return html! { form { button name="ways" value="1" { "What would make it earlier or cheaper?" } } };
    };
    let found = ways["ways"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        h2 #ways { "What would help" }
        @if found.is_empty() { p.soft { "Nothing that was tried would make it earlier or cheaper." } }
        @for (at, way) in found.iter().enumerate() {
            form.card method="post" action=(format!("/p/{plan}/do")) {
                b { (text(way, "what")) } " "
                span.soft { "done " (told_day(&way["finish"])) ", costs " (told_sum(&way["cost"])) }
                @if way["fits"] == Value::Bool(true) { " " span.tone-good { "then everything fits" } }
                input type="hidden" name="way" value=(at + 1);
                @if who.may(Role::Operator) { div.row { input name="why" aria-label="Why" placeholder="why"; button name="do" value="take-way" { "Do it so" } } }
            }
        }
    }
}

/// The day of a moment that is told as text, as other pages write it.
fn told_day(moment: &Value) -> String {
    let told = moment.as_str().map_or_else(|| moment.to_string(), str::to_owned);
    told.get(..10).and_then(|day| day.parse().ok()).map_or(told, date)
}

/// A sum of money that is told as text, in whole units.
fn told_sum(sum: &Value) -> String {
    let told = sum.as_str().map_or_else(|| sum.to_string(), str::to_owned);
    let whole = told.split('.').next().and_then(|whole| whole.parse::<u64>().ok());
    whole.map_or(told, gantry_report::thousands)
}
