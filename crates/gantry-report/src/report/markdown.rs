//! The report as Markdown, to be read in a terminal or on a forge.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::once;
use super::{Block, Claim, Content, Line, Report, Span, Table};

/// Writes the report as Markdown.
pub fn write(report: &Report) -> String {
    let named = named(report);
    let mut page = format!("# {}\n", escaped(&report.title));
    if !report.about.is_empty() {
        let _ = write!(page, "\n{}\n", line(&report.about));
    }
    let _ = write!(page, "\n*{}*\n", escaped(&report.made()));
    for section in &report.sections {
        let _ = write!(page, "\n## {}\n", escaped(&section.title));
        for block in &section.blocks {
            page.push('\n');
            write_block(&mut page, block, &named);
        }
    }
    let _ = write!(page, "\n## Checks\n\n{}\n", verdict(report));
    for finding in &report.findings {
        let _ = writeln!(page, "- `{}` in {}: {}", finding.check, finding.section, escaped(&finding.what));
    }
    if !report.left_out.is_empty() {
        let _ = write!(page, "\nLeft out here: {}; each is there with `--section`.\n", report.left_out.join(", "));
    }
    page
}

/// What the checks found, in a sentence.
pub(super) fn verdict(report: &Report) -> String {
    match report.findings.len() {
        0 => "Every number says where it comes from, every name exists, and nothing contradicts anything else."
            .to_owned(),
        1 => "One thing does not hold together.".to_owned(),
        many => format!("{many} things do not hold together."),
    }
}

/// The ids by which texts call things: whoever reads one must find it in a table.
fn named(report: &Report) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    once::placed(report, &mut |_, _, line| {
        for span in line {
            if let Span::Ref { text, id } = span
                && text == id
            {
                named.insert(id.clone());
            }
        }
    });
    named
}

fn write_block(page: &mut String, block: &Block, named: &BTreeSet<String>) {
    let label =
        |label: &Option<String>| label.as_ref().map(|label| format!("**{}**\n\n", escaped(label))).unwrap_or_default();
    let mark = match block.claim {
        Claim::Assumption => " *(assumption)*",
        Claim::Fact => " *(fact, source named)*",
        Claim::Given | Claim::Computed | Claim::Estimate => "",
    };
    match &block.content {
        Content::Tiles(tiles) => {
            for tile in tiles {
                let notes: Vec<String> = tile.notes.iter().map(|note| line(note)).collect();
                let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
                let _ = writeln!(page, "- **{}:** {}{notes}", escaped(&tile.label), line(&tile.value));
            }
        }
        Content::Text { label, lines } => {
            let label = label.as_ref().map(|label| format!("**{}.** ", escaped(label))).unwrap_or_default();
            let lines: Vec<String> = lines.iter().map(|text| line(text)).collect();
            let _ = writeln!(page, "{label}{}{mark}", lines.join("\n\n"));
        }
        Content::List { label: name, chain: false, items } => {
            page.push_str(&label(name));
            for item in items {
                let _ = writeln!(page, "- {}{mark}", line(item));
            }
        }
        Content::List { label: name, chain: true, items } => {
            page.push_str(&label(name));
            let items: Vec<String> = items.iter().map(|item| line(item)).collect();
            let _ = writeln!(page, "{}{mark}", items.join(" → "));
        }
        Content::Table(table) => write_table(page, table, named),
        Content::Cards { label: name, cards } => {
            page.push_str(&label(name));
            for card in cards {
                let mark = card.mark.as_ref().map(|mark| format!(" ({mark})")).unwrap_or_default();
                let text = card.text.as_ref().map(|text| format!(" {}", line(text))).unwrap_or_default();
                let _ = writeln!(page, "- **{}**{mark}{text}", line(&card.title));
                for (label, text) in &card.lines {
                    let _ = writeln!(page, "  - {}: {}", escaped(label), line(text));
                }
            }
        }
        Content::Picture { title, told, .. } => {
            let _ = writeln!(page, "**{}.** {}", escaped(title), escaped(told));
        }
        Content::Note { line: text, .. } => {
            let _ = writeln!(page, "> {}", line(text));
        }
    }
}

fn write_table(page: &mut String, table: &Table, named: &BTreeSet<String>) {
    if !table.title.is_empty() {
        let _ = write!(page, "**{}**\n\n", escaped(&table.title));
    }
    let has_ids = table.rows.iter().any(|row| row.id.as_ref().is_some_and(|id| named.contains(id)));
    let id = |text: String| has_ids.then_some(text);
    let head: Vec<String> =
        id("Id".to_owned()).into_iter().chain(table.columns.iter().map(|name| cell(name))).collect();
    let _ = writeln!(page, "| {} |", head.join(" | "));
    let _ = writeln!(page, "|{}", " --- |".repeat(head.len()));
    for row in &table.rows {
        let own = id(row.id.as_ref().map(|id| cell(id)).unwrap_or_default());
        let cells: Vec<String> = own.into_iter().chain(row.cells.iter().map(cell_line)).collect();
        let cells = if row.heading { cells.iter().map(|text| bold(text)).collect() } else { cells };
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
}

fn bold(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("**{text}**") }
}

fn cell(text: &str) -> String {
    escaped(text).replace('|', "\\|")
}

fn cell_line(text: &Line) -> String {
    line(text).replace('|', "\\|")
}

fn line(line: &[Span]) -> String {
    let written = line.iter().map(|span| match span {
        // Headings have these names on forges, and readers of text see where to look.
        Span::Elsewhere { text, .. } => {
            let title = text.strip_prefix("see ").unwrap_or(text).to_lowercase();
            format!("[{}](#{})", escaped(text), title.split_whitespace().collect::<Vec<_>>().join("-"))
        }
        other => escaped(other.text()),
    });
    written.collect::<String>().trim().to_owned()
}

/// Text from outside stays text: what would be markup is written out.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '*' | '_' | '`' | '[' | ']' | '\\' | '#' => {
                out.push('\\');
                out.push(letter);
            }
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}
