//! Findings as text, the way compilers show them.
//!
//! Only the lines that a finding is about are handed to the renderer, and long lines are cut
//! around the place, so the cost and the size of the output depend on the findings, not the file.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, Report, Severity};
use crate::node::Span;

/// A line longer than this many bytes is cut around the place that is shown.
const LINE_BYTES_MAX: usize = 2_000;

/// What is kept of a cut line on each side of the place, in characters.
const CUT_CHARS: usize = 100;

/// Places further apart than this many lines are shown as separate pieces.
const JOINED_LINES_MAX: usize = 200;

/// How many findings are written out; the rest are counted.
const SHOWN_MAX: usize = 50;

/// The width that lines are fitted to.
const WIDTH: usize = 120;

pub(super) fn render(report: &Report, colour: bool) -> String {
    let renderer = if colour { Renderer::styled().hyperlink(false) } else { Renderer::plain() }.term_width(WIDTH);
    let mut text = String::new();
    for diagnostic in report.diagnostics.iter().take(SHOWN_MAX) {
        text.push_str(&finding(report, diagnostic, &renderer));
        text.push_str("\n\n");
    }
    let unseen = report.diagnostics.len().saturating_sub(SHOWN_MAX) + report.omitted;
    if unseen > 0 {
        let _ = write!(text, "… and {unseen} more");
    }
    text.truncate(text.trim_end().len());
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// A piece of a line, or several whole lines, with the places in it.
struct Piece {
    text: String,
    line: usize,
    marks: Vec<Mark>,
    /// The column the renderer will compute from the cut text, and the true one.
    columns: Option<(usize, usize)>,
}

/// A place inside a piece.
struct Mark {
    kind: AnnotationKind,
    span: Span,
    label: String,
}

fn finding(report: &Report, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let file = printable(&report.file);
    let mut group = Group::with_title(level.primary_title(printable(&diagnostic.message)).id(diagnostic.code));
    let pieces = pieces(report, diagnostic);
    if pieces.is_empty() {
        group = group.element(Origin::path(file.clone()));
    }
    for piece in &pieces {
        let marks = piece.marks.iter().map(|mark| {
            let label = (!mark.label.is_empty()).then(|| printable(&mark.label));
            mark.kind.span(mark.span.range()).label(label)
        });
        group = group
            .element(Snippet::source(piece.text.as_str()).path(file.clone()).line_start(piece.line).annotations(marks));
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(printable(hint)));
    }
    let mut text = renderer.render(&[group]);
    for piece in pieces {
        if let Some((shown, true_column)) = piece.columns {
            let line = piece.line;
            text = text.replacen(&format!("{file}:{line}:{shown}\n"), &format!("{file}:{line}:{true_column}\n"), 1);
        }
    }
    text
}

/// Cuts what has to be shown out of the source, the main place first.
fn pieces(report: &Report, diagnostic: &Diagnostic) -> Vec<Piece> {
    let main = diagnostic.span.map(|span| (AnnotationKind::Primary, span, diagnostic.label.clone()));
    let others = diagnostic.others.iter().map(|(span, label)| (AnnotationKind::Context, *span, label.clone()));
    let places: Vec<_> = main.into_iter().chain(others).collect();
    let lines = places.iter().map(|(_, span, _)| report.position(span.start).line);
    let (Some(first), Some(last)) = (lines.clone().min(), lines.max()) else {
        return Vec::new();
    };
    let short =
        last - first < JOINED_LINES_MAX && (first..=last).all(|line| report.line(line).1.len() <= LINE_BYTES_MAX);
    if short {
        return vec![joined(report, places, first, last)];
    }
    places.into_iter().map(|(kind, span, label)| alone(report, kind, span, label)).collect()
}

/// Makes one piece of whole lines.
fn joined(report: &Report, places: Vec<(AnnotationKind, Span, String)>, first: usize, last: usize) -> Piece {
    let (start, _) = report.line(first);
    let (last_start, last_text) = report.line(last);
    let marks = places.into_iter().map(|(kind, span, label)| {
        let span = within_line(report, span);
        Mark { kind, span: Span::new(span.start - start, span.end - start), label }
    });
    Piece {
        text: report.source[start..last_start + last_text.len()].to_owned(),
        line: first,
        marks: marks.collect(),
        columns: None,
    }
}

/// Makes a piece of one line, cut around the place when it is long.
fn alone(report: &Report, kind: AnnotationKind, span: Span, label: String) -> Piece {
    let position = report.position(span.start);
    let (line_start, line) = report.line(position.line);
    let span = within_line(report, span);
    let (start, end) = (span.start - line_start, span.end - line_start);
    if line.len() <= LINE_BYTES_MAX {
        return Piece {
            text: line.to_owned(),
            line: position.line,
            marks: vec![Mark { kind, span: Span::new(start, end), label }],
            columns: None,
        };
    }
    let from = line[..start].char_indices().rev().nth(CUT_CHARS - 1).map_or(0, |(offset, _)| offset);
    let to = line[start..].char_indices().nth(CUT_CHARS).map_or(line.len(), |(offset, _)| start + offset);
    let before = if from > 0 { "…" } else { "" };
    let after = if to < line.len() { "…" } else { "" };
    let shift = |offset: usize| offset.min(to) - from + before.len();
    let text = format!("{before}{}{after}", &line[from..to]);
    let shown = text[..shift(start)].chars().count() + 1;
    Piece {
        line: position.line,
        marks: vec![Mark { kind, span: Span::new(shift(start), shift(end)), label }],
        columns: Some((shown, position.column)),
        text,
    }
}

/// Ends a span with its line: what spans several lines is shown by its first one.
fn within_line(report: &Report, span: Span) -> Span {
    let start = report.character_start(span.start);
    let line = report.position(start).line;
    let (line_start, text) = report.line(line);
    let line_end = line_start + text.len();
    let end = report.character_start(span.end).min(line_end);
    Span::new(start.min(line_end), end)
}

/// Replaces control characters, and the marks that turn the direction of text, by visible ones.
fn printable(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or(char::REPLACEMENT_CHARACTER),
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
            other => other,
        })
        .collect()
}
