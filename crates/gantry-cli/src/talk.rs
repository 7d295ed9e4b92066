//! Talk: what is said to people on standard error.
//!
//! Invariant: nobody has to listen. What cannot be said is dropped, and everything else goes on as before.

use std::fmt;
use std::io::Write;

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

/// Says a line on standard error, like `eprintln!`, but never panics.
macro_rules! talk {
    ($($said:tt)*) => { $crate::talk::line(format_args!($($said)*)) };
}
pub(crate) use talk;
