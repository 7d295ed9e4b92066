//! What must hold of a whole run: its journal, its state and what it took in are one and the same story.

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{self, BadJournal, Life};
use gantry_core::plan::{Plan, Severity};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::violation::{Outcome, Violation};
use crate::world::{Record, Taken};

/// One life in so many is forked, by the length of its journal.
const FORKED_ONE_IN: usize = 3;

/// Checks a run and the state in memory at its end.
pub fn check(record: &Record, live: &Life) -> Outcome {
    let journal = &record.journal;
    let lines: Vec<String> = journal.iter().map(written).collect::<Outcome<_>>()?;
    let read: Vec<Entry> = read_back(journal, &lines)?;
    let text = written(live)?;
    same((live, &text), &replayed(&read)?, "from the journal")?;
    same((live, &text), &read_text(&text)?, "from its own text")?;
    decided_again(journal, &lines, &record.taken)?;
    sound(&live.plan())?;
    // Forking folds the journal three times more: a part of the lives is enough.
    if journal.len().is_multiple_of(FORKED_ONE_IN) { forked(journal) } else { Ok(()) }
}

/// The lines of a journal say what its entries say.
pub fn read_back(journal: &[Entry], lines: &[String]) -> Outcome<Vec<Entry>> {
    let read: Vec<Entry> = lines.iter().map(|line| read_text(line)).collect::<Outcome<_>>()?;
    match journal.iter().zip(&read).find(|(wrote, found)| wrote != found) {
        Some((wrote, found)) => {
            Err(Violation::new("what is written can be read back", format!("{wrote:?} became {found:?}")))
        }
        None => Ok(read),
    }
}

/// Whatever a plan has become, it is one that may begin.
pub fn sound(plan: &Plan) -> Outcome {
    match plan.check().into_iter().find(|problem| problem.severity == Severity::Error) {
        Some(problem) => Err(Violation::new("a plan stays a sound plan", problem.message)),
        None => Ok(()),
    }
}

/// Deciding the whole life again from what each turn took in gives the same journal, byte for byte.
///
/// The inputs are written down and read back first, as they would be from a store.
pub fn decided_again(journal: &[Entry], lines: &[String], taken: &[Taken]) -> Outcome {
    let differs = |detail: String| Err(Violation::new("the same inputs give the same journal", detail));
    let mut life = replayed(&journal[..1])?;
    let mut rest = lines[1..].iter();
    for turn in taken {
        let mut draft = life.draft(turn.now, turn.room);
        for input in &turn.inputs {
            let input: Input = read_text(&written(input)?)?;
            if let Err(refusal) = draft.take(&input) {
                return differs(format!("{input:?} is refused the second time: {refusal}"));
            }
        }
        let verdict = draft.close();
        for entry in &verdict.events {
            let (line, before) = (written(entry)?, rest.next());
            if before != Some(&line) {
                return differs(format!("{before:?} was written the first time, {line} the second"));
            }
        }
        life = verdict.life;
    }
    match rest.next() {
        Some(line) => differs(format!("the second time, the journal ends before {line}")),
        None => Ok(()),
    }
}

/// Another life can begin at any point of this one.
pub fn forked(journal: &[Entry]) -> Outcome {
    let at = journal.len() as u64 / 2 + 1;
    let id = PlanId::mint("another life", 1);
    let now = journal.last().map(|entry| entry.at).unwrap_or_default();
    let broken = |bad: BadJournal| Violation::new("a life can be forked anywhere", bad.to_string());
    let mut forked = life::fork(journal, at, id.clone(), now).map_err(broken)?;
    let mut life = life::replay(&forked).map_err(broken)?;
    if let Ok(verdict) = life.decide(&Input::Recover, now) {
        life.apply(&verdict.events);
        forked.extend(verdict.events);
    }
    if *life.id() != id {
        return Err(Violation::new("a life can be forked anywhere", "it has the old id"));
    }
    if life != replayed(&forked)? {
        return Err(Violation::new("replay equals memory", "of a fork"));
    }
    Ok(())
}

fn replayed(journal: &[Entry]) -> Outcome<Life> {
    life::replay(journal).map_err(|bad| Violation::new("a journal replays", bad.to_string()))
}

/// Whatever there is has a text.
pub fn written(value: &impl Serialize) -> Outcome<String> {
    serde_json::to_string(value).map_err(|error| Violation::new("everything can be written", error.to_string()))
}

fn read_text<T: DeserializeOwned>(text: &str) -> Outcome<T> {
    serde_json::from_str(text)
        .map_err(|error| Violation::new("what is written can be read back", format!("{error} in {text}")))
}

/// Two lives are the same, also byte for byte; the first comes with its text.
fn same((live, text): (&Life, &str), other: &Life, how: &str) -> Outcome {
    if live == other && *text == written(other)? {
        return Ok(());
    }
    Err(Violation::new("replay equals memory", how.to_owned()))
}
