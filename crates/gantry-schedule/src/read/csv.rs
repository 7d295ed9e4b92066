//! Reads tables: one line for each task, with a heading that says what the columns are.
//!
//! Names of columns are those of other tools, too, in any case and order (`Predecessors`, `Task Name`, `Duration`).
//! The delimiter is whichever of comma, semicolon and tab the heading has most of; where it is not the comma, numbers may
//! have one for a point.

mod dates;
mod outline;

use std::collections::{BTreeMap, BTreeSet};

use dates::Slashes;
use outline::Outline;

use super::{Notes, Read, Unreadable};
use crate::problem::nearest;
use crate::project::{
    Calendar, Cost, CostKind, Deadline, Due, Estimate, Length, Link, Money, Need, Progress, Project, Resource, Task,
    ThreePoint, Unit, When,
};

/// Columns that are understood, each with what it may be called.
const COLUMNS: &[(Column, &[&str])] = &[
    (Column::Id, &["id", "task id", "task_id", "uid", "no", "number", "key"]),
    (Column::Title, &["title", "name", "task", "task name", "task_name", "summary", "activity"]),
    (Column::Parent, &["parent", "parent id", "parent_id", "phase", "epic"]),
    (Column::After, &["after", "predecessors", "predecessor", "depends_on", "depends on", "dependencies", "waits for"]),
    (Column::Likely, &["duration", "estimate", "likely", "most likely", "realistic", "work", "length"]),
    (Column::Low, &["low", "min", "optimistic", "best case"]),
    (Column::High, &["high", "max", "pessimistic", "worst case"]),
    (Column::Level, &["outline level", "outline_level", "level"]),
    (Column::Unit, &["unit"]),
    (Column::Start, &["start", "start date", "start_date", "begin", "planned start", "scheduled start"]),
    (Column::NotBefore, &["start_no_earlier", "not before", "not_before", "earliest start", "start no earlier than"]),
    (Column::Deadline, &["deadline", "due", "due date", "due_date", "must finish"]),
    (Column::Needs, &["resources", "resource", "resource names", "needs", "assignee", "assigned to", "owner", "who"]),
    (Column::Cost, &["cost", "fixed cost", "fixed_cost", "budget"]),
    (Column::Priority, &["priority"]),
    (Column::Percent, &["percent", "% complete", "percent complete", "percent_complete", "done", "progress"]),
    (Column::Started, &["actual start", "actual_start", "started"]),
    (Column::Finished, &["actual finish", "actual_finish", "finished"]),
    (Column::Calendar, &["calendar"]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Id,
    Title,
    Parent,
    After,
    Likely,
    Low,
    High,
    Level,
    Unit,
    Start,
    NotBefore,
    Deadline,
    Needs,
    Cost,
    Priority,
    Percent,
    Started,
    Finished,
    Calendar,
}

/// Reads the text of a table. Days are those of an office in UTC when anything in it is a date, and it starts on the first
/// day that something starts; otherwise times are numbers of days from zero.
pub fn read(text: &str) -> Result<Read, Unreadable> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let delimiter = delimiter(text);
    let mut table =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let headings = table.headers().map_err(|error| unreadable(&error))?.clone();
    let columns = columns(&headings)?;
    let mut notes = Notes::default();
    let unknown = |column: usize| columns.get(column).is_none_or(Option::is_none);
    for heading in headings.iter().zip(&columns).filter(|(name, column)| column.is_none() && !name.is_empty()) {
        notes.add(|| 1, unread(heading.0));
    }
    // In a table of many columns each is looked for once, and not for each task.
    let places: BTreeMap<Column, usize> =
        columns.iter().enumerate().filter_map(|(at, column)| Some(((*column)?, at))).collect();
    let records: Vec<csv::StringRecord> =
        table.records().collect::<Result<_, _>>().map_err(|error| unreadable(&error))?;
    let dates = || records.iter().flat_map(|record| DATES.iter().filter_map(|date| record.get(*places.get(date)?)));
    let (slashes, unsure) = Slashes::of(dates());
    if let Some(date) = unsure {
        notes.add(|| 1, format!("dates such as `{date}` are read with the month first"));
    }
    let mut project = Project::counting(Unit::Day);
    let mut outline = Outline::default();
    for record in &records {
        let line = record.position().map_or(1, |position| usize::try_from(position.line()).unwrap_or(1));
        let nameless = |at: usize| unknown(at) && headings.get(at).is_none_or(str::is_empty);
        if record.iter().enumerate().any(|(at, field)| !field.is_empty() && nameless(at)) {
            notes.add(|| line, "this line has more fields than the heading has names; they are not read");
        }
        let row = Row { places: &places, record, line, slashes, comma: delimiter != b',' };
        if let Some(mut task) = row.task()? {
            outline.take(&row, &mut task, &mut notes)?;
            project.unit = row.unit()?.unwrap_or(project.unit);
            project.tasks.push(task);
        }
    }
    if project.tasks.is_empty() {
        return Err(Unreadable { line: 1, what: "there are no tasks under the heading".to_owned() });
    }
    settle_links(&mut project);
    outline.settle(&mut project, &mut notes);
    add_named(&mut project);
    Ok(Read { project, notes: notes.by_line() })
}

