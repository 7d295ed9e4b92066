//! Arrows: which ones mean something, and what each becomes: a dependency or a route.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Branch, Decide, Gate, On, Route};

use super::Notes;
use super::draft::Draft;
use super::roles::Role;
use super::words::{Ruling, ending, outcome, plain_text, rounds, ruling};
use crate::mermaid::chart::{EdgeStyle, FlowEdge, Flowchart, Span};

/// How many rounds a way back may take when the chart does not say.
const ROUNDS_MAX: u32 = 3;

/// An edge of the chart that means something in the plan.
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Option<String>,
    /// How many rounds the chart allows.
    pub(super) rounds_max: Option<u32>,
    /// Whether it closes a circle.
    pub(super) leads_back: bool,
    pub(super) span: Span,
}

/// Reads the arrows of the chart.
pub(super) fn read(chart: &Flowchart, draft: &Draft, notes: &mut Notes) -> Vec<Arrow> {
    chart.edges.iter().filter_map(|edge| read_one(edge, draft, notes)).collect()
}

fn read_one(edge: &FlowEdge, draft: &Draft, notes: &mut Notes) -> Option<Arrow> {
    let name = format!("`{}` to `{}`", edge.from, edge.to);
    let (from, to) = (*draft.by_chart_id.get(&edge.from)?, *draft.by_chart_id.get(&edge.to)?);
    if edge.style == EdgeStyle::Invisible {
        notes.lost(&edge.span, format!("the invisible link from {name} is left out"));
        return None;
    }
    if draft.are_kin(from, to) {
        notes.lost(&edge.span, format!("the link from {name} is left out: one contains the other"));
        return None;
    }
    if edge.both_ways {
        notes.lost(&edge.span, format!("the link from {name} points both ways, and only this one is kept"));
    } else if !edge.arrow {
        notes.add(&edge.span, format!("the link from {name} has no arrow, and is read as one in this direction"));
    }
    let text = plain_text(edge.label.as_deref().unwrap_or_default());
    if text.lost_markup {
        notes.lost(&edge.span, format!("the formatting of `{}` is left out", text.text));
    }
    let (label, rounds_max) = match edge.style {
        EdgeStyle::Dotted => rounds(&text.text),
        EdgeStyle::Solid | EdgeStyle::Thick | EdgeStyle::Invisible => (text.text.as_str(), None),
    };
    Some(Arrow {
        from,
        to,
        label: Some(label.to_owned()).filter(|label| !label.is_empty()),
        rounds_max,
        leads_back: from == to || rounds_max.is_some(),
        span: edge.span.clone(),
    })
}

/// Turns arrows into dependencies and routes, and roles into actions.
///
/// Returns where the routes of each task stand in the chart, in the order of its routes.
pub(super) fn apply(
    draft: &mut Draft,
    roles: &[Role],
    arrows: &[Arrow],
    notes: &mut Notes,
) -> BTreeMap<TaskId, Vec<Span>> {
    let endings: Vec<Option<On>> =
        arrows.iter().map(|arrow| followed(arrow, roles[arrow.from], draft, notes)).collect();
    set_actions(draft, roles, arrows, &endings);
    let routed_to: BTreeSet<usize> = arrows
        .iter()
        .zip(&endings)
        .filter(|(arrow, on)| on.is_some() && !arrow.leads_back)
        .map(|(arrow, _)| arrow.to)
        .collect();

    let mut connected = BTreeSet::new();
    let mut spans: BTreeMap<TaskId, Vec<Span>> = BTreeMap::new();
    for (arrow, on) in arrows.iter().zip(endings) {
        let (from, to) = (draft.tasks[arrow.from].id.clone(), draft.tasks[arrow.to].id.clone());
        if on.is_none() && !arrow.leads_back && routed_to.contains(&arrow.to) {
            notes.add(&arrow.span, format!("`{to}` starts after `{from}` or after another way in, whichever is taken"));
        }
        let is_route = on.is_some() || arrow.leads_back || routed_to.contains(&arrow.to);
        let on = is_route.then(|| on.unwrap_or(On::Success));
        if !connected.insert((arrow.from, arrow.to, on.clone())) {
            notes.add(&arrow.span, format!("the link from `{from}` to `{to}` is drawn twice"));
            continue;
        }
        let Some(on) = on else {
            draft.tasks[arrow.to].depends_on.push(from);
            continue;
        };
        let max = arrow.leads_back.then(|| arrow.rounds_max.unwrap_or(ROUNDS_MAX));
        if let (Some(max), None) = (max, arrow.rounds_max) {
            notes.add(&arrow.span, becomes_way_back(&from, &to, max));
        }
        draft.tasks[arrow.from].next.push(Route { on, to, max, when: None });
        spans.entry(from).or_default().push(arrow.span.clone());
    }
    spans
}

/// Says that an arrow became a way back.
pub(super) fn becomes_way_back(from: &TaskId, to: &TaskId, max: u32) -> String {
    format!("the link from `{from}` to `{to}` closes a circle: it becomes a way back, taken at most {max} times")
}

/// Returns the ending that an arrow follows; none when it follows the task whatever happens.
fn followed(arrow: &Arrow, role: Role, draft: &Draft, notes: &mut Notes) -> Option<On> {
    let label = arrow.label.as_deref()?;
    let from = &draft.tasks[arrow.from].id;
    let on = match role {
        Role::Task => ending(label),
        Role::Decision => Some(outcome(label)),
        Role::Gate => ruling(label).map(|ruling| match ruling {
            // Work that is refused and goes back is work that needs changes.
            Ruling::Rejected if arrow.leads_back => Ruling::NeedsChanges.on(),
            ruling => ruling.on(),
        }),
    };
    match &on {
        None => notes.lost(
            &arrow.span,
            format!("the text `{label}` on a link out of `{from}` is left out: it names no ending of a task"),
        ),
        Some(on) if on.to_string().replace('_', " ") != label.replace('_', " ") => {
            notes.add(&arrow.span, format!("`{label}` on a link out of `{from}` is read as `{on}`"));
        }
        Some(_) => {}
    }
    on
}

fn set_actions(draft: &mut Draft, roles: &[Role], arrows: &[Arrow], endings: &[Option<On>]) {
    let mut outcomes: Vec<Vec<Branch>> = vec![Vec::new(); roles.len()];
    let mut known = BTreeSet::new();
    for (arrow, on) in arrows.iter().zip(endings) {
        if let Some(On::Outcome(outcome)) = on
            && known.insert((arrow.from, outcome))
        {
            outcomes[arrow.from].push(Branch { outcome: outcome.clone(), when: None });
        }
    }
    for (position, (role, options)) in roles.iter().zip(outcomes).enumerate() {
        let task = &mut draft.tasks[position];
        task.action = match role {
            Role::Task => None,
            Role::Decision => {
                Some(Action::Decide(Decide { question: task.name().to_owned(), options, otherwise: None }))
            }
            Role::Gate => Some(Action::Gate(Gate::default())),
        };
    }
}
