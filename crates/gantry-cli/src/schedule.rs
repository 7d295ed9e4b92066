//! `gantry schedule`: dates, floats, people, money and risk of a plan, or of a file that another tool wrote.

pub mod of_plan; // in reading order
pub mod source;
mod page;
mod health;

use std::process::ExitCode;
use std::time::Instant;

use gantry_report::chart::Frame;
use gantry_report::picture::Picture;
use gantry_schedule::project::{Length, When};
use gantry_schedule::read::Note;
use gantry_schedule::write::{self, Unwritable};
use gantry_schedule::{
    Basis, Levelling, Moment, Options, Problem, Project, Schedule, USUAL_DRAWS, Warning, schedule_until, what_if_by,
};

use crate::artifact::write_file;
use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::bytes;
use crate::show::elapsed::now;
use crate::talk::talk;

/// Compute when everything happens, what it costs and how sure that is
///
/// Takes a plan, a plan file, or a file of another tool: a project as JSON, a table (CSV), Microsoft Project's XML, a
/// workflow run (`WfCommons`), or a benchmark instance (.sm of PSPLIB). Nobody is given more to do than they can, and a deadline that cannot be
/// kept is told with its gap and with what would help. Chance is drawn from the seed: the same seed gives the same
/// figures.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry schedule plan.yaml\n  gantry schedule 7 --json\n  gantry schedule house.xml --svg gantt -o house.svg\n  gantry schedule table.csv --what-if task.build.estimate=5d\n  gantry schedule plan.yaml --near 3d --confidence 90\n  gantry schedule plan.yaml --health\n  gantry schedule plan.yaml --ical -o plan.ics\n  gantry schedule table.csv --start 2026-03-02 --msproject -o table.xml\n  gantry schedule j120.sm --schedules 50000"
)]
pub struct Args {
    /// A plan file or a file of another tool (`-` is standard input), or a plan, perhaps with @rN for its revision N
    #[arg(value_name = "FILE|PLAN")]
    what: String,
    /// Show only what would be different with this change, such as `task.build.estimate=5d`; may be given several times
    #[arg(long, value_name = "CHANGE")]
    what_if: Vec<String>,
    /// Draw a chart
    #[arg(long, value_name = "CHART", num_args = 0..=1, default_missing_value = "gantt", group = "form", conflicts_with_all = ["json", "what_if"])]
    svg: Option<Chart>,
    /// How wide the chart is, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1280, requires = "svg", value_parser = clap::value_parser!(u32).range(200..=10_000))]
    width: u32,
    /// Write the tasks as a table
    #[arg(long, group = "form", conflicts_with_all = ["json", "what_if"])]
    csv: bool,
    /// Write tasks, milestones and deadlines as a calendar (iCalendar)
    #[arg(long, group = "form", conflicts_with_all = ["json", "what_if"])]
    ical: bool,
    /// Write everything as Microsoft Project's XML
    #[arg(long, group = "form", conflicts_with_all = ["json", "what_if"])]
    msproject: bool,
    /// Check how sound the schedule is, by the 14 checks of the DCMA
    #[arg(long, group = "form", conflicts_with = "what_if")]
    health: bool,
    /// When it starts, where the file does not say: a date, or a time such as `2026-03-02T09:00`
    #[arg(long, value_name = "DATE", value_parser = parse_start)]
    start: Option<When>,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write over a file that exists
    #[arg(long)]
    force: bool,
    /// What to do when people have too much to do at once
    #[arg(long, value_name = "HOW", default_value = "slip")]
    level: Level,
    /// Which value of a three-point estimate the dates come from
    #[arg(long, value_name = "VALUE", default_value = "expected")]
    basis: Value,
    /// Up to how much float tasks are near-critical, such as `2d` [default: a twentieth of the makespan]
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    near: Option<Length>,
    /// Which percentile of the futures the contingency covers
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = clap::value_parser!(u8).range(1..=99))]
    confidence: u8,
    /// How many futures are drawn
    #[arg(long, value_name = "N", default_value_t = USUAL_DRAWS, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    draws: u32,
    /// What all chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many schedules the search for a shorter one may make [default: up to 2000 where people or equipment are
    /// short and there are fewer than 1000 tasks, otherwise none]
    #[arg(long, value_name = "N")]
    schedules: Option<u64>,
    /// How long the search for a shorter schedule may take, such as `10s`; what it finds then depends on the machine
    #[arg(long = "for", value_name = "TIME", conflicts_with = "schedules", value_parser = parse_time)]
    search_for: Option<gantry_core::time::Duration>,
    #[command(flatten)]
    record: Record,
}

