//! What the search promises: small cases by hand, properties of random ones.

mod cases;
mod facade;
mod library;
mod properties;
mod random;
