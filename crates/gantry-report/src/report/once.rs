//! Each thing is said once: a sentence that stands in an earlier section gives way to a link to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Content, Line, Section, Span, said};

/// A sentence with fewer words may stand in several places.
pub(super) const SENTENCE_WORDS_MIN: usize = 8;

/// The sentences of a line that say enough to be said once. Names of other things are no sentences, however long they are.
pub(super) fn sentences(line: &[Span]) -> Vec<(Range<usize>, String)> {
    let (text, mut names, mut at) = (said(line), Vec::new(), 0);
    for span in line {
        let end = at + span.text().len();
        if matches!(span, Span::Ref { .. }) {
            names.push(at..end);
        }
        at = end;
    }
    let (mut start, mut found) = (0, Vec::new());
    for sentence in text.split_inclusive(['.', '!', '?']) {
        let begin = start + (sentence.len() - sentence.trim_start().len());
        start += sentence.len();
        let end = begin + sentence.trim().len();
        let names_something = names.iter().any(|name| name.start < end && begin < name.end);
        if sentence.split_whitespace().count() >= SENTENCE_WORDS_MIN && !names_something {
            found.push((begin..end, text[begin..end].to_owned()));
        }
    }
    found
}

/// Replaces what an earlier section has said.
pub(super) fn say_once(sections: &mut [Section]) {
    let mut first: BTreeMap<String, (String, String)> = BTreeMap::new();
    for section in sections.iter_mut().filter(|section| !section.quoted) {
        let here = (section.id.clone(), section.title.clone());
        lines_mut(section, Titles::Skipped, &mut |line| {
            let mut gone: Vec<(Range<usize>, (String, String))> = Vec::new();
            for (range, sentence) in sentences(line) {
                let before = first.entry(sentence).or_insert_with(|| here.clone());
                if *before != here {
                    gone.push((range, before.clone()));
                }
            }
            for (range, (id, title)) in gone.into_iter().rev() {
                replace(line, &range, Span::Elsewhere { text: format!("see {title}"), section: id });
            }
        });
    }
}

/// What is not in this report, because it was not asked for, is named without a link.
pub(super) fn link_only_what_is_there(sections: &mut [Section]) {
    let mut there: BTreeSet<String> = BTreeSet::new();
    for block in sections.iter().flat_map(|section| &section.blocks) {
        match &block.content {
            Content::Table(table) => there.extend(table.rows.iter().filter_map(|row| row.id.clone())),
            Content::Cards { cards, .. } => there.extend(cards.iter().filter_map(|card| card.id.clone())),
            _ => {}
        }
    }
    for section in sections {
        lines_mut(section, Titles::Seen, &mut |line| {
            for span in line {
                if let Span::Ref { text, id } = span
                    && !there.contains(id)
                {
                    *span = Span::Text(std::mem::take(text));
                }
            }
        });
    }
}

/// Puts a span where a part of a line was.
fn replace(line: &mut Line, range: &Range<usize>, with: Span) {
    let (mut at, mut made, mut with) = (0, Vec::new(), Some(with));
    for span in std::mem::take(line) {
        let (begin, end) = (at, at + span.text().len());
        at = end;
        if end <= range.start || begin >= range.end {
            made.push(span);
            continue;
        }
        let text = span.text().to_owned();
        if begin < range.start {
            made.push(Span::Text(text[..range.start - begin].to_owned()));
        }
        made.extend(with.take());
        if end > range.end {
            made.push(Span::Text(text[range.end - begin..].to_owned()));
        }
    }
    *line = made;
}

/// Whether what things are called is looked at, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Titles {
    Seen,
    Skipped,
}

fn lines_mut(section: &mut Section, titles: Titles, change: &mut dyn FnMut(&mut Line)) {
    for block in &mut section.blocks {
        match &mut block.content {
            Content::Tiles(_) | Content::Picture { .. } => {}
            Content::Text { lines, .. } => lines.iter_mut().for_each(&mut *change),
            Content::List { items, .. } => items.iter_mut().for_each(&mut *change),
            Content::Table(table) => {
                for row in &mut table.rows {
                    let title = usize::from(row.id.is_some() && titles == Titles::Skipped);
                    row.cells.iter_mut().skip(title).for_each(&mut *change);
                }
            }
            Content::Cards { cards, .. } => {
                for card in cards {
                    if titles == Titles::Seen {
                        change(&mut card.title);
                    }
                    card.text.iter_mut().for_each(&mut *change);
                    card.lines.iter_mut().for_each(|(_, line)| change(line));
                }
            }
            Content::Note { line, .. } => change(line),
        }
    }
}
