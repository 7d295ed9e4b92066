//! People and equipment, and who does what.

use jiff::civil::DateTime;

use super::tasks::{hundredths, share};
use super::xml::Xml;
use super::{RESOURCE_TEXT, Sheet, Unwritable, local, work};
use crate::cost;
use crate::frame::Moment;
use crate::project::Resource;
use crate::schedule::TaskRow;

/// The first and the last day that the tool knows; there they stand for always.
const FIRST: DateTime = DateTime::constant(1984, 1, 1, 0, 0, 0, 0);
const LAST: DateTime = DateTime::constant(2049, 12, 31, 23, 59, 0, 0);

pub(super) fn write(sheet: &Sheet<'_>, xml: &mut Xml) -> Result<(), Unwritable> {
    if sheet.project.resources.is_empty() {
        return Ok(());
    }
    xml.within("Resources", |xml| {
        for one in &sheet.project.resources {
            xml.within("Resource", |xml| resource(sheet, xml, one))?;
        }
        Ok(())
    })?;
    let mut uid = 0;
    xml.within("Assignments", |xml| {
        for row in &sheet.schedule.tasks {
            for assigned in &row.resources {
                if let Some(resource) = sheet.resource_uids.get(assigned.id.as_str()) {
                    uid += 1;
                    let amount = assigned.amount;
                    xml.within("Assignment", |xml| assignment(sheet, xml, row, (uid, *resource), amount))?;
                }
            }
        }
        Ok(())
    })
}

fn resource(sheet: &Sheet<'_>, xml: &mut Xml, one: &Resource) -> Result<(), Unwritable> {
    let uid = sheet.resource_uids[one.id.as_str()];
    // The tool lists people with commas, and amounts in brackets.
    let name = if one.name.is_empty() { &one.id } else { &one.name };
    let name = name.replace([',', ';'], " ").replace('[', "(").replace(']', ")");
    xml.put("UID", uid);
    xml.put("ID", uid);
    xml.text_of("Name", &name, 512);
    xml.put("Type", 1);
    xml.flag("IsNull", false);
    if let Some(role) = one.roles.first() {
        xml.text_of("Group", role, 512);
    }
    xml.put("MaxUnits", one.capacity);
    xml.flag("OverAllocated", sheet.schedule.overloads.iter().any(|overload| overload.resource == one.id));
    if let Some(rate) = &one.rate {
        xml.put("StandardRate", cost::converted(sheet.project, rate).normalize());
        xml.put("StandardRateFormat", 2);
    }
    if let Some(per_use) = &one.per_use {
        xml.put("CostPerUse", hundredths(cost::converted(sheet.project, per_use)));
    }
    if let Some(calendar) = sheet.calendars.uid_of_person(&one.id) {
        xml.put("CalendarUID", calendar);
    }
    xml.within("ExtendedAttribute", |xml| {
        xml.put("FieldID", RESOURCE_TEXT);
        xml.text_of("Value", &one.id, 255);
    });
    availability(sheet, xml, one)
}

/// How much there is from when to when, if that changes.
fn availability(sheet: &Sheet<'_>, xml: &mut Xml, one: &Resource) -> Result<(), Unwritable> {
    if one.changes.is_empty() {
        return Ok(());
    }
    let mut steps = vec![(FIRST, one.capacity)];
    for change in &one.changes {
        if let Some(at) = sheet.from(change.from)? {
            steps.push((at, change.capacity));
        }
    }
    steps.sort_by_key(|step| step.0);
    xml.within("AvailabilityPeriods", |xml| {
        for (at, (from, capacity)) in steps.iter().enumerate() {
            xml.within("AvailabilityPeriod", |xml| {
                xml.put("AvailableFrom", from);
                xml.put("AvailableTo", steps.get(at + 1).map_or(LAST, |next| next.0));
                xml.put("AvailableUnits", capacity);
            });
        }
    });
    Ok(())
}

fn assignment(
    sheet: &Sheet<'_>,
    xml: &mut Xml,
    row: &TaskRow,
    (uid, resource): (usize, usize),
    amount: crate::project::Amount,
) -> Result<(), Unwritable> {
    let model = &sheet.model;
    let node = model.node_of[model.place(&row.id)].map(|at| &model.network.nodes[at]);
    let span = |moment: Moment| match moment {
        Moment::Date(instant, _) => instant.as_second() - model.frame.origin.as_second(),
        Moment::Count(_) => 0,
    };
    let line = node.map_or(model.line(), |node| &model.lines.all[node.line]);
    let whole = match node {
        Some(node) if node.finished.is_none() => {
            model.planned(model.tasks[node.task], crate::schedule::Basis::Expected)
        }
        _ => line.work_between(span(row.start), span(row.finish)),
    };
    let all = share(whole, i64::from(amount.0));
    let done = share(all, i64::from(row.percent) * 10);
    xml.put("UID", uid);
    xml.put("TaskUID", sheet.task_uids[row.id.as_str()]);
    xml.put("ResourceUID", resource);
    xml.put("PercentWorkComplete", row.percent);
    xml.put("ActualWork", work(done));
    xml.put("Finish", local(row.finish)?);
    xml.put("RemainingWork", work(all - done));
    xml.put("Start", local(row.start)?);
    xml.put("Units", amount);
    xml.put("Work", work(all));
    Ok(())
}
