//! From a tree and a scope to a value.
//!
//! **Invariant:** each visit of a node costs a step, and work that depends on the size of a value
//! costs more, so that an evaluation ends soon whatever the scope holds.

use std::collections::BTreeMap;

use super::Scope;
use super::access::Absent;
use super::error::{EvalError, Span};
use super::functions::{self, Function};
use super::operators::{self, Meter};
use super::syntax::{Arithmetic, Comparison, Each, Kind, Node, NodeId, Program};
use super::value::Value;

/// How much of the source an error names.
pub(super) const NAMED_CHARS_MAX: usize = 120;

/// One evaluation.
pub(super) struct Evaluator<'a> {
    pub(super) program: &'a Program,
    pub(super) source: &'a str,
    pub(super) scope: &'a dyn Scope,
    /// The variables of the macros being evaluated, outermost first.
    locals: Vec<Value>,
    /// What has been read from the scope: a path inside a loop is read once.
    pub(super) reads: BTreeMap<&'a [String], Result<Value, Absent>>,
    pub(super) meter: Meter,
}

/// What evaluating a part gives.
pub(super) type Evaluated<T = Value> = Result<T, EvalError>;

impl<'a> Evaluator<'a> {
    pub(super) fn new(program: &'a Program, source: &'a str, scope: &'a dyn Scope) -> Self {
        Self { program, source, scope, locals: Vec::new(), reads: BTreeMap::new(), meter: Meter::full() }
    }

    /// Evaluates the whole program.
    pub(super) fn run(&mut self) -> Evaluated {
        self.eval(self.program.root)
    }

    /// Gives a result out as JSON. It costs steps, because shared parts are written out in full.
    pub(super) fn export(&mut self, value: Value) -> Evaluated<serde_json::Value> {
        self.meter.charge_value(&value, self.program.root_span())?;
        Ok(value.into_json())
    }

    /// Evaluates one node.
    ///
    /// Each kind has a function of its own: locals here would be on the stack at every level.
    pub(super) fn eval(&mut self, id: NodeId) -> Evaluated {
        let program = self.program;
        let Node { kind, span, .. } = program.node(id);
        let span = *span;
        self.meter.charge(1, span)?;
        match kind {
            Kind::Literal(value) => Ok(value.clone()),
            Kind::Path(segments) => self.path(segments, span),
            Kind::Local(place) => Ok(self.locals[*place].clone()),
            Kind::Member { base, name } => self.member(*base, name, span),
            Kind::Index { base, index } => self.index(*base, *index, span),
            Kind::List(items) => self.list_literal(items),
            Kind::Map(entries) => self.map_literal(entries),
            Kind::Not(operand) => self.not(*operand),
            Kind::Negate(operand) => self.negate(*operand, span),
            Kind::Arithmetic { first, rest } => self.arithmetic(*first, rest, span),
            Kind::Compare { comparison, left, right } => self.compare(*comparison, *left, *right, span),
            Kind::All(parts) => self.logic(parts, Decisive(false)),
            Kind::Any(parts) => self.logic(parts, Decisive(true)),
            Kind::If { condition, then, otherwise } => self.branch(*condition, *then, *otherwise),
            Kind::Has(field) => self.has(*field),
            Kind::Default { value, otherwise } => self.default(*value, *otherwise),
            Kind::Call { function, arguments } => self.call(*function, arguments, span),
            Kind::Each { each, source, condition, body, .. } => self.each(*each, *source, *condition, *body),
        }
    }

