//! The legend: what each mark means, only for marks that are there.

use super::{
    frame::{Frame, Top},
    pen::Px,
    text,
};
use maud::{Markup, html};

const SIZE_PX: f64 = 11.0;
const SWATCH_PX: f64 = 22.0;
const LINE_PX: f64 = 18.0;

/// The entries of a legend.
#[derive(Default)]
pub(super) struct Legend(Vec<Entry>);

struct Entry {
    label: String,
    /// Draws the mark with its left end at a point, in the middle of the line.
    mark: Box<dyn Fn(f64, f64) -> Markup>,
}

impl Legend {
    /// Adds an entry where the chart has such a mark.
    pub(super) fn add(mut self, is_there: bool, label: &str, mark: impl Fn(f64, f64) -> Markup + 'static) -> Self {
        if is_there {
            self.0.push(Entry { label: label.to_owned(), mark: Box::new(mark) });
        }
        self
    }

    /// Draws the entries in as many lines as they need.
    pub(super) fn draw(&self, frame: &Frame, left: f64, top: f64, room: f64) -> Top {
        let gap = if frame.is_narrow() { 12.0 } else { 18.0 };
        let (mut x, mut y) = (left, top + LINE_PX / 2.0);
        let mut placed = Vec::new();
        for entry in &self.0 {
            let label = text::fit(&entry.label, SIZE_PX, room - SWATCH_PX - 6.0);
            let width = SWATCH_PX + 6.0 + text::width(&label, SIZE_PX);
            if x > left && x + width > left + room {
                (x, y) = (left, y + LINE_PX);
            }
            placed.push((x, y, label, &entry.mark));
            x += width + gap;
        }
        let height = if self.0.is_empty() { 0.0 } else { y - top + LINE_PX / 2.0 + 8.0 };
        let drawn = html! {
            @for (x, y, label, mark) in placed {
                g {
                    (mark(x, y))
                    text.gc-soft.gc-small x=(Px(x + SWATCH_PX + 6.0)) y=(Px(y + 4.0)) { (label) }
                }
            }
        };
        Top { drawn, height }
    }
}

/// A filled rectangle of a class, as a legend shows it.
pub(super) fn swatch(class: &'static str) -> impl Fn(f64, f64) -> Markup {
    move |x, y| html! { rect class=(class) x=(Px(x)) y=(Px(y - 5.0)) width=(Px(SWATCH_PX)) height="10" rx="2" {} }
}

/// A filled rectangle of a class with a pattern over it.
pub(super) fn patterned(class: &'static str, fill: String) -> impl Fn(f64, f64) -> Markup {
    move |x, y| {
        html! {
            (swatch(class)(x, y))
            rect fill=(fill) x=(Px(x)) y=(Px(y - 5.0)) width=(Px(SWATCH_PX)) height="10" rx="2" {}
        }
    }
}

/// A line of a class, as a legend shows it.
pub(super) fn stroke(class: &'static str) -> impl Fn(f64, f64) -> Markup {
    move |x, y| {
        let path = super::pen::Path::through(&[(x, y), (x + SWATCH_PX, y)]);
        html! { path class=(class) d=(path) {} }
    }
}
