//! What the reader of briefs promises: one table per reader, and properties that hold for any text.

#![allow(clippy::unwrap_used)] // a test may

#[path = "brief/demands.rs"]
mod demands;
#[path = "brief/kit.rs"]
mod kit;
#[path = "brief/money.rs"]
mod money;
#[path = "brief/people.rs"]
mod people;
#[path = "brief/places.rs"]
mod places;
#[path = "brief/prompts.rs"]
mod prompts;
#[path = "brief/properties.rs"]
mod properties;
#[path = "brief/subject.rs"]
mod subject;
#[path = "brief/times.rs"]
mod times;
mod shared;
