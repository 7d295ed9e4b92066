//! What depends on what, as arrows that turn at right angles and stay out of the way.

use super::{Gantt, LinkKind, TaskShape, layout::Layout, rows::Row};
use crate::chart::{
    pen::{Heading, Path, arrow_head},
    text,
};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The most arrows that can still be followed; shorter and critical ones come first.
const LINKS_MAX: usize = 600;

/// The longest way in rows of an arrow that is not critical, where there are many rows.
const REACH_MAX: usize = 60;

/// An arrow between two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link {
    from: usize,
    to: usize,
    kind: LinkKind,
    critical: bool,
}

/// The arrows that are drawn, and how many are not.
pub(super) struct Links {
    pub drawn: Vec<Link>,
    pub left_out: usize,
}

/// Chooses the arrows that help: none inside a row, none twice, and in a large chart the critical and the short ones.
pub(super) fn choose(chart: &Gantt, rows: &[Row]) -> Links {
    let mut row_of = vec![0; chart.tasks.len()];
    for (at, row) in rows.iter().enumerate() {
        row_of[row.tasks.clone()].fill(at);
    }
    let mut seen = BTreeSet::new();
    let between = chart.links.iter().filter_map(|link| {
        let (from, to) = (*row_of.get(link.from)?, *row_of.get(link.to)?);
        Some(Link { from, to, kind: link.kind, critical: link.critical })
    });
    let mut links: Vec<Link> = between.filter(|link| link.from != link.to && seen.insert(*link)).collect();
    let all = links.len();
    // Tasks inside one row overlap: an arrow from the end of the row to the beginning of another would say nothing true.
    links.retain(|link| !rows[link.from].is_folded() && !rows[link.to].is_folded());
    if rows.len() > 2 * REACH_MAX || all > LINKS_MAX {
        links.retain(|link| link.critical || link.from.abs_diff(link.to) <= REACH_MAX);
    }
    links.sort_by_key(|link| (!link.critical, link.from.abs_diff(link.to), link.from, link.to));
    links.truncate(LINKS_MAX);
    links.reverse(); // The critical ones are drawn last, above the others.
    Links { left_out: all - links.len(), drawn: links }
}

/// Draws the arrows.
pub(super) fn draw(layout: &Layout<'_>, links: &Links) -> Markup {
    html! {
        @for link in &links.drawn {
            @let (points, heading) = route(layout, link);
            @let tip = points[points.len() - 1];
            @let (line, head) = if link.critical { ("gc-link-critical", "gc-head-critical") } else { ("gc-link", "gc-head") };
            g {
                title { (words(layout, link)) }
                path class=(line) d=(Path::rounded(&points, 4.0)) {}
                path class=(head) d=(arrow_head(tip.0, tip.1, heading, 6.0)) {}
            }
        }
    }
}

fn words(layout: &Layout<'_>, link: &Link) -> String {
    let name = |row: usize| {
        let task = &layout.chart.tasks[layout.rows[row].tasks.start];
        text::clean_or(&task.name, "unnamed")
    };
    let (from, to) = (name(link.from), name(link.to));
    let said = match link.kind {
        LinkKind::FinishToStart => format!("{to} starts after {from} has finished"),
        LinkKind::StartToStart => format!("{to} starts after {from} has started"),
        LinkKind::FinishToFinish => format!("{to} finishes after {from} has finished"),
        LinkKind::StartToFinish => format!("{to} finishes after {from} has started"),
    };
    if link.critical { format!("{said} (critical)") } else { said }
}

/// Returns the way of an arrow and where its head points.
fn route(layout: &Layout<'_>, link: &Link) -> (Vec<(f64, f64)>, Heading) {
    const OUT: f64 = 7.0;
    const IN: f64 = 9.0;
    let ((from_left, from_right), (to_left, to_right)) = (ends(layout, link.from), ends(layout, link.to));
    let (y, to_y) = (layout.middle(link.from), layout.middle(link.to));
    let is_down = link.to > link.from;
    // Between the row of the second task and the one before it on the way.
    let lane = if is_down { layout.tops[link.to] } else { layout.tops[link.to] + layout.sizes.row };
    let clamp = |x: f64| x.clamp(layout.plot.0 + 2.0, layout.plot.1 - 2.0);
    match link.kind {
        LinkKind::FinishToStart if to_left >= from_right + OUT + IN => {
            let turn = from_right + OUT;
            (vec![(from_right, y), (turn, y), (turn, to_y), (to_left, to_y)], Heading::Right)
        }
        LinkKind::FinishToStart if let Some(drop) = drop_x(layout, link) => {
            let half = layout.sizes.bar / 2.0 + if is_milestone(layout, link.to) { 1.0 } else { 0.0 };
            let (end, heading) = if is_down { (to_y - half, Heading::Down) } else { (to_y + half, Heading::Up) };
            (vec![(from_right.min(drop), y), (drop, y), (drop, end)], heading)
        }
        LinkKind::FinishToStart => {
            let (out, into) = (clamp(from_right + OUT), clamp(to_left - IN));
            (vec![(from_right, y), (out, y), (out, lane), (into, lane), (into, to_y), (to_left, to_y)], Heading::Right)
        }
        LinkKind::StartToStart => {
            let turn = clamp(from_left.min(to_left) - IN);
            (vec![(from_left, y), (turn, y), (turn, to_y), (to_left, to_y)], Heading::Right)
        }
        LinkKind::FinishToFinish => {
            let turn = clamp(from_right.max(to_right) + IN);
            (vec![(from_right, y), (turn, y), (turn, to_y), (to_right, to_y)], Heading::Left)
        }
        LinkKind::StartToFinish => {
            let (out, into) = (clamp(from_left - OUT), clamp(to_right + IN));
            (vec![(from_left, y), (out, y), (out, lane), (into, lane), (into, to_y), (to_right, to_y)], Heading::Left)
        }
    }
}

/// Returns where an arrow can drop straight onto the second task: when it starts as the first finishes, and is wide enough.
fn drop_x(layout: &Layout<'_>, link: &Link) -> Option<f64> {
    let (from, to) = (&layout.rows[link.from], &layout.rows[link.to]);
    let (_, from_right) = ends(layout, link.from);
    let (to_left, to_right) = ends(layout, link.to);
    let (finish, start) = (layout.at(from.finish), layout.at(to.start));
    if start < finish - 1.0 {
        return None;
    }
    if is_milestone(layout, link.to) {
        return (start >= from_right - 1.0).then_some(start);
    }
    let drop = (to_left + 5.0).max(from_right + 2.0);
    (drop <= to_right - 2.0).then_some(drop)
}

fn is_milestone(layout: &Layout<'_>, row: usize) -> bool {
    let row = &layout.rows[row];
    !row.is_folded() && layout.chart.tasks[row.tasks.start].shape == TaskShape::Milestone
}

/// Returns the left and the right end of the mark of a row.
fn ends(layout: &Layout<'_>, row: usize) -> (f64, f64) {
    let Row { start, finish, .. } = layout.rows[row];
    if is_milestone(layout, row) {
        let (x, reach) = (layout.at(finish), layout.sizes.bar / 2.0 + 1.0);
        return (x - reach, x + reach);
    }
    layout.bar(start, finish)
}
