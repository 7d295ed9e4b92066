//! Writes schedules for other tools: each takes a schedule and gives the text of a file.

pub mod csv; // by how many people use them
pub mod ical;
pub mod msproject;

use std::fmt;

/// Why a schedule cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// The format knows only dates, and the schedule counts from zero.
    Undated,
    /// The format knows five stretches of work on a day, and this calendar, or this person's, has more.
    Hours(String),
    /// The project is not the one that was scheduled, or is wrong in itself.
    Problems(Vec<crate::Problem>),
}

impl fmt::Display for Unwritable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undated => out.write_str("this schedule counts from zero, and the format knows only dates"),
            Self::Hours(calendar) => {
                write!(out, "`{calendar}` works more than five times on one day, and the format knows no more")
            }
            Self::Problems(problems) => match problems.first() {
                Some(problem) => write!(out, "the project cannot be written: {problem}"),
                None => out.write_str("the project cannot be written"),
            },
        }
    }
}

impl std::error::Error for Unwritable {}