/// Whether a text is a table of tasks, by its heading.
pub fn is_table(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut table =
        csv::ReaderBuilder::new().delimiter(delimiter(text)).trim(csv::Trim::All).from_reader(text.as_bytes());
    table.headers().is_ok_and(|headings| headings.len() > 1 && columns(headings).is_ok())
}

/// That a column is not read, and what may have been meant.
fn unread(heading: &str) -> String {
    let known: Vec<&str> = COLUMNS.iter().flat_map(|(_, names)| *names).copied().collect();
    let near = nearest(&heading.to_lowercase(), &known).map(|near| format!("; did you mean `{near}`?"));
    format!("the column `{heading}` is not read{}", near.unwrap_or_default())
}

fn unreadable(error: &csv::Error) -> Unreadable {
    let line = error.position().map_or(1, |position| usize::try_from(position.line()).unwrap_or(1));
    Unreadable { line, what: format!("this line of the table cannot be read: {error}") }
}

fn delimiter(text: &str) -> u8 {
    let heading = text.lines().next().unwrap_or_default();
    let count = |delimiter: u8| heading.bytes().filter(|byte| *byte == delimiter).count();
    [b',', b';', b'\t'].into_iter().max_by_key(|delimiter| (count(*delimiter), *delimiter == b',')).unwrap_or(b',')
}

fn columns(headings: &csv::StringRecord) -> Result<Vec<Option<Column>>, Unreadable> {
    let known = |heading: &str| {
        let heading = heading.to_lowercase();
        COLUMNS.iter().find(|(_, names)| names.contains(&heading.as_str())).map(|(column, _)| *column)
    };
    let columns: Vec<Option<Column>> = headings.iter().map(known).collect();
    let twice = |column: &Column| columns.iter().filter(|other| **other == Some(*column)).count() > 1;
    if let Some(column) = columns.iter().flatten().find(|column| twice(column)) {
        let what = format!("two columns of the heading mean the same ({column:?}); rename one of them");
        return Err(Unreadable { line: 1, what });
    }
    let has = |column| columns.contains(&Some(column));
    if !has(Column::Id) && !has(Column::Title) {
        let what = "the heading names no column for tasks; expected at least `id` or `name`, and for example \
                    `duration`, `after`, `resources`, `cost`";
        return Err(Unreadable { line: 1, what: what.to_owned() });
    }
    Ok(columns)
}

/// Columns of dates.
const DATES: [Column; 5] = [Column::Start, Column::NotBefore, Column::Deadline, Column::Started, Column::Finished];

/// One line of the table.
struct Row<'a> {
    places: &'a BTreeMap<Column, usize>,
    record: &'a csv::StringRecord,
    line: usize,
    slashes: Slashes,
    /// Whether numbers may have a comma for a point.
    comma: bool,
}

