//! Values as YAML in block style.
//!
//! A text is written without quotes only when no reader, of YAML 1.1 or 1.2, could take it for
//! anything else. Texts of several lines are `|` blocks when that keeps them exactly.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Plain texts longer than this in a list make the list a block.
const FLOW_CHARS_MAX: usize = 80;

/// Writes a value as a YAML document.
pub(super) fn yaml(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(fields) if !fields.is_empty() => map(fields, 0, &mut text),
        Value::Array(items) if !items.is_empty() => list(items, 0, &mut text),
        other => {
            text.push_str(&inline(other));
            text.push('\n');
        }
    }
    text
}

fn map(fields: &Map<String, Value>, indent: usize, text: &mut String) {
    for (number, (name, value)) in fields.iter().enumerate() {
        // The first field of a list's item stands behind the item's dash.
        if number > 0 || text.is_empty() || text.ends_with('\n') {
            pad(indent, text);
        }
        text.push_str(&key(name, fields));
        text.push(':');
        field(value, indent, text);
    }
}

/// Writes what stands behind `name:`.
fn field(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push('\n');
            map(fields, indent + 2, text);
        }
        Value::Array(items) if !items.is_empty() && !is_short(items) => {
            text.push('\n');
            list(items, indent + 2, text);
        }
        other => scalar(other, indent, text),
    }
}

fn list(items: &[Value], indent: usize, text: &mut String) {
    for item in items {
        pad(indent, text);
        text.push('-');
        match item {
            Value::Object(fields) if !fields.is_empty() => {
                text.push(' ');
                map(fields, indent + 2, text);
            }
            Value::Array(items) if !items.is_empty() && !is_short(items) => {
                text.push('\n');
                list(items, indent + 2, text);
            }
            other => scalar(other, indent, text),
        }
    }
}

/// Writes a value that needs no lines of its own, or a `|` block.
fn scalar(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::String(content) if is_block(content) => block(content, indent, text),
        other => {
            text.push(' ');
            text.push_str(&inline(other));
            text.push('\n');
        }
    }
}

/// Tells whether a list reads best on one line: a few short words.
fn is_short(items: &[Value]) -> bool {
    let words = items.iter().all(|item| match item {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(content) => is_word(content),
        Value::Array(_) | Value::Object(_) => false,
    });
    words && items.iter().map(|item| inline(item).chars().count() + 2).sum::<usize>() <= FLOW_CHARS_MAX
}

/// Tells whether a text is a name rather than a sentence.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./@".contains(letter))
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(&value.to_string()),
        Value::String(content) => quoted_if_needed(content),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", key(name, fields), inline(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Writes a number so that readers of YAML 1.1 see one too: they want `8.0e-6` and `1.0e+16`.
fn number(text: &str) -> String {
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text.to_owned();
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Writes a field's name. The `on` of a route stays bare although YAML 1.1 takes it for `true`:
/// its readers, like those of most tools with such a field, know.
fn key(name: &str, fields: &Map<String, Value>) -> String {
    let is_route = name == "on" && fields.contains_key("to");
    if is_route { name.to_owned() } else { quoted_if_needed(name) }
}

fn quoted_if_needed(content: &str) -> String {
    if is_plain(content) {
        content.to_owned()
    } else if content.contains(['"', '\\']) && !content.contains(['\'', '\n']) && !content.chars().any(must_escape) {
        format!("'{content}'")
    } else {
        quoted(content)
    }
}

/// Tells whether a text may stand without quotes, in a block as well as between brackets.
fn is_plain(content: &str) -> bool {
    let (Some(first), Some(last)) = (content.chars().next(), content.chars().last()) else {
        return false;
    };
    let starts_well = first.is_alphanumeric() || "_/.".contains(first) && content.len() > 1;
    let plain_letters = content
        .chars()
        .all(|letter| letter.is_alphanumeric() || " -_./@+=();'<>!$%^~*&|?".contains(letter) || letter == ':');
    starts_well
        && plain_letters
        && last != ' '
        && last != ':'
        && !content.contains(": ")
        && !content.contains(" #")
        && content.chars().count() <= 1_000
        && !could_be_something_else(content)
}

/// Tells whether a reader could take a text for a number, a truth value, nothing, a time or a
/// document's mark. Rather too often than too seldom.
fn could_be_something_else(content: &str) -> bool {
    const WORDS: [&str; 14] =
        ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", ".nan", "inf", ".inf", "undefined"];
    let unsigned = content.trim_start_matches(['+', '-']);
    let in_base = ["0x", "0o", "0b", "0X", "0O", "0B"].iter().any(|base| unsigned.starts_with(base));
    let number_like = unsigned.starts_with(|letter: char| letter.is_numeric() || letter == '.')
        && unsigned.chars().all(|letter| letter.is_numeric() || "+-._:eETtZ ".contains(letter));
    in_base || number_like || WORDS.iter().any(|word| word.eq_ignore_ascii_case(content)) || content.starts_with("...")
}

/// Writes a text in double quotes. JSON's escapes are YAML's too.
fn quoted(content: &str) -> String {
    let mut text = String::with_capacity(content.len() + 2);
    text.push('"');
    for letter in content.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            other if must_escape(other) => {
                let code = u32::from(other);
                let _ = if code > 0xffff { write!(text, "\\U{code:08X}") } else { write!(text, "\\u{code:04X}") };
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

/// Characters that YAML does not allow bare, that some reader takes for a line break, or that turn
/// the direction of text.
fn must_escape(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Tells whether a `|` block keeps a text exactly.
fn is_block(content: &str) -> bool {
    let lines_are_plain =
        content.split('\n').all(|line| !line.ends_with([' ', '\t']) && !line.chars().any(must_escape));
    content.contains('\n') && !content.starts_with([' ', '\t', '\n']) && !content.trim().is_empty() && lines_are_plain
}

fn block(content: &str, indent: usize, text: &mut String) {
    let body = content.trim_end_matches('\n');
    let breaks = content.len() - body.len();
    text.push_str(match breaks {
        0 => " |-\n",
        1 => " |\n",
        _ => " |+\n",
    });
    for line in body.split('\n') {
        if !line.is_empty() {
            pad(indent + 2, text);
            text.push_str(line);
        }
        text.push('\n');
    }
    for _ in 1..breaks {
        text.push('\n');
    }
}

fn pad(indent: usize, text: &mut String) {
    text.extend(std::iter::repeat_n(' ', indent));
}
