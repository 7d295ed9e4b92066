//! A conversation on a terminal: lines are typed, answers come, until whoever types is done.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use gantry_many::chat::{self, Answer, Trouble};
use gantry_planner::commands;

use super::line::Line;
use super::terminal::{self, Heard, Terminal};
use super::{Args, Here, fault, said, several};
use crate::exit::{self, Fault};
use crate::show::style::{self, paint};
use crate::show::{can_move_cursor, first_line, plain, table};
use crate::talk::{part, talk};

/// How many things that were said before come back with the arrows.
const HISTORY_MAX: usize = 100;
/// An answer that takes longer is waited for visibly.
const SOON: Duration = Duration::from_millis(300);
/// How often what moves while one waits is drawn.
const TICK: Duration = Duration::from_millis(120);
/// What moves.
const TURNING: [char; 4] = ['|', '/', '-', '\\'];
/// The widest a text is to be read.
const COLUMNS_MAX: usize = 100;

/// Talks until whoever types is done.
pub async fn converse(here: &Here, args: &Args) -> Result<ExitCode, Fault> {
    let mut session = args.session.clone();
    greet(here, session.as_deref()).await?;
    let mut typed = Typed::of(here).await?;
    let (mut bound, mut stopped) = (None::<u64>, false);
    // Between two lines the terminal is as others have it, and Ctrl-C is a signal: it must not end the program there.
    drop(tokio::spawn(async { while tokio::signal::ctrl_c().await.is_ok() {} }));
    loop {
        let prompt = bound.map_or_else(|| "> ".to_owned(), |plan| format!("plan {plan} > "));
        let Some((heard, typing)) = typed.heard(prompt).await else { break };
        typed = typing;
        let words = match heard? {
            Heard::End => break,
            Heard::Stop if stopped => break,
            Heard::Stop => {
                stopped = true;
                talk!("{}", paint(style::FAINT, "Ctrl-C once more, Ctrl-D or `exit` ends the talk"));
                continue;
            }
            Heard::Words(words) => words,
        };
        stopped = false;
        if words.trim().is_empty() {
            continue;
        }
        if commands::leaves(&words) {
            break;
        }
        match answered(here, args, &words, session.clone()).await {
            Some(Ok(answer)) => {
                session = answer.body["session_id"].as_str().map(str::to_owned);
                bound = answer.body["metadata"]["plan_id"].as_u64().or(bound);
                exit::print(&format!("{}\n", shown(answer.body["response"].as_str().unwrap_or_default())))?;
            }
            // The conversation goes on: the next words may be better.
            Some(Err(trouble)) => {
                exit::print(&several(&trouble))?;
                let fault = fault(trouble);
                let lines: Vec<String> = fault.message().split('\n').map(plain).collect();
                talk!("{} {}", paint(style::BAD, "error:"), wrapped(&lines.join("\n"), columns()));
                if let Some(hint) = fault.advice() {
                    talk!("hint: {}", wrapped(&plain(hint), columns()));
                }
                talk!("");
            }
            None => talk!("stopped waiting; what was begun already may go on, and stands in `list my plans`\n"),
        }
    }
    if let Some(session) = &session {
        talk!("go on with `gantry chat --session {}`", plain(session));
    }
    Ok(ExitCode::from(exit::DONE))
}

/// Says what can be said, or where the talk stopped.
async fn greet(here: &Here, session: Option<&str>) -> Result<(), Fault> {
    let faint = |text: &str| paint(style::FAINT, text);
    if let Some(session) = session
        && let Some(last) = chat::said_in(here, session).await.map_err(fault)?.last()
    {
        talk!("{}", faint(&format!("going on where `{}` stopped: {}", plain(session), first_line(&last.message, 60))));
        return Ok(());
    }
    talk!("Say what you want, such as `create a plan to open a bakery in Oslo` or `list my plans`.");
    talk!("{}", faint("`help` lists what can be done; Ctrl-D or `exit` ends the talk."));
    Ok(())
}

