//! Pages and the charts in them: the same in fewer bytes.

use std::fmt::Write as _;

/// Elements with nothing inside.
const EMPTY: [&str; 6] = ["rect", "path", "line", "circle", "polygon", "polyline"];

/// Ends that HTML does not ask for: where a cell, a row or an item ends is told by what follows it.
const UNASKED: [&str; 5] = ["</td>", "</tr>", "</li>", "</dt>", "</dd>"];

/// Attributes of drawings that are places and lengths.
const PLACES: [&str; 9] = ["x", "y", "width", "height", "rx", "x1", "x2", "y1", "y2"];

/// Attributes of pages that are mostly one word. Text from outside has no quotes that are not written out, so nobody else
/// can write one.
const WORDS: [&str; 2] = [" data-c=\"", " href=\"#x-"];

/// Writes a page shorter: without ends and quotes that nobody needs.
pub(super) fn page(page: &str) -> String {
    let page = UNASKED.iter().fold(page.to_owned(), |page, end| page.replace(end, ""));
    WORDS.iter().fold(page, |page, start| without_quotes(&page, start))
}

/// The same without quotes around the attributes that begin so and whose value is a word.
fn without_quotes(page: &str, start: &str) -> String {
    let bare = start.replace('"', "");
    let mut out = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(start) {
        let Some((value, behind)) = after.split_once('"') else { break };
        let is_word =
            !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        out.push_str(before);
        let quote = if is_word { "" } else { "\"" };
        let _ = write!(out, "{}{value}{quote}", if is_word { &bare } else { start });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Writes a chart shorter: empty elements without their ends, straight lines by one coordinate, one place for each number
/// and no quotes around names and numbers.
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
    unquoted(&out)
}

/// The same drawing without quotes that HTML does not ask for, and with one place for each number.
fn unquoted(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(open) = rest.find('<') {
        let Some(close) = rest[open..].find('>').map(|close| open + close + 1) else { break };
        out.push_str(&rest[..open]);
        out.push_str(&tag(&rest[open..close]));
        rest = &rest[close..];
    }
    out.push_str(rest);
    out
}

/// A tag with no quotes around places and single classes; one that is written otherwise stays as it is.
fn tag(tag: &str) -> String {
    let Some((name, attributes)) = tag.trim_end_matches('>').trim_end_matches('/').split_once(' ') else {
        return tag.to_owned();
    };
    let mut out = name.to_owned();
    let mut rest = attributes.trim();
    while let Some((attribute, (value, after))) =
        rest.split_once("=\"").and_then(|(attribute, rest)| Some((attribute, rest.split_once('"')?)))
    {
        let is_bare = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '#' | '_');
        let short = value.parse::<f64>().ok().filter(|_| PLACES.contains(&attribute));
        let value = short.map_or_else(|| value.to_owned(), |number| ((number * 10.0).round() / 10.0).to_string());
        let is_ours = attribute == "class" || PLACES.contains(&attribute);
        let quote = if is_ours && !value.is_empty() && value.chars().all(is_bare) { "" } else { "\"" };
        let _ = write!(out, " {attribute}={quote}{value}{quote}");
        rest = after.trim_start();
    }
    if !rest.is_empty() {
        return tag.to_owned();
    }
    match (tag.ends_with("/>"), out.ends_with('"')) {
        (true, true) => out + "/>",
        // What is not quoted would go on to the end of the element.
        (true, false) => out + " />",
        (false, _) => out + ">",
    }
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
            "<svg><rect x=1 /></svg>"
        );
        let text = "<text class=\"a b\" x=\"3.14\" y=\"20\">1 &gt; 0</text><g><title>a</title></g>";
        assert_eq!(slim(text), "<text class=\"a b\" x=3.1 y=20>1 &gt; 0</text><g><title>a</title></g>");
        assert_eq!(page("<tr><td>1</td><td>2</td></tr>"), "<tr><td>1<td>2");
        assert_eq!(
            page("<i data-c=\"What\">a</i><a href=\"#x-b\" class=\"n\">b</a><i data-c=\"Done when\">c</i>"),
            "<i data-c=What>a</i><a href=#x-b class=\"n\">b</a><i data-c=\"Done when\">c</i>"
        );
    }
}
