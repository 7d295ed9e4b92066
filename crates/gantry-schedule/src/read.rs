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

/// More notes than this tell nobody more.
const NOTES_MAX: usize = 100;

/// Collects notes; what is the same is one note.
#[derive(Default)]
struct Notes {
    notes: Vec<Note>,
    /// How many there are beyond the most that are told.
    more: usize,
}

impl Notes {
    /// Takes down a note. The line is only asked for when the note is new, as it may have to be counted.
    fn add(&mut self, line: impl FnOnce() -> usize, what: impl Into<String>) {
        let what = what.into();
        let full = self.notes.len() == NOTES_MAX;
        match self.notes.iter_mut().find(|note| note.what == what) {
            Some(note) => note.times += 1,
            None if full => self.more += 1,
            None => self.notes.push(Note { line: line(), what, times: 1 }),
        }
    }

    fn by_line(mut self) -> Vec<Note> {
        self.notes.sort_by_key(|note| note.line);
        if let Some(last) = self.notes.last().filter(|_| self.more > 0) {
            let what = format!("and {} more of the kind", self.more);
            self.notes.push(Note { line: last.line, what, times: 1 });
        }
        self.notes
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
