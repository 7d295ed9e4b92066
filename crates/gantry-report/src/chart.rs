//! Charts: plain data in, one self-contained SVG out.
//!
//! Each chart is a struct that says what is to be seen, with a method `svg` that draws it in a [`Frame`].
//! The charts compute nothing that a schedule has computed: percentiles, floats, critical marks and totals
//! come in, so that a chart and the table beside it can never disagree.
//!
//! What holds for every chart:
//! - The SVG stands alone or inside HTML, needs no font, script or style from elsewhere, and follows light and dark.
//!   A page overrides colours with the custom properties `--gantry-ink`, `--gantry-paper` and the others of `theme.rs`.
//! - `title` and `desc` say in words what the picture shows; every mark has a tooltip; meaning never hangs on colour alone.
//! - Names from outside are data: they are escaped, cut to the room there is, and cannot steer the text around them.
//! - Everything lies inside the view box, every number is finite, and the size is bounded however much comes in.
//!
//! ```
//! use gantry_report::chart::{Clock, Frame, Gantt, GanttTask, Moment};
//!
//! let dig = GanttTask::new("Dig", Moment::period(0), Moment::period(4));
//! let chart = Gantt { clock: Clock::periods("day"), tasks: vec![dig], ..Gantt::default() };
//! let svg = chart.svg(&Frame::titled("A hole", 1280));
//! assert!(svg.starts_with("<svg"));
//! ```

mod pen; // in reading order: what all charts draw with …
mod text;
mod moment;
mod calendar;
mod measure;
mod scale;
mod theme;
mod frame;
mod legend;
mod plot;
mod gantt; // … and the charts
mod network;
mod histogram;
mod s_curve;
mod load;
mod cash_flow;
mod tornado;

pub use cash_flow::{CashFlow, CashSpan};
pub use frame::{Frame, Heading, Sheet};
pub use gantt::{Deadline, Float, Gantt, GanttLink, GanttTask, LinkKind, TaskShape};
pub use histogram::{Bin, Histogram, Percentile};
pub use load::{Capacity, Load, Resource, Use};
pub use measure::Measure;
pub use moment::{Clock, Moment, Span};
pub use network::{Network, NetworkLink, NetworkTask};
pub use s_curve::{Curve, CurveKind, Point, SCurve};
pub(crate) use text::legible;
pub use text::thousands;
pub use theme::{Theme, style};
pub use tornado::{Driver, Tornado};
