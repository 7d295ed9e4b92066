//! What is written for other tools: the shape they accept, and the same schedule when it is read again.

use gantry_schedule::project::{
    Baseline, Calendar, CapacityChange, Days, Estimate, Hours, Need, Project, Resource, Task,
};
use gantry_schedule::read;
use gantry_schedule::write::{self, Unwritable};
use gantry_schedule::{Moment, Schedule, TaskKind};
use jiff::Timestamp;

use crate::kit::{counted, office, planned, when, with_people};

/// Children of each element in the order of the published schema, as far as they are written.
const ORDER: &[(&str, &str)] = &[
    (
        "Project",
        "SaveVersion Name Title ScheduleFromStart StartDate FinishDate CurrencyDigits CurrencyCode CalendarUID \
         DefaultStartTime DefaultFinishTime MinutesPerDay MinutesPerWeek DaysPerMonth DefaultTaskType DurationFormat \
         WorkFormat NewTasksEffortDriven StatusDate CurrentDate ExtendedAttributes Calendars Tasks Resources Assignments",
    ),
    ("ExtendedAttributes", "ExtendedAttribute"),
    ("ExtendedAttribute", "FieldID FieldName Alias Value"),
    ("Calendars", "Calendar"),
    ("Calendar", "UID Name IsBaseCalendar BaseCalendarUID WeekDays Exceptions"),
    ("WeekDays", "WeekDay"),
    ("WeekDay", "DayType DayWorking WorkingTimes"),
    ("WorkingTimes", "WorkingTime"),
    ("WorkingTime", "FromTime ToTime"),
    ("Exceptions", "Exception"),
    ("Exception", "EnteredByOccurrences TimePeriod Occurrences Name Type DayWorking WorkingTimes"),
    ("TimePeriod", "FromDate ToDate"),
    ("Tasks", "Task"),
    (
        "Task",
        "UID ID Name Type IsNull WBS OutlineNumber OutlineLevel Priority Start Finish Duration DurationFormat Work Stop \
         Resume EffortDriven Estimated Milestone Summary Critical LateStart LateFinish FreeSlack TotalSlack FixedCost \
         FixedCostAccrual PercentComplete Cost ActualStart ActualFinish ActualDuration ActualCost RemainingDuration \
         ConstraintType CalendarUID ConstraintDate Deadline LevelingDelay LevelingDelayFormat PredecessorLink \
         ExtendedAttribute Baseline",
    ),
    ("PredecessorLink", "PredecessorUID Type CrossProject LinkLag LagFormat"),
    ("Baseline", "Number Interim Start Finish Cost"),
    ("Resources", "Resource"),
    (
        "Resource",
        "UID ID Name Type IsNull Group MaxUnits OverAllocated StandardRate StandardRateFormat CostPerUse CalendarUID \
         ExtendedAttribute AvailabilityPeriods",
    ),
    ("AvailabilityPeriods", "AvailabilityPeriod"),
    ("AvailabilityPeriod", "AvailableFrom AvailableTo AvailableUnits"),
    ("Assignments", "Assignment"),
    ("Assignment", "UID TaskUID ResourceUID PercentWorkComplete ActualWork Finish RemainingWork Start Units Work"),
];

