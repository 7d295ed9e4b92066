//! Writes a project and its schedule as the XML that Microsoft Project exchanges.
//!
//! Elements stand in the order of the published schema, for the tool refuses files where they do not. The format knows
//! no zones: times are those of the project's zone, and hours of calendars elsewhere are moved by the difference at the
//! project's start. It has one duration for each task, so of three values the one stands there that was scheduled.

mod calendars; // in reading order
mod people;
mod tasks;
mod xml;

use std::collections::BTreeMap;

use jiff::civil::DateTime;

use super::Unwritable;
use crate::frame::{Edge, Moment};
use crate::model::{HORIZON_FIRST, HORIZON_MAX, Model};
use crate::project::{Project, Task, When, places};
use crate::schedule::{Basis, Schedule, TaskRow};
use xml::Xml;

/// Under this name the ids of tasks and resources stand in the file, so that they come back when it is read.
pub(crate) const ID_ALIAS: &str = "Gantry id";

/// The numbers that the tool gives to the first free text field of tasks and of resources.
const TASK_TEXT: &str = "188743731";
const RESOURCE_TEXT: &str = "205520904";

/// Everything that is needed to write, with the numbers that things have in the file.
struct Sheet<'a> {
    project: &'a Project,
    schedule: &'a Schedule,
    model: Model<'a>,
    rows: BTreeMap<&'a str, &'a TaskRow>,
    calendars: calendars::Calendars,
    /// By place in the project, from one.
    task_uids: BTreeMap<&'a str, usize>,
    resource_uids: BTreeMap<&'a str, usize>,
}

/// The text of a file with the project and its schedule.
pub fn write(project: &Project, schedule: &Schedule) -> Result<String, Unwritable> {
    let sheet = Sheet::new(project, schedule)?;
    let mut xml = Xml::new();
    xml.begin("Project", " xmlns=\"http://schemas.microsoft.com/project\"");
    head(&sheet, &mut xml)?;
    xml.within("ExtendedAttributes", |xml| {
        for field in [TASK_TEXT, RESOURCE_TEXT] {
            xml.within("ExtendedAttribute", |xml| {
                xml.put("FieldID", field);
                xml.put("FieldName", "Text1");
                xml.put("Alias", ID_ALIAS);
            });
        }
    });
    xml.within("Calendars", |xml| sheet.calendars.write(xml));
    tasks::write(&sheet, &mut xml)?;
    people::write(&sheet, &mut xml)?;
    xml.end("Project");
    Ok(xml.text())
}

/// What of a project the file has no place for.
pub fn left_out(project: &Project) -> Vec<&'static str> {
    let three = |task: &Task| task.estimate.is_some_and(|estimate| !estimate.is_fixed());
    let several = |task: &Task| task.costs.windows(2).any(|pair| pair[0].due != pair[1].due);
    let chance = !(project.risks.is_empty() && project.correlations.is_empty() && project.classes.is_empty());
    let all = [
        (project.tasks.iter().any(three), "estimates of three values: the one that was scheduled stands there"),
        (chance, "risks, correlations and classes of past work"),
        (project.budget.is_some(), "the budget"),
        (
            !project.recurring.is_empty(),
            "when recurring costs fall due: their sum stands at the whole, and is not read back",
        ),
        (
            project.tasks.iter().any(several),
            "when each of several costs of a task falls due: their sum is due like the first",
        ),
    ];
    all.into_iter().filter(|(is_there, _)| *is_there).map(|(_, what)| what).collect()
}

impl<'a> Sheet<'a> {
    fn new(project: &'a Project, schedule: &'a Schedule) -> Result<Self, Unwritable> {
        let Moment::Date(finish, _) = schedule.finish else { return Err(Unwritable::Undated) };
        let near = Model::new(project, Basis::Expected, HORIZON_FIRST).map_err(Unwritable::Problems)?;
        let end = finish.as_second() - near.frame.origin.as_second();
        let model = if end.saturating_mul(2) > HORIZON_FIRST {
            let horizon = end.saturating_mul(4).min(HORIZON_MAX);
            Model::new(project, Basis::Expected, horizon).map_err(Unwritable::Problems)?
        } else {
            near
        };
        let calendars = calendars::Calendars::new(project, &model.frame);
        if let Some(name) = calendars.too_fine() {
            return Err(Unwritable::Hours(name.to_owned()));
        }
        Ok(Self {
            project,
            schedule,
            model,
            rows: schedule.tasks.iter().map(|row| (row.id.as_str(), row)).collect(),
            calendars,
            task_uids: project.tasks.iter().zip(1..).map(|(task, uid)| (task.id.as_str(), uid)).collect(),
            resource_uids: project.resources.iter().zip(1..).map(|(one, uid)| (one.id.as_str(), uid)).collect(),
        })
    }

    /// A second as local time.
    fn at(&self, second: i64) -> Result<DateTime, Unwritable> {
        local(self.model.frame.moment(second))
    }

    /// A point in time that something may not be before.
    fn from(&self, when: When) -> Result<Option<DateTime>, Unwritable> {
        self.model.second(when, Edge::First).map(|second| self.at(second)).transpose()
    }

    /// A point in time by which something is due. The end of a day is its last minute, as the tool writes it.
    fn due(&self, when: When) -> Result<Option<DateTime>, Unwritable> {
        let Some(second) = self.model.second(when, Edge::Last) else { return Ok(None) };
        let at = self.at(second)?;
        let midnight = at.time() == jiff::civil::Time::midnight();
        if midnight { self.at(second - 60).map(Some) } else { Ok(Some(at)) }
    }
}

/// A moment as local time.
fn local(moment: Moment) -> Result<DateTime, Unwritable> {
    match moment {
        Moment::Date(instant, offset) => Ok(offset.to_datetime(instant)),
        Moment::Count(_) => Err(Unwritable::Undated),
    }
}

/// Seconds of work as `PT8H0M0S`.
fn work(seconds: i64) -> String {
    let seconds = seconds.max(0);
    format!("PT{}H{}M{}S", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

fn head(sheet: &Sheet<'_>, xml: &mut Xml) -> Result<(), Unwritable> {
    let (project, scale) = (sheet.project, &sheet.model.frame.scale);
    let name = if project.name.is_empty() { "Project" } else { &project.name };
    xml.put("SaveVersion", 12);
    xml.text_of("Name", name, 255);
    xml.text_of("Title", name, 512);
    xml.flag("ScheduleFromStart", true);
    xml.put("StartDate", sheet.at(0)?);
    xml.put("FinishDate", local(sheet.schedule.finish)?);
    xml.put("CurrencyDigits", places(&project.currency));
    xml.text_of("CurrencyCode", &project.currency, 3);
    xml.put("CalendarUID", sheet.calendars.own);
    xml.put("DefaultStartTime", sheet.calendars.usual_start());
    xml.put("DefaultFinishTime", sheet.calendars.usual_finish());
    xml.put("MinutesPerDay", scale.day / 60);
    xml.put("MinutesPerWeek", scale.week / 60);
    xml.put("DaysPerMonth", scale.month / scale.day.max(1));
    xml.put("DefaultTaskType", 1);
    xml.put("DurationFormat", 7);
    xml.put("WorkFormat", 2);
    xml.flag("NewTasksEffortDriven", false);
    if let Some(at) = project.data_date.map(|date| sheet.from(date)).transpose()?.flatten() {
        xml.put("StatusDate", at);
        xml.put("CurrentDate", at);
    }
    Ok(())
}
