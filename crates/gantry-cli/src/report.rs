//! `gantry report`: one page about a plan that people can read, check and take away.

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use gantry_report::report::{Choice, Finding, Layout, Report, compose, csv, html, markdown};
use gantry_schedule::write;
use gantry_store::Store as _;
use gantry_view::report::{Gathered, Told, gather};
use gantry_view::takeaway::{Takeaway, pack};
use serde_json::json;

use crate::artifact::write_file;
use crate::exit::{self, Fault};
use crate::schedule::{of_plan, source};
use crate::session::{self, Record};
use crate::show::bytes;
use crate::show::elapsed::now;
use crate::talk::talk;
use crate::template;
use crate::version::{self, Seen};

/// Write a report about a plan: one page that people can read, check and take away
///
/// The page is one HTML file that needs nothing else. Every report is checked before it is written: differing values of one
/// quantity, numbers from nowhere, names of nothing, dates outside the schedule, empty or repeated text, scripts. What is
/// found is printed in the report; with `--check` the exit code is 3 then. A plan that is not finished is reported as it stands.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry report @last\n  gantry report 7 --audience board -o board.html\n  gantry report 7 --format markdown | less\n  gantry report 7 --format csv --section risks\n  gantry report 7 --format handoff\n  gantry report 7 --format zip\n  gantry report 7 --check"
)]
pub struct Args {
    /// A plan, perhaps with @rN for its revision N, or a plan file
    #[arg(value_name = "FILE|PLAN")]
    what: String,
    /// The form to write [default: as the output file is called, else html]
    #[arg(long, short, value_name = "FORM")]
    format: Option<Form>,
    /// Only these sections; for CSV, the section whose table is written
    #[arg(long, short, value_name = "SECTION", value_delimiter = ',')]
    section: Vec<String>,
    /// For whom: changes order and depth, never what is said (board, team, funder, or what the template knows)
    #[arg(long, value_name = "READER")]
    audience: Option<String>,
    /// The file to write; `-` is standard output [default: standard output for text, else a file called like the plan]
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: Option<String>,
    /// Write over a file that exists
    #[arg(long)]
    force: bool,
    /// Open it in the browser
    #[arg(long)]
    open: bool,
    /// Only check it, and say what does not hold together
    #[arg(long, conflicts_with_all = ["format", "output", "open"])]
    check: bool,
    #[command(flatten)]
    record: Record,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One page that needs nothing else
    Html,
    /// The same, to be read in a terminal or on a forge
    #[value(alias = "md")]
    Markdown,
    /// The machine-readable plan
    Json,
    /// A table of a section: work, risks, phases, cost …
    Csv,
    /// The dates as a calendar
    #[value(alias = "ics")]
    Ical,
    /// Microsoft Project's XML
    #[value(alias = "xml")]
    Msproject,
    /// A flowchart
    #[value(alias = "mmd")]
    Mermaid,
    /// A page for whoever takes the plan over: where it stands, what to do next, what may go wrong
    Handoff,
    /// What became of it: planned against actual, what failed, what was decided
    Postmortem,
    /// Everything, with a list of hashes
    Zip,
}

impl Form {
    fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown | Self::Handoff | Self::Postmortem => "md",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Ical => "ics",
            Self::Msproject => "xml",
            Self::Mermaid => "mmd",
            Self::Zip => "zip",
        }
    }

    fn is_text(self) -> bool {
        !matches!(self, Self::Html | Self::Zip)
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let form = args.form()?;
        let made = Made::of(args, form).await?;
        if args.check {
            return checked(args, &made.report);
        }
        let body = made.written(form, args)?;
        for line in made.report.findings.iter().take(3).map(told) {
            talk!("does not hold together: {line}");
        }
        hand_over(args, form, &made, &body)
    })
}

impl Args {
    fn form(&self) -> Result<Form, Fault> {
        if let Some(form) = self.format {
            return Ok(form);
        }
        let ending = self.output.as_deref().and_then(|path| Path::new(path).extension()?.to_str());
        match ending {
            None => Ok(Form::Html),
            Some("htm") => Ok(Form::Html),
            Some(ending) => Form::from_str(ending, true).map_err(|_| {
                Fault::bad_input(format!("`.{ending}` is no form of a report")).hint(
                    "say one with `--format html|markdown|json|csv|ical|msproject|mermaid|handoff|postmortem|zip`",
                )
            }),
        }
    }
}

/// A report and what it was made of.
struct Made {
    name: String,
    plan: gantry_core::plan::Plan,
    gathered: Gathered,
    report: Report,
}

impl Made {
    async fn of(args: &Args, form: Form) -> Result<Self, Fault> {
        if form == Form::Csv && args.section.len() > 1 {
            return Err(Fault::bad_input("a CSV file holds the tables of one section").hint(format!(
                "name one, such as `--section {}`, or take all of them with `--format zip`",
                args.section[0]
            )));
        }
        let seen = version::seen(&args.record, &args.what).await?;
        let plan = seen.proposed();
        let Seen { life, past, .. } = &seen;
        let mut driven = false;
        let (project, entries) = match life {
            Some(life) if !past => {
                let store = args.record.open()?;
                driven = store.claimed_by_other(store.plan(life.id().as_str()).await?.no).await?;
                (source::of_life(&store, life).await?, gantry_engine::entries(&store, life.id()).await?)
            }
            _ => (of_plan::project(&plan.work(), None, now()), Vec::new()),
        };
        let file = serde_json::from_str(&gantry_format::to_json(&plan)).unwrap_or_default();
        let (life, entries) = (life.as_deref(), entries.as_slice());
        let told = Told { plan: &plan, life, entries, project, source: file, driven, now: now() };
        let gathered = gather(told);
        let layout = match form {
            Form::Handoff => Layout::handoff().map_err(Fault::internal)?,
            Form::Postmortem => postmortem(life)?,
            _ => layout(gathered.template.as_deref())?,
        };
        let choice = Choice { audience: args.audience.clone(), sections: args.section.clone() };
        layout.knows(&choice).map_err(|unknown| Fault::bad_input(unknown.what).hint(unknown.hint))?;
        let report = compose(&layout, &gathered.subject(), &choice);
        let name = life.as_ref().map_or_else(|| stem(&args.what), |life| life.id().to_string());
        Ok(Self { name, plan, gathered, report })
    }

