//! Reads the files that people bring: each takes text and gives a project, or an error that names the line.

pub mod csv; // by how many people use them
pub mod msproject;
pub mod wfcommons;
pub mod psplib;

use std::fmt;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong there and what was expected.
    pub what: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Unreadable {}