/// What stands in each element, by the published schema.
const TYPES: &[(Type, &str)] = &[
    (Type::Duration, "Duration Work ActualDuration RemainingDuration ActualWork RemainingWork"),
    (
        Type::DateTime,
        "Start Finish StartDate FinishDate FromDate ToDate Stop Resume LateStart LateFinish ActualStart ActualFinish \
         ConstraintDate Deadline StatusDate CurrentDate AvailableFrom AvailableTo",
    ),
    (Type::Time, "DefaultStartTime DefaultFinishTime FromTime ToTime"),
    (
        Type::OneOf(0, 1),
        "ScheduleFromStart NewTasksEffortDriven IsBaseCalendar DayWorking EnteredByOccurrences IsNull EffortDriven \
         Estimated Milestone Summary Critical OverAllocated CrossProject Interim",
    ),
    (
        Type::Whole,
        "UID ID TaskUID ResourceUID PredecessorUID CalendarUID BaseCalendarUID CurrencyDigits MinutesPerDay \
         MinutesPerWeek DaysPerMonth OutlineLevel LinkLag LevelingDelay FreeSlack TotalSlack Occurrences SaveVersion \
         FieldID Number",
    ),
    (Type::Decimal, "FixedCost Cost ActualCost MaxUnits StandardRate CostPerUse AvailableUnits Units"),
    (Type::OneOf(0, 100), "PercentComplete PercentWorkComplete"),
    (Type::OneOf(0, 1_000), "Priority"),
    (Type::OneOf(0, 7), "ConstraintType DayType"),
    (Type::OneOf(0, 9), "Type DefaultTaskType"),
    (Type::OneOf(1, 3), "FixedCostAccrual"),
    (Type::OneOf(1, 8), "StandardRateFormat WorkFormat"),
    (Type::OneOf(3, 53), "DurationFormat LagFormat LevelingDelayFormat"),
    (Type::Text(512), "Name Title WBS OutlineNumber Alias Value FieldName Group"),
    (Type::Text(3), "CurrencyCode"),
];

/// What may stand in an element.
enum Type {
    Duration,
    DateTime,
    Time,
    Whole,
    Decimal,
    OneOf(i64, i64),
    Text(usize),
}

impl Type {
    fn holds(&self, text: &str) -> bool {
        match self {
            Self::Duration => {
                let numbers = text.strip_prefix("PT").and_then(|rest| rest.strip_suffix('S'));
                let numbers = numbers.map(|rest| rest.split(['H', 'M']).map(str::parse::<u32>).collect::<Vec<_>>());
                numbers.is_some_and(|numbers| numbers.len() == 3 && numbers.iter().all(Result::is_ok))
            }
            Self::DateTime => text.len() == 19 && text.parse::<jiff::civil::DateTime>().is_ok(),
            Self::Time => text.len() == 8 && text.parse::<jiff::civil::Time>().is_ok(),
            Self::Whole => text.parse::<i64>().is_ok(),
            Self::Decimal => text.parse::<rust_decimal::Decimal>().is_ok() && !text.contains(['e', 'E']),
            Self::OneOf(least, most) => text.parse::<i64>().is_ok_and(|number| (*least..=*most).contains(&number)),
            Self::Text(longest) => text.chars().count() <= *longest,
        }
    }
}

/// Elements that may stand more than once in another, and how often at most.
const MANY: &[(&str, usize)] = &[
    ("Calendar", usize::MAX),
    ("WeekDay", 8),
    ("WorkingTime", 5),
    ("Exception", usize::MAX),
    ("Task", usize::MAX),
    ("PredecessorLink", usize::MAX),
    ("ExtendedAttribute", usize::MAX),
    ("Baseline", usize::MAX),
    ("Resource", usize::MAX),
    ("AvailabilityPeriod", usize::MAX),
    ("Assignment", usize::MAX),
];

fn assert_typed(text: &str) {
    let document = roxmltree::Document::parse(text).unwrap();
    for element in document.descendants().filter(roxmltree::Node::is_element) {
        let name = element.tag_name().name();
        let children = || element.children().filter(roxmltree::Node::is_element).map(|child| child.tag_name().name());
        for child in children() {
            let most = MANY.iter().find(|(many, _)| *many == child).map_or(1, |many| many.1);
            assert!(children().filter(|other| *other == child).count() <= most, "too many {child} in {name}");
        }
        if children().next().is_none() && !ORDER.iter().any(|(known, _)| *known == name) {
            let known = TYPES.iter().find(|(_, names)| names.split(' ').any(|known| known == name));
            let (kind, _) = known.unwrap_or_else(|| panic!("nobody knows what `{name}` holds"));
            let held = element.text().unwrap_or_default();
            assert!(kind.holds(held), "`{held}` does not belong into `{name}`");
        }
    }
}

