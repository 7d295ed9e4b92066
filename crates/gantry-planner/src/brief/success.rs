//! What counts as success, where the text says so.

use std::ops::Range;

use super::page::Page;
use super::tokens::Kind;
use super::{Said, people};

/// Reads the stated success criteria.
pub(super) fn read(page: &Page<'_>) -> Vec<Said> {
    let mut all = Vec::new();
    for sentence in &page.sentences {
        let above = sentence
            .under
            .filter(|_| sentence.item)
            .map(|above| page.lower(page.sentences[above].tokens.clone()))
            .unwrap_or_default();
        if is_success(&above) && !sentence.heading {
            all.extend(people::said(page, without_stop(page, sentence.tokens.clone())));
            continue;
        }
        let colon = sentence.tokens.clone().find(|at| page.word(*at) == ":");
        let label = colon
            .map(|colon| page.lower(sentence.tokens.start..colon))
            .filter(|_| colon.is_some_and(|colon| colon - sentence.tokens.start <= 10));
        let begins = label
            .filter(|label| is_success(label))
            .and(colon)
            .map(|colon| colon + 1)
            .or_else(|| told(page, sentence.tokens.clone()));
        if let Some(from) = begins.filter(|from| *from < sentence.tokens.end) {
            // One criterion is not split: its commas are its own.
            let one = (sentence.tokens.start..from).any(|at| page.word(at) == "criterion");
            let body = from..sentence.tokens.end;
            all.extend(if one {
                people::said(page, trimmed(page, body)).into_iter().collect()
            } else {
                split(page, body)
            });
        }
    }
    all
}

fn is_success(words: &str) -> bool {
    [
        "success criteria",
        "success criterion",
        "success metric",
        "acceptance criteria",
        "definition of done",
        "성공 기준",
        "성공 지표",
        "완료 기준",
    ]
    .iter()
    .any(|name| words.starts_with(name))
}

/// `Success is measured by …`, `The success criterion is …`, `Success criteria are …`.
fn told(page: &Page<'_>, sentence: Range<usize>) -> Option<usize> {
    let start = if page.word(sentence.start) == "the" { sentence.start + 1 } else { sentence.start };
    if page.says(start, "success is measured by") || page.says(start, "success means") {
        return Some(start + if page.word(start + 1) == "is" { 4 } else { 2 });
    }
    let named = page.says(start, "success criterion")
        || page.says(start, "success criteria")
        || page.says(start, "success metrics");
    named
        .then(|| {
            (start..sentence.end.min(start + 9))
                .find(|at| matches!(page.word(*at), "is" | "are" | ":"))
                .map(|at| at + 1)
        })
        .flatten()
}

/// Splits criteria at `(1)`, at semicolons, or else at the commas outside brackets.
fn split(page: &Page<'_>, range: Range<usize>) -> Vec<Said> {
    let is_point = |at: usize| {
        page.word(at) == "("
            && page.tokens.get(at + 1).is_some_and(|token| token.kind == Kind::Number)
            && page.word(at + 2) == ")"
    };
    let numbered = range.clone().any(is_point);
    let semicolons = range.clone().any(|at| page.word(at) == ";");
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut start = range.start;
    let mut depth = 0_i32;
    for at in range.start..=range.end {
        let word = if at < range.end { page.word(at) } else { "" };
        let point = numbered && at < range.end && is_point(at);
        match word {
            "(" if !point => depth += 1,
            ")" => depth = (depth - 1).max(0),
            _ => {}
        }
        let comma = !numbered && !semicolons && word == "," && depth == 0;
        if at == range.end || point || !numbered && word == ";" || comma {
            pieces.push(start..at);
            start = if point { at + 3 } else { at + 1 };
        }
    }
    joined(page, pieces).into_iter().filter_map(|piece| people::said(page, trimmed(page, piece))).collect()
}

/// A single word between commas belongs to a list inside a criterion: `with sensitivity, specificity, and agreement`.
fn joined(page: &Page<'_>, pieces: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for piece in pieces {
        let single = trimmed(page, piece.clone()).len() == 1;
        match all.last_mut() {
            Some(last) if single || open => last.end = piece.end,
            _ => all.push(piece),
        }
        open = single;
    }
    all
}

fn trimmed(page: &Page<'_>, range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    while end > start && matches!(page.word(end - 1), "," | "." | ";" | "and") {
        end -= 1;
    }
    while start < end && matches!(page.word(start), "and" | "," | ":") {
        start += 1;
    }
    start..end
}

fn without_stop(page: &Page<'_>, range: Range<usize>) -> Range<usize> {
    let stop = range.end > range.start && matches!(page.word(range.end - 1), "." | ";" | ",");
    range.start..if stop { range.end - 1 } else { range.end }
}
