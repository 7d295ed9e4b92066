//! Everything that can be taken away, in one zip file with a list of hashes.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use gantry_core::plan::Plan;
use gantry_core::time::Timestamp;
use gantry_report::report::{Choice, Layout, Report, compose, csv, html, markdown};
use gantry_schedule::write;
use serde_json::{Value, json};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use crate::report::Gathered;
use crate::times::with_even_times;

/// Sections with tables that people take into spreadsheets.
const TABLES: [&str; 5] = ["work", "schedule", "phases", "risks", "cost"];

/// A report with everything that it was made of.
pub struct Takeaway<'m> {
    /// The plan, with what waits to be accepted.
    pub plan: &'m Plan,
    /// What the report was made of.
    pub gathered: &'m Gathered,
    /// The report.
    pub report: &'m Report,
    /// Now.
    pub now: Timestamp,
}

/// Packs it. The same plan at the same time gives the same bytes.
///
/// # Errors
/// Says what went wrong.
pub fn pack(made: &Takeaway<'_>) -> Result<Vec<u8>, String> {
    let text = |value: Value| format!("{:#}\n", with_even_times(value)).into_bytes();
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("report.html".to_owned(), html::write(made.report).into_bytes()),
        ("report.md".to_owned(), markdown::write(made.report).into_bytes()),
        ("plan.json".to_owned(), text(made.gathered.document.clone())),
        ("plan.yaml".to_owned(), gantry_format::to_yaml(made.plan).into_bytes()),
        ("plan.mmd".to_owned(), gantry_format::mermaid::export(made.plan).into_bytes()),
    ];
    for section in TABLES {
        // A spreadsheet has one set of columns, so each table is a file.
        for (at, table) in csv::tables(made.report, section).into_iter().enumerate() {
            let name = if at == 0 { format!("{section}.csv") } else { format!("{section}-{}.csv", at + 1) };
            files.push((name, table.into_bytes()));
        }
    }
    if let Ok(schedule) = &made.gathered.schedule {
        // A plan without dates has no calendar.
        let stamp = jiff::Timestamp::from_millisecond(made.now.as_ms()).unwrap_or_default();
        files.extend(write::ical::write(schedule, stamp).ok().map(|text| ("plan.ics".to_owned(), text.into_bytes())));
        let project = write::msproject::write(&made.gathered.project, schedule).ok();
        files.extend(project.map(|text| ("plan.xml".to_owned(), text.into_bytes())));
    }
    files.push(("README.md".to_owned(), readme(made, &files)?.into_bytes()));
    let manifest = files.iter().map(
        |(name, body)| json!({"file": name, "bytes": body.len(), "blake3": gantry_store::Hash::of(body).to_string()}),
    );
    files.push(("manifest.json".to_owned(), text(manifest.collect())));
    zipped(&files).map_err(|error| format!("the zip file cannot be made: {error}"))
}

fn zipped(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, ZipError> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, body) in files {
        archive.start_file(name.as_str(), SimpleFileOptions::default())?;
        archive.write_all(body)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// What whoever takes the plan over has to know, on a page, and what the files are.
fn readme(made: &Takeaway<'_>, files: &[(String, Vec<u8>)]) -> Result<String, String> {
    let page = compose(&Layout::handoff()?, &made.gathered.subject(), &Choice::default());
    let mut text = markdown::write(&page);
    text.push_str("\n## What is here\n\n");
    for (name, _) in files {
        let about = match name.as_str() {
            "report.html" => "the report; open it in a browser, it needs no network",
            "report.md" => "the same as text",
            "plan.json" => "the plan for programs, with everything that was computed",
            "plan.yaml" => "the plan itself; `gantry run plan.yaml` carries it out",
            "plan.mmd" => "the shape of the plan as a Mermaid flowchart",
            "plan.ics" => "dates for a calendar",
            "plan.xml" => "for Microsoft Project",
            _ => "a table for spreadsheets",
        };
        let _ = writeln!(text, "- `{name}`: {about}");
    }
    text.push_str("\n`manifest.json` has the size and BLAKE3 hash of every file.\n");
    Ok(text)
}