fn assert_in_order(text: &str) {
    let document = roxmltree::Document::parse(text).unwrap();
    for element in document.descendants().filter(roxmltree::Node::is_element) {
        let name = element.tag_name().name();
        let children: Vec<&str> =
            element.children().filter(roxmltree::Node::is_element).map(|child| child.tag_name().name()).collect();
        let order: Vec<&str> =
            ORDER.iter().find(|(known, _)| *known == name).map_or(Vec::new(), |known| known.1.split(' ').collect());
        let places: Vec<usize> = children
            .iter()
            .map(|child| order.iter().position(|known| known == child).unwrap_or_else(|| panic!("{child} in {name}")))
            .collect();
        assert!(places.is_sorted(), "the children of {name} are out of order: {children:?}");
    }
}

/// What must be the same after a trip through a file: local times, who, how far, and money.
fn told(schedule: &Schedule) -> Vec<String> {
    let local = |moment: Moment| match moment {
        Moment::Date(instant, offset) => offset.to_datetime(instant).to_string(),
        Moment::Count(count) => count.to_string(),
    };
    let row = |row: &gantry_schedule::TaskRow| {
        let who: Vec<String> = row.resources.iter().map(|one| format!("{} {}", one.id, one.amount)).collect();
        let times = format!("{} {}..{}", row.id, local(row.start), local(row.finish));
        format!("{times} {:?} {}% {} {} [{}]", row.kind, row.percent, row.cost, row.critical, who.join(", "))
    };
    let mut rows: Vec<String> = schedule.tasks.iter().map(row).collect();
    rows.sort();
    rows
}

pub fn assert_comes_back(project: &Project) -> Project {
    let schedule = planned(project);
    let text = write::msproject::write(project, &schedule).unwrap();
    assert_in_order(&text);
    assert_typed(&text);
    let again = read::msproject::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).project;
    assert_eq!(told(&planned(&again)), told(&schedule), "{text}");
    again
}

/// A house with everything that the format can say.
pub fn house() -> Project {
    let mut project = office(
        "shell -
         walls 5d in shell needs ana
         roof 3d in shell after walls SS+2d needs crew 2
         dry 4ed after roof FF-1d
         paint 2d/3d/7d after walls FS+1ed, dry needs ana 50% by 2026-04-30
         hang 1d after paint needs ana from 2026-03-20
         night 2d on nights after walls needs guard
         done - after paint, hang by 2026-05-29 hard",
    );
    "A <small> house & garden".clone_into(&mut project.name);
    project.deadline = Some("2026-06-30 hard".parse().unwrap());
    let calendar = &mut project.calendars[0];
    calendar.days_off = vec!["2026-03-05".parse::<Days>().unwrap(), "2026-04-03..2026-04-06".parse().unwrap()];
    calendar.exceptions.insert("2026-03-07".parse().unwrap(), vec!["10:00-12:00".parse::<Hours>().unwrap()]);
    let mut nights = Calendar::office("nights", "UTC");
    nights.week.as_mut().unwrap().0 = std::array::from_fn(|_| vec!["22:00-06:00".parse().unwrap()]);
    nights.days_off = vec!["2026-03-12".parse().unwrap()];
    project.calendars.push(nights);
    let mut ana = Resource { rate: Some("90.50".parse().unwrap()), ..Resource::new("ana") };
    "Ana, the [first]".clone_into(&mut ana.name);
    ana.absences = vec!["2026-03-10..2026-03-11".parse().unwrap()];
    let mut crew = Resource { per_use: Some("12.25".parse().unwrap()), ..Resource::pool("crew", 1) };
    crew.changes = vec![CapacityChange { from: when("2026-03-16"), capacity: "2".parse().unwrap() }];
    let guard = Resource { calendar: Some("nights".to_owned()), ..Resource::new("guard") };
    project.resources = vec![ana, crew, guard];
    project
}

#[test]
fn a_project_comes_back_from_microsoft_projects_format() {
    let again = assert_comes_back(&house());
    assert_eq!(again.name, "A <small> house & garden");
    assert_eq!(again.deadline, house().deadline);
    assert_eq!(again.task("done").unwrap().deadline, house().task("done").unwrap().deadline);
    assert_eq!(again.task("paint").unwrap().deadline, house().task("paint").unwrap().deadline);
    assert_eq!(again.resources[1].changes, house().resources[1].changes);
    assert!(again.task("dry").unwrap().estimate.unwrap().likely.is_elapsed());
}

