//! Lines and columns for people.

use gantry_core::time::Timestamp;

use crate::show::plain;

/// Rows with columns as wide as their widest cell; the last column is not padded.
pub fn columns(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text += line.join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// A point in time to the second.
pub fn time(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text,
    }
}

/// The first line of a text, cut to `chars_max` characters.
pub fn short(text: &str, chars_max: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= chars_max && line.len() == text.trim_end().len() {
        return line.to_owned();
    }
    let cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// `12 B`, `3.4 KiB`, `5.0 MiB`.
pub fn bytes(bytes: u64) -> String {
    const STEPS: [(u32, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    for (shift, unit) in STEPS {
        if bytes >> shift > 0 {
            let tenths = (u128::from(bytes) * 10) >> shift;
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}
