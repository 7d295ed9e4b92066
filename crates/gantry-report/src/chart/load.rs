//! Resource load: how much of each person, crew or machine is wanted over time, against how much there is.

mod profile; // in reading order
mod panel;

use super::{
    frame::{self, Frame},
    legend::{self, Legend},
    measure::Measure,
    moment::{Clock, Moment},
    plot::{AXIS_PX, Labels, Marker, Markers, Plot},
    scale::Scale,
    text,
};
use maud::html;
use panel::Panel;
use profile::{Peak, Stretch};

/// The load of several resources on one axis of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// How moments are read.
    pub clock: Clock,
    /// The resources, from top to bottom.
    pub resources: Vec<Resource>,
    /// The moment up to which things are known.
    pub today: Option<Moment>,
}

/// A person, a crew or a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resource {
    /// What it is called.
    pub name: String,
    /// What is counted, such as `people`; may be empty.
    pub unit: String,
    /// How much there is, from moment to moment; nothing before the first.
    pub capacity: Vec<Capacity>,
    /// Who takes how much of it.
    pub uses: Vec<Use>,
}

/// How much of a resource there is from a moment on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacity {
    /// Since when.
    pub from: Moment,
    /// How much.
    pub amount: f64,
}

/// A task's share of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Use {
    /// What the task is called.
    pub task: String,
    /// Since when.
    pub from: Moment,
    /// Until when.
    pub until: Moment,
    /// How much.
    pub amount: f64,
}

/// The most resources that are drawn; those with too much to do come first.
const PANELS_MAX: usize = 40;

impl Load {
    /// Draws the chart.
    pub fn svg(&self, frame: &Frame) -> String {
        if self.resources.is_empty() {
            return frame::empty(frame, "No resources.", "Load chart without resources.");
        }
        let (from, until) = self.span();
        let profiles: Vec<(Vec<Stretch>, Peak)> = self
            .resources
            .iter()
            .map(|resource| {
                let stretches = profile::profile(resource, from, until);
                let peak = profile::peak(&stretches);
                (stretches, peak)
            })
            .collect();
        let shown = choose(&profiles);
        let is_over = shown.iter().any(|at| profiles[*at].1.first_over.is_some());
        let legend = Legend::default()
            .add(!shown.is_empty(), "Wanted", legend::swatch("gc-bar-3"))
            .add(!shown.is_empty(), "Capacity", legend::stroke("gc-capacity"))
            .add(is_over, "Over-allocated", legend::patterned("gc-critical", frame.fill("over")));
        let top = frame::top(frame, &self.message(&profiles), &legend);
        let (left, right) = (frame.margin() + 34.0, frame.width() - frame.margin());
        let x = Scale::over(from.value(), until.value(), left, right);
        let measure = Measure::Time(self.clock.clone());
        let markers: Vec<Marker> = self
            .today
            .into_iter()
            .map(|today| Marker {
                value: today.value(),
                label: format!("Today {}", measure.brief(today.value(), x.until - x.from)),
                words: format!("Today: {}", self.clock.full(today)),
                class: "gc-today",
            })
            .collect();
        let markers = Markers::place(&markers, &x, right);
        let height = if shown.len() <= 8 { 84.0 } else { 52.0 };
        let first = top.height + markers.height();
        let pitch = height + panel::NAME_PX + 14.0;
        let panels: Vec<Panel<'_>> = shown
            .iter()
            .enumerate()
            .map(|(row, at)| {
                let top = first + pitch * f64::from(u32::try_from(row).unwrap_or(0)) + panel::NAME_PX;
                Panel {
                    frame,
                    clock: &self.clock,
                    resource: &self.resources[*at],
                    stretches: &profiles[*at].0,
                    peak: &profiles[*at].1,
                    plot: Plot { left, top, right, bottom: top + height },
                    x,
                }
            })
            .collect();
        let bottom = panels.last().map_or(first + 20.0, |panel| panel.plot.bottom);
        let whole = Plot { left, top: first, right, bottom };
        let drawn = html! {
            (top.drawn)
            (markers.draw(&whole))
            @for panel in &panels { (panel.draw()) }
            (whole.axis_below(&x, &measure, Labels::AtMarks))
        };
        frame::svg(frame, (frame.width(), bottom + AXIS_PX + 8.0), &self.words(&profiles), drawn)
    }

    /// The time that is drawn: from the first use to the last.
    fn span(&self) -> (Moment, Moment) {
        let uses = || self.resources.iter().flat_map(profile::used);
        let from = uses().map(|one| one.from).min().or(self.today).unwrap_or_default();
        let until = uses().map(|one| one.until).max().unwrap_or(from);
        let least = Measure::Time(self.clock.clone()).least();
        (from, Moment::at(until.value().max(from.value() + least)))
    }

    fn message(&self, profiles: &[(Vec<Stretch>, Peak)]) -> String {
        let over: Vec<String> = self
            .resources
            .iter()
            .zip(profiles)
            .filter(|(_, (_, peak))| peak.first_over.is_some())
            .map(|(resource, (_, peak))| {
                let length = self.clock.length(Moment::at(0.0), Moment::at(peak.over));
                format!("{} (for {length})", text::clean_or(&resource.name, "unnamed"))
            })
            .collect();
        let hidden = self.resources.len().saturating_sub(PANELS_MAX);
        let rest = if hidden > 0 {
            format!(" {} not drawn.", text::count(hidden, "less loaded resource"))
        } else {
            String::new()
        };
        match over.len() {
            0 => format!("No resource is over-allocated.{rest}"),
            n => format!(
                "{} of {} over-allocated: {}.{rest}",
                n,
                text::count(self.resources.len(), "resource"),
                text::list(&over, 4)
            ),
        }
    }

    fn words(&self, profiles: &[(Vec<Stretch>, Peak)]) -> String {
        let (from, until) = self.span();
        let each: Vec<String> = self
            .resources
            .iter()
            .zip(profiles)
            .map(|(resource, (stretches, peak))| {
                let most = stretches.iter().map(|stretch| stretch.capacity).fold(0.0, f64::max);
                let unit = Measure::amount(&resource.unit);
                let over = peak.first_over.map_or(String::new(), |at| {
                    format!(
                        ", over-allocated from {} on by up to {}",
                        self.clock.full(at),
                        unit.full(peak.missing, 0.0)
                    )
                });
                let name = text::clean_or(&resource.name, "unnamed");
                format!(
                    "{name} peaks at {} of {}{over}",
                    Measure::amount("").full(peak.wanted, 0.0),
                    unit.full(most, 0.0)
                )
            })
            .collect();
        let said = format!(
            "Load of {} from {} to {}. {}",
            text::count(self.resources.len(), "resource"),
            self.clock.full(from),
            self.clock.full(until),
            self.message(profiles)
        );
        if each.is_empty() { said } else { format!("{said} {}.", text::list(&each, 12)) }
    }
}

/// Returns the places of the resources that are drawn, in their own order.
fn choose(profiles: &[(Vec<Stretch>, Peak)]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..profiles.len()).collect();
    places.sort_by(|a, b| {
        profiles[*b]
            .1
            .over
            .total_cmp(&profiles[*a].1.over)
            .then(profiles[*b].1.wanted.total_cmp(&profiles[*a].1.wanted))
    });
    places.truncate(PANELS_MAX);
    places.sort_unstable();
    places
}
