//! `gantry bench bulk`: how many plans a second a list of topics becomes, and how much memory that takes.
//!
//! Each run is a process of its own, the command as people use it, so that its start and all of its memory are told.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::child::this_program;
use super::{machine, sub};
use crate::exit::{self, Fault};
use crate::talk::talk;

/// What topics are made of: each combination is a topic.
const WHAT: [&str; 10] = [
    "Build a garden shed",
    "Open a small bakery",
    "Organise a street party",
    "Move a web shop to a new server",
    "Write a cookbook",
    "Renovate the kitchen",
    "Start a reading club",
    "Launch an app for cyclists",
    "Survey the bees",
    "Train volunteers for first aid",
];
const FOR: [&str; 10] = [
    "families",
    "students",
    "older people",
    "a school",
    "a sports club",
    "neighbours",
    "visitors",
    "beginners",
    "a museum",
    "gardeners",
];
const WHERE: [&str; 10] =
    ["Aarhus", "Lisbon", "Graz", "Leeds", "Turku", "Ghent", "Seville", "Bergen", "Gdansk", "Lyon"];

/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// Measure how many plans a second a list of topics becomes
///
/// Everything is durable as always, and nobody is asked: the offline model answers. `outline` is plans of one level, `deep`
/// outlines as `gantry bulk` makes them (two levels, up to 50 tasks), `full` whole plans by `execution-plan` with everything worked
/// out. `memory` is the most that a process holds while it makes outlines of 100, 1,000 and 10,000 topics, which is to stay the
/// same. Each is a process of its own; the rate counts its start, and `first row` is the time from its start until the first
/// row of the table is on disk.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry bench bulk\n  gantry bench bulk --json --dir /mnt/fast\n  gantry bench bulk --only outline --topics 1000"
)]
pub struct Args {
    /// The folder for the records that are made; its disk is part of what is measured [default: the system's temporary
    /// folder]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Measure only this; may be given several times
    #[arg(long, value_name = "WHAT")]
    only: Vec<What>,
    /// How many topics `outline` and `deep` have; `full` has a twentieth of it
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    topics: u32,
    /// The numbers of topics that memory is measured at
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [100, 1_000, 10_000], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sizes: Vec<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    Outline,
    Deep,
    Full,
    Memory,
}

/// One run.
struct Run {
    what: String,
    topics: u32,
    seconds: f64,
    first_row_ms: f64,
    most_mb: f64,
}

impl Run {
    fn per_s(&self) -> f64 {
        f64::from(self.topics) / self.seconds
    }

    fn json(&self) -> Value {
        let rounded = |figure: f64| json!((figure * 100.0).round() / 100.0);
        json!({
            "what": self.what, "topics": self.topics, "plans_per_s": rounded(self.per_s()),
            "first_row_ms": rounded(self.first_row_ms), "most_mb": rounded(self.most_mb),
        })
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let folder = super::folder_in(args.dir.as_deref())?;
    let wanted = |what: What| args.only.is_empty() || args.only.contains(&what);
    let mut runs = Vec::new();
    let mut measure = |what: &str, topics: u32, options: &[&str]| -> Result<(), Fault> {
        talk!("measuring {what}: {topics} topics …");
        let place = sub(folder.path(), &runs.len().to_string())?;
        runs.push(one(&place, what, topics, options)?);
        // What is measured next has the disk for itself.
        std::fs::remove_dir_all(&place).map_err(|error| Fault::internal(format!("`{}`: {error}", place.display())))
    };
    if wanted(What::Outline) {
        measure("outline", args.topics, &["--depth", "1"])?;
    }
    if wanted(What::Deep) {
        measure("deep", args.topics, &[])?;
    }
    if wanted(What::Full) {
        measure("full", args.topics.div_ceil(20), &["--template", "execution-plan", "--detail", "full"])?;
    }
    if wanted(What::Memory) {
        for size in &args.sizes {
            measure("memory", *size, &["--depth", "1"])?;
        }
    }
    if args.json {
        exit::print_json(&json!({"runs": runs.iter().map(Run::json).collect::<Vec<_>>()}))?;
    } else {
        exit::print(&drawn(&runs))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn drawn(runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs {
        let _ = writeln!(
            text,
            "{:8} {:>6} topics  {:>8.1} plans/s  first row after {:>6.0} ms  at most {:>6.1} MB",
            run.what,
            run.topics,
            run.per_s(),
            run.first_row_ms,
            run.most_mb
        );
    }
    text
}

/// Carries the command out in a folder of its own, and looks at it meanwhile.
fn one(folder: &Path, what: &str, topics: u32, options: &[&str]) -> Result<Run, Fault> {
    let failed = |what: &str, error: std::io::Error| Fault::internal(format!("{what}: {error}"));
    let (input, output, db) = (folder.join("topics.txt"), folder.join("plans.csv"), folder.join("gantry.db"));
    std::fs::write(&input, list(topics)).map_err(|error| failed("the list of topics cannot be written", error))?;
    let mut command = this_program(&["bulk", "--offline", "--json", "--input"])?;
    command.arg(&input).arg("--output").arg(&output).arg("--db").arg(&db).args(options).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let mut child = command.spawn().map_err(|error| failed("a process cannot be started", error))?;
    let (mut first, mut most_mb) = (None, 0.0_f64);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| failed("a process was lost", error))? {
            break status;
        }
        most_mb = most_mb.max(machine::resident_mb_of(child.id()).unwrap_or(0.0));
        if first.is_none() && has_row(&output) {
            first = Some(begin.elapsed());
        }
        std::thread::sleep(LOOK);
    };
    let seconds = begin.elapsed().as_secs_f64();
    if !status.success() {
        return Err(Fault::internal(format!("the measured `gantry bulk` ended with {status}")));
    }
    let first_row_ms = first.map_or(seconds, |first| first.as_secs_f64()) * 1e3;
    Ok(Run { what: what.to_owned(), topics, seconds, first_row_ms, most_mb })
}

/// Tells whether the table has more than its head.
fn has_row(table: &Path) -> bool {
    let head = std::fs::File::open(table).and_then(|mut file| {
        let mut bytes = [0; 4_096];
        let read = std::io::Read::read(&mut file, &mut bytes)?;
        Ok(bytes[..read].split(|byte| *byte == b'\n').count())
    });
    head.is_ok_and(|lines| lines > 2) // the head, a row, and what is behind it
}

/// Topics, each another one.
fn list(topics: u32) -> String {
    let mut text = String::new();
    for at in 0..topics as usize {
        let (what, whom, place) = (WHAT[at % 10], FOR[at / 10 % 10], WHERE[at / 100 % 10]);
        let more = if at < 1_000 { String::new() } else { format!(", part {}", at / 1_000 + 1) };
        let _ = writeln!(text, "{what} for {whom} in {place}{more}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_topic_stands_in_a_list_twice() {
        let list = list(2_500);
        let different: std::collections::BTreeSet<&str> = list.lines().collect();
        assert_eq!(different.len(), 2_500);
    }
}
