//! Small projects drawn as lines, and schedules drawn as lines again.

use gantry_schedule::project::{Calendar, Deadline, Estimate, Link, Need, Project, Resource, Task, Unit, When};
use gantry_schedule::{Options, Schedule, TaskRow, schedule};

/// Reads one task per line: an id, an estimate (or `-`), then `after …`, `needs …`, `in …`, `from …`, `by …`.
/// Links and needs are separated by commas.
pub fn tasks(drawing: &str) -> Vec<Task> {
    drawing.lines().map(str::trim).filter(|line| !line.is_empty()).map(task).collect()
}

fn task(line: &str) -> Task {
    let mut words = line.split_whitespace();
    let id = words.next().expect("a task has an id");
    let estimate = words.next().expect("a task has an estimate or `-`");
    let estimate = (estimate != "-").then(|| estimate.parse::<Estimate>().expect("an estimate"));
    let mut task = Task { estimate, ..Task::milestone(id) };
    let rest: Vec<&str> = words.collect();
    for clause in clauses(&rest) {
        let (verb, what) = clause.split_once(' ').expect("a clause has something to say");
        let list = what.split(',').map(str::trim);
        match verb {
            "after" => task.after = list.map(|text| text.parse::<Link>().expect("a link")).collect(),
            "needs" => task.needs = list.map(|text| text.parse::<Need>().expect("a need")).collect(),
            "role" => task.needs = list.map(Need::role).collect(),
            "in" => task.parent = Some(what.to_owned()),
            "on" => task.calendar = Some(what.to_owned()),
            "from" => task.start_no_earlier = Some(when(what)),
            "by" => task.deadline = Some(what.parse::<Deadline>().expect("a deadline")),
            "started" => task.progress.started = Some(when(what)),
            "finished" => task.progress.finished = Some(when(what)),
            "percent" => task.progress.percent = Some(what.parse().expect("a percentage")),
            "left" => task.progress.remaining = Some(what.parse().expect("a length")),
            other => panic!("`{other}` is not a clause"),
        }
    }
    task
}

fn clauses(words: &[&str]) -> Vec<String> {
    let verbs = ["after", "needs", "role", "in", "on", "from", "by", "started", "finished", "percent", "left"];
    let mut clauses: Vec<String> = Vec::new();
    for word in words {
        if verbs.contains(word) {
            clauses.push((*word).to_owned());
        } else {
            let clause = clauses.last_mut().expect("a clause starts with a verb");
            clause.push(' ');
            clause.push_str(word);
        }
    }
    clauses
}

pub fn when(text: &str) -> When {
    text.parse().expect("a point in time")
}

/// A project that counts days from zero, round the clock.
pub fn counted(drawing: &str) -> Project {
    Project { tasks: tasks(drawing), ..Project::counting(Unit::Day) }
}

/// A project in an office in UTC that starts on Monday, 2 March 2026.
pub fn office(drawing: &str) -> Project {
    let calendar = Calendar::office("office", "UTC");
    Project { tasks: tasks(drawing), ..Project::starting(when("2026-03-02"), calendar) }
}

pub fn with_people(mut project: Project, people: &[(&str, u32)]) -> Project {
    project.resources = people.iter().map(|(id, capacity)| Resource::pool(*id, *capacity)).collect();
    project
}

pub fn planned(project: &Project) -> Schedule {
    planned_with(project, &Options::default())
}

pub fn planned_with(project: &Project, options: &Options) -> Schedule {
    schedule(project, options).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

pub fn row<'a>(schedule: &'a Schedule, id: &str) -> &'a TaskRow {
    schedule.tasks.iter().find(|row| row.id == id).expect("the task is in the schedule")
}

/// Draws `id start..finish` per task, with dates without seconds.
pub fn drawn(schedule: &Schedule) -> String {
    let line =
        |row: &TaskRow| format!("{} {}..{}", row.id, short(&row.start.to_string()), short(&row.finish.to_string()));
    schedule.tasks.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn short(moment: &str) -> String {
    if moment.len() > 16 { moment[5..16].replace('T', " ") } else { moment.to_owned() }
}

/// Draws one number per task.
pub fn column(schedule: &Schedule, value: impl Fn(&TaskRow) -> String) -> String {
    schedule.tasks.iter().map(|row| format!("{} {}", row.id, value(row))).collect::<Vec<_>>().join(", ")
}
