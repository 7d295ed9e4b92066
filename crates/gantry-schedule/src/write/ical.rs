//! Writes a schedule as a calendar (RFC 5545): an event for each task, milestone and deadline.
//!
//! Events keep their UID as long as the project keeps its name and the task its id, so that a calendar which imports
//! the file again moves its events and does not double them.

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};

use super::Unwritable;
use crate::frame::Moment;
use crate::schedule::{Schedule, TaskKind, TaskRow, Verdict};

/// A line has at most this many bytes, without its end.
const LINE_MAX: usize = 75;

/// The text of a calendar. `stamp` is when this was known: the data date, or now.
pub fn write(schedule: &Schedule, stamp: Timestamp) -> Result<String, Unwritable> {
    let mut lines = Lines(String::new());
    for line in
        ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Gantry//Gantry//EN", "CALSCALE:GREGORIAN", "METHOD:PUBLISH"]
    {
        lines.put(line);
    }
    if !schedule.name.is_empty() {
        lines.put(&format!("X-WR-CALNAME:{}", text(&schedule.name)));
    }
    for task in schedule.tasks.iter().filter(|task| task.kind != TaskKind::Summary) {
        event(&mut lines, schedule, stamp, &of_task(schedule, task)?);
    }
    for verdict in &schedule.deadlines {
        event(&mut lines, schedule, stamp, &of_deadline(schedule, verdict)?);
    }
    lines.put("END:VCALENDAR");
    Ok(lines.0)
}

/// What an event says.
struct Event {
    /// Tells it from other events of the same task.
    kind: &'static str,
    task: String,
    begin: (Timestamp, DateTime),
    /// None for a point in time.
    end: Option<(Timestamp, DateTime)>,
    summary: String,
    description: Vec<String>,
    category: Option<String>,
}

/// The instant, and the local time there.
fn dated(moment: Moment) -> Result<(Timestamp, DateTime), Unwritable> {
    match moment {
        Moment::Date(instant, offset) => Ok((instant, offset.to_datetime(instant))),
        Moment::Count(_) => Err(Unwritable::Undated),
    }
}

fn of_task(schedule: &Schedule, task: &TaskRow) -> Result<Event, Unwritable> {
    let (begin, end) = (dated(task.start)?, dated(task.finish)?);
    let mut description = vec![format!("Task {}", task.id)];
    if !task.resources.is_empty() {
        let who: Vec<String> = task.resources.iter().map(|one| format!("{} ({})", one.id, one.amount)).collect();
        description.push(format!("Who: {}", who.join(", ")));
    }
    description.push(match task.percent {
        100 => "Done".to_owned(),
        _ if task.critical => "Critical: a delay delays the whole".to_owned(),
        _ => format!("Float: {} {}", task.float, plural(schedule)),
    });
    if (1..100).contains(&task.percent) {
        description.push(format!("{} % done", task.percent));
    }
    if !task.cost.is_zero() {
        description.push(format!("Cost: {} {}", schedule.cost.currency, task.cost));
    }
    let parent = task.parent.as_ref().and_then(|id| schedule.tasks.iter().find(|other| other.id == *id));
    Ok(Event {
        kind: "task",
        task: task.id.clone(),
        begin,
        end: (end.0 > begin.0).then_some(end),
        summary: if end.0 > begin.0 { task.title.clone() } else { format!("◆ {}", task.title) },
        description,
        category: parent.map(|parent| parent.title.clone()),
    })
}

