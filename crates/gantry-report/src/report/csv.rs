//! A section's tables for spreadsheets, safe against cells that would be formulas.

use super::layout::Unknown;
use super::{Content, Line, Report, Span, Table, said};

/// The tables of a section, one after another.
///
/// # Errors
/// Says which sections have tables, where this one has none.
pub fn write(report: &Report, section: &str) -> Result<String, Unknown> {
    let tables = tables(report, section);
    if tables.is_empty() {
        let what = format!("the section `{section}` has no table");
        return Err(Unknown { what, hint: format!("sections with tables are {}", report.with_tables.join(", ")) });
    }
    Ok(tables.join("\r\n"))
}

/// The tables of a section, each with one set of columns: those for spreadsheets, or else those that are read.
pub fn tables(report: &Report, section: &str) -> Vec<String> {
    let sheets: Vec<&Table> = report.sheets.iter().filter(|(of, _)| of == section).map(|(_, table)| table).collect();
    if !sheets.is_empty() {
        return sheets.into_iter().map(written).collect();
    }
    let found = report.sections.iter().find(|one| one.id == section);
    let blocks = found.into_iter().flat_map(|section| &section.blocks);
    let tables = blocks.filter_map(|block| match &block.content {
        Content::Table(table) => Some(written(table)),
        _ => None,
    });
    tables.collect()
}

fn written(table: &Table) -> String {
    let named = table.rows.iter().any(|row| row.id.is_some());
    let id = |text: String| named.then_some(text);
    let units: Vec<Option<String>> = (0..table.columns.len()).map(|at| unit(table, at)).collect();
    let head = table.columns.iter().zip(&units).map(|(name, unit)| match unit.as_deref() {
        None | Some("") => name.clone(),
        Some(unit) => format!("{name} ({unit})"),
    });
    let mut lines: Vec<String> = Vec::new();
    lines.push(id("Id".to_owned()).into_iter().chain(head).map(|text| cell(&text)).collect::<Vec<_>>().join(","));
    for row in &table.rows {
        let own = id(row.id.clone().unwrap_or_default());
        let cells = row.cells.iter().zip(&units).map(|(line, unit)| match (number(line), unit) {
            (Some((number, _)), Some(_)) => number,
            _ => said(line),
        });
        lines.push(own.into_iter().chain(cells).map(|text| cell(&text)).collect::<Vec<_>>().join(","));
    }
    lines.join("\r\n") + "\r\n"
}

/// What stands after each number of a column that has nothing but numbers: a spreadsheet wants that at the head.
fn unit(table: &Table, at: usize) -> Option<String> {
    let cells = table.rows.iter().filter_map(|row| row.cells.get(at)).filter(|cell| !cell.is_empty());
    let mut units = cells.map(|cell| number(cell).map(|(_, unit)| unit));
    let first = units.next()??;
    units.all(|unit| unit.as_ref() == Some(&first)).then_some(first)
}

/// A number without commas, and what stands after it.
fn number(line: &Line) -> Option<(String, String)> {
    let [Span::Number { text, .. }] = line.as_slice() else { return None };
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number = number.replace(',', "");
    number.parse::<f64>().ok()?;
    Some((number, unit.to_owned()))
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
