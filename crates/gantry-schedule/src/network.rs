//! The network: what may start when, how late it may be, and what that leaves.
//!
//! Tasks are nodes in an order in which every node comes after all it waits for. Each node has a duration in seconds of
//! work on its own timeline; each tie says how one node holds back another. Everything here is linear in nodes and ties
//! (drag sorts the ties once).

mod build; // in reading order
mod pass;
mod float;
mod path;
mod drag;

pub(crate) use build::{Network, Node, Role, Tie};
pub(crate) use drag::drag;
pub(crate) use float::{Float, floats};
pub(crate) use pass::{Deadlines, Times, backward, bound, bounds, forward, occupied_from, place, place_node};
pub(crate) use path::{drives, driving_paths};