#[test]
fn a_day_with_six_shifts_is_refused() {
    let mut project = office("a 3d");
    let hours =
        |count: u8| (0..count).map(|at| format!("{:02}:00-{:02}:30", 8 + at, 8 + at).parse().unwrap()).collect();
    project.calendars[0].exceptions.insert("2026-03-04".parse().unwrap(), hours(5));
    assert_comes_back(&project);
    project.calendars[0].exceptions.insert("2026-03-04".parse().unwrap(), hours(6));
    let written = write::msproject::write(&project, &planned(&project));
    assert_eq!(written, Err(Unwritable::Hours("office".to_owned())));
}

#[test]
fn progress_costs_and_baselines_come_back_too() {
    let mut project = office(
        "a 4d finished 2026-03-05T12:00 started 2026-03-02T09:00 needs ana
         b 5d after a started 2026-03-06T09:00 percent 40 needs ana
         c 3d after a started 2026-03-09T09:00 percent 50 left 4d
         d 2d after b, c needs ana",
    );
    project.resources = vec![Resource { rate: Some("100".parse().unwrap()), ..Resource::new("ana") }];
    project.data_date = Some(when("2026-03-10T13:00"));
    project.tasks[0].progress.cost = Some("3500.25".parse().unwrap());
    project.tasks[1].baseline =
        Some(Baseline { start: when("2026-03-05"), finish: when("2026-03-11"), cost: "4000".parse().unwrap() });
    let again = assert_comes_back(&project);
    assert_eq!(again.task("b").unwrap().baseline, project.tasks[1].baseline);
    assert_eq!(again.task("a").unwrap().progress.cost.as_ref().unwrap().amount, "3500.25".parse().unwrap());
    assert_eq!(again.data_date, project.data_date);
    assert_eq!(planned(&again).finish, planned(&project).finish);
}

#[test]
fn work_in_another_zone_keeps_its_local_times() {
    let mut project = office("a 3d needs ana\n b 2d after a");
    project.calendars = vec![Calendar::office("office", "Europe/Vienna")];
    project.resources = vec![Resource::new("ana")];
    assert_comes_back(&project);
    project.calendars.push(Calendar::office("far", "Asia/Tokyo"));
    project.tasks[1].calendar = Some("far".to_owned());
    assert_comes_back(&project);
}

#[test]
fn whoever_was_found_for_a_role_is_assigned_by_name() {
    let mut project = office("a 3d role welder\n b 2d role welder");
    project.resources = ["x", "y"].map(|id| Resource { roles: vec!["welder".to_owned()], ..Resource::new(id) }).into();
    let again = assert_comes_back(&project);
    let names: Vec<&Need> = again.tasks.iter().flat_map(|task| &task.needs).collect();
    assert_eq!(names, [&Need::named("x"), &Need::named("y")]);
}

#[test]
fn waiting_for_people_is_a_levelling_delay() {
    let project = with_people(office("a 2d needs ana\n b 1d needs ana"), &[("ana", 1)]);
    let text = write::msproject::write(&project, &planned(&project)).unwrap();
    let delays: Vec<&str> = text.lines().filter(|line| line.contains("<LevelingDelay>")).map(str::trim).collect();
    let none = "<LevelingDelay>0</LevelingDelay>";
    assert_eq!(delays.iter().filter(|delay| **delay == none).count(), 1, "{delays:?}");
    assert_eq!(delays.len(), 2);
}

#[test]
fn what_counts_from_zero_is_refused_where_only_dates_are_known() {
    let project = counted("a 2d\n b 1d after a");
    let schedule = planned(&project);
    assert_eq!(write::msproject::write(&project, &schedule), Err(Unwritable::Undated));
    assert_eq!(write::ical::write(&schedule, Timestamp::UNIX_EPOCH), Err(Unwritable::Undated));
    assert_eq!(write::csv::write(&schedule).lines().count(), 3);
}

