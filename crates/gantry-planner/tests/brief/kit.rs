//! Draws briefs and facts as short lines.

use gantry_planner::brief::{self, Brief, Length, Money};
use jiff::civil::{Date, date};

/// The day all tests read on, a Thursday.
pub const TODAY: Date = date(2026, 1, 15);

/// Reads a text on the day of the tests.
pub fn read(text: &str) -> Brief {
    brief::read(text, TODAY)
}

/// Draws an amount of money: `1..2000000 EUR`.
pub fn money(money: &Money) -> String {
    let from = money.from.map(|from| format!("{from}..")).unwrap_or_default();
    format!("{from}{} {}", money.amount, money.currency.as_deref().unwrap_or("?"))
}

/// Draws a length: `10..15+ years`.
pub fn length(length: Length) -> String {
    let from = length.from.map(|from| format!("{from}..")).unwrap_or_default();
    format!("{from}{}{} {}", length.count, if length.open { "+" } else { "" }, length.unit.word())
}

/// Draws one thing, or a dash.
pub fn or_dash(thing: Option<String>) -> String {
    thing.unwrap_or_else(|| "-".to_owned())
}

/// Reads each text of a table and shows every row that is not as expected.
pub fn assert_table(rows: &[(&str, &str)], read: impl Fn(&str) -> String) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, expected)| (text, expected, read(text)))
        .filter(|(_, expected, got)| got != *expected)
        .map(|(text, expected, got)| format!("{text}\n  expected {expected}\n  got      {got}"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