impl Row<'_> {
    fn field(&self, wanted: Column) -> &str {
        self.places.get(&wanted).and_then(|at| self.record.get(*at)).unwrap_or_default()
    }

    /// What stands somewhere, read; none when nothing stands there.
    fn read<T>(&self, text: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, Unreadable> {
        if text.is_empty() {
            return Ok(None);
        }
        read(text).map(Some).map_err(|what| Unreadable { line: self.line, what })
    }

    /// A whole number.
    fn whole<T: std::str::FromStr>(&self, column: Column) -> Result<Option<T>, Unreadable> {
        self.read(self.field(column), |text| text.parse().map_err(|_| format!("`{text}` is not a whole number")))
    }

    fn when(&self, column: Column) -> Result<Option<When>, Unreadable> {
        self.read(self.field(column), |text| dates::read(text, self.slashes)).map(Option::flatten)
    }

    fn deadline(&self) -> Result<Option<Deadline>, Unreadable> {
        let text = self.field(Column::Deadline);
        let (at, hard) = match text.strip_suffix("hard") {
            Some(at) => (at, true),
            None => (text.strip_suffix("soft").unwrap_or(text), false),
        };
        let at = self.read(at.trim(), |text| dates::read(text, self.slashes))?.flatten();
        Ok(at.map(|at| Deadline { at, hard }))
    }

    /// What plain numbers count.
    fn unit(&self) -> Result<Option<Unit>, Unreadable> {
        self.read(self.field(Column::Unit), |text| {
            let unit = serde_json::from_value(serde_json::Value::String(text.to_lowercase()));
            unit.map_err(|_| format!("`{text}` is not a unit; write for example `hour` or `day`"))
        })
    }

    /// A number with a point, whatever stands for it in this table.
    fn number(&self, column: Column) -> String {
        let text = self.field(column);
        if self.comma && !text.contains('.') { text.replace(',', ".") } else { text.to_owned() }
    }

    /// The task of this line; none for an empty line.
    fn task(&self) -> Result<Option<Task>, Unreadable> {
        let (id, title) = (self.field(Column::Id), self.field(Column::Title));
        let id = if id.is_empty() { title } else { id };
        if id.is_empty() {
            if self.record.iter().all(str::is_empty) {
                return Ok(None);
            }
            return Err(Unreadable { line: self.line, what: "this task has neither an id nor a name".to_owned() });
        }
        let wrong = |what: String| Unreadable { line: self.line, what };
        let needs =
            list(self.field(Column::Needs)).map(|need| need_of(need).map_err(wrong)).collect::<Result<_, _>>()?;
        let after =
            list(self.field(Column::After)).map(|link| link_of(link).map_err(wrong)).collect::<Result<_, _>>()?;
        let percent = self.field(Column::Percent).trim_end_matches('%').trim();
        let percent = match percent {
            "" => None,
            text => Some(text.parse().ok().filter(|percent| *percent <= 100).ok_or_else(|| {
                wrong(format!("`{text}` is not how much is done; write a whole number from 0 to 100"))
            })?),
        };
        Ok(Some(Task {
            title: if title == id { String::new() } else { title.to_owned() },
            parent: Some(self.field(Column::Parent)).filter(|parent| !parent.is_empty()).map(str::to_owned),
            after,
            estimate: self.estimate()?,
            calendar: Some(self.field(Column::Calendar)).filter(|name| !name.is_empty()).map(str::to_owned),
            start_no_earlier: self.when(Column::NotBefore)?,
            deadline: self.deadline()?,
            needs,
            costs: self.read(&self.number(Column::Cost), str::parse)?.map(fixed_cost).into_iter().collect(),
            priority: self.whole(Column::Priority)?.unwrap_or_default(),
            progress: Progress {
                percent,
                started: self.when(Column::Started)?,
                finished: self.when(Column::Finished)?,
                ..Progress::default()
            },
            ..Task::milestone(id)
        }))
    }

    fn estimate(&self) -> Result<Option<Estimate>, Unreadable> {
        let (low, likely, high) = (self.length(Column::Low)?, self.length(Column::Likely)?, self.length(Column::High)?);
        Ok(match (low, likely, high) {
            (None, None, None) => None,
            (low, Some(likely), high) => {
                let (low, high) = (low.unwrap_or(likely), high.unwrap_or(likely));
                Some(ThreePoint { low, likely, high, ..ThreePoint::fixed(likely) })
            }
            (Some(only), None, None) | (None, None, Some(only)) => Some(Estimate::fixed(only)),
            (Some(_), None, Some(_)) => {
                let what = "this task has a lowest and a highest duration; it needs the most likely one, too";
                return Err(Unreadable { line: self.line, what: what.to_owned() });
            }
        })
    }

    /// A length; other tools mark estimates that nobody confirmed with a question mark.
    fn length(&self, column: Column) -> Result<Option<Length>, Unreadable> {
        self.read(self.number(column).trim_end_matches('?').trim(), |text| text.to_lowercase().parse())
    }
}

