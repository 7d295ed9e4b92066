//! `gantry bulk`: a list of topics becomes plans.

mod remote; // in reading order
mod tell;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use gantry_engine::{Engine, Origin};
use gantry_many::bulk::{Bulk, Maker, dry};
use gantry_many::direct::Direct;
use gantry_many::message::Template as Words;
use gantry_many::results::{self, BadTable, Ended};
use gantry_many::topics::{self, Topic};
use gantry_many::verify::Verified;
use gantry_planner::decompose::Settings;
use gantry_planner::template::Detail;
use serde_json::{Map, json};

use crate::exit::{self, Fault};
use crate::file;
use crate::model::options::ModelOptions;
use crate::run::How;
use crate::session::{self, Record};
use crate::surroundings;
use crate::talk::talk;
use crate::template;

/// Make many plans from a list of topics
///
/// Topics are read from lines of text, a table (.csv with `title` or `goal`, and if you like `description`, `owner`, `metadata`),
/// or JSON (.json, .jsonl, .ndjson). Each becomes one plan: broken down into tasks by the template `outline`, or planned in full
/// by `execution-plan`. Plans are made in this process; with --base-url a server is asked over its chat instead.
///
/// One topic never becomes two plans. Each row is on disk when it happens: killed, the same command goes on where it ended.
/// Ctrl-C stops it with exit code 4. What came to nothing stands in `failed_topics.jsonl` beside the table, which is a list of
/// topics again.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  gantry bulk --input topics.txt --offline\n  gantry bulk --input topics.csv --depth 2 --budget 20 --dump-dir bulk_artifacts --outlines\n  gantry bulk --input topics.txt --base-url http://localhost:9000 --concurrency 6 --dump-dir bulk_artifacts\n  gantry bulk --input failed_topics.jsonl --output second.csv\n  gantry bulk verify bulk_plans.csv"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

/// How many topics are under way at once, so that no server is overrun.
const AT_ONCE: u32 = 8;
/// How many where nobody is asked: each wait for the disk then serves many of them.
const AT_ONCE_OFFLINE: u32 = 64;

#[derive(clap::Subcommand)]
enum Command {
    Verify(VerifyArgs),
}

#[derive(clap::Args)]
struct RunArgs {
    /// The list of topics
    #[arg(long, value_name = "FILE", required = true)]
    input: Option<PathBuf>,
    /// The table of results
    #[arg(long, short, value_name = "CSV", default_value = "bulk_plans.csv")]
    output: PathBuf,
    /// Take successes over from another table
    #[arg(long, value_name = "CSV")]
    resume_from: Option<PathBuf>,
    /// How many topics are under way at once [default: 8; 64 where nobody is asked, with --offline]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    concurrency: Option<u32>,
    /// How often what failed is tried again
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=20))]
    max_retries: u32,
    /// Keep what was answered and the tree of each plan in this folder
    #[arg(long, value_name = "DIR")]
    dump_dir: Option<PathBuf>,
    /// Also keep each plan there as an outline in Markdown
    #[arg(long, requires = "dump_dir")]
    outlines: bool,
    /// Show what would be asked for each topic, and ask nothing
    #[arg(long)]
    dry_run: bool,
    /// Look at every plan again at the end
    #[arg(long)]
    verify: bool,
    /// Have models do the tasks when a plan is there
    #[arg(long, conflicts_with = "base_url")]
    execute: bool,
    /// The name of the run: the same run and topic is the same plan [default: that of the table that is gone on with, or by its place]
    #[arg(long, value_name = "NAME")]
    run_id: Option<String>,
    /// How a plan is made
    #[arg(long, value_name = "NAME", default_value = "outline", conflicts_with = "base_url")]
    template: String,
    /// How much is worked out, where the template has levels of it
    #[arg(long, value_name = "LEVEL", default_value = "fast", conflicts_with = "base_url")]
    detail: Level,
    /// How many levels of tasks are made; 1 is exactly one [default: 2]
    #[arg(long, alias = "expand-depth", value_name = "N", conflicts_with = "base_url", value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: Option<u32>,
    /// How many tasks a plan gets at most [default: 50]
    #[arg(long, alias = "node-budget", value_name = "N", conflicts_with = "base_url", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    budget: Option<u32>,
    /// Ask no model: let the offline model answer
    #[arg(long, conflicts_with = "base_url")]
    offline: bool,
    #[command(flatten)]
    server: remote::Server,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    record: Record,
}

