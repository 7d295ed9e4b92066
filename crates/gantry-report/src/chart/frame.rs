//! What surrounds every chart: the SVG element, its style, its words and its heading.

use super::{
    legend::Legend,
    pen::Px,
    text,
    theme::{self, Theme},
};
use maud::{Markup, PreEscaped, html};

/// What all charts share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What the chart is called.
    pub title: String,
    /// How wide it is; kept between 320 and 4,000.
    pub width_px: u32,
    /// What its element ids begin with: letters, digits and dashes. Charts on one page need different ones.
    pub id: String,
    /// Whether the title is drawn too.
    pub heading: Heading,
    /// Whether it is light or dark.
    pub theme: Theme,
    /// Whether it brings its own style sheet.
    pub sheet: Sheet,
}

/// Where the style sheet of a chart stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sheet {
    /// Inside the chart, which then stands alone.
    #[default]
    Inside,
    /// In the page around it, once for all charts ([`style`](super::style)).
    OfThePage,
}

/// Whether a chart draws its own title; it always says it to screen readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heading {
    /// The title and a line with what matters most stand above the chart.
    #[default]
    Shown,
    /// The page around the chart has a heading already.
    Hidden,
}

impl Frame {
    /// Returns a frame with a title and a width.
    pub fn titled(title: &str, width_px: u32) -> Self {
        Self {
            title: title.to_owned(),
            width_px,
            id: "chart".to_owned(),
            heading: Heading::Shown,
            theme: Theme::Follow,
            sheet: Sheet::Inside,
        }
    }

    /// Returns the width that is drawn.
    pub(super) fn width(&self) -> f64 {
        f64::from(self.width_px.clamp(320, 4_000))
    }

    /// Says whether the chart is for a small screen.
    pub(super) fn is_narrow(&self) -> bool {
        self.width_px < 640
    }

    /// Returns the distance kept from the sides.
    pub(super) fn margin(&self) -> f64 {
        if self.is_narrow() { 12.0 } else { 24.0 }
    }

    /// Returns the id of a thing inside this chart.
    pub(super) fn id_of(&self, what: &str) -> String {
        let safe: String = self.id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
        let safe = if safe.starts_with(|c: char| c.is_ascii_alphabetic()) { safe } else { format!("chart{safe}") };
        format!("{safe}-{what}")
    }

    /// Returns the fill of a pattern of this chart.
    pub(super) fn fill(&self, pattern: &str) -> String {
        format!("url(#{})", self.id_of(pattern))
    }
}

/// What stands above a drawing, and how much room it takes.
pub(super) struct Top {
    pub drawn: Markup,
    pub height: f64,
}

/// Draws the title, a line that says what matters most, and the legend.
pub(super) fn top(frame: &Frame, message: &str, legend: &Legend) -> Top {
    let (left, room) = (frame.margin(), frame.width() - 2.0 * frame.margin());
    let title = text::wrap(&frame.title, 17.0, room, 2);
    let message = text::wrap(message, 12.5, room, 3);
    let (title, message) = match frame.heading {
        Heading::Shown => (title, message),
        Heading::Hidden => (Vec::new(), Vec::new()),
    };
    let mut y = 12.0;
    let mut placed = |line: String, height: f64| {
        y += height;
        (line, y)
    };
    let title: Vec<_> = title.into_iter().map(|line| placed(line, 20.0)).collect();
    let message: Vec<_> = message.into_iter().map(|line| placed(line, 17.0)).collect();
    let legend = legend.draw(frame, left, y + 12.0, room);
    let drawn = html! {
        @for (line, y) in &title { text.gc-title x=(Px(left)) y=(Px(*y)) { (line) } }
        @for (line, y) in &message { text.gc-soft x=(Px(left)) y=(Px(*y)) { (line) } }
        (legend.drawn)
    };
    Top { drawn, height: y + 12.0 + legend.height }
}

/// Puts a drawing into its SVG element.
pub(super) fn svg(frame: &Frame, size: (f64, f64), words: &str, drawn: Markup) -> String {
    let (width, height) = (size.0, size.1.max(40.0));
    let (title, words) = (text::clean_or(&frame.title, "Chart"), words.trim());
    let (title_id, words_id) = (frame.id_of("title"), frame.id_of("desc"));
    let named_by = format!("{title_id} {words_id}");
    let view = html! { "0 0 " (Px(width)) " " (Px(height)) };
    html! {
        svg.gc xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby=(named_by)
            width=(Px(width)) height=(Px(height)) viewBox=(view.into_string()) {
            title id=(title_id) { (title) }
            desc id=(words_id) { (words) }
            @if frame.sheet == Sheet::Inside { style { (PreEscaped(theme::style(frame.theme))) } }
            defs { (patterns(frame)) }
            rect.gc-paper width=(Px(width)) height=(Px(height)) {}
            (drawn)
        }
    }
    .into_string()
}

/// A chart with nothing to draw: what it is called and why it is empty.
pub(super) fn empty(frame: &Frame, message: &str, words: &str) -> String {
    let top = top(frame, message, &Legend::default());
    svg(frame, (frame.width(), top.height + 12.0), words, top.drawn)
}

/// Stripes that meet those of the next tile.
const STRIPES: &str = "M-1 1L1 -1M0 6L6 0M5 7L7 5";

/// The patterns that carry meaning beside colour.
fn patterns(frame: &Frame) -> Markup {
    html! {
        pattern id=(frame.id_of("hatch")) width="6" height="6" patternUnits="userSpaceOnUse" {
            path.gc-hatch d=(STRIPES) {}
        }
        pattern id=(frame.id_of("over")) width="6" height="6" patternUnits="userSpaceOnUse" {
            rect.gc-critical width="6" height="6" {}
            path.gc-hatch-over d=(STRIPES) {}
        }
    }
}
