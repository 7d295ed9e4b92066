//! `gantry serve` over a real socket: every route, live streams, who may do what, and what nobody may.

#![allow(clippy::unwrap_used)] // a test may

#[path = "serve/server.rs"]
mod server;
#[path = "serve/socket.rs"]
mod socket;
#[path = "serve/api.rs"]
mod api;
#[path = "serve/parity.rs"]
mod parity;
#[path = "serve/chat.rs"]
mod chat;
#[path = "serve/trees.rs"]
mod trees;
#[path = "serve/bulk.rs"]
mod bulk;
#[path = "serve/judging.rs"]
mod judging;
#[path = "serve/contract.rs"]
mod contract;
#[path = "serve/live.rs"]
mod live;
#[path = "serve/access.rs"]
mod access;
#[path = "serve/tls.rs"]
mod tls;
#[path = "serve/hostile.rs"]
mod hostile;
#[path = "serve/telemetry.rs"]
mod telemetry;
#[path = "serve/pages.rs"]
mod pages;
#[path = "serve/forms.rs"]
mod forms;
#[path = "serve/work.rs"]
mod work;
