//! What surrounds every page.

use axum::response::Html;
use maud::{DOCTYPE, Markup, html};

use super::CHART_SHEET;
use crate::access::{Known, Role, Who};

/// Where one can go from anywhere.
const NAV: [(&str, &str); 8] = [
    ("/", "Plans"),
    ("/new", "New plan"),
    ("/bulk", "Many plans"),
    ("/chat", "Chat"),
    ("/inbox", "Inbox"),
    ("/templates", "Templates"),
    ("/models", "Models and cost"),
    ("/settings", "Settings"),
];

/// A page.
pub struct Page<'a> {
    title: &'a str,
    here: &'a str,
    events: Option<String>,
    /// Nothing leads elsewhere: whoever sees it may not go there yet.
    alone: bool,
}

impl<'a> Page<'a> {
    /// A page with a title.
    pub fn new(title: &'a str) -> Self {
        Self { title, here: "", events: None, alone: false }
    }

    /// Without the way to other pages.
    pub fn alone(self) -> Self {
        Self { alone: true, ..self }
    }

    /// Where it is among the pages.
    pub fn at(self, here: &'a str) -> Self {
        Self { here, ..self }
    }

    /// The stream of events that keeps it true.
    pub fn watching(self, url: impl Into<String>) -> Self {
        Self { events: Some(url.into()), ..self }
    }

    /// Draws it.
    pub fn draw(self, who: Option<&Who>, body: Markup) -> Html<String> {
        let drawn = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) " · Gantry" }
                    link rel="stylesheet" href="/assets/app.css";
                    link rel="stylesheet" href=(format!("/assets/{CHART_SHEET}"));
                    script type="module" src="/assets/app.js" {}
                }
                body {
                    a.skip href="#main" { "To the content" }
                    header.top {
                        a.brand href="/" { "Gantry" }
                        @if !self.alone { nav aria-label="Pages" {
                            @for (url, name) in NAV {
                                a href=(url) aria-current=[(url == self.here).then_some("page")] { (name) }
                            }
                        } }
                        @if self.events.is_some() { span.small.soft #live role="status" { } }
                        @if let Some(who) = who {
                            span.small.soft { (who.name) " (" (who.role) ")" }
                            @if who.by == Known::Session {
                                form method="post" action="/sign-out" { button { "Sign out" } }
                            }
                        }
                    }
                    main #main data-events=[self.events] { (body) }
                    dialog #help aria-label="Shortcuts" {
                        h2 { "Shortcuts" }
                        p { kbd { "g" } " then " kbd { "p" } " plans, " kbd { "b" } " many plans, " kbd { "c" } " chat, " kbd { "i" } " inbox, " kbd { "t" } " templates, " kbd { "m" } " models, " kbd { "s" } " settings" }
                        p { kbd { "n" } " new plan, " kbd { "/" } " search, " kbd { "?" } " this" }
                        p { "In a graph: " kbd { "+" } " " kbd { "-" } " " kbd { "0" } " and the arrows" }
                        form method="dialog" { button { "Close" } }
                    }
                }
            }
        };
        Html(drawn.into_string())
    }
}

/// What takes a role, for whoever has none that reaches.
pub fn takes(role: Role) -> Markup {
    html! { p.small.soft { "To answer takes the role " b { (role) } "." } }
}

/// A state, as a word with its colour.
pub fn state(name: &str) -> Markup {
    html! { span.state data-state=(name) { (name) } }
}

/// Nothing is there, and what to do about it.
pub fn empty(text: &str, more: Markup) -> Markup {
    html! { div.empty { p { (text) } (more) } }
}
