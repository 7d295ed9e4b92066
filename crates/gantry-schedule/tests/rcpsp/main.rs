//! What the search promises: small cases by hand, properties of random ones.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cases;
mod facade;
mod library;
mod properties;
mod random;
