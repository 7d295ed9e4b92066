//! Words, numbers and marks of a text, and the sentences they make.
//!
//! Markdown emphasis is skipped here, once, so that no reader ever sees it: `**9 GW**` and `9 GW` are the same tokens.
//! Numbers are read here, once: `1,200`, `1.000.000`, `200 000` and `12.7` are one token with an exact value.

use std::ops::Range;

use rust_decimal::Decimal;

/// The most groups of digits in a number; 28 digits are all that an exact value holds.
const GROUPS_MAX: usize = 12;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters of one script.
    Word,
    /// Digits, with their grouping and decimals.
    Number,
    /// One other character.
    Mark,
    /// The end of one or more lines.
    Break,
}

/// One word, number, mark or line end.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// The text in lower case, with a straight apostrophe.
    pub lower: String,
    /// The value of a number; `None` for all else and for numbers past 28 digits.
    pub value: Option<Decimal>,
    pub span: Range<usize>,
    /// Whether nothing stands between this token and the one before it.
    pub glued: bool,
}

impl Token<'_> {
    /// Whether the word begins with a capital letter.
    pub fn capital(&self) -> bool {
        self.kind == Kind::Word && self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// Whether the word is written in Hangul.
    pub fn hangul(&self) -> bool {
        self.kind == Kind::Word && self.text.chars().next().is_some_and(is_hangul)
    }
}

/// Returns whether a letter is Hangul.
pub(super) fn is_hangul(letter: char) -> bool {
    matches!(letter, '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7A3}')
}

/// Returns whether a mark joins two numbers to a range, or a number to its unit.
pub(super) fn is_hyphen(text: &str) -> bool {
    matches!(text, "-" | "–" | "‐" | "‑" | "−")
}

/// Cuts a text into tokens.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut all: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    let mut glued = false;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let line_start = all.last().is_none_or(|token| token.kind == Kind::Break);
        let (kind, length, value) = if all.is_empty() && first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first == '\n' || first == '\r' {
            (Kind::Break, rest.len() - rest.trim_start().len(), None)
        } else if first.is_whitespace() || is_invisible(first) {
            at += first.len_utf8();
            glued = false;
            continue;
        } else if is_emphasis(text, at, first, line_start) {
            at += first.len_utf8();
            continue;
        } else if let Some((length, value)) = number(text, at) {
            (Kind::Number, length, value)
        } else if first.is_alphabetic() {
            (Kind::Word, word(rest), None)
        } else if let Some(length) = possessive(rest) {
            (Kind::Word, length, None)
        } else {
            (Kind::Mark, first.len_utf8(), None)
        };
        let span = at..at + length;
        let piece = &text[span.clone()];
        let lower = piece.to_lowercase().replace('’', "'");
        all.push(Token { kind, text: piece, lower, value, span, glued });
        at += length;
        glued = kind != Kind::Break;
    }
    // Line ends around a text end nothing.
    while all.last().is_some_and(|token| token.kind == Kind::Break) {
        all.pop();
    }
    all
}

fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200B}'..='\u{200D}' | '\u{FEFF}' | '\u{2060}')
}

/// Emphasis is `*`, `_` or a backtick, but not a star that begins a list item and not the `_` inside a name.
fn is_emphasis(text: &str, at: usize, mark: char, line_start: bool) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + mark.len_utf8()..].chars().next();
    match mark {
        '*' => !(line_start && after.is_some_and(char::is_whitespace)),
        '_' => !(before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)),
        '`' => true,
        _ => false,
    }
}

/// The length of the word at the start: letters of one script, with inner apostrophes, but without a possessive ending.
fn word(rest: &str) -> usize {
    let hangul = rest.chars().next().is_some_and(is_hangul);
    let mut length = 0;
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        let inner = matches!(letter, '\'' | '’' | '_')
            && letters.peek().is_some_and(|next| next.is_alphabetic())
            && possessive(&rest[length..]).is_none();
        let mark = letter.len_utf8() > 1 && !letter.is_alphanumeric() && ('\u{300}'..='\u{36F}').contains(&letter);
        if !(letter.is_alphabetic() && is_hangul(letter) == hangul || inner || mark) {
            break;
        }
        length += letter.len_utf8();
    }
    length
}

/// The length of `'s` where a word ends with it.
fn possessive(rest: &str) -> Option<usize> {
    let mut letters = rest.chars();
    let mark = letters.next().filter(|mark| matches!(mark, '\'' | '’'))?;
    letters.next().filter(|letter| *letter == 's')?;
    letters.next().is_none_or(|next| !next.is_alphanumeric()).then_some(mark.len_utf8() + 1)
}

/// The length and value of the number at a place.
///
/// A comma or dot with groups of three digits behind it groups (`1,200`, `1.000.000`), once with a dot it is a decimal
/// point (`1.250`), which readers that know the currency may see otherwise. What fits no form (`12.3.2027`) is read as its
/// first run of digits.
fn number(text: &str, at: usize) -> Option<(usize, Option<Decimal>)> {
    let rest = &text[at..];
    let before = text[..at].chars().next_back();
    let leading_point = rest.starts_with('.')
        && rest[1..].starts_with(|digit: char| digit.is_ascii_digit())
        && before.is_none_or(|mark| mark.is_whitespace() || mark == '(');
    if !leading_point && !rest.starts_with(|digit: char| digit.is_ascii_digit()) {
        return None;
    }
    let after_point = before == Some('.') && text[..at - 1].ends_with(|digit: char| digit.is_ascii_digit());
    if after_point {
        let length = digits(rest);
        return Some((length, rest[..length].parse().ok()));
    }
    let whole = if leading_point { 0 } else { digits(rest) };
    let mut length = whole;
    let mut plain = if leading_point { "0".to_owned() } else { rest[..whole].to_owned() };
    let mut groups: Vec<(char, &str)> = Vec::new();
    while let Some(mark) = rest[length..].chars().next().filter(|mark| ".,' ’\u{A0}\u{2009}\u{202F}".contains(*mark))
    {
        let run = &rest[length + mark.len_utf8()..];
        let run = &run[..digits(run)];
        let groups_only = !matches!(mark, '.' | ',');
        let is_group = whole <= 3 && run.len() == 3 && groups.iter().all(|(other, _)| *other == mark);
        if run.is_empty() || groups_only && !is_group || groups.len() >= GROUPS_MAX {
            break;
        }
        groups.push((mark, run));
        length += mark.len_utf8() + run.len();
    }
    // A plain space groups only where the number then looks like one: `200 000`, `1 250 000`, not `level 2 350`.
    if let [(' ', run)] = groups[..]
        && !run.ends_with("00")
    {
        groups.clear();
        length = whole;
    }
    let grouped = |part: &[(char, &str)]| {
        part.iter().all(|(mark, run)| *mark == part[0].0 && run.len() == 3) && (1..=3).contains(&whole)
    };
    match groups.as_slice() {
        [] => {}
        [('.', run)] => plain = format!("{plain}.{run}"),
        [(',', run)] if run.len() != 3 || whole > 3 => plain = format!("{plain}.{run}"),
        all if grouped(all) => plain.extend(all.iter().map(|(_, run)| *run)),
        [init @ .., (mark, run)] if grouped(init) && *mark != init[0].0 && matches!(mark, '.' | ',') => {
            plain.extend(init.iter().map(|(_, run)| *run));
            plain = format!("{plain}.{run}");
        }
        _ => length = whole.max(1),
    }
    Some((length, plain.parse().ok()))
}

fn digits(rest: &str) -> usize {
    rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len())
}
