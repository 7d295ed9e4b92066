//! From tokens to a tree, by precedence climbing.
//!
//! **Invariant:** the recursion is bounded by `NESTING_MAX` levels of brackets, each of at most one
//! call per precedence, and the tree by `HEIGHT_MAX` and `NODES_MAX`; all are checked before the
//! parser goes further.

use super::cursor::{Parsed, Parser};
use super::error::{Span, SyntaxError};
use super::functions::{Function, Style};
use super::hints;
use super::lex::Token;
use super::syntax::{Arithmetic, Comparison, Each, Kind, NodeId, Program};
use super::value::Value;

/// Parses a whole source.
pub(super) fn program(source: &str) -> Result<Program, Box<SyntaxError>> {
    let mut parser = Parser::new(source)?;
    if matches!(parser.peek(), Token::End) {
        return Err(SyntaxError::boxed(parser.span(), "expression is empty"));
    }
    let root = parser.conditional()?;
    match parser.peek() {
        Token::End => Ok(Program { nodes: parser.nodes, root }),
        _ => Err(parser.unexpected("an operator")),
    }
}

/// A binary operator.
#[derive(Clone, Copy)]
enum Infix {
    Any,
    All,
    Compare(Comparison),
    Arithmetic(Arithmetic),
}

impl Infix {
    /// How tightly the operator binds.
    fn power(self) -> u8 {
        match self {
            Self::Any => 1,
            Self::All => 2,
            Self::Compare(_) => 3,
            Self::Arithmetic(operator) if operator.is_additive() => 4,
            Self::Arithmetic(_) => 5,
        }
    }
}

