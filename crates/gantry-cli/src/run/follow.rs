//! Follows one plan while it is carried out: what happened becomes lines for people.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::event::{Asked, Entry, Event, Source};
use gantry_core::id::{PlanId, TaskId};
use gantry_core::life::Life;
use gantry_core::plan::Action;
use gantry_planner::decompose::TOOL;
use gantry_runners::{Chunk, Stream};

use super::prepare::NOTED_BY;
use crate::show::elapsed::{elapsed, now};
use crate::show::next;
use crate::show::standing::is_nested;
use crate::show::timeline::Timeline;
use crate::show::words::{Said, Tone, Weight, said};
use crate::show::{first_line, overwritten, plain};

/// A line of output longer than this is shown in pieces.
const LINE_BYTES_MAX: usize = 4_096;

/// How many answers to one question are written out.
const ANSWERS_MAX: usize = 3;

/// One line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub text: String,
    /// What sort of news it is; none for the output of a process.
    pub tone: Option<Tone>,
}

/// One plan that is being carried out.
pub struct Follow {
    /// Its life, as far as it was told.
    pub life: Life,
    /// When things began and ended.
    pub timeline: Timeline,
    /// The last line that each running task wrote.
    pub last_lines: BTreeMap<TaskId, String>,
    /// Beginnings of lines.
    open_lines: BTreeMap<(TaskId, Stream), String>,
    /// How many letters of an answer have come.
    answers: BTreeMap<TaskId, usize>,
    /// Why the last attempt of a task failed, until it is known what is done about it.
    failures: BTreeMap<TaskId, String>,
    /// What was just said to wait or to be wrong: a notice about it would say the same again.
    told: BTreeSet<Option<TaskId>>,
}

impl Follow {
    /// Follows a plan from where it stands.
    pub fn from(life: Life, timeline: Timeline) -> Self {
        Self {
            timeline,
            life,
            last_lines: BTreeMap::new(),
            open_lines: BTreeMap::new(),
            answers: BTreeMap::new(),
            failures: BTreeMap::new(),
            told: BTreeSet::new(),
        }
    }

    /// Takes in what happened; what is known already is passed over.
    pub fn events(&mut self, entries: &[Entry]) -> Vec<Line> {
        let mut lines = Vec::new();
        let known = self.life.length();
        for entry in entries.iter().filter(|entry| entry.seq > known) {
            self.life.apply(std::slice::from_ref(entry));
            self.timeline.apply(std::slice::from_ref(entry));
            if let Some(task) = ended(&entry.event) {
                lines.extend(self.flush(task));
                self.last_lines.remove(task);
            }
            // What is said next is another answer.
            if let Event::ProgressMade { task, note, .. } = &entry.event
                && !note.is_empty()
            {
                lines.extend(self.flush(task));
            }
            lines.extend(self.line(&entry.event));
        }
        lines
    }

    /// What people are told about an event.
    fn line(&mut self, event: &Event) -> Option<Line> {
        if matches!(event, Event::NoteAdded { by, .. } if by == NOTED_BY) {
            return None; // this program said so itself
        }
        let Said { task, text, weight, tone } = said(event);
        if weight == Weight::News && matches!(tone, Tone::Waits | Tone::Bad) {
            self.told.insert(task.clone());
        }
        if matches!((event, &task), (Event::AttemptStarted { .. }, Some(task)) if self.answers_by_prompt(task)) {
            return None; // what runs is seen while it runs, and told when it is done
        }
        let Some(task) = task else {
            return (weight == Weight::News).then_some(Line { text, tone: Some(tone) });
        };
        if let Event::AttemptFailed { .. } = event {
            // Said together with what is done about it.
            self.failures.insert(task, text);
            return None;
        }
        let failure = self.failures.remove(&task);
        if weight < Weight::News {
            return None;
        }
        let text = match (event, failure) {
            // What a plan inside waits for is said as what this one waits for.
            (Event::ProgressMade { .. }, _) if is_nested(&self.life, &task) => return None,
            (Event::RetryPlanned { at, .. }, Some(failure)) => {
                format!("{failure}; tried again in {}", elapsed(*at - now()))
            }
            (Event::TaskCompleted { source: Source::Fallback, .. }, Some(failure)) => format!("{text}; {failure}"),
            (Event::TaskCompleted { source: Source::Made, .. }, _) => match self.timeline.task(&task).length(now()) {
                Some(length) => format!("{text} in {}", elapsed(length)),
                None => text,
            },
            (Event::GateOpened { needed: 0, .. }, _) => return None,
            (
                Event::GateOpened { .. }
                | Event::PersonAsked { .. }
                | Event::JudgeAsked { .. }
                | Event::JudgeFailed { .. },
                _,
            ) => {
                let answers = next::answers_for(&self.life, &task);
                let commands: Vec<String> =
                    answers.iter().take(ANSWERS_MAX).map(|next| format!("`{}`", next.command)).collect();
                let commands = commands.join(" or ") + if answers.len() > ANSWERS_MAX { " or …" } else { "" };
                match (answers.first(), event) {
                    (Some(next), Event::PersonAsked { what: Asked::Answer | Asked::Work, .. })
                        if !next.does.is_empty() =>
                    {
                        format!("{text}: {} ({commands})", next.does)
                    }
                    (Some(_), _) => format!("{text} ({commands})"),
                    (None, _) => text,
                }
            }
            (_, _) => text,
        };
        Some(Line { text: format!("{task}: {text}"), tone: Some(tone) })
    }

