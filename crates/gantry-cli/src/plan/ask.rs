//! Asks for what a request does not say, and only for that.

use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _};

use gantry_planner::brief::{self, Locale, Topic};
use jiff::civil::Date;

use crate::exit::Fault;
use crate::talk::{self, talk};

/// Someone sits at the terminal.
pub fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The request with what was answered.
pub fn completed(mut request: String, today: Date) -> Result<String, Fault> {
    let brief = brief::read(&request, today);
    if brief.missing.is_empty() {
        return Ok(request);
    }
    talk!("Some things are not said yet. Enter takes what stands in brackets.");
    for missing in &brief.missing {
        let ask = &missing.ask;
        let (question, default, why) = match brief.locale {
            Locale::En => (&ask.question.en, &ask.default.en, &ask.why.en),
            Locale::Ko => (&ask.question.ko, &ask.default.ko, &ask.why.ko),
        };
        talk!("\n{question}  ({why})");
        talk::part(format_args!("[{default}] "));
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        read.map_err(|error| Fault::internal(format!("standard input cannot be read: {error}")))?;
        let answer = answer.trim();
        if !answer.is_empty() {
            let _ = write!(request, "\n{}: {answer}", label(missing.topic));
        }
    }
    Ok(request)
}

/// What the answer is about, as requests say it.
fn label(topic: Topic) -> &'static str {
    match topic {
        Topic::Budget => "Budget",
        Topic::Place => "Location",
        Topic::Time => "Deadline",
        Topic::Team => "Team",
        Topic::Success => "Success criteria",
        Topic::Constraints => "Constraints",
    }
}
