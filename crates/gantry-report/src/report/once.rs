//! Each thing is said once: a sentence that stands in an earlier section gives way to a link to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Block, Content, Line, Report, Section, Span, said};

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

/// Where a line stands: that decides what becomes of what was said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A paragraph or an item of a list: what was said gives way.
    Text,
    /// A cell, or a line of a card: what is looked up there must not be empty, so it gives way only beside other words.
    Cell,
    /// Something to be seen before the rest: it says what it says.
    Note,
}

/// What of a line gives way, where these sentences were said before.
pub(super) fn giving_way(place: Place, line: &[Span], was_said: &mut dyn FnMut(&str) -> bool) -> Vec<Range<usize>> {
    let gone: Vec<Range<usize>> = sentences(line)
        .into_iter()
        .filter_map(|(range, sentence)| (place != Place::Note && was_said(&sentence)).then_some(range))
        .collect();
    if place == Place::Cell && !has_more(&said(line), &gone) { Vec::new() } else { gone }
}

/// Tells whether a text has words outside these parts of it.
fn has_more(text: &str, parts: &[Range<usize>]) -> bool {
    let is_word =
        |(at, letter): (usize, char)| letter.is_alphanumeric() && !parts.iter().any(|part| part.contains(&at));
    text.char_indices().any(is_word)
}

/// Replaces what an earlier section has said.
pub(super) fn say_once(sections: &mut [Section]) {
    let mut first: BTreeMap<String, (String, String)> = BTreeMap::new();
    for section in sections.iter_mut().filter(|section| !section.quoted) {
        let here = (section.id.clone(), section.title.clone());
        lines_mut(section, Titles::Skipped, &mut |place, line| {
            let mut others: Vec<(String, String)> = Vec::new();
            let gone = giving_way(place, line, &mut |sentence| {
                let before = first.entry(sentence.to_owned()).or_insert_with(|| here.clone());
                let elsewhere = *before != here;
                if elsewhere && !others.contains(before) {
                    others.push(before.clone());
                }
                elsewhere
            });
            if gone.is_empty() {
                return;
            }
            for range in gone.iter().rev() {
                cut(line, range);
            }
            trim(line);
            // However much gave way, one link to each section is enough.
            for (id, title) in others {
                line.push(Span::Text(" ".to_owned()));
                line.push(Span::Elsewhere { text: format!("see {title}"), section: id });
            }
            if matches!(line.first(), Some(Span::Text(text)) if text == " ") {
                line.remove(0);
            }
        });
        let mut listed = BTreeSet::new();
        section.blocks.iter_mut().for_each(|block| point_once(block, &mut listed));
        section.blocks.retain(|block| !matches!(&block.content, Content::List { items, .. } if items.is_empty()));
        let is_pointer = |block: &Block| matches!(&block.content, Content::Text { lines, .. } if lines.iter().all(|line| points(line)));
        // A paragraph that only points elsewhere says nothing; the section must not become empty.
        if section.blocks.iter().any(|block| !is_pointer(block)) {
            section.blocks.retain(|block| !is_pointer(block));
        }
    }
}

/// Tells whether a line only says where something else was said.
fn points(line: &[Span]) -> bool {
    let is_pointer = |span: &Span| matches!(span, Span::Elsewhere { .. }) || span.text().trim().is_empty();
    line.iter().all(is_pointer) && line.iter().any(|span| matches!(span, Span::Elsewhere { .. }))
}

/// Items of a list that only point elsewhere become one; what a list of this section has said is gone.
fn point_once(block: &mut Block, listed: &mut BTreeSet<String>) {
    let Content::List { items, chain: false, .. } = &mut block.content else { return };
    let mut others: Vec<Span> = Vec::new();
    items.retain(|item| {
        if points(item) {
            others.extend(item.iter().filter(|span| matches!(span, Span::Elsewhere { .. })).cloned());
            return false;
        }
        sentences(item).is_empty() || listed.insert(said(item))
    });
    let mut last = Line::new();
    for span in others {
        if let Span::Elsewhere { text, section } = span
            && !last.iter().any(|span| matches!(span, Span::Elsewhere { section: known, .. } if *known == section))
        {
            let before = match (last.is_empty(), items.is_empty()) {
                (false, _) => ", ",
                (true, false) => "and what else stands in ",
                (true, true) => "see ",
            };
            let title = text.strip_prefix("see ").unwrap_or(&text).to_owned();
            last.extend([Span::Text(before.to_owned()), Span::Elsewhere { text: title, section }]);
        }
    }
    if !last.is_empty() {
        items.push(last);
    }
}

