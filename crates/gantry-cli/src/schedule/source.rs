//! Where the project comes from: a plan of the record, a plan file, or a file of another tool.

use std::io::Read as _;

use gantry_core::life::Life;
use gantry_core::plan::Plan;
use gantry_schedule::Project;
use gantry_schedule::project::When;
use gantry_schedule::read::{self, Note, Read, Unreadable};
use gantry_store::Store;

use super::of_plan;
use crate::exit::Fault;
use crate::file;
use crate::session::Record;
use crate::show::elapsed::now;
use crate::show::under_way;
use crate::version::{self, Seen};

/// Larger files are a mistake.
const BYTES_MAX: u64 = 256 << 20;

/// Reads whatever this names; what of a file was not read comes with it.
/// It starts when it says, or else at `start`, or else now.
pub async fn project(record: &Record, what: &str, start: Option<When>) -> Result<(Project, Vec<Note>), Fault> {
    let kind = Kind::of(what);
    if kind == Kind::Plan && what != "-" && !std::path::Path::new(what).exists() {
        return Ok((of_record(record, what).await?, Vec::new()));
    }
    if kind == Kind::Plan && what != "-" {
        return Ok((of_plan_file(file::load_sound_here(what, record.json)?.work(), start), Vec::new()));
    }
    let text = text(what)?;
    let kind = if what == "-" { Kind::of_text(&text) } else { kind };
    let read = match kind {
        Kind::Sm => read::psplib::project(&text).map(whole),
        Kind::Csv => read::csv::read(&text),
        Kind::Xml => read::msproject::read(&text),
        Kind::Json => return json(record, what, &text, start).map(|Read { project, notes }| (project, notes)),
        Kind::Plan => {
            let plan = file::read_sound_here(what, text.as_bytes(), record.json)?;
            return Ok((of_plan_file(plan.work(), start), Vec::new()));
        }
    };
    let Read { mut project, notes } = read.map_err(|error| unreadable(what, &error))?;
    project.start = project.start.or(start);
    if project.start.is_none() && project.calendar.is_some() {
        project.start = Some(of_plan::at(now())); // it has dates, and none of them says when it starts
    }
    Ok((project, notes))
}

/// The work of a plan file.
fn of_plan_file(plan: Plan, start: Option<When>) -> Project {
    let mut project = of_plan::project(&plan, None, now());
    if let Some(start) = start.filter(|_| plan.schedule.start.is_none()) {
        let old = project.start.replace(start);
        // What was done before the plan was read was done by its start.
        let done = project.tasks.iter_mut().map(|task| &mut task.progress).filter(|progress| progress.finished == old);
        done.for_each(|progress| (progress.started, progress.finished) = (Some(start), Some(start)));
    }
    project
}

/// A project of whose file everything was read.
fn whole(project: Project) -> Read {
    Read { project, notes: Vec::new() }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sm,
    Csv,
    Xml,
    Json,
    Plan,
}

impl Kind {
    /// By the ending of the name. JSON may be a plan, a project or a run: its content says which.
    fn of(what: &str) -> Self {
        let ending = std::path::Path::new(what).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "sm" => Self::Sm,
            "csv" | "tsv" => Self::Csv,
            "xml" => Self::Xml,
            "json" => Self::Json,
            _ => Self::Plan,
        }
    }

    /// By how it begins, where there is no name.
    fn of_text(text: &str) -> Self {
        match text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']) {
            text if text.starts_with('<') => Self::Xml,
            text if text.starts_with('{') => Self::Json,
            text if text.starts_with("****") => Self::Sm,
            _ if read::csv::is_table(text) => Self::Csv,
            _ => Self::Plan,
        }
    }
}

fn text(path: &str) -> Result<String, Fault> {
    if path == "-" {
        let bytes = file::all_bytes(path, "name a plan file or a file of another tool, or `-` for standard input")?;
        return String::from_utf8(bytes).map_err(|_| file::unreadable(path, "it is no text in UTF-8"));
    }
    let opened = std::fs::File::open(path).map_err(|error| file::unreadable(path, &file::why(&error, "file")))?;
    let mut text = String::new();
    opened
        .take(BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| file::unreadable(path, &file::why(&error, "file")))?;
    if text.len() as u64 > BYTES_MAX {
        return Err(file::unreadable(path, &format!("it is larger than {} MiB", BYTES_MAX >> 20)));
    }
    Ok(text)
}

fn unreadable(path: &str, error: &Unreadable) -> Fault {
    file::unreadable(path, &error.to_string())
}

fn json(record: &Record, path: &str, text: &str, start: Option<When>) -> Result<Read, Fault> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        Fault::bad_input(format!("`{path}` is no JSON: {error}")).hint("give a plan, a project or a WfCommons run")
    })?;
    if value.get("workflow").is_some() {
        let read = read::wfcommons::read(text).map_err(|error| unreadable(path, &error))?;
        return Ok(Read { project: Project { start: read.project.start.or(start), ..read.project }, ..read });
    }
    if value.get("schedule").is_some() || !is_project(&value) {
        let plan = file::read_sound_here(path, text.as_bytes(), record.json)?;
        return Ok(whole(of_plan_file(plan.work(), start)));
    }
    serde_json::from_str(text)
        .map(|project: Project| whole(Project { start: project.start.or(start), ..project }))
        .map_err(|error| Fault::bad_input(format!("`{path}` is no project that can be read: {error}")))
}

/// Plans call it `depends_on` and have actions; projects call it `after` and need neither.
fn is_project(value: &serde_json::Value) -> bool {
    let fields = ["start", "unit", "calendars", "resources", "currency"];
    let tasks = value.get("tasks").and_then(serde_json::Value::as_array);
    let linked = |task: &serde_json::Value| task.get("after").is_some() || task.get("needs").is_some();
    fields.iter().any(|field| value.get(field).is_some()) || tasks.is_some_and(|tasks| tasks.iter().any(linked))
}

/// What was done does not count for an earlier revision.
async fn of_record(record: &Record, what: &str) -> Result<Project, Fault> {
    match version::seen(record, what).await? {
        Seen { life: Some(life), past: false, .. } => of_life(&record.open()?, &life).await,
        Seen { life: Some(life), .. } => Ok(of_plan::project(&life.proposed().work(), None, now())),
        Seen { plan, life: None, .. } => Ok(of_plan::project(&plan.work(), None, now())),
    }
}

/// The work of a plan of the record, as it stands.
pub async fn of_life(store: &dyn Store, life: &Life) -> Result<Project, Fault> {
    Ok(under_way::project_of(store, life, now()).await?)
}