#[test]
fn what_a_file_has_no_place_for_is_told() {
    let mut project = office("a 2d\n b 1d after a");
    assert!(write::msproject::left_out(&project).is_empty());
    project.budget = Some("5000".parse().unwrap());
    project
        .recurring
        .push(serde_json::from_value(serde_json::json!({"id": "rent", "amount": "1000", "every": "month"})).unwrap());
    project.tasks[0].estimate = Some("1d / 2d / 4d".parse().unwrap());
    project.tasks[0].costs = serde_json::from_value(serde_json::json!([
        {"name": "steel", "amount": "300"}, {"name": "paint", "amount": "900", "due": "finish"}
    ]))
    .unwrap();
    let told = write::msproject::left_out(&project).join("\n");
    for part in ["estimates of three values", "the budget", "recurring costs", "several costs of a task"] {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
    let notes = read::msproject::read(&write::msproject::write(&project, &planned(&project)).unwrap()).unwrap().notes;
    assert!(notes[0].what.contains("belongs to no task and is not read"), "{notes:?}");
}

#[test]
fn a_table_that_was_written_is_read_with_its_dates_units_and_people() {
    let mut project = with_people(
        office("all -\n a 20h in all needs crew 2, ana 50%\n b 6h in all after a"),
        &[("crew", 3), ("ana", 1)],
    );
    project.unit = gantry_schedule::project::Unit::Hour;
    let before = planned(&project);
    let again = read::csv::read(&write::csv::write(&before)).unwrap().project;
    let after = planned(&again);
    let told = |schedule: &Schedule| -> Vec<_> {
        schedule.tasks.iter().map(|row| (row.start, row.finish, row.duration, row.resources.clone())).collect()
    };
    assert_eq!(told(&after), told(&before));
}

fn calendar(project: &Project) -> String {
    write::ical::write(&planned(project), "2026-03-01T12:00:00Z".parse().unwrap()).unwrap()
}

/// The lines of a calendar, with folded ones whole again.
fn unfolded(text: &str) -> Vec<String> {
    text.replace("\r\n ", "").split_terminator("\r\n").map(str::to_owned).collect()
}

#[test]
fn a_calendar_has_an_event_for_each_task_milestone_and_deadline() {
    let project = house();
    let text = calendar(&project);
    assert!(text.split("\r\n").all(|line| line.len() <= 75 && !line.contains('\n')), "{text}");
    let lines = unfolded(&text);
    assert_eq!(lines.first().unwrap(), "BEGIN:VCALENDAR");
    assert_eq!(lines.last().unwrap(), "END:VCALENDAR");
    let tasks = planned(&project).tasks.iter().filter(|row| row.kind != TaskKind::Summary).count();
    let count = |what: &str| lines.iter().filter(|line| line.as_str() == what).count();
    assert_eq!(count("BEGIN:VEVENT"), tasks + 3, "two tasks and the whole have deadlines");
    assert_eq!(count("BEGIN:VEVENT"), count("END:VEVENT"));
    assert_eq!(count("DTSTAMP:20260301T120000Z"), tasks + 3);
    assert!(lines.contains(&"DTSTART:20260302T090000Z".to_owned()), "walls begin on Monday at nine");
    assert!(lines.contains(&"DTSTART;VALUE=DATE:20260630".to_owned()), "the deadline is a whole day");
    assert!(lines.contains(&"DTEND;VALUE=DATE:20260701".to_owned()));
    assert!(lines.contains(&"SUMMARY:◆ done".to_owned()), "a milestone is marked");
}

#[test]
fn events_keep_their_names_when_the_plan_changes_and_never_share_one() {
    let uids =
        |text: &str| -> Vec<String> { unfolded(text).into_iter().filter(|line| line.starts_with("UID:")).collect() };
    let project = house();
    let before = uids(&calendar(&project));
    let mut later = project.clone();
    later.tasks[1].estimate = Some("9d".parse::<Estimate>().unwrap());
    later.tasks.push(Task::milestone("new"));
    let after = uids(&calendar(&later));
    assert!(before.iter().all(|uid| after.contains(uid)));
    let mut unique = after.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), after.len());
}
