//! A line while it is typed: the words, the place of the cursor, and what was said before.

use unicode_width::UnicodeWidthChar as _;

/// How an end of a line is drawn that is part of the words.
const BREAK: char = '↵';

/// What is typed.
#[derive(Default)]
pub struct Line {
    letters: Vec<char>,
    /// Before which letter the cursor stands.
    at: usize,
    /// What was said before, the oldest first.
    said: Vec<String>,
    /// Which of it is shown; none shows what is new.
    shown: Option<usize>,
    /// What is new, while something older is shown.
    new: Vec<char>,
}

/// Where the cursor goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Left,
    Right,
    WordLeft,
    WordRight,
    Begin,
    End,
}

/// A line as it stands on a terminal.
#[derive(Debug, PartialEq, Eq)]
pub struct Drawn {
    /// What stands in each row.
    pub rows: Vec<String>,
    /// The row and the column of the cursor.
    pub cursor: (usize, usize),
}

impl Line {
    /// An empty line after all of this.
    pub fn after(said: Vec<String>) -> Self {
        Self { said, ..Self::default() }
    }

    /// What is typed so far.
    pub fn words(&self) -> String {
        self.letters.iter().collect()
    }

    /// Tells whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Types something. What cannot be seen is left out, but for ends of lines.
    pub fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        let letters: Vec<char> = text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect();
        let count = letters.len();
        self.letters.splice(self.at..self.at, letters);
        self.at += count;
    }

    /// Moves the cursor.
    pub fn go(&mut self, to: To) {
        self.at = self.place(to);
    }

    /// Deletes from the cursor to there.
    pub fn delete(&mut self, to: To) {
        let other = self.place(to);
        let (from, to) = (self.at.min(other), self.at.max(other));
        self.letters.drain(from..to);
        self.at = from;
    }

    /// Deletes everything.
    pub fn clear(&mut self) {
        (self.letters, self.at, self.shown) = (Vec::new(), 0, None);
    }

    /// Takes what is typed; it belongs to what was said then.
    pub fn take(&mut self) -> String {
        let words = self.words();
        if !words.trim().is_empty() && self.said.last() != Some(&words) {
            self.said.push(words.clone());
        }
        self.clear();
        words
    }

    /// Shows what was said before this.
    pub fn older(&mut self) {
        let older = self.shown.unwrap_or(self.said.len()).checked_sub(1);
        if let Some(older) = older {
            if self.shown.is_none() {
                self.new = std::mem::take(&mut self.letters);
            }
            self.show(Some(older));
        }
    }

    /// Shows what was said after this, and at last what is new.
    pub fn newer(&mut self) {
        if let Some(shown) = self.shown {
            self.show(Some(shown + 1).filter(|next| *next < self.said.len()));
        }
    }

    fn show(&mut self, which: Option<usize>) {
        self.letters = match which {
            Some(which) => self.said[which].chars().collect(),
            None => std::mem::take(&mut self.new),
        };
        (self.shown, self.at) = (which, self.letters.len());
    }

    fn place(&self, to: To) -> usize {
        let is_word = |at: usize| self.letters.get(at).is_some_and(|letter| letter.is_alphanumeric());
        let mut at = self.at;
        match to {
            To::Left => at.saturating_sub(1),
            To::Right => (at + 1).min(self.letters.len()),
            To::Begin => 0,
            To::End => self.letters.len(),
            To::WordLeft => {
                while at > 0 && !is_word(at - 1) {
                    at -= 1;
                }
                while at > 0 && is_word(at - 1) {
                    at -= 1;
                }
                at
            }
            To::WordRight => {
                while at < self.letters.len() && !is_word(at) {
                    at += 1;
                }
                while is_word(at) {
                    at += 1;
                }
                at
            }
        }
    }

    /// How it stands behind a prompt on a terminal of so many columns. Wide letters take two of them.
    pub fn drawn(&self, prompt: &str, columns: usize) -> Drawn {
        let columns = columns.max(4);
        let (mut rows, mut column, mut cursor) = (vec![String::new()], 0, None);
        let begin = prompt.chars().count();
        for (at, letter) in prompt.chars().chain(self.letters.iter().copied()).enumerate() {
            let letter = if letter == '\n' { BREAK } else { letter };
            let width = letter.width().unwrap_or(0);
            if column + width > columns {
                rows.push(String::new());
                column = 0;
            }
            if at == begin + self.at {
                cursor = Some((rows.len() - 1, column));
            }
            if let Some(row) = rows.last_mut() {
                row.push(letter);
            }
            column += width;
        }
        if column >= columns {
            rows.push(String::new());
            column = 0;
        }
        let end = (rows.len() - 1, column);
        Drawn { rows, cursor: cursor.unwrap_or(end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Line {
        let mut line = Line::default();
        line.insert(text);
        line
    }

    #[test]
    fn words_are_typed_deleted_and_gone_through() {
        let mut line = typed("list plans");
        line.go(To::WordLeft);
        line.insert("my ");
        assert_eq!(line.words(), "list my plans");
        line.delete(To::WordLeft);
        line.delete(To::End);
        assert_eq!(line.words(), "list ");
        line.go(To::Begin);
        line.delete(To::Right);
        line.delete(To::Left);
        assert_eq!(line.words(), "ist ");
        line.go(To::WordRight);
        line.insert("s");
        assert_eq!(line.words(), "ists ");
    }

    #[test]
    fn what_was_said_comes_back_and_what_is_new_is_not_lost() {
        let mut line = Line::after(vec!["one".to_owned()]);
        line.insert("two");
        assert_eq!(line.take(), "two");
        line.insert("thr");
        line.older();
        line.older();
        line.older();
        assert_eq!(line.words(), "one");
        line.newer();
        assert_eq!(line.words(), "two");
        line.newer();
        line.newer();
        assert_eq!(line.words(), "thr", "what was begun is there again");
        line.clear();
        line.insert("  ");
        assert_eq!(line.take(), "  ");
        line.older();
        assert_eq!(line.words(), "two", "nothing was said by that");
    }

    #[test]
    fn ends_of_lines_stay_and_what_cannot_be_seen_goes() {
        assert_eq!(typed("a\r\nb\tc\u{1b}[31md\u{7}\r").words(), "a\nb    c[31md\n");
    }

    #[test]
    fn a_line_is_broken_where_the_terminal_ends_and_wide_letters_are_not_cut() {
        let rows = |text: &str, columns| {
            let drawn = typed(text).drawn("> ", columns);
            (drawn.rows.join("|"), drawn.cursor)
        };
        assert_eq!(rows("abc", 10), ("> abc".to_owned(), (0, 5)));
        assert_eq!(rows("abcdefgh", 10), ("> abcdefgh|".to_owned(), (1, 0)), "the cursor has a place of its own");
        assert_eq!(rows("계획을만들어", 9), ("> 계획을|만들어".to_owned(), (1, 6)));
        assert_eq!(rows("a\nb", 10), ("> a↵b".to_owned(), (0, 5)));
        let mut line = typed("계획");
        line.go(To::Left);
        assert_eq!(line.drawn("> ", 10).cursor, (0, 4));
    }
}
