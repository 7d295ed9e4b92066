//! Every constraint at once, tried on many projects: calendars, zones, absences, roles, skills, capacity that changes,
//! summaries, deadlines and progress. The check counts hours and knows nothing of how schedules are made.

use gantry_schedule::project::{Amount, Calendar, CapacityChange, LinkKind, Need, Project, Resource, Task, When, Who};
use gantry_schedule::{Constraint, Moment, Options, Schedule, TaskRow, schedule};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use crate::kit::{office, row, when};

const KINDS: [&str; 4] = ["FS", "SS", "FF", "SF"];
const NEEDS: usize = 6;

/// A task as numbers: hours, links as (how far back, kind, lag in hours, elapsed), a day to wait for, whom it needs, its
/// calendar, the summary that contains it, and a day by which it must be done.
type Drawn = (i64, Vec<(usize, usize, i64, bool)>, Option<i8>, usize, usize, usize, Option<i8>);

fn drawn() -> impl Strategy<Value = Drawn> {
    let links = prop::collection::vec((1..6_usize, 0..4_usize, -6..20_i64, any::<bool>()), 0..3);
    let day = || prop::option::weighted(0.2, 3..20_i8);
    (0..12_i64, links, day(), 0..NEEDS, 0..6_usize, 0..6_usize, day())
}

fn need(number: usize) -> Option<Need> {
    let fitting = |skills: &[&str]| Need {
        who: Who::Fitting {
            role: Some("worker".to_owned()),
            skills: skills.iter().map(|skill| (*skill).to_owned()).collect(),
            count: 1,
        },
        amount: Amount::default(),
    };
    match number {
        1 => Some(Need::of("crew", 2)),
        2 => Some(Need::named("ana")),
        3 => Some(Need::named("ben")),
        4 => Some(fitting(&[])),
        5 => Some(fitting(&["welding"])),
        _ => None,
    }
}

fn people() -> Vec<Resource> {
    let worker = |id: &str, skills: &[&str]| Resource {
        roles: vec!["worker".to_owned()],
        skills: skills.iter().map(|skill| (*skill).to_owned()).collect(),
        ..Resource::new(id)
    };
    let ana = Resource { absences: vec!["2026-03-04..2026-03-05".parse().unwrap()], ..worker("ana", &["welding"]) };
    let absences = vec!["2026-03-05..2026-03-06".parse().unwrap(), "2026-03-08".parse().unwrap()];
    let ben = Resource { calendar: Some("site".to_owned()), absences, ..worker("ben", &[]) };
    let absences = vec!["2026-03-11".parse().unwrap()];
    let cleo = Resource { calendar: Some("tokyo".to_owned()), absences, ..worker("cleo", &["welding", "painting"]) };
    let step = |day: &str, units| CapacityChange { from: when(day), capacity: Amount::whole(units) };
    let crew = Resource {
        changes: vec![step("2026-03-06", 1), step("2026-03-11", 3), step("2026-03-18", 2)],
        ..Resource::pool("crew", 4)
    };
    vec![ana, ben, cleo, crew]
}

