//! A section's tables for spreadsheets, safe against cells that would be formulas.

use super::layout::Unknown;
use super::{Content, Report, Table, said};

/// The tables of a section, one after another.
pub fn write(report: &Report, section: &str) -> Result<String, Unknown> {
    let tables: Vec<&Table> = tables(report, section).collect();
    if tables.is_empty() {
        let with: Vec<&str> = report
            .sections
            .iter()
            .filter(|one| one.blocks.iter().any(|block| matches!(block.content, Content::Table(_))))
            .map(|one| one.id.as_str())
            .collect();
        let what = format!("the section `{section}` has no table");
        return Err(Unknown { what, hint: format!("sections with tables are {}", with.join(", ")) });
    }
    let mut text = String::new();
    for (at, table) in tables.into_iter().enumerate() {
        if at > 0 {
            text.push_str("\r\n");
        }
        text.push_str(&written(table));
    }
    Ok(text)
}

/// The tables of a section.
fn tables<'r>(report: &'r Report, section: &str) -> impl Iterator<Item = &'r Table> {
    let found = report.sections.iter().find(|one| one.id == section);
    found.into_iter().flat_map(|section| &section.blocks).filter_map(|block| match &block.content {
        Content::Table(table) => Some(table),
        _ => None,
    })
}

fn written(table: &Table) -> String {
    let named = table.rows.iter().any(|row| row.id.is_some());
    let id = |text: String| named.then_some(text);
    let mut lines: Vec<String> = Vec::new();
    let head = id("Id".to_owned()).into_iter().chain(table.columns.iter().cloned());
    lines.push(head.map(|text| cell(&text)).collect::<Vec<_>>().join(","));
    for row in &table.rows {
        let own = id(row.id.clone().unwrap_or_default());
        let cells = own.into_iter().chain(row.cells.iter().map(|line| said(line)));
        lines.push(cells.map(|text| cell(&text)).collect::<Vec<_>>().join(","));
    }
    lines.join("\r\n") + "\r\n"
}

/// A cell that a spreadsheet shows and does not compute.
fn cell(text: &str) -> String {
    let is_number = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || "-.,".contains(letter));
    let would_run = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    let safe = if would_run { format!("'{text}") } else { text.to_owned() };
    if safe.contains([',', '"', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn what_a_spreadsheet_would_compute_is_shown_as_text() {
        for evil in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx"] {
            assert!(cell(evil).trim_start_matches('"').starts_with('\''), "{evil}");
        }
        assert_eq!(cell("-12.5"), "-12.5");
        assert_eq!(cell("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
