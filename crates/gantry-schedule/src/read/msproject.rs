//! Reads the XML that Microsoft Project exchanges (namespace `http://schemas.microsoft.com/project`).

mod calendars; // in reading order
mod tasks;
mod xml;

use std::collections::{BTreeMap, BTreeSet};

use super::{Notes, Read, Unreadable};
use crate::project::{Amount, CapacityChange, Money, Need, Project, Resource, Unit, When};
use xml::Element;

/// What things are called in the file, and in the project.
#[derive(Default)]
struct Names {
    calendars: BTreeMap<i64, String>,
    /// The fields in which ids stand that this program once wrote.
    id_fields: Vec<i64>,
    tasks: BTreeMap<i64, String>,
    resources: BTreeMap<i64, String>,
}

/// Reads the text of a file. Times are taken for those of UTC, for the format knows no zones.
pub fn read(text: &str) -> Result<Read, Unreadable> {
    let document = xml::document(text)?;
    let root = Element::root(&document)?;
    let mut names = Names { id_fields: id_fields(&root)?, ..Names::default() };
    let mut notes = Notes::default();
    let calendars = calendars::read(&root, &mut names)?;
    let calendar = root.number("CalendarUID")?.and_then(|uid| names.calendars.get(&uid).cloned());
    let mut project = Project {
        name: root.text("Title").or(root.text("Name")).unwrap_or_default().to_owned(),
        start: root.when("StartDate")?,
        calendar: calendar.or_else(|| calendars.first().map(|calendar| calendar.id.clone())),
        calendars,
        currency: root.text("CurrencyCode").unwrap_or("USD").to_owned(),
        data_date: root.when("StatusDate")?,
        resources: resources(&root, &mut names, &mut notes)?,
        ..Project::counting(Unit::Day)
    };
    project.tasks = tasks::read(&root, &mut names, &mut notes)?;
    project.deadline = tasks::deadline_of_all(&root)?;
    tasks::note_cost_of_all(&root, &mut notes)?;
    assign(&root, &names, &mut project)?;
    if project.tasks.is_empty() {
        return Err(root.wrong("there are no tasks in this file"));
    }
    Ok(Read { project, notes: notes.by_line() })
}

/// People and equipment; material and costs of the file are no resources that limit anything.
fn resources(root: &Element<'_, '_>, names: &mut Names, notes: &mut Notes) -> Result<Vec<Resource>, Unreadable> {
    let mut resources = Vec::new();
    let mut taken = BTreeSet::new();
    for element in root.all("Resources", "Resource") {
        let uid = element.required_number("UID")?;
        let Some(name) = element.text("Name") else { continue }; // a blank line of its table
        if element.number("Type")?.unwrap_or(1) != 1 {
            notes.add(|| element.line(), format!("`{name}` is material or a cost; it and what it costs are not read"));
            continue;
        }
        let id = xml::unique(names.id(&element)?.unwrap_or(name), uid, &mut taken);
        names.resources.insert(uid, id.clone());
        let rate = element.decimal("StandardRate")?.filter(|rate| !rate.is_zero());
        let own = element.number("CalendarUID")?.and_then(|uid| names.calendars.get(&uid).cloned());
        let mut steps = availability(&element)?;
        let first = if steps.is_empty() { element.amount("MaxUnits")? } else { Some(steps.remove(0).capacity) };
        let per_use = element.decimal("CostPerUse")?.filter(|cost| !cost.is_zero());
        resources.push(Resource {
            name: if id == name { String::new() } else { name.to_owned() },
            capacity: first.unwrap_or_default(),
            changes: steps,
            calendar: own,
            rate: rate.map(Money::of),
            per_use: per_use.map(hundredths),
            ..Resource::new(id)
        });
    }
    Ok(resources)
}

/// How much there is from when on, if that changes.
fn availability(resource: &Element<'_, '_>) -> Result<Vec<CapacityChange>, Unreadable> {
    let mut steps = Vec::new();
    for period in resource.all("AvailabilityPeriods", "AvailabilityPeriod") {
        if let (Some(from), Some(capacity)) = (period.when("AvailableFrom")?, period.amount("AvailableUnits")?) {
            steps.push(CapacityChange { from, capacity });
        }
    }
    Ok(if steps.len() > 1 { steps } else { Vec::new() })
}

/// The fields that bear ids.
fn id_fields(root: &Element<'_, '_>) -> Result<Vec<i64>, Unreadable> {
    let ours = root.all("ExtendedAttributes", "ExtendedAttribute");
    ours.filter(|field| field.text("Alias") == Some(crate::write::msproject::ID_ALIAS))
        .map(|field| field.required_number("FieldID"))
        .collect()
}

impl Names {
    /// The id that this program once wrote for something.
    fn id<'d>(&self, element: &Element<'d, '_>) -> Result<Option<&'d str>, Unreadable> {
        for field in element.children("ExtendedAttribute") {
            if field.number("FieldID")?.is_some_and(|number| self.id_fields.contains(&number)) {
                return Ok(field.text("Value"));
            }
        }
        Ok(None)
    }
}

