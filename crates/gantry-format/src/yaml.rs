//! YAML into nodes.
//!
//! YAML 1.2 with the core schema, and nothing that would let a text mean something else than it
//! says: tags, several documents, keys that are not text, `.nan` and `.inf` are refused. Aliases
//! and merge keys (`<<`) are allowed and written out, within the limits of [`crate::node`], so
//! that a small file cannot grow into a large tree.

use std::collections::{BTreeMap, BTreeSet};

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Tag};

use crate::diagnostic::Diagnostic;
use crate::node::{BYTES_MAX, DEPTH_MAX, Key, Node, Span, Value};
use crate::number;
use crate::suggest::shorten;
use crate::tree::{Builder, Parsed, Stop, too_deep};

/// Reads a YAML document.
pub fn parse(source: &str) -> Parsed {
    let mut reader = Reader {
        source,
        builder: Builder::default(),
        open: Vec::new(),
        anchors: BTreeMap::new(),
        alias_bytes: 0,
        documents: 0,
        read_to: 0,
    };
    let outcome = reader.read();
    reader.builder.finish(&outcome)
}

struct Reader<'a> {
    source: &'a str,
    builder: Builder,
    open: Vec<OpenCollection>,
    /// What each finished anchor stands for, by the parser's number for it.
    anchors: BTreeMap<usize, Anchored>,
    /// How much text was copied for anchors and aliases so far.
    alias_bytes: usize,
    documents: usize,
    /// Where the last thing ends that was understood.
    read_to: usize,
}

/// What has to be remembered about a collection until it ends.
#[derive(Default)]
struct OpenCollection {
    anchor: usize,
    /// The place of its merge key; a second one is a key used twice.
    merge: Option<Span>,
}

struct Anchored {
    node: Node,
    size: Size,
}

