//! What every surface shows of a plan: where it stands, what it waits for, when it will be done, what happened, in words
//! and for programs. Computed from events whenever someone looks, and never stored.
//!
//! The command line and the server translate this for their readers; neither computes it again.

pub mod words; // in reading order
pub mod elapsed;
pub mod parts;
pub mod media;
pub mod timeline;
pub mod times;
pub mod next;
pub mod under_way;
pub mod forecast;
pub mod proposal;
pub mod weight;
pub mod standing;
pub mod shortfalls;
pub mod json;
pub mod people;
pub mod tree;
pub mod gate_news;
pub mod beside;
pub mod revision;
pub mod changes;
pub mod compare;
pub mod report;
pub mod takeaway;
pub mod text;

pub use text::{bytes, count, first_line, named, plain, without_empty_name, without_empty_reason};