/// Takes away what is left around sentences that are gone.
fn trim(line: &mut Line) {
    line.retain(|span| !span.text().is_empty());
    for at in 1..line.len() {
        let before_ends = line[at - 1].text().ends_with(' ');
        if let Span::Text(text) = &mut line[at]
            && before_ends
        {
            *text = text.trim_start().to_owned();
        }
    }
    if let Some(Span::Text(text)) = line.last_mut() {
        text.truncate(text.trim_end().len());
    }
    line.retain(|span| !span.text().is_empty());
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
        lines_mut(section, Titles::Seen, &mut |_, line| {
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

/// Takes a part of a line away.
fn cut(line: &mut Line, range: &Range<usize>) {
    let (mut at, mut made) = (0, Vec::new());
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
        if end > range.end {
            made.push(Span::Text(text[range.end - begin..].to_owned()));
        }
    }
    *line = made;
}

/// Shows every line with its section and place; what the plan is, in a line, has no section and comes first.
pub(super) fn placed(report: &Report, see: &mut dyn FnMut(Option<&Section>, Place, &Line)) {
    see(None, Place::Note, &report.about);
    for section in &report.sections {
        let mut see = |place, line: &Line| see(Some(section), place, line);
        for block in &section.blocks {
            match &block.content {
                Content::Tiles(tiles) => {
                    for tile in tiles {
                        see(Place::Note, &tile.value);
                        tile.notes.iter().for_each(|note| see(Place::Note, note));
                    }
                }
                Content::Text { lines, .. } => lines.iter().for_each(|line| see(Place::Text, line)),
                Content::List { items, .. } => items.iter().for_each(|line| see(Place::Text, line)),
                Content::Table(table) => {
                    table.rows.iter().flat_map(|row| &row.cells).for_each(|cell| see(Place::Cell, cell));
                }
                Content::Cards { cards, .. } => {
                    for card in cards {
                        see(Place::Cell, &card.title);
                        card.text.iter().for_each(|text| see(Place::Cell, text));
                        card.lines.iter().for_each(|(_, line)| see(Place::Cell, line));
                    }
                }
                Content::Note { line, .. } => see(Place::Note, line),
                Content::Picture { .. } => {}
            }
        }
    }
}

/// Whether what things are called is looked at, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Titles {
    Seen,
    Skipped,
}

fn lines_mut(section: &mut Section, titles: Titles, change: &mut dyn FnMut(Place, &mut Line)) {
    for block in &mut section.blocks {
        match &mut block.content {
            Content::Tiles(_) | Content::Picture { .. } => {}
            Content::Text { lines, .. } => lines.iter_mut().for_each(|line| change(Place::Text, line)),
            Content::List { items, .. } => items.iter_mut().for_each(|line| change(Place::Text, line)),
            Content::Table(table) => {
                for row in &mut table.rows {
                    let title = usize::from(row.id.is_some() && titles == Titles::Skipped);
                    row.cells.iter_mut().skip(title).for_each(|line| change(Place::Cell, line));
                }
            }
            Content::Cards { cards, .. } => {
                for card in cards {
                    if titles == Titles::Seen {
                        change(Place::Cell, &mut card.title);
                    }
                    card.text.iter_mut().for_each(|line| change(Place::Cell, line));
                    card.lines.iter_mut().for_each(|(_, line)| change(Place::Cell, line));
                }
            }
            Content::Note { line, .. } => change(Place::Note, line),
        }
    }
}