    fn written(&self, form: Form, args: &Args) -> Result<Vec<u8>, Fault> {
        let schedule = || {
            self.gathered
                .schedule
                .as_ref()
                .map_err(|problems| Fault::bad_input(format!("the plan cannot be scheduled: {}", problems.join("; "))))
        };
        let body = match form {
            Form::Html => html::write(&self.report),
            Form::Markdown | Form::Handoff | Form::Postmortem => markdown::write(&self.report),
            Form::Json => exit::json_text(&self.gathered.document)?,
            Form::Csv => csv::write(&self.report, args.section.first().map_or("work", String::as_str))
                .map_err(|unknown| Fault::bad_input(unknown.what).hint(unknown.hint))?,
            Form::Ical => {
                write::ical::write(schedule()?, stamp()).map_err(|error| Fault::bad_input(error.to_string()))?
            }
            Form::Msproject => write::msproject::write(&self.gathered.project, schedule()?)
                .map_err(|error| Fault::bad_input(error.to_string()))?,
            Form::Mermaid => gantry_format::mermaid::export(&self.plan),
            Form::Zip => {
                let Self { plan, gathered, report, .. } = self;
                return pack(&Takeaway { plan, gathered, report, now: now() }).map_err(Fault::internal);
            }
        };
        Ok(body.into_bytes())
    }
}

fn stamp() -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(now().as_ms()).unwrap_or_default()
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "-").unwrap_or("plan").to_owned()
}

/// The layout of a post-mortem; a plan that nobody carried out has none.
fn postmortem(life: Option<&gantry_core::life::Life>) -> Result<Layout, Fault> {
    if life.is_none() {
        return Err(Fault::bad_input("a plan file has no life that a post-mortem could look back on")
            .hint("name a plan of the record; `gantry list --all` shows them"));
    }
    Layout::postmortem().map_err(Fault::internal)
}

/// The layout of the template that made the plan, or the one for plans that none made.
fn layout(template: Option<&str>) -> Result<Layout, Fault> {
    let Some(name) = template else { return Layout::built_in().map_err(Fault::internal) };
    let templates = template::all().map_err(Fault::bad_input)?;
    let text =
        templates.iter().find(|template| template.name == name).and_then(|template| template.file("report.yaml"));
    match text {
        Some(text) => Layout::read(text).map_err(|error| {
            Fault::bad_input(format!("`report.yaml` of the template `{name}` cannot be read: {error}"))
        }),
        None => Layout::built_in().map_err(Fault::internal),
    }
}

fn told(finding: &Finding) -> String {
    format!("{} in {}: {}", finding.check, finding.section, crate::show::plain(&finding.what))
}

fn checked(args: &Args, report: &Report) -> Result<ExitCode, Fault> {
    let mut report = report.clone();
    report.findings.extend(gantry_report::report::check::check_html(&html::write(&report), 1));
    if args.record.json {
        exit::print_json(
            &json!({"ok": report.findings.is_empty(), "findings": report.findings, "figures": report.figures}),
        )?;
    } else if report.findings.is_empty() {
        exit::print("nothing contradicts anything else\n")?;
    } else {
        exit::print(&report.findings.iter().map(|finding| told(finding) + "\n").collect::<String>())?;
    }
    Ok(ExitCode::from(if report.findings.is_empty() { exit::DONE } else { exit::FAILED }))
}

fn hand_over(args: &Args, form: Form, made: &Made, body: &[u8]) -> Result<ExitCode, Fault> {
    let own = format!("{}.{}", made.name, form.ending());
    let (path, force) = match args.output.as_deref() {
        Some("-") => (None, false),
        Some(path) => (Some(path), args.force),
        None if form.is_text() => (None, false),
        // A report that was written before is replaced: it is called like the plan, and made anew from it.
        None => (Some(own.as_str()), true),
    };
    let Some(path) = path else {
        exit::print_bytes(body)?;
        return Ok(ExitCode::from(exit::DONE));
    };
    write_file(path, body, force)?;
    if args.record.json {
        exit::print_json(&json!({"file": path, "bytes": body.len(), "findings": made.report.findings}))?;
    } else {
        talk!("wrote {} to `{path}`", bytes(body.len() as u64));
    }
    if args.open {
        open(path)?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn open(path: &str) -> Result<(), Fault> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = std::process::Command::new(opener).arg(path).stdin(std::process::Stdio::null()).spawn();
    started.map(drop).map_err(|error| {
        Fault::internal(format!("`{opener}` cannot be started: {error}")).hint(format!("open `{path}` yourself"))
    })
}
