//! The small text language for plans, into nodes.
//!
//! ```text
//! plan "Fetch and rank"                                   # optional; `plan <id> "Title" owner:ana`
//!   objective: Ten sources we can trust.                  # any field of a plan, as in YAML
//!
//! task fetch "Fetch pages" kind:research using:web.fetch  # words `name:value` are fields
//!   needs: search terms                                   # ids, with spaces between
//!   input:
//!     query: HTTP/3 congestion control
//!   run: |                                                # a pipeline, else a shell command
//!     fetch(query) -> pages
//!   expect:                                               # each line as it stands
//!     - >= 5 canonical sources
//!   on failure -> broaden                                 # `on <ending> -> <id> max:3`
//!   task inner "A task inside"                            # tasks nest by indentation
//! ```
//!
//! Any other field of a task, such as `retry: {max: 2}` or `gate:`, is written as in YAML. The
//! lines are read here, by indentation; the values by the YAML reader; the result takes the same
//! way into a plan as every other format.

mod draft; // in reading order
mod lines;
mod words;

use gantry_core::plan::parse_pipeline;

use crate::diagnostic::Diagnostic;
use crate::node::{DEPTH_MAX, Key, Node, Span, Value};
use crate::tree::{Builder, Parsed, Stop, too_deep};
use crate::yaml;

use draft::Draft;
use lines::{Line, Lines};
use words::{Words, attribute};

/// Reads a document in the text language.
pub(crate) fn parse(source: &str) -> Parsed {
    let mut reader = Reader {
        lines: Lines::new(source),
        builder: Builder::default(),
        plan: None,
        tasks: Vec::new(),
        open: Vec::new(),
    };
    let outcome = reader.document();
    let Reader { mut builder, plan, tasks, .. } = reader;
    if outcome.is_ok() && (plan.is_some() || !tasks.is_empty()) {
        let mut plan = plan.unwrap_or_else(|| Draft::new(Span::at(0), 0));
        plan.children = tasks;
        let node = plan.finish(Span::new(0, source.len()), &mut builder);
        builder.place(node);
    }
    builder.finish(&outcome)
}