    /// Evaluates a node to true or false.
    pub(super) fn truth(&mut self, id: NodeId) -> Evaluated<bool> {
        match self.eval(id)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(EvalError::wrong_type(
                self.program.node(id).span,
                format!("expected true or false, found {}", other.with_kind()),
            )),
        }
    }

    /// A loop rather than a chain of adapters, which would stack a frame each.
    fn each_of(&mut self, ids: &[NodeId]) -> Evaluated<Vec<Value>> {
        let mut values = Vec::with_capacity(ids.len());
        for id in ids {
            values.push(self.eval(*id)?);
        }
        Ok(values)
    }

    fn list_literal(&mut self, items: &[NodeId]) -> Evaluated {
        self.each_of(items).map(Value::list)
    }

    fn map_literal(&mut self, entries: &[(NodeId, NodeId)]) -> Evaluated {
        let mut fields = BTreeMap::new();
        for (key, value) in entries {
            let key_span = self.program.node(*key).span;
            let Value::Text(name) = self.eval(*key)? else {
                return Err(EvalError::wrong_type(key_span, "the key of a map must be a string"));
            };
            let value = self.eval(*value)?;
            if fields.insert(name, value).is_some() {
                return Err(EvalError::wrong_type(key_span, "this key is there twice"));
            }
        }
        Ok(Value::Map(fields.into()))
    }

    fn not(&mut self, operand: NodeId) -> Evaluated {
        Ok(Value::Bool(!self.truth(operand)?))
    }

    fn negate(&mut self, operand: NodeId, span: Span) -> Evaluated {
        let negated = match self.eval(operand)? {
            Value::Int(int) => int.checked_neg().map(Value::Int),
            Value::Double(double) => Some(Value::Double(-double)),
            Value::Duration(duration) => duration.checked_neg().map(Value::Duration),
            other => {
                let message = format!("cannot negate {}", other.with_kind());
                return Err(EvalError::wrong_type(span, message));
            }
        };
        negated.ok_or(EvalError::Overflow { span })
    }

    fn arithmetic(&mut self, first: NodeId, rest: &[(Arithmetic, NodeId)], span: Span) -> Evaluated {
        let mut result = self.eval(first)?;
        for (operator, operand) in rest {
            let operand = self.eval(*operand)?;
            result = operators::arithmetic(*operator, &result, &operand, span, &mut self.meter)?;
        }
        Ok(result)
    }

    fn compare(&mut self, comparison: Comparison, left: NodeId, right: NodeId, span: Span) -> Evaluated {
        let left = self.eval(left)?;
        let right = self.eval(right)?;
        operators::compare(comparison, &left, &right, span, &mut self.meter).map(Value::Bool)
    }

    fn branch(&mut self, condition: NodeId, then: NodeId, otherwise: NodeId) -> Evaluated {
        let branch = if self.truth(condition)? { then } else { otherwise };
        self.eval(branch)
    }

    fn default(&mut self, value: NodeId, otherwise: NodeId) -> Evaluated {
        match self.eval(value) {
            Ok(Value::Null) => self.eval(otherwise),
            Err(error) if error.is_missing() => self.eval(otherwise),
            present_or_wrong => present_or_wrong,
        }
    }

    fn call(&mut self, function: Function, arguments: &[NodeId], span: Span) -> Evaluated {
        let arguments = self.each_of(arguments)?;
        functions::call(function, &arguments, span, &mut self.meter)
    }

    /// CEL's commutative logic: a decisive part wins over an error on either side of it.
    fn logic(&mut self, parts: &[NodeId], decisive: Decisive) -> Evaluated {
        let mut verdict = Verdict::open(decisive);
        for part in parts {
            let truth = self.truth(*part);
            if verdict.take(truth)? {
                break;
            }
        }
        verdict.close()
    }

    fn each(&mut self, each: Each, source: NodeId, condition: Option<NodeId>, body: NodeId) -> Evaluated {
        let elements = self.elements(source)?;
        match each {
            Each::All => self.decide(&elements, body, Decisive(false)),
            Each::Exists => self.decide(&elements, body, Decisive(true)),
            Each::ExistsOne => {
                let matching = self.matching(&elements, body)?;
                Ok(Value::Bool(matching.len() == 1))
            }
            Each::Filter => {
                let matching = self.matching(&elements, body)?;
                let span = self.program.node(source).span;
                self.meter.make_list(matching.len(), span)?;
                Ok(Value::list(matching))
            }
            Each::Map => self.mapped(&elements, condition, body),
        }
    }

    /// Returns what a macro goes over: the items of a list, or the keys of a map.
    pub(super) fn elements(&mut self, source: NodeId) -> Evaluated<Vec<Value>> {
        let span = self.program.node(source).span;
        match self.eval(source)? {
            Value::List(items) => {
                self.meter.charge(items.len(), span)?;
                Ok(items.to_vec())
            }
            Value::Map(fields) => {
                self.meter.charge(fields.len(), span)?;
                Ok(fields.keys().cloned().map(Value::Text).collect())
            }
            other => Err(EvalError::wrong_type(span, format!("expected a list or a map, found {}", other.with_kind()))),
        }
    }

    /// Evaluates the body of a macro for one element.
    pub(super) fn truth_with(&mut self, element: &Value, body: NodeId) -> Evaluated<bool> {
        self.locals.push(element.clone());
        let truth = self.truth(body);
        self.locals.pop();
        truth
    }

    fn decide(&mut self, elements: &[Value], body: NodeId, decisive: Decisive) -> Evaluated {
        let mut verdict = Verdict::open(decisive);
        for element in elements {
            let truth = self.truth_with(element, body);
            if verdict.take(truth)? {
                break;
            }
        }
        verdict.close()
    }

    fn matching(&mut self, elements: &[Value], body: NodeId) -> Evaluated<Vec<Value>> {
        let mut matching = Vec::new();
        for element in elements {
            if self.truth_with(element, body)? {
                matching.push(element.clone());
            }
        }
        Ok(matching)
    }

    fn mapped(&mut self, elements: &[Value], condition: Option<NodeId>, body: NodeId) -> Evaluated {
        let mut mapped = Vec::new();
        for element in elements {
            if let Some(condition) = condition
                && !self.truth_with(element, condition)?
            {
                continue;
            }
            self.locals.push(element.clone());
            let value = self.eval(body);
            self.locals.pop();
            mapped.push(value?);
            operators::list_fits(mapped.len(), self.program.node(body).span)?;
        }
        Ok(Value::list(mapped))
    }

    /// Returns a part of the source on one line, cut to a readable length.
    pub(super) fn named(&self, span: Span) -> String {
        let text = &self.source[span.start..span.end];
        let words: Vec<&str> = text.split_whitespace().collect();
        shortened(&words.join(" "), NAMED_CHARS_MAX)
    }
}

/// Cuts a text to so many characters, the last one an ellipsis if cut.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// The truth of one part that settles the whole: false for all, true for any.
#[derive(Clone, Copy)]
struct Decisive(bool);

/// What is known so far about a conjunction or disjunction.
struct Verdict {
    decisive: Decisive,
    settled: bool,
    error: Option<EvalError>,
}

impl Verdict {
    fn open(decisive: Decisive) -> Self {
        Self { decisive, settled: false, error: None }
    }

    /// Takes one part and returns whether the verdict is settled. Limits are never absorbed.
    fn take(&mut self, truth: Evaluated<bool>) -> Evaluated<bool> {
        match truth {
            Ok(truth) => self.settled = truth == self.decisive.0,
            Err(error) if error.is_limit() => return Err(error),
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        Ok(self.settled)
    }

    fn close(self) -> Evaluated {
        match self.error {
            Some(error) if !self.settled => Err(error),
            Some(_) | None => Ok(Value::Bool(self.settled == self.decisive.0)),
        }
    }
}
