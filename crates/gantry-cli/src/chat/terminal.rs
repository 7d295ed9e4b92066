//! Reads lines from a terminal, as people type them: with a cursor, what was said before, and text that is pasted.

use std::io::Write as _;

use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use ratatui::crossterm::{execute, terminal};
use rustix::termios::{self, InputModes, LocalModes, OptionalActions, Termios};

use super::line::{Line, To};
use crate::exit::Fault;

/// The columns of a terminal that does not tell.
const COLUMNS: usize = 80;

/// What came of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something was typed.
    Words(String),
    /// Whoever types wants to stop what is going on (Ctrl-C).
    Stop,
    /// Whoever types is done (Ctrl-D).
    End,
}

/// A terminal that is talked on. What is typed while an answer is made is kept for the next line, and not shown; Ctrl-C is
/// heard. The terminal is put right again when this is dropped.
pub struct Terminal {
    before: Termios,
}

impl Terminal {
    /// Takes the terminal.
    pub fn take() -> Result<Self, Fault> {
        let before = termios::tcgetattr(std::io::stdin()).map_err(|error| broken(error.into()))?;
        let mut quiet = before.clone();
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        quiet.input_modes -= InputModes::ICRNL;
        let terminal = Self { before };
        termios::tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet).map_err(|error| broken(error.into()))?;
        execute!(std::io::stderr(), EnableBracketedPaste).map_err(broken)?;
        Ok(terminal)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that is gone cannot be put right.
        let _ = execute!(std::io::stderr(), DisableBracketedPaste);
        let _ = termios::tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// The terminal in the mode in which keys are heard one by one.
struct Keys;

impl Keys {
    fn heard() -> Result<Self, Fault> {
        terminal::enable_raw_mode().map(|()| Self).map_err(broken)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = terminal::disable_raw_mode(); // one that is gone cannot be put right
    }
}

fn broken(error: std::io::Error) -> Fault {
    Fault::internal(format!("the terminal cannot be used: {error}"))
}

/// Waits for a line.
pub fn line(prompt: &str, line: &mut Line) -> Result<Heard, Fault> {
    let _keys = Keys::heard()?;
    let mut above = 0;
    loop {
        above = draw(prompt, line, above).map_err(broken)?;
        let heard = match event::read().map_err(broken)? {
            Event::Paste(text) => {
                line.insert(&text);
                None
            }
            Event::Key(key) if key.kind != KeyEventKind::Release => pressed(key, line).map_err(broken)?,
            _ => None,
        };
        if let Some(heard) = heard {
            let end = line.drawn(prompt, columns()).rows.len() - 1;
            let down = end.saturating_sub(above);
            write!(std::io::stderr(), "{}\r\n", "\n".repeat(down)).map_err(broken)?;
            if let Heard::Words(_) = heard {
                return Ok(Heard::Words(line.take()));
            }
            line.clear();
            return Ok(heard);
        }
    }
}

/// What a key does to the line, and what comes of it.
fn pressed(key: KeyEvent, line: &mut Line) -> std::io::Result<Option<Heard>> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    match key.code {
        KeyCode::Enter if alt => line.insert("\n"),
        KeyCode::Enter => return Ok(Some(Heard::Words(String::new()))),
        KeyCode::Char('j' | 'm') if control => return Ok(Some(Heard::Words(String::new()))),
        KeyCode::Char('c') if control => return Ok(Some(Heard::Stop)),
        KeyCode::Char('d') if control && line.is_empty() => return Ok(Some(Heard::End)),
        KeyCode::Char('d') if control => line.delete(To::Right),
        KeyCode::Char('a') if control => line.go(To::Begin),
        KeyCode::Char('e') if control => line.go(To::End),
        KeyCode::Char('b') if control => line.go(To::Left),
        KeyCode::Char('f') if control => line.go(To::Right),
        KeyCode::Char('b') if alt => line.go(To::WordLeft),
        KeyCode::Char('f') if alt => line.go(To::WordRight),
        KeyCode::Char('h') if control => line.delete(To::Left),
        KeyCode::Char('w') if control => line.delete(To::WordLeft),
        KeyCode::Char('u') if control => line.delete(To::Begin),
        KeyCode::Char('k') if control => line.delete(To::End),
        KeyCode::Char('p') if control => line.older(),
        KeyCode::Char('n') if control => line.newer(),
        KeyCode::Char('l') if control => {
            execute!(
                std::io::stderr(),
                terminal::Clear(terminal::ClearType::All),
                ratatui::crossterm::cursor::MoveTo(0, 0)
            )?;
        }
        KeyCode::Char(letter) if !control => line.insert(letter.encode_utf8(&mut [0; 4])),
        KeyCode::Backspace if alt || control => line.delete(To::WordLeft),
        KeyCode::Backspace => line.delete(To::Left),
        KeyCode::Delete => line.delete(To::Right),
        KeyCode::Left if control || alt => line.go(To::WordLeft),
        KeyCode::Right if control || alt => line.go(To::WordRight),
        KeyCode::Left => line.go(To::Left),
        KeyCode::Right => line.go(To::Right),
        KeyCode::Home => line.go(To::Begin),
        KeyCode::End => line.go(To::End),
        KeyCode::Up => line.older(),
        KeyCode::Down => line.newer(),
        _ => {}
    }
    Ok(None)
}

fn columns() -> usize {
    terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0).unwrap_or(COLUMNS)
}

/// Draws the line over what was drawn before, whose first row is so many rows above the cursor; returns the same for this.
fn draw(prompt: &str, line: &Line, above: usize) -> std::io::Result<usize> {
    use std::fmt::Write as _;
    let drawn = line.drawn(prompt, columns());
    let (row, column) = drawn.cursor;
    let mut text = String::from("\r");
    let up = |text: &mut String, rows: usize| {
        if rows > 0 {
            let _ = write!(text, "\u{1b}[{rows}A");
        }
    };
    up(&mut text, above);
    text.push_str("\u{1b}[J");
    text.push_str(&drawn.rows.join("\r\n"));
    up(&mut text, drawn.rows.len() - 1 - row);
    text.push('\r');
    if column > 0 {
        let _ = write!(text, "\u{1b}[{column}C");
    }
    let mut error = std::io::stderr().lock();
    error.write_all(text.as_bytes())?;
    error.flush()?;
    Ok(row)
}