    /// Takes in what a process wrote; whole lines are shown.
    pub fn output(&mut self, task: &TaskId, chunk: &Chunk) -> Vec<Line> {
        if self.answers_by_prompt(task) {
            // Fields for the next step, not lines for people.
            let letters = self.answers.entry(task.clone()).or_default();
            *letters += chunk.text.chars().count();
            self.last_lines.insert(task.clone(), format!("{letters} characters"));
            return Vec::new();
        }
        let thought = match chunk.stream {
            Stream::Stderr => None,
            Stream::Stdout | Stream::Call if self.asks_a_model(task) => {
                self.open_lines.remove(&(task.clone(), Stream::Stderr)) // it has been thought
            }
            Stream::Stdout | Stream::Call => None,
        };
        let thought = thought.map(|line| self.written(task, Stream::Stderr, &line));
        let open = self.open_lines.entry((task.clone(), chunk.stream)).or_default();
        open.push_str(&chunk.text);
        let mut lines = Vec::new();
        while let Some(end) = open.find('\n') {
            let line: String = open.drain(..=end).collect();
            lines.push(overwritten(line.trim_end()).to_owned());
        }
        if open.len() > LINE_BYTES_MAX {
            lines.push(std::mem::take(open));
        }
        if let Some(last) = lines.iter().rev().find(|line| !line.trim().is_empty()) {
            self.last_lines.insert(task.clone(), first_line(last, 200));
        }
        let lines = lines.into_iter().map(|line| self.written(task, chunk.stream, &line));
        thought.into_iter().chain(lines).collect()
    }

    /// A line of what a task wrote; thoughts of a model say that they are no part of its answer.
    fn written(&self, task: &TaskId, stream: Stream, line: &str) -> Line {
        let thinks = stream == Stream::Stderr && self.asks_a_model(task);
        if thinks { written(task, &format!("thinks: {}", overwritten(line))) } else { written(task, line) }
    }

    /// Tells whether a task is one question to a model.
    fn asks_a_model(&self, task: &TaskId) -> bool {
        let definition = self.life.definition(task.as_str());
        matches!(definition.and_then(|task| task.action.as_ref()), Some(Action::Model(_) | Action::Decide(_)))
    }

    /// Tells whether a task asks a model by a prompt of the registry.
    fn answers_by_prompt(&self, task: &TaskId) -> bool {
        match self.life.definition(task.as_str()).and_then(|task| task.action.as_ref()) {
            Some(Action::Model(model)) => model.prompt.is_some(),
            Some(Action::Tool(tool)) => tool.name == TOOL,
            _ => false,
        }
    }

    /// Someone is to be told something; nothing is said twice.
    pub fn notice(&mut self, task: Option<&TaskId>, to: &str, text: &str) -> Option<Line> {
        if self.told.remove(&task.cloned()) {
            return None;
        }
        let about = task.map(|task| format!("{task}: ")).unwrap_or_default();
        let to = if to.is_empty() { String::new() } else { format!(" for {to}") };
        Some(Line { text: format!("{about}note{to}: {}", plain(text)), tone: Some(Tone::Waits) })
    }

    /// Shows the rest of what a task wrote.
    fn flush(&mut self, task: &TaskId) -> Vec<Line> {
        let streams = [Stream::Stdout, Stream::Stderr];
        let rest: Vec<(Stream, String)> = streams
            .into_iter()
            .filter_map(|stream| Some((stream, self.open_lines.remove(&(task.clone(), stream))?)))
            .filter(|(_, line)| !line.is_empty())
            .collect();
        rest.into_iter().map(|(stream, line)| self.written(task, stream, &line)).collect()
    }

    /// The plan's id.
    pub fn plan(&self) -> &PlanId {
        self.life.id()
    }
}

fn written(task: &TaskId, line: &str) -> Line {
    Line { text: format!("{task} | {}", plain(overwritten(line))), tone: None }
}

/// The task whose attempt is over.
fn ended(event: &Event) -> Option<&TaskId> {
    match event {
        Event::AttemptSucceeded { task, .. } | Event::AttemptFailed { task, .. } => Some(task),
        _ => None,
    }
}

/// What a process of a plan inside the plan wrote.
pub fn written_inside(task: &TaskId, chunk: &Chunk) -> Vec<Line> {
    chunk.text.lines().map(|line| written(task, line)).collect()
}

/// What people are told about a plan inside a plan: the same words, without a life to look into.
pub fn inside(entries: &[Entry]) -> Vec<Line> {
    let news = entries.iter().map(|entry| said(&entry.event)).filter(|said| said.weight == Weight::News);
    news.map(|said| Line { text: said.line(), tone: Some(said.tone) }).collect()
}
