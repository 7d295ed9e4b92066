//! Elements one after the other, each on a line of its own.

use std::fmt::{Display, Write as _};

/// The text so far, and how deep it is.
pub struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    pub fn new() -> Self {
        Self { text: "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n".to_owned(), depth: 0 }
    }

    pub fn text(self) -> String {
        self.text
    }

    fn indent(&mut self) {
        self.text.extend(std::iter::repeat_n(' ', 2 * self.depth));
    }

    pub fn begin(&mut self, name: &str, attributes: &str) {
        self.indent();
        let _ = writeln!(self.text, "<{name}{attributes}>");
        self.depth += 1;
    }

    pub fn end(&mut self, name: &str) {
        self.depth -= 1;
        self.indent();
        let _ = writeln!(self.text, "</{name}>");
    }

    /// An element with others in it.
    pub fn within<T>(&mut self, name: &str, write: impl FnOnce(&mut Self) -> T) -> T {
        self.begin(name, "");
        let result = write(self);
        self.end(name);
        result
    }

    /// An element with a value that needs no escaping: a number, a time, a word of the format.
    pub fn put(&mut self, name: &str, value: impl Display) {
        self.indent();
        let _ = writeln!(self.text, "<{name}>{value}</{name}>");
    }

    pub fn flag(&mut self, name: &str, value: bool) {
        self.put(name, u8::from(value));
    }

    /// An element with text of people in it, cut to so many letters. Letters that XML cannot have are left out.
    pub fn text_of(&mut self, name: &str, value: &str, letters_max: usize) {
        let allowed = |letter: &char| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}');
        let mut escaped = String::with_capacity(value.len());
        for letter in value.replace(['\n', '\t'], " ").chars().filter(allowed).take(letters_max) {
            match letter {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                other => escaped.push(other),
            }
        }
        self.put(name, escaped);
    }
}
