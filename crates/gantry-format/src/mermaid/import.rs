//! Making a plan of a flowchart.
//!
//! Nodes become tasks and subgraphs the composites around them. An arrow means "waits for". A
//! diamond is a decision, or a gate when its text says so, and the texts on the arrows out of it
//! are its outcomes. An arrow that closes a circle becomes a way back with a limit, because a plan
//! never has circles.
//!
//! Whatever cannot be kept, or means something else in a plan, is a [`Note`]. Looks that carry no
//! meaning in the chart either (line thickness, directions, most shapes) are not noted.

mod arrows; // in reading order
mod circles;
mod draft;
mod roles;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::id::TaskId;
use gantry_core::plan::{Plan, Route, Severity};

use super::chart::{Flowchart, Span};
use draft::Draft;

/// The title of a plan whose chart has none.
const TITLE: &str = "Imported flowchart";

/// A plan made of a flowchart, and what changed on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The plan.
    pub plan: Plan,
    /// What changed its meaning or was left out, in the order of the chart.
    pub notes: Vec<Note>,
}

/// Something that is not in the plan as it was in the chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What sort of note it is.
    pub kind: NoteKind,
    /// Where it stands in the chart, in bytes.
    pub span: Span,
    /// What became of it, as a lowercase fragment.
    pub text: String,
}

/// What sort of note it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// How something was understood.
    Reading,
    /// Something was left out.
    Loss,
    /// The plan's own check refuses it.
    Repair,
}

/// The notes so far.
#[derive(Default)]
struct Notes(Vec<Note>);

impl Notes {
    /// Says how something was understood.
    fn add(&mut self, span: &Span, text: impl Into<String>) {
        self.push(NoteKind::Reading, span, text.into());
    }

    /// Says what was left out.
    fn lost(&mut self, span: &Span, text: impl Into<String>) {
        self.push(NoteKind::Loss, span, text.into());
    }

    fn push(&mut self, kind: NoteKind, span: &Span, text: String) {
        self.0.push(Note { kind, span: span.clone(), text });
    }
}

/// Makes a plan of the flowchart.
pub fn import(chart: &Flowchart) -> Imported {
    let mut notes = Notes::default();
    for ignored in &chart.ignored {
        notes.lost(&ignored.span, format!("{} is left out", ignored.kind.describe()));
    }
    let mut draft = Draft::new(chart, &mut notes);
    let mut arrows = arrows::read(chart, &draft, &mut notes);
    circles::find(&draft.parents, &mut arrows);
    let roles = roles::assign(chart, &draft, &arrows, &mut notes);
    let route_spans = arrows::apply(&mut draft, &roles, &arrows, &mut notes);
    let task_spans = draft.spans_by_id();
    let mut plan =
        Plan { title: chart.title.clone().unwrap_or_else(|| TITLE.to_owned()), tasks: draft.tasks, ..Plan::default() };
    plan.sort_tree();
    settle(&mut plan, &task_spans, &route_spans, &mut notes);
    notes.0.sort_by_key(|note| note.span.start);
    Imported { plan, notes: notes.0 }
}

/// Removes the ways back that the plan's own check refuses, and notes everything else that it says.
///
/// Such a way leads into a part of a composite that was over before: only the whole composite
/// could be done again, and the chart does not say that.
fn settle(
    plan: &mut Plan,
    task_spans: &BTreeMap<TaskId, Span>,
    route_spans: &BTreeMap<TaskId, Vec<Span>>,
    notes: &mut Notes,
) {
    let mut refused = Vec::new();
    for problem in plan.check().into_iter().filter(|problem| problem.severity == Severity::Error) {
        let task = problem.place.task.and_then(|task| plan.tasks.get(task));
        let route = problem.place.path.strip_prefix("next.").and_then(|path| path.strip_suffix(".to"));
        if problem.code == "plan::route-not-back"
            && let (Some(task), Some(Ok(route))) = (problem.place.task, route.map(str::parse::<usize>))
        {
            refused.push((task, route));
        } else {
            let span = task.and_then(|task| task_spans.get(&task.id)).cloned().unwrap_or_default();
            notes.push(NoteKind::Repair, &span, problem.message);
        }
    }
    // From the back, so that the positions of the others stay true.
    refused.sort_unstable();
    let mut no_longer_true = BTreeSet::new();
    for (task, route) in refused.into_iter().rev() {
        let from = plan.tasks[task].id.clone();
        let Route { to, max, .. } = plan.tasks[task].next.remove(route);
        let span = route_spans.get(&from).and_then(|spans| spans.get(route)).cloned().unwrap_or_default();
        no_longer_true.extend(max.map(|max| arrows::becomes_way_back(&from, &to, max)));
        notes.lost(&span, format!("the link from `{from}` back to `{to}` is left out: `{from}` does not wait for it"));
    }
    notes.0.retain(|note| !no_longer_true.contains(&note.text));
}
