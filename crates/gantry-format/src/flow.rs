//! Mermaid flowcharts as plan files: what the import says, as findings of a report.

use std::collections::BTreeMap;

use gantry_core::plan::{Plan, Severity};

use crate::diagnostic::{Diagnostic, Findings};
use crate::mermaid::{self, Imported, NoteKind};
use crate::node::Span;

/// Reads a flowchart as a plan.
pub(crate) fn read(source: &str) -> (Option<Plan>, Findings) {
    let mut findings = Findings::default();
    let chart = match mermaid::parse(source) {
        Ok(chart) => chart,
        Err(problems) => {
            for problem in problems {
                findings.push(
                    Diagnostic::error("file::syntax", format!("not a flowchart: {}", problem.message))
                        .at(place(&problem.span))
                        .hint(problem.hint),
                );
            }
            return (None, findings);
        }
    };
    let Imported { plan, notes } = mermaid::import(&chart);
    // The import knows where each problem of the plan stands in the drawing.
    let mut places: BTreeMap<String, Span> = BTreeMap::new();
    for note in notes {
        match note.kind {
            NoteKind::Repair => drop(places.insert(note.text, place(&note.span))),
            NoteKind::Loss => findings.push(Diagnostic::warning("plan::chart-loss", note.text).at(place(&note.span))),
            NoteKind::Reading => findings.push(Diagnostic::note("plan::chart", note.text).at(place(&note.span))),
        }
    }
    for problem in plan.check() {
        let mut finding = match problem.severity {
            Severity::Error => Diagnostic::error(problem.code, problem.message.clone()),
            Severity::Warning => Diagnostic::warning(problem.code, problem.message.clone()),
        };
        finding.span = places.get(&problem.message).copied();
        findings.push(finding.hint_opt(problem.hint));
    }
    (Some(plan), findings)
}

fn place(span: &mermaid::Span) -> Span {
    Span::new(span.start, span.end)
}
