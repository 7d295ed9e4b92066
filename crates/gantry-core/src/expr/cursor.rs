//! The parser's hands: where it stands in the tokens, and the tree it builds.
//!
//! The limits of the language are enforced here, at the only places where the parser goes deeper
//! and the tree grows.

use super::error::{Span, SyntaxError};
use super::hints;
use super::lex::{self, Token};
use super::syntax::{Kind, Node, NodeId};
use super::{HEIGHT_MAX, NESTING_MAX, NODES_MAX, SOURCE_BYTES_MAX};

/// What parsing a part gives.
pub(super) type Parsed<T = NodeId> = Result<T, Box<SyntaxError>>;

/// A parser in the middle of its work. The grammar is in `parse.rs`.
pub(super) struct Parser<'a> {
    source: &'a str,
    pub(super) tokens: Vec<(Token, Span)>,
    pub(super) at: usize,
    pub(super) nodes: Vec<Node>,
    /// The variables of the macros around the current place, outermost first.
    pub(super) bound: Vec<String>,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str) -> Parsed<Self> {
        if source.len() > SOURCE_BYTES_MAX {
            let span = Span { start: source.floor_char_boundary(SOURCE_BYTES_MAX), end: source.len() };
            let message = format!("expression is longer than {SOURCE_BYTES_MAX} bytes");
            return Err(SyntaxError::boxed(span, message));
        }
        Ok(Self { source, tokens: lex::tokens(source)?, at: 0, nodes: Vec::new(), bound: Vec::new(), depth: 0 })
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(super) fn text(&self) -> &str {
        let span = self.span();
        &self.source[span.start..span.end]
    }

    pub(super) fn take(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(found) if *found == mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, mark: &str, wanted: &str) -> Parsed<()> {
        if self.take(mark) {
            return Ok(());
        }
        Err(self.unexpected(wanted))
    }

    /// Describes the current token as an error, with a hint when it is a habit of another language.
    #[expect(clippy::unnecessary_box_returns, reason = "every caller needs it in a box")]
    pub(super) fn unexpected(&self, wanted: &str) -> Box<SyntaxError> {
        let span = self.span();
        let found = match self.peek() {
            Token::End => format!("expected {wanted}, found the end"),
            Token::Mark(mark) => format!("expected {wanted}, found `{mark}`"),
            Token::Word => format!("expected {wanted}, found `{}`", self.text()),
            Token::Int(_) => format!("expected {wanted}, found a number"),
            Token::Literal(value) => format!("expected {wanted}, found {}", value.with_kind()),
        };
        let error = SyntaxError::boxed(span, found);
        if !matches!(self.peek(), Token::Word) {
            return error;
        }
        if let Some(hint) = hints::operator_word(self.text()) {
            return error.hint(hint);
        }
        let after_number = self.at > 0 && matches!(self.tokens[self.at - 1].0, Token::Int(_));
        if after_number {
            return error.hint("write a unit directly behind its number, as in `50MB`");
        }
        error
    }

    /// Goes one level deeper; [`Parser::leave`] comes back.
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            let message = format!("expression nests deeper than {NESTING_MAX} levels");
            return Err(SyntaxError::boxed(self.span(), message));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Adds a node that starts at `start` and ends with the token before the current one.
    pub(super) fn push(&mut self, start: usize, kind: Kind) -> Parsed {
        let id = self.nodes.len();
        if id >= NODES_MAX {
            let message = format!("expression has more than {NODES_MAX} parts");
            return Err(SyntaxError::boxed(self.span(), message));
        }
        self.nodes.push(Node { kind, span: Span::default(), height: 1 });
        self.regrow(start, id)
    }

    /// Sets the span and the height of a node that is new or has grown.
    pub(super) fn regrow(&mut self, start: usize, id: NodeId) -> Parsed {
        let end = match self.at.checked_sub(1) {
            Some(last) => self.tokens[last].1.end,
            None => start,
        };
        let span = Span { start, end };
        let mut height = 1;
        self.nodes[id].kind.for_each_child(|child| height = height.max(self.nodes[child].height + 1));
        if height > HEIGHT_MAX {
            let message = format!("expression stacks more than {HEIGHT_MAX} operators");
            return Err(SyntaxError::boxed(span, message));
        }
        let node = &mut self.nodes[id];
        node.span = span;
        node.height = height;
        Ok(id)
    }
}
