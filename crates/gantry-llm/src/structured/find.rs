//! Finds values in what a model said: alone, in fences, or among words.

use super::notation::{Broken, Halt, Parsed, value_at};

/// How many values, broken values or fences one text may hold.
pub(super) const PLACES_MAX: usize = 200;

/// How many brackets of one text are tried.
const BRACKETS_MAX: usize = 20_000;

/// Said of a text that holds more than that.
pub(super) const TOO_MANY: &str = "The answer holds too many things that look like values.";

/// How often a text may be read over for things that turn out to be no values.
const PASSES_MAX: usize = 8;

/// Tags around the thoughts of a model.
pub(crate) const THOUGHTS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
];

/// What is left of an answer without its thoughts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// There were no thoughts.
    Everything,
    /// The words after the thoughts.
    After(&'a str),
    /// The answer ends within the thoughts.
    OnlyThoughts,
}

/// Parts an answer from the thoughts before it.
///
/// Some servers swallow the opening tag, so that a closing one alone ends the thoughts too.
pub(super) fn without_thoughts(text: &str) -> Said<'_> {
    let trimmed = text.trim_start();
    for (open, close) in THOUGHTS {
        let opened = trimmed.get(..open.len()).is_some_and(|start| start.eq_ignore_ascii_case(open));
        match (opened, trimmed.find(close)) {
            (_, Some(at)) => return Said::After(&trimmed[at + close.len()..]),
            (true, None) => return Said::OnlyThoughts,
            (false, None) => {}
        }
    }
    Said::Everything
}

/// A fence of Markdown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fence<'a> {
    /// What stands in it.
    pub content: &'a str,
    /// It ends before the text does.
    pub closed: bool,
}

/// The fences of a text, in order, and the words besides them.
pub(super) fn fences(text: &str) -> (Vec<Fence<'_>>, String) {
    let mut fences = Vec::new();
    let mut words = String::new();
    let mut open: Option<(char, usize, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let trimmed = line.trim();
        let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| trimmed.chars().take_while(|letter| *letter == mark).count());
        match open {
            None if length >= 3 && !trimmed[length..].contains('`') => open = mark.map(|mark| (mark, length, end)),
            None => words.push_str(line),
            Some((opening, longest, from)) => {
                if mark == Some(opening) && length >= longest && length == trimmed.len() {
                    fences.push(Fence { content: &text[from..at], closed: true });
                    open = None;
                }
            }
        }
        at = end;
    }
    if let Some((_, _, from)) = open {
        fences.push(Fence { content: &text[from..], closed: false });
    }
    (fences, words)
}

/// What was found among words.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Outermost values, in order.
    pub values: Vec<Parsed>,
    /// Things that began like values, and how they broke.
    pub broken: Vec<Broken>,
    /// The text ends in the middle of a value.
    pub cut: bool,
    /// Looking was given up, and why.
    pub limit: Option<String>,
}

/// Looks for the outermost objects and arrays of a text.
///
/// What is inside of a broken value is not looked at: it is a part of an answer, and would pass for the whole.
pub(super) fn among_words(text: &str) -> Found {
    let mut found = Found::default();
    let mut brackets = 0;
    let mut wasted = 0;
    let mut from = 0;
    while let Some(start) = text[from..].find(['{', '[']).map(|at| from + at) {
        brackets += 1;
        let places = found.values.len() + found.broken.len();
        if places > PLACES_MAX || brackets > BRACKETS_MAX || wasted > PASSES_MAX * text.len() {
            found.limit = Some(TOO_MANY.to_owned());
            return found;
        }
        match value_at(text, start) {
            Ok(parsed) => {
                from = parsed.end;
                found.values.push(parsed);
            }
            Err(Broken { halt: Halt::Limit(limit), .. }) => {
                found.limit = Some(limit);
                return found;
            }
            Err(broken) => {
                wasted += broken.at - start;
                match (&broken.halt, broken.begun) {
                    (Halt::End, true) => {
                        found.cut = true;
                        return found;
                    }
                    (_, true) => {
                        from = closing(text, start).max(broken.at);
                        found.broken.push(broken);
                    }
                    (_, false) => from = start + 1,
                }
            }
        }
    }
    found
}

/// Where the bracket at `start` is closed, going by brackets and double quotes alone; the end of the text if nowhere.
fn closing(text: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}
