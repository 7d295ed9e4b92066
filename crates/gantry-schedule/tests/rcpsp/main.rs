//! What the search promises: small cases by hand, properties of random ones.

mod cases;
mod properties;
mod random;
