//! A text as sentences, each with the heading and label it stands under.

use std::ops::Range;

use rust_decimal::Decimal;

use super::tokens::{Kind, Token, is_hyphen, tokens};
use super::words;
use super::words::among;

/// The most tokens of a sentence. Readers look around in the sentence of a word, so this bounds their work.
const SENTENCE_MAX: usize = 600;

/// The most tokens of a heading.
const HEADING_MAX: usize = 20;

/// One sentence, list item or heading.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    /// Its tokens, without list marks and line ends.
    pub tokens: Range<usize>,
    /// Its bytes.
    pub span: Range<usize>,
    /// Whether it is an item of a list.
    pub item: bool,
    /// Whether it is a heading: a line that names what follows.
    pub heading: bool,
    /// The sentence that is the heading above it.
    pub under: Option<usize>,
    /// How far it is indented.
    indent: usize,
    /// The tokens of its label: the words before a colon at its start.
    pub label: Option<Range<usize>>,
}

/// A text, cut.
pub(super) struct Page<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token<'t>>,
    pub sentences: Vec<Sentence>,
    of: Vec<usize>,
}

/// A number, or a range of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub low: Option<Decimal>,
    pub high: Decimal,
    /// Whether a plus follows: this much or more.
    pub open: bool,
    /// The first token behind it.
    pub next: usize,
}

impl<'t> Page<'t> {
    /// Cuts a text into sentences.
    pub fn new(text: &'t str) -> Self {
        let tokens = tokens(text);
        let mut sentences: Vec<Sentence> = Vec::new();
        let mut start = 0;
        let mut heading = None;
        let mut chapter = None;
        for at in 0..=tokens.len() {
            if at < tokens.len() && at - start < SENTENCE_MAX && !ends(&tokens, at, start) {
                continue;
            }
            let end = if at < tokens.len() && tokens[at].kind != Kind::Break { at + 1 } else { at };
            if let Some(mut sentence) = sentence(&tokens, start..end, heading) {
                // A line that ends with a colon stands under the chapter; a chapter stands under nothing.
                if sentence.heading {
                    heading = Some(sentences.len());
                    sentence.under = chapter.filter(|_| sentence.label.is_some());
                    if sentence.label.is_none() {
                        chapter = heading;
                    }
                }
                sentences.push(sentence);
            }
            start = at + 1;
        }
        nest(&mut sentences);
        let mut of = vec![usize::MAX; tokens.len()];
        for (number, sentence) in sentences.iter().enumerate() {
            of[sentence.tokens.clone()].fill(number);
        }
        Self { text, tokens, sentences, of }
    }

    /// The lower-case text of a token; empty past the end.
    pub fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.lower.as_str())
    }

    /// The lower-case text of the token so many before; empty before the start of the sentence.
    pub fn back(&self, at: usize, by: usize) -> &str {
        match at.checked_sub(by) {
            Some(before)
                if self.sentence_of(before) == self.sentence_of(at.min(self.tokens.len().saturating_sub(1))) =>
            {
                self.word(before)
            }
            _ => "",
        }
    }

    /// Whether the tokens from a place on are these words.
    pub fn says(&self, at: usize, words: &str) -> bool {
        words.split(' ').enumerate().all(|(by, word)| self.word(at + by) == word)
    }

    /// Whether the tokens just before a place are these words.
    pub fn said(&self, at: usize, words: &str) -> bool {
        let count = words.split(' ').count();
        at >= count && self.says(at - count, words)
    }

    /// The number of the sentence a token belongs to.
    pub fn sentence_of(&self, at: usize) -> Option<usize> {
        self.of.get(at).copied().filter(|number| *number != usize::MAX)
    }

    /// The tokens of the sentence around a token.
    pub fn around(&self, at: usize) -> Range<usize> {
        self.sentence_of(at).map_or(at..at, |number| self.sentences[number].tokens.clone())
    }

    /// The bytes of some tokens.
    pub fn span(&self, range: Range<usize>) -> Range<usize> {
        match (self.tokens.get(range.start), self.tokens.get(range.end.wrapping_sub(1))) {
            (Some(first), Some(last)) if range.start < range.end => first.span.start..last.span.end,
            _ => 0..0,
        }
    }

    /// The words of some tokens in lower case, with blanks between them.
    pub fn lower(&self, range: Range<usize>) -> String {
        let words: Vec<&str> = self.tokens[range].iter().map(|token| token.lower.as_str()).collect();
        words.join(" ")
    }

    /// The text of some tokens as written, without emphasis and with single blanks.
    pub fn plain(&self, range: Range<usize>) -> String {
        let mut plain = String::new();
        for token in &self.tokens[range] {
            if token.kind == Kind::Break {
                continue;
            }
            if !token.glued && !plain.is_empty() {
                plain.push(' ');
            }
            plain.push_str(token.text);
        }
        plain
    }

    /// The words of the label and of the heading a token stands under, in lower case.
    pub fn topic(&self, at: usize) -> String {
        let Some(sentence) = self.sentence_of(at).map(|number| &self.sentences[number]) else { return String::new() };
        let label = sentence.label.clone().map(|label| self.lower(label)).unwrap_or_default();
        let above = |number: Option<usize>| {
            number.map(|number| self.lower(self.sentences[number].tokens.clone())).unwrap_or_default()
        };
        let chapter = sentence.under.and_then(|number| self.sentences[number].under);
        format!("{label} {} {}", above(sentence.under), above(chapter))
    }

    /// The whole number or decimal at a place, in digits or in words, and the token behind it.
    pub fn number(&self, at: usize) -> Option<(Decimal, usize)> {
        let token = self.tokens.get(at)?;
        if token.kind == Kind::Number {
            return token.value.map(|value| (value, at + 1));
        }
        let value = words::number(&token.lower)?;
        if value >= 20
            && is_hyphen(self.word(at + 1))
            && let Some(ones) = words::number(self.word(at + 2)).filter(|ones| *ones < 10)
        {
            return Some((Decimal::from(value + ones), at + 3));
        }
        if self.word(at + 1) == "hundred" {
            return Some((Decimal::from(value * 100), at + 2));
        }
        Some((Decimal::from(value), at + 1))
    }

    /// The number or range of numbers at a place: `3`, `3–5`, `3 to 5`, `3~5`, `10–15+`.
    pub fn count(&self, at: usize) -> Option<Count> {
        let (first, mut next) = self.number(at)?;
        let mut count = Count { low: None, high: first, open: false, next };
        let between = self.back(at, 1) == "between" && self.word(next) == "and";
        if (is_hyphen(self.word(next)) || matches!(self.word(next), "to" | "~" | "or") || between)
            && let Some((second, after)) = self.number(next + 1)
            && second > first
        {
            count = Count { low: Some(first), high: second, open: false, next: after };
        }
        next = count.next;
        if self.word(next) == "+" && self.tokens[next].glued {
            count.open = true;
            count.next = next + 1;
        }
        Some(count)
    }
}

