//! Talk: what is said to people on standard error.
//!
//! Invariant: nobody has to listen. What cannot be said is dropped, and everything else goes on as before.

use std::fmt;
use std::io::{BufRead as _, Write};

use crate::exit::Fault;

/// Says a line, in the colours that standard error can show.
pub fn line(text: fmt::Arguments<'_>) {
    let mut error = anstream::stderr().lock();
    let _ = writeln!(error, "{text}");
}

/// Says the beginning of a line, such as a question.
pub fn part(text: fmt::Arguments<'_>) {
    let mut error = anstream::stderr().lock();
    let _ = write!(error, "{text}").and_then(|()| error.flush());
}

/// Asks whoever sits at the terminal; anything but yes is no.
pub fn confirmed(question: &str) -> Result<bool, Fault> {
    part(format_args!("{question} [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| Fault::internal(format!("standard input cannot be read: {error}")))?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Says a line on standard error, like `eprintln!`, but never panics.
macro_rules! talk {
    ($($said:tt)*) => { $crate::talk::line(format_args!($($said)*)) };
}
pub(crate) use talk;
