//! What happens before reading: front matter, directives and comments are blanked out.
//!
//! Blanks have as many bytes as what they replace, so every span in the prepared text is also
//! true in the original.

use super::MermaidError;
use super::cursor::is_space;
use crate::mermaid::chart::{Ignored, IgnoredKind, Span};

/// The text with its blanks, and what the blanked parts said.
pub(super) struct Prepared {
    pub(super) text: String,
    pub(super) title: Option<String>,
    pub(super) ignored: Vec<Ignored>,
    pub(super) problems: Vec<MermaidError>,
}

/// Blanks out everything that is not chart.
pub(super) fn prepare(text: &str) -> Prepared {
    let mut prepared =
        Prepared { text: String::with_capacity(text.len()), title: None, ignored: Vec::new(), problems: Vec::new() };
    let body = prepared.front_matter(text);
    blank(&mut prepared.text, &text[..body]);
    prepared.directives_and_comments(text, body);
    prepared
}

impl Prepared {
    /// Reads the front matter and returns where the chart starts.
    fn front_matter(&mut self, text: &str) -> usize {
        let start = text.len() - text.trim_start().trim_start_matches('\u{feff}').len();
        let mut at = start;
        for (number, line) in text[start..].split_inclusive('\n').enumerate() {
            let is_fence = line.trim_end() == "---";
            if number == 0 && !is_fence {
                return 0;
            }
            if number > 0 && is_fence {
                return at + line.len();
            }
            if number > 0 {
                self.front_matter_line(line, at);
            }
            at += line.len();
        }
        if at > start {
            self.problems.push(MermaidError::new(
                start..start + 3,
                "the front matter is never closed",
                "end it with a line of three dashes",
            ));
        }
        at
    }

    fn front_matter_line(&mut self, line: &str, at: usize) {
        if let Some(title) = line.strip_prefix("title:") {
            let title = title.trim().trim_matches(['"', '\'']).trim();
            self.title = Some(title.to_owned()).filter(|title| !title.is_empty());
        } else if !line.trim().is_empty() {
            let ignored_before = self.ignored.last_mut();
            match ignored_before {
                Some(before) if before.span.end == at => before.span.end = at + line.len(),
                _ => self.ignore(IgnoredKind::FrontMatter, at..at + line.len()),
            }
        }
    }

    /// Copies the text from `start`, with blanks for `%%{ }%%` and for lines that start with `%%`.
    fn directives_and_comments(&mut self, text: &str, start: usize) {
        let mut at = start;
        let mut line_is_blank = true;
        // Once one directive is open to the end, all later ones are: looking again would be
        // quadratic.
        let mut may_close = true;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            let skipped = if rest.starts_with("%%{") {
                let close = may_close.then(|| rest.find("}%%")).flatten();
                may_close = close.is_some();
                let length = close.map_or_else(|| line_length(rest), |close| close + 3);
                self.ignore(IgnoredKind::Directive, at..at + length);
                length
            } else if line_is_blank && rest.starts_with("%%") {
                line_length(rest)
            } else {
                line_is_blank = c == '\n' || (line_is_blank && is_space(c));
                self.text.push(c);
                at += c.len_utf8();
                continue;
            };
            blank(&mut self.text, &rest[..skipped]);
            at += skipped;
        }
    }

    fn ignore(&mut self, kind: IgnoredKind, span: Span) {
        self.ignored.push(Ignored { kind, span });
    }
}

fn blank(out: &mut String, replaced: &str) {
    out.extend(std::iter::repeat_n(' ', replaced.len()));
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}
