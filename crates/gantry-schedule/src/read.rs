//! Readers of the files people bring. Each takes text and gives a model or an error that names the line.

pub mod psplib;
