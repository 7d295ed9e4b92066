//! How answers are read, as the gateway needs it.

use serde_json::Value;

use crate::answer::{Finish, Repair};
use crate::request::Shape;

/// Rules beyond the schema. Each fault is a sentence with the path.
pub type Rules<'a> = &'a (dyn Fn(&Value) -> Vec<String> + Send + Sync);

/// What was found in an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A value that fits.
    Holds {
        /// The value.
        value: Value,
        /// What had to be done to its notation.
        repairs: Vec<Repair>,
    },
    /// The beginning of a value.
    Cut {
        /// The words so far.
        so_far: String,
    },
    /// Something else.
    Faulty {
        /// What is wrong with it.
        faults: Vec<String>,
    },
}

/// Makes checks, and tells models about faults.
pub trait Checks: Send + Sync {
    /// Prepares the check of a shape; the error says what is wrong with the schema.
    fn check(&self, shape: &Shape) -> Result<Box<dyn Check>, String>;
    /// What is said to the model about its faults.
    fn feedback(&self, faults: &[String]) -> String;
}

/// Reads answers that are to have one shape.
pub trait Check: Send + Sync {
    /// Reads an answer.
    fn read(&self, text: &str, finish: &Finish, rules: Rules<'_>) -> Reading;
}