fn parse_start(text: &str) -> Result<When, String> {
    match text.parse()? {
        When::After(_) => Err(format!("`{text}` is not a date; write for example `2026-03-02`")),
        dated => Ok(dated),
    }
}

fn parse_length(text: &str) -> Result<Length, String> {
    if text.starts_with('-') { Err(format!("`{text}` is less than nothing")) } else { text.parse() }
}

fn parse_time(text: &str) -> Result<gantry_core::time::Duration, String> {
    gantry_core::time::Duration::parse(text)
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let (project, notes) = source::project(&args.record, &args.what, args.start).await?;
        if !args.what_if.is_empty() {
            tell(&notes);
            return different(args, &project);
        }
        let mut schedule = computed(args, &project)?;
        if args.svg.is_some() || args.csv || args.ical || args.msproject || args.health {
            tell(&notes); // there is no place for them in there
        }
        schedule.warnings.extend(notes.iter().map(|note| Warning { task: None, what: note.to_string() }));
        let body = match args.svg {
            Some(chart) => drawn(chart, &schedule, &project, args.width)?,
            None if args.csv => write::csv::write(&schedule),
            None if args.ical => write::ical::write(&schedule, stamp(&schedule)).map_err(|error| unwritable(&error))?,
            None if args.msproject => {
                for what in write::msproject::left_out(&project) {
                    talk!("mind: the file has no place for {what}");
                }
                write::msproject::write(&project, &schedule).map_err(|error| unwritable(&error))?
            }
            None if args.health && args.record.json => exit::json_text(&health::WithHealth::of(&schedule, &project))?,
            None if args.health => health::page(&schedule, &project),
            None if args.record.json => exit::json_text(&schedule)?,
            None => page::page(&schedule, &project),
        };
        hand_over(args, &body)
    })
}

/// What to do when people have too much to do at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    /// Work waits until someone is free, and the finish moves
    Slip,
    /// Work waits only as long as the finish stays; what is too much then is told
    Float,
    /// Work lies where the links put it; what is too much is told
    Off,
}

impl From<Level> for Levelling {
    fn from(level: Level) -> Self {
        match level {
            Level::Slip => Self::Slip,
            Level::Float => Self::WithinFloat,
            Level::Off => Self::Off,
        }
    }
}

/// Which value of a three-point estimate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Value {
    /// The mean, which doubt moves
    Expected,
    /// The most likely
    Likely,
}

impl From<Value> for Basis {
    fn from(value: Value) -> Self {
        match value {
            Value::Expected => Self::Expected,
            Value::Likely => Self::Likely,
        }
    }
}

/// What of a file was not read.
fn tell(notes: &[Note]) {
    for note in notes {
        talk!("mind: {note}");
    }
}

/// What can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Chart {
    /// When everything happens, and what waits for what
    Gantt,
    /// What waits for what, as a graph
    Network,
    /// When it may be finished
    Histogram,
    /// How sure each finish is
    SCurve,
    /// What everyone has to do
    Load,
    /// What is due each month
    Cash,
    /// What moves the finish most
    Tornado,
}