fn projects() -> impl Strategy<Value = Project> {
    let into = || prop::option::of((0..4_usize, 0..90_i64));
    let tasks = prop::collection::vec(drawn(), 1..12);
    (tasks, prop::option::of(0..3_usize), [into(), into()]).prop_map(|(drawn, progress, into)| {
        let mut project = office("");
        let week = r#"{"id":"site","week":{"mon-sat":["07:00-11:00","12:00-16:00"]},"days_off":["2026-03-10"],
            "exceptions":{"2026-03-05":["07:00-09:00"],"2026-03-08":["10:00-14:00"],"2026-03-12":[]}}"#;
        project.calendars.push(serde_json::from_str(week).unwrap());
        project.calendars.push(Calendar::office("tokyo", "Asia/Tokyo"));
        let special = |day: &str, hours: &str| (day.parse().unwrap(), vec![hours.parse().unwrap()]);
        project.calendars[0]
            .exceptions
            .extend([special("2026-03-04", "10:00-12:00"), special("2026-03-07", "10:00-14:00")]);
        project.calendars[2].exceptions.extend([special("2026-03-11", "06:00-22:00")]);
        project.resources = people();
        for (at, (hours, links, from, needs, calendar, parent, by)) in drawn.iter().enumerate() {
            let mut task = Task::milestone(format!("t{at:02}"));
            let elapsed = if calendar % 6 == 5 { "e" } else { "" };
            task.estimate = (*hours > 0).then(|| format!("{}{elapsed}h", hours * 2).parse().unwrap());
            for (back, kind, lag, elapsed) in links.iter().filter(|link| link.0 <= at) {
                let unit = if *elapsed { "eh" } else { "h" };
                task = task.after(&format!("t{:02} {}{lag:+}{unit}", at - back, KINDS[*kind]));
            }
            task.start_no_earlier = from.map(|day| when(&format!("2026-03-{day:02}")));
            task.needs.extend(need(*needs).filter(|_| *hours > 0));
            task.calendar = (*calendar == 1 && *needs < 2).then(|| "site".to_owned());
            task.parent = (*parent < 2).then(|| format!("sum{parent}"));
            task.deadline = by.map(|day| format!("2026-03-{day:02} hard").parse().unwrap());
            project.tasks.push(task);
        }
        for (sum, into) in ["sum0", "sum1"].into_iter().zip(into) {
            let parts = project.tasks.iter().filter(|task| task.parent.as_deref() == Some(sum)).count();
            let outside = project.tasks[0].parent.as_deref() != Some(sum);
            let link = into.filter(|_| outside).map(|(kind, lag)| format!("t00 {}+{lag}eh", KINDS[kind]));
            if parts > 0 {
                project.tasks.push(link.into_iter().fold(Task::milestone(sum), |task, link| task.after(&link)));
            }
        }
        if let Some(kind) = progress {
            project.data_date = Some(when("2026-03-03T12:00"));
            let first = &mut project.tasks[0];
            if first.estimate.is_some() && kind > 0 {
                first.needs.clear();
                first.progress.started = Some(when("2026-03-02T09:00"));
                first.progress.finished = (kind == 1).then(|| when("2026-03-03T11:00"));
                first.progress.percent = (kind == 2).then_some(50);
            }
        }
        project
    })
}

/// The hour of a moment since 1970, which must be a whole one.
fn hour(moment: Moment) -> i64 {
    let Moment::Date(at, _) = moment else { panic!("{moment} is no date") };
    assert_eq!(at.as_second() % 3_600, 0, "{moment} is no whole hour");
    at.as_second() / 3_600
}

fn works(calendar: &Calendar, hour: i64) -> bool {
    let zone = TimeZone::get(calendar.zone.as_deref().unwrap_or("UTC")).unwrap();
    let local = Timestamp::from_second(hour * 3_600).unwrap().to_zoned(zone);
    let minute = u16::try_from(local.hour()).unwrap() * 60;
    calendar.hours(local.date()).iter().any(|hours| hours.from <= minute && minute < hours.to)
}

fn capacity(resource: &Resource, at: i64) -> u32 {
    let second = |change: &CapacityChange| match change.from {
        When::Day(day) => day.to_zoned(TimeZone::UTC).unwrap().timestamp().as_second() / 3_600,
        other => panic!("{other} is no day"),
    };
    resource
        .changes
        .iter()
        .rev()
        .find(|change| second(change) <= at)
        .map_or(resource.capacity, |change| change.capacity)
        .0
}

struct World<'a> {
    project: &'a Project,
    schedule: &'a Schedule,
}

