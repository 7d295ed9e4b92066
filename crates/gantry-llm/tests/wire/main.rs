//! What goes over the wire, and what comes back, over real sockets.

#![allow(missing_docs, clippy::unwrap_used)] // a test may

mod kit;
mod bodies;
mod following;
mod replies;
mod shapes;
mod trouble;
