//! Charts as they stand inside a page: the same drawing in fewer bytes.

use std::fmt::Write as _;

/// Elements with nothing inside.
const EMPTY: [&str; 6] = ["rect", "path", "line", "circle", "polygon", "polyline"];

/// Writes a chart shorter: empty elements without their ends, straight lines by one coordinate, a place for each number.
pub(super) fn slim(svg: &str) -> String {
    let mut text = svg.replace(" xmlns=\"http://www.w3.org/2000/svg\"", "");
    for name in EMPTY {
        text = text.replace(&format!("></{name}>"), "/>");
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(" d=\"") {
        let start = at + " d=\"".len();
        let Some(end) = rest[start..].find('"').map(|end| start + end) else { break };
        out.push_str(&rest[..start]);
        out.push_str(&path(&rest[start..end]));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// A path of absolute commands; one that has others stays as it is.
fn path(data: &str) -> String {
    let mut out = String::with_capacity(data.len());
    let (mut at, mut rest) = ((f64::NAN, f64::NAN), data);
    while let Some(command) = rest.chars().next() {
        let end = rest[1..].find(|letter: char| letter.is_ascii_alphabetic()).map_or(rest.len(), |end| end + 1);
        let numbers: Option<Vec<f64>> =
            rest[1..end].split([' ', ',']).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect();
        let Some(numbers) = numbers else { return data.to_owned() };
        let numbers: Vec<f64> = numbers.into_iter().map(|number| (number * 10.0).round() / 10.0).collect();
        match (command, numbers.as_slice()) {
            ('Z', []) => out.push('Z'),
            #[expect(clippy::float_cmp, reason = "both were rounded to the same place")]
            ('L', [x, y]) if *y == at.1 => {
                let _ = write!(out, "H{x}");
            }
            #[expect(clippy::float_cmp, reason = "both were rounded to the same place")]
            ('L', [x, y]) if *x == at.0 => {
                let _ = write!(out, "V{y}");
            }
            ('M' | 'L' | 'Q' | 'C', [.., _, _]) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                let _ = write!(out, "{command}{}", numbers.join(" "));
            }
            _ => return data.to_owned(),
        }
        if let [.., x, y] = numbers.as_slice() {
            at = (*x, *y);
        }
        rest = &rest[end..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_gets_shorter_and_stays_the_same() {
        assert_eq!(path("M10 20L30.55 20L30.55 40.01Q1 2 3 4Z"), "M10 20H30.6V40Q1 2 3 4Z");
        assert_eq!(path("M0 0a1 1 0 0 1 2 2"), "M0 0a1 1 0 0 1 2 2", "what is not known stays");
        assert_eq!(
            slim("<svg xmlns=\"http://www.w3.org/2000/svg\"><rect x=\"1\"></rect></svg>"),
            "<svg><rect x=\"1\"/></svg>"
        );
    }
}
