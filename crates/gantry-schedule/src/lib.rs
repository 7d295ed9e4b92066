//! Turns tasks, dependencies, calendars, people and estimates into dates, money and risk that hold.
//!
//! Pure: no clock, no input or output, no hidden randomness. The same input and seed give the same bytes.

pub mod rcpsp;
pub mod read;