impl Parser<'_> {
    /// Parses an expression inside another one.
    fn expression(&mut self) -> Parsed {
        self.enter()?;
        let inner = self.conditional()?;
        self.leave();
        Ok(inner)
    }

    fn conditional(&mut self) -> Parsed {
        let start = self.span().start;
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(":", "`:` and the value for the other case")?;
        let otherwise = self.expression()?;
        self.push(start, Kind::If { condition, then, otherwise })
    }

    fn binary(&mut self, power_min: u8) -> Parsed {
        let start = self.span().start;
        let mut left = self.unary()?;
        while let Some(infix) = self.infix() {
            let power = infix.power();
            if power < power_min {
                break;
            }
            self.at += 1;
            let right = self.binary(power + 1)?;
            left = self.join(start, infix, left, right)?;
            if let (Infix::Compare(_), Some(Infix::Compare(_))) = (infix, self.infix()) {
                return Err(SyntaxError::boxed(self.span(), "comparisons do not chain")
                    .hint("join two comparisons with `&&`, or put the first one in parentheses"));
            }
        }
        Ok(left)
    }

    fn infix(&self) -> Option<Infix> {
        let infix = match self.peek() {
            Token::Word if self.text() == "in" => Infix::Compare(Comparison::In),
            Token::Mark(mark) => match *mark {
                "||" => Infix::Any,
                "&&" => Infix::All,
                "==" => Infix::Compare(Comparison::Equal),
                "!=" => Infix::Compare(Comparison::NotEqual),
                "<" => Infix::Compare(Comparison::Less),
                "<=" => Infix::Compare(Comparison::LessOrEqual),
                ">" => Infix::Compare(Comparison::Greater),
                ">=" => Infix::Compare(Comparison::GreaterOrEqual),
                "+" => Infix::Arithmetic(Arithmetic::Add),
                "-" => Infix::Arithmetic(Arithmetic::Subtract),
                "*" => Infix::Arithmetic(Arithmetic::Multiply),
                "/" => Infix::Arithmetic(Arithmetic::Divide),
                "%" => Infix::Arithmetic(Arithmetic::Remainder),
                _ => return None,
            },
            _ => return None,
        };
        Some(infix)
    }

    /// Joins two operands, and grows the left one when it is a chain of the same kind.
    fn join(&mut self, start: usize, infix: Infix, left: NodeId, right: NodeId) -> Parsed {
        let chain = &mut self.nodes[left].kind;
        match (infix, chain) {
            (Infix::All, Kind::All(parts)) | (Infix::Any, Kind::Any(parts)) => parts.push(right),
            (Infix::Arithmetic(operator), Kind::Arithmetic { rest, .. })
                if rest.iter().all(|(first, _)| first.is_additive() == operator.is_additive()) =>
            {
                rest.push((operator, right));
            }
            (infix, _) => {
                let kind = match infix {
                    Infix::All => Kind::All(vec![left, right]),
                    Infix::Any => Kind::Any(vec![left, right]),
                    Infix::Compare(comparison) => Kind::Compare { comparison, left, right },
                    Infix::Arithmetic(operator) => Kind::Arithmetic { first: left, rest: vec![(operator, right)] },
                };
                return self.push(start, kind);
            }
        }
        self.regrow(start, left)
    }

    /// Parses prefix operators and what they stand before.
    fn unary(&mut self) -> Parsed {
        let start = self.span().start;
        if self.take("!") {
            self.enter()?;
            let operand = self.unary()?;
            self.leave();
            return self.push(start, Kind::Not(operand));
        }
        if !self.take("-") {
            return self.postfix();
        }
        if let Token::Int(magnitude) = *self.peek() {
            return self.negative_literal(start, magnitude);
        }
        self.enter()?;
        let operand = self.unary()?;
        self.leave();
        self.push(start, Kind::Negate(operand))
    }

    /// The sign belongs to the literal, or the smallest integer could not be written.
    fn negative_literal(&mut self, start: usize, magnitude: u64) -> Parsed {
        let Ok(number) = i64::try_from(-i128::from(magnitude)) else {
            return Err(SyntaxError::boxed(self.span(), "number is out of range"));
        };
        self.at += 1;
        let literal = self.push(start, Kind::Literal(Value::Int(number)))?;
        self.postfix_of(start, literal)
    }

    fn postfix(&mut self) -> Parsed {
        let start = self.span().start;
        let base = self.primary()?;
        self.postfix_of(start, base)
    }

    /// Parses the members, indexes and method calls behind a value.
    fn postfix_of(&mut self, start: usize, mut base: NodeId) -> Parsed {
        loop {
            if self.take(".") {
                base = self.member(start, base)?;
            } else if self.take("[") {
                base = self.index(start, base)?;
            } else {
                return Ok(base);
            }
        }
    }

    fn member(&mut self, start: usize, base: NodeId) -> Parsed {
        if !matches!(self.peek(), Token::Word) {
            return Err(self.unexpected("a field name").hint("other names are written `x[\"…\"]`"));
        }
        let name_span = self.span();
        let name = self.text().to_owned();
        self.at += 1;
        if self.take("(") {
            if let Some(each) = Each::find(&name) {
                return self.each(start, base, each);
            }
            let function = function(&name, name_span, Style::Method)?;
            let mut arguments = vec![base];
            self.arguments(")", &mut arguments)?;
            return self.call(start, function, name_span, arguments);
        }
        self.step_into(start, base, name)
    }

    fn index(&mut self, start: usize, base: NodeId) -> Parsed {
        let closed = matches!(self.tokens.get(self.at + 1), Some((Token::Mark("]"), _)));
        if let Token::Literal(Value::Text(name)) = self.peek()
            && closed
        {
            let name = name.to_string();
            self.at += 2;
            return self.step_into(start, base, name);
        }
        let index = self.expression()?;
        self.expect("]", "`]`")?;
        self.push(start, Kind::Index { base, index })
    }

    /// Goes to a static member: a free path gets longer, anything else gets a node on top.
    fn step_into(&mut self, start: usize, base: NodeId, name: String) -> Parsed {
        if let Kind::Path(segments) = &mut self.nodes[base].kind {
            segments.push(name);
            return self.regrow(start, base);
        }
        self.push(start, Kind::Member { base, name })
    }

    fn primary(&mut self) -> Parsed {
        let start = self.span().start;
        match self.peek() {
            Token::Word => self.name(),
            Token::Int(magnitude) => {
                let Ok(number) = i64::try_from(*magnitude) else {
                    let error = SyntaxError::boxed(self.span(), "number is out of range");
                    return Err(error.hint("add `u` for an unsigned number"));
                };
                self.at += 1;
                self.push(start, Kind::Literal(Value::Int(number)))
            }
            Token::Literal(value) => {
                let value = value.clone();
                self.at += 1;
                self.push(start, Kind::Literal(value))
            }
            Token::Mark("(") => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(")", "`)`")?;
                Ok(inner)
            }
            Token::Mark("[") => {
                self.at += 1;
                let mut items = Vec::new();
                self.arguments("]", &mut items)?;
                self.push(start, Kind::List(items))
            }
            Token::Mark("{") => self.map(start),
            Token::Mark(_) | Token::End => Err(self.unexpected("a value")),
        }
    }

    fn map(&mut self, start: usize) -> Parsed {
        self.at += 1;
        let mut entries = Vec::new();
        while !self.take("}") {
            let key = self.expression()?;
            self.expect(":", "`:` and the value of this key")?;
            let value = self.expression()?;
            entries.push((key, value));
            if !self.take(",") && !matches!(self.peek(), Token::Mark("}")) {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        self.push(start, Kind::Map(entries))
    }

    /// Parses what starts with a word: a constant, a variable, a call or a free path.
    fn name(&mut self) -> Parsed {
        let span = self.span();
        let name = self.text().to_owned();
        self.at += 1;
        if let Some(place) = self.bound.iter().rposition(|bound| *bound == name) {
            return self.push(span.start, Kind::Local(place));
        }
        if let Some(hint) = hints::not_a_name(&name) {
            return Err(SyntaxError::boxed(span, format!("unexpected `{name}`")).hint(hint));
        }
        if self.take("(") {
            return self.global_call(&name, span);
        }
        let kind = match name.as_str() {
            "true" => Kind::Literal(Value::Bool(true)),
            "false" => Kind::Literal(Value::Bool(false)),
            "null" => Kind::Literal(Value::Null),
            "in" => return Err(SyntaxError::boxed(span, "unexpected `in`")),
            // A kind has no members, so with a member it is a name like any other.
            name if Value::is_kind(name) && !matches!(self.peek(), Token::Mark("." | "[")) => {
                Kind::Literal(Value::text(name))
            }
            _ => Kind::Path(vec![name]),
        };
        self.push(span.start, kind)
    }

    fn global_call(&mut self, name: &str, name_span: Span) -> Parsed {
        let start = name_span.start;
        let mut arguments = Vec::new();
        match name {
            "has" | "default" => self.arguments(")", &mut arguments)?,
            _ => {
                let function = function(name, name_span, Style::Global)?;
                self.arguments(")", &mut arguments)?;
                return self.call(start, function, name_span, arguments);
            }
        }
        match (name, arguments.as_slice()) {
            ("has", [only]) if self.is_field(*only) => self.push(start, Kind::Has(*only)),
            ("default", &[value, otherwise]) => self.push(start, Kind::Default { value, otherwise }),
            ("default", _) => Err(SyntaxError::boxed(name_span, "`default` takes 2 arguments")),
            _ => {
                let error = SyntaxError::boxed(name_span, "`has` takes one field");
                Err(error.hint("write `has(x.field)`"))
            }
        }
    }

    fn is_field(&self, id: NodeId) -> bool {
        match &self.nodes[id].kind {
            Kind::Path(segments) => segments.len() > 1,
            Kind::Member { .. } => true,
            _ => false,
        }
    }

    fn call(&mut self, start: usize, function: Function, name_span: Span, arguments: Vec<NodeId>) -> Parsed {
        if !function.takes(arguments.len()) {
            let usage = function.usage();
            let error = SyntaxError::boxed(name_span, "wrong number of arguments");
            return Err(error.hint(format!("write `{usage}`")));
        }
        self.push(start, Kind::Call { function, arguments })
    }

    /// Parses a macro behind its opening bracket: `x, body)`.
    fn each(&mut self, start: usize, source: NodeId, each: Each) -> Parsed {
        let plain = matches!(self.peek(), Token::Word)
            && !matches!(self.text(), "true" | "false" | "null" | "in")
            && hints::not_a_name(self.text()).is_none();
        if !plain {
            return Err(self.unexpected("a variable name").hint("write `list.all(x, x > 0)`"));
        }
        let variable = self.text().to_owned();
        self.at += 1;
        self.expect(",", "`,` and an expression over the variable")?;
        self.bound.push(variable.clone());
        let mut body = self.expression()?;
        let mut condition = None;
        if each == Each::Map && self.take(",") {
            condition = Some(body);
            body = self.expression()?;
        }
        self.bound.pop();
        self.expect(")", "`)`")?;
        self.push(start, Kind::Each { each, source, variable, condition, body })
    }

    /// Parses expressions up to a closing bracket; a comma may stand before it.
    fn arguments(&mut self, close: &'static str, into: &mut Vec<NodeId>) -> Parsed<()> {
        while !self.take(close) {
            into.push(self.expression()?);
            if !self.take(",") && !matches!(self.peek(), Token::Mark(mark) if *mark == close) {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
        }
        Ok(())
    }
}

/// Finds a function that may be called in this style.
fn function(name: &str, span: Span, style: Style) -> Parsed<Function> {
    let Some(function) = Function::find(name) else {
        let error = SyntaxError::boxed(span, format!("there is no function `{name}`"));
        return Err(match hints::function(name) {
            Some(hint) => error.hint(hint),
            None if Each::find(name).is_some() => error.hint(format!("write `list.{name}(x, …)`")),
            None => error,
        });
    };
    if function.allows(style) {
        return Ok(function);
    }
    let usage = function.usage();
    let error = SyntaxError::boxed(span, format!("`{name}` is not called like this"));
    Err(error.hint(format!("write `{usage}`")))
}