fn fixed_cost(amount: Money) -> Cost {
    Cost { name: "cost".to_owned(), kind: CostKind::Fixed, amount: ThreePoint::fixed(amount), due: Due::Start }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '\n']).map(str::trim).filter(|part| !part.is_empty())
}

/// `ana`, `ana 50%`, and `ana[50%]` as other tools write it.
fn need_of(text: &str) -> Result<Need, String> {
    let (name, amount) = match text.split_once('[') {
        Some((name, rest)) => (name.trim(), Some(rest.trim_end_matches(']').trim())),
        None => match text.rsplit_once(char::is_whitespace) {
            Some((name, amount)) if amount.starts_with(|first: char| first.is_ascii_digit()) => {
                (name.trim(), Some(amount))
            }
            _ => (text, None),
        },
    };
    let need = Need::named(name);
    match amount {
        Some(amount) => Ok(Need { amount: amount.parse()?, ..need }),
        None => Ok(need),
    }
}

/// `design`, `design SS+2d`, and `3FS+2 days` as other tools write it.
fn link_of(text: &str) -> Result<Link, String> {
    let name_end = ["FS", "SS", "FF", "SF"].iter().filter_map(|kind| {
        let at = text.rfind(kind)?;
        let rest = text[at + kind.len()..].trim_start();
        let attached = at > 0 && (rest.is_empty() || rest.starts_with(['+', '-']));
        (attached && text[..at].ends_with(|last: char| last.is_ascii_digit() || last.is_whitespace())).then_some(at)
    });
    match name_end.max() {
        Some(at) => format!("{} {}{}", text[..at].trim_end(), &text[at..at + 2], text[at + 2..].to_lowercase()).parse(),
        None => Ok(Link::after(text)),
    }
}

/// A link to a task may name its title where ids are numbers.
fn settle_links(project: &mut Project) {
    let ids: BTreeSet<String> = project.tasks.iter().map(|task| task.id.clone()).collect();
    let by_title: BTreeMap<String, String> =
        project.tasks.iter().rev().map(|task| (task.title.clone(), task.id.clone())).collect();
    let settle = |name: &mut String| {
        if !ids.contains(name)
            && let Some(id) = by_title.get(name)
        {
            name.clone_from(id);
        }
    };
    for task in &mut project.tasks {
        task.after.iter_mut().for_each(|link| settle(&mut link.task));
        task.parent.iter_mut().for_each(settle);
    }
}

