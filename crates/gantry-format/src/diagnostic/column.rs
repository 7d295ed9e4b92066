//! Findings about an expression point into it: at the column that they name.

use super::Diagnostic;
use crate::node::Span;

/// Moves a finding from the beginning of an expression to the column that its message names, if the expression stands in
/// the file as it is: without escapes and in one line.
pub(super) fn point(finding: Diagnostic, source: &str) -> Diagnostic {
    let pointed = || {
        let span = finding.span?;
        let (column, message) = column_in(&finding.message)?;
        let written = source.get(span.start..span.end)?;
        let quote = written.chars().next().filter(|first| matches!(first, '"' | '\''));
        let escapes = written.contains(['\\', '\n', '\r']) || quote == Some('\'') && written.contains("\'\'");
        if escapes {
            return None;
        }
        let inner = written.get(usize::from(quote.is_some())..)?;
        let (at, letter) = inner.char_indices().nth(column.checked_sub(1)?).unwrap_or((inner.len(), ' '));
        let start = span.start + usize::from(quote.is_some()) + at;
        Some((Span { start, end: start + letter.len_utf8() }, message))
    };
    match pointed() {
        Some((span, message)) => Diagnostic { span: Some(span), message, ..finding },
        None => finding,
    }
}

/// The column that a message names, and the message without it.
fn column_in(message: &str) -> Option<(usize, String)> {
    const NAMED: &str = "column ";
    let at = message.find(NAMED).filter(|at| *at == 0 || message[..*at].ends_with(": "))?;
    let (number, rest) = message[at + NAMED.len()..].split_once(": ")?;
    Some((number.parse().ok()?, format!("{}{rest}", &message[..at])))
}
