//! Colours: light and dark, following the reader, the page around the chart, or fixed.

use std::fmt::Write;

/// The rules of every chart; colours appear as `var(--gc-name)`.
const RULES: &str = include_str!("style.css");

/// Whether a chart is light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the reader prefers, or as an element around the chart says with `data-theme="light"` or `"dark"`.
    #[default]
    Follow,
    /// Always light, with the colours written out, also for programs that know no custom properties.
    Light,
    /// Always dark, with the colours written out.
    Dark,
}

/// A colour by its name, on light and on dark paper. A page overrides it with `--gantry-` and the name.
struct Colour(&'static str, &'static str, &'static str);

const COLOURS: [Colour; 18] = [
    Colour("paper", "#ffffff", "#0f1418"),
    Colour("ink", "#1f2328", "#e6ebf0"),
    Colour("soft", "#57606a", "#9da8b3"),
    Colour("grid", "#e4e8ec", "#262e36"),
    Colour("rule", "#b4bcc5", "#55606b"),
    Colour("shade", "#f5f7f9", "#171d23"),
    Colour("bar", "#4f83d4", "#5e93e6"),
    Colour("bar-2", "#a9c4ee", "#33517f"),
    Colour("bar-3", "#7aa3e2", "#4671b3"),
    Colour("done", "#173a73", "#0a1f42"),
    Colour("critical", "#d3452f", "#ef6a55"),
    Colour("critical-done", "#6d1709", "#4a0f06"),
    Colour("summary", "#3b444d", "#b8c2cc"),
    Colour("float", "#7d8792", "#86919c"),
    Colour("deadline", "#7a3fd1", "#b592f5"),
    Colour("today", "#0b6e63", "#35c9b4"),
    Colour("gain", "#16836f", "#35b79d"),
    Colour("on-bar", "#ffffff", "#0f1418"),
];

/// Returns the style sheet inside a chart; pages that forbid styles in place serve it themselves.
pub fn style(theme: Theme) -> String {
    match theme {
        Theme::Follow => {
            let (light, dark) = (properties(|colour| colour.1), properties(|colour| colour.2));
            format!(
                ".gc{{{light}}}\n@media (prefers-color-scheme:dark){{.gc{{{dark}}}}}\n\
                 [data-theme=light] .gc{{{light}}}\n[data-theme=dark] .gc{{{dark}}}\n\
                 @media print{{.gc{{{light}}}}}\n{RULES}"
            )
        }
        Theme::Light => written_out(|colour| colour.1),
        Theme::Dark => written_out(|colour| colour.2),
    }
}

fn properties(value: impl Fn(&Colour) -> &'static str) -> String {
    COLOURS.iter().fold(String::new(), |mut all, colour| {
        // Writing into a string cannot fail.
        let _ = write!(all, "--gc-{0}:var(--gantry-{0},{1});", colour.0, value(colour));
        all
    })
}

fn written_out(value: impl Fn(&Colour) -> &'static str) -> String {
    COLOURS
        .iter()
        .fold(RULES.to_owned(), |rules, colour| rules.replace(&format!("var(--gc-{})", colour.0), value(colour)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of a colour, as the contrast rules of the web define it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    fn colour(name: &str) -> &'static Colour {
        COLOURS.iter().find(|colour| colour.0 == name).unwrap()
    }

    #[test]
    fn text_and_marks_stand_out_from_the_paper() {
        let needs = [("ink", 7.0), ("soft", 4.5), ("deadline", 4.5), ("today", 4.5)];
        let marks = ["bar", "critical", "summary", "float", "gain"].map(|name| (name, 3.0));
        for (name, least) in needs.into_iter().chain(marks) {
            let (mark, paper, shade) = (colour(name), colour("paper"), colour("shade"));
            for (mark, behind) in [(mark.1, paper.1), (mark.1, shade.1), (mark.2, paper.2), (mark.2, shade.2)] {
                assert!(contrast(mark, behind) >= least, "{name} {mark} on {behind}: {:.2}", contrast(mark, behind));
            }
        }
    }

    #[test]
    fn progress_stands_out_from_its_bar() {
        for (done, bar) in [("done", "bar"), ("critical-done", "critical")] {
            let (done, bar) = (colour(done), colour(bar));
            assert!(contrast(done.1, bar.1) >= 2.5 && contrast(done.2, bar.2) >= 2.5);
        }
    }

    #[test]
    fn a_fixed_theme_needs_no_custom_properties() {
        for theme in [Theme::Light, Theme::Dark] {
            assert!(!style(theme).contains("var("), "{theme:?}");
        }
        assert!(style(Theme::Follow).contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn every_colour_of_the_rules_has_a_value() {
        for name in RULES.split("var(--gc-").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            assert!(COLOURS.iter().any(|colour| colour.0 == name), "{name}");
        }
    }
}