/// Says something and waits for the answer; none when whoever typed it does not want to wait any longer.
async fn answered(here: &Here, args: &Args, words: &str, session: Option<String>) -> Option<Result<Answer, Trouble>> {
    let mut answer = Box::pin(chat::say(here, said(args, words, session), None));
    let waits = std::io::stderr().is_terminal() && can_move_cursor();
    let since = tokio::time::Instant::now();
    let mut ticks = tokio::time::interval_at(since + SOON, TICK);
    let mut turns = TURNING.iter().cycle();
    let mut drawn = false;
    let ended = loop {
        tokio::select! {
            answer = &mut answer => break Some(answer),
            _ = tokio::signal::ctrl_c() => break None,
            _ = ticks.tick(), if waits => {
                let turn = turns.next().unwrap_or(&' ');
                let seconds = since.elapsed().as_secs();
                drawn = true;
                part(format_args!("\r{turn} thinking for {seconds} s; Ctrl-C stops waiting\u{1b}[K"));
            }
        }
    };
    if drawn {
        part(format_args!("\r\u{1b}[K"));
    }
    ended
}

/// Where lines come from.
enum Typed {
    /// A terminal that can move its cursor.
    Keys { line: Line, _quiet: Terminal },
    /// One that cannot: it edits lines itself.
    Lines,
}

impl Typed {
    async fn of(here: &Here) -> Result<Self, Fault> {
        if !std::io::stderr().is_terminal() || !can_move_cursor() {
            return Ok(Self::Lines);
        }
        let said = chat::said_before(here, HISTORY_MAX).await.map_err(fault)?;
        Ok(Self::Keys { line: Line::after(said), _quiet: Terminal::take()? })
    }

    /// Waits for a line on a thread of its own, so that what goes on in this process goes on; none when the process is to
    /// end meanwhile.
    async fn heard(mut self, prompt: String) -> Option<(Result<Heard, Fault>, Self)> {
        // A terminal whose keys are heard sends no signals.
        let signals = matches!(self, Self::Lines);
        let (tell, told) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let heard = self.line(&prompt);
            drop(tell.send((heard, self))); // whoever is told may be gone
        });
        tokio::select! {
            heard = told => heard.ok(),
            _ = tokio::signal::ctrl_c(), if signals => {
                talk!("");
                None
            }
        }
    }

    fn line(&mut self, prompt: &str) -> Result<Heard, Fault> {
        match self {
            Self::Keys { line, .. } => terminal::line(prompt, line),
            Self::Lines => {
                part(format_args!("{prompt}"));
                let mut words = String::new();
                let read = std::io::stdin().lock().read_line(&mut words);
                let read = read.map_err(|error| Fault::bad_input(format!("standard input cannot be read: {error}")))?;
                Ok(if read == 0 { Heard::End } else { Heard::Words(words) })
            }
        }
    }
}

fn columns() -> usize {
    table::width().clamp(20, COLUMNS_MAX)
}

/// An answer as it is read: lines of a bearable length, and a blank one behind it.
fn shown(response: &str) -> String {
    let lines: Vec<String> = response.lines().map(plain).collect();
    let text = lines.join("\n");
    if std::io::stdout().is_terminal() { format!("{}\n", wrapped(&text, columns())) } else { text }
}

/// The text with no line longer than this where words allow it; what belongs to a point of a list stands below it.
fn wrapped(text: &str, columns: usize) -> String {
    let mut wrapped: Vec<String> = Vec::new();
    for line in text.lines() {
        let inside = line.len() - line.trim_start().len();
        let inside = inside + if line.trim_start().starts_with("- ") { 2 } else { 0 };
        let mut row = String::new();
        for word in line.split_inclusive(' ') {
            let fits = width(&row) + width(word.trim_end()) <= columns;
            if !fits && !row.trim().is_empty() {
                wrapped.push(row.trim_end().to_owned());
                row = " ".repeat(inside.min(columns / 2));
            }
            row.push_str(word);
        }
        wrapped.push(row.trim_end().to_owned());
    }
    wrapped.join("\n")
}

fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn long_lines_are_broken_between_words_and_points_of_a_list_stay_together() {
        let text = "Here are the tasks of plan 3.\n- [1] Read what is wanted\n  - [2] 계획을 세우는 일을 한다\nhttp://a-long-address.example.org/with/a/path";
        insta::assert_snapshot!(wrapped(text, 20), @"
        Here are the tasks
        of plan 3.
        - [1] Read what is
          wanted
          - [2] 계획을
            세우는 일을 한다
        http://a-long-address.example.org/with/a/path
        ");
    }
}
