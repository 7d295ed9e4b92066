//! Where what happens is shown: as lines, as JSON, or live on a terminal.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_engine::Happening;
use serde_json::{Value, json};

use super::follow::{Follow, Line, inside, written_inside};
use super::live::Live;
use crate::exit::{self, Fault};
use crate::show;
use crate::show::style::{self, paint};
use crate::show::times::with_even_times;
use crate::show::words::Tone;
use crate::talk::talk;

/// The form in which things are shown.
enum Form {
    Lines,
    Json,
    Live(Live),
}

/// Where what happens is shown.
pub struct Screen {
    form: Form,
    follows: BTreeMap<PlanId, Follow>,
}

impl Screen {
    /// A screen for these plans.
    pub fn new(json: bool, follows: Vec<Follow>) -> Self {
        let form = if json {
            Form::Json
        } else if std::io::stderr().is_terminal() && show::can_move_cursor() {
            Form::Live(Live::new())
        } else {
            Form::Lines
        };
        Self { form, follows: follows.into_iter().map(|follow| (follow.plan().clone(), follow)).collect() }
    }

    /// Something that this command has to say itself.
    pub fn say(&mut self, tone: Tone, text: &str) -> Result<(), Fault> {
        match self.form {
            Form::Json => print_json(&json!({"said": text})),
            Form::Lines | Form::Live(_) => {
                self.line(None, &Line { text: text.to_owned(), tone: Some(tone) });
                Ok(())
            }
        }
    }

    /// A plan that cannot go on, while others do.
    pub fn unable(&mut self, plan: &PlanId, fault: &Fault) -> Result<(), Fault> {
        if let Form::Json = self.form {
            return print_json(&json!({"plan": plan, "error": fault.to_json()}));
        }
        self.line(None, &Line { text: super::recover::line(plan, fault), tone: Some(Tone::Bad) });
        Ok(())
    }

    /// How many entries of a plan were shown.
    pub fn shown(&self, plan: &PlanId) -> u64 {
        self.follows.get(plan).map_or(0, |follow| follow.life.length())
    }

    /// What runs now, by name.
    pub fn running(&self) -> Vec<String> {
        let running = self.follows.values().flat_map(|follow| follow.life.in_flight());
        running.map(|(task, _)| task.to_string()).collect()
    }

    /// Shows something that happened.
    pub fn show(&mut self, happening: &Happening) -> Result<(), Fault> {
        match happening {
            Happening::Events { plan, entries } => self.events(plan, entries),
            Happening::Output { plan, task, attempt, chunk } => {
                if let Form::Json = self.form {
                    return print_json(&json!({
                        "plan": plan, "task": task, "attempt": attempt, "stream": chunk.stream, "output": chunk.text,
                    }));
                }
                let lines = match self.follows.get_mut(plan) {
                    Some(follow) => follow.output(task, chunk),
                    None => written_inside(task, chunk),
                };
                self.lines(plan, &lines);
                Ok(())
            }
            Happening::Notice { plan, task, to, text } => {
                if let Form::Json = self.form {
                    return print_json(&json!({"plan": plan, "task": task, "to": to, "notice": text}));
                }
                let line = self.follows.get_mut(plan).and_then(|follow| follow.notice(task.as_ref(), to, text));
                self.lines(plan, line.as_slice());
                Ok(())
            }
            Happening::StoreTrouble { plan, error } => {
                if let Form::Json = self.form {
                    return print_json(&json!({"plan": plan, "trouble": error.to_string()}));
                }
                let text = format!("warning: {error}; trying again");
                self.lines(plan, &[Line { text, tone: Some(Tone::Bad) }]);
                Ok(())
            }
        }
    }

    /// Shows entries of a plan; what was shown before is passed over.
    pub fn events(&mut self, plan: &PlanId, entries: &[Entry]) -> Result<(), Fault> {
        let shown = self.shown(plan);
        if let Form::Json = self.form {
            for entry in entries.iter().filter(|entry| entry.seq > shown) {
                print_json(&line_of(plan, entry))?;
            }
        }
        let lines = match self.follows.get_mut(plan) {
            Some(follow) => follow.events(entries),
            None => inside(entries),
        };
        self.lines(plan, &lines);
        Ok(())
    }

    fn lines(&mut self, plan: &PlanId, lines: &[Line]) {
        let prefix = self.prefix(plan);
        for line in lines {
            self.line(prefix.as_deref(), line);
        }
    }

    /// Draws a live view anew.
    pub fn refresh(&mut self) {
        if let Form::Live(live) = &mut self.form {
            live.update(self.follows.values());
        }
    }

    fn line(&self, prefix: Option<&str>, line: &Line) {
        let prefix = prefix.map(|prefix| paint(style::FAINT, format!("{prefix} "))).unwrap_or_default();
        let painted = match line.tone {
            Some(tone) => paint(style::of_tone(tone), &line.text),
            None => paint(style::FAINT, &line.text),
        };
        match &self.form {
            Form::Json => {}
            Form::Lines => talk!("{prefix}{painted}"),
            Form::Live(live) => live.line(&format!("{prefix}{painted}")),
        }
    }

    /// Which plan it is, where that is not clear: one of several, or a plan inside the plan.
    fn prefix(&self, plan: &PlanId) -> Option<String> {
        if self.follows.contains_key(plan) {
            return (self.follows.len() > 1).then(|| plan.to_string());
        }
        let below = |parent: &PlanId| plan.as_str().strip_prefix(&format!("{parent}-"));
        Some(self.follows.keys().rev().find_map(below).unwrap_or(plan.as_str()).to_owned() + " >")
    }

    /// Ends showing and gives back what was followed.
    pub fn close(self) -> (bool, BTreeMap<PlanId, Follow>) {
        let json = matches!(self.form, Form::Json);
        if let Form::Live(live) = self.form {
            live.close();
        }
        (json, self.follows)
    }
}

/// One entry for programs. `plan` is always the id; the plan that an entry holds is its `definition`.
pub fn line_of(plan: &PlanId, entry: &Entry) -> Value {
    let mut line = json!({"plan": plan});
    if let (Some(line), Ok(Value::Object(entry))) = (line.as_object_mut(), serde_json::to_value(entry)) {
        let named = |(key, value)| (if key == "plan" { "definition".to_owned() } else { key }, value);
        line.extend(entry.into_iter().map(named));
    }
    line
}

/// Prints one line of JSON.
pub fn print_json(value: &Value) -> Result<(), Fault> {
    exit::print(&format!("{}\n", with_even_times(value.clone())))
}
