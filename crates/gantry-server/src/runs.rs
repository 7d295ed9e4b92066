//! Runs over lists of topics, started over HTTP. Each is a folder beside the record: what is wanted, the list, and the table of
//! results, a row as soon as it is known. Whoever starts again goes on with every run that was under way.
//!
//! Invariant: a run that was acknowledged is on disk, and one topic of it never becomes two plans (`gantry-many`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use gantry_core::time::Timestamp;
use gantry_many::bulk::{Bulk, Maker, Progress};
use gantry_many::direct::Direct;
use gantry_many::results::{self, Row, Status};
use gantry_many::topics::Topic;
use gantry_planner::template::Detail;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::problem::Problem;

/// How many topics a run may have.
pub const TOPICS_MAX: usize = 20_000;
/// How many topics of a run are under way at once, so that no model is overrun.
const AT_ONCE: usize = 8;
/// How often what failed is tried again.
const RETRIES_MAX: u32 = 3;

/// What is wanted of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// What it is called.
    pub run: String,
    /// A name for everything that was asked for, by which the same request is known again.
    #[serde(default)]
    pub asked: String,
    /// What people call it.
    pub title: String,
    /// How a plan is made.
    pub template: String,
    /// How much is worked out.
    pub detail: Detail,
    /// How tasks are broken down, where that is not as usual.
    pub settings: Map<String, Value>,
    /// Which models answer, as a plan keeps it.
    pub models: Vec<String>,
    /// Who wants it.
    pub by: String,
    /// The day that requests are read on.
    pub today: Date,
    /// When it began.
    pub at: Timestamp,
    /// How many topics there are.
    pub topics: usize,
    /// How it stands.
    pub state: State,
    /// Why it cannot go on, where it cannot.
    #[serde(default)]
    pub trouble: Option<String>,
    /// How many topics were done, and how many came to nothing, when it ended.
    #[serde(default)]
    pub ended: Option<(usize, usize)>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It goes on.
    Running,
    /// Somebody stopped it; it can go on.
    Stopped,
    /// Every topic has a row.
    Completed,
}

impl State {
    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Completed => "completed",
        }
    }
}

/// How fast a run goes in this process.
#[derive(Clone, Copy, Debug)]
struct Pace {
    since: Instant,
    made: usize,
}

/// All runs.
#[derive(Clone)]
pub struct Runs(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    live: Mutex<BTreeMap<String, (CancellationToken, Pace)>>,
    /// One change of what a run is wanted to be at a time.
    writing: Mutex<()>,
}

/// A run, with what became of it so far.
pub struct Seen {
    /// What is wanted.
    pub wanted: Wanted,
    /// How many topics are done.
    pub done: usize,
    /// How many of them came to nothing.
    pub failed: usize,
    /// The rows so far, where they were asked for.
    pub rows: Vec<Row>,
    /// How many a second become plans, while it goes on.
    pub per_s: Option<f64>,
}

impl Seen {
    /// How many seconds it will take, while it goes on.
    pub fn left_s(&self) -> Option<f64> {
        let left = self.wanted.topics.saturating_sub(self.done);
        self.per_s.filter(|rate| *rate > 0.0).map(|rate| float(left) / rate)
    }

    /// For programs, without the rows.
    pub fn json(&self) -> Value {
        let rounded = |figure: f64| (figure * 10.0).round() / 10.0;
        let wanted = &self.wanted;
        json!({
            "run": wanted.run, "title": wanted.title, "state": wanted.state, "template": wanted.template, "detail": wanted.detail,
            "settings": wanted.settings, "by": wanted.by, "at": wanted.at, "topics": wanted.topics, "done": self.done,
            "failed": self.failed, "plans_per_s": self.per_s.map(rounded), "left_s": self.left_s().map(f64::ceil),
            "label": gantry_many::direct::label(&wanted.run), "trouble": wanted.trouble, "url": format!("/api/v1/bulk/{}", wanted.run),
        })
    }
}

fn failed(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row.status == Status::Failed).count()
}

#[expect(clippy::cast_precision_loss, reason = "counts of topics")]
fn float(count: usize) -> f64 {
    count as f64
}

impl Runs {
    /// Those beside a record.
    pub fn beside(record: &Path) -> Self {
        let mut folder = record.as_os_str().to_owned();
        folder.push(".bulk");
        Self(Arc::new(Inner { folder: folder.into(), live: Mutex::default(), writing: Mutex::default() }))
    }

