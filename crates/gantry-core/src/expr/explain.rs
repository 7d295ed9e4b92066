//! Why a test came out as it did: the deciding clause, with its values.
//!
//! The clauses are evaluated again, under a fresh budget. The scope is the same, so they come out
//! the same; where a value cannot be had, the explanation does without it.

use super::SHOWN_VALUE_CHARS_MAX;
use super::eval::{Evaluator, shortened};
use super::operators::Meter;
use super::syntax::{Each, Kind, NodeId};
use super::value::Value;

/// How long an explanation may be.
const EXPLANATION_CHARS_MAX: usize = 600;

/// How many clauses are named when each of them mattered.
const CLAUSES_MAX: usize = 3;

/// How many values of one clause are named.
const VALUES_MAX: usize = 4;

/// Explains the result of a program that has just been evaluated to `holds`.
pub(super) fn explain(mut evaluator: Evaluator<'_>, holds: bool) -> String {
    evaluator.meter = Meter::full();
    let root = evaluator.program.root;
    let explanation = Explainer(evaluator).clause(root, holds);
    shortened(&explanation, EXPLANATION_CHARS_MAX)
}

struct Explainer<'a>(Evaluator<'a>);

impl Explainer<'_> {
    fn clause(&mut self, id: NodeId, holds: bool) -> String {
        let program = self.0.program;
        match &program.node(id).kind {
            Kind::All(parts) if holds => self.every(parts, holds),
            Kind::Any(parts) if !holds => self.every(parts, holds),
            Kind::All(parts) | Kind::Any(parts) => {
                let decided =
                    |explainer: &mut Self, part: NodeId| matches!(explainer.0.truth(part), Ok(truth) if truth == holds);
                match parts.iter().find(|part| decided(self, **part)) {
                    Some(part) => self.clause(*part, holds),
                    None => self.verdict(id, holds, ""),
                }
            }
            Kind::Not(operand) => {
                let inner = self.clause(*operand, !holds);
                self.verdict(id, holds, &inner)
            }
            Kind::If { condition, then, otherwise } => match self.0.truth(*condition) {
                Ok(truth) => {
                    let branch = self.clause(if truth { *then } else { *otherwise }, holds);
                    let condition = self.verdict(*condition, truth, "");
                    format!("{branch} ({condition})")
                }
                Err(_) => self.verdict(id, holds, ""),
            },
            Kind::Each { each, source, variable, body, .. } => {
                let found = self.elements(*each, *source, variable, *body, holds);
                self.verdict(id, holds, &found)
            }
            Kind::Compare { left, right, .. } => self.values(id, holds, &[*left, *right]),
            Kind::Call { arguments, .. } => self.values(id, holds, arguments),
            Kind::Literal(_)
            | Kind::Path(_)
            | Kind::Local(_)
            | Kind::Member { .. }
            | Kind::Index { .. }
            | Kind::List(_)
            | Kind::Map(_)
            | Kind::Negate(_)
            | Kind::Arithmetic { .. }
            | Kind::Has(_)
            | Kind::Default { .. } => self.verdict(id, holds, ""),
        }
    }

    /// Writes `clause is false: because`, or `clause is false` when nothing more is known.
    fn verdict(&self, id: NodeId, holds: bool, because: &str) -> String {
        let clause = self.source(id);
        if because.is_empty() { format!("{clause} is {holds}") } else { format!("{clause} is {holds}: {because}") }
    }

    fn source(&self, id: NodeId) -> String {
        self.0.named(self.0.program.node(id).span)
    }

    /// Names the first clauses of several that all mattered.
    fn every(&mut self, parts: &[NodeId], holds: bool) -> String {
        let mut clauses: Vec<String> = parts.iter().take(CLAUSES_MAX).map(|part| self.clause(*part, holds)).collect();
        if parts.len() > CLAUSES_MAX {
            clauses.push(format!("and {} more", parts.len() - CLAUSES_MAX));
        }
        clauses.join("; ")
    }

    /// Names the values of the operands that are not written out in the source.
    fn values(&mut self, id: NodeId, holds: bool, operands: &[NodeId]) -> String {
        let mut values = Vec::new();
        for operand in operands {
            if self.is_constant(*operand) || values.len() == VALUES_MAX {
                continue;
            }
            if let Ok(value) = self.0.eval(*operand) {
                values.push(self.named_value(*operand, &value));
            }
        }
        values.dedup();
        self.verdict(id, holds, &values.join(", "))
    }

    fn named_value(&self, id: NodeId, value: &Value) -> String {
        format!("{} = {}", self.source(id), value.shown(SHOWN_VALUE_CHARS_MAX))
    }

    fn is_constant(&self, id: NodeId) -> bool {
        match &self.0.program.node(id).kind {
            Kind::Literal(_) => true,
            Kind::List(items) => items.iter().all(|item| self.is_constant(*item)),
            _ => false,
        }
    }

    /// Names the element that decided, or how many there were.
    fn elements(&mut self, each: Each, source: NodeId, variable: &str, body: NodeId, holds: bool) -> String {
        let Ok(elements) = self.0.elements(source) else {
            return String::new();
        };
        if elements.is_empty() {
            return format!("{} is empty", self.source(source));
        }
        let wanted = match each {
            Each::All => false,
            Each::Exists | Each::ExistsOne | Each::Map | Each::Filter => true,
        };
        let mut matching =
            elements.iter().filter(|element| matches!(self.0.truth_with(element, body), Ok(truth) if truth == wanted));
        match each {
            Each::All if holds => format!("for all {}", elements.len()),
            Each::Exists if !holds => format!("for none of {}", elements.len()),
            Each::ExistsOne if !holds => {
                format!("for {} of {}", matching.count(), elements.len())
            }
            Each::All | Each::Exists | Each::ExistsOne => match matching.next() {
                Some(element) => format!("{variable} = {}", element.shown(SHOWN_VALUE_CHARS_MAX)),
                None => String::new(),
            },
            // These make lists, which a test refuses before it asks why.
            Each::Map | Each::Filter => String::new(),
        }
    }
}
