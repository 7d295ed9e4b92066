//! The web pages: drawn here, brought up to date by a little script, whole without it.

pub mod graph; // in reading order
mod layout;
mod lists;
mod new;
mod bulk;
mod chat;
mod plan;
mod parts;
mod gates;
mod wanted;
mod compare;
mod house;
mod act;
mod changes;
mod docs;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde_json::Value;

use crate::access::Who;
use crate::app::App;
use crate::problem::Problem;
use layout::Page;

/// Files of pages, in the program.
const ASSETS: [(&str, &str, &str); 6] = [
    ("app.css", "text/css; charset=utf-8", include_str!("../assets/app.css")),
    ("app.js", "text/javascript; charset=utf-8", include_str!("../assets/app.js")),
    ("live.js", "text/javascript; charset=utf-8", include_str!("../assets/live.js")),
    ("morph.js", "text/javascript; charset=utf-8", include_str!("../assets/morph.js")),
    ("chat.js", "text/javascript; charset=utf-8", include_str!("../assets/chat.js")),
    ("graph.js", "text/javascript; charset=utf-8", include_str!("../assets/graph.js")),
];

/// The style of charts, which comes with them.
pub const CHART_SHEET: &str = "chart.css";

/// All pages.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/", get(lists::plans))
        .route("/inbox", get(lists::inbox).post(act::in_inbox))
        .route("/new", get(new::form).post(new::create))
        .route("/bulk", get(bulk::all).post(bulk::begin))
        .route("/bulk/beside", get(bulk::beside))
        .route("/bulk/{run}", get(bulk::run).post(bulk::act))
        .route("/chat", get(chat::show).post(chat::say))
        .route("/p/{plan}", get(plan::overview))
        .route("/p/{plan}/{tab}", get(plan::tab))
        .route("/p/{plan}/tasks/{task}", get(plan::task))
        .route("/p/{plan}/do", post(act::on_plan))
        .route("/templates", get(house::all_templates))
        .route("/templates/{name}", get(house::template).post(act::on_template))
        .route("/compare", get(compare::compare))
        .route("/models", get(house::models))
        .route("/settings", get(house::settings).post(act::in_settings))
        .route("/sign-in", get(house::sign_in).post(act::sign_in))
        .route("/sign-out", post(act::sign_out))
        .route("/docs", get(docs::docs))
        .route("/assets/{name}", get(asset))
        .route("/favicon.ico", get(icon))
}

async fn asset(Path(name): Path<String>) -> Response {
    if name == CHART_SHEET {
        let sheet = gantry_report::chart::style(gantry_report::chart::Theme::Follow);
        return ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], sheet)
            .into_response();
    }
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, media, text)) => {
            ([(header::CONTENT_TYPE, *media), (header::CACHE_CONTROL, "no-cache")], *text).into_response()
        }
        None => Problem::missing("server::no-asset", "there is no such file").into_response(),
    }
}

async fn icon() -> Response {
    let svg = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1f5fbf"/><path d="M3 5h6M5 8h7M4 11h5" stroke="#fff" stroke-width="2"/></svg>"##;
    ([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response()
}

/// A problem, for people.
pub fn problem_page(problem: &Problem, who: Option<&Who>) -> Response {
    let body = html! {
        h1 { (problem.title) }
        (problem_card(problem))
        p { a href="/" { "All plans" } " · " a href="/docs" { "What the server can do" } }
    };
    (problem.status(), Page::new(&problem.title).draw(who, body)).into_response()
}

/// What is wrong, all of it, and what helps.
fn problem_card(problem: &Problem) -> Markup {
    let errors = problem.errors.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    html! {
        div.card.problem role="alert" {
            p { (problem.detail) }
            // A hint that sends programs to the list of errors is of no use beside the list.
            @if errors.is_empty() { @if let Some(hint) = &problem.hint { p.soft { "What helps: " (hint) } } }
            @else { ul { @for error in errors { li {
                @if let Some(line) = error["line"].as_u64() { "line " (line) ": " }
                (parts::text(error, "message"))
                @if let Some(hint) = error["hint"].as_str() { " " span.soft { "(" (hint) ")" } }
            } } } }
            p.small.soft { "code " code { (problem.code) } }
        }
    }
}

/// What is shown while a request is carried out that takes long.
pub fn work_page(who: &Who) -> Response {
    let body = html! {
        h1 { "It is being done" }
        p role="status" { "This takes a while. The page goes on by itself as soon as it is done; it is done also when you leave." }
    };
    (StatusCode::ACCEPTED, Page::new("It is being done").draw(Some(who), body)).into_response()
}

/// What a page gives: itself, or a problem as a page.
pub struct Shown(pub Result<Response, Problem>);

/// A problem that is to be drawn as a page by whoever knows who looks at it.
#[derive(Clone)]
struct ToDraw(Problem);

impl axum::response::IntoResponse for Shown {
    fn into_response(self) -> Response {
        self.0.unwrap_or_else(|problem| {
            let mut response = problem.status().into_response();
            response.extensions_mut().insert(ToDraw(problem));
            response
        })
    }
}

/// An answer with its problem drawn for someone, if it has one that is for people.
pub fn drawn(mut response: Response, who: Option<&Who>) -> Response {
    match response.extensions_mut().remove::<ToDraw>() {
        Some(ToDraw(problem)) => problem_page(&problem, who),
        None => response,
    }
}
