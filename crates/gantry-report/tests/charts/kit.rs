//! Reads charts back and checks what must hold for every one of them.

use gantry_report::chart::{Frame, Moment};
use jiff::civil::date;
use roxmltree::{Document, Node};

/// A frame of a width.
pub fn frame(width_px: u32) -> Frame {
    Frame::titled("Test", width_px)
}

/// Midnight of a day in March 2026.
pub fn march(day: i8) -> Moment {
    Moment::civil(date(2026, 3, day).at(0, 0, 0, 0))
}

/// The chart without its style, one element on each line, for snapshots.
pub fn lines(svg: &str) -> String {
    let (before, rest) = svg.split_once("<style>").expect("every chart has a style");
    let (_, after) = rest.split_once("</style>").expect("the style ends");
    let body = after.split_once("</defs>").map_or(after, |(_, body)| body);
    format!("{before}…{body}").replace("><", ">\n<")
}

/// The text alternative of a chart.
pub fn description(svg: &str) -> String {
    let document = Document::parse(svg).expect("well-formed");
    let found = document.descendants().find(|node| node.has_tag_name(named("desc")));
    found.and_then(|node| node.text()).expect("every chart has a description").to_owned()
}

/// The visible texts of a chart.
pub fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).expect("well-formed");
    let texts = document.descendants().filter(|node| node.has_tag_name(named("text")));
    texts
        .map(|node| node.descendants().filter_map(|part| part.is_text().then(|| part.text()).flatten()).collect())
        .collect()
}

/// How many elements of a class there are.
pub fn count(svg: &str, class: &str) -> usize {
    let document = Document::parse(svg).expect("well-formed");
    let has =
        |node: &Node<'_, '_>| node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class));
    document.descendants().filter(has).count()
}

/// The attributes that hold numbers.
const MEASURED: [&str; 14] =
    ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "d", "points", "viewBox"];

/// Checks a chart: well-formed, named in words, harmless, and inside its view box. Returns what is wrong.
pub fn faults(svg: &str) -> Vec<String> {
    let document = match Document::parse(svg) {
        Ok(document) => document,
        Err(error) => return vec![format!("not well-formed: {error}")],
    };
    let root = document.root_element();
    let mut faults = Vec::new();
    let mut expect = |is_right: bool, fault: &str| {
        if !is_right {
            faults.push(fault.to_owned());
        }
    };
    expect(root.attribute("role") == Some("img"), "no role");
    let named_by = root.attribute("aria-labelledby").unwrap_or_default();
    for id in named_by.split(' ') {
        let named: Vec<_> = document.descendants().filter(|node| node.attribute("id") == Some(id)).collect();
        expect(named.len() == 1 && named[0].text().is_some_and(|text| !text.trim().is_empty()), "not named in words");
    }
    expect(!svg.chars().any(is_harmful), "a harmful character");
    // Names and ids may say anything.
    let measured = |given: &roxmltree::Attribute<'_, '_>| MEASURED.contains(&given.name());
    let mut numbers = document.descendants().flat_map(|node| node.attributes()).filter(measured);
    let is_none = |text: &str| text.contains("NaN") || text.contains("inf");
    expect(!numbers.any(|given| is_none(given.value())), "a number that is none");
    let tags = ["script", "image", "foreignObject", "use", "a"];
    expect(
        !document.descendants().any(|node| tags.iter().any(|tag| node.has_tag_name(named(tag)))),
        "an active element",
    );
    faults.extend(outside(&document));
    faults
}

fn named(tag: &str) -> (&'static str, &str) {
    ("http://www.w3.org/2000/svg", tag)
}

fn is_harmful(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The elements that reach out of the view box by more than a hair.
fn outside(document: &Document<'_>) -> Vec<String> {
    let view: Vec<f64> =
        document.root_element().attribute("viewBox").unwrap_or_default().split(' ').map(number).collect();
    let [_, _, width, height] = view[..] else { return vec!["no view box".to_owned()] };
    let in_defs = |node: &Node<'_, '_>| node.ancestors().any(|above| above.has_tag_name(named("defs")));
    let marks = document.descendants().filter(|node| node.is_element() && !in_defs(node));
    let is_outside = |(x, y): (f64, f64)| !(-0.6..=width + 0.6).contains(&x) || !(-0.6..=height + 0.6).contains(&y);
    let out = marks.filter(|node| corners(node).into_iter().any(is_outside));
    out.map(|node| {
        format!("outside of {width} × {height}: {} {:?} {:?}", node.tag_name().name(), corners(&node), node.text())
    })
    .collect()
}

/// The points that an element reaches.
fn corners(node: &Node<'_, '_>) -> Vec<(f64, f64)> {
    let at = |name: &str| node.attribute(name).map_or(0.0, number);
    match node.tag_name().name() {
        "rect" => vec![(at("x"), at("y")), (at("x") + at("width"), at("y") + at("height"))],
        "circle" => vec![(at("cx") - at("r"), at("cy") - at("r")), (at("cx") + at("r"), at("cy") + at("r"))],
        "path" => points(node.attribute("d").unwrap_or_default()),
        "text" => {
            let class = node.attribute("class").unwrap_or_default();
            let size = [("gc-title", 16.0), ("gc-small", 11.0), ("gc-tiny", 10.0)]
                .iter()
                .find(|(name, _)| class.contains(name));
            let size = size.map_or(12.0, |(_, size)| *size);
            let said: String =
                node.descendants().filter_map(|part| part.is_text().then(|| part.text()).flatten()).collect();
            let width = said
                .chars()
                .map(|c| if c.is_ascii_uppercase() || c.is_ascii_digit() { 0.5 } else { 0.25 })
                .sum::<f64>()
                * size;
            let left = match () {
                () if class.contains("gc-end") => at("x") - width,
                () if class.contains("gc-middle") => at("x") - width / 2.0,
                () => at("x"),
            };
            vec![(left, at("y") - size * 0.7), (left + width, at("y"))]
        }
        _ => Vec::new(),
    }
}

/// The points of a path; control points count too.
fn points(path: &str) -> Vec<(f64, f64)> {
    let numbers = path.split(|c: char| c.is_ascii_alphabetic() || c == ' ').filter(|part| !part.is_empty()).map(number);
    let numbers: Vec<f64> = numbers.collect();
    assert!(numbers.len().is_multiple_of(2), "{path}");
    numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

#[test]
fn the_checks_can_fail() {
    let chart = |inside: &str| {
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="t d" viewBox="0 0 100 100"><title id="t">T</title><desc id="d">D</desc>{inside}</svg>"#
        )
    };
    assert!(faults(&chart("")).is_empty());
    for broken in [
        r#"<rect x="90" y="0" width="20" height="5"></rect>"#,
        r#"<path d="M0 0L50 -3"></path>"#,
        r#"<text x="95" y="50">LONG WORDS</text>"#,
        "<text x=\"5\" y=\"50\">a\u{202e}b</text>",
        r#"<path d="M0 0LNaN NaN"></path>"#,
        "<script></script>",
        "<text>",
    ] {
        assert!(!faults(&chart(broken)).is_empty(), "{broken}");
    }
}
