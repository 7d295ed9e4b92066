//! How plans are shown to people: the words, the times, the tables, and what to type next.

pub mod style; // in reading order
pub mod table;
pub mod results;
pub mod page;

pub use gantry_view::{
    bytes, elapsed, first_line, forecast, json, named, next, parts, plain, shortfalls, standing, timeline, times,
    under_way, weight, without_empty_reason, words,
};

/// Tells whether the terminal can draw over what it has shown: dumb ones, and those that nobody names, cannot.
pub fn can_move_cursor() -> bool {
    std::env::var("TERM").is_ok_and(|term| !term.is_empty() && term != "dumb")
}

/// Keeps colours from a terminal that says it understands none, also where automation is known to show them (`CI`),
/// unless somebody insists.
pub fn spare_dumb_terminals() {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let insisted = std::env::var_os("CLICOLOR_FORCE").is_some_and(|force| force != "0");
    if dumb && !insisted {
        anstream::ColorChoice::Never.write_global();
    }
}

/// What stays on a line that was drawn over: a program that shows its progress goes back to the beginning with `\r`.
pub fn overwritten(line: &str) -> &str {
    let line = line.trim_end_matches(['\r', '\n']);
    line.rsplit_once('\r').map_or(line, |(_, last)| last)
}

/// Lines, each with its end.
pub fn text_of(lines: Vec<String>) -> String {
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_progress_display_the_last_state_stays() {
        assert_eq!(overwritten("10%\r50%\r100%\r\n"), "100%");
        assert_eq!(overwritten("plain"), "plain");
    }
}
