//! Text from outside, made safe to show and cut to the room there is.

use unicode_width::UnicodeWidthChar;

/// The most characters of a name that a tooltip or a text alternative repeats.
const NAME_CHARS_MAX: usize = 300;

/// The most marks that may pile up on one character.
const MARKS_MAX: usize = 3;

const ELLIPSIS: &str = "…";

/// Widths of the characters from space to tilde in thousandths of the font size, for the sans-serif faces of the style.
const ASCII_WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // space to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
];

/// Fonts differ a little from the table; a label must fit in the wider ones too.
const FONT_SLACK: f64 = 1.05;

/// Returns the text on one line, without characters that are invisible, that XML forbids or that turn the text around them.
pub(super) fn clean(text: &str) -> String {
    let mut cleaned = String::new();
    let (mut chars, mut marks) = (0, 0);
    for c in text.chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        if is_unsafe(c) || (c == ' ' && (cleaned.is_empty() || cleaned.ends_with(' '))) {
            continue;
        }
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        if marks > MARKS_MAX {
            continue;
        }
        if chars == NAME_CHARS_MAX {
            cleaned.push_str(ELLIPSIS);
            break;
        }
        cleaned.push(c);
        chars += 1;
    }
    cleaned.truncate(cleaned.trim_end().len());
    cleaned
}

/// Returns the cleaned text of a unit or a currency, which stands beside every number and so must be short.
pub(super) fn unit(text: &str) -> String {
    const UNIT_CHARS_MAX: usize = 16;
    let cleaned = clean(text);
    if cleaned.chars().count() <= UNIT_CHARS_MAX {
        return cleaned;
    }
    cleaned.chars().take(UNIT_CHARS_MAX - 1).chain(['…']).collect()
}

/// Returns the cleaned text, or other words where nothing visible is left.
pub(super) fn clean_or(text: &str, otherwise: &str) -> String {
    let cleaned = clean(text);
    if cleaned.is_empty() { otherwise.to_owned() } else { cleaned }
}

/// Returns the text without what nobody sees or what turns other letters around; its lines stay.
pub(crate) fn legible(text: &str) -> String {
    text.chars().filter(|&c| c == '\n' || c == '\t' || !is_unsafe(c)).collect()
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
        || (u32::from(c) & 0xfffe) == 0xfffe
}

/// Returns about how wide a text is in pixels.
pub(super) fn width(text: &str, size_px: f64) -> f64 {
    text.chars().map(char_width).sum::<f64>() * size_px * FONT_SLACK
}

/// Returns how wide a character is in parts of the font size.
fn char_width(c: char) -> f64 {
    let ascii = u32::from(c).checked_sub(0x20).and_then(|i| ASCII_WIDTHS.get(i as usize));
    match (ascii, c.width()) {
        (Some(thousandths), _) => f64::from(*thousandths) / 1000.0,
        (None, Some(0)) => 0.0,
        (None, Some(2)) => 1.0,
        (None, _) if c == '…' => 1.0,
        (None, _) => 0.62,
    }
}

/// Returns a cleaned text cut to a width, with an ellipsis where something is missing; empty where not even one letter fits.
pub(super) fn fit(text: &str, size_px: f64, room_px: f64) -> String {
    let text = clean(text);
    if width(&text, size_px) <= room_px {
        return text;
    }
    let room = room_px - width(ELLIPSIS, size_px);
    let mut used = 0.0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        used += char_width(c) * size_px * FONT_SLACK;
        if used > room {
            break;
        }
        end = at + c.len_utf8();
    }
    // What joins to the next character goes with it.
    let kept = text[..end].trim_end_matches(['\u{200d}', ' ', ',', '-']);
    if kept.is_empty() { String::new() } else { format!("{kept}{ELLIPSIS}") }
}

/// Returns a text broken into lines at spaces, the last one cut where it is longer than there is room.
pub(super) fn wrap(text: &str, size_px: f64, room_px: f64, lines_max: usize) -> Vec<String> {
    let text = clean(text);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let full = lines.len() >= lines_max;
        match lines.last_mut() {
            Some(line) if full || width(line, size_px) + width(word, size_px) + 0.3 * size_px <= room_px => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| fit(&line, size_px, room_px)).collect()
}

/// Returns "a, b and 3 more" for a list of names.
pub(super) fn list<Name: AsRef<str>>(names: &[Name], shown_max: usize) -> String {
    let names: Vec<String> = names.iter().map(|name| clean_or(name.as_ref(), "unnamed")).collect();
    let hidden = names.len().saturating_sub(shown_max);
    let mut parts: Vec<String> = names.into_iter().take(shown_max).collect();
    if hidden > 0 {
        parts.push(format!("{hidden} more"));
    }
    match parts.pop() {
        Some(last) if parts.is_empty() => last,
        Some(last) => format!("{} and {last}", parts.join(", ")),
        None => String::new(),
    }
}

/// Returns "1 task" or "1,200 tasks".
pub(super) fn count(number: usize, noun: &str) -> String {
    let noun = match (number, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) if noun.ends_with('x') => format!("{noun}es"),
        (_, None) => format!("{noun}s"),
    };
    format!("{} {noun}", thousands(number as u64))
}

/// Returns the sentences that there are, one after the other.
pub(super) fn sentences(sentences: impl IntoIterator<Item = Option<String>>) -> String {
    sentences.into_iter().flatten().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns a whole number with commas between the thousands.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_the_text_around_it_is_gone() {
        let hostile = "pay\u{202e}gpj\u{2066}.exe\u{0}\u{7}\u{200b}\u{feff}\u{ffff}\r\n\tnow\u{e0041}";
        assert_eq!(clean(hostile), "paygpj.exe now");
    }

    #[test]
    fn marks_do_not_pile_up() {
        assert_eq!(clean(&format!("a{}", "\u{301}".repeat(50))), format!("a{}", "\u{301}".repeat(3)));
    }

    #[test]
    fn a_long_text_ends_in_an_ellipsis_that_fits() {
        let cut = fit("Commission the northern pumping station", 12.0, 120.0);
        assert_eq!(cut, "Commission the n…");
        assert!(width(&cut, 12.0) <= 120.0);
    }

    #[test]
    fn wide_characters_take_the_room_of_wide_characters() {
        assert_eq!(fit("東京都水道局の計画", 12.0, 60.0), "東京都…");
        assert_eq!(fit("東京", 12.0, 10.0), "");
    }

    #[test]
    fn words_break_into_lines_and_the_last_one_is_cut() {
        assert_eq!(wrap("one two three four five six", 10.0, 60.0, 2), ["one two", "three four…"]);
    }

    #[test]
    fn lists_say_how_many_they_leave_out() {
        assert_eq!(list(&["a", "b", "c", "d"], 2), "a, b and 2 more");
        assert_eq!(list(&["a", "b"], 3), "a and b");
        assert_eq!(count(1, "task"), "1 task");
        assert_eq!(count(12_345, "task"), "12,345 tasks");
        assert_eq!([count(0, "box"), count(2, "dependency")], ["0 boxes", "2 dependencies"]);
    }
}
