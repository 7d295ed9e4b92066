//! The deterministic simulator of Gantry.
//!
//! One seed is one run: a random valid plan ([`plans`]), a world full of faults that drives it
//! ([`world`]), and checkers that know nothing of the code that they check ([`checks`]). The same
//! seed always gives the same run, so a failing seed is a test.

pub mod checks;
pub mod dice; // in reading order
pub mod plans;
pub mod run;
pub mod violation;
pub mod world;