struct Reader<'a> {
    lines: Lines<'a>,
    builder: Builder,
    plan: Option<Draft>,
    /// The finished tasks of the top level.
    tasks: Vec<Node>,
    /// The tasks that the current line may belong to, outermost first.
    open: Vec<Draft>,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<(), Stop> {
        while let Some(line) = self.lines.next() {
            if let Some(tab) = line.tab {
                self.builder.note(
                    Diagnostic::error("file::syntax", "a tab in the indentation")
                        .at(Span::new(tab, tab + 1))
                        .label("here")
                        .hint("indent with spaces"),
                );
                continue;
            }
            self.builder.count(1, line.span())?;
            self.close_to(line.indent);
            if line.text.starts_with("task ") || line.text == "task" {
                self.task(&line)?;
            } else if line.text.starts_with("plan ") && line.indent == 0 {
                self.plan(&line);
            } else {
                self.body(&line)?;
            }
        }
        self.close_to(0);
        Ok(())
    }

    /// Ends the tasks that a line with this indentation is no part of.
    fn close_to(&mut self, indent: usize) {
        while self.open.last().is_some_and(|draft| draft.indent >= indent)
            && let Some(draft) = self.open.pop()
        {
            let span = Span::new(draft.span.start, self.lines.last_end());
            let node = draft.finish(span, &mut self.builder);
            match self.open.last_mut() {
                Some(parent) => parent.children.push(node),
                None => self.tasks.push(node),
            }
        }
    }

    fn plan(&mut self, line: &Line<'a>) {
        let mut draft = Draft::new(line.span(), line.indent);
        self.header(line, "plan", &mut draft);
        if let Some(first) = &self.plan {
            self.builder.note(
                Diagnostic::error("file::many-documents", "the file has a second plan")
                    .at(line.span())
                    .other(first.span, "the first plan")
                    .hint("keep one plan per file"),
            );
        } else if !self.tasks.is_empty() {
            self.builder.note(Diagnostic::error("file::syntax", "`plan` stands before the tasks").at(line.span()));
        } else {
            self.plan = Some(draft);
        }
    }

    fn task(&mut self, line: &Line<'a>) -> Result<(), Stop> {
        if 2 * self.open.len() + 4 > DEPTH_MAX {
            return Err(self.builder.stop(too_deep(line.span())));
        }
        if self.open.is_empty() && line.indent > 0 {
            self.builder.note(
                Diagnostic::error("file::syntax", "this task stands inside nothing")
                    .at(line.span())
                    .hint("start it at the beginning of the line"),
            );
        }
        let mut draft = Draft::new(line.span(), line.indent);
        self.header(line, "task", &mut draft);
        self.open.push(draft);
        Ok(())
    }

    /// Reads `task <id> "Title" name:value …`.
    fn header(&mut self, line: &Line<'a>, keyword: &str, draft: &mut Draft) {
        let start = line.start + keyword.len();
        for word in Words::new(&line.text[keyword.len()..], start) {
            let word = match word {
                Ok(word) => word,
                Err(finding) => {
                    self.builder.note(*finding);
                    return;
                }
            };
            match attribute(&word) {
                Some((key, value)) if key.text == "using" => draft.capabilities.push((key, value)),
                Some((key, value)) => draft.fields.push((key, value)),
                None => {
                    let name = if word.quoted { "title" } else { "id" };
                    if draft.has(name) {
                        self.builder.note(unexpected(word.span, "`name:value` or the end of the line"));
                    } else {
                        let key = Key { text: name.to_owned(), span: word.span };
                        draft.fields.push((key, Node::text(word.span, word.text)));
                    }
                }
            }
        }
    }

    /// Reads a field or a route of the innermost task, or of the plan.
    fn body(&mut self, line: &Line<'a>) -> Result<(), Stop> {
        let nesting = 2 * self.open.len() + 2;
        let Some(draft) = self.open.last_mut().or(self.plan.as_mut().filter(|_| line.indent > 0)) else {
            self.builder.note(unexpected(line.span(), "`plan \"Title\"` or `task <id> \"Title\"`"));
            self.lines.skip_deeper(line.indent);
            return Ok(());
        };
        let body = *draft.body_indent.get_or_insert(line.indent);
        if body != line.indent {
            self.builder.note(
                Diagnostic::error("file::syntax", "this line is not lined up with the fields before it")
                    .at(line.span())
                    .hint(format!("indent it by {body} spaces")),
            );
        }
        if let Some(rest) = line.text.strip_prefix("on ") {
            match route(line, rest) {
                Ok(route) => draft.routes.push(route),
                Err(finding) => self.builder.note(*finding),
            }
            return Ok(());
        }
        let Some((name, rest)) = line.text.split_once(':').filter(|(name, _)| is_name(name)) else {
            self.builder
                .note(unexpected(line.span(), "a field (`name: value`), a route (`on failure -> id`) or a task"));
            self.lines.skip_deeper(line.indent);
            return Ok(());
        };
        let key = Key { text: name.to_owned(), span: Span::new(line.start, line.start + name.len()) };
        let rest_start = line.start + name.len() + 1 + (rest.len() - rest.trim_start().len());
        let rest = rest.trim();
        let field = match name {
            "needs" | "depends_on" if !rest.is_empty() => {
                let named = rest.split(" #").next().unwrap_or_default().trim_end();
                Some((key, ids(named, rest_start)))
            }
            "expect" => Some((key, self.criteria(line, rest, rest_start))),
            "run" if !rest.is_empty() && !rest.starts_with(['|', '>', '"', '\'']) => {
                let node = Node::text(Span::new(rest_start, rest_start + rest.len()), rest);
                Some((key, node))
            }
            _ => self.yaml_field(line, nesting)?,
        };
        if let (Some(draft), Some((mut key, node))) = (self.open.last_mut().or(self.plan.as_mut()), field) {
            if key.text == "run" && node.as_str().is_some_and(|text| parse_pipeline(text).is_some()) {
                "command".clone_into(&mut key.text);
            }
            draft.fields.push((key, node));
        }
        Ok(())
    }

    /// Reads the lines `- …` below `expect:` as they stand: a criterion is prose, not YAML.
    fn criteria(&mut self, line: &Line<'a>, rest: &str, rest_start: usize) -> Node {
        let mut items = Vec::new();
        if !rest.is_empty() {
            items.push(Node::text(Span::new(rest_start, rest_start + rest.len()), unquoted(rest)));
        }
        while let Some(item) = self.lines.next_deeper(line.indent) {
            let text = item.text.strip_prefix('-').map_or(item.text, str::trim_start);
            let start = item.start + (item.text.len() - text.len());
            items.push(Node::text(Span::new(start, start + text.len()), unquoted(text)));
        }
        Node::new(line.span(), Value::Seq(items))
    }

    /// Reads a field and the deeper lines below it as YAML.
    fn yaml_field(&mut self, line: &Line<'a>, nesting: usize) -> Result<Option<(Key, Node)>, Stop> {
        let (text, offset) = self.lines.block(line);
        let Parsed { node, findings } = yaml::parse(text);
        let is_sound = findings.kept.is_empty();
        for mut finding in findings.kept {
            finding.span = finding.span.map(|span| shifted(span, offset));
            for (span, _) in &mut finding.others {
                *span = shifted(*span, offset);
            }
            self.builder.note(finding);
        }
        let Some(Node { value: Value::Map(mut entries), .. }) = node else {
            if is_sound {
                let hint = "put a space after the colon";
                self.builder.note(unexpected(line.span(), "a field (`name: value`)").hint(hint));
            }
            return Ok(None);
        };
        let Some((mut key, mut node)) = entries.pop() else { return Ok(None) };
        key.span = shifted(key.span, offset);
        let size = yaml::measure(&node);
        self.builder.count(size.nodes, key.span)?;
        if nesting + size.height > DEPTH_MAX {
            return Err(self.builder.stop(too_deep(key.span)));
        }
        shift(&mut node, offset);
        Ok(Some((key, node)))
    }
}