/// Whether a sentence ends with this token.
fn ends(tokens: &[Token<'_>], at: usize, start: usize) -> bool {
    let token = &tokens[at];
    let next = tokens.get(at + 1);
    match token.kind {
        Kind::Break => {
            let blank = token.text.matches('\n').count() > 1;
            let starts = next.is_none_or(|next| next.capital() || next.kind != Kind::Word || next.hangul());
            blank
                || starts
                || tokens.get(at.wrapping_sub(1)).is_some_and(|before| matches!(before.text, ":" | "."))
                || tokens.get(start).is_some_and(|first| is_bullet(first) || first.text == "#")
        }
        Kind::Mark if matches!(token.text, "." | "!" | "?" | "。") => {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let short = token.text == "."
                && before.is_some_and(|before| {
                    words::is_abbreviation(&before.lower)
                        || before.kind == Kind::Word
                            && before.text.chars().count() == 1
                            && (!before.glued || tokens[at - 2].text == ".")
                });
            let number = at == start + 1 && before.is_some_and(|before| before.kind == Kind::Number);
            let open =
                next.is_some_and(|next| next.glued || next.kind == Kind::Word && !next.capital() && !next.hangul());
            !(short || number || open)
        }
        _ => false,
    }
}

/// An item with items further in below it is a heading of them.
fn nest(sentences: &mut [Sentence]) {
    let mut heading = None;
    for number in 0..sentences.len() {
        let inner = sentences.get(number + 1).is_some_and(|next| next.item && next.indent > sentences[number].indent);
        let short = sentences[number].tokens.len() <= HEADING_MAX;
        if sentences[number].item && inner && short {
            sentences[number].heading = true;
            heading = Some(number);
        } else if let Some(above) = heading.filter(|above: &usize| sentences[number].indent > sentences[*above].indent)
        {
            if sentences[number].under.is_none_or(|under| under < above) {
                sentences[number].under = Some(above);
            }
        } else {
            heading = None;
        }
    }
}

fn is_bullet(token: &Token<'_>) -> bool {
    among(token.text, "- * • – ▪ ◦ · +")
}

/// Makes a sentence of some tokens; `None` where no word or number is left.
fn sentence(tokens: &[Token<'_>], range: Range<usize>, under: Option<usize>) -> Option<Sentence> {
    let Range { mut start, mut end } = range;
    while start < end && tokens[start].kind == Kind::Break {
        start += 1;
    }
    while start < end && tokens[end - 1].kind == Kind::Break {
        end -= 1;
    }
    let mut item = false;
    let mut hashes = false;
    while start < end {
        let numbered = !item
            && tokens[start].kind == Kind::Number
            && tokens.get(start + 1).is_some_and(|mark| mark.glued && matches!(mark.text, "." | ")"))
            && tokens.get(start + 2).is_some_and(|next| !next.glued);
        if is_bullet(&tokens[start]) && tokens.get(start + 1).is_some_and(|next| !next.glued) {
            start += 1;
        } else if numbered && start + 2 < end {
            start += 2;
        } else if tokens[start].text == "#" {
            hashes = true;
            start += 1;
            continue;
        } else {
            break;
        }
        item = true;
    }
    if !tokens[start..end].iter().any(|token| matches!(token.kind, Kind::Word | Kind::Number)) {
        return None;
    }
    // Only list marks stand between the line end and an item.
    let line = tokens[start.saturating_sub(6)..start].iter().rfind(|token| token.kind == Kind::Break);
    let indent = line.map_or(0, |line| line.text.rsplit('\n').next().map_or(0, str::len));
    let body = &tokens[start..end];
    let colon = body.iter().position(|token| token.text == ":");
    let bare = end == tokens.len() || tokens[end].kind == Kind::Break;
    let only_label = colon.is_some_and(|colon| colon + 1 == body.len());
    let closed = body.last().is_some_and(|last| matches!(last.text, "." | "!" | "?" | "。" | ";" | ","));
    let first_line = start == 0 || tokens[start - 1].kind == Kind::Break || hashes;
    let alone =
        !item && bare && first_line && !closed && body.len() <= HEADING_MAX && colon.is_none() && end < tokens.len();
    let label = colon.filter(|colon| *colon <= 10 && *colon > 0).map(|colon| start..start + colon);
    let heading = hashes || only_label && body.len() <= 16 || alone;
    Some(Sentence {
        tokens: start..end,
        span: tokens[start].span.start..tokens[end - 1].span.end,
        item,
        indent,
        heading,
        under,
        label,
    })
}