    fn live(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, (CancellationToken, Pace)>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a run is kept. Names come from outside, and lead nowhere else.
    fn place(&self, run: &str) -> Result<PathBuf, Problem> {
        let good =
            !run.is_empty() && run.len() <= 80 && run.chars().all(|one| one.is_ascii_alphanumeric() || one == '-');
        if good { Ok(self.0.folder.join(run)) } else { Err(unknown(run)) }
    }

    /// Where the table of a run is.
    pub fn table(&self, run: &str) -> Result<PathBuf, Problem> {
        Ok(self.place(run)?.join("plans.csv"))
    }

    fn wanted(&self, run: &str) -> Result<Wanted, Problem> {
        let path = self.place(run)?.join("run.json");
        let text = std::fs::read_to_string(&path).map_err(|_| unknown(run))?;
        serde_json::from_str(&text).map_err(|error| unreadable(&path, error))
    }

    fn keep(&self, wanted: &Wanted) -> Result<(), Problem> {
        let path = self.place(&wanted.run)?.join("run.json");
        let text = serde_json::to_string_pretty(wanted).unwrap_or_default();
        results::replace(&path, &text).map_err(|bad| Problem::broken("bulk::disk", bad.message))
    }

    /// Changes how a run stands.
    fn becomes(&self, run: &str, state: State, trouble: Option<String>) -> Result<(), Problem> {
        let _one = self.0.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let ended =
            if state == State::Completed { self.rows(run).ok().map(|rows| (rows.len(), failed(&rows))) } else { None };
        self.keep(&Wanted { state, trouble, ended, ..self.wanted(run)? })
    }

    /// A run with its rows.
    pub fn seen(&self, run: &str) -> Result<Seen, Problem> {
        let wanted = self.wanted(run)?;
        let rows = self.rows(run)?;
        Ok(self.with(wanted, rows))
    }

    /// A run without its rows; those of one that has ended are not read again.
    fn brief(&self, wanted: Wanted) -> Result<Seen, Problem> {
        match wanted.ended {
            Some((done, failed)) => Ok(Seen { done, failed, ..self.with(wanted, Vec::new()) }),
            None => {
                let rows = self.rows(&wanted.run)?;
                Ok(Seen { rows: Vec::new(), ..self.with(wanted, rows) })
            }
        }
    }

    fn with(&self, wanted: Wanted, rows: Vec<Row>) -> Seen {
        let pace = self.live().get(&wanted.run).map(|(_, pace)| *pace);
        let per_s = pace.map(|pace| float(pace.made) / pace.since.elapsed().as_secs_f64().max(0.001));
        Seen { wanted, done: rows.len(), failed: failed(&rows), rows, per_s }
    }

    fn rows(&self, run: &str) -> Result<Vec<Row>, Problem> {
        let table = self.table(run)?;
        let rows = if table.exists() { results::read(&table) } else { Ok(Vec::new()) };
        rows.map_err(|bad| Problem::broken("bulk::table", bad.message))
    }

    /// All runs, the newest first.
    pub fn all(&self) -> Result<Vec<Seen>, Problem> {
        self.known()?.into_iter().map(|run| self.brief(run)).collect()
    }

    fn known(&self) -> Result<Vec<Wanted>, Problem> {
        let entries = match std::fs::read_dir(&self.0.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(&self.0.folder, error)),
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        // A folder without a run in it was being made when everything ended; it was never acknowledged.
        let mut all: Vec<Wanted> = names.filter_map(|name| self.wanted(&name).ok()).collect();
        all.sort_by(|one, other| (other.at, &other.run).cmp(&(one.at, &one.run)));
        Ok(all)
    }

    /// Keeps a run and begins it; the same one that is there already is given as it is.
    pub fn begin(&self, app: &App, wanted: &Wanted, topics: &[Topic]) -> Result<(), Problem> {
        let place = self.place(&wanted.run)?;
        if place.join("run.json").exists() {
            let before = self.wanted(&wanted.run)?;
            // One of an older server does not say what was asked for.
            if before.asked.is_empty() || before.asked == wanted.asked {
                return Ok(());
            }
            let detail = "this key was sent with another list, or other settings, before";
            return Err(
                Problem::new(StatusCode::CONFLICT, "store::key-reused", detail).hint("choose a new key for a new list")
            );
        }
        std::fs::create_dir_all(&place).map_err(|error| unreadable(&place, error))?;
        let lines: String =
            topics.iter().map(|topic| serde_json::to_string(topic).unwrap_or_default() + "\n").collect();
        let disk = |bad: results::BadTable| Problem::broken("bulk::disk", bad.message);
        results::replace(&place.join("topics.jsonl"), &lines).map_err(disk)?;
        self.keep(wanted)?;
        self.spawn(app, wanted.clone());
        Ok(())
    }

    /// Goes on with every run that was under way; how many there are.
    pub fn take_up(&self, app: &App) -> Result<usize, Problem> {
        let open: Vec<Wanted> = self.known()?.into_iter().filter(|run| run.state == State::Running).collect();
        let count = open.len();
        for run in open {
            self.spawn(app, run);
        }
        Ok(count)
    }

    /// Stops a run: topics that are under way are finished by whoever goes on.
    pub fn stop(&self, run: &str) -> Result<(), Problem> {
        if self.wanted(run)?.state == State::Running {
            self.becomes(run, State::Stopped, None)?;
        }
        if let Some((token, _)) = self.live().remove(run) {
            token.cancel();
        }
        Ok(())
    }

    /// Goes on with a run, or tries again what came to nothing.
    pub fn go_on(&self, app: &App, run: &str) -> Result<(), Problem> {
        let wanted = self.wanted(run)?;
        if self.live().contains_key(run) {
            return Ok(());
        }
        self.becomes(run, State::Running, None)?;
        self.spawn(app, wanted);
        Ok(())
    }

    fn spawn(&self, app: &App, wanted: Wanted) {
        let token = app.stopping.child_token();
        let pace = Pace { since: Instant::now(), made: 0 };
        self.live().insert(wanted.run.clone(), (token.clone(), pace));
        let (runs, app) = (self.clone(), app.clone());
        // A thread of its own: what it waits for cannot be handed from one thread to the next.
        let here = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || here.block_on(runs.follow(&app, wanted, token)));
    }

