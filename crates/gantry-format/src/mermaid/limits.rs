//! How large a flowchart may be.
//!
//! A chart is text from outside, so each way in which a short text can become a large chart has
//! a bound with a name.

/// The largest text that is read, in bytes.
pub const INPUT_BYTES_MAX: usize = 1024 * 1024;

/// The most nodes that one chart may have.
pub const NODES_MAX: usize = 10_000;

/// The most edges that one chart may have, each edge of `A & B --> C & D` counted by itself.
pub const EDGES_MAX: usize = 50_000;

/// The most text that the ids and labels of all edges may take, in bytes.
///
/// `A & B --> C & D` repeats its ids and its label once per edge, so a long label on a wide
/// product would otherwise need gigabytes.
pub const EDGE_TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How deep subgraphs may be nested.
pub const NESTING_MAX: usize = 32;

/// How many problems are collected before reading stops.
///
/// A problem can cost a scan to the end of the text, so this also keeps broken input linear.
pub const PROBLEMS_MAX: usize = 100;
