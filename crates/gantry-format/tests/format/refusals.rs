//! Every refusal, as a person sees it.

mod syntax; // in the order in which a file is read
mod fields;
mod graph;
mod actions;
