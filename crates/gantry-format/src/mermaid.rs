//! Mermaid flowcharts: read them, write them, and turn them into plans and back.
//!
//! [`parse`] reads the flowchart language as people write it (`graph` and `flowchart`, every node
//! shape, every link form, subgraphs) into a plain [`Flowchart`]. It reports all problems at once,
//! each with a byte span and a likely fix. What only concerns looks (`style`, `classDef`, `click`,
//! ...) is kept in [`Flowchart::ignored`], so that nothing is dropped without a trace.
//!
//! [`import`] makes a plan of a flowchart and notes whatever changed its meaning on the way.
//! [`export`] draws a plan. What [`import`] made comes back as the same plan after [`export`].
//!
//! Invariant: reading takes time and memory linear in the input, within the limits of [`limits`],
//! and no input makes it panic.

mod chart; // in reading order
mod export;
mod import;
mod parse;

pub mod limits;

pub use chart::{Direction, EdgeStyle, FlowEdge, FlowNode, Flowchart, Ignored, IgnoredKind, Shape, Span, Subgraph};
pub use export::export;
pub use import::{Imported, Note, NoteKind, import};
pub use parse::{MermaidError, parse};
