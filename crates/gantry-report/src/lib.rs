//! What Gantry shows. Plain data comes in, text comes out; nothing here reads a file, a clock or the
//! surroundings, and the same data always gives the same bytes.

pub mod chart;
mod claims;
pub mod document;
pub mod picture;
pub mod report;

pub(crate) use chart::legible;
pub use chart::thousands;