impl<'a> World<'a> {
    fn calendar(&self, id: &str) -> &'a Calendar {
        self.project.calendars.iter().find(|calendar| calendar.id == id).unwrap()
    }

    fn resource(&self, id: &str) -> &'a Resource {
        self.project.resources.iter().find(|resource| resource.id == id).unwrap()
    }

    /// Whether a task is worked on in an hour by those who were chosen for it.
    fn at_work(&self, task: &Task, hour: i64) -> bool {
        if task.estimate.is_some_and(|estimate| estimate.likely.is_elapsed()) {
            return true;
        }
        let people = row(self.schedule, &task.id).resources.iter().map(|one| self.resource(&one.id)).collect();
        self.all_there(task, people, hour)
    }

    /// Whether a lag of work before a task goes on in an hour: that does not depend on who is found for it.
    fn lag_goes_on(&self, task: &Task, hour: i64) -> bool {
        let named = task.needs.iter().filter_map(|need| match &need.who {
            Who::Named { resource } => Some(self.resource(resource)),
            Who::Fitting { .. } => None,
        });
        task.estimate.is_some_and(|estimate| estimate.likely.is_elapsed())
            || self.all_there(task, named.collect(), hour)
    }

    fn all_there(&self, task: &Task, people: Vec<&Resource>, hour: i64) -> bool {
        let own_hours = people.iter().any(|person| person.calendar.is_some());
        let named = match &task.calendar {
            Some(calendar) => works(self.calendar(calendar), hour),
            None => own_hours || works(self.calendar("office"), hour),
        };
        named && people.iter().all(|person| self.is_there(person, hour))
    }

    /// Whoever is away is away, be the calendar as it may.
    fn is_there(&self, person: &Resource, hour: i64) -> bool {
        let calendar = person.calendar.as_deref().map(|id| self.calendar(id));
        let zone = calendar.and_then(|calendar| calendar.zone.as_deref()).unwrap_or("UTC");
        let zone = TimeZone::get(zone).unwrap();
        let date = Timestamp::from_second(hour * 3_600).unwrap().to_zoned(zone).date();
        !person.absences.iter().any(|days| days.contain(date)) && calendar.is_none_or(|calendar| works(calendar, hour))
    }

    fn hours_between(&self, task: &Task, from: i64, to: i64) -> i64 {
        i64::try_from((from..to).filter(|hour| self.at_work(task, *hour)).count()).unwrap()
    }

    fn lag_between(&self, task: &Task, from: i64, to: i64) -> i64 {
        i64::try_from((from..to).filter(|hour| self.lag_goes_on(task, *hour)).count()).unwrap()
    }

    fn assert_task(&self, task: &Task) {
        let row: &TaskRow = row(self.schedule, &task.id);
        let (start, finish) = (hour(row.start), hour(row.finish));
        if task.progress.finished.is_some() {
            return;
        }
        let data_date =
            Timestamp::from_second(if self.project.data_date.is_some() { 1_772_539_200 } else { 1_772_409_600 });
        let from = data_date.unwrap().as_second() / 3_600;
        let length = task
            .estimate
            .map_or(0, |estimate| estimate.likely.to_string().trim_end_matches(['e', 'h']).parse::<i64>().unwrap_or(0));
        if task.progress.started.is_some() {
            assert_eq!(
                self.hours_between(task, from.max(start), finish),
                length / 2,
                "{} has half of it left",
                task.id
            );
            return;
        }
        assert!(start >= from, "{} starts before the data date", task.id);
        assert_eq!(
            self.hours_between(task, start, finish),
            length,
            "{} takes its time: {}..{}",
            task.id,
            row.start,
            row.finish
        );
        if let Some(When::Day(day)) = task.start_no_earlier {
            let day = day.to_zoned(TimeZone::UTC).unwrap().timestamp().as_second() / 3_600;
            assert!(start >= day, "{} starts too early", task.id);
        }
        for link in &task.after {
            let before = crate::kit::row(self.schedule, &link.task);
            let (at, held) = match link.kind {
                LinkKind::FinishToStart => (hour(before.finish), start),
                LinkKind::StartToStart => (hour(before.start), start),
                LinkKind::FinishToFinish => (hour(before.finish), finish),
                LinkKind::StartToFinish => (hour(before.start), finish),
            };
            let text = link.lag.to_string();
            let lag: i64 = text.trim_end_matches(['e', 'h', 's']).parse().unwrap();
            let kept = match (lag, link.lag.is_elapsed()) {
                (0, _) => held >= at,
                (lag, true) => held >= at + lag,
                (lag @ 1.., false) => held >= at && self.lag_between(task, at, held) >= lag,
                (lag, false) => held >= at || self.lag_between(task, held, at) <= -lag,
            };
            assert!(kept, "{} breaks its link {link}: {at} and {held}", task.id);
        }
        self.assert_who(task, row);
    }

    /// A summary spans its parts, and is not finished before links to its finish allow.
    fn assert_summary(&self, task: &Task, parts: &[&TaskRow]) {
        let row = row(self.schedule, &task.id);
        let start = parts.iter().map(|part| hour(part.start)).min().unwrap();
        let mut finish = parts.iter().map(|part| hour(part.finish)).max().unwrap();
        for link in &task.after {
            let before = crate::kit::row(self.schedule, &link.task);
            let lag: i64 = link.lag.to_string().trim_end_matches(['e', 'h', 's']).parse().unwrap();
            let by = lag + hour(if link.kind.leaves_finish() { before.finish } else { before.start });
            if link.kind.holds_start() {
                assert!(start >= by, "{} breaks its link {link}", task.id);
            } else {
                finish = finish.max(by);
            }
        }
        assert_eq!((hour(row.start), hour(row.finish)), (start, finish), "{} spans what is in it", task.id);
    }

    fn assert_who(&self, task: &Task, row: &TaskRow) {
        assert_eq!(row.resources.len(), task.needs.len(), "{} has as many as it needs", task.id);
        for (need, got) in task.needs.iter().zip(&row.resources) {
            assert_eq!(need.amount, got.amount);
            match &need.who {
                Who::Named { resource } => assert_eq!(*resource, got.id),
                Who::Fitting { role, skills, .. } => {
                    let person = self.resource(&got.id);
                    assert!(role.iter().all(|role| person.roles.contains(role)), "{} has the role", got.id);
                    assert!(skills.iter().all(|skill| person.skills.contains(skill)), "{} has the skills", got.id);
                }
            }
        }
    }

    fn assert_nobody_has_too_much(&self) {
        let rows: Vec<&TaskRow> = self.schedule.tasks.iter().filter(|row| row.percent == 0).collect();
        for resource in &self.project.resources {
            let uses: Vec<(i64, i64, u32)> = rows
                .iter()
                .flat_map(|row| row.resources.iter().map(move |one| (row, one)))
                .filter(|(_, one)| one.id == resource.id)
                .map(|(row, one)| (hour(row.start), hour(row.finish), one.amount.0))
                .collect();
            for at in
                uses.iter().map(|each| each.0).min().unwrap_or(0)..uses.iter().map(|each| each.1).max().unwrap_or(0)
            {
                let used: u32 = uses.iter().filter(|(from, to, _)| (*from..*to).contains(&at)).map(|each| each.2).sum();
                assert!(used <= capacity(resource, at), "{} has too much to do at {at}", resource.id);
            }
        }
    }

    fn assert_holds(&self) {
        for task in &self.project.tasks {
            let parts: Vec<&TaskRow> =
                self.schedule.tasks.iter().filter(|row| row.parent.as_deref() == Some(&task.id)).collect();
            if parts.is_empty() {
                self.assert_task(task);
            } else {
                self.assert_summary(task, &parts);
            }
        }
        self.assert_nobody_has_too_much();
        assert!(self.schedule.overloads.is_empty());
        let missed = |id: &str| {
            let told = |constraint: &Constraint| matches!(constraint, Constraint::Deadline { task, .. } if task.as_deref() == Some(id));
            self.schedule.infeasible.iter().any(|one| told(&one.constraint))
        };
        for task in self.project.tasks.iter().filter(|task| task.deadline.is_some()) {
            let Some(When::Day(day)) = task.deadline.map(|deadline| deadline.at) else { panic!("a day") };
            let end = day.tomorrow().unwrap().to_zoned(TimeZone::UTC).unwrap().timestamp().as_second() / 3_600;
            assert_eq!(
                hour(row(self.schedule, &task.id).finish) > end,
                missed(&task.id),
                "{} is told when late",
                task.id
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_schedule_keeps_every_constraint_there_is(project in projects()) {
        for schedules in [0, 40] {
            let schedule = schedule(&project, &Options { schedules, ..Options::default() }).unwrap();
            World { project: &project, schedule: &schedule }.assert_holds();
        }
    }

    #[test]
    fn more_schedules_never_make_it_later(mut project in projects()) {
        let with = |project: &Project, schedules| schedule(project, &Options { schedules, ..Options::default() }).unwrap();
        let (rules, searched) = (with(&project, 0), with(&project, 40));
        prop_assert!(searched.infeasible.len() <= rules.infeasible.len() || searched.finish <= rules.finish);
        prop_assert!(!rules.infeasible.is_empty() || searched.finish <= rules.finish);
        project.tasks.iter_mut().for_each(|task| task.deadline = None);
        project.tasks[0].priority = 1; // now each schedule is judged as people really work
        let finishes: Vec<Moment> = [0, 1, 12, 60].map(|schedules| with(&project, schedules).finish).to_vec();
        prop_assert!(finishes.is_sorted_by(|less, more| less >= more), "{finishes:?}");
        let told = with(&project, 60).optimiser;
        prop_assert!(told.is_none_or(|told| told.lower_bound <= with(&project, 60).makespan));
    }
}
