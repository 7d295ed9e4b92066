//! The pipeline notation of `command`: `search(query) -> top10; fetch(top10) -> docs`.
//!
//! A command that is a pipeline becomes capability calls; anything else is an instruction in prose.

/// One call of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The capability to call, such as `search` or `web.fetch`.
    pub name: String,
    /// The arguments as written: names of earlier results or inputs, numbers, quoted texts, `key=value`.
    pub args: Vec<String>,
    /// The name that its result gets.
    pub result: Option<String>,
}

impl Call {
    /// Returns what an argument gives: `depth=3` gives `3`.
    pub fn value_of(arg: &str) -> &str {
        Self::named(arg).map_or(arg, |(_, value)| value).trim()
    }

    /// Splits `key=value`.
    pub fn named(arg: &str) -> Option<(&str, &str)> {
        let (name, value) = arg.split_once('=')?;
        let name = name.trim();
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (plain && !value.starts_with('=')).then_some((name, value))
    }

    /// Tells whether an argument is a value by itself, not a name.
    pub fn is_literal(arg: &str) -> bool {
        let quoted = arg.len() >= 2 && arg.starts_with('\'') && arg.ends_with('\'');
        quoted || serde_json::from_str::<serde::de::IgnoredAny>(arg).is_ok()
    }
}

/// More calls than this in one command are no pipeline that a person wrote.
const CALLS_MAX: usize = 100;

/// Reads a command as a pipeline; none when it is prose.
pub fn parse_pipeline(text: &str) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    for part in split_outside(text, ';')? {
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        calls.push(parse_call(part)?);
        if calls.len() > CALLS_MAX {
            return None;
        }
    }
    (!calls.is_empty()).then_some(calls)
}

fn parse_call(part: &str) -> Option<Call> {
    let (call, result) = match part.rsplit_once("->") {
        Some((call, result)) => (call.trim(), Some(name(result.trim())?)),
        None => (part, None),
    };
    let open = call.find('(')?;
    let inner = call[open + 1..].strip_suffix(')')?;
    let mut args = Vec::new();
    for arg in split_outside(inner, ',')? {
        let arg = arg.trim();
        if !arg.is_empty() {
            args.push(arg.to_owned());
        } else if !inner.trim().is_empty() {
            return None;
        }
    }
    Some(Call { name: name(call[..open].trim())?, args, result })
}

/// A dotted name: `search`, `web.fetch`, `top10`.
fn name(text: &str) -> Option<String> {
    let is_part = |part: &str| {
        part.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    text.split('.').all(is_part).then(|| text.to_owned())
}

/// Splits at a character outside quotes and brackets; none when those are not balanced.
fn split_outside(text: &str, at: char) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0_u32, None);
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if "([{".contains(c) => depth += 1,
            None if ")]}".contains(c) => depth = depth.checked_sub(1)?,
            None if c == at && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + c.len_utf8();
            }
            None => {}
        }
    }
    parts.push(&text[start..]);
    (depth == 0 && quote.is_none()).then_some(parts)
}