/// Reads `failure -> broaden max:3`.
fn route(line: &Line<'_>, rest: &str) -> Result<Node, Box<Diagnostic>> {
    let usage =
        || Box::new(unexpected(line.span(), "`on <ending> -> <task id>`").hint("for example `on failure -> repair`"));
    let (ending, target) = rest.split_once("->").ok_or_else(usage)?;
    let start = line.start + 3;
    let ending_start = start + (ending.len() - ending.trim_start().len());
    let ending = ending.trim();
    let mut words = Words::new(target, start + rest.len() - target.len());
    let to = words.next().ok_or_else(usage)??;
    if ending.is_empty() {
        return Err(usage());
    }
    let ending_span = Span::new(ending_start, ending_start + ending.len());
    let key = |text: &str, span| Key { text: text.to_owned(), span };
    let mut entries = vec![
        (key("on", ending_span), Node::text(ending_span, ending)),
        (key("to", to.span), Node::text(to.span, to.text)),
    ];
    for word in words {
        let word = word?;
        let end = || Box::new(unexpected(word.span, "`max:<number>` or the end of the line"));
        entries.push(attribute(&word).ok_or_else(end)?);
    }
    Ok(Node::new(line.span(), Value::Map(entries)))
}

/// Reads ids with spaces or commas between them.
fn ids(text: &str, start: usize) -> Node {
    let is_between = |letter: char| letter.is_whitespace() || ",[]".contains(letter);
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(begin) = text[from..].find(|letter| !is_between(letter)) {
        let begin = from + begin;
        let end = text[begin..].find(is_between).map_or(text.len(), |length| begin + length);
        items.push(Node::text(Span::new(start + begin, start + end), &text[begin..end]));
        from = end;
    }
    Node::new(Span::new(start, start + text.len()), Value::Seq(items))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).filter(|_| text.len() > 1);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

fn unexpected(span: Span, wanted: &str) -> Diagnostic {
    Diagnostic::error("file::syntax", "this line cannot be read").at(span).label(format!("expected {wanted}"))
}

fn shifted(span: Span, offset: usize) -> Span {
    Span::new(span.start + offset, span.end + offset)
}

/// Moves a tree that was read from a part of the source to its place in the whole.
fn shift(node: &mut Node, offset: usize) {
    node.span = shifted(node.span, offset);
    match &mut node.value {
        Value::Seq(items) => items.iter_mut().for_each(|item| shift(item, offset)),
        Value::Map(entries) => {
            for (key, value) in entries {
                key.span = shifted(key.span, offset);
                shift(value, offset);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } => {}
    }
}