/// Look at every plan of a table again: is it there, is something in it, has it failed
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry bulk verify bulk_plans.csv\n  gantry bulk verify bulk_plans.csv --json")]
struct VerifyArgs {
    /// The table of results
    #[arg(value_name = "CSV")]
    table: PathBuf,
    /// How many plans are looked at at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    concurrency: u32,
    #[command(flatten)]
    server: remote::Server,
    #[command(flatten)]
    record: Record,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Fast,
    Balanced,
    Full,
}

impl From<Level> for Detail {
    fn from(level: Level) -> Self {
        match level {
            Level::Fast => Self::Fast,
            Level::Balanced => Self::Balanced,
            Level::Full => Self::Full,
        }
    }
}

impl From<BadTable> for Fault {
    fn from(bad: BadTable) -> Self {
        if bad.foreign {
            return Fault::bad_input(bad.message)
                .hint("name another file with `--output` or `--resume-from`; this one was left as it is");
        }
        Fault::internal(bad.message).hint("nothing that was told is lost; repeat the command when it can be written")
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    match &args.command {
        Some(Command::Verify(args)) => verify(args),
        None => make(&args.run),
    }
}

fn make(args: &RunArgs) -> Result<ExitCode, Fault> {
    let input = args.input.as_deref().ok_or_else(|| Fault::bad_input("no list of topics is named"))?;
    let topics = read(input)?;
    args.server.check(args.offline)?;
    let words = args.server.words()?;
    let run = run_id(args)?;
    if args.dry_run {
        return shown(&topics, &words, &run, args);
    }
    // One that computes must not hold up the others.
    session::block_on_cores(async {
        let maker = match args.server.asking(words, &run, args.max_retries)? {
            Some(asking) => Maker::There(Box::new(remote::connected(asking).await?)),
            None => Maker::Here(Box::new(direct(args, run.clone())?)),
        };
        let began = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S").to_string();
        let bulk = Bulk {
            maker,
            session: format!("bulk_{began}"),
            concurrency: args.concurrency.unwrap_or(if args.offline { AT_ONCE_OFFLINE } else { AT_ONCE }) as usize,
            output: args.output.clone(),
            resume_from: args.resume_from.clone(),
            dump_dir: args.dump_dir.clone(),
            outlines: args.outlines,
        };
        let mut teller = tell::Teller::new(args.record.json);
        let made = tokio::select! {
            made = bulk.run(&topics, |progress| teller.hear(&progress)) => Some(made),
            _ = tokio::signal::ctrl_c() => None,
        };
        let Some(made) = made else {
            teller.stopped();
            return Ok(ExitCode::from(exit::WAITING));
        };
        teller.close();
        let ended = made?;
        let verified = if args.verify { Some(bulk.verify().await?) } else { None };
        told(args, &run, ended, verified.as_ref())
    })
}

fn read(path: &Path) -> Result<Vec<Topic>, Fault> {
    let name = path.display().to_string();
    let bytes = file::all_bytes(&name, "name a list of topics")?;
    topics::read(&name, &bytes).map_err(|bad| {
        Fault::bad_input(format!("this list of topics cannot be read, and nothing was made:\n{bad}"))
            .hint("a topic is a line of text, a row with `title` or `goal`, or an object of JSON; see docs/bulk.md")
    })
}

/// The run: as it is named, or that of the table that is gone on with, or by the place where that is; so that whoever goes on
/// with a run goes on with its plans.
fn run_id(args: &RunArgs) -> Result<String, Fault> {
    if let Some(name) = &args.run_id {
        let good =
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
        return if good && name.len() <= 60 {
            Ok(name.clone())
        } else {
            Err(Fault::bad_input(format!("`{name}` is no name of a run"))
                .hint("use up to 60 letters, digits, `-`, `_` and `.`"))
        };
    }
    let table = args.resume_from.as_ref().unwrap_or(&args.output);
    if args.resume_from.is_some() && !table.is_file() {
        return Err(Fault::bad_input(format!("there is no table `{}`", table.display()))
            .hint("name the table whose successes are to be taken over with `--resume-from`"));
    }
    if args.output.is_dir() {
        return Err(Fault::bad_input(format!("`{}` is a folder", args.output.display()))
            .hint("name a file for the table with `--output`"));
    }
    if table.exists()
        && let Some(run) = results::run_of(table)?
    {
        return Ok(run);
    }
    let place = std::path::absolute(table)
        .map_err(|error| Fault::bad_input(format!("`{}` is no place for a table: {error}", table.display())))?;
    Ok(Topic { title: place.display().to_string(), ..Topic::default() }.fingerprint()[..8].to_owned())
}

fn shown(topics: &[Topic], words: &Words, run: &str, args: &RunArgs) -> Result<ExitCode, Fault> {
    if args.record.json {
        let server = args.server.is_named().then_some(words);
        exit::print_json(&json!({"run_id": run, "topics": dry(topics, server, run)}))?;
        return Ok(ExitCode::SUCCESS);
    }
    for topic in topics {
        let request = if args.server.is_named() { words.render(topic) } else { topic.request() };
        let lines: Vec<String> = request.trim_end().lines().map(crate::show::plain).collect();
        exit::print(&format!("{}\n\n", lines.join("\n")))?;
    }
    talk!("{}; nothing was asked and nothing was made", gantry_view::count(topics.len(), "topic"));
    Ok(ExitCode::SUCCESS)
}

fn direct(args: &RunArgs, run: String) -> Result<Direct, Fault> {
    Settings::from_variables(|name| std::env::var(name).ok()).map_err(|bad| Fault::bad_input(bad.to_string()))?;
    let templates = template::all().map_err(Fault::bad_input)?;
    let template = template::find(&templates, &args.template)?.clone();
    let mut settings = Map::new();
    settings.extend(args.depth.map(|depth| ("depth".to_owned(), json!(depth))));
    settings.extend(args.budget.map(|budget| ("budget".to_owned(), json!(budget))));
    let (engine, origin) = engine(&args.record, &args.models, args.offline)?;
    Ok(Direct {
        engine,
        template,
        detail: args.detail.into(),
        settings,
        origin,
        today: jiff::Zoned::now().date(),
        run,
        retries_max: args.max_retries,
        execute: args.execute,
        known: tokio::sync::OnceCell::new(),
    })
}

fn engine(record: &Record, models: &ModelOptions, offline: bool) -> Result<(Engine, Origin), Fault> {
    let mut how = How::asking(models.clone());
    if offline {
        how.models.only_offline();
    }
    let options = how.options(&[])?;
    let origin = Origin {
        workspace: surroundings::workspace(Path::new("."))?,
        file: "gantry bulk".to_owned(),
        by: session::operator(),
        secrets: surroundings::secret_names(&options.secrets),
        given: how.around.given(&options)?,
        ..Origin::default()
    };
    Ok((record.engine_asking(options, how.models.clone())?, origin))
}

fn told(args: &RunArgs, run: &str, ended: Ended, verified: Option<&Verified>) -> Result<ExitCode, Fault> {
    let Ended { rows, failed, others } = ended;
    let beside = results::failed_file(&args.output);
    if args.record.json {
        let value = json!({
            "run_id": run, "output": args.output, "topics": rows, "succeeded": rows - failed, "failed": failed,
            "other_rows": others, "failed_topics": (failed > 0).then_some(&beside), "rows": [], "verified": verified,
        });
        with_rows(&exit::json_text(&value)?, &args.output)?;
    } else {
        let (of, made) = (tell::of(rows - failed, rows, "topic"), rows - failed);
        let what = match (made == 1, args.execute) {
            (true, false) => "has a plan",
            (false, false) => "have a plan",
            (true, true) => "has a plan that was carried out",
            (false, true) => "have a plan that was carried out",
        };
        exit::print(&format!("{of} {what}; the table is {}\n", args.output.display()))?;
        if others > 0 {
            talk!("{} of other topics stay in it", gantry_view::count(others, "row"));
        }
        let (degraded, why) = degraded(&args.output)?;
        if degraded > 0 {
            talk!(
                "{} by the offline model: {}",
                format_args!(
                    "{} {} made",
                    gantry_view::count(degraded, "plan"),
                    if degraded == 1 { "was" } else { "were" }
                ),
                crate::show::plain(&why)
            );
        }
        if failed > 0 {
            talk!(
                "{} came to nothing, see {}; the same command tries them again",
                gantry_view::count(failed, "topic"),
                beside.display()
            );
        }
        if let Some(verified) = verified {
            exit::print(&tell::verified(verified))?;
        }
        if !args.server.is_named() {
            talk!("see the plans with `gantry list --label {}`", gantry_many::direct::label(run));
        }
    }
    let sound = failed == 0 && verified.is_none_or(Verified::is_sound);
    Ok(ExitCode::from(if sound { exit::DONE } else { exit::FAILED }))
}

/// How many plans of a table the offline model made instead of another one, and why the first of them.
fn degraded(table: &Path) -> Result<(usize, String), Fault> {
    let (mut count, mut first) = (0, String::new());
    for row in results::rows(table)? {
        let why = row?.degraded;
        if !why.is_empty() {
            count += 1;
            first = if first.is_empty() { why } else { first };
        }
    }
    Ok((count, first))
}

/// Writes a text of JSON with the rows of the table where it has none: one after the other, for there may be very many.
fn with_rows(text: &str, table: &Path) -> Result<(), Fault> {
    const NONE: &str = "\"rows\": []";
    let (before, behind) = text.split_once(NONE).unwrap_or((text, ""));
    exit::print(before)?;
    let mut written = 0;
    for row in results::rows(table)? {
        let row = exit::json_text(&row?)?;
        let lines: Vec<String> = row.lines().map(|line| format!("    {line}")).collect();
        exit::print(&format!("{}\n{}", if written == 0 { "\"rows\": [" } else { "," }, lines.join("\n")))?;
        written += 1;
    }
    exit::print(&if written == 0 { format!("{NONE}{behind}") } else { format!("\n  ]{behind}") })
}

fn verify(args: &VerifyArgs) -> Result<ExitCode, Fault> {
    args.server.check(false)?;
    let _ = results::rows(&args.table)
        .map_err(|bad| Fault::bad_input(bad.message).hint("name the table that `gantry bulk` has written"))?;
    session::block_on_cores(async {
        let maker = match args.server.asking(Words::default(), "", 0)? {
            Some(asking) => Maker::There(Box::new(remote::connected(asking).await?)),
            None => {
                let (engine, origin) = engine(&args.record, &ModelOptions::default(), true)?;
                let templates = template::all().map_err(Fault::bad_input)?;
                let template = template::find(&templates, "outline")?.clone();
                Maker::Here(Box::new(Direct::looking(engine, template, origin, jiff::Zoned::now().date())))
            }
        };
        let bulk = Bulk {
            maker,
            session: String::new(),
            concurrency: args.concurrency as usize,
            output: args.table.clone(),
            resume_from: None,
            dump_dir: None,
            outlines: false,
        };
        let verified = bulk.verify().await?;
        if args.record.json {
            exit::print_json(&verified)?;
        } else {
            exit::print(&tell::verified(&verified))?;
        }
        Ok(ExitCode::from(if verified.is_sound() { exit::DONE } else { exit::FAILED }))
    })
}

/// How long a text like `90s` says.
fn seconds(text: &str) -> Result<Duration, String> {
    let span = gantry_core::time::Duration::parse(text)?;
    Ok(Duration::from_millis(span.as_ms()))
}
