//! Calendars: weeks with their hours, days off, and the absences of people.
//!
//! The format has hours within one day. Hours that run over midnight are two there, and a day that is out of the usual
//! is told with all the hours that really fall on it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::xml::Xml;
use crate::calendar::joined;
use crate::frame::Frame;
use crate::project::{Calendar, Days, Hours, Project};

const DAY: i32 = 24 * 60;

/// A day has at most so many stretches of work there.
const STRETCHES_MAX: usize = 5;

/// No more days than this of one stretch of days off are told.
const DAYS_MAX: i32 = 3_660;

/// Every calendar of the file, with its number.
pub struct Calendars {
    entries: Vec<Entry>,
    /// The number of the project's own.
    pub own: usize,
    by_id: BTreeMap<String, usize>,
    of_people: BTreeMap<String, usize>,
}

struct Entry {
    uid: usize,
    name: String,
    /// The number of the calendar that a person's own stands on.
    base: Option<usize>,
    week: [Vec<Stretch>; 7],
    exceptions: Vec<(Days, Vec<Stretch>)>,
}

/// From one minute of a day to another.
type Stretch = (i32, i32);

/// A calendar as it is seen in the project's zone.
struct Seen<'a> {
    calendar: &'a Calendar,
    /// By how many minutes its hours are moved.
    shift: i32,
}

impl Calendars {
    pub fn new(project: &Project, frame: &Frame) -> Self {
        let mut calendars = Self { entries: Vec::new(), own: 1, by_id: BTreeMap::new(), of_people: BTreeMap::new() };
        for calendar in &project.calendars {
            let uid = calendars.add(&calendar.id, calendar, None, frame);
            calendars.by_id.insert(calendar.id.clone(), uid);
        }
        let always = Calendar::always("24 Hours");
        let own = project.calendars.iter().find(|calendar| Some(&calendar.id) == project.calendar.as_ref());
        let own = own.unwrap_or(&always);
        calendars.own = match project.calendar.as_ref().and_then(|id| calendars.by_id.get(id)) {
            Some(uid) => *uid,
            None => calendars.add("24 Hours", &always, None, frame),
        };
        for resource in project.resources.iter().filter(|one| one.calendar.is_some() || !one.absences.is_empty()) {
            let base = project.calendars.iter().find(|calendar| Some(&calendar.id) == resource.calendar.as_ref());
            let base = base.unwrap_or(own);
            let uid = calendars.by_id.get(&base.id).copied().unwrap_or(calendars.own);
            let with_absences = base.clone().without(resource.absences.iter().copied());
            let uid = calendars.add(&resource.id, &with_absences, Some((uid, base)), frame);
            calendars.of_people.insert(resource.id.clone(), uid);
        }
        calendars
    }

    fn add(&mut self, name: &str, calendar: &Calendar, base: Option<(usize, &Calendar)>, frame: &Frame) -> usize {
        let uid = self.entries.len() + 1;
        let seen = Seen::new(calendar, frame);
        let usual = |weekday: i8| seen.usual(Weekday::from_monday_zero_offset(weekday).unwrap_or(Weekday::Monday));
        let week = [0, 1, 2, 3, 4, 5, 6].map(usual);
        let exceptions = match base {
            None => seen.exceptions(|date| seen.usual(date.weekday())),
            Some((_, base)) => {
                let base = Seen::new(base, frame);
                seen.exceptions(|date| base.on(date))
            }
        };
        self.entries.push(Entry { uid, name: name.to_owned(), base: base.map(|base| base.0), week, exceptions });
        uid
    }