/// A deadline at midnight is a day: the one that ends then.
fn of_deadline(schedule: &Schedule, verdict: &Verdict) -> Result<Event, Unwritable> {
    let (at, local) = dated(verdict.at)?;
    let whole_day = is_midnight(local).then(|| local.date().yesterday().ok()).flatten();
    let begin = whole_day.map_or((at, local), |day| (at, day.at(0, 0, 0, 0)));
    let of = match &verdict.task {
        Some(id) => schedule.tasks.iter().find(|task| task.id == *id).map_or(id.as_str(), |task| &task.title),
        None if schedule.name.is_empty() => "the whole project",
        None => &schedule.name,
    };
    let sort = if verdict.hard { "A hard deadline" } else { "A deadline" };
    let said = if verdict.met { "met with" } else { "MISSED by" };
    let chance = verdict.probability.map(|share| format!("Met in {:.0} % of drawn futures", share * 100.0));
    let first = format!("{sort}, {said} {} {}", verdict.margin, plural(schedule));
    Ok(Event {
        kind: "deadline",
        task: verdict.task.clone().unwrap_or_default(),
        begin,
        end: whole_day.map(|_| (at, local)),
        summary: format!("Deadline: {of}"),
        description: std::iter::once(first).chain(chance).collect(),
        category: Some("Deadline".to_owned()),
    })
}

fn plural(schedule: &Schedule) -> String {
    format!("{:?}s", schedule.unit).to_lowercase()
}

fn is_midnight(time: DateTime) -> bool {
    time.time() == Time::midnight()
}

fn event(lines: &mut Lines, schedule: &Schedule, stamp: Timestamp, event: &Event) {
    lines.put("BEGIN:VEVENT");
    lines.put(&format!("UID:{}", uid(schedule, event)));
    lines.put(&format!("DTSTAMP:{}", utc(stamp)));
    match event.end {
        // Whole days are days wherever the reader is.
        Some((_, end)) if is_midnight(event.begin.1) && is_midnight(end) => {
            lines.put(&format!("DTSTART;VALUE=DATE:{}", event.begin.1.date().strftime("%Y%m%d")));
            lines.put(&format!("DTEND;VALUE=DATE:{}", end.date().strftime("%Y%m%d")));
        }
        Some((end, _)) => {
            lines.put(&format!("DTSTART:{}", utc(event.begin.0)));
            lines.put(&format!("DTEND:{}", utc(end)));
        }
        None => lines.put(&format!("DTSTART:{}", utc(event.begin.0))),
    }
    lines.put(&format!("SUMMARY:{}", text(&event.summary)));
    lines.put(&format!("DESCRIPTION:{}", text(&event.description.join("\n"))));
    if let Some(category) = &event.category {
        lines.put(&format!("CATEGORIES:{}", text(category)));
    }
    // A plan for many is nobody's own time.
    lines.put("TRANSP:TRANSPARENT");
    lines.put("END:VEVENT");
}

fn utc(instant: Timestamp) -> String {
    instant.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The same for the same project, task and kind of event: a hash (FNV-1a) of their names.
fn uid(schedule: &Schedule, event: &Event) -> String {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in [schedule.name.as_str(), event.kind, &event.task] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
    format!("{hash:032x}@gantry")
}

/// Text as the format has it: separators are escaped, and control characters are left out.
fn text(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.replace("\r\n", "\n").chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => escaped.push_str("\\n"),
            '\t' => escaped.push(' '),
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Lines with their ends, folded where they are too long.
struct Lines(String);

impl Lines {
    fn put(&mut self, line: &str) {
        let mut used = 0;
        for letter in line.chars() {
            if used + letter.len_utf8() > LINE_MAX {
                self.0.push_str("\r\n ");
                used = 1;
            }
            self.0.push(letter);
            used += letter.len_utf8();
        }
        self.0.push_str("\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_folded_between_letters() {
        let mut lines = Lines(String::new());
        let long = format!("SUMMARY:{}", "grün ".repeat(40));
        lines.put(&long);
        assert!(lines.0.split("\r\n").all(|line| line.len() <= LINE_MAX));
        assert_eq!(lines.0.trim_end_matches("\r\n").replace("\r\n ", ""), long);
    }

    #[test]
    fn separators_are_escaped_and_control_characters_left_out() {
        assert_eq!(text("a, b; c\\d\r\ne\u{7}"), "a\\, b\\; c\\\\d\\ne");
    }
}
