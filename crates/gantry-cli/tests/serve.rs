//! `gantry serve` over a real socket: every route, live streams, who may do what, and what nobody may.

#![allow(clippy::unwrap_used)] // a test may

#[path = "serve/server.rs"]
mod server;
#[path = "serve/api.rs"]
mod api;
#[path = "serve/live.rs"]
mod live;
#[path = "serve/access.rs"]
mod access;
#[path = "serve/tls.rs"]
mod tls;
#[path = "serve/hostile.rs"]
mod hostile;
#[path = "serve/pages.rs"]
mod pages;