/// Whoever is named is there, once or as often as one task needs; with dates there is an office to work in.
fn add_named(project: &mut Project) {
    use crate::project::Who;
    let named = project.tasks.iter().flat_map(|task| &task.needs).filter_map(|need| match &need.who {
        Who::Named { resource } => Some((resource.clone(), need.amount)),
        Who::Fitting { .. } => None,
    });
    let mut resources: BTreeMap<String, Resource> = BTreeMap::new();
    for (id, amount) in named {
        let resource = resources.entry(id).or_insert_with_key(|id| Resource::new(id));
        resource.capacity = resource.capacity.max(amount);
    }
    project.resources = resources.into_values().collect();
    let calendars: BTreeSet<String> = project.tasks.iter().filter_map(|task| task.calendar.clone()).collect();
    project.calendars = calendars.into_iter().map(|id| Calendar::office(id, "UTC")).collect();
    let starts = project.tasks.iter().flat_map(|task| [task.start_no_earlier, task.progress.started]).flatten();
    let ends =
        project.tasks.iter().flat_map(|task| [task.deadline.map(|deadline| deadline.at), task.progress.finished]);
    let is_dated = starts.clone().chain(ends.flatten()).any(|when| day_of(when).is_some());
    if is_dated {
        let office = "office".to_owned();
        if project.calendars.iter().all(|calendar| calendar.id != office) {
            project.calendars.push(Calendar::office(&office, "UTC"));
        }
        project.calendar = Some(office);
        project.start = starts.filter_map(day_of).min().map(When::Day);
    }
}

