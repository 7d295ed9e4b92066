//! Columns that line up, whatever letters are in them, within the width of the screen.

use std::io::IsTerminal;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::{PLAIN, paint};

/// How wide a screen is when nobody says.
const WIDTH: usize = 100;

/// How wide the reader's screen is.
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let screen = || ratatui::crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
    asked
        .or_else(|| if std::io::stdout().is_terminal() { screen() } else { None })
        .filter(|columns| *columns >= 40)
        .unwrap_or(WIDTH)
}

/// How many lines the reader's screen has; none where it is no screen.
pub fn height() -> Option<usize> {
    let screen = || ratatui::crossterm::terminal::size().ok().map(|(_, rows)| usize::from(rows));
    if std::io::stdout().is_terminal() { screen().filter(|rows| *rows > 0) } else { None }
}

/// The text, cut to this many columns.
pub fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut cut, mut used) = (String::new(), 0);
    for letter in text.chars() {
        used += letter.width().unwrap_or(0);
        if used >= columns {
            break;
        }
        cut.push(letter);
    }
    cut + "…"
}

/// The text in lines of at most this many columns, cut between words where that is possible.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split_inclusive(' ') {
        if used > 0 && used + word.trim_end().width() > columns {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            used = 0;
        }
        for letter in word.chars() {
            let wide = letter.width().unwrap_or(0);
            if used > 0 && used + wide > columns && letter != ' ' {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                used = 0;
            }
            line.push(letter);
            used += wide;
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// The text, filled up with spaces to this many columns.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// One cell.
pub struct Cell {
    text: String,
    style: Style,
}

/// A cell with this text.
pub fn cell(style: Style, text: impl Into<String>) -> Cell {
    Cell { text: text.into(), style }
}

/// Draws rows in columns two spaces apart. The last column gets what is left of the width.
pub fn draw(indent: &str, rows: &[Vec<Cell>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width()).max();
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let mut drawn = String::new();
    for row in rows {
        let mut line = indent.to_owned();
        let mut used = indent.width();
        // Nothing is filled up after the last cell that says something.
        let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or(0);
        // A column in which nobody says anything takes no room.
        for (column, cell) in row.iter().enumerate().take(last + 1).filter(|(column, _)| widths[*column] > 0) {
            let left = width.saturating_sub(used).max(8);
            let text = fit(&cell.text, left);
            let filled = if column == last { text } else { pad(&text, widths[column].min(left)) };
            used += filled.width() + 2;
            line += &paint(cell.style, filled);
            line += "  ";
        }
        drawn += line.trim_end();
        drawn.push('\n');
    }
    drawn
}

/// Draws rows of plain text in full, however wide they are.
pub fn columns(rows: &[Vec<String>]) -> String {
    let cells = |row: &Vec<String>| row.iter().map(|text| cell(PLAIN, super::plain(text))).collect();
    draw("", &rows.iter().map(cells).collect::<Vec<Vec<Cell>>>(), usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_long_text_is_lost_when_it_is_wrapped() {
        assert_eq!(wrap("the disk is full, and nothing", 10), ["the disk", "is full,", "and", "nothing"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("a b", usize::MAX), ["a b"]);
    }

    #[test]
    fn an_empty_column_takes_no_room() {
        let row = |texts: [&str; 3]| texts.map(|text| cell(PLAIN, text)).into_iter().collect::<Vec<_>>();
        assert_eq!(draw("", &[row(["a", "", "1"]), row(["bc", "", "2"])], 80), "a   1\nbc  2\n");
    }

    #[test]
    fn columns_line_up_whatever_letters_are_in_them() {
        let row = |texts: [&str; 3]| texts.map(|text| cell(PLAIN, text)).into_iter().collect::<Vec<_>>();
        let drawn =
            draw("  ", &[row(["done", "build", ""]), row(["waiting", "検証", "for someone who is far away"])], 34);
        assert_eq!(drawn, "  done     build\n  waiting  検証   for someone who…\n");
    }
}