/// What copying a tree costs.
#[derive(Default, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    pub(crate) bytes: usize,
    pub(crate) height: usize,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Stop> {
        let options = granit_parser::options! {
            strict_indentation: true,
            emit_comments: false,
            flow_nesting_limit: DEPTH_MAX,
            block_nesting_limit: DEPTH_MAX,
        };
        for next in Parser::new_from_str_with_options(self.source, options) {
            match next {
                Ok((event, span)) => {
                    if let (Some(tag), Some(place)) = (event.tag(), span.tag_span()) {
                        self.refuse_tag(tag, place_of(place));
                    }
                    let place = place_of(span);
                    self.event(event, place)?;
                    self.read_to = self.read_to.max(place.end);
                }
                Err(error) => {
                    let problem = self.syntax(&error);
                    return Err(self.builder.stop(problem));
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Stop> {
        match event {
            Event::DocumentStart(..) => self.document(span),
            Event::Scalar(text, style, anchor, _) => {
                if self.builder.wants_key() {
                    self.key(text.into_owned(), style, anchor, span)
                } else {
                    let node = self.scalar(text.into_owned(), style, span);
                    self.remember(anchor, &node)?;
                    self.builder.scalar(node)
                }
            }
            Event::SequenceStart(_, anchor, _) => {
                self.start(anchor, span)?;
                self.builder.open_seq(span)
            }
            Event::MappingStart(_, anchor, _) => {
                self.start(anchor, span)?;
                self.builder.open_map(span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            // Stream marks say nothing; comments and anchor names are not asked for.
            _ => Ok(()),
        }
    }

    fn document(&mut self, span: Span) -> Result<(), Stop> {
        self.documents += 1;
        if self.documents > 1 {
            return Err(self.builder.stop(
                Diagnostic::error("file::many-documents", "the file has a second document")
                    .at(span)
                    .label("the second document starts here")
                    .hint("keep one plan per file"),
            ));
        }
        Ok(())
    }

    fn refuse_tag(&mut self, tag: &Tag, span: Span) {
        let name = shorten(&tag.original());
        self.builder.note(
            Diagnostic::error("file::tag", format!("YAML tags such as `{name}` are not read"))
                .at(span)
                .label("a tag")
                .hint("remove it; write a text in quotes to keep it a text"),
        );
    }

    fn key(&mut self, text: String, style: ScalarStyle, anchor: usize, span: Span) -> Result<(), Stop> {
        let plain = style == ScalarStyle::Plain;
        if plain && span.start == span.end {
            return Err(self
                .builder
                .stop(Diagnostic::error("file::key", "a key is missing").at(span).label("before this")));
        }
        if let (true, "<<", Some(collection)) = (plain, text.as_str(), self.open.last_mut()) {
            collection.merge.get_or_insert(span);
        }
        self.builder.count(1, span)?;
        if anchor != 0 {
            self.remember(anchor, &Node::text(span, text.clone()))?;
        }
        self.builder.key(Key { text, span });
        Ok(())
    }

    fn scalar(&mut self, text: String, style: ScalarStyle, span: Span) -> Node {
        let plain = style == ScalarStyle::Plain;
        if !plain {
            return Node::new(span, Value::Str { text, plain });
        }
        let value = match text.as_str() {
            "" | "~" | "null" | "Null" | "NULL" => Value::Null,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            other if number::is_not_finite(other) => {
                self.builder.note(number::refusal(other, span));
                Value::Null
            }
            other if number::is_yaml_number(other) => Value::Number(text),
            _ => Value::Str { text, plain },
        };
        Node::new(span, value)
    }

    fn start(&mut self, anchor: usize, span: Span) -> Result<(), Stop> {
        if self.builder.wants_key() {
            return Err(self.builder.stop(
                Diagnostic::error("file::key", "a key has to be a text")
                    .at(span)
                    .label("this is a list or a map")
                    .hint("put the key in quotes"),
            ));
        }
        self.open.push(OpenCollection { anchor, merge: None });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Stop> {
        let collection = self.open.pop().unwrap_or_default();
        // Block collections have no closing mark: the parser reports the place after them.
        let end = (span.end > span.start).then_some(span.end);
        let Some(mut node) = self.builder.close(end) else {
            return Ok(());
        };
        if let Some(place) = collection.merge {
            self.merge(&mut node, place);
        }
        self.remember(collection.anchor, &node)?;
        self.builder.place(node);
        Ok(())
    }

    /// Keeps a copy of an anchored node. Copies count, or anchors inside anchors would be free.
    fn remember(&mut self, anchor: usize, node: &Node) -> Result<(), Stop> {
        if anchor == 0 {
            return Ok(());
        }
        let size = measure(node);
        self.pay(size, node.span)?;
        let node = node.clone();
        self.anchors.insert(anchor, Anchored { node, size });
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Stop> {
        let Some(Anchored { size, .. }) = self.anchors.get(&anchor) else {
            return Err(self.builder.stop(
                Diagnostic::error("file::alias", "an alias stands inside what it stands for")
                    .at(span)
                    .label("this would never end"),
            ));
        };
        let size = *size;
        if self.builder.depth() + size.height > DEPTH_MAX {
            return Err(self.builder.stop(too_deep(span)));
        }
        self.pay(size, span)?;
        let Some(anchored) = self.anchors.get(&anchor) else {
            return Ok(());
        };
        let mut node = anchored.node.clone();
        node.span = span;
        if !self.builder.wants_key() {
            self.builder.place(node);
            return Ok(());
        }
        match node.value {
            Value::Str { text, .. } | Value::Number(text) => {
                self.builder.key(Key { text, span });
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Seq(_) | Value::Map(_) => Err(self
                .builder
                .stop(Diagnostic::error("file::key", "a key has to be a text").at(span).label("this alias is none"))),
        }
    }

    fn pay(&mut self, size: Size, span: Span) -> Result<(), Stop> {
        self.builder.count(size.nodes, span)?;
        self.alias_bytes = self.alias_bytes.saturating_add(size.bytes);
        if self.alias_bytes > BYTES_MAX {
            return Err(self.builder.stop(
                Diagnostic::error("file::too-large", format!("aliases repeat more than {BYTES_MAX} bytes of text"))
                    .at(span)
                    .label("the limit is passed here"),
            ));
        }
        Ok(())
    }

    /// Replaces the merge key by the entries it stands for; what the map says itself wins, then
    /// what is named earlier.
    fn merge(&mut self, node: &mut Node, place: Span) {
        let Value::Map(entries) = &mut node.value else {
            return;
        };
        let is_merge = |key: &Key| key.span == place;
        let mut names: BTreeSet<String> =
            entries.iter().filter(|(key, _)| !is_merge(key)).map(|(key, _)| key.text.clone()).collect();
        let mut merged = Vec::with_capacity(entries.len());
        for (key, value) in std::mem::take(entries) {
            if !is_merge(&key) {
                merged.push((key, value));
                continue;
            }
            let sources = match value.value {
                Value::Seq(items) => items,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } | Value::Map(_) => vec![value],
            };
            for source in sources {
                let Value::Map(inner) = source.value else {
                    self.builder.note(
                        Diagnostic::error("file::merge", "`<<` needs a map or a list of maps")
                            .at(source.span)
                            .label("this is none"),
                    );
                    continue;
                };
                merged.extend(inner.into_iter().filter(|(key, _)| names.insert(key.text.clone())));
            }
        }
        *entries = merged;
    }

    /// Says how far the line at this place and the line before it are indented, when that differs.
    fn indentation_hint(&self, offset: usize) -> Option<String> {
        let start = self.source[..offset].rfind('\n').map_or(0, |end| end + 1);
        let line = self.source[start..].lines().next().unwrap_or_default();
        let before = self.source[..start].lines().rev().find(|line| !line.trim().is_empty())?;
        let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let (here, there) = (spaces(line), spaces(before));
        let what = format!("this line is indented by {here} spaces and the line before it by {there}");
        (here != there).then(|| format!("{what}; fields of one task start in the same column"))
    }

    /// The quote behind a refusal: it was forgotten to be closed, and so ends, if at all, in another line.
    fn open_quote(&self, kind: &ErrorKind, offset: usize) -> Option<Span> {
        let opening = match kind {
            ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => offset,
            _ => {
                let (opening, end) = last_quoted(self.source, self.read_to, offset)?;
                let ends_a_line = self.source[opening..end].contains('\n');
                let is_behind = matches!(
                    kind,
                    ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar
                );
                (ends_a_line && (is_behind || end >= offset)).then_some(opening)?
            }
        };
        Some(Span::new(opening, opening + 1))
    }

    /// Translates a refusal of the YAML parser.
    fn syntax(&self, error: &ScanError) -> Diagnostic {
        let offset = error.marker().byte_offset().unwrap_or(self.source.len());
        let offset = self.source.floor_char_boundary(offset.min(self.source.len()));
        let next = self.source[offset..].chars().next();
        let span = Span::new(offset, offset + next.map_or(0, char::len_utf8));
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            return too_deep(span);
        }
        if let Some(quote) = self.open_quote(error.kind(), offset) {
            let problem = Diagnostic::error("file::syntax", "not valid YAML: a quote is not closed")
                .at(quote)
                .label("it opens here")
                .hint("close it with the same mark on its line; inside it, write `\\\"` in double and `''` in single quotes");
            let is_elsewhere = self.source[quote.start..offset].contains('\n');
            return if is_elsewhere { problem.other(span, format!("{}, here", error.info())) } else { problem };
        }
        let hint = match error.kind() {
            ErrorKind::UnknownAnchor => Some("a text that starts with `*` needs quotes".to_owned()),
            ErrorKind::MappingValueNotAllowed => Some("a text with `: ` in it needs quotes".to_owned()),
            _ if error.info().contains("tab") => Some("indent with spaces, not tabs".to_owned()),
            _ => self.indentation_hint(offset),
        };
        Diagnostic::error("file::syntax", format!("not valid YAML: {}", error.info()))
            .at(span)
            .label("here")
            .hint_opt(hint)
    }
}

/// Where the last quoted text before a place begins and ends, if one begins after `from`.
fn last_quoted(source: &str, from: usize, offset: usize) -> Option<(usize, usize)> {
    let bytes = source.as_bytes();
    let begins_word =
        |at: usize| at == from || bytes[at - 1].is_ascii_whitespace() || b"[{,:-?".contains(&bytes[at - 1]);
    let (mut at, mut last) = (from, None);
    while at < offset {
        let mark = bytes[at];
        if mark == b'#' && (at == 0 || bytes[at - 1].is_ascii_whitespace()) {
            at = source[at..].find('\n').map_or(offset, |end| at + end);
        } else if matches!(mark, b'"' | b'\'') && begins_word(at) {
            let opening = at;
            at += 1;
            while at < offset && bytes[at] != mark {
                at += if mark == b'"' && bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(offset);
            last = Some((opening, at));
        } else {
            at += 1;
        }
    }
    last
}

fn place_of(span: granit_parser::Span) -> Span {
    let range = span.byte_range().unwrap_or_default();
    Span::new(range.start, range.end)
}

/// Measures a tree; its depth is bounded, so recursion is too.
pub(crate) fn measure(node: &Node) -> Size {
    let of_children = |children: &mut dyn Iterator<Item = (usize, &Node)>| {
        children.fold(Size { nodes: 1, bytes: 0, height: 1 }, |sum, (key_bytes, child)| {
            let child = measure(child);
            Size {
                nodes: sum.nodes + child.nodes,
                bytes: sum.bytes + key_bytes + child.bytes,
                height: sum.height.max(child.height + 1),
            }
        })
    };
    match &node.value {
        Value::Null | Value::Bool(_) => Size { nodes: 1, ..Size::default() },
        Value::Number(text) | Value::Str { text, .. } => Size { nodes: 1, bytes: text.len(), height: 0 },
        Value::Seq(items) => of_children(&mut items.iter().map(|item| (0, item))),
        Value::Map(entries) => of_children(&mut entries.iter().map(|(key, value)| (key.text.len(), value))),
    }
}