fn drawn(chart: Chart, schedule: &Schedule, project: &Project, width: u32) -> Result<String, Fault> {
    let picture = match chart {
        Chart::Gantt => Picture::Gantt,
        Chart::Network => Picture::Network,
        Chart::Histogram => Picture::Histogram,
        Chart::SCurve => Picture::SCurve,
        Chart::Load => Picture::Load,
        Chart::Cash => Picture::Cash,
        Chart::Tornado => Picture::Tornado,
    };
    let name = if schedule.name.is_empty() { "Schedule" } else { &schedule.name };
    picture
        .draw(schedule, project, &Frame::titled(name, width))
        .ok_or_else(|| Fault::bad_input("this chart shows futures, and none were drawn").hint("leave out `--draws 0`"))
}

/// Writes what was computed where it was asked for.
fn hand_over(args: &Args, body: &str) -> Result<ExitCode, Fault> {
    match args.output.as_deref() {
        None | Some("-") => exit::print(body)?,
        Some(path) => {
            let body = anstream::adapter::strip_str(body).to_string(); // colours are for terminals
            write_file(path, body.as_bytes(), args.force)?;
            talk!("wrote {} to `{path}`", bytes(body.len() as u64));
        }
    }
    Ok(ExitCode::from(exit::DONE))
}

/// When what is written was known: at the data date, or now.
fn stamp(schedule: &Schedule) -> jiff::Timestamp {
    match schedule.earned_value.as_ref().map(|value| value.data_date) {
        Some(Moment::Date(at, _)) => at,
        _ => jiff::Timestamp::from_millisecond(now().as_ms()).unwrap_or_default(),
    }
}

fn unwritable(error: &Unwritable) -> Fault {
    let fault = Fault::bad_input(error.to_string());
    match error {
        Unwritable::Undated => fault.hint("say when it starts, for example with `--start 2026-03-02`"),
        Unwritable::Hours(_) => fault.hint("join stretches of its `week` that follow each other closely"),
        Unwritable::Problems(_) => fault,
    }
}

fn options(args: &Args, project: &Project) -> Options {
    let schedules = match (args.search_for, args.schedules) {
        (Some(_), _) => Options::UNTIL_STOPPED,
        (None, Some(asked)) => asked,
        (None, None) => Options::usual_schedules(project),
    };
    Options {
        basis: args.basis.into(),
        levelling: args.level.into(),
        schedules,
        near_critical: args.near,
        draws: args.draws,
        seed: args.seed,
        confidence: args.confidence,
    }
}

fn computed(args: &Args, project: &Project) -> Result<Schedule, Fault> {
    let limit = args.search_for.map(|time| std::time::Duration::from_millis(time.as_ms()));
    within(limit, project, &options(args, project)).map_err(|problems| wrong(&args.what, &problems))
}

/// The schedule that a search finds in this time.
fn within(limit: Option<std::time::Duration>, project: &Project, options: &Options) -> Result<Schedule, Vec<Problem>> {
    let began = Instant::now();
    schedule_until(project, options, &|| limit.is_some_and(|limit| began.elapsed() >= limit))
}

fn different(args: &Args, project: &Project) -> Result<ExitCode, Fault> {
    let changes: Vec<&str> = args.what_if.iter().map(String::as_str).collect();
    // Both schedules are searched for equally long, or the one would look better for that alone.
    let half = args.search_for.map(|time| std::time::Duration::from_millis(time.as_ms() / 2));
    let options = options(args, project);
    let found = what_if_by(project, &changes, |project| within(half, project, &options))
        .map_err(|problems| wrong(&args.what, &problems))?;
    hand_over(args, &if args.record.json { exit::json_text(&found)? } else { page::differences(&found) })
}

/// What is wrong with the project itself, all of it.
fn wrong(what: &str, problems: &[Problem]) -> Fault {
    let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {}: {}", problem.at, problem.what)).collect();
    let fault = Fault::bad_input(format!("`{what}` cannot be scheduled:{}", lines.concat()));
    match problems.iter().find(|problem| !problem.fix.is_empty()) {
        Some(problem) => fault.hint(problem.fix.clone()),
        None => fault,
    }
}
