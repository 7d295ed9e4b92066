//! What holds for charts: what they show, what they say, and that nothing from outside breaks them.

mod kit;
mod any;
mod drawn;
mod large;
mod pictures;
mod said;