    /// The number of a calendar that the project has.
    pub fn uid(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The number of a person's own calendar.
    pub fn uid_of_person(&self, id: &str) -> Option<usize> {
        self.of_people.get(id).copied()
    }

    fn usual_day(&self) -> Option<&Vec<Stretch>> {
        let own = self.entries.iter().find(|entry| entry.uid == self.own)?;
        own.week.iter().find(|day| !day.is_empty())
    }

    /// When a usual day begins.
    pub fn usual_start(&self) -> Time {
        time(self.usual_day().and_then(|day| day.first()).map_or(0, |stretch| stretch.0))
    }

    /// When a usual day ends.
    pub fn usual_finish(&self) -> Time {
        time(self.usual_day().and_then(|day| day.last()).map_or(0, |stretch| stretch.1))
    }

    /// The calendar with more stretches on a day than the format knows.
    pub fn too_fine(&self) -> Option<&str> {
        let days =
            |entry: &Entry| entry.week.iter().chain(entry.exceptions.iter().map(|one| &one.1)).map(Vec::len).max();
        self.entries.iter().find(|entry| days(entry) > Some(STRETCHES_MAX)).map(|entry| entry.name.as_str())
    }

    pub fn write(&self, xml: &mut Xml) {
        for entry in &self.entries {
            xml.within("Calendar", |xml| entry.write(xml));
        }
    }
}

impl Entry {
    fn write(&self, xml: &mut Xml) {
        xml.put("UID", self.uid);
        xml.text_of("Name", &self.name, 512);
        xml.flag("IsBaseCalendar", self.base.is_none());
        if let Some(base) = self.base {
            xml.put("BaseCalendarUID", base);
        } else {
            xml.within("WeekDays", |xml| {
                // Sunday comes first there and Monday here.
                for (number, weekday) in (1..=7).zip([6, 0, 1, 2, 3, 4, 5]) {
                    xml.within("WeekDay", |xml| {
                        xml.put("DayType", number);
                        hours(&self.week[weekday], xml);
                    });
                }
            });
        }
        if self.exceptions.is_empty() {
            return;
        }
        xml.within("Exceptions", |xml| {
            for (days, stretches) in &self.exceptions {
                xml.within("Exception", |xml| {
                    xml.flag("EnteredByOccurrences", false);
                    xml.within("TimePeriod", |xml| {
                        xml.put("FromDate", days.from.at(0, 0, 0, 0));
                        xml.put("ToDate", days.to.at(23, 59, 0, 0));
                    });
                    let count = days.from.until(days.to).map_or(0, |span| span.get_days()) + 1;
                    xml.put("Occurrences", count);
                    xml.put("Name", if stretches.is_empty() { "Day off" } else { "Other hours" });
                    xml.put("Type", 1);
                    hours(stretches, xml);
                });
            }
        });
    }
}

fn hours(stretches: &[Stretch], xml: &mut Xml) {
    xml.flag("DayWorking", !stretches.is_empty());
    if !stretches.is_empty() {
        xml.within("WorkingTimes", |xml| {
            for &(from, to) in stretches {
                xml.within("WorkingTime", |xml| {
                    xml.put("FromTime", time(from));
                    xml.put("ToTime", time(to));
                });
            }
        });
    }
}

/// A minute of the day; the last is midnight again.
fn time(minute: i32) -> Time {
    let part = |value: i32| i8::try_from(value).unwrap_or_default();
    Time::new(part(minute / 60 % 24), part(minute % 60), 0, 0).unwrap_or_default()
}

impl<'a> Seen<'a> {
    fn new(calendar: &'a Calendar, frame: &Frame) -> Self {
        let zone = calendar.zone.as_deref().and_then(|zone| TimeZone::get(zone).ok());
        let minutes = |zone: &TimeZone, at: Timestamp| zone.to_offset(at).seconds() / 60;
        let shift = zone.map_or(0, |zone| minutes(&frame.zone, frame.origin) - minutes(&zone, frame.origin));
        Self { calendar, shift }
    }

    /// What is worked on a day, from the hours of the day before, of the day and of the day after.
    fn put_together(&self, three: [&[Hours]; 3]) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for (day, hours) in (-1..).zip(three) {
            for hours in hours {
                let moved = |minute: u16| (i32::from(minute) + day * DAY + self.shift).clamp(0, DAY);
                let stretch = (moved(hours.from), moved(hours.to));
                if stretch.0 < stretch.1 {
                    stretches.push(stretch);
                }
            }
        }
        joined(stretches)
    }

    /// What is worked on a day.
    fn on(&self, date: Date) -> Vec<Stretch> {
        let hours = |date: Option<Date>| date.map_or(&[][..], |date| self.calendar.hours(date));
        self.put_together([hours(date.yesterday().ok()), hours(Some(date)), hours(date.tomorrow().ok())])
    }

    /// What is worked on a day of the week on which nothing is unusual.
    fn usual(&self, weekday: Weekday) -> Vec<Stretch> {
        const ALL_DAY: &[Hours] = &[Hours { from: 0, to: 24 * 60 }];
        let hours = |weekday: Weekday| self.calendar.week.as_ref().map_or(ALL_DAY, |week| week.on(weekday));
        self.put_together([hours(weekday.previous()), hours(weekday), hours(weekday.next())])
    }

    /// The days that are not as expected, those with the same hours together.
    fn exceptions(&self, expected: impl Fn(Date) -> Vec<Stretch>) -> Vec<(Days, Vec<Stretch>)> {
        let mut dates: BTreeSet<Date> = self.calendar.exceptions.keys().copied().collect();
        for days in &self.calendar.days_off {
            let count = days.from.until(days.to).map_or(0, |span| span.get_days()).min(DAYS_MAX);
            dates.extend((0..=count).filter_map(|day| days.from.checked_add(day.days()).ok()));
        }
        let near: Vec<Date> =
            dates.iter().flat_map(|date| [date.yesterday().ok(), date.tomorrow().ok()]).flatten().collect();
        dates.extend(near);
        let mut exceptions: Vec<(Days, Vec<Stretch>)> = Vec::new();
        for date in dates {
            let worked = self.on(date);
            if worked == expected(date) {
                continue;
            }
            match exceptions.last_mut() {
                Some((days, same)) if *same == worked && days.to.tomorrow().is_ok_and(|next| next == date) => {
                    days.to = date;
                }
                _ => exceptions.push((Days { from: date, to: date }, worked)),
            }
        }
        exceptions
    }
}