/// Money, which the format keeps in hundredths.
fn hundredths(amount: rust_decimal::Decimal) -> Money {
    Money::of(amount / rust_decimal::Decimal::ONE_HUNDRED)
}

/// Who does what.
fn assign(root: &Element<'_, '_>, names: &Names, project: &mut Project) -> Result<(), Unreadable> {
    let places: BTreeMap<String, usize> =
        project.tasks.iter().enumerate().map(|(at, task)| (task.id.clone(), at)).collect();
    for element in root.all("Assignments", "Assignment") {
        let task = names.tasks.get(&element.required_number("TaskUID")?);
        // Nobody is assigned where the resource has a number below zero.
        let resource = names.resources.get(&element.required_number("ResourceUID")?);
        if let (Some(task), Some(resource)) = (task, resource)
            && let Some(task) = places.get(task).and_then(|at| project.tasks.get_mut(*at))
        {
            let amount: Amount = element.amount("Units")?.unwrap_or_default();
            task.needs.push(Need { amount, ..Need::named(resource) });
        }
    }
    Ok(())
}

/// The start of a day is the day.
fn day_or_time(time: jiff::civil::DateTime) -> When {
    if time.time() == jiff::civil::Time::midnight() { When::Day(time.date()) } else { When::Local(time) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{Estimate, Link};

    const FILE: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Project xmlns="http://schemas.microsoft.com/project">
  <Name>house.xml</Name><Title>House</Title>
  <StartDate>2026-03-02T08:00:00</StartDate>
  <CalendarUID>1</CalendarUID><CurrencyCode>EUR</CurrencyCode>
  <Calendars><Calendar><UID>1</UID><Name>Standard</Name><WeekDays>
    <WeekDay><DayType>1</DayType><DayWorking>0</DayWorking></WeekDay>
    <WeekDay><DayType>2</DayType><DayWorking>1</DayWorking><WorkingTimes>
      <WorkingTime><FromTime>08:00:00</FromTime><ToTime>12:00:00</ToTime></WorkingTime>
      <WorkingTime><FromTime>13:00:00</FromTime><ToTime>17:00:00</ToTime></WorkingTime></WorkingTimes></WeekDay>
  </WeekDays><Exceptions><Exception><TimePeriod><FromDate>2026-12-25T00:00:00</FromDate><ToDate>2026-12-26T23:59:00</ToDate></TimePeriod>
    <DayWorking>0</DayWorking></Exception></Exceptions></Calendar></Calendars>
  <Tasks>
    <Task><UID>0</UID><ID>0</ID><Name>House</Name><OutlineLevel>0</OutlineLevel><Summary>1</Summary></Task>
    <Task><UID>1</UID><ID>1</ID><Name>Shell</Name><OutlineLevel>1</OutlineLevel><Summary>1</Summary></Task>
    <Task><UID>2</UID><ID>2</ID><Name>Walls</Name><OutlineLevel>2</OutlineLevel><Duration>PT40H0M0S</Duration><FixedCost>10050</FixedCost></Task>
    <Task><UID>3</UID><ID>3</ID><Name>Roof</Name><OutlineLevel>2</OutlineLevel><Duration>PT16H30M0S</Duration><PercentComplete>25</PercentComplete>
      <ConstraintType>4</ConstraintType><ConstraintDate>2026-03-09T08:00:00</ConstraintDate>
      <PredecessorLink><PredecessorUID>2</PredecessorUID><Type>3</Type><LinkLag>4800</LinkLag><LagFormat>7</LagFormat></PredecessorLink></Task>
    <Task><UID>4</UID><ID>4</ID><Name>Done</Name><OutlineLevel>1</OutlineLevel><Milestone>1</Milestone><Duration>PT0H0M0S</Duration>
      <PredecessorLink><PredecessorUID>3</PredecessorUID><Type>1</Type></PredecessorLink></Task>
  </Tasks>
  <Resources><Resource><UID>1</UID><Name>Ana</Name><Type>1</Type><MaxUnits>0.5</MaxUnits><StandardRate>90</StandardRate></Resource></Resources>
  <Assignments><Assignment><UID>1</UID><TaskUID>3</TaskUID><ResourceUID>1</ResourceUID><Units>0.5</Units></Assignment>
    <Assignment><UID>2</UID><TaskUID>2</TaskUID><ResourceUID>-65535</ResourceUID></Assignment></Assignments>
</Project>"#;

    #[test]
    fn a_file_of_another_tool_is_a_project() {
        let project = read(FILE).unwrap().project;
        assert_eq!((project.name.as_str(), project.currency.as_str()), ("House", "EUR"));
        assert_eq!(project.start, Some("2026-03-02T08:00".parse().unwrap()));
        let ids: Vec<(&str, Option<&str>)> =
            project.tasks.iter().map(|task| (task.id.as_str(), task.parent.as_deref())).collect();
        assert_eq!(ids, [("1", None), ("2", Some("1")), ("3", Some("1")), ("4", None)], "the whole is no task");
        let roof = project.task("3").unwrap();
        assert_eq!(roof.title, "Roof");
        assert_eq!(roof.estimate, Some(Estimate::fixed("16h30m".parse().unwrap())));
        assert_eq!(roof.after, ["2 SS+8h".parse::<Link>().unwrap()]);
        assert_eq!(roof.start_no_earlier, Some("2026-03-09T08:00".parse().unwrap()));
        assert_eq!(roof.needs, [Need { amount: "0.5".parse().unwrap(), ..Need::named("Ana") }]);
        assert_eq!(roof.progress.percent, Some(25));
        assert_eq!(project.task("4").unwrap().estimate, None, "a milestone");
        assert_eq!(project.task("1").unwrap().estimate, None, "a summary takes as long as its parts");
    }

    #[test]
    fn its_calendar_has_the_hours_and_the_days_off() {
        let project = read(FILE).unwrap().project;
        let calendar = &project.calendars[0];
        assert_eq!(calendar.hours("2026-03-02".parse().unwrap()).len(), 2, "a Monday");
        assert!(calendar.hours("2026-03-01".parse().unwrap()).is_empty(), "a Sunday");
        assert!(calendar.hours("2026-12-25".parse().unwrap()).is_empty());
        assert!(calendar.hours("2026-12-28".parse().unwrap()).len() == 2, "the Monday after");
    }

    #[test]
    fn what_is_not_read_is_told() {
        let constrained = |uid: i64, constraint: i64| {
            format!(
                "<Task><UID>{uid}</UID><Duration>PT8H0M0S</Duration><ConstraintType>{constraint}</ConstraintType></Task>\n"
            )
        };
        let link = "<Task><UID>9</UID><PredecessorLink><PredecessorUID>1</PredecessorUID><CrossProject>1</CrossProject></PredecessorLink></Task>";
        let tasks: String = (1..=7).map(|number| constrained(number, number)).chain([constrained(8, 6)]).collect();
        let text = format!(
            "<Project><Tasks>\n{tasks}{link}</Tasks>\n<Resources><Resource><UID>1</UID><Name>Steel</Name><Type>0</Type></Resource></Resources></Project>"
        );
        let notes: Vec<String> = read(&text).unwrap().notes.iter().map(ToString::to_string).collect();
        let expected = [
            "line 2: \"as late as possible\" is not read; the task is planned as early as possible",
            "line 3: \"must start on\" is taken for \"start no earlier than\"",
            "line 4: \"must finish on\" is taken for a hard deadline",
            "line 6: \"start no later than\" is not read",
            "line 7: \"finish no earlier than\" is not read (2 times in all)",
            "line 10: this link leads to a task of another file, and is not read",
            "line 11: `Steel` is material or a cost; it and what it costs are not read",
        ];
        assert_eq!(notes, expected);
        assert_eq!(read(FILE).unwrap().notes, []);
    }

    #[test]
    fn what_waits_for_the_start_of_a_summary_waits_for_its_first_part() {
        let line = |uid: i64, level: i64, start: &str, link: &str| {
            format!(
                "<Task><UID>{uid}</UID><Name>T{uid}</Name><OutlineLevel>{level}</OutlineLevel><Duration>PT8H0M0S</Duration>\
                 <Start>2026-03-{start}T08:00:00</Start>{link}</Task>\n"
            )
        };
        let link = "<PredecessorLink><PredecessorUID>1</PredecessorUID><Type>3</Type></PredecessorLink>";
        let tasks = [line(1, 1, "02", ""), line(2, 2, "04", ""), line(3, 2, "02", ""), line(4, 1, "02", link)].concat();
        let read =
            read(&format!("<Project><StartDate>2026-03-02T08:00:00</StartDate><Tasks>\n{tasks}</Tasks></Project>"));
        let Read { project, notes } = read.unwrap();
        assert_eq!(project.task("4").unwrap().after, ["3 SS".parse::<Link>().unwrap()]);
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes, ["line 5: what waits for the start of `T1` waits for that of its first part, `T3`"]);
    }

    #[test]
    fn a_cost_that_no_task_bears_is_told() {
        let text = "<Project><Tasks>\n<Task><UID>0</UID><FixedCost>200000</FixedCost></Task>\n\
                    <Task><UID>1</UID><Duration>PT8H0M0S</Duration></Task></Tasks></Project>";
        let told = read(text).unwrap().notes[0].to_string();
        assert_eq!(told, "line 2: the fixed cost of the whole, 2000, belongs to no task and is not read");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, says) in [
            ("<Project", "this is no XML"),
            ("<html></html>", "`Project`"),
            ("<Project>\n<Tasks></Tasks></Project>", "no tasks"),
            ("<Project><Tasks>\n<Task><UID>x</UID></Task></Tasks></Project>", "`x`"),
            ("<Project><Tasks>\n<Task><UID>1</UID><Duration>soon</Duration></Task></Tasks></Project>", "`soon`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.what.contains(says), "{text}: {error}");
        }
    }
}