fn day_of(when: When) -> Option<jiff::civil::Date> {
    match when {
        When::Day(date) => Some(date),
        When::Local(local) => Some(local.date()),
        When::At(instant) => Some(instant.to_zoned(jiff::tz::TimeZone::UTC).date()),
        When::After(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> Project {
        read(text).unwrap().project
    }

    #[test]
    fn a_table_is_a_project() {
        let text = "id,name,duration,after,resources\n\
                    dig,Dig the hole,2d,,ana\n\
                    pour,Pour concrete,1d,dig,\"ana, mixer 2\"\n\
                    dry,Let it dry,3ed,pour FS+1h,\n";
        let project = project(text);
        assert_eq!(project.tasks.len(), 3);
        assert_eq!(project.task("pour").unwrap().needs, [Need::named("ana"), Need::of("mixer", 2)]);
        assert_eq!(project.task("dry").unwrap().after, ["pour FS+1h".parse().unwrap()]);
        assert_eq!(project.resources.iter().map(|resource| resource.id.as_str()).collect::<Vec<_>>(), ["ana", "mixer"]);
        assert_eq!(project.start, None, "no dates: days from zero");
    }

    #[test]
    fn a_table_is_known_by_its_heading() {
        assert!(is_table("id,duration\na,2d\n") && is_table("Task Name;Dauer\n"));
        for other in ["title: a, b\ntasks: [{id: a}]\n", "{\"id\": 1, \"name\": 2}", "name", ""] {
            assert!(!is_table(other), "{other}");
        }
    }

    #[test]
    fn headings_and_links_of_other_tools_are_understood() {
        let text = "\u{feff}ID;Task Name;Duration;Predecessors;Resource Names;% Complete\n\
                    1;Plan;5 days;;Ana[50%];100%\n\
                    2;Build;3d?;1FS+2 days;Ben;\n\
                    3;Test;1d;2SS, Plan;;\n";
        let project = project(text);
        assert_eq!(project.task("1").unwrap().needs[0].amount, "50%".parse().unwrap());
        assert_eq!(project.task("1").unwrap().progress.percent, Some(100));
        assert_eq!(project.task("2").unwrap().after, ["1 FS+2d".parse().unwrap()]);
        assert_eq!(project.task("3").unwrap().after, ["2 SS".parse().unwrap(), Link::after("1")]);
    }

    #[test]
    fn what_other_tools_write_by_default_is_read() {
        let text = "ID,Task Name,Duration,Start,Finish,Predecessors,Resource Names,Deadline,Outline Level\n\
                    1,Shell,3 wks,Mon 3/2/26,Fri 3/20/26,,,NA,1\n\
                    2,Dig,2 wks,Mon 3/2/26,Fri 3/13/26,,Ana,NA,2\n\
                    3,Pour,1 mon?,Mon 3/16/26,Fri 4/10/26,2FS+1 wk,Ana[50%],Thu 4/30/26,2\n\
                    4,Test,4 hrs,Tue 3/3/26,Tue 3/3/26,,,,1\n";
        let Read { project, notes } = read(text).unwrap();
        let estimate = |id: &str| project.task(id).unwrap().estimate.map(|estimate| estimate.to_string());
        assert_eq!([estimate("1"), estimate("2"), estimate("4")], [None, Some("2w".to_owned()), Some("4h".to_owned())]);
        let pour = project.task("3").unwrap();
        assert_eq!((pour.parent.as_deref(), estimate("3").as_deref()), (Some("1"), Some("1mo")));
        assert_eq!(pour.after, ["2 FS+1w".parse().unwrap()]);
        assert_eq!(pour.deadline, Some("2026-04-30".parse().unwrap()));
        assert_eq!((project.start, pour.start_no_earlier), (Some("2026-03-02".parse().unwrap()), None));
        assert_eq!(project.task("4").unwrap().start_no_earlier, Some("2026-03-03".parse().unwrap()));
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        let expected = [
            "line 1: the column `Finish` is not read; did you mean `finished`?",
            "line 2: a task that contains others takes as long as they do",
            "line 4: a task that waits for others starts after them; its `start` is not read",
        ];
        assert_eq!(notes, expected);
    }

    #[test]
    fn numbers_may_have_a_comma_where_nothing_else_is_one() {
        let project = project("id;name;duration;cost;start\n1;a;2,5d;1200,50;02.03.2026\n");
        assert_eq!(project.tasks[0].estimate, Some("2.5d".parse().unwrap()));
        assert_eq!(project.tasks[0].costs[0].amount, ThreePoint::fixed("1200.50".parse().unwrap()));
        assert_eq!(project.start, Some("2026-03-02".parse().unwrap()));
    }

    #[test]
    fn dates_that_could_be_others_are_told() {
        let notes = read("id,duration,start\na,5d,3/2/26\n").unwrap().notes;
        assert_eq!(notes[0].to_string(), "line 1: dates such as `3/2/26` are read with the month first");
        assert!(read("id,duration,start\na,5d,13/2/26\n").unwrap().notes.is_empty());
        let notes = read("id,duration,start\na,5d,in spring\n").unwrap().notes;
        assert!(notes[0].what.starts_with("this `start` is not read: `in spring`"), "{}", notes[0]);
    }

    #[test]
    fn three_durations_are_an_estimate_and_dates_make_a_calendar() {
        let text = "name\tlow\tlikely\thigh\tdeadline\ndesign\t2d\t3d\t8d\t2026-12-01\n";
        let project = project(text);
        let estimate = project.tasks[0].estimate.unwrap();
        assert_eq!((estimate.low, estimate.high), (Length::days(2), Length::days(8)));
        assert_eq!((project.start, project.calendar.as_deref()), (None, Some("office")), "nothing says when it starts");
        let begun = self::project("name,duration,started\na,2d,2026-11-03\nb,2d,2026-11-02\n");
        assert_eq!(begun.start, Some("2026-11-02".parse().unwrap()));
    }

    #[test]
    fn an_unknown_column_is_told_with_the_nearest_name() {
        let text = "id,Duraton,after,colour\na,5d,,red\nb,2d,a,blue,9,8\nc,2d,a,blue,,\nd,2d,a,blue,7\n";
        let notes: Vec<String> = read(text).unwrap().notes.iter().map(ToString::to_string).collect();
        let expected = [
            "line 1: the column `Duraton` is not read; did you mean `duration`?",
            "line 1: the column `colour` is not read",
            "line 3: this line has more fields than the heading has names; they are not read (2 times in all)",
        ];
        assert_eq!(notes, expected);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, says) in [
            ("id,duration\na,5d\nb,soon\n", 3, "`soon` is not a length"),
            ("colour,size\nred,5\n", 1, "no column for tasks"),
            ("id,name,key\na,b,c\n", 1, "mean the same"),
            ("id,duration\n", 1, "no tasks"),
            ("id,low,high\na,1d,2d\n", 2, "most likely"),
            ("id,percent\na,200\n", 2, "from 0 to 100"),
            ("id,duration\n,5d\n", 2, "neither an id nor a name"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.what.contains(says), "{text}: {error}");
        }
    }
}