    /// Carries a run out until it ends or is stopped, and keeps how it stands then.
    async fn follow(&self, app: &App, wanted: Wanted, token: CancellationToken) {
        let run = wanted.run.clone();
        let ended = tokio::select! {
            ended = self.carry_out(app, wanted) => ended,
            // Whoever stopped it has said how it stands; a server that stops leaves it as it is.
            () = token.cancelled() => return,
        };
        let kept = match ended {
            Ok(()) => self.becomes(&run, State::Completed, None),
            Err(problem) => self.becomes(&run, State::Stopped, Some(problem.detail)),
        };
        self.live().remove(&run);
        // What cannot be kept leaves the run as it was: under way, and taken up again when the server starts.
        drop(kept);
    }

    async fn carry_out(&self, app: &App, wanted: Wanted) -> Result<(), Problem> {
        let place = self.place(&wanted.run)?;
        let path = place.join("topics.jsonl");
        let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, error))?;
        let topics = gantry_many::topics::read("topics.jsonl", &bytes).map_err(|bad| unreadable(&path, bad))?;
        let templates = app.house.templates()?;
        let template = templates.into_iter().find(|template| template.name == wanted.template);
        let template = template.ok_or_else(|| no_template(&wanted.template))?;
        let mut origin = app.house.origin(&wanted.by)?;
        origin.given.models.extend(wanted.models.clone());
        "gantry serve (bulk)".clone_into(&mut origin.file);
        let direct = Direct {
            engine: app.house.engine_with(&wanted.models).await?,
            template,
            detail: wanted.detail,
            settings: wanted.settings.clone(),
            origin,
            today: wanted.today,
            run: wanted.run.clone(),
            retries_max: RETRIES_MAX,
            execute: false,
            known: tokio::sync::OnceCell::new(),
        };
        let bulk = Bulk {
            maker: Maker::Here(Box::new(direct)),
            session: wanted.run.clone(),
            concurrency: AT_ONCE,
            output: place.join("plans.csv"),
            resume_from: None,
            dump_dir: None,
            outlines: false,
        };
        let told = |progress: Progress<'_>| {
            if let (Progress::Done(_), Some((_, pace))) = (&progress, self.live().get_mut(&wanted.run)) {
                pace.made += 1;
            }
        };
        bulk.run(&topics, told).await.map_err(|bad| Problem::broken("bulk::disk", bad.message))?;
        Ok(())
    }
}

/// There is no such template.
pub fn no_template(name: &str) -> Problem {
    Problem::unfit("plan::template", format!("there is no template `{}`", gantry_view::named(name)))
        .hint("see which there are at /api/v1/templates")
}

fn unknown(run: &str) -> Problem {
    Problem::missing("bulk::unknown", format!("there is no run `{}`", gantry_view::named(run)))
        .hint("see all of them at /api/v1/bulk")
}

fn unreadable(path: &Path, error: impl std::fmt::Display) -> Problem {
    Problem::broken("bulk::disk", format!("`{}` cannot be used: {error}", path.display()))
}
