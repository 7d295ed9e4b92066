//! Two whole reports, kept byte for byte: how the page is built, and everything that it says.

use std::fmt::Write as _;

use super::kit::Kit;

/// A project with everything, and a private matter on one page.
const SOLAR: &str = "Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer";
const WEDDING: &str = "Plan a wedding for 80 guests in Florence in September 2027 for 25,000 EUR";

/// So many bytes a page about a project has at most.
const PAGE_BYTES_MAX: usize = 300_000;

fn planned(request: &str) -> Kit {
    let kit = Kit::new();
    let output = kit.output(&["plan", "--yes", "--offline", "--today", "2026-11-16", request]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    kit
}

fn written(kit: &Kit, form: &str) -> String {
    let output = kit.output(&["report", "@last", "--format", form, "-o", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let id = kit.json("status @last --json")["id"].as_str().unwrap().to_owned();
    String::from_utf8(output.stdout).unwrap().replace(&id, "PLAN")
}

/// What the report says, without its day, and when something happened.
fn said(kit: &Kit) -> String {
    let text = written(kit, "markdown");
    let is_time = |line: &&str| line.starts_with("| 20") && line.contains('T') || line.starts_with("*Report of 20");
    text.lines().filter(|line| !is_time(line)).collect::<Vec<_>>().join("\n")
}

/// The elements of a page with their names and the words of its headings, without charts and styles.
fn structure(page: &str) -> String {
    const SHOWN: [&str; 12] = ["section", "h1", "h2", "h3", "h4", "table", "tr", "td", "figure", "article", "ul", "ol"];
    const CLOSED: [&str; 4] = ["section", "table", "figure", "article"];
    let body = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    let (mut lines, mut depth, mut is_drawing, mut cells): (Vec<String>, usize, bool, usize) = (vec![], 0, false, 0);
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if name == "svg" {
            is_drawing = !tag.starts_with('/');
        }
        if is_drawing || !SHOWN.contains(&name) {
            continue;
        }
        if tag.starts_with('/') {
            depth -= usize::from(CLOSED.contains(&name));
            continue;
        }
        if name == "td" {
            cells += 1;
            continue;
        }
        if let Some(line) = lines.last_mut().filter(|_| cells > 0) {
            let _ = write!(line, " {cells}");
        }
        cells = 0;
        let attribute = |wanted: &str| {
            let rest = tag.split(&format!(" {wanted}=\"")).nth(1)?;
            Some(format!(" {wanted}={}", rest.split('"').next()?))
        };
        let about: String = ["id", "class", "data-chart", "data-columns"].into_iter().filter_map(attribute).collect();
        let said = if name.starts_with('h') { format!(" {}", text.trim()) } else { String::new() };
        lines.push(format!("{}{name}{about}{said}", " ".repeat(depth)));
        depth += usize::from(CLOSED.contains(&name));
    }
    lines.join("\n")
}

#[test]
fn the_report_of_a_project_is_this() {
    let (kit, again) = (planned(SOLAR), planned(SOLAR));
    let page = written(&kit, "html");
    assert!(page.len() < PAGE_BYTES_MAX, "{} bytes", page.len());
    insta::assert_snapshot!("project_page", structure(&page));
    insta::assert_snapshot!("project_text", said(&kit));
    assert_eq!(structure(&written(&again, "html")), structure(&page), "the same request gives the same page");
    assert_eq!(said(&again), said(&kit), "and it says the same");
}

#[test]
fn the_report_of_a_private_matter_is_this() {
    let kit = planned(WEDDING);
    insta::assert_snapshot!("private_page", structure(&written(&kit, "html")));
    insta::assert_snapshot!("private_text", said(&kit));
}
