//! Calendars of the file: weeks, days off, and calendars that stand on others.

use std::collections::{BTreeMap, BTreeSet};

use jiff::ToSpan;
use jiff::civil::Date;

use super::xml::{self, Element};
use super::{Names, Unreadable};
use crate::project::{Calendar, Days, Hours, Week};

/// A calendar that says nothing about a day works then from eight to five, as the tool does.
const USUAL: [Hours; 2] = [Hours { from: 8 * 60, to: 12 * 60 }, Hours { from: 13 * 60, to: 17 * 60 }];

/// So many single days of an exception with hours of its own are taken down.
const EXCEPTION_DAYS_MAX: i32 = 3_660;

/// So many exceptions may all calendars have, with those of the calendars they stand on: small files must not become large.
const DAYS_MAX: usize = 200_000;

pub fn read(root: &Element<'_, '_>, names: &mut Names) -> Result<Vec<Calendar>, Unreadable> {
    let elements: Vec<(i64, Element<'_, '_>)> = root
        .all("Calendars", "Calendar")
        .map(|element| Ok((element.required_number("UID")?, element)))
        .collect::<Result<_, Unreadable>>()?;
    let mut taken = BTreeSet::new();
    for (uid, element) in &elements {
        let name = element.text("Name").unwrap_or("calendar");
        let name = xml::unique(name, *uid, &mut taken);
        names.calendars.insert(*uid, name);
    }
    let by_uid: BTreeMap<i64, Element<'_, '_>> = elements.iter().copied().collect();
    let mut calendars = Vec::new();
    let mut days = 0;
    for (uid, element) in &elements {
        let base = element
            .number("BaseCalendarUID")?
            .and_then(|base| by_uid.get(&base))
            .filter(|base| base.number("UID") != Ok(Some(*uid)));
        let usual = Week(std::array::from_fn(|weekday| if weekday < 5 { USUAL.to_vec() } else { Vec::new() }));
        let mut calendar = Calendar { id: names.calendars[uid].clone(), week: Some(usual), ..Calendar::default() };
        // A calendar of one person stands on a base; bases stand on nothing.
        for element in base.into_iter().chain([element]) {
            take(element, &mut calendar)?;
        }
        days += calendar.exceptions.len() + calendar.days_off.len();
        if days > DAYS_MAX {
            return Err(element.wrong(&format!("the calendars up to here have more than {DAYS_MAX} exceptions in all")));
        }
        calendars.push(calendar);
    }
    Ok(calendars)
}

fn take(element: &Element<'_, '_>, calendar: &mut Calendar) -> Result<(), Unreadable> {
    for day in element.all("WeekDays", "WeekDay") {
        let hours = hours(&day)?;
        match day.number("DayType")? {
            Some(number @ 1..=7) => {
                // Sunday comes first there and Monday here.
                let weekday = usize::try_from((number + 5) % 7).unwrap_or_default();
                if let Some(week) = &mut calendar.week {
                    week.0[weekday] = hours;
                }
            }
            // Older files put exceptions among the days of the week.
            _ => except(&day, hours, calendar)?,
        }
    }
    for exception in element.all("Exceptions", "Exception") {
        let hours = hours(&exception)?;
        except(&exception, hours, calendar)?;
    }
    Ok(())
}

fn hours(day: &Element<'_, '_>) -> Result<Vec<Hours>, Unreadable> {
    if !day.flag("DayWorking")? {
        return Ok(Vec::new());
    }
    let mut hours = Vec::new();
    for time in day.all("WorkingTimes", "WorkingTime") {
        if let (Some(from), Some(to)) = (time.minutes("FromTime")?, time.minutes("ToTime")?) {
            // Midnight at the end of a stretch is the end of the day.
            let to = if to <= from { to + 24 * 60 } else { to };
            hours.push(Hours { from, to });
        }
    }
    hours.sort_unstable();
    Ok(if hours.is_empty() { USUAL.to_vec() } else { hours })
}

fn except(element: &Element<'_, '_>, hours: Vec<Hours>, calendar: &mut Calendar) -> Result<(), Unreadable> {
    for period in element.children("TimePeriod") {
        let (Some(from), Some(to)) = (period.date("FromDate")?, period.date("ToDate")?) else { continue };
        if to < from {
            return Err(period.wrong(&format!("this exception ends on {to}, before it begins on {from}")));
        }
        if hours.is_empty() {
            // A person may be away on a day for which the base has hours of its own.
            let hidden: Vec<Date> = calendar.exceptions.range(from..=to).map(|(date, _)| *date).collect();
            for date in hidden {
                calendar.exceptions.remove(&date);
            }
            calendar.days_off.push(Days { from, to });
            continue;
        }
        let days = from.until(to).map_or(0, |span| span.get_days());
        if days > EXCEPTION_DAYS_MAX {
            return Err(period.wrong(&format!(
                "this exception has {days} days with hours of their own, and {EXCEPTION_DAYS_MAX} are read"
            )));
        }
        let all = (0..=days).filter_map(|day| from.checked_add(day.days()).ok());
        calendar.exceptions.extend(all.map(|day: Date| (day, hours.clone())));
    }
    Ok(())
}
