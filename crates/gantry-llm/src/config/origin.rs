//! Where a value came from.

use std::fmt;

use serde::{Serialize, Serializer};

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// It lies in the folder that is worked in, or above; somebody else may have written it.
    Project,
    /// It lies in the configuration folder of the user.
    User,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    BuiltIn,
    /// A place in a file.
    File {
        /// Whose file.
        whose: Whose,
        /// Its name.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// A variable of the environment.
    Variable(String),
    /// An option of the command, such as `--profile`.
    Flag(String),
    /// A server that answered on this machine.
    Found(String),
    /// The request itself.
    Request,
}

impl Origin {
    /// Tells whether somebody said so.
    pub fn is_said(&self) -> bool {
        *self != Self::BuiltIn
    }

    /// The place for an error message: like the text, with the column.
    pub fn place(&self) -> String {
        match self {
            Self::File { file, line, column, .. } => format!("{file}:{line}:{column}"),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File { file, line, .. } => write!(f, "{file}:{line}"),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
            Self::Found(address) => write!(f, "found at {address}"),
            Self::Request => f.write_str("the request"),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A value, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// A value from somewhere.
    pub fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    /// A value that nobody has set.
    pub fn built_in(value: T) -> Self {
        Self::new(value, Origin::BuiltIn)
    }
}
