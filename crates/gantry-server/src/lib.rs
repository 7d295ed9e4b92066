//! Gantry over HTTP: the API, live streams and the web pages, on one port.
//!
//! This crate translates; it decides nothing. What people say goes through [`Foreman::tell`](foreman), what is shown comes
//! from `gantry-view`. What the machine around it gives (the engine with its runners and secrets, templates, models) comes
//! through one port, [`House`], which whoever wires the program implements.
//!
//! Invariant: nothing is acknowledged before it is on disk; the engine sees to that, and every answer here comes after it.
//! Invariant: a stream has a cursor and no queue: a slow reader costs no memory and misses nothing.
//! Invariant: no page has a script or style in place, and nothing is fetched from another host.

#![allow(clippy::result_large_err)] // a problem is made once a request, and is then answered

mod house; // in reading order
mod problem;
mod limits;
mod foreman;
mod runs;
mod access;
mod app;
mod body;
mod form;
mod documented;
mod shapes;
mod live;
mod api;
mod pages;
mod metrics;
mod telemetry;
mod tls;
mod work;
mod listen;

pub use access::{Access, AccessError, Account, Role, Who};
pub use house::{Doubt, House, Trouble};
pub use limits::Limits;
pub use listen::{Binding, Server, Setup, Stopped};
pub use telemetry::Traces;
pub use tls::{Tls, TlsError};

/// The `OpenAPI` document of everything that the server answers, as JSON.
pub fn openapi() -> serde_json::Value {
    api::described().document()
}
