//! Reads the files that people bring: each takes text and gives a project, or an error that names the line. What of a
//! file has no place in a project is told.

pub mod csv; // by how many people use them
pub mod msproject;
pub mod wfcommons;
pub mod psplib;

use std::fmt;

use crate::project::Project;

/// A project that was read, and what of its file was not.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The project.
    pub project: Project,
    /// What was left out or taken differently, by line.
    pub notes: Vec<Note>,
}

/// Something of a file that was left out or taken differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line on which it stands first, counted from one.
    pub line: usize,
    /// What, and what that means.
    pub what: String,
    /// On how many lines.
    pub times: usize,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.what)?;
        if self.times > 1 { write!(out, " ({} times in all)", self.times) } else { Ok(()) }
    }
}

/// Collects notes; what is the same is one note.
#[derive(Default)]
struct Notes(Vec<Note>);

impl Notes {
    fn add(&mut self, line: usize, what: impl Into<String>) {
        let what = what.into();
        match self.0.iter_mut().find(|note| note.what == what) {
            Some(note) => note.times += 1,
            None => self.0.push(Note { line, what, times: 1 }),
        }
    }

    fn by_line(mut self) -> Vec<Note> {
        self.0.sort_by_key(|note| note.line);
        self.0
    }
}

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
